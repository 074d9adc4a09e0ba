package outcome

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// An output is the output of a program without the text that a client adds, and the status that
// the client reports.
type output struct {
	lines    []line // lines with text, without indentation and colors
	number   int    // number of lines, with empty ones
	status   int    // exit status of the call
	known    bool   // whether status is known
	failed   bool   // the client reports a failure
	refused  bool   // the call was not carried out
	running  bool   // the program has not ended
	flagged  bool   // the client sets the error flag for every failed call, and adds no status
	cut      bool   // the client left out a part
	numbered bool   // lines have their numbers in the result's text
}

// A line is a line of an output.
type line struct {
	number int    // in the result's text
	text   string // with single spaces as the only white space
}

// from returns the number of lines between l and another line.
func (l line) from(other line) int { return max(l.number-other.number, other.number-l.number) }

// maxLook is the size of the beginning and of the end of a result that are read, and maxLine
// that of a line, in bytes.
const (
	maxLook = 64 << 10
	maxLine = 1 << 10
)

// open extracts the output from a result.
func open(c transcript.ToolCall, r transcript.ToolResult) output {
	o := output{failed: r.Error, numbered: true, known: r.Passed, flagged: flags(c.Name)}
	whole := r.Text()
	if rest, ok := o.script(whole); ok {
		whole, o.numbered = rest, false
	}
	if rest, ok := o.json(whole); ok {
		whole, o.numbered = rest, false
	}
	o.known = o.known || o.flagged && !r.Error
	if len(whole) <= 2*maxLook {
		o.add(whole, 0)
	} else {
		end := strings.LastIndexByte(whole[:maxLook], '\n') + 1
		from := len(whole) - maxLook
		from += strings.IndexByte(whole[from:], '\n') + 1
		o.add(whole[:end], 0)
		o.add(whole[from:], strings.Count(whole[:from], "\n"))
	}
	o.unwrap()
	if o.status != 0 {
		o.failed = true
	}
	return o
}

// flags reports whether a tool belongs to Claude Code, the client that sets the error flag
// for every failed call.
func flags(name string) bool {
	return text.HasWord("Bash Edit Write MultiEdit NotebookEdit TodoWrite TaskCreate TaskUpdate TaskStop AskUserQuestion ExitPlanMode EnterPlanMode KillShell KillBash", name)
}

// script extracts the output of a program from the report of Codex about a script. In that
// client, the model calls tools from scripts.
func (o *output) script(whole string) (string, bool) {
	rest, failed := strings.CutPrefix(whole, "Script failed\nWall time ")
	if !failed {
		var completed bool
		if rest, completed = strings.CutPrefix(whole, "Script completed\nWall time "); !completed {
			return "", false
		}
	}
	_, rest, found := strings.Cut(rest, "\nOutput:\n")
	o.failed = o.failed || found && failed
	return strings.TrimPrefix(strings.TrimLeft(rest, "\n"), "Script error:\n"), found
}

// json extracts the output from the JSON of some clients, such as
// {"output":"…","metadata":{"exit_code":1}}. A program of Codex may print {"chunk_id":…}.
func (o *output) json(whole string) (string, bool) {
	begin := whole[:min(len(whole), 20)]
	if !strings.HasPrefix(whole, "{") || !strings.Contains(begin, `"output"`) && !strings.HasPrefix(whole, `{"chunk_id"`) || !gjson.Valid(whole) {
		return "", false
	}
	v := gjson.Parse(whole)
	out := v.Get("output")
	if out.Type != gjson.String {
		return "", false
	}
	for _, path := range [...]string{"metadata.exit_code", "metadata.exitCode", "exit_code", "exitCode"} {
		if code := v.Get(path); code.Type == gjson.Number {
			o.ended(int(code.Int()))
			break
		}
	}
	return out.Str, true
}

// ended records that the call has ended, with the given exit status.
func (o *output) ended(status int) { o.status, o.known = status, true }

// add appends the lines of the text whole. number is the number of its first line in the
// result.
func (o *output) add(whole string, number int) {
	for l := range strings.Lines(whole) {
		if t := plain(l); t != "" {
			o.lines = append(o.lines, line{number, t})
		}
		number++
	}
	o.number = number
}

// plain returns a line without colors, without text that a carriage return overwrote, and with
// single spaces.
func plain(s string) string {
	s = strings.TrimRight(s, "\r\n")
	s = s[strings.LastIndexByte(s, '\r')+1:]
	if len(s) > maxLine {
		s = text.Head(s, maxLine)
	}
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = uncolored(s)
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ")
	if strings.HasPrefix(s, "==") && strings.HasSuffix(s, "==") {
		s = strings.Trim(s, "= ")
	}
	return strings.Trim(s, "━─═ ")
}

// uncolored removes escape sequences.
func uncolored(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != 0x1b {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '[' {
			for i += 2; i < len(s) && (s[i] < '@' || s[i] > '~'); i++ {
			}
		} else {
			i++
		}
	}
	return b.String()
}

// unwrap removes lines that clients add around an output, and records their information.
func (o *output) unwrap() {
	if i := slices.IndexFunc(o.lines, func(l line) bool { return strings.HasPrefix(l.text, "<system-reminder>") }); i >= 0 && o.wraps(i) {
		o.lines = o.lines[:i]
	}
	if len(o.lines) == 0 {
		return
	}
	o.untrusted()
	if len(o.lines) == 0 {
		return
	}
	first := o.lines[0].text
	if last := o.lines[len(o.lines)-1].text; strings.HasPrefix(first, timedOut) || strings.HasPrefix(last, timedOut) {
		o.failed = true
	}
	switch {
	case strings.HasPrefix(first, "<tool_use_error>"):
		o.refused = true
		for i := range o.lines {
			o.lines[i].text = strings.TrimSuffix(strings.TrimPrefix(o.lines[i].text, "<tool_use_error>"), "</tool_use_error>")
		}
	case o.failed && strings.HasPrefix(first, "The user doesn't want to"), (o.failed || !o.flagged) && strings.HasPrefix(first, "[Request interrupted by user"):
		o.refused = true
		o.rejected()
	case strings.HasPrefix(first, "Command running in background with ID"):
		o.running = true
	case strings.HasPrefix(first, "<persisted-output>"):
		o.cut = true
		o.lines = slices.DeleteFunc(o.lines[1:], func(l line) bool {
			return strings.HasPrefix(l.text, "Output too large") || strings.HasPrefix(l.text, "Preview (first") || l.text == "</persisted-output>" || l.text == "..."
		})
	case o.flagged:
		o.claude()
	case strings.HasPrefix(first, "...output truncated..."): // OpenCode
		o.cut = true
		o.lines = slices.DeleteFunc(o.lines[1:], func(l line) bool { return l.number <= 2 && strings.HasPrefix(l.text, "Full output saved to: ") })
		o.foot()
	case strings.HasPrefix(first, "<retrieval_status>"), strings.HasPrefix(first, "<status>"), strings.HasPrefix(first, "<returncode>"):
		o.tags()
	default:
		o.head()
		o.foot()
	}
}

// untrusted removes the lines that Gemini CLI adds around content from outside.
func (o *output) untrusted() {
	if last := len(o.lines) - 1; o.lines[0].text == "<untrusted_context>" && last > 0 {
		o.lines = o.lines[1:]
		o.lines = slices.DeleteFunc(o.lines, func(l line) bool { return l.text == "</untrusted_context>" })
	}
}

// timedOut begins the line in which Claude Code reports a command that it ended.
const timedOut = "Command timed out after "

// wraps reports whether the reminder that begins at line i fills the output from there to its
// end.
func (o *output) wraps(i int) bool {
	return strings.HasSuffix(o.lines[len(o.lines)-1].text, "</system-reminder>") || i == 0
}

// said precedes the words of a user who rejects a call.
const said = "the user said:"

// rejected leaves of a rejection only the words of the user, if it has any.
func (o *output) rejected() {
	if _, rest, ok := strings.Cut(o.lines[0].text, said); ok {
		if rest = strings.TrimSpace(rest); rest != "" {
			o.lines[0].text = rest
			return
		}
		if len(o.lines) > 1 {
			o.lines = o.lines[1:]
			return
		}
	}
	o.lines[0].text, _, _ = strings.Cut(o.lines[0].text, " (eg.")
	o.lines[0].text, _, _ = strings.Cut(o.lines[0].text, " STOP what you are doing")
}

// tags reads the XML elements in an output and removes their tags. Claude Code reports
// background work in such elements, and mini-SWE-agent the output of every command.
func (o *output) tags() {
	kept := o.lines[:0]
	inside := false
	for _, l := range o.lines {
		name, value, _ := strings.Cut(strings.TrimPrefix(l.text, "<"), ">")
		value, _, closed := strings.Cut(value, "</")
		switch {
		case inside && (l.text == "</output>" || l.text == "</stdout>" || l.text == "</stderr>"):
			inside = false
		case inside:
			kept = append(kept, l)
		case (name == "exit_code" || name == "returncode") && closed:
			if n, err := strconv.Atoi(value); err == nil {
				o.ended(n)
			}
		case name == "status" && closed:
			o.running = o.running || value == "running" || value == "pending"
		case name == "retrieval_status" && closed:
			o.running = o.running || value == "not_ready" || value == "timeout"
		case name == "task_type" && value == "local_agent":
			o.running = true // the report of a sub-agent is prose
		case strings.HasPrefix(l.text, "<output>"), strings.HasPrefix(l.text, "<stdout>"), strings.HasPrefix(l.text, "<stderr>"):
			inside = !strings.Contains(l.text, "</")
			if rest := strings.TrimSpace(value); rest != "" {
				kept = append(kept, line{l.number, rest})
			}
		}
	}
	o.lines = kept
}

// maxHead is the most lines that clients add before an output.
const maxHead = 12

// claude removes the lines that Claude Code adds around an output. It adds the status of a failed
// call only.
func (o *output) claude() {
	if n, ok := number(o.lines[0].text, "Exit code "); ok {
		o.ended(n)
		o.lines = o.lines[1:]
	}
	for len(o.lines) > 0 && strings.HasPrefix(o.lines[len(o.lines)-1].text, "Shell cwd was reset to") {
		o.lines = o.lines[:len(o.lines)-1]
	}
}

// head removes the lines that clients add before an output.
func (o *output) head() {
	if n, ok := number(o.lines[0].text, "Exit code "); ok {
		o.ended(n)
		o.lines = o.lines[1:]
		return
	}
	if _, rest, ok := strings.Cut(o.lines[0].text, ". Exit code: "); ok && strings.HasPrefix(o.lines[0].text, "Command executed") { // Roo Code
		if n, ok := number(rest, ""); ok {
			o.ended(n)
		}
		o.lines = slices.DeleteFunc(o.lines[1:], func(l line) bool { return l.text == "Output:" && l.number <= 1 })
		return
	}
	if strings.HasPrefix(o.lines[0].text, "apply_patch verification failed:") { // Codex
		o.failed = true
		return
	}
	if o.codex() && len(o.lines) > 0 && strings.HasPrefix(o.lines[0].text, "Exit code: ") {
		o.codex() // from a patch that a command handed over
	}
}

// codex removes the lines that Codex and Cursor add before an output, and reports whether there
// were any.
func (o *output) codex() bool {
	if !slices.ContainsFunc([]string{"Chunk ID:", "Exit code:", "Wall time:", "Process exited with code "}, func(head string) bool { return strings.HasPrefix(o.lines[0].text, head) }) {
		return false
	}
	status, ended := 0, false
	for i, l := range o.lines[:min(len(o.lines), maxHead)] {
		for _, head := range [...]string{"Process exited with code ", "Exit code: "} {
			if n, ok := number(l.text, head); ok {
				status, ended = n, true
			}
		}
		o.running = o.running || strings.HasPrefix(l.text, "Process running with session ID")
		if l.text == "Output:" || l.text == "Command output:" {
			if ended {
				o.ended(status)
			}
			o.lines = o.lines[i+1:]
			return true
		}
	}
	return false
}

// foot removes the lines that clients add behind an output. A status is in the last of them only;
// one before it is from the program.
func (o *output) foot() {
	o.metadata()
	for told := false; len(o.lines) > 0; {
		last := o.lines[len(o.lines)-1].text
		n, ok := number(strings.TrimPrefix(last, "["), "The command completed with exit code ") // OpenHands
		if !ok {
			n, ok = number(strings.Trim(last, "<>"), "exited with exit code ") // Copilot
		}
		gemini, isGemini := number(last, "Exit Code: ")
		switch {
		case told && last != "Error: (none)":
			return
		case ok:
			o.ended(n)
			told = true
		case isGemini:
			o.ended(gemini)
			o.labels()
			told = true
		case strings.HasPrefix(last, "Process Group PGID: "): // Gemini CLI, which omits the status 0
			if i := len(o.lines) - 2; i < 0 || !strings.HasPrefix(o.lines[i].text, "Exit Code: ") && !strings.HasPrefix(o.lines[i].text, "Signal: ") && !strings.HasPrefix(o.lines[i].text, "Error: ") && !strings.HasPrefix(o.lines[i].text, "Background PIDs: ") {
				o.ended(0)
				o.labels()
				told = true
			}
		case strings.HasPrefix(last, "Shell cwd was reset to"), strings.HasPrefix(last, "[Current working directory:"), strings.HasPrefix(last, "[Python interpreter:"),
			strings.HasPrefix(last, "Signal: "), strings.HasPrefix(last, "Background PIDs: "), last == "Error: (none)":
		default:
			return
		}
		o.lines = o.lines[:len(o.lines)-1]
	}
}

// metadata handles two texts of OpenCode. If OpenCode ended a command, only the reason is
// left of the output. OpenCode's text for an empty output is removed.
func (o *output) metadata() {
	if i := slices.IndexFunc(o.lines, func(l line) bool { return l.text == "<shell_metadata>" }); i >= 0 && o.lines[len(o.lines)-1].text == "</shell_metadata>" {
		o.failed = true
		o.lines = o.lines[i+1 : len(o.lines)-1]
		for k := range o.lines {
			o.lines[k].text, _, _ = strings.Cut(o.lines[k].text, " If this command is expected to take longer")
		}
	}
	if len(o.lines) == 1 && o.lines[0].text == "(no output)" {
		o.lines = nil
	}
}

// labels removes the labels that Gemini CLI adds before an output.
func (o *output) labels() {
	for len(o.lines) > 1 && (strings.HasPrefix(o.lines[0].text, "Command: ") || strings.HasPrefix(o.lines[0].text, "Directory: ")) {
		o.lines = o.lines[1:]
	}
	for _, label := range [...]string{"Output: ", "Stdout: "} {
		o.lines[0].text = strings.TrimPrefix(o.lines[0].text, label)
	}
	if o.lines[0].text == "(empty)" {
		o.lines = o.lines[1:]
	}
}

// number returns the number behind a prefix, if punctuation or the end of the line follows it.
func number(s, prefix string) (int, bool) {
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return 0, false
	}
	minus := strings.HasPrefix(rest, "-")
	rest = strings.TrimPrefix(rest, "-")
	d := text.Digits(rest)
	if d == 0 || d > 9 || d < len(rest) && strings.IndexByte(".])(", rest[d]) < 0 && !strings.HasPrefix(rest[d:], " (") {
		return 0, false
	}
	n, _ := strconv.Atoi(rest[:d])
	if minus {
		n = -n
	}
	return n, true
}
