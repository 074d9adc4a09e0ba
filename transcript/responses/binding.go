package responses

import "strings"

// loose has how the names of models begin that are known to use reasoning that is given
// back to them whatever has changed before it, or that do not reason.
var loose = [...]string{"gpt-3", "gpt-4", "gpt-5", "chatgpt-4", "gpt-oss", "o1", "o3", "o4", "codex-mini", "computer-use-preview"}

// BindsReasoning reports whether a model may leave out of account the reasoning that is
// behind the first change of what it was given before. Newer models of the provider do. A
// name that is not known for a model that does not is taken for one that does, and so is
// no name at all.
//
// A known name may have a version, a size or a date behind it: gpt-5.6-codex.
func BindsReasoning(model string) bool {
	for _, known := range loose {
		if rest, ok := strings.CutPrefix(model, known); ok && (rest == "" || strings.ContainsAny(rest[:1], "-.o")) {
			return false
		}
	}
	return true
}
