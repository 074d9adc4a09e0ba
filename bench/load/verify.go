package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/transcript"
)

// verify reads back everything that was acknowledged to a client, from another server if there
// is one.
func (w *worker) verify(ctx context.Context) {
	for _, s := range w.own {
		if len(s.messages) > 0 {
			w.tally.check("sessions", w.whole(ctx, s))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.artifacts)) {
		got, err := w.client.Get(ctx, w.scope, &carrel.GetRequest{ID: string(id)})
		if err == nil && !bytes.Equal(got.Content, w.artifacts[id]) {
			err = fmt.Errorf("artifact %s is %q, want %q", id, got.Content, w.artifacts[id])
		}
		w.tally.check("artifacts", err)
	}
	for _, id := range slices.Sorted(maps.Keys(w.contexts)) {
		data, err := w.client.Replay(ctx, w.scope, &carrel.IDRequest{ID: id})
		if err == nil && !digest.Of(data.Data).Equal(w.contexts[id]) {
			err = fmt.Errorf("context %s is replayed with other bytes than it was assembled with", id)
		}
		w.tally.check("contexts", err)
	}
}

// whole checks that a session has the messages that were appended, and no others.
func (w *worker) whole(ctx context.Context, s *session) error {
	got, err := w.read(ctx, s.id)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(got, s.messages, func(a json.RawMessage, b []byte) bool { return bytes.Equal(a, b) }) {
		return fmt.Errorf("session %s has %d messages, but other ones than the %d that were appended", s.id, len(got), len(s.messages))
	}
	return nil
}

// read returns the messages of a session as they are stored.
func (w *worker) read(ctx context.Context, id transcript.SessionID) ([]json.RawMessage, error) {
	out, err := w.client.Export(ctx, w.scope, &carrel.ExportRequest{Session: id, Whole: true})
	if err != nil {
		return nil, err
	}
	var body struct {
		Messages []json.RawMessage `json:"messages"`
	}
	err = json.Unmarshal(out.Data, &body)
	return body.Messages, err
}

// verifyShared checks that a session written by several clients has the messages of each, once
// and in order, and no others.
func verifyShared(ctx context.Context, team []*worker) error {
	w := team[0]
	want, left := 0, make([][][]byte, len(team))
	for i, m := range team {
		left[i] = m.shared.messages
		want += len(left[i])
	}
	if want == 0 {
		return nil
	}
	got, err := w.read(ctx, w.shared.id)
	if err != nil {
		return err
	}
	for i, raw := range got {
		whose := slices.IndexFunc(left, func(next [][]byte) bool { return len(next) > 0 && bytes.Equal(next[0], raw) })
		if whose < 0 {
			return fmt.Errorf("message %d of session %s is not the next message of any client: %s", i, w.shared.id, raw)
		}
		left[whose] = left[whose][1:]
	}
	if len(got) != want {
		return fmt.Errorf("session %s has %d messages, want %d", w.shared.id, len(got), want)
	}
	return nil
}
