package agents

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
)

// New has the parameters of a new session.
type New struct {
	Env    Getenv
	Now    time.Time
	Output string // path that the user gives, or ""
	Folder bool   // Output is an existing folder
}

// A NewFile is the file of a new session.
type NewFile struct {
	Path   string
	Folder string // folder to create if missing, or ""
	ID     string
	Resume string // tells how to resume the session with the agent
}

// A NameError says that the path which a user gives cannot be the file of a new session.
type NameError struct {
	Output string // the given path, or ""
	Want   string // the form of a valid path, besides a folder
}

func (e *NameError) Error() string {
	if e.Output == "" {
		return "name a folder with -o, or " + e.Want
	}
	return fmt.Sprintf("-o %s: give a folder that exists, or %s", e.Output, e.Want)
}

// newUUID returns a UUID of version 4, which is random, or 7, which begins with the time
// (RFC 9562, sections 5.4 and 5.7).
func newUUID(version byte, now time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	if version == 7 {
		var ms [8]byte
		binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
		copy(b[:6], ms[2:])
	}
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
