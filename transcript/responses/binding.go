package responses

import "strings"

// loose lists prefixes of models that accept their earlier reasoning whatever else in the
// request has changed, or that do not reason.
var loose = [...]string{"gpt-3", "gpt-4", "gpt-5", "chatgpt-4", "gpt-oss", "o1", "o3", "o4", "codex-mini", "computer-use-preview"}

// BindsReasoning reports whether a model may ignore its earlier reasoning after the first
// changed byte of the request. Newer models of the provider do. BindsReasoning returns false
// only for the models in its list, and true for any other name and for an empty name.
//
// A name in the list may be followed by a version, a size or a date: gpt-5.6-codex.
func BindsReasoning(model string) bool {
	for _, known := range loose {
		if rest, ok := strings.CutPrefix(model, known); ok && (rest == "" || strings.ContainsAny(rest[:1], "-.o")) {
			return false
		}
	}
	return true
}
