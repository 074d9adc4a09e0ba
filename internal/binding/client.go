package binding

import (
	"github.com/carrel-dev/carrel/transcript"
)

// Meta is the member _meta of a tool call, in which a client sends data beside the arguments.
type Meta = map[string]any

// ClientSession is the session of a tool call as the client itself names it.
type ClientSession struct {
	Session transcript.SessionID
	Format  string // of the transcript

	// Find returns the path of the transcript, or "" if it does not exist yet.
	Find func() string

	// OfCall reports that the session was sent with the call, and so overrides the record of a
	// hook. If false, it was named at the start of the server, and is valid only if the
	// transcript has the call, see [Wrote].
	OfCall bool
}

// Detect returns the session that the client of a call names, by the environment of the server and
// the metadata of the call, or nil.
func Detect(getenv func(string) string, meta Meta) *ClientSession {
	for _, detect := range [...]func(func(string) string, Meta) *ClientSession{codex, claude} {
		if s := detect(getenv, meta); s != nil {
			return s
		}
	}
	return nil
}

// CallOf returns the client's id of a call, or "". The transcript has the call under this id.
func CallOf(meta Meta) string {
	for _, key := range [...]string{claudeCall, codexCall} {
		if id, ok := meta[key].(string); ok {
			return id
		}
	}
	return ""
}
