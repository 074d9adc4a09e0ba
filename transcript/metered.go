package transcript

import "time"

// Metered is a [Format] that records the provider's usage for the calls of a session: that of
// claudecode, codex, geminicli or opencode.
type Metered interface {
	// Receipts returns the recorded usage of the calls of a session, in the
	// order of their answers. Calls that the client did not record are
	// missing.
	Receipts(s *Session) []Receipt
}

// A Receipt is the usage of one call of a model, in tokens. The four parts of
// the prompt do not overlap.
type Receipt struct {
	ID    string    // provider's id of the reply
	Begun time.Time // when the newest message of the prompt was written, or zero
	Ended time.Time // when the reply was complete, or zero
	Model string

	Uncached int64 // prompt tokens neither read from the cache nor written to it
	Read     int64 // prompt tokens read from the cache
	Write5m  int64 // prompt tokens written to the cache for five minutes
	Write1h  int64 // prompt tokens written to the cache for an hour
	Output   int64

	After     int  // index, in the list of receipts, of the call that this one continues, or -1
	Compacted bool // the client compacted the conversation since that call
	Side      bool // the call is a sub-agent's
}
