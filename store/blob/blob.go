// Package blob is the interface to a place that keeps large bodies outside of a database: a
// directory, or a bucket. Packages store/blob/file and store/blob/s3 implement it; package
// store/blob/blobtest tests implementations, and package store/offload uses them.
//
// A place knows keys and bytes and nothing else: which blob belongs to what, and whether it is
// still needed, is in the database. A blob is written once, under a new random key, and never
// changed.
//
// # Keys
//
// A key is at most 200 bytes, in one or more parts with a slash between them. Each part consists of
// letters, digits, "-" and "_". Any other key is refused with [ErrKey]. A caller that writes "a/b"
// must not write "a/b/c", too; Put does not check this.
//
// # Errors
//
// A missing blob is an [fs.ErrNotExist]. A place that does not answer or is not there is a
// store.ErrUnreachable and no fs.ErrNotExist, because nothing is known about the blob. Other errors
// of drivers match the errors of package store for troubles of disks and of permissions. No error
// and no place contains a password or a key of a bucket. Drivers are safe for concurrent use.
package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ErrKey means that a key is invalid.
var ErrKey = errors.New("invalid key of a blob")

// A TroubleError means that a directory or a bucket cannot be used for a reason outside of Carrel.
// It says what to do, and matches an error of package store.
type TroubleError struct {
	Place string // address of the directory or the bucket
	Kind  error  // such as store.ErrUnreachable
	Next  string // what to try
	Cause error  // error of the system, the connection or the server; errors.Is does not find it
}

func (e *TroubleError) Error() string {
	return fmt.Sprintf("blobs in %s: %v: %s: %v", e.Place, e.Kind, e.Next, e.Cause)
}

// Unwrap returns the kind, and not the cause. If the directory is missing, the cause matches
// fs.ErrNotExist, which would mean here that only the blob is missing.
func (e *TroubleError) Unwrap() error { return e.Kind }

// A Keeper keeps blobs in one place, such as a directory or a bucket of S3.
type Keeper interface {
	// Put writes a blob durably: the blob is kept even if the process dies or power fails. Get
	// finds it only when it is complete. Put may be called again with the same key and the same
	// bytes, because the answer to the first call may have been lost.
	Put(ctx context.Context, key string, body []byte) error

	// Get returns a blob. Of a blob that is longer than most bytes it returns the first most+1,
	// without an error, so that a caller who knows the size notices it.
	Get(ctx context.Context, key string, most int64) ([]byte, error)

	// Drop deletes a blob, all of its versions, and what an unfinished Put has left of it. It
	// returns nil if there is none.
	Drop(ctx context.Context, key string) error

	// Ready returns the reason why blobs cannot be read or written, if it finds one.
	Ready(ctx context.Context) error

	// String returns the address of the place, without credentials.
	String() string
}

// CheckKey returns [ErrKey] if a key is invalid.
func CheckKey(key string) error {
	if len(key) > 200 {
		return ErrKey
	}
	for part := range strings.SplitSeq(key, "/") {
		if part == "" || strings.ContainsFunc(part, isOther) {
			return ErrKey
		}
	}
	return nil
}

// isOther reports whether the character r is not allowed in a part of a key.
func isOther(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !letter && (r < '0' || '9' < r) && r != '-' && r != '_'
}

// ReadAtMost reads r to its end, but at most most+1 bytes, as [Keeper].Get needs it. A longer r is
// no error. It is for drivers.
func ReadAtMost(r io.Reader, most int64) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, min(most, 1<<30)+bytes.MinRead))
	_, err := b.ReadFrom(io.LimitReader(r, most+1))
	return b.Bytes(), err
}
