package transcript

import "maps"

// A Window is what a request would carry of a session.
type Window struct {
	Session *Session
	Entries []Entry

	// As, if not empty, is the id of the new session that the window begins. A
	// format whose files name no session ignores it.
	As SessionID

	// Mend says that what a provider would refuse is mended even if nothing else has
	// changed, so that the window is not written as it came. See [Mend].
	Mend bool
}

// An Entry is one message of a window. Make entries with [Keep] and [Stub] and
// change them with their methods.
type Entry struct {
	Message          // as it is to be sent
	Block   BlockID  // the block that it belongs to or stands for, or empty
	Source  *Message // the message whose bytes it keeps; nil if it was made

	// Bare means that the thinking of Source was left out.
	Bare bool

	// Replaced has the new texts of tool results of Source, by call id.
	Replaced map[string]string
}

// Keep returns an entry for a message as it is.
func Keep(m *Message, block BlockID) Entry {
	return Entry{Message: *m, Block: block, Source: m}
}

// Stub returns an entry for a text that stands in place of a block. It speaks
// in the user's role, so that the model does not take it for its own words.
func Stub(block BlockID, text string) Entry {
	return Entry{Message: Message{Role: RoleUser, Parts: []Part{Text(text)}}, Block: block}
}

// WithoutThinking returns e without its thinking. An entry without any is
// returned as it is.
func (e Entry) WithoutThinking() Entry {
	if !e.HasThinking() {
		return e
	}
	kept := make([]Part, 0, len(e.Parts))
	for _, p := range e.Parts {
		if _, ok := p.(Thinking); !ok {
			kept = append(kept, p)
		}
	}
	e.Parts, e.Bare = kept, true
	return e
}

// WithResult returns e with another text in its result for a call. The pairing
// and everything else of the result stay.
func (e Entry) WithResult(callID, text string) Entry {
	parts := make([]Part, len(e.Parts))
	for i, p := range e.Parts {
		if r, ok := p.(ToolResult); ok && r.CallID == callID {
			r.Content = []Part{Text(text)}
			p = r
		}
		parts[i] = p
	}
	e.Parts = parts
	e.Replaced = maps.Clone(e.Replaced)
	if e.Replaced == nil {
		e.Replaced = make(map[string]string)
	}
	e.Replaced[callID] = text
	return e
}

// Changed reports whether e differs from its source, or has none.
func (e *Entry) Changed() bool { return e.Source == nil || e.Bare || len(e.Replaced) > 0 }

// Whole returns the window that has every message of s as it is.
func Whole(s *Session) *Window {
	w := &Window{Session: s, Entries: make([]Entry, len(s.Messages))}
	for i := range s.Messages {
		w.Entries[i] = Keep(&s.Messages[i], "")
	}
	return w
}

// Intact reports whether w is its session: unchanged, not the beginning of a new one, and
// not to be mended.
func (w *Window) Intact() bool { return w.As == "" && !w.Mend && w.Unchanged() }

// Unchanged reports whether w has every message of its session as it is, in order.
func (w *Window) Unchanged() bool {
	if len(w.Entries) != len(w.Session.Messages) {
		return false
	}
	for i := range w.Entries {
		e := &w.Entries[i]
		if e.Changed() || e.Source != &w.Session.Messages[i] {
			return false
		}
	}
	return true
}
