package binding

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/transcript"
)

// A Binding records the session that a client is in.
type Binding struct {
	Client     Process              `json:"client"`
	Session    transcript.SessionID `json:"session"`
	Transcript string               `json:"transcript,omitempty"` // path of the transcript
	Format     string               `json:"format,omitempty"`     // format of the transcript; "" means claudecode, for files of earlier builds
	Scope      governance.Scope     `json:"scope"`                // scope in which hooks store the session
	Time       time.Time            `json:"time"`                 // time of the record
}

// A Folder has a file with the last binding of each running client.
type Folder struct {
	Path  string
	Table Table
}

// Record writes the binding of a client over its former one. If only the time differs, it writes
// nothing. If the client is new, Record removes the files of clients that have ended.
func (f Folder) Record(b *Binding) error {
	old, err := f.read(b.Client.PID)
	if err != nil {
		return err
	}
	known := old != nil && old.Client == b.Client
	if known && old.Session == b.Session && old.Transcript == b.Transcript && old.Format == b.Format && old.Scope == b.Scope {
		return nil
	}
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	if !known {
		if err := os.MkdirAll(f.Path, 0o700); err != nil {
			return err
		}
		f.sweep()
	}
	return replace(f.file(b.Client.PID), data)
}

// Of returns the binding of a client, or nil if it has none.
func (f Folder) Of(client Process) (*Binding, error) {
	b, err := f.read(client.PID)
	if b == nil || b.Client != client {
		return nil, err
	}
	return b, nil
}

func (f Folder) file(pid int) string { return filepath.Join(f.Path, strconv.Itoa(pid)+".json") }

// read returns the binding in the file of a process id, or nil if there is none or the file is
// invalid.
func (f Folder) read(pid int) (*Binding, error) {
	data, err := os.ReadFile(f.file(pid))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	b := new(Binding)
	if understood := json.Unmarshal(data, b) == nil && b.Session != ""; !understood {
		return nil, nil
	}
	return b, nil
}

// sweep removes the files of clients that have ended. It ignores errors, because another process
// may remove the same files.
func (f Folder) sweep() {
	entries, err := os.ReadDir(f.Path)
	if err != nil {
		return
	}
	for _, e := range entries {
		name, isBinding := strings.CutSuffix(e.Name(), ".json")
		pid, err := strconv.Atoi(name)
		if !isBinding || err != nil {
			continue
		}
		if b, err := f.read(pid); err == nil && (b == nil || !f.Table.runs(b.Client)) {
			_ = os.Remove(f.file(pid))
		}
	}
}

// replace writes a file completely or not at all, readable by its owner only.
func replace(path string, data []byte) error {
	t, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = t.Write(data)
	if err = errors.Join(err, t.Close()); err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(t.Name()))
	}
	return nil
}
