package hold

import (
	"slices"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
	"github.com/carrel-dev/carrel/transcript/responses"
)

// DropBoundThinking removes thinking from a window if the provider may have bound it to text before
// it that is different now. It returns what it removed. It keeps the thinking in front of the first
// changed entry. If format is not the session's format, or if prefixed is true, it removes all
// thinking: another format encodes the system text and tools in another way, and prefixed means
// that other text stands before the window.
func DropBoundThinking(w *transcript.Window, format string, prefixed bool) []transcript.Loss {
	if !binds(w.Session, format) {
		return nil
	}
	first := 0
	for !prefixed && format == w.Session.Format && first < len(w.Entries) && !w.Entries[first].Changed() &&
		w.Entries[first].Source == &w.Session.Messages[first] {
		first++
	}
	var losses []transcript.Loss
	for i := first; i < len(w.Entries); i++ {
		e := &w.Entries[i]
		count, size := 0, 0
		for _, p := range e.Parts {
			if t, ok := p.(transcript.Thinking); ok {
				count++
				size += len(t.Text)
			}
		}
		if count > 0 {
			losses = append(losses, transcript.Loss{Message: i, What: "thinking bound to the unchanged prefix", Count: count, Bytes: size})
			*e = e.WithoutThinking()
		}
	}
	w.Entries = slices.DeleteFunc(w.Entries, func(e transcript.Entry) bool { return e.Bare && len(e.Parts) == 0 })
	return losses
}

// binds reports whether the signatures of the thinking in s may cover the text before it, when s is
// written in the given format. It returns false if the format cannot carry the thinking of s: the
// encoder of such a format leaves the thinking out and reports that.
func binds(s *transcript.Session, format string) bool {
	switch {
	case format == "openai" || isGemini(format) || isGemini(s.Format) || hasItems(format) != hasItems(s.Format):
		return false
	case hasItems(format):
		return responses.BindsReasoning(s.Model)
	}
	return anthropic.BindsThinking(s.Model)
}

// isGemini reports whether a format is one of Google's. Its signatures stay valid if the text
// before them changes.
func isGemini(format string) bool { return format == "gemini" || format == "geminicli" }

// hasItems reports whether a format has the items of the Responses API.
func hasItems(format string) bool { return format == "responses" || format == "codex" }
