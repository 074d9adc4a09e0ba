package tool

import "strings"

// Text that Gemini CLI writes around content from outside.
const (
	untrusted    = "<untrusted_context>\n"
	untrustedEnd = "\n</untrusted_context>"
)

// Printed returns the output of a tool without the text that Gemini CLI adds
// around it, and the exit code in that text, or "". Gemini CLI adds lines such
// as "Exit Code: 1" at the end, each at most once and in a fixed order; other
// lines of this form are output. printed begins with an empty line in place of
// the opening tag, so each line keeps its number. Any other result is returned
// unchanged.
func Printed(result string) (printed, status string) {
	rest, ok := strings.CutPrefix(result, untrusted)
	if !ok || !strings.HasSuffix(rest, untrustedEnd) {
		return result, ""
	}
	rest = strings.TrimSuffix(rest, untrustedEnd)
	if rest, ok = strings.CutPrefix(rest, "Output: "); !ok { // not of a shell
		return "\n" + strings.TrimSuffix(result[len(untrusted):], untrustedEnd), ""
	}
	for _, line := range [...]string{"Process Group PGID", "Background PIDs", "Signal", "Exit Code", "Error"} { // from below
		at := strings.LastIndexByte(rest, '\n')
		name, value, found := strings.Cut(rest[at+1:], ": ")
		if at < 0 || !found || name != line {
			continue
		}
		if name == "Exit Code" {
			status = value
		}
		rest = rest[:at]
	}
	if rest == "(empty)" {
		rest = ""
	}
	return "\n" + rest, status
}
