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

// An outcome is what a result says of how a call went.
type outcome struct {
	status  FactStatus
	exit    string // the code that it ended with, or empty
	commit  bool   // it made a commit
	failure string // the line that reports what failed, or empty
	tells   string // the line that tells most
}

// outcomeOf reads the result of a command. Where errors are expected, only the
// tool itself says that it failed.
func outcomeOf(r transcript.ToolResult, expected bool) outcome {
	said := output(r.Text())
	code, coded := exitCode(said)
	o := outcome{status: StatusOK, exit: code}
	s := scan(said)
	switch {
	case r.Error || coded && code != "0" && !expected:
		o.status = StatusFailed
	case coded || expected || s.commit != "":
	case s.failed > s.none || s.weak > max(s.none, s.done, s.n-tailLines):
		o.status = StatusFailed
	}
	if o.status == StatusFailed {
		o.failure = text.Line(cmp.Or(s.failure, s.speaks, s.first, s.last), lineRunes)
		o.tells = o.failure
		if !strings.Contains(o.failure, s.totals) && len(o.failure) < 12 {
			o.tells = s.totals
		}
		return o
	}
	o.commit = s.commit != ""
	o.tells = text.Line(cmp.Or(s.commit, s.totals, s.url, s.last), lineRunes)
	return o
}

// output returns what a command printed, out of the JSON that some agents put
// around it.
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

// exitCodes are how the number begins that a command ended with.
var exitCodes = [...]string{"exit code", "exit status", "exited with code"}

// exitCode returns the number that a result begins with, or that is all of its
// last line.
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

// lines is what stands out in an output.
type lines struct {
	failure string // the best line that begins as failures are reported
	speaks  string // the first that speaks of an error
	totals  string // how many tests passed, how many issues there are
	commit  string // of git commit
	url     string
	first   string
	last    string

	n       int // lines
	failed  int // number of the last line that says that something failed
	weak    int // of the last that begins as errors do, which may be part of a test
	none    int // of the last that counts no failures
	done    int // of the last that says that something succeeded
	rank    int
	totalAt int
}

// tailLines is how near to the end of an output a line that begins as errors do
// has to stand to say that the command failed.
const tailLines = 5

// scan goes over the lines of an output once.
func scan(said string) lines {
	var s lines
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

func (s *lines) line(line string, n int) {
	if s.first == "" {
		s.first = line
	}
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
	if s.speaks == "" && len(line) < 500 && speaks(line) {
		s.speaks = line
	}
	switch {
	case len(line) > 300:
	case total(line, count):
		s.total(line, n)
	case s.commit == "" && isCommit(line):
		s.commit = line
	case s.url == "" && (strings.HasPrefix(line, "https://") || strings.HasPrefix(line, "http://")):
		s.url = line
	}
}

// fail takes a line that reports a failure, or counts some.
func (s *lines) fail(line string, n int, counts bool) {
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

// total takes a line that says how a run went as a whole. Lines that follow each
// other are taken together. What says that tests pass is not given up for what
// does not, nor is the first package of many that was tested.
func (s *lines) total(line string, n int) {
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

// failing returns how well a line tells what failed, 0 if it does not, and
// whether it says that something did.
func failing(line string) (rank int, fails bool) {
	for _, h := range headsBy.Get()[line[0]] {
		if rest, found := strings.CutPrefix(line, h.text); found && !denies(rest) && (h.text != "FAIL" || !goesOn(rest)) {
			return h.rank, true
		}
	}
	if located(line) {
		return 5, false
	}
	if strings.Contains(line, ": command not found") || strings.Contains(line, "error TS") {
		return 6, true
	}
	return 0, false
}

// denies reports whether what follows the head of a failure says that there is none, as
// in "errors: 0" and "error: none".
func denies(rest string) bool {
	for _, ending := range [...]string{"ED", "URES", "URE"} {
		rest = strings.TrimPrefix(rest, ending)
	}
	rest = lower(strings.Trim(rest, " :=.\t"))
	number := rest[:text.Digits(rest)]
	after := rest[len(number):]
	return number == "0" && (after == "" || strings.IndexByte(" ,;)", after[0]) >= 0) || rest == "none" || rest == "nothing"
}

// goesOn reports whether the word FAIL is the beginning of another one than FAILED or
// FAILURE.
func goesOn(rest string) bool {
	if rest == "" || strings.HasPrefix(rest, "ED") || strings.HasPrefix(rest, "URE") {
		return false
	}
	return rest[0] == '-' || rest[0] == '_' || hasLetter(rest[:1])
}

// succeeds reports whether a line says that all went well in the end.
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
		return false // most lines are long, and say nothing of it
	}
	low := lower(line)
	for _, word := range [...]string{"succeeded", "successfully", "build success"} {
		if strings.Contains(low, word) {
			return !strings.Contains(low, "not "+word)
		}
	}
	return false
}

// located reports whether a line begins with a place in a file, as compilers
// and linters write it, such as main.go:17:4: unused.
func located(line string) bool {
	if strings.HasPrefix(line, "[") { // [lint] main.go:17:4: …
		if _, rest, ok := strings.Cut(line, "] "); ok {
			return located(rest)
		}
	}
	i := strings.IndexByte(line, ':')
	if i < 0 || i > 200 || !strings.Contains(line[:i], ".") {
		return false
	}
	n := text.Digits(line[i+1:])
	return n > 0 && n < 7 && i+1+n < len(line) && line[i+1+n] == ':' && !strings.Contains(line[:i], " ")
}

// headsBy has the heads of failures by their first byte.
var headsBy = lazy.Value[*[256][]head]{Make: func() *[256][]head {
	var table [256][]head
	for _, h := range failureHeads {
		table[h.text[0]] = append(table[h.text[0]], h)
	}
	return &table
}}

// A head is how a line begins, and how well such a line tells what failed.
type head struct {
	text string
	rank int
}

// failureHeads are how programs begin the line that reports a failure, and how
// well such a line tells what failed.
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

// speaks reports whether a line speaks of a failure, and of more than that there
// is none.
func speaks(line string) bool {
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

// failureWords has the words that speak of a failure, by their first byte.
var failureWords = lazy.Value[*[256][]string]{Make: func() *[256][]string {
	var table [256][]string
	for _, w := range [...]string{"error", "fail", "cannot", "not found", "undefined", "denied", "invalid", "no such", "expected"} {
		table[w[0]] = append(table[w[0]], w)
	}
	return &table
}}

// counted returns the number and the word behind it of a line such as
// "3 failed" or "0 fail, 12 pass": the failures, if it counts them.
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

// total reports whether a line, which counts something or not, says how a run
// went as a whole.
func total(line, count string) bool {
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

// totalsBy has how lines begin that say how a run went as a whole, by their first
// byte.
var totalsBy = lazy.Value[*[256][]string]{Make: func() *[256][]string {
	var table [256][]string
	for _, h := range [...]string{"ok  \t", "ok \t", "ok  ", "Tests:", "Test Suites:", "test result:", "BUILD ", "Ran ", "Found 0", "Success", "DONE "} {
		table[h[0]] = append(table[h[0]], h)
	}
	return &table
}}

// isCommit reports whether git commit reports with a line, such as
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

// isHash reports whether a word may be the name of a commit.
func isHash(w string) bool {
	if len(w) < 7 || len(w) > 40 || !some(w, decimal) || consists(w, decimal) && len(w) > 7 {
		return false
	}
	return strings.Trim(w, "0123456789abcdef") == ""
}
