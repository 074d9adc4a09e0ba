package api

import (
	"encoding/json"

	"github.com/carrel-dev/carrel/transcript"
)

// An AppendRequest adds messages to the end of a session.
type AppendRequest struct {
	// Session is the session, which begins with these messages if it is not there
	// yet: a name of 1 to 128 letters, digits and . _ : - that does not begin with
	// one of those.
	Session transcript.SessionID `json:"session"`

	// Messages are as the format of the session has them, and are kept byte for
	// byte.
	Messages []json.RawMessage `json:"messages"`

	// At is how many messages the session must have, so that what is sent twice is
	// not added twice. By default it is not asked.
	At *int `json:"at,omitempty"`

	// Format, Model and System are those of a session that begins: "openai", the
	// default, "anthropic", "responses", whose messages are items, or "gemini", whose
	// messages are contents; the name of the model; for all but openai the system text,
	// which is no message there. A session that is there keeps its own.
	Format string `json:"format,omitempty"`
	Model  string `json:"model,omitempty"`
	System string `json:"system,omitempty"`

	DryRun bool `json:"dry_run,omitempty"`
}
