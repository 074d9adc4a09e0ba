package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/agents"
)

// follow imports the new part of the conversation. If the store has more of it already, that is no
// error. If the agent waits, and the conversation is long or in a database, follow does nothing and
// returns nil.
func (r *run) follow(ctx context.Context, e *Event) (*carrel.ImportResult, error) {
	if e.waited && agents.IsPlace(e.Transcript) {
		return nil, nil // a database is read as a whole, which is too slow here
	}
	if e.waited && e.Transcript != "" {
		fi, err := os.Stat(e.Transcript)
		if err != nil || fi.Size() > mostWaited {
			return nil, err
		}
	}
	if e.Transcript == "" {
		return nil, &EventError{Event: r.event, Err: errNoFile}
	}
	file, size, err := agents.Open(e.Transcript)
	if err != nil {
		return nil, err
	}
	if size > mostFile {
		return nil, errors.Join(fmt.Errorf("%s has more than %d bytes", e.Transcript, mostFile), file.Close())
	}
	defer file.Close()
	in, err := r.engine.Follow(ctx, r.o.Scope, &carrel.FollowRequest{Name: strings.TrimSuffix(filepath.Base(e.Transcript), ".zst"), Format: e.Format, File: file, Size: size})
	if shorter, ok := errors.AsType[*carrel.ShorterError](err); ok { // another hook has read more of the file by now
		r.o.Note(err)
		return &carrel.ImportResult{Session: shorter.Session, Format: e.Format}, nil
	}
	return in, err
}

// shrink stashes the large outputs of a tool and returns pointers in their place. An output that
// cannot be stashed stays as it is.
func (r *run) shrink(ctx context.Context, e *Event) (*answer, error) {
	r.grow(ctx, e)
	history := r.history(e)
	a := &answer{outputs: make([]string, len(e.outputs))}
	var failed []error
	stashed := false
	for i := range e.outputs {
		text, err := e.outputs[i].whole()
		if err == nil {
			a.outputs[i], err = r.stash(ctx, e, history, text, e.outputs[i].line)
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		stashed = stashed || a.outputs[i] != ""
	}
	if !stashed {
		return nil, errors.Join(failed...)
	}
	for _, err := range failed {
		r.o.Note(err)
	}
	return a, nil
}

// stash stashes a text and returns the pointer to it, or "" if the pointer is no shorter. If line
// is above 0, it is the number of the first line.
func (r *run) stash(ctx context.Context, e *Event, history [][]byte, text string, line int) (string, error) {
	res, err := r.engine.Stash(ctx, r.o.Scope, &carrel.StashRequest{
		Content: []byte(text), Title: e.title, Source: e.tool, History: history, Format: e.Format, Tool: e.tool, Input: e.input,
		FirstLine: line, Tokens: r.o.Pointer, AllowSecrets: r.o.Secrets,
	})
	switch {
	case err != nil:
		return "", err
	case res.Bytes != int64(len(text)) || res.ID == "":
		return "", fmt.Errorf("the stash has %d bytes, but the result has %d", res.Bytes, len(text))
	case len(res.Pointer) >= len(text):
		return "", nil
	}
	return res.Pointer, nil
}

// grow imports the conversation of a result, if it is short enough. It takes at most half of the
// time of the event; if it fails, the pointer is made without it.
func (r *run) grow(ctx context.Context, e *Event) {
	ctx, cancel := context.WithTimeout(ctx, r.o.Limit/2)
	defer cancel()
	if _, err := r.follow(ctx, e); err != nil {
		r.o.Note(err)
	}
}

// history returns the beginning and the end of the conversation of a result, whose words select the
// lines of the pointer. Of a file, their size is bounded; of a database, the first and the newest
// message are whole. If the conversation cannot be read, history returns nil.
func (r *run) history(e *Event) [][]byte {
	if both, is, err := agents.Ends(e.Transcript, historyHead+historyTail); is {
		if err != nil {
			r.o.Note(err)
			return nil
		}
		return [][]byte{both}
	}
	f, err := open(e.Transcript)
	if err != nil {
		return nil // the error was noted
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		r.o.Note(err)
		return nil
	}
	parts, err := ends(f, fi.Size())
	if err != nil {
		r.o.Note(err)
	}
	return parts
}

// ends returns the first and the last lines of a file with the given size, or all of a short file.
func ends(f io.ReaderAt, size int64) ([][]byte, error) {
	section := func(from, to int64) ([]byte, error) {
		return io.ReadAll(io.NewSectionReader(f, from, to-from))
	}
	if size <= historyHead+historyTail {
		all, err := section(0, size)
		return [][]byte{all}, err
	}
	head, err := section(0, historyHead)
	if err != nil {
		return nil, err
	}
	tail, err := section(size-historyTail, size)
	if err != nil {
		return nil, err
	}
	var parts [][]byte
	if end := bytes.LastIndexByte(head, '\n'); end >= 0 {
		parts = append(parts, head[:end+1])
	}
	if _, whole, found := bytes.Cut(tail, []byte("\n")); found {
		parts = append(parts, whole)
	}
	return parts, nil
}

// whole returns the whole text of an output.
func (o *output) whole() (string, error) {
	if o.file == "" {
		return o.text, nil
	}
	data, err := read(o.file, o.size)
	return string(data), err
}

// read returns the content of a regular file, which must have the given size.
func read(path string, size int64) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", path)
	case fi.Size() > mostFile:
		return nil, fmt.Errorf("%s has more than %d bytes", path, mostFile)
	case fi.Size() != size:
		return nil, fmt.Errorf("%s has %d bytes, but the client named a file of %d", path, fi.Size(), size)
	}
	return io.ReadAll(io.LimitReader(f, size))
}

// errNoFile means that an event does not name the file of the conversation.
var errNoFile = errors.New("the event names no file of the conversation")

// open opens a file that an event names.
func open(path string) (*os.File, error) {
	if path == "" {
		return nil, errNoFile
	}
	return os.Open(path)
}
