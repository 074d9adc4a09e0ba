package api

import "io"

// A FollowRequest asks for the import of a conversation file that its client appends to. It has no
// JSON form. The result is an [ImportResult].
type FollowRequest struct {
	Name   string      // name of the file, as its client named it: it tells Follow which session the file has
	Format string      // format of the file
	File   io.ReaderAt // not read after the call
	Size   int64       // size of the file in bytes
}
