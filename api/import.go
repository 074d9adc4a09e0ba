package api

import (
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An ImportRequest is a conversation in a file's format.
type ImportRequest struct {
	Name   string `json:"name,omitempty"`   // of the file, for errors
	Format string `json:"format,omitempty"` // "" or "auto" detects it
	Data   []byte `json:"data"`             // the caller must not change it afterwards
	DryRun bool   `json:"dry_run,omitempty"`

	// Rewind accepts a shorter copy of a stored session: the missing blocks
	// leave the conversation.
	Rewind bool `json:"rewind,omitempty"`

	// Compaction is the SHA-256, in hexadecimal digits, of the message that
	// the client's own compaction left in Data. Stored blocks that precede it
	// become an earlier window. It is for formats whose data holds one
	// window: requests to models.
	Compaction string `json:"compaction,omitempty"`

	// Anew imports a purged conversation as a new one. It needs the
	// permission to erase.
	Anew bool `json:"anew,omitempty"`
}

// An ImportResult describes an import.
type ImportResult struct {
	Session   transcript.SessionID `json:"session"`
	Format    string               `json:"format"`
	Title     string               `json:"title,omitempty"`
	Model     string               `json:"model,omitempty"`
	Encoding  string               `json:"encoding"`
	Messages  int                  `json:"messages"`
	Blocks    int                  `json:"blocks"`
	Earlier   int                  `json:"earlier,omitempty"` // blocks of windows before a compaction by the client
	Logged    int                  `json:"logged,omitempty"`  // past calls in the client's own log, as far as it was read now
	Tokens    token.Count          `json:"tokens"`
	Bytes     int                  `json:"bytes"`
	Added     int                  `json:"added"`      // new blocks
	NewTokens token.Count          `json:"new_tokens"` // tokens of the blocks that are new or have new bytes; Tokens counts those of all
	Changed   bool                 `json:"changed"`    // something was written or, in a dry run, would be
	Branches  []transcript.Branch  `json:"branches,omitempty"`
	Warnings  []transcript.Warning `json:"warnings,omitempty"`
	Op        string               `json:"op,omitempty"`
}

// A ShorterError is an [ErrShorter] with the figures. Messages are counted
// over all windows.
type ShorterError struct {
	Session    transcript.SessionID
	Known, Has int   // messages in the store, and in the file
	KnownBytes int64 // size of the stored input
	Bytes      int64 // size of the file
}

func (e *ShorterError) Error() string {
	return fmt.Sprintf("%v: of session %s %d messages are known (%d bytes); the file has %d (%d bytes) and nothing new",
		ErrShorter, e.Session, e.Known, e.KnownBytes, e.Has, e.Bytes)
}

// Is makes errors.Is(e, ErrShorter) true.
func (e *ShorterError) Is(target error) bool { return target == ErrShorter }

// ErrShorter means that a file has fewer messages of a session than the
// store, and nothing new.
var ErrShorter = errors.New("shorter copy of a known session")
