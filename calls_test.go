package carrel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A bookkeeper is a bench whose jobs about calls have to succeed.
type bookkeeper struct {
	*bench

	t *testing.T
}

func newBookkeeper(t *testing.T) *bookkeeper {
	return &bookkeeper{newBench(t, stores.New(t), carrel.Options{Counter: quarter{}}), t}
}

func (b *bookkeeper) begin(req *carrel.BeginRequest) string {
	b.t.Helper()
	b.turn(func() { b.now = b.now.Add(time.Minute) })
	res, err := b.Begin(b.t.Context(), scope, req)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.Call
}

func (b *bookkeeper) end(req *carrel.EndRequest) {
	b.t.Helper()
	if _, err := b.End(b.t.Context(), scope, req); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bookkeeper) list(req *carrel.CallsRequest) []carrel.Call {
	b.t.Helper()
	list, err := carrel.Items(b.Calls(b.t.Context(), scope, req))
	if err != nil {
		b.t.Fatal(err)
	}
	return list
}

func (b *bookkeeper) rewrites(id transcript.SessionID) []carrel.Rewrite {
	b.t.Helper()
	res, err := b.Rewrites(b.t.Context(), scope, &carrel.SessionRequest{Session: id})
	if err != nil {
		b.t.Fatal(err)
	}
	return res.Rewrites
}

// A call is listed with what was said of it when it began and when it ended.
func TestCallsAreKept(t *testing.T) {
	b := newBookkeeper(t)
	intent := carrel.CallIntent{
		Dialect: "anthropic", Model: "m", Messages: 3, Bytes: 900, SentBytes: 400, Chain: digest.Of([]byte("c")), Sent: digest.Of([]byte("s")),
		Frame: digest.Of([]byte("f")), Epoch: 2, Managed: true, Reason: "head", Estimate: 100,
	}
	first := b.begin(&carrel.BeginRequest{Session: "s", CallIntent: intent})
	second := b.begin(&carrel.BeginRequest{Call: "call_mine"})
	if first == second || second != "call_mine" || !strings.HasPrefix(first, "call_") {
		t.Errorf("the calls are %s and %s", first, second)
	}
	begun := b.now
	outcome := carrel.CallOutcome{
		Status: 200, Usage: carrel.Usage{Input: 1, CacheRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5, Reasoning: 6},
		Stop: "end_turn", Reply: "msg_1", Would: &api.UnmanagedEstimate{Tokens: 90, Epoch: 1, Reason: "same epoch", Head: digest.Of([]byte("h")), Made: 40}, Received: 70, First: begun.Add(time.Second + 999*time.Microsecond).In(time.FixedZone("", 3600)),
	}
	b.turn(func() { b.now = b.now.Add(time.Minute) })
	b.end(&carrel.EndRequest{Call: first, State: store.CallDone, CallOutcome: outcome})
	outcome.First = begun.Add(time.Second)
	want := []carrel.Call{
		{ID: second, Seq: 2, State: store.CallIntent, Begun: begun},
		{ID: first, Seq: 1, Session: "s", State: store.CallDone, Begun: begun.Add(-time.Minute), Ended: b.now, CallIntent: intent, CallOutcome: outcome},
	}
	if diff := cmp.Diff(want, b.list(&carrel.CallsRequest{})); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if got := want[1].Usage.Prompt(); got != 10 {
		t.Errorf("the prompt has %d tokens, want 10", got)
	}
	if got := b.list(&carrel.CallsRequest{Session: "s"}); len(got) != 1 || got[0].ID != first {
		t.Errorf("calls of the session = %+v", got)
	}
	if got := b.list(&carrel.CallsRequest{Since: begun}); len(got) != 1 || got[0].ID != second {
		t.Errorf("calls since the second = %+v", got)
	}
}

func TestCallsAreRefused(t *testing.T) {
	b := newBookkeeper(t)
	b.begin(&carrel.BeginRequest{Call: "call_1"})
	b.end(&carrel.EndRequest{Call: "call_1", State: store.CallDone})
	long := strings.Repeat("word ", 100)
	begin := func(req *carrel.BeginRequest) error { _, err := b.Begin(t.Context(), scope, req); return err }
	end := func(req *carrel.EndRequest) error { _, err := b.End(t.Context(), scope, req); return err }
	for name, tt := range map[string]struct{ err, want error }{
		"a call that was begun":      {begin(&carrel.BeginRequest{Call: "call_1"}), store.ErrConflict},
		"a model that is a text":     {begin(&carrel.BeginRequest{CallIntent: carrel.CallIntent{Model: long}}), carrel.ErrRequest},
		"a reason that is a text":    {begin(&carrel.BeginRequest{CallIntent: carrel.CallIntent{Reason: long}}), carrel.ErrRequest},
		"an error that is a text":    {end(&carrel.EndRequest{Call: "call_1", State: store.CallFailed, CallOutcome: carrel.CallOutcome{Error: long}}), carrel.ErrRequest},
		"a call that has ended":      {end(&carrel.EndRequest{Call: "call_1", State: store.CallFailed}), store.ErrConflict},
		"a call that was not begun":  {end(&carrel.EndRequest{Call: "call_2", State: store.CallFailed}), store.ErrNotFound},
		"an end that is a beginning": {end(&carrel.EndRequest{Call: "call_1", State: store.CallIntent}), carrel.ErrRequest},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v, want %v", name, tt.err, tt.want)
		}
	}
	if got := b.list(&carrel.CallsRequest{}); len(got) != 1 || got[0].State != store.CallDone {
		t.Errorf("calls = %+v, want the one that is done", got)
	}
}

// What nobody ends is unknown after some time, and never a success; whoever knows later
// may still say so.
func TestOldIntentsAreUnknown(t *testing.T) {
	b := newBookkeeper(t)
	for _, id := range []string{"old", "ended", "new"} {
		b.begin(&carrel.BeginRequest{Call: id})
	}
	b.end(&carrel.EndRequest{Call: "ended", State: store.CallDone})
	last := b.now
	for _, want := range [][]string{{"old"}, {}} {
		res, err := b.CloseCalls(t.Context(), scope, &carrel.CloseCallsRequest{Before: last})
		if err != nil || !slices.Equal(res.Calls, want) {
			t.Errorf("closed %v, %v; want %v", res, err, want)
		}
	}
	states := make(map[string]store.CallState)
	for _, c := range b.list(&carrel.CallsRequest{}) {
		states[c.ID] = c.State
	}
	if diff := cmp.Diff(map[string]store.CallState{"old": store.CallUnknown, "ended": store.CallDone, "new": store.CallIntent}, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	b.end(&carrel.EndRequest{Call: "old", State: store.CallFailed})
}

// A report counts conversations where their calls are, and never twice.
func TestReportOfCalls(t *testing.T) {
	b := newBookkeeper(t)
	call := func(id transcript.SessionID, intent carrel.CallIntent, state store.CallState, outcome carrel.CallOutcome) {
		t.Helper()
		intent.Bytes, intent.SentBytes, outcome.Received = 100, 40, 7
		c := b.begin(&carrel.BeginRequest{Session: id, CallIntent: intent})
		if state != store.CallIntent {
			b.end(&carrel.EndRequest{Call: c, State: state, CallOutcome: outcome})
		}
	}
	usage := carrel.Usage{Input: 1, CacheRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5, Reasoning: 6}
	call("before", carrel.CallIntent{Reason: "observe"}, store.CallDone, carrel.CallOutcome{})
	since := b.now.Add(time.Millisecond)
	call("m", carrel.CallIntent{Model: "claude-sonnet-4-5", Reason: "small"}, store.CallDone, carrel.CallOutcome{Status: 200, Usage: usage})
	call("m", carrel.CallIntent{Model: "b", Epoch: 1, Managed: true, Reason: "head", Gaps: 2}, store.CallDone, carrel.CallOutcome{Status: 200, Usage: usage})
	call("m", carrel.CallIntent{Model: "b", Epoch: 1, Managed: true, Reason: "head"}, store.CallFailed, carrel.CallOutcome{Status: 429})
	call("m", carrel.CallIntent{Model: "b", Epoch: 2, Managed: true, Reason: "head"}, store.CallFailed, carrel.CallOutcome{Status: 200})
	call("h", carrel.CallIntent{Model: "b", Holdout: true, Reason: "holdout"}, store.CallDone, carrel.CallOutcome{Status: 200, Usage: usage})
	call("h", carrel.CallIntent{Model: "b", Managed: true, Reason: "head"}, store.CallUnknown, carrel.CallOutcome{}) // which nobody should do
	call("o", carrel.CallIntent{Model: "b", Reason: "observe"}, store.CallIntent, carrel.CallOutcome{})
	call("", carrel.CallIntent{Model: "b", Reason: "observe"}, store.CallDone, carrel.CallOutcome{Status: 200})
	got, err := b.Report(t.Context(), scope, &carrel.ReportRequest{Since: since})
	if err != nil {
		t.Fatal(err)
	}
	twice := usage
	twice.Add(&usage)
	thrice := twice
	thrice.Add(&usage)
	// For a million tokens 3 dollars, and .1, 1.25, 2 and 5 times that: 3 + .6 + 11.25 + 24 + 75.
	const priced, cost = "claude-sonnet-4-5", 113_850
	model := func(name string, calls int, u carrel.Usage) api.ModelTally {
		m := api.ModelTally{Model: name, Calls: calls, Usage: u}
		if name == priced {
			m.Cost = cost
		}
		return m
	}
	want := &carrel.ReportResult{
		Since: since, First: since.Add(time.Minute - time.Millisecond), Last: b.now,
		Total:   carrel.CallTally{Sessions: 3, Calls: 8, Managed: 4, Done: 4, Failed: 2, Refused: 1, Unknown: 1, Open: 1, Epochs: 2, Bytes: 800, SentBytes: 320, Received: 49, Usage: thrice, Cost: cost, Unpriced: 2, Models: []api.ModelTally{model("b", 2, twice), model(priced, 1, usage)}},
		Managed: carrel.CallTally{Sessions: 1, Calls: 4, Managed: 3, Done: 2, Failed: 2, Refused: 1, Epochs: 2, Bytes: 400, SentBytes: 160, Received: 28, Usage: twice, Cost: cost, Unpriced: 1, Models: []api.ModelTally{model("b", 1, usage), model(priced, 1, usage)}},
		Holdout: carrel.CallTally{Sessions: 1, Calls: 2, Managed: 1, Done: 1, Unknown: 1, Bytes: 200, SentBytes: 80, Received: 14, Usage: usage, Unpriced: 1, Models: []api.ModelTally{model("b", 1, usage)}},
		Observed: carrel.CallTally{
			Sessions: 1, Calls: 2, Done: 1, Open: 1, Bytes: 200, SentBytes: 80, Received: 7, Models: []api.ModelTally{},
		},
		Gaps:    2,
		Reasons: []api.ReasonTally{{Managed: true, Reason: "head", Calls: 4}, {Reason: "observe", Calls: 2}, {Reason: "holdout", Calls: 1}, {Reason: "small", Calls: 1}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// What was sent in place of a message is kept before there is a conversation, and is there
// after it was imported; it goes when the session is purged, and the calls stay.
func TestRewritesAreKept(t *testing.T) {
	b := newBookkeeper(t)
	const name = "thread.json"
	probe := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	in, err := probe.Import(t.Context(), scope, &carrel.ImportRequest{Name: name, Data: podTalk(t, 3)})
	if err != nil {
		t.Fatal(err)
	}
	id := in.Session
	want := []carrel.Rewrite{{Chain: digest.Of([]byte("3")), Kind: store.RewriteMessage, Messages: 3, Data: []byte(` {"role": "tool" } `)}}
	op := ""
	keep := func(r carrel.Rewrite, blocks ...transcript.BlockID) error {
		res, err := b.KeepRewrite(t.Context(), scope, &carrel.KeepRewriteRequest{Session: id, Rewrite: r, Blocks: blocks})
		if err == nil {
			op = res.Op
		}
		return err
	}
	if err := keep(want[0]); err != nil {
		t.Fatal(err)
	}
	b.audited()
	if diff := cmp.Diff(want, b.rewrites(id)); diff != "" {
		t.Errorf("rewrites before there is a conversation (-want +got):\n%s", diff)
	}
	call := b.begin(&carrel.BeginRequest{Session: id})
	if in, err = b.Import(t.Context(), scope, &carrel.ImportRequest{Name: name, Data: podTalk(t, 3)}); err != nil || in.Session != id || in.Blocks == 0 {
		t.Fatalf("%+v, %v", in, err)
	}
	blocks, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, carrel.Rewrite{Chain: digest.Of([]byte("5")), Kind: store.RewriteMessage, Epoch: 1, Messages: 5, Data: []byte(`"x"`)})
	block := blocks.Messages[2].ID
	if err := keep(want[1], block, block); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.rewrites(id)); diff != "" {
		t.Errorf("rewrites (-want +got):\n%s", diff)
	}
	row, err := b.store.Block(t.Context(), scope, store.BlockRef{Session: id, Block: block})
	if err != nil {
		t.Fatal(err)
	}
	derived, err := b.store.Derived(t.Context(), scope, row.Cells[:1])
	if err != nil || len(derived) != 1 {
		t.Errorf("from the block were made %q, %v; want what was sent", derived, err)
	}
	want[1].Data, want[1].Epoch = []byte(`"y"`), 2
	if err := keep(want[1]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, b.rewrites(id)); diff != "" {
		t.Errorf("rewrites after one took the place of another (-want +got):\n%s", diff)
	}
	if _, err := b.Undo(t.Context(), scope, &carrel.UndoRequest{Session: id, Op: op}); !errors.Is(err, carrel.ErrPolicy) || !strings.Contains(err.Error(), "bytes sent to a model") {
		t.Errorf("Undo of a rewrite: %v, want a refusal", err)
	}
	for name, tt := range map[string]struct{ err, want error }{
		"no chain":      {keep(carrel.Rewrite{Kind: store.RewriteHead, Messages: 1, Data: []byte("[]")}), carrel.ErrRequest},
		"no kind":       {keep(carrel.Rewrite{Chain: want[0].Chain, Messages: 1, Data: []byte("[]")}), carrel.ErrRequest},
		"no messages":   {keep(carrel.Rewrite{Chain: want[0].Chain, Kind: store.RewriteHead, Data: []byte("[]")}), carrel.ErrRequest},
		"no JSON":       {keep(carrel.Rewrite{Chain: want[0].Chain, Kind: store.RewriteHead, Messages: 1, Data: []byte("[")}), carrel.ErrRequest},
		"no such block": {keep(want[0], "ffffffff"), store.ErrNotFound},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v, want %v", name, tt.err, tt.want)
		}
	}
	b.audited()
	if _, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: id}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Rewrites(t.Context(), scope, &carrel.SessionRequest{Session: id}); !errors.Is(err, carrel.ErrGone) {
		t.Errorf("rewrites of a session that was purged: %v, want ErrGone", err)
	}
	if err := keep(want[0]); !errors.Is(err, carrel.ErrGone) {
		t.Errorf("a rewrite for a session that was purged: %v, want ErrGone", err)
	}
	only := &carrel.KeepRewriteRequest{Session: "only", Rewrite: want[0]}
	if _, err := b.KeepRewrite(t.Context(), scope, only); err != nil {
		t.Fatal(err)
	}
	if res, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "only"}); err != nil || res.Cells != 2 {
		t.Errorf("purge of a session that has no conversation: %+v, %v; want what was sent erased, and what is said of it", res, err)
	}
	if got := b.list(&carrel.CallsRequest{Session: id}); len(got) != 1 || got[0].ID != call {
		t.Errorf("calls of a session that was purged = %+v, want the one there was", got)
	}
	b.audited()
}

// audited checks the store.
func (b *bookkeeper) audited() {
	b.t.Helper()
	if problems, err := b.Check(b.t.Context()); err != nil || len(problems) > 0 {
		b.t.Errorf("Check = %q, %v", problems, err)
	}
}

// chainOf stands for the chain of a body's messages.
func chainOf(t *testing.T, data []byte) digest.Digest {
	t.Helper()
	return digest.Of(bytes.Join(rawMessages(t, data), []byte(",")))
}

func rawMessages(t *testing.T, data []byte) (raw [][]byte) {
	t.Helper()
	for _, m := range messages(t, data) {
		raw = append(raw, m)
	}
	return raw
}

// bodies returns a conversation as the client sends it when it has some turns, by formats.
func bodies(t *testing.T) map[string]func(turns int) []byte {
	return map[string]func(turns int) []byte{
		"openai": func(turns int) []byte { return podTalk(t, turns) },
		"anthropic": func(turns int) []byte {
			e := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
			in := imported(t, e.Engine, podTalk(t, turns))
			out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session, To: "anthropic"})
			if err != nil {
				t.Fatal(err)
			}
			return out.Data
		},
	}
}

// A new epoch makes the window smaller; what is sent is what the format allows, the same
// when it is asked for again, after a restart too, and all of the conversation can be
// recalled. Only the messages change.
func TestNewEpoch(t *testing.T) {
	for format, body := range bodies(t) {
		t.Run(format, func(t *testing.T) {
			b := newBookkeeper(t)
			epoch := func(e *carrel.Engine, n, turns int) *carrel.NewEpochResult {
				t.Helper()
				data := body(turns)
				res, err := e.NewEpoch(t.Context(), scope, &carrel.NewEpochRequest{
					Name: "thread.json", Format: format, Data: data, Target: carrel.Target{Share: ratio.One / 2}, Chain: chainOf(t, data), Epoch: n,
				})
				if err != nil {
					t.Fatal(err)
				}
				return res
			}
			first := epoch(b.Engine, 1, 12)
			if first.Messages != len(messages(t, body(12))) || first.After >= first.Before || first.Pass == "" || first.Op == "" {
				t.Errorf("%+v, want a smaller window", first)
			}
			var head []json.RawMessage
			if err := json.Unmarshal(first.Head, &head); err != nil || len(head) == 0 {
				t.Fatalf("the head is %s: %v", first.Head, err)
			}
			if _, violations, err := carrel.Validate(format, withMessages(t, body(12), first.Head)); err != nil || len(violations) > 0 {
				t.Errorf("what is sent is refused: %v, %v", violations, err)
			}
			again := epoch(b.Engine, 1, 12)
			if !bytes.Equal(again.Head, first.Head) || again.Pass != "" {
				t.Errorf("asked again, the head of %d bytes has %d, by pass %q", len(first.Head), len(again.Head), again.Pass)
			}
			restarted, err := carrel.New(b.store, &carrel.Options{Counter: quarter{}})
			if err != nil {
				t.Fatal(err)
			}
			kept, err := restarted.Rewrites(t.Context(), scope, &carrel.SessionRequest{Session: first.Session})
			if err != nil || len(kept.Rewrites) != 1 || !bytes.Equal(kept.Rewrites[0].Data, first.Head) || kept.Rewrites[0].Chain != chainOf(t, body(12)) {
				t.Errorf("after a restart there are %+v, %v; want the head", kept, err)
			}
			second := epoch(restarted, 2, 30)
			back := epoch(restarted, 3, 20) // the client went back
			if second.Session != first.Session || back.Session != first.Session || len(b.rewrites(first.Session)) != 3 {
				t.Errorf("sessions %s, %s, %s; want one, with three heads", first.Session, second.Session, back.Session)
			}
			if _, violations, err := carrel.Validate(format, withMessages(t, body(20), back.Head)); err != nil || len(violations) > 0 {
				t.Errorf("what is sent after the client went back is refused: %v, %v", violations, err)
			}
			whole, err := restarted.Export(t.Context(), scope, &carrel.ExportRequest{Session: first.Session, Whole: true})
			if err != nil || !bytes.Equal(whole.Data, body(20)) {
				t.Errorf("the conversation is not what the client sent: %v", err)
			}
			b.audited()
		})
	}
}

// withMessages returns a body with other messages.
func withMessages(t *testing.T, data, list []byte) []byte {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(data, &members); err != nil {
		t.Fatal(err)
	}
	members["messages"] = list
	out, err := json.Marshal(members)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Who is interrupted between the changes of an epoch gets the head that it would have had.
func TestNewEpochInterrupted(t *testing.T) {
	data := podTalk(t, 12)
	req := &carrel.NewEpochRequest{Name: "thread.json", Format: "openai", Data: data, Target: carrel.Target{Share: ratio.One / 2}, Chain: chainOf(t, data), Epoch: 1}
	want, err := newBookkeeper(t).NewEpoch(t.Context(), scope, req)
	if err != nil {
		t.Fatal(err)
	}
	for changes := range 3 {
		b := newBookkeeper(t)
		failing := &interrupted{Store: b.store, left: changes}
		_, err := b.As("dana", failing).NewEpoch(t.Context(), scope, req)
		if !errors.Is(err, errInterrupted) {
			t.Fatalf("after %d changes: %v, want what interrupted it", changes, err)
		}
		got, err := b.NewEpoch(t.Context(), scope, req)
		if err != nil || !bytes.Equal(got.Head, want.Head) {
			t.Errorf("after %d changes and an interruption: %v, another head: %t", changes, err, err == nil)
		}
	}
}

var errInterrupted = errors.New("interrupted")

// An interrupted store takes a number of changes and no more.
type interrupted struct {
	store.Store

	left int
}

func (s *interrupted) Apply(ctx context.Context, in governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	if s.left == 0 {
		return 0, errInterrupted
	}
	s.left--
	return s.Store.Apply(ctx, in, id, at, c)
}

func TestNewEpochIsRefused(t *testing.T) {
	b := newBookkeeper(t)
	data := podTalk(t, 12)
	sound := carrel.NewEpochRequest{Name: "thread.json", Format: "openai", Data: data, Target: carrel.Target{Share: ratio.One / 2}, Chain: chainOf(t, data), Epoch: 1}
	for name, tt := range map[string]struct {
		change func(*carrel.NewEpochRequest)
		want   error
	}{
		"epoch 0":                        {func(r *carrel.NewEpochRequest) { r.Epoch = 0 }, carrel.ErrRequest},
		"no chain":                       {func(r *carrel.NewEpochRequest) { r.Chain = digest.Digest{} }, carrel.ErrRequest},
		"no JSON":                        {func(r *carrel.NewEpochRequest) { r.Data = []byte("{") }, carrel.ErrRequest},
		"no messages":                    {func(r *carrel.NewEpochRequest) { r.Data = []byte(`{"messages":[]}`) }, carrel.ErrRequest},
		"messages of a kind":             {func(r *carrel.NewEpochRequest) { r.Data = []byte(`{"messages":"one"}`) }, carrel.ErrRequest},
		"two lists":                      {func(r *carrel.NewEpochRequest) { r.Data = []byte(`{"messages":[1],"input":[2]}`) }, carrel.ErrRequest},
		"no such format":                 {func(r *carrel.NewEpochRequest) { r.Format = "telex" }, carrel.ErrFormat},
		"a target below what rules hold": {func(r *carrel.NewEpochRequest) { r.Target = carrel.Target{Tokens: 1} }, carrel.ErrBudget},
	} {
		req := sound
		tt.change(&req)
		if res, err := b.NewEpoch(t.Context(), scope, &req); res != nil || !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v; want %v", name, res, err, tt.want)
		}
	}
	heads, err := carrel.Items(b.Sessions(t.Context(), scope, &carrel.SessionsRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range heads {
		if got := b.rewrites(heads[i].Session); len(got) > 0 {
			t.Errorf("session %s has %d heads, want none", heads[i].Session, len(got))
		}
	}
}

// A manifest of a call is sealed with its intent, says what came of it, and is verified: also
// what it refers to.
func TestManifestsOfCalls(t *testing.T) {
	b := newBookkeeper(t)
	chain := func(s string) digest.Digest { return digest.Of([]byte(s)) }
	begin := func(sent string, segments ...carrel.CallSegment) (string, error) {
		req := &carrel.BeginRequest{Session: "an-1", Sealed: &carrel.CallAccount{}}
		req.Dialect, req.Managed, req.Epoch, req.Sent = "anthropic", true, 2, chain(sent)
		req.Sealed.Segments = append([]carrel.CallSegment{{Kind: manifest.KindFrame, Bytes: 10, Commit: chain("frame")}}, segments...)
		for i := range req.Sealed.Segments {
			req.SentBytes += req.Sealed.Segments[i].Bytes
		}
		if sent == "short" {
			req.SentBytes--
		}
		res, err := b.Begin(t.Context(), scope, req)
		if err != nil {
			return "", err
		}
		return res.Call, nil
	}
	must := func(call string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return call
	}
	segment := func(end, before string) carrel.CallSegment {
		return carrel.CallSegment{Kind: manifest.KindMessage, Bytes: 20, Chain: chain(end), Before: before, Commit: chain(end)}
	}
	first := must(begin("one", segment("one", "")))
	b.end(&carrel.EndRequest{Call: first, State: store.CallDone, CallOutcome: carrel.CallOutcome{Status: 200, Usage: carrel.Usage{Input: 7}}})
	second := must(begin("two", segment("one", first), segment("two", "")))
	other := must(begin("two", segment("half", first), segment("two", "")))
	lost := must(begin("two", segment("one", "call_0000000000000000"), segment("two", "")))
	differs := must(begin("three", segment("two", "")))
	for id, want := range map[string]error{first: nil, second: nil, other: carrel.ErrIntegrity, lost: store.ErrNotFound, differs: carrel.ErrIntegrity} {
		if _, err := b.VerifyManifest(t.Context(), scope, &carrel.IDRequest{ID: id}); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", id, err, want)
		}
	}
	m, err := b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: first})
	if err != nil || m.Session != "an-1" || len(m.Made) != 1 || !strings.Contains(string(m.Made[0].Data), `"input":7`) {
		t.Fatalf("%v: %+v", err, m)
	}
	sealed, err := m.Sealed()
	if err != nil || sealed.Manifest().Header.Policy != "epochs/2" {
		t.Fatalf("%v: %+v", err, sealed.Manifest().Header)
	}
	if again, err := b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: m.ID}); err != nil || again.Seal != m.Seal {
		t.Errorf("by its own id it is %v, %v", again, err)
	}
	if calls := b.list(&carrel.CallsRequest{}); calls[len(calls)-1].Manifest != m.ID || calls[len(calls)-1].Seal != m.Seal {
		t.Errorf("the list says %+v", calls[len(calls)-1])
	}
	if d, err := b.DiffManifests(t.Context(), scope, &carrel.DiffRequest{ID: first, Other: second}); err != nil || d == nil {
		t.Errorf("no difference: %v", err)
	}
	if _, err := carrel.VerifyDocument(bytes.Replace(m.Document, []byte("epochs/2"), []byte("epochs/3"), 1)); !errors.Is(err, carrel.ErrIntegrity) {
		t.Errorf("a document that was changed: %v", err)
	}
	if _, err := begin("short", segment("short", "")); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("segments that do not tile what is sent: %v", err)
	}
	if _, err := b.Replay(t.Context(), scope, &carrel.IDRequest{ID: first}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("there is no text to replay: %v", err)
	}
}

// A managed call is shown with the head of its epoch, if that is still stored.
func TestCallsShowTheirHeads(t *testing.T) {
	b := newBookkeeper(t)
	id := imported(t, b.Engine, podTalk(t, 3)).Session
	for i, r := range []carrel.Rewrite{{Kind: store.RewriteMessage, Epoch: 2, Messages: 9}, {Kind: store.RewriteHead, Epoch: 1, Messages: 8}, {Kind: store.RewriteHead, Epoch: 2, Messages: 7}} {
		r.Chain, r.Data = digest.Of([]byte{byte(i)}), fmt.Appendf(nil, `[%d]`, i)
		if _, err := b.KeepRewrite(t.Context(), scope, &carrel.KeepRewriteRequest{Session: id, Rewrite: r}); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		session transcript.SessionID
		epoch   int
		managed bool
		want    string
	}{{id, 2, true, "[2] 7"}, {id, 1, true, "[1] 8"}, {id, 3, true, " 0"}, {id, 0, true, " 0"}, {id, 2, false, " 0"}, {"", 2, true, " 0"}, {"none", 2, true, " 0"}} {
		call := b.begin(&carrel.BeginRequest{Session: tt.session, CallIntent: carrel.CallIntent{Epoch: tt.epoch, Managed: tt.managed}})
		res, err := b.Call(t.Context(), scope, &carrel.IDRequest{ID: call})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %d", res.Head, res.HeadFor); got != tt.want {
			t.Errorf("%+v: the head is %q, want %q", tt, got, tt.want)
		}
	}
}
