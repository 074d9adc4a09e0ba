package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// mostForks is the longest chain of forks that is read.
const mostForks = 32

// ReadFile returns the content of a file of conversations, unpacked if zstd has compressed it,
// see [Unpacked]. The file of a fork of Codex, or of a rewound thread, contains only new rows and
// names the part of another file that precedes them. ReadFile inserts that part behind the first
// row, if the other file exists.
func ReadFile(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err == nil {
		data, err = Unpacked(path, data)
	}
	if err != nil || !isRollout(filepath.Base(path)) {
		return data, err
	}
	return withBase(path, data, mostForks)
}

// entire returns a reader of the content that [ReadFile] returns for an open file, and its size.
// Unless the file is compressed or a fork, the reader is the file itself.
func entire(f *os.File, size int64) (io.ReaderAt, int64, error) {
	switch {
	case strings.HasSuffix(f.Name(), packed):
		data, err := ReadFile(f.Name())
		return bytes.NewReader(data), int64(len(data)), err
	case !isRollout(filepath.Base(f.Name())):
		return f, size, nil
	}
	head := make([]byte, min(size, 1<<20)) // the first row contains the instructions
	if _, err := f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, 0, err
	}
	if base, _ := baseOf(head); base == nil {
		return f, size, nil
	}
	data, err := io.ReadAll(io.NewSectionReader(f, 0, size))
	if err == nil {
		data, err = withBase(f.Name(), data, mostForks)
	}
	return bytes.NewReader(data), int64(len(data)), err
}

// A base is the part of another file that precedes the rows of a fork or a rewound thread: the
// first bytes of a file of a thread, up to a row.
type base struct {
	thread  string
	bytes   int64
	ordinal int64
}

// of returns the bytes of the base from the content of the other file, or nil if that file does
// not have them.
func (b *base) of(data []byte) []byte {
	if b.bytes <= 0 || b.bytes > int64(len(data)) || data[b.bytes-1] != '\n' {
		return nil
	}
	data = data[:b.bytes]
	last := data[bytes.LastIndexByte(data[:len(data)-1], '\n')+1:]
	if n := gjson.GetBytes(last, "ordinal"); b.ordinal > 0 && n.Exists() && n.Int() != b.ordinal-1 {
		return nil
	}
	return data
}

// baseOf returns the base that a file names, or nil, and the size of its first row.
func baseOf(data []byte) (*base, int) {
	end := bytes.IndexByte(data, '\n') + 1
	if end == 0 {
		return nil, 0
	}
	b := gjson.GetBytes(data[:end], "payload.history_base")
	if !b.IsObject() {
		return nil, end
	}
	return &base{b.Get("thread_id").Str, b.Get("end_byte_offset").Int(), b.Get("end_ordinal_exclusive").Int()}, end
}

// withBase returns the content of a file with its base inserted. If the base is missing or does
// not fit, it returns the content unchanged, and the decoder reports the gap.
func withBase(path string, data []byte, most int) ([]byte, error) {
	b, first := baseOf(data)
	if b == nil {
		return data, nil
	}
	if most == 0 {
		return nil, fmt.Errorf("%s: the chain of forks is longer than %d sessions", path, mostForks)
	}
	before, whole, err := b.find(path)
	if whole == nil {
		return data, err
	}
	if whole, err = withBase(before, whole, most-1); err != nil {
		return nil, err
	}
	if len(whole) > mostUnpacked {
		return nil, fmt.Errorf("%s: the part before the fork has more than %d bytes", path, mostUnpacked)
	}
	return bytes.Join([][]byte{data[:first], whole, data[first:]}, nil), nil
}

// find returns the path of a file of the thread b.thread that has the base, and the bytes of the
// base. If there is no such file, it returns "" and nil. It looks first in the folder of path. If
// path is in Codex's folder sessions or archived_sessions, it looks then in sessions, and last in
// archived_sessions. In each of these places it tries the newest file first. It skips the file at
// path itself.
func (b *base) find(path string) (string, []byte, error) {
	folders := []string{filepath.Dir(path)}
	for dir := folders[0]; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if name := filepath.Base(dir); name == "sessions" || name == "archived_sessions" {
			home := filepath.Dir(dir)
			folders = append(folders, filepath.Join(home, "sessions", "*", "*", "*"), filepath.Join(home, "archived_sessions"))
			break
		}
	}
	for _, f := range folders {
		for _, file := range slices.Backward(rollouts(f, b.thread)) {
			if file == path {
				continue
			}
			data, err := os.ReadFile(file)
			if err == nil {
				data, err = Unpacked(file, data)
			}
			if err != nil {
				return "", nil, err
			}
			if data = b.of(data); data != nil {
				return file, data, nil
			}
		}
	}
	return "", nil, nil
}
