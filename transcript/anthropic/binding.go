package anthropic

import "strings"

// loose has the models that are known to take signed thinking back whatever has
// changed before it, without the date that a name may end in. Models before these
// do not think.
var loose = [...]string{
	"claude-3-7-sonnet",
	"claude-sonnet-4", "claude-sonnet-4-0", "claude-sonnet-4-5", "claude-sonnet-4-6",
	"claude-opus-4", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-5", "claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8",
	"claude-haiku-4-5",
}

// BindsThinking reports whether a model may bind its thinking to everything that
// stands before it, so that a signature is worth nothing once a byte of that has
// changed. All newer models of the provider do. A name that is not known for a model
// that does not is taken for one that does: an alias, the name that a gateway or
// another cloud has for a model, a model that came later, and no name at all.
//
// A known name may end in a date and in "[1m]".
func BindsThinking(model string) bool {
	name := undated(strings.TrimSuffix(model, "[1m]"))
	for _, known := range loose {
		if name == known {
			return false
		}
	}
	return true
}

// undated returns the name of a model without the date at its end.
func undated(name string) string {
	const digits = len("20251101")
	at := len(name) - digits - 1
	if at < 0 || name[at] != '-' {
		return name
	}
	for _, c := range []byte(name[at+1:]) {
		if c < '0' || c > '9' {
			return name
		}
	}
	return name[:at]
}
