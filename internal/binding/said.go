package binding

import (
	"github.com/carrel-dev/carrel/transcript"
)

// Meta is what a client says of a call of a tool beside its arguments: the member _meta of
// the request.
type Meta = map[string]any

// Said is what a client itself says of the session in which it calls a tool.
type Said struct {
	Session transcript.SessionID
	Format  string // of the transcript

	// Find returns the path of the transcript, or "" as long as there is none.
	Find func() string

	// OfCall reports that it was said with the call, and so holds whatever a hook said. If not,
	// it was said when the server started: it holds if the transcript has the call, see [Wrote].
	OfCall bool
}

// Hear returns what the client says that makes a call of a server with an environment, or nil
// if it says nothing.
func Hear(getenv func(string) string, meta Meta) *Said {
	for _, hear := range [...]func(func(string) string, Meta) *Said{codex, claude} {
		if s := hear(getenv, meta); s != nil {
			return s
		}
	}
	return nil
}

// CallOf returns what the client calls a call, or "". It is the id under which the call stands
// in the transcript.
func CallOf(meta Meta) string {
	for _, key := range [...]string{claudeCall, codexCall} {
		if id, ok := meta[key].(string); ok {
			return id
		}
	}
	return ""
}
