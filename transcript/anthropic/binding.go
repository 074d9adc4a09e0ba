package anthropic

import "strings"

// loose lists models that accept signed thinking even if earlier bytes of the request have
// changed, or that do not think. The names have no date at the end.
var loose = [...]string{
	"claude-3-7-sonnet",
	"claude-sonnet-4", "claude-sonnet-4-0", "claude-sonnet-4-5", "claude-sonnet-4-6",
	"claude-opus-4", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-5", "claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8",
	"claude-haiku-4-5",
}

// BindsThinking reports whether a model may bind its thinking to all bytes before the
// thinking, so that a change of these bytes makes the signature invalid. All newer models of
// the provider do. BindsThinking returns false only for the models in its list, and true for
// any other name: an alias, a gateway's or another cloud's name, a later model, an empty name.
//
// A name in the list may be followed by a date and by "[1m]".
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
