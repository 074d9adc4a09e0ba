package carrel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A meddled store lets somebody else write just before one of the readings of a
// session.
type meddled struct {
	store.Store

	at     int // which reading, from 1
	seen   int
	meddle func()
}

func (m *meddled) reading() {
	if m.seen++; m.seen == m.at {
		m.meddle()
	}
}

func (m *meddled) Head(ctx context.Context, s governance.Scope, id transcript.SessionID) (*store.Head, error) {
	m.reading()
	return m.Store.Head(ctx, s, id)
}

func (m *meddled) Items(ctx context.Context, s governance.Scope, id transcript.SessionID) ([]store.CellID, error) {
	m.reading()
	return m.Store.Items(ctx, s, id)
}

func (m *meddled) Cells(ctx context.Context, s governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	m.reading()
	return m.Store.Cells(ctx, s, ids)
}

func (m *meddled) Blocks(ctx context.Context, s governance.Scope, id transcript.SessionID) iter.Seq2[*store.Block, error] {
	m.reading()
	return m.Store.Blocks(ctx, s, id)
}

func said(text string) []json.RawMessage {
	return []json.RawMessage{json.RawMessage(fmt.Sprintf(`{"role":"user","content":%q}`, text))}
}

// meddling calls try with every moment at which somebody else may write while a job
// reads. Try says how many readings there were.
func meddling(t *testing.T, try func(t *testing.T, at int) (readings int)) {
	for at, most := 1, 1; at <= most; at++ {
		most = try(t, at)
		if at == 1 && most < 4 {
			t.Fatalf("the job reads %d times", most)
		}
	}
}

// However the readings of one fall between the writes of another, nobody's message is
// lost, and nobody finds the store damaged.
func TestAppendsAtTheSameTimeLoseNothing(t *testing.T) {
	meddling(t, func(t *testing.T, at int) int {
		plain := stores.New(t)
		other := newEngine(t, plain)
		add := func(e *carrel.Engine, text string) {
			if _, err := e.Append(t.Context(), scope, &carrel.AppendRequest{Session: "s", Messages: said(text)}); err != nil {
				t.Errorf("somebody writes before reading %d: %v", at, err)
			}
		}
		add(other, "first")
		m := &meddled{Store: plain, at: at, meddle: func() { add(other, "theirs") }}
		add(newEngine(t, m), "ours")
		out := export(t, other, "s")
		for _, text := range []string{"first", "theirs", "ours"} {
			if n := bytes.Count(out, []byte(text)); n != 1 && (text != "theirs" || m.seen >= at) {
				t.Errorf("somebody writes before reading %d: %q is there %d times: %s", at, text, n, out)
			}
		}
		return m.seen
	})
}

// What is exported is what was in the window at one time.
func TestExportsAreOfOneRevision(t *testing.T) {
	meddling(t, func(t *testing.T, at int) int {
		plain := stores.New(t)
		other := newEngine(t, plain)
		in := load(t, other, conversation(t))
		before := export(t, other, in.Session)
		m := &meddled{Store: plain, at: at, meddle: func() {
			if _, err := other.Compress(t.Context(), scope, &carrel.CompressRequest{
				Session: in.Session, Strategy: carrel.StrategyAnchored, Target: carrel.Target{Share: ratio.Of(1, 2)}, ProbeMin: anything(),
			}); err != nil {
				t.Error(err)
			}
		}}
		got := export(t, newEngine(t, m), in.Session)
		if after := export(t, other, in.Session); !bytes.Equal(got, before) && !bytes.Equal(got, after) {
			t.Errorf("somebody writes before reading %d: the export is neither what was nor what is:\n%s", at, got)
		}
		return m.seen
	})
}
