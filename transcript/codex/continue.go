package codex

import (
	"slices"

	"github.com/carrel-dev/carrel/transcript"
)

// Continue decodes the end of a file, which begins with the first row of a message, without
// what is before it. It returns nil unless the conversation of the whole file is that of what
// is before, and then that of the end. That is so if the end begins no window and is not about
// another session, and if nothing that one of them names is something that the other brings:
// its results are of its own calls, and the ids that it brings are not known.
//
// All lines must be whole. Name is the id of the session; known reports whether what is before
// has an id, see [transcript.Item], and may err on the side of true.
func (f format) Continue(name string, end []byte, known func(id string) bool) *transcript.Session {
	if len(end) == 0 || end[len(end)-1] != '\n' {
		return nil
	}
	s, err := f.Decode(name, end)
	if err != nil || len(s.Warnings) > 0 || s.Messages[0].Items[0] != 0 {
		return nil
	}
	calls := make(map[string]bool)
	for i := range s.Items {
		r := row{raw: s.Items[i].Raw}
		if r.read() == nil && (r.kind == "session_meta" || r.kind == "compacted") {
			return nil
		}
		if slices.ContainsFunc(s.Items[i].Brings, known) {
			return nil
		}
		for _, id := range s.Items[i].Brings {
			calls[id] = true
		}
		if slices.ContainsFunc(s.Items[i].Mentions, func(id string) bool { return !calls[id] }) {
			return nil
		}
	}
	s.ID = transcript.SessionID(name)
	return s
}

// SessionOf returns the session that a file with a name is of, or "" if the name does not say.
func (format) SessionOf(name string) transcript.SessionID {
	return transcript.SessionID(SessionOf(name))
}
