package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/transcript"
)

// follow imports the conversation as it is now. If more of it is known already, that is
// what counts.
func (r *run) follow(ctx context.Context, e *Event) (*carrel.ImportResult, error) {
	data, err := read(e.Transcript, -1)
	if err != nil {
		return nil, err
	}
	in, err := r.engine.Import(ctx, r.o.Scope, &carrel.ImportRequest{Name: filepath.Base(e.Transcript), Format: e.Format, Data: data})
	if shorter, ok := errors.AsType[*carrel.ShorterError](err); ok { // another hook has read more of the file by now
		r.o.Note(err)
		return &carrel.ImportResult{Session: shorter.Session, Format: e.Format}, nil
	}
	return in, err
}

// shrink stashes the large outputs of a tool and returns pointers for them. One that
// cannot be stashed stays as it is.
func (r *run) shrink(ctx context.Context, e *Event) (*Answer, error) {
	session := r.history(ctx, e)
	a := &Answer{Outputs: make([]string, len(e.Outputs))}
	var failed []error
	stashed := false
	for i := range e.Outputs {
		text, err := e.Outputs[i].whole()
		if err == nil {
			a.Outputs[i], err = r.stash(ctx, e, session, text, e.Outputs[i].Line)
		}
		if err != nil {
			failed = append(failed, err)
			continue
		}
		stashed = stashed || a.Outputs[i] != ""
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
func (r *run) stash(ctx context.Context, e *Event, session transcript.SessionID, text string, line int) (string, error) {
	res, err := r.engine.Stash(ctx, r.o.Scope, &carrel.StashRequest{
		Content: []byte(text), Title: e.Title, Source: e.Tool, Session: session, Tool: e.Tool, Input: e.Input,
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

// history imports the conversation that a result is for, as its words say what of the
// result is needed. It may take half of the time that there is; without it there is a
// pointer, too.
func (r *run) history(ctx context.Context, e *Event) transcript.SessionID {
	ctx, cancel := context.WithTimeout(ctx, r.o.Limit/2)
	defer cancel()
	in, err := r.follow(ctx, e)
	if err != nil {
		r.o.Note(err)
		return ""
	}
	return in.Session
}

// whole returns all of an output.
func (o *Output) whole() (string, error) {
	if o.File == "" {
		return o.Text, nil
	}
	data, err := read(o.File, o.Size)
	return string(data), err
}

// read returns the content of an ordinary file, which must have the given size unless
// that is below 0.
func read(path string, size int64) ([]byte, error) {
	if path == "" {
		return nil, errors.New("the event names no file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no file", path)
	case size >= 0 && fi.Size() != size:
		return nil, fmt.Errorf("%s has %d bytes, not %d", path, fi.Size(), size)
	case fi.Size() > mostFile:
		return nil, fmt.Errorf("%s has more than %d bytes", path, mostFile)
	}
	return io.ReadAll(io.LimitReader(f, fi.Size()))
}
