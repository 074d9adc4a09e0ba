package transcript

import "maps"

// A Window lists the parts of a session to send.
type Window struct {
	Session *Session
	Entries []Entry

	// As, if not empty, is the id of the new session that the window begins. It must be an id
	// for which [Resumed] reports true; Encode does not check it. Other formats ignore it.
	As SessionID

	// Mend makes Encode repair parts that the provider would refuse in an unchanged window, too,
	// and list every repair. See [Mend].
	Mend bool
}

// An Entry is one message of a window. Make entries with [Keep] and [Stub] and
// change them with their methods.
type Entry struct {
	Message          // the message to send
	Block   BlockID  // block that it belongs to or replaces, or empty
	Source  *Message // message whose bytes it keeps; nil for a generated message

	// Bare means that the thinking of Source was left out.
	Bare bool

	// Replaced has the new texts of tool results of Source, by call id.
	Replaced map[string]string
}

// Keep returns an entry for an unchanged message.
func Keep(m *Message, block BlockID) Entry {
	return Entry{Message: *m, Block: block, Source: m}
}

// Stub returns an entry for a text in place of a block. Its role is user, so
// that the model does not take it for its own words.
func Stub(block BlockID, text string) Entry {
	return Entry{Message: Message{Role: RoleUser, Parts: []Part{Text(text)}}, Block: block}
}

// WithoutThinking returns e without its thinking.
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

// WithResult returns e with text in place of the text of a call's result.
// Everything else of the result stays.
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

// Whole returns the window with every message of s unchanged.
func Whole(s *Session) *Window {
	w := &Window{Session: s, Entries: make([]Entry, len(s.Messages))}
	for i := range s.Messages {
		w.Entries[i] = Keep(&s.Messages[i], "")
	}
	return w
}

// Intact reports whether encoding w in the session's format gives the input: w is unchanged, and
// neither As nor Mend is set.
func (w *Window) Intact() bool { return w.As == "" && !w.Mend && w.Unchanged() }

// Unchanged reports whether w has every message of its session unchanged, in
// order.
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
