package api

import (
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// An ImportRequest is a file with a conversation.
type ImportRequest struct {
	Name   string `json:"name,omitempty"`   // of the file; goes into errors
	Format string `json:"format,omitempty"` // "" or "auto" finds out
	Data   []byte `json:"data"`             // must not be changed afterwards
	DryRun bool   `json:"dry_run,omitempty"`

	// Rewind takes in a copy that has less of a session than what is known, and nothing
	// new: what is missing leaves the conversation.
	Rewind bool `json:"rewind,omitempty"`

	// Compaction is the SHA-256, in hexadecimal digits, of the message that the client's own
	// compaction left in the conversation, as it stands in Data. What is stored of the session
	// and lacks that message becomes an earlier window. It is for formats whose data has one
	// window: requests to models.
	Compaction string `json:"compaction,omitempty"`

	// Anew takes in a conversation that was purged, as if it had never been there. It
	// takes the permission to erase, which is whose decision it was.
	Anew bool `json:"anew,omitempty"`
}

// An ImportResult says what was imported.
type ImportResult struct {
	Session  transcript.SessionID `json:"session"`
	Format   string               `json:"format"`
	Title    string               `json:"title,omitempty"`
	Model    string               `json:"model,omitempty"`
	Encoding string               `json:"encoding"`
	Messages int                  `json:"messages"`
	Blocks   int                  `json:"blocks"`
	Earlier  int                  `json:"earlier,omitempty"` // blocks before a compaction by the client
	Tokens   token.Count          `json:"tokens"`
	Bytes    int                  `json:"bytes"`
	Added    int                  `json:"added"`   // blocks that were not known
	Changed  bool                 `json:"changed"` // something was written, or would be
	Branches []transcript.Branch  `json:"branches,omitempty"`
	Warnings []transcript.Warning `json:"warnings,omitempty"`
	Op       string               `json:"op,omitempty"`
}

// A ShorterError is an [ErrShorter] with the figures. Messages are counted in all
// windows.
type ShorterError struct {
	Session    transcript.SessionID
	Known, Has int   // messages: that are known, and that the file has
	KnownBytes int64 // of the input that is stored
	Bytes      int64 // of the file
}

func (e *ShorterError) Error() string {
	return fmt.Sprintf("%v: of session %s %d messages are known (%d bytes); the file has %d (%d bytes) and nothing new",
		ErrShorter, e.Session, e.Known, e.KnownBytes, e.Has, e.Bytes)
}

// Is makes errors.Is(e, ErrShorter) true.
func (e *ShorterError) Is(target error) bool { return target == ErrShorter }

// ErrShorter means that a file has less of a session than what is known, and nothing
// new.
var ErrShorter = errors.New("shorter copy of a known session")
