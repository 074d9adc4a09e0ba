package api

import (
	"encoding/json"
	"time"

	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A StashRequest stores the output of a tool.
type StashRequest struct {
	Content      []byte         `json:"content"`
	Title        string         `json:"title,omitempty"`  // such as the command
	Source       string         `json:"source,omitempty"` // origin of the output; only displayed
	TTL          *time.Duration `json:"ttl,omitempty"`    // StashTTL by default
	AllowSecrets bool           `json:"allow_secrets,omitempty"`
	Redact       bool           `json:"redact,omitempty"` // as in [NewArtifact]; the pointer has the redacted text too

	// Session is the conversation that the output is for; it decides which
	// lines of the output are likely needed. Without it, the output alone
	// decides.
	Session transcript.SessionID `json:"session,omitempty"`

	// History is the conversation, if it is not stored as a Session. The entries are in order.
	// Each is decoded alone, as data in Format: a whole file or request, for example. Entries
	// that cannot be decoded are skipped.
	History [][]byte `json:"history,omitempty"`
	Format  string   `json:"format,omitempty"` // format of History

	// Tool is the name of the tool that printed the output, and Input its
	// arguments.
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`

	// FirstLine is the line number in its file of the first line of the
	// output, if the output is a part of a file. Each line in the pointer is
	// then prefixed with its number and a tab. If it is 0, only lines picked
	// from the middle have numbers.
	FirstLine int `json:"first_line,omitempty"`

	// Tokens is the most tokens of the pointer, by default [StashTokens]. The
	// pointer to an output that fits is the whole output; it is stored all the same.
	Tokens token.Count `json:"tokens,omitempty"`

	// Known asks for the pointer of a stashed output and stores nothing. It
	// fails with [store.ErrNotFound] if the output is not in the stash.
	Known bool `json:"known,omitempty"`
}

// A StashResult is the pointer to a stashed output.
type StashResult struct {
	Artifact
	Pointer string      `json:"pointer"`        // text for the window in place of the output
	Tokens  token.Count `json:"pointer_tokens"` // tokens of Pointer; Artifact.Tokens are those of the artifact
	Known   bool        `json:"known"`          // the same bytes were stored before
}

// StashTTL is the default time to live of a stashed output.
const StashTTL = 7 * 24 * time.Hour

const (
	// StashTokens is the default of StashRequest.Tokens.
	StashTokens token.Count = 1500

	// LeastStashTokens is the least StashRequest.Tokens; less is an [ErrRequest],
	// because a smaller pointer has no room for lines of the output.
	LeastStashTokens token.Count = 400
)
