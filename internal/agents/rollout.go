package agents

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript/codex"
)

// mostForks is how many sessions may stand one before the other.
const mostForks = 32

// ReadFile returns the content of a file of conversations. What zstd has compressed is
// unpacked, see [Unpacked]. The file of a fork of Codex has only what is new in it, and says
// which part of which file stands before: that is put in, behind the first row, if the file is
// there.
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

// entire returns a file that is open, and its size, as [ReadFile] reads it: itself unless it is
// that of a fork.
func entire(f *os.File, size int64) (io.ReaderAt, int64, error) {
	if !isRollout(filepath.Base(f.Name())) {
		return f, size, nil
	}
	head := make([]byte, min(size, 1<<20)) // the first row has the instructions
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

// A base is what stands before the rows of a fork: so many bytes of the file of a thread.
type base struct {
	thread string
	bytes  int64
}

// baseOf returns the base of a file, or nil, and the size of the first row.
func baseOf(data []byte) (*base, int) {
	end := bytes.IndexByte(data, '\n') + 1
	if end == 0 {
		return nil, 0
	}
	b := gjson.GetBytes(data[:end], "payload.history_base")
	if !b.IsObject() {
		return nil, end
	}
	return &base{b.Get("thread_id").Str, b.Get("end_byte_offset").Int()}, end
}

// withBase returns the content of a file with what stands before it. Where that is not there, or
// is not as the file says, the content is returned as it is, and its decoder tells.
func withBase(path string, data []byte, most int) ([]byte, error) {
	b, first := baseOf(data)
	if b == nil {
		return data, nil
	}
	if most == 0 {
		return nil, fmt.Errorf("%s: more than %d sessions stand one before the other", path, mostForks)
	}
	before := fileOf(path, b.thread)
	if before == "" {
		return data, nil
	}
	whole, err := os.ReadFile(before)
	if err == nil {
		whole, err = Unpacked(before, whole)
	}
	if err != nil {
		return nil, err
	}
	if b.bytes <= 0 || b.bytes > int64(len(whole)) || whole[b.bytes-1] != '\n' {
		return data, nil
	}
	if whole, err = withBase(before, whole[:b.bytes], most-1); err != nil {
		return nil, err
	}
	if len(whole) > mostUnpacked {
		return nil, fmt.Errorf("%s: what stands before it has more than %d bytes", path, mostUnpacked)
	}
	return bytes.Join([][]byte{data[:first], whole, data[first:]}, nil), nil
}

// fileOf returns the path of the file of a thread, or "", from that of another one: it is in the
// same folder, or where the same Codex keeps it.
func fileOf(path, thread string) string {
	if strings.ContainsAny(thread, `/\*?[`) || thread == "" {
		return ""
	}
	here := filepath.Dir(path)
	patterns := []string{here}
	for dir := here; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if name := filepath.Base(dir); name == "sessions" || name == "archived_sessions" {
			home := filepath.Dir(dir)
			patterns = append(patterns, filepath.Join(home, "sessions", "*", "*", "*"), filepath.Join(home, "archived_sessions"))
			break
		}
	}
	for _, p := range patterns {
		for _, end := range [...]string{"", packed} {
			found, err := filepath.Glob(filepath.Join(p, "rollout-*-"+thread+".jsonl"+end))
			if err == nil && len(found) > 0 && codex.SessionOf(strings.TrimSuffix(found[0], packed)) == thread {
				return found[0]
			}
		}
	}
	return ""
}
