package api

import (
	"encoding/json"

	"github.com/carrel-dev/carrel/transcript"
)

// An AppendRequest adds messages to the end of a session. The result is an [ImportResult].
type AppendRequest struct {
	// Session is the session to add to; if it does not exist, it begins with
	// these messages. It is a name of 1 to 128 letters, digits and . _ : -
	// and does not begin with one of those four.
	Session transcript.SessionID `json:"session"`

	// Messages are messages in the format of the session. They are kept byte
	// for byte.
	Messages []json.RawMessage `json:"messages"`

	// At is the number of messages that the session must have before; a new session has 0. If it
	// has another number, the error is a [store.ErrConflict]: so a repeated request adds nothing
	// twice. nil means that the number is not checked.
	At *int `json:"at,omitempty"`

	// Format, Model and System describe a new session; an existing session
	// keeps its own. Format is "openai" (the default), "anthropic",
	// "responses" (messages are items) or "gemini" (messages are contents).
	// Model is the name of the model. System is the system text, for all
	// formats but openai, where it is a message.
	Format string `json:"format,omitempty"`
	Model  string `json:"model,omitempty"`
	System string `json:"system,omitempty"`

	DryRun bool `json:"dry_run,omitempty"`
}
