package rest

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/store"
)

// settling is how long, from the beginning of a write, another node that finds the write without an
// outcome asks the client to try again. After this time the other node reports the outcome as lost,
// even if the node that makes the write still works and records the outcome later.
const settling = 10 * time.Second

// A ledger finds the writes of all nodes by their idempotency keys, which the nodes record in the
// store that they share.
type ledger struct {
	store.Requests

	now      func() time.Time
	rand     io.Reader
	logger   *slog.Logger
	maxBytes int64
}

// over returns the deed d with a check of the shared store: if any node has already made the write
// with the key a, the returned deed does not make it again.
func (l *ledger) over(a writeKey, asking digest.Digest, d *deed) *deed {
	if l.Requests == nil || a.scope == "" {
		return d
	}
	shared := *d
	shared.do = func(ctx context.Context) (*response, []byte, bool) { return l.do(ctx, a, asking, d) }
	return &shared
}

func (l *ledger) do(ctx context.Context, a writeKey, asking digest.Digest, d *deed) (*response, []byte, bool) {
	var attempt [16]byte
	if _, err := io.ReadFull(l.rand, attempt[:]); err != nil {
		return d.refuse(err), nil, false
	}
	r := &store.Request{
		Scope: a.scope, Actor: a.actor, Key: a.key, Attempt: hex.EncodeToString(attempt[:]), Asking: asking, Time: l.now().UTC().Truncate(time.Millisecond),
	}
	there, err := l.find(ctx, r)
	switch {
	case err != nil:
		return d.refuse(err), nil, false
	case there != nil:
		return l.answer(d, r, there)
	}
	res, outcome, made := d.do(store.WithRequest(ctx, r))
	ctx = context.WithoutCancel(ctx) // the write is over; its outcome must be recorded
	if made {
		if r.Outcome = outcome; outcome != nil && int64(len(outcome)) <= l.maxBytes {
			l.note(l.SettleRequest(ctx, r))
		}
		return res, outcome, true
	}
	switch there, err = l.find(ctx, r); {
	case err != nil || there == nil:
		l.note(err)
	case there.Attempt == r.Attempt: // a part of the write was made, the rest failed
		l.note(l.DropRequest(ctx, r))
	default: // another node was faster
		return l.answer(d, r, there)
	}
	return res, outcome, false
}

// find returns the recorded request with the key of r. It returns nil if none is recorded or the
// recorded one has expired.
func (l *ledger) find(ctx context.Context, r *store.Request) (*store.Request, error) {
	there, err := l.Request(ctx, r.Scope, r.Actor, r.Key)
	if errors.Is(err, store.ErrNotFound) || err == nil && there.Precedes(r) {
		return nil, nil
	}
	return there, err
}

// answer answers the request r from the recorded request in there, which has used the same key
// before.
func (l *ledger) answer(d *deed, r, there *store.Request) (res *response, outcome []byte, made bool) {
	switch {
	case !there.Asking.Equal(r.Asking):
		return d.refuse(reusedKey()), nil, false
	case there.Outcome != nil:
		res = d.again(there.Outcome)
		res.set(headerReplayed, "true")
		return res, there.Outcome, true
	case r.Time.Sub(there.Time) < settling:
		return d.refuse(store.ErrRepeated), nil, false
	}
	return d.refuse(&refusal{
		kind: api.Gone, detail: "the write was made, at least in part, but its result is not known: the server that makes it has ended or still works, or the result was too large to keep",
		hint: "read the current state",
	}), nil, false
}

// note logs that the outcome of a write could not be recorded, unless err is nil.
func (l *ledger) note(err error) {
	if err != nil {
		l.logger.Error("request is not settled", slog.String("error", err.Error()))
	}
}
