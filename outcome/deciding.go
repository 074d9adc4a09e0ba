package outcome

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// deciding returns the line that best explains why a program failed that no rule describes, and
// the rank of that line. The rank is 0 if no line is about a failure.
func deciding(lines []line) (line, int) {
	best, rank := line{}, 0
	for _, l := range lines {
		r := 0
		for _, h := range heads.Get() {
			if h.match(l.text) {
				r = h.rank
				break
			}
		}
		if r > rank || r == rank && r >= lastWins {
			best, rank = l, r
		}
	}
	return best, rank
}

// A head is a pattern of lines about failures. The higher its rank is, the better such a line
// explains the failure.
type head struct {
	pattern
	rank int
}

// If several lines have the highest rank, the last one is chosen for ranks from lastWins on,
// otherwise the first. From rank reports on, a line reports a failure and does not only mention
// one.
const (
	lastWins = 8
	reports  = 4
)

var heads = lazy.Value[[]head]{Make: func() []head {
	var list []head
	for _, h := range []struct {
		expression string
		rank       int
	}{
		{`(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Exit|Interrupt)(?::.*)?`, 8},
		{`(?:panic|fatal|fatal error|error\[E\d+\]): .*|--- FAIL: .*`, 7},
		{`(?i:error:|\[error\]|error -|err:) .*`, 6},
		{`(?:ERROR|FAILED|FAILURE|FATAL)\b.*`, 5},
		{`[\w./-]+: (?:line \d+: )?(?:[^:]+: )?(?i:no such file|command not found|not found|permission denied|illegal option|invalid option|unrecognized option|cannot |unknown ).*`, 6},
		{`[\w./+-]+\.\w+:\d+(?::\d+)?: .*`, 4},
		{`.*(?i:command not found|no such file or directory|permission denied|timed out|not found).*`, 3},
		{`.*(?i:error|failed|cannot|unknown|invalid|denied|unable|not allowed).*`, 2},
	} {
		p, err := compile(h.expression)
		if err != nil {
			panic(err) // a test compiles them
		}
		list = append(list, head{p, h.rank})
	}
	return list
}}

// speaksOfError reports whether a result begins with words such as "Error:", by which tools
// without a flag for errors report an error.
func speaksOfError(s string) bool {
	for _, h := range [...]string{"Error:", "error:", "ERROR:", "Error executing ", "Error calling ", "Tool execution failed", "MCP error", "Failed to "} {
		if strings.HasPrefix(s, h) {
			return true
		}
	}
	return false
}

// crashed reports whether an output ends with the message of an interpreter about an uncaught
// exception, or is the message of a shell that could not run a program.
func crashed(lines []line) bool {
	if len(lines) == 0 {
		return false
	}
	last := lines[len(lines)-1].text
	switch {
	case strings.HasPrefix(last, "Node.js v"):
		return slices.ContainsFunc(lines, func(l line) bool { return strings.HasPrefix(l.text, "at ") })
	case exception.Get().match(last):
		return slices.ContainsFunc(lines, func(l line) bool {
			return strings.HasPrefix(l.text, `File "`) || strings.HasPrefix(l.text, "Traceback (most recent call last)")
		})
	}
	return len(lines) == 1 && notRun.Get().match(last)
}

var exception = lazy.Value[pattern]{Make: func() pattern {
	p, err := compile(`(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Interrupt)(?:: .*)?`)
	if err != nil {
		panic(err) // a test matches it
	}
	return p
}}

var notRun = lazy.Value[pattern]{Make: func() pattern {
	p, err := compile(`(?:\S*/)?(?:ba|z|da|k)?sh: .*(?:command not found|No such file or directory|Permission denied).*|\S+: command not found`)
	if err != nil {
		panic(err) // a test matches it
	}
	return p
}}
