package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/agents"
)

// follow stores what is new in the conversation. If more of it is known already, that is
// what counts. If the agent waits, and the conversation is long, it does nothing and
// returns nil.
func (r *run) follow(ctx context.Context, e *Event) (*carrel.ImportResult, error) {
	if e.waited && agents.IsPlace(e.Transcript) {
		return nil, nil // all of a database is read at once
	}
	if e.waited && e.Transcript != "" {
		fi, err := os.Stat(e.Transcript)
		if err != nil || fi.Size() > mostWaited {
			return nil, err
		}
	}
	if e.Transcript == "" {
		return nil, errNoFile
	}
	file, size, err := agents.Open(e.Transcript)
	if err != nil {
		return nil, err
	}
	if size > mostFile {
		return nil, errors.Join(fmt.Errorf("%s has more than %d bytes", e.Transcript, mostFile), file.Close())
	}
	defer file.Close()
	in, err := r.engine.Follow(ctx, r.o.Scope, &carrel.FollowRequest{Name: filepath.Base(e.Transcript), Format: e.Format, File: file, Size: size})
	if shorter, ok := errors.AsType[*carrel.ShorterError](err); ok { // another hook has read more of the file by now
		r.o.Note(err)
		return &carrel.ImportResult{Session: shorter.Session, Format: e.Format}, nil
	}
	return in, err
}

// shrink stashes the large outputs of a tool and returns pointers for them. One that
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

// stash keeps a text and returns the pointer to it, or nothing if that is no shorter.
// The first line has a number if it is above 0.
func (r *run) stash(ctx context.Context, e *Event, history [][]byte, text string, line int) (string, error) {
	res, err := r.engine.Stash(ctx, r.o.Scope, &carrel.StashRequest{
		Content: []byte(text), Title: e.title, Source: e.tool, History: history, Format: e.Format, Tool: e.tool, Input: e.input,
		FirstLine: line, Tokens: r.o.Pointer, AllowSecrets: r.o.Secrets,
	})
	switch {
	case err != nil:
		return "", err
	case res.Bytes != int64(len(text)) || res.ID == "":
		return "", fmt.Errorf("%d bytes of %d are in the stash", res.Bytes, len(text))
	case len(res.Pointer) >= len(text):
		return "", nil
	}
	return res.Pointer, nil
}

// grow imports the conversation that a result is for, if it is short enough to be waited
// for. It may take half of the time that there is; without it there is a pointer, too.
func (r *run) grow(ctx context.Context, e *Event) {
	ctx, cancel := context.WithTimeout(ctx, r.o.Limit/2)
	defer cancel()
	if _, err := r.follow(ctx, e); err != nil {
		r.o.Note(err)
	}
}

// history returns the beginning and the end of the conversation that a result is for, as
// their words say what of the result is needed. How much that is does not depend on how
// long the conversation is.
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
		return nil // which was noted
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

// ends returns the first and the last lines of a file of a size, or all of one that is
// short.
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

// whole returns all of an output.
func (o *output) whole() (string, error) {
	if o.file == "" {
		return o.text, nil
	}
	data, err := read(o.file, o.size)
	return string(data), err
}

// read returns the content of an ordinary file, which must have the given size.
func read(path string, size int64) ([]byte, error) {
	f, has, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if has != size {
		return nil, fmt.Errorf("%s has %d bytes, not %d", path, has, size)
	}
	return io.ReadAll(io.LimitReader(f, size))
}

// openFile opens an ordinary file that an event names, and returns its size.
func openFile(path string) (*os.File, int64, error) {
	f, err := open(path)
	if err != nil {
		return nil, 0, err
	}
	fi, err := f.Stat()
	switch {
	case err != nil:
	case !fi.Mode().IsRegular():
		err = fmt.Errorf("%s is no file", path)
	case fi.Size() > mostFile:
		err = fmt.Errorf("%s has more than %d bytes", path, mostFile)
	default:
		return f, fi.Size(), nil
	}
	return nil, 0, errors.Join(err, f.Close())
}

// errNoFile means that an event does not say where the conversation is.
var errNoFile = errors.New("the event names no file")

// open opens a file that an event names.
func open(path string) (*os.File, error) {
	if path == "" {
		return nil, errNoFile
	}
	return os.Open(path)
}
