package api

import (
	"encoding/json"
	"time"

	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A StashRequest brings the output of a tool in.
type StashRequest struct {
	Content      []byte         `json:"content"`
	Title        string         `json:"title,omitempty"`  // such as the command
	Source       string         `json:"source,omitempty"` // where it comes from; only told
	TTL          *time.Duration `json:"ttl,omitempty"`    // StashTTL by default
	AllowSecrets bool           `json:"allow_secrets,omitempty"`
	Redact       bool           `json:"redact,omitempty"` // as in [PutRequest]: the pointer has the redacted text, too

	// Session is the conversation that the output is for: what it speaks of says
	// which lines are likely to be needed. By default the output alone does.
	Session transcript.SessionID `json:"session,omitempty"`

	// History are parts of such a conversation, in order and in Format, in place of a
	// session that is stored. A part that cannot be read counts as nothing.
	History [][]byte `json:"history,omitempty"`
	Format  string   `json:"format,omitempty"` // of History

	// Tool is what printed the output, and Input what it was called with.
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	// FirstLine is the number that the first line of the output has in its file, if
	// the output is a part of a file: then each line in the pointer has its number in
	// the file in front, and a tab between. Without it no number is added, except in
	// front of the lines that are picked from the middle.
	FirstLine int `json:"first_line,omitempty"`

	// Tokens is how large the pointer may be, [StashTokens] by default. An output
	// that fits stands in it whole.
	Tokens token.Count `json:"tokens,omitempty"`

	// Known asks for the pointer to an output that is in the stash already, and is
	// a [store.ErrNotFound] if it is not. Nothing is kept then.
	Known bool `json:"known,omitempty"`
}

// A StashResult is the pointer to what is in the stash.
type StashResult struct {
	Artifact
	Pointer string      `json:"pointer"` // to put into the window in place of the output
	Tokens  token.Count `json:"pointer_tokens"`
	Known   bool        `json:"known"` // the same bytes were there already
}

// StashTTL is how long what is in the stash lives by default.
const StashTTL = 7 * 24 * time.Hour

const (
	// StashTokens is how large the pointer to what is in the stash is by default.
	StashTokens token.Count = 1500

	// LeastStashTokens is the smallest size that may be asked for: below it there is
	// no room for more than the words that say where the rest is.
	LeastStashTokens token.Count = 400
)
