package transcript

import "time"

// A Metered format says what the provider charged for the calls of a session.
type Metered interface {
	// Receipts returns what the input of a session records of the calls that were made for
	// it, in the order in which they were answered. A call that the client did not record is
	// not among them.
	Receipts(s *Session) []Receipt
}

// A Receipt is what a provider charged for one call of a model, in tokens. The four parts
// of the prompt do not overlap.
type Receipt struct {
	ID    string    // provider's id of the reply
	Begun time.Time // when the newest message of the prompt was written, or zero
	Ended time.Time // when the reply was there, or zero
	Model string

	Uncached int64 // of the prompt, neither read from the provider's cache nor written to it
	Read     int64 // of the prompt, from the cache
	Write5m  int64 // of the prompt, to the cache, for five minutes
	Write1h  int64 // of the prompt, to the cache, for an hour
	Output   int64

	After     int  // index of the call whose conversation this one goes on, or -1
	Compacted bool // the client compacted the conversation since that call
	Side      bool // a sub-agent's
}
