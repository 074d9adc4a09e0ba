package api

import (
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An ImportRequest stores a conversation, or the new part of a stored one.
type ImportRequest struct {
	// Name is the name of the file. For Data without an id of its session, such as a request to a
	// model, the id is made from Name without folder and extension, the system message and the
	// first other message, or from Name alone if [transcript.ThreadName] made it. Errors quote
	// Name.
	Name string `json:"name,omitempty"`

	Format string `json:"format,omitempty"` // "" or "auto" detects it
	Data   []byte `json:"data"`             // the conversation; the caller must not change it, even after the call
	DryRun bool   `json:"dry_run,omitempty"`

	// Rewind accepts a shorter copy of a stored session: the missing blocks
	// leave the conversation.
	Rewind bool `json:"rewind,omitempty"`

	// Compaction is the SHA-256, in hexadecimal digits, of the JSON of the message that the
	// client's own compaction left in Data, byte for byte. Stored blocks that precede it become an
	// earlier window; if no stored window has it, all stored blocks do. It is for formats whose
	// data holds one window: requests to models.
	Compaction string `json:"compaction,omitempty"`

	// Anew imports a purged conversation as a new one. It needs the
	// permission to erase.
	Anew bool `json:"anew,omitempty"`
}

// An ImportResult describes an import. It is the result of Import, Follow and Append.
type ImportResult struct {
	Session   transcript.SessionID `json:"session"`
	Format    string               `json:"format"`
	Title     string               `json:"title,omitempty"`
	Model     string               `json:"model,omitempty"`
	Encoding  string               `json:"encoding"`
	Messages  int                  `json:"messages"`
	Blocks    int                  `json:"blocks"`
	Earlier   int                  `json:"earlier,omitempty"` // blocks of windows before a compaction by the client
	Logged    int                  `json:"logged,omitempty"`  // calls that this import read in the client's own log
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

// ErrShorter means that a file has fewer messages of a session than the store, and nothing new. The
// error is a [*ShorterError]. ImportRequest.Rewind accepts the file.
var ErrShorter = errors.New("shorter copy of a known session")
