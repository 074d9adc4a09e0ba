package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/httpjson"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/transcript"
)

// An Identity is the actor of a credential, its permissions, the version of
// the server, and the policy to which verdicts are bound, see
// [carrel.Engine.Policy].
type Identity = api.Identity

// Whoami returns the identity of the client's credential.
func (c *Client) Whoami(ctx context.Context) (*Identity, error) {
	return do(ctx, c, "", &ops.Whoami, nil)
}

// An Event is an entry of a session's journal or, without a session, of a
// scope's log.
type Event struct {
	api.Event

	ID string // a stream resumes after the event with this id
}

// Events yields the events of one session as they happen or, if session is empty, those of a scope
// with its sessions and artifacts. It begins after the event with the id since; if since is empty,
// it begins now. Unless the caller breaks off, the last pair is a nil Event and an error: that of
// ctx, an [*Error] if the server refuses the stream, an [ErrReply], or an [ErrUnreachable] if the
// server stops or the connection is lost. Events does not connect again: after an ErrUnreachable,
// call it with the id of the last event.
func (c *Client) Events(ctx context.Context, scope governance.Scope, session transcript.SessionID, since string) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		err := c.listen(ctx, scope, &api.EventsRequest{Session: session, Since: since}, func(e *Event) bool { return yield(e, nil) })
		if err != nil {
			yield(nil, fmt.Errorf("events: %w", err))
		}
	}
}

// listen reads events and passes them to the function wanted, until that
// returns false or the stream ends. The end of the stream is an error.
func (c *Client) listen(ctx context.Context, scope governance.Scope, req *api.EventsRequest, wanted func(*Event) bool) error {
	m, err := newMessage(&ops.Events.Operation, req)
	if err != nil {
		return err
	}
	m.scope = string(scope)
	r, err := c.request(ctx, m)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", eventStream)
	resp, err := c.http.Do(r)
	if err != nil {
		return final(lost(ctx, err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errorOf(resp, http.MaxBytesReader(nil, resp.Body, c.opts.MaxReply))
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != eventStream {
		return fmt.Errorf("%w: want a stream of events, got another media type", ErrReply)
	}
	unwanted := false
	_, err = httpjson.ReadEvents(resp.Body, func(e *httpjson.Event) (bool, error) {
		if e.Name == "problem" {
			return true, problemOf(e.Data)
		}
		event := &Event{ID: e.ID}
		if err := json.Unmarshal(e.Data, &event.Event); err != nil {
			return true, fmt.Errorf("%w: %w", ErrReply, err)
		}
		unwanted = !wanted(event)
		return unwanted, nil
	})
	_, said := errors.AsType[*Error](err)
	switch {
	case unwanted:
		return nil
	case said || errors.Is(err, ErrReply):
		return err
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	return final(lost(ctx, err))
}

// final marks an error as permanent, so that the request is not sent again.
func final(err error) error {
	if again, ok := errors.AsType[*httpjson.AgainError](err); ok {
		return again.Err
	}
	return err
}
