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

// An Identity says who a credential is for and what it allows, the version of the server,
// and the policy that verdicts are bound to, as [carrel.Engine.Policy] returns it.
type Identity = api.Identity

// Whoami asks the server who the client's credential is for.
func (c *Client) Whoami(ctx context.Context) (*Identity, error) {
	return do(ctx, c, "", &ops.Whoami, nil)
}

// An Event is what happened: an entry of the journal of a session, or of the log of a
// scope, which is of no session.
type Event struct {
	api.Event

	ID string // by which a stream is resumed behind it
}

// Events yields what happens, as it happens, to one session, or to all of a scope and
// to its artifacts if session is empty. It begins behind the event whose id since is,
// or now if that is empty. It ends with an error: that of ctx once it is done, or an
// [ErrUnreachable] when the server stops or the connection is lost, from where the
// caller may go on with the id of the last event.
func (c *Client) Events(ctx context.Context, scope governance.Scope, session transcript.SessionID, since string) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		err := c.listen(ctx, scope, &api.EventsRequest{Session: session, Since: since}, func(e *Event) bool { return yield(e, nil) })
		if err != nil {
			yield(nil, fmt.Errorf("events: %w", err))
		}
	}
}

// listen hands over events until there are no more, which is an error, or they are no
// longer wanted.
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
		return fmt.Errorf("%w: no stream of events", ErrReply)
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

// final returns an error as one after which nothing is sent again.
func final(err error) error {
	if again, ok := errors.AsType[*httpjson.AgainError](err); ok {
		return again.Err
	}
	return err
}
