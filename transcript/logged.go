package transcript

import "time"

// Logged is a [Format] whose files may have the client's own log of its requests to models: that of
// claudecode.
type Logged interface {
	// Requests returns the requests in the log of a session, oldest first.
	// The warnings say which requests the log has in part only: at most one
	// for each kind of loss, with the line of the first.
	Requests(s *Session) ([]Request, []Warning)
}

// A Request is a past request to a model from the log of a client, with what
// the session has about the reply. It holds no text. Sizes are in bytes of the
// JSON that the log hashes, with sorted keys and without whitespace.
type Request struct {
	ID     string    // the client's id of the request
	Client string    // the client's id of the session, and of the sub-agent after a slash
	Begun  time.Time // zero if the log does not say
	Model  string

	Frame      [32]byte // SHA-256 of system text and tools; zero if the log lacks them
	FrameBytes int
	Chain      [32]byte // chain over the SHA-256 of all messages; zero if the log lacks some of these
	Messages   int
	Bytes      int // of the messages that are in the file
	Missing    int // messages that are not in the file

	// Kept is the number of messages that the request has in common, from the
	// first one on, with the request before it in the log. KeptBytes is their size.
	Kept, KeptBytes int

	Reply   string    // provider's id of the reply, or empty
	Replied time.Time // when the newest row of the reply was written, or zero
	Stop    string    // the provider's stop reason, or empty
}
