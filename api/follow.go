package api

import "io"

// A FollowRequest is the file of a conversation to which its client adds.
type FollowRequest struct {
	Name   string      // of the file; without its extension it is the session, for what is remembered of it
	Format string      // of the file
	File   io.ReaderAt // is not read after the call
	Size   int64       // bytes that the file has
}
