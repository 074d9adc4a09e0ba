package facts

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// An outcome describes how a call went, as read from its result.
type outcome struct {
	status  FactStatus
	exit    string // the exit code; empty if the result has none
	commit  bool   // the call made a git commit
	failure string // the line that reports what failed, or empty
	summary string // the most informative line
}

// outcomeOf reads the result of a command. If errors are expected, its exit code and weak signs of a
// failure do not count, because the command line handles them.
func outcomeOf(r transcript.ToolResult, expected bool) outcome {
	said := output(r.Text())
	code, coded := exitCode(said)
	o := outcome{status: StatusOK, exit: code}
	s := scanOutput(said)
	switch {
	case r.Error || coded && code != "0" && !expected:
		o.status = StatusFailed
	case coded && code == "0", coded && !expected, s.commit != "":
	case s.failed > s.none || !expected && s.weak > max(s.none, s.done, s.n-tailLines):
		o.status = StatusFailed
	}
	if o.status == StatusFailed {
		o.failure = text.Line(cmp.Or(s.failure, s.mention, s.first, s.last), lineRunes)
		o.summary = o.failure
		if !strings.Contains(o.failure, s.totals) && len(o.failure) < 12 {
			o.summary = s.totals
		}
		return o
	}
	o.commit = s.commit != ""
	o.summary = text.Line(cmp.Or(s.commit, s.totals, s.url, s.last), lineRunes)
	return o
}

// output returns the output of a command without the JSON or the markup that some
// agents put around it. A nonzero exit code becomes its first line: "Exit code 1".
func output(text string) string {
	if strings.HasPrefix(text, `{"output":`) && gjson.Valid(text) {
		v := gjson.Parse(text)
		if code := v.Get("metadata.exit_code"); code.Exists() && code.Int() != 0 {
			return "Exit code " + code.String() + "\n" + v.Get("output").String()
		}
		return v.Get("output").String()
	}
	if printed, status := tool.Printed(text); status != "" && status != "0" {
		return "Exit code " + status + printed
	} else if printed != text {
		return strings.TrimPrefix(printed, "\n")
	}
	return text
}

// exitCodes are the words before an exit code.
var exitCodes = [...]string{"exit code", "exit status", "exited with code"}

// exitCode returns the exit code in the first 200 bytes of a result or in its last
// line, and whether there is one.
func exitCode(s string) (string, bool) {
	head := lower(s[:min(len(s), 200)])
	for _, word := range exitCodes {
		if i := strings.Index(head, word); i >= 0 && (i == 0 || head[i-1] == '\n' || strings.HasPrefix(head, "process ")) {
			rest := strings.TrimLeft(head[i+len(word):], ": ")
			if n := text.Digits(rest); n > 0 {
				return rest[:n], true
			}
		}
	}
	last := strings.TrimRight(s[max(0, len(s)-200):], " \t\r\n")
	last = strings.Trim(lower(last[strings.LastIndexByte(last, '\n')+1:]), "[]() .")
	for _, word := range exitCodes {
		if rest, ok := strings.CutPrefix(last, word); ok {
			if rest = strings.TrimLeft(rest, ": "); rest != "" && text.Digits(rest) == len(rest) {
				return rest, true
			}
		}
	}
	return "", false
}

// outputLines has the lines of an output that tell its outcome.
type outputLines struct {
	failure string // the line that best reports a failure, by the ranks of failing
	mention string // the first line that mentions an error
	totals  string // the line with totals: how many tests passed, how many issues there are
	commit  string // the line in which git commit reports a commit
	url     string
	first   string
	last    string

	n       int // number of lines
	failed  int // number of the last line that reports a failure
	weak    int // number of the last line that may report a failure: the head may also be in the output of a passing test
	none    int // number of the last line that counts zero failures
	done    int // number of the last line that reports a success
	rank    int // the rank of failure
	totalAt int // number of the last line of totals
}

// tailLines is the number of lines at the end of an output in which a weak sign of a
// failure means that the command failed.
const tailLines = 5

// scanOutput reads the lines of an output in one pass.
func scanOutput(said string) outputLines {
	var s outputLines
	for line := range strings.SplitSeq(said, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || len(line) > 2000 {
			if line != "" && s.first == "" {
				s.first = line
			}
			continue
		}
		if line[0] == 0x1b {
			if line = text.Line(line, 2000); line == "" {
				continue
			}
		}
		if strings.HasPrefix(line, "Exit code ") || strings.HasPrefix(line, "Shell cwd was reset") || line == "<system-reminder>" {
			if line[0] == '<' {
				break
			}
			continue
		}
		s.n++
		s.line(line, s.n)
	}
	return s
}

func (s *outputLines) line(line string, n int) {
	s.first = cmp.Or(s.first, line)
	s.last = line
	count, what := "", ""
	if len(line) <= 200 {
		count, what = counted(line)
	}
	s.fail(line, n, count != "0" && failedWord.Get()[what])
	if count == "0" && failedWord.Get()[what] && what[0] == 'f' {
		s.none = n
	}
	if succeeds(line) {
		s.done = n
	}
	if s.mention == "" && len(line) < 500 && mentionsFailure(line) {
		s.mention = line
	}
	switch {
	case len(line) > 300:
	case isTotal(line, count):
		s.total(line, n)
	case s.commit == "" && isCommit(line):
		s.commit = line
	case s.url == "" && (strings.HasPrefix(line, "https://") || strings.HasPrefix(line, "http://")):
		s.url = line
	}
}

// fail records line number n if it reports a failure. If counts is true, the line counts one
// failure or more.
func (s *outputLines) fail(line string, n int, counts bool) {
	rank, fails := failing(line)
	if rank < 2 && counts && line[0] != '[' {
		rank, fails = 2, true
	}
	switch {
	case fails && (rank == 5 || rank == 6 && !strings.HasPrefix(line, "panic:") && !strings.HasPrefix(line, "fatal")):
		s.weak = n
	case fails:
		s.failed = n
	}
	if rank > s.rank {
		s.rank, s.failure = rank, line
	}
}

// total records line number n, which has the totals of a run. Adjacent lines are
// joined. Otherwise a later line replaces an earlier one, with two exceptions: a line
// with "pass" is replaced only by another, and a line "ok" of go test stays if the next
// tested package is ok too, unless it was cached.
func (s *outputLines) total(line string, n int) {
	tested := strings.HasPrefix(line, "ok ")
	switch {
	case s.totals != "" && s.totalAt == n-1 && len(s.totals)+len(line) < lineRunes && !tested:
		s.totals += " " + line
	case strings.Contains(s.totals, "pass") && !strings.Contains(line, "pass"):
		return
	case tested && strings.HasPrefix(s.totals, "ok ") && !strings.Contains(s.totals, "(cached)"):
		return
	default:
		s.totals = line
	}
	s.totalAt = n
}

// failing returns how well a line describes a failure, from 1 to 7, or 0 if it does not,
// and whether the line itself reports that something failed.
func failing(line string) (rank int, fails bool) {
	for _, h := range headsBy.Get()[line[0]] {
		if rest, found := strings.CutPrefix(line, h.text); found && !reportsNone(rest) && (h.text != "FAIL" || !continuesWord(rest)) {
			return h.rank, true
		}
	}
	if startsWithPosition(line) {
		return 5, false
	}
	if strings.Contains(line, ": command not found") || strings.Contains(line, "error TS") {
		return 6, true
	}
	return 0, false
}

// reportsNone reports whether rest, the text after the head of a failure, denies the failure,
// as in "errors: 0" and "error: none".
func reportsNone(rest string) bool {
	for _, ending := range [...]string{"ED", "URES", "URE"} {
		rest = strings.TrimPrefix(rest, ending)
	}
	rest = lower(strings.Trim(rest, " :=.\t"))
	number := rest[:text.Digits(rest)]
	after := rest[len(number):]
	return number == "0" && (after == "" || strings.IndexByte(" ,;)", after[0]) >= 0) || rest == "none" || rest == "nothing"
}

// continuesWord reports whether rest, the text after FAIL, continues the word, but not to
// FAILED or FAILURE.
func continuesWord(rest string) bool {
	if rest == "" || strings.HasPrefix(rest, "ED") || strings.HasPrefix(rest, "URE") {
		return false
	}
	return rest[0] == '-' || rest[0] == '_' || hasLetter(rest[:1])
}

// succeeds reports whether a line reports the success of a run.
func succeeds(line string) bool {
	for _, word := range [...]string{"ok", "pass", "done", "success"} {
		if strings.EqualFold(line, word) {
			return true
		}
	}
	if n := len(line) - len(": ok"); n >= 0 && strings.EqualFold(line[n:], ": ok") {
		return true
	}
	if !strings.Contains(line, "succe") && !strings.Contains(line, "Succe") && !strings.Contains(line, "SUCCE") {
		return false // avoids the cost of lower for most lines
	}
	low := lower(line)
	for _, word := range [...]string{"succeeded", "successfully", "build success"} {
		if strings.Contains(low, word) {
			return !strings.Contains(low, "not "+word)
		}
	}
	return false
}

// startsWithPosition reports whether a line begins with a file and a line number, as
// compilers and linters write them: main.go:17:4: unused.
func startsWithPosition(line string) bool {
	if strings.HasPrefix(line, "[") { // [lint] main.go:17:4: …
		if _, rest, ok := strings.Cut(line, "] "); ok {
			return startsWithPosition(rest)
		}
	}
	file, rest, _ := strings.Cut(line, ":")
	n := text.Digits(rest)
	return len(file) <= 200 && strings.Contains(file, ".") && !strings.Contains(file, " ") && n > 0 && n < 7 && stands(rest, n, ':')
}

// headsBy has for each byte the failureHeads that begin with it.
var headsBy = lazy.Value[*[256][]head]{Make: func() *[256][]head {
	var table [256][]head
	for _, h := range failureHeads {
		table[h.text[0]] = append(table[h.text[0]], h)
	}
	return &table
}}

// A head is the beginning of a line that reports a failure, with a rank: the better such
// lines describe the failure, the higher.
type head struct {
	text string
	rank int
}

// failureHeads are the beginnings of lines with which common programs report failures.
var failureHeads = [...]head{
	{"--- FAIL", 7},
	{"error: script ", 3},
	{"panic:", 6},
	{"error[", 6},
	{"E   ", 6},
	{"AssertionError", 6},
	{"TypeError:", 6},
	{"ValueError:", 6},
	{"ReferenceError:", 6},
	{"SyntaxError:", 6},
	{"ImportError:", 6},
	{"ModuleNotFoundError:", 6},
	{"KeyError:", 6},
	{"NameError:", 6},
	{"fatal:", 6},
	{"fatal error:", 6},
	{"error:", 5},
	{"Error:", 5},
	{"ERROR:", 5},
	{"ERROR ", 5},
	{"npm ERR!", 4},
	{"FAILED ", 5},
	{"Traceback (most recent call last)", 1},
	{"FAIL", 2},
	{"BUILD FAILED", 3},
	{"(fail)", 7},
	{"✗ ", 4},
	{"make: ***", 3},
}

// mentionsFailure reports whether a line has one of the failureWords and does not count zero
// failures.
func mentionsFailure(line string) bool {
	if strings.HasPrefix(line, "0 ") {
		return false
	}
	words := failureWords.Get()
	for i := range len(line) {
		for _, w := range words[line[i]|0x20] {
			if len(line)-i >= len(w) && strings.EqualFold(line[i:i+len(w)], w) {
				return !strings.Contains(strings.ToLower(line), " 0 fail")
			}
		}
	}
	return false
}

// failureWords has words for a failure, by their first byte.
var failureWords = lazy.Value[*[256][]string]{Make: func() *[256][]string {
	var table [256][]string
	for _, w := range [...]string{"error", "fail", "cannot", "not found", "undefined", "denied", "invalid", "no such", "expected"} {
		table[w[0]] = append(table[w[0]], w)
	}
	return &table
}}

// counted returns a number and the word after it from a line such as "3 failed" or
// "0 fail, 12 pass". Of several it prefers the number of failures. It returns empty
// strings if the line counts nothing.
func counted(line string) (n, what string) {
	const around = ",.;:()[]=|"
	for i := 0; i < len(line); {
		if classes[line[i]] != decimal {
			i++
			continue
		}
		from := i
		i += run(line, i, decimal)
		end := i
		for from > 0 && strings.IndexByte(around, line[from-1]) >= 0 {
			from--
		}
		for i < len(line) && strings.IndexByte(around, line[i]) >= 0 {
			i++
		}
		if from > 0 && line[from-1] > ' ' || i >= len(line) || line[i] > ' ' {
			continue
		}
		for i < len(line) && line[i] <= ' ' {
			i++
		}
		next := i
		for next < len(line) && line[next] > ' ' {
			next++
		}
		if w := strings.Trim(line[i:next], around); countedWord.Get()[w] && (n == "" || failedWord.Get()[w]) {
			n, what = strings.TrimLeft(line[from:end], around), w
		}
	}
	return n, what
}

var countedWord = lazy.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{
		"passed": true, "failed": true, "passing": true, "failing": true, "pass": true, "fail": true, "tests": true, "issues": true,
		"errors": true, "error": true, "failures": true, "problems": true, "skipped": true, "warnings": true, "issues.": true,
	}
}}

var failedWord = lazy.Value[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{"failed": true, "failing": true, "fail": true, "errors": true, "error": true, "failures": true}
}}

// isTotal reports whether a line has the totals of a run. The text in count is the number that the
// function counted found in the line, or empty.
func isTotal(line, count string) bool {
	for _, h := range totalsBy.Get()[line[0]] {
		if strings.HasPrefix(line, h) {
			return true
		}
	}
	if len(line) > 160 || line[0] == '[' && strings.Contains(line, "] [") {
		return false
	}
	return count != "" || strings.HasSuffix(line, "No fixes applied.")
}

// totalsBy has the beginnings of lines with the totals of a run, by their first byte.
var totalsBy = lazy.Value[*[256][]string]{Make: func() *[256][]string {
	var table [256][]string
	for _, h := range [...]string{"ok  \t", "ok \t", "ok  ", "Tests:", "Test Suites:", "test result:", "BUILD ", "Ran ", "Found 0", "Success", "DONE "} {
		table[h[0]] = append(table[h[0]], h)
	}
	return &table
}}

// isCommit reports whether a line is the report of git commit, such as
// [main 1a2b3c4] Fix it.
func isCommit(line string) bool {
	if line[0] != '[' {
		return false
	}
	head, rest, ok := strings.Cut(line[1:], "] ")
	if !ok || rest == "" || len(head) > 120 {
		return false
	}
	f := strings.Fields(head)
	return len(f) >= 2 && isHash(f[len(f)-1])
}

// isHash reports whether a word may be the hash of a commit, in full or abbreviated.
func isHash(w string) bool {
	if len(w) < 7 || len(w) > 40 || !some(w, decimal) || consists(w, decimal) && len(w) > 7 {
		return false
	}
	return strings.Trim(w, "0123456789abcdef") == ""
}
