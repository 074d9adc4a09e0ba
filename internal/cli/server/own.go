package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/agents"
	"github.com/carrel-dev/carrel/internal/binding"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/server/hook"
	"github.com/carrel-dev/carrel/server/mcp"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// clientOf returns the process that started this one.
func clientOf(j *job.Job) (binding.Process, bool) {
	if j.Processes == nil {
		return binding.Process{}, false
	}
	return binding.Client(j.Processes, j.PID)
}

// bindingsOf returns the folder in which hooks record the session of each client.
func bindingsOf(j *job.Job) (binding.Folder, error) {
	dir, err := config.RunDir(j.Getenv)
	return binding.Folder{Path: filepath.Join(dir, "clients"), Table: j.Processes}, err
}

// bindClient records that the client is in the session of an event. It records nothing if the
// client's process is not known, or if the event of a fork has the wrong id, see [binding.Forking].
func bindClient(j *job.Job, e *hook.Event, settings *config.Settings) error {
	client, ok := clientOf(j)
	if !ok || e.Format == agents.Claude.Format && binding.Forking(j.Getenv, e.Session) {
		return nil
	}
	folder, err := bindingsOf(j)
	if err != nil {
		return err
	}
	return folder.Record(&binding.Binding{
		Client: client, Session: e.Session, Transcript: e.Transcript, Format: e.Format, Scope: settings.Scope(), Time: j.Now().UTC(),
	})
}

// An owner finds the session of the client that started a server.
type owner struct {
	*job.Access

	getenv   func(string) string
	folder   binding.Folder
	client   binding.Process
	known    bool // the client's process is known
	readOnly bool
}

func newOwner(j *job.Job, a *job.Access, readOnly bool) (*owner, error) {
	folder, err := bindingsOf(j)
	if err != nil {
		return nil, err
	}
	o := &owner{Access: a, getenv: j.Getenv, folder: folder, readOnly: readOnly}
	o.client, o.known = clientOf(j)
	return o, nil
}

// own returns the session whose window the client's model gets when the client calls a tool, see
// [owner.sending]. First it imports the part of the client's transcript that is not stored yet,
// unless the server only reads or a hook stores the session in another scope. meta is the metadata
// of the call. A client can change its session while it runs, so own is called for each call.
func (o *owner) own(ctx context.Context, meta map[string]any) (transcript.SessionID, error) {
	b, err := o.bound(ctx, meta)
	if err != nil {
		return "", err
	}
	if b.Scope == o.Scope && b.Transcript != "" && !o.readOnly {
		if err := o.follow(ctx, b, binding.CallOf(meta)); err != nil {
			return "", err
		}
	}
	return o.sending(ctx, b.Session)
}

// recentCalls is how many of the client's last calls [owner.sending] searches for one that a proxy
// manages.
const recentCalls = 50

// sending returns the session whose window the client's model gets. If a proxy manages the calls of
// the client's own session, it is the session in which the proxy records them; otherwise it is the
// client's own session.
func (o *owner) sending(ctx context.Context, id transcript.SessionID) (transcript.SessionID, error) {
	calls, err := o.Calls(ctx, o.Scope, &carrel.CallsRequest{Client: string(id), Cursor: carrel.Cursor{Limit: recentCalls}})
	if err != nil {
		return "", err
	}
	for i := range calls.Items {
		if c := &calls.Items[i]; c.Managed && c.Session != "" {
			return c.Session, nil
		}
	}
	return id, nil
}

// bound returns the binding of the client to its session. It comes from the metadata of the call
// or, without these, from the latest record of a hook. If there is no record either, bound takes
// the session that the client named when it started the server, provided that the transcript of
// that session has the call.
func (o *owner) bound(ctx context.Context, meta map[string]any) (*binding.Binding, error) {
	said := binding.Detect(o.getenv, meta)
	if said != nil && said.OfCall {
		return o.take(said, said.Find()), nil
	}
	if o.known {
		b, err := o.folder.Of(o.client)
		if err != nil || b != nil {
			return b, err
		}
	}
	if said == nil {
		return nil, mcp.ErrUnbound
	}
	path, err := binding.Wrote(ctx, said.Find, binding.CallOf(meta))
	if err != nil {
		return nil, err
	}
	if path == "" {
		return nil, mcp.ErrUnbound
	}
	return o.take(said, path), nil
}

// take returns the binding to the session that the client named, with the path of its transcript.
func (o *owner) take(said *binding.ClientSession, path string) *binding.Binding {
	return &binding.Binding{Client: o.client, Session: said.Session, Transcript: path, Format: said.Format, Scope: o.Scope}
}

// follow imports a transcript if it has grown since the last import. If nothing of it is stored,
// follow waits until the client has written the call to the transcript.
func (o *owner) follow(ctx context.Context, b *binding.Binding, call string) error {
	place := agents.IsPlace(b.Transcript) // a database contains a call as soon as it is made
	head, err := o.Store.Head(ctx, o.Scope, b.Session)
	if errors.Is(err, store.ErrNotFound) && place {
		head, err = nil, nil
	}
	if errors.Is(err, store.ErrNotFound) {
		head = nil
		_, err = binding.Wrote(ctx, func() string { return b.Transcript }, call)
	}
	if err != nil {
		return err
	}
	file, size, err := agents.Open(b.Transcript)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the conversation is still empty
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if head != nil && head.Bytes >= size && !place {
		return nil
	}
	in, err := o.Follow(ctx, o.Scope, &carrel.FollowRequest{Name: strings.TrimSuffix(filepath.Base(b.Transcript), ".zst"), Format: cmp.Or(b.Format, agents.Claude.Format), File: file, Size: size})
	if _, torn := errors.AsType[*transcript.SyntaxError](err); torn && head == nil {
		return nil // the client is writing the first line
	}
	if errors.Is(err, carrel.ErrShorter) {
		return nil // a hook has imported more by now
	}
	if err != nil {
		return err
	}
	if in.Session != b.Session {
		return fmt.Errorf("%w: the transcript that the client named for session %s is that of session %s", carrel.ErrPolicy, b.Session, in.Session)
	}
	return nil
}
