package api

import "io"

// A FollowRequest is a conversation file that its client appends to.
type FollowRequest struct {
	Name   string      // of the file; without its extension, the key of the session for later calls
	Format string      // format of the file
	File   io.ReaderAt // not read after the call
	Size   int64       // size of the file in bytes
}
