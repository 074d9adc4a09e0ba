package codex

import (
	"slices"

	"github.com/carrel-dev/carrel/transcript"
)

// Continue decodes the end of a file without the rows before it; the end begins with the
// first row of a message. Continue returns nil unless decoding the whole file gives the
// messages of the rows before the end, followed by those of the end. This holds if the end
// has no compaction and no session_meta, and neither part refers to an id of the other: the
// results in the end answer calls in the end, and its ids are not known.
//
// All rows of end must be complete. The name is the id of the session. The function known reports
// whether a row before the end has or names an id, see [transcript.Item]. If it returns true for
// other ids too, Continue returns nil more often than necessary.
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

// SessionOf returns the id of the session in a file with this name, or "" if the name has none.
func (format) SessionOf(name string) transcript.SessionID {
	return transcript.SessionID(SessionOf(name))
}
