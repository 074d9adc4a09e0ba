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
	// tail is how many bytes at the end of a transcript are searched for a call.
	tail = 1 << 20

	// patience is how long a client may take to write down a call that it has made:
	// Claude Code takes a tenth of a second.
	patience = time.Second

	// pause is the time between two looks.
	pause = 20 * time.Millisecond
)

// Wrote returns the path of a transcript if it has a call of a tool, by the id that the
// client gave it, and "" if it has not. It waits for a client that has not written the
// call down yet, or not even begun the file: find returns the path, or "" as long as there
// is none.
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

// ending returns the last bytes of a file.
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
