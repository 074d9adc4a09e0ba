package binding

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

const (
	// tail is the number of bytes at the end of a transcript that are searched for a call.
	tail = 1 << 20

	// patience is how long to wait until a client has written a call to its transcript; Claude
	// Code takes a tenth of a second.
	patience = time.Second

	// pause is the time between two searches.
	pause = 20 * time.Millisecond
)

// Wrote returns the path of a transcript if the transcript has the call with the client's id call,
// and "" otherwise, also if ctx is done or call is "". It waits at most [patience] for a client
// that has not written the call or created the file yet. The function find returns the path, or ""
// while the file does not exist.
func Wrote(ctx context.Context, find func() string, call string) (string, error) {
	if call == "" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		path := find()
		end, err := ending(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		if bytes.Contains(end, []byte(`"`+call+`"`)) {
			return path, nil
		}
		select {
		case <-ctx.Done():
			return "", nil
		case <-tick.C:
		}
	}
}

// ending returns the last bytes of a file, at most tail.
func ending(path string) (_ []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-tail)
	data := make([]byte, info.Size()-from)
	n, err := f.ReadAt(data, from)
	if n < len(data) {
		return nil, err
	}
	return data, nil
}
