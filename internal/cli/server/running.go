package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/server/proxy"
	"github.com/carrel-dev/carrel/store"
)

// A running is the record of a running server, stored as a file. The server locks the file while it
// lives. So a record without a lock belongs to a server that died, and another process with the
// same id is not taken for the server.
type running struct {
	PID      int       `json:"pid"`
	URL      string    `json:"url"`
	Surfaces []string  `json:"surfaces"`
	Proxy    string    `json:"proxy,omitempty"` // URL of the proxy, or ""
	Store    string    `json:"store"`
	Version  string    `json:"version"`
	Started  time.Time `json:"started"`

	Traffic *proxy.Traffic `json:"traffic,omitempty"` // traffic through the proxy, up to a few seconds ago

	file string
}

// enlist records a server until release is called.
func enlist(j *job.Job, s *running) (release func() error, err error) {
	dir, err := config.RunDir(j.Getenv)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	// Rename the record only when it is locked and complete, because a reader removes a record
	// that is not locked.
	name := filepath.Join(dir, strconv.Itoa(s.PID)+".json")
	f, err := os.CreateTemp(dir, "new-*")
	if err != nil {
		return nil, err
	}
	unlock, ok, err := job.TryLock(f)
	if err == nil && !ok {
		err = fmt.Errorf("record the server in %s: %w: another process has locked the file", f.Name(), store.ErrBusy)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()), f.Close())
	}
	_, err = f.Write(data)
	if err == nil {
		_, err = readServer(name) // removes the record if its process died
	}
	if err == nil {
		err = os.Link(f.Name(), name)
	}
	if err = errors.Join(err, os.Remove(f.Name())); err != nil {
		return nil, errors.Join(err, unlock(), f.Close())
	}
	return func() error { return errors.Join(os.Remove(name), unlock(), f.Close()) }, nil
}

// runningServers returns the user's running servers, oldest first. It removes the records of
// servers that died.
func runningServers(j *job.Job) ([]running, error) {
	dir, err := config.RunDir(j.Getenv)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	list := []running{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		s, err := readServer(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if s != nil {
			list = append(list, *s)
		}
	}
	slices.SortFunc(list, func(a, b running) int {
		if c := a.Started.Compare(b.Started); c != 0 {
			return c
		}
		return a.PID - b.PID
	})
	return list, nil
}

// readServer returns the server of a record. It returns nil if the record cannot be read, or if the
// server no longer runs; then it removes the record.
func readServer(file string) (_ *running, err error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the server has just ended
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	unlock, free, err := job.TryLock(f)
	if err != nil {
		return nil, err
	}
	if free {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, unlock())
		}
		return nil, unlock()
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the server has just ended, too
	}
	if err != nil {
		return nil, err
	}
	s := &running{file: file}
	if json.Unmarshal(data, s) != nil {
		return nil, nil // the server has just started
	}
	return s, s.readTraffic()
}

// endPause is the pause between two checks whether a server has ended.
const endPause = 50 * time.Millisecond

// stop asks a server to end, and waits until it has.
func (s *running) stop(ctx context.Context) error {
	p, err := os.FindProcess(s.PID)
	if err == nil {
		err = job.Terminate(p)
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop server %d: %w", s.PID, err)
	}
	tick := time.NewTicker(endPause)
	defer tick.Stop()
	for {
		if left, err := readServer(s.file); err != nil || left == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("server %d has not ended yet, see carrel ps: %w", s.PID, ctx.Err())
		case <-tick.C:
		}
	}
}
