package carrel_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Each job that writes to a session answers with the entry of the journal that says so, of
// whom and when; planned, it changes nothing, and done again where nothing is left to do,
// it writes nothing.
func TestEveryJobIsJournaled(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}, Actor: "dana"})
	ctx, data := t.Context(), conversation(t)
	var id transcript.SessionID
	block := func(i int) string {
		list, err := b.Messages(ctx, scope, &carrel.MessagesRequest{Session: id})
		if err != nil {
			t.Fatal(err)
		}
		return list.Messages[i].ShortID
	}
	more := []json.RawMessage{json.RawMessage(`{"role":"user","content":"One thing more."}`)}
	paged, pinned, gone := "", "", ""
	for _, tt := range []struct {
		name  string
		op    string
		again bool // done again, it has nothing left to do
		do    func(dry bool) (op string, err error)
	}{
		{"import", "import", true, func(dry bool) (string, error) {
			r, err := b.Import(ctx, scope, &carrel.ImportRequest{Name: "dir/pool.json", Data: data, DryRun: dry})
			if err != nil {
				return "", err
			}
			if info, err := b.Session(ctx, scope, &carrel.SessionRequest{Session: r.Session}); !dry && (err != nil || info.File != "pool.json") {
				t.Errorf("import: the session is %+v, %v", info, err)
			}
			if id = r.Session; r.Changed != (r.Op != "" || dry) {
				t.Errorf("import, dry %t: changed %t, op %q", dry, r.Changed, r.Op)
			}
			return r.Op, nil
		}},
		{"mark", "mark", true, func(dry bool) (string, error) {
			r, err := b.Mark(ctx, scope, &carrel.MarkRequest{Session: id, Critical: true, DryRun: dry})
			if err != nil {
				return "", err
			}
			if !r.Critical || r.Session != id || r.Changed != (r.Op != "" || dry) {
				t.Errorf("mark, dry %t: %+v", dry, r)
			}
			return r.Op, nil
		}},
		{"pin", "pin", true, func(dry bool) (string, error) {
			if pinned == "" {
				pinned = block(4)
			}
			r, err := b.Pin(ctx, scope, &carrel.PinRequest{Blocks: []string{pinned}, DryRun: dry})
			if err != nil {
				return "", err
			}
			return strings.Join(r.Ops, " "), nil
		}},
		{"page", "page-by-hand", true, func(dry bool) (string, error) {
			if paged == "" {
				paged = block(3)
			}
			r, err := b.Page(ctx, scope, &carrel.PageRequest{Blocks: []string{paged}, DryRun: dry})
			if err != nil {
				return "", err
			}
			return r.Op, nil
		}},
		{"discard", "discard", false, func(dry bool) (string, error) {
			if gone == "" {
				gone = block(5)
			}
			r, err := b.Discard(ctx, scope, &carrel.DiscardRequest{IDs: []string{gone}, Trigger: &pager.Trigger{Floor: 1}, DryRun: dry})
			if err != nil {
				return "", err
			}
			return r.Op, nil
		}},
		{"compress", "page", true, func(dry bool) (string, error) {
			r, err := b.Compress(ctx, scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Share: ratio.Of(1, 4)}, DryRun: dry})
			if err != nil {
				return "", err
			}
			return r.Op, nil
		}},
		{"undo", "undo", false, func(dry bool) (string, error) {
			r, err := b.Undo(ctx, scope, &carrel.UndoRequest{Session: id, DryRun: dry})
			if err != nil {
				return "", err
			}
			if r.Kind != "page" || r.Blocks == 0 || r.After <= r.Before || r.Session != id {
				t.Errorf("undo, dry %t: %+v", dry, r)
			}
			return r.Op, nil
		}},
		{"append", "import", false, func(dry bool) (string, error) {
			r, err := b.Append(ctx, scope, &carrel.AppendRequest{Session: id, Messages: more, DryRun: dry})
			if err != nil {
				return "", err
			}
			return r.Op, nil
		}},
		{"amend the contract", "contract", false, func(dry bool) (string, error) {
			if dry {
				return "", nil
			}
			r, err := b.AmendContract(ctx, scope, &carrel.AmendContractRequest{Session: id, Init: true, Decisions: []string{"one pool"}})
			if err != nil {
				return "", err
			}
			return r.Op, nil
		}},
		{"unpin", "unpin", true, func(dry bool) (string, error) {
			r, err := b.Pin(ctx, scope, &carrel.PinRequest{Blocks: []string{pinned}, Unpin: true, DryRun: dry})
			if err != nil {
				return "", err
			}
			return strings.Join(r.Ops, " "), nil
		}},
		{"unmark", "mark", true, func(dry bool) (string, error) {
			r, err := b.Mark(ctx, scope, &carrel.MarkRequest{Session: id, DryRun: dry})
			if err != nil {
				return "", err
			}
			if r.Critical || r.Changed != (r.Op != "" || dry) {
				t.Errorf("unmark, dry %t: %+v", dry, r)
			}
			return r.Op, nil
		}},
	} {
		b.turn(func() { b.now = b.now.Add(time.Minute) })
		before := b.fingerprint(t)
		if op, err := tt.do(true); err != nil || op != "" {
			t.Errorf("%s, planned: %q, %v", tt.name, op, err)
		}
		if b.fingerprint(t) != before {
			t.Errorf("%s, planned, has changed something", tt.name)
		}
		op, err := tt.do(false)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		journal, err := carrel.Items(b.Journal(ctx, scope, &carrel.JournalRequest{Session: id}))
		if err != nil {
			t.Fatal(err)
		}
		last := journal[len(journal)-1]
		if op == "" || last.ID != op || last.Op != tt.op || last.Actor != "dana" || !last.Time.Equal(b.now) || int(last.Revision) != len(journal) {
			t.Errorf("%s is %q, the journal has %+v as entry %d", tt.name, op, last, len(journal))
		}
		info, err := b.Session(ctx, scope, &carrel.SessionRequest{Session: id})
		if err != nil || info.Revision != last.Revision || !info.Updated.Equal(b.now) {
			t.Errorf("%s leaves the session at revision %d of %v, %v; want %d of %v", tt.name, info.Revision, info.Updated, err, last.Revision, b.now)
		}
		if tt.again {
			before := b.fingerprint(t)
			if op, err := tt.do(false); err != nil || op != "" || b.fingerprint(t) != before {
				t.Errorf("%s, again: %q, %v", tt.name, op, err)
			}
		}
	}
	info, err := b.Session(ctx, scope, &carrel.SessionRequest{Session: id})
	if err != nil || info.Critical || info.Messages != 33 {
		t.Errorf("at the end the session is %+v, %v", info, err)
	}
	if problems, err := b.Check(ctx); err != nil || len(problems) > 0 {
		t.Errorf("the store does not hold together: %v, %v", problems, err)
	}
}

// A session is named by its id, the beginning of it, or how long ago it was updated.
func TestFindSession(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	if _, err := b.FindSession(t.Context(), scope, &carrel.WordRequest{Word: ""}); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "no session is stored") {
		t.Errorf("the last of none: %v", err)
	}
	if _, err := b.FindSession(t.Context(), scope, &carrel.WordRequest{Word: "x"}); !errors.Is(err, store.ErrNotFound) || !strings.Contains(err.Error(), "no session is stored") {
		t.Errorf("one of none: %v", err)
	}
	names := []string{"pool", "pool-2", "poem", "lamp", "gone"}
	for _, name := range names {
		b.turn(func() { b.now = b.now.Add(time.Minute) })
		if _, err := b.Append(t.Context(), scope, &carrel.AppendRequest{Session: transcript.SessionID(name), Messages: []json.RawMessage{json.RawMessage(`{"role":"user","content":"Hello."}`)}}); err != nil {
			t.Fatal(err)
		}
	}
	b.turn(func() { b.now = b.now.Add(time.Minute) })
	if _, err := b.RemoveSession(t.Context(), scope, &carrel.SessionRequest{Session: "gone"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		word, want string
		err        error
	}{
		{"", "lamp", nil},
		{"@last", "lamp", nil},
		{"-0", "lamp", nil},
		{"@prev", "poem", nil},
		{"-1", "poem", nil},
		{"-2", "pool-2", nil},
		{"-3", "pool", nil},
		{"-4", "", store.ErrNotFound},
		{"-9", "", store.ErrNotFound},
		{"pool", "pool", nil},
		{"pool-", "pool-2", nil},
		{"l", "lamp", nil},
		{"po", "", carrel.ErrAmbiguous},
		{"gone", "gone", nil},
		{"x", "", store.ErrNotFound},
		{"-10", "", store.ErrNotFound},
	} {
		var got carrel.SessionResult
		found, err := b.FindSession(t.Context(), scope, &carrel.WordRequest{Word: tt.word})
		if found != nil {
			got = *found
		}
		if string(got.Session) != tt.want || !errors.Is(err, tt.err) || (err == nil) != (tt.err == nil) {
			t.Errorf("%q is %q, %v, want %q", tt.word, got.Session, err, tt.want)
		}
	}
	_, err := b.FindSession(t.Context(), scope, &carrel.WordRequest{Word: "po"})
	if want := `session "po" is ambiguous: it could be poem, pool-2, pool`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("what fits several says %v, want %s", err, want)
	}
}

// What fills a window sums up: blocks and tokens of all shares are those of the session.
func TestContextSumsUp(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, c *carrel.ContextResult) {
		t.Helper()
		shares := []carrel.ContextShare{c.Fixed, c.System, c.Pinned, c.Summary, c.Live, c.Stubs, c.Cold}
		var blocks int
		var tokens, stands token.Count
		for _, s := range shares {
			blocks, tokens, stands = blocks+s.Blocks, tokens+s.Tokens, stands+s.Stands
		}
		if blocks != c.Blocks || tokens != c.Used || stands != c.Tokens || c.Used != c.Window {
			t.Errorf("%s: %d blocks of %d, %d tokens of %d, for %d of %d", name, blocks, c.Blocks, tokens, c.Used, stands, c.Tokens)
		}
		if c.Cold.Tokens != 0 || c.Fixed.Blocks != 0 || c.Earlier != (carrel.ContextShare{}) {
			t.Errorf("%s: %+v", name, c)
		}
	}
	ask := func(capacity token.Count) *carrel.ContextResult {
		t.Helper()
		c, err := e.Context(t.Context(), scope, &carrel.ContextRequest{Session: in.Session, Window: capacity})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := ask(0)
	check("as it came", c)
	if c.Capacity != token.ContextWindow("gpt-4o") || c.Reserved != min(20_000, c.Capacity/10) || c.Free != c.Capacity-c.Used-c.Reserved || c.Ops != 1 {
		t.Errorf("as it came: %+v", c)
	}
	if c.System.Blocks != 1 || c.System.Tokens != list.Messages[0].Tokens || c.Stubs.Blocks+c.Cold.Blocks != 0 {
		t.Errorf("as it came: %+v", c)
	}
	for _, capacity := range []token.Count{1, 100, c.Used + c.Used/9, 250_000} {
		got := ask(capacity)
		reserved := min(20_000, capacity/10)
		if got.Capacity != capacity || got.Reserved != reserved || got.Free != max(0, capacity-c.Used-reserved) {
			t.Errorf("in a window of %d: %d reserved, %d free, want %d and %d", capacity, got.Reserved, got.Free, reserved, max(0, capacity-c.Used-reserved))
		}
		if got.Level != string((*pager.Trigger)(nil).Level(got.Used, got.Effective)) {
			t.Errorf("in a window of %d: level %s, want %s", capacity, got.Level, string((*pager.Trigger)(nil).Level(got.Used, got.Effective)))
		}
	}
	if _, err := e.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{list.Messages[2].ShortID}}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Page(t.Context(), scope, &carrel.PageRequest{Blocks: []string{list.Messages[3].ShortID, list.Messages[4].ShortID}}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Discard(t.Context(), scope, &carrel.DiscardRequest{IDs: []string{list.Messages[5].ShortID}, Trigger: &pager.Trigger{Floor: 1}}); err != nil {
		t.Fatal(err)
	}
	now := ask(0)
	check("tidied", now)
	if now.Stubs.Blocks != 2 || now.Stubs.Stands != list.Messages[3].Tokens+list.Messages[4].Tokens || now.Stubs.Tokens >= now.Stubs.Stands {
		t.Errorf("stubs are %+v", now.Stubs)
	}
	if now.Cold != (carrel.ContextShare{Blocks: 1, Stands: list.Messages[5].Tokens}) || now.Ops != 4 {
		t.Errorf("cold is %+v, after %d entries", now.Cold, now.Ops)
	}
	if now.Pinned.Blocks != c.Pinned.Blocks+1 || now.Pinned.Tokens != c.Pinned.Tokens+list.Messages[2].Tokens {
		t.Errorf("pinned is %+v, was %+v", now.Pinned, c.Pinned)
	}
	trigger, err := e.Trigger(t.Context(), scope, &carrel.TriggerRequest{Session: in.Session, Window: 9000})
	if err != nil {
		t.Fatal(err)
	}
	// The two messages of each of three blocks are two stubs, and nothing.
	if want := 32 - 6 + 2; trigger.Messages != want || in.Messages != 32 || trigger.Window != 9000 || trigger.Used != now.Used || trigger.Cycles != 0 || trigger.Pending {
		t.Errorf("%d messages, want %d of %d: %+v", trigger.Messages, want, in.Messages, trigger)
	}
	if _, err := e.Trigger(t.Context(), scope, &carrel.TriggerRequest{Session: in.Session, Window: -1}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("in a window below 0: %v", err)
	}
}

// Each reply read all that was there before it, and belongs to what was asked last.
func TestStatsAddUp(t *testing.T) {
	e := newEngine(t, stores.New(t))
	msgs := []message{{Role: "system", Content: "You fix things."}, {Role: "assistant", Content: "I wait."}}
	for i, text := range []string{"Fix the pool.", "Now the lamp, please."} {
		msgs = append(msgs, message{Role: "user", Content: text}, message{Role: "assistant", Content: strings.Repeat("I look at it. ", i+1)}, message{Role: "assistant", Content: "It is done."})
	}
	in := load(t, e, body(t, msgs))
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	at := list.Window // fixed, once all blocks are taken away
	for _, b := range list.Messages {
		at -= b.Tokens
	}
	var want []carrel.TaskStats
	for _, b := range list.Messages {
		if b.Kind == transcript.KindUser {
			want = append(want, carrel.TaskStats{Task: len(want) + 1, Block: b.ID, Preview: b.Preview})
		}
		if n := len(want); n > 0 {
			task := &want[n-1]
			task.Turns++
			if b.Kind == transcript.KindAssistant {
				task.Calls, task.Read, task.Written = task.Calls+1, task.Read+at, task.Written+b.Tokens
			}
			task.Total = task.Read + task.Written
		}
		at += b.Tokens
	}
	stats, err := e.Stats(t.Context(), scope, &carrel.SessionRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, stats.Tasks); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	if total := want[0].Total + want[1].Total; stats.Calls != 4 || stats.Total != total || stats.TokensPerTask != total/2 || stats.Rounds != 0 {
		t.Errorf("%d calls, %d tokens, %d for each task, %d rounds; want 4, %d and %d", stats.Calls, stats.Total, stats.TokensPerTask, stats.Rounds, total, total/2)
	}
}

// A window without a target is brought to the share that the trigger has, and never
// counted anew by another encoding.
func TestCompressWithoutATarget(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Window: 20_000, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	trigger := (*pager.Trigger)(nil).Complete()
	if want := trigger.Figures(20_000).Target; res.Budget != want {
		t.Errorf("the budget is %d, want %d", res.Budget, want)
	}
	auto, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Window: 20_000, Target: carrel.Target{Tokens: 1}, Auto: true, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	if want := trigger.Figures(20_000).Floor; auto.Budget != want {
		t.Errorf("an automatic pass has the budget %d, want the floor %d", auto.Budget, want)
	}
}

// Options that contradict themselves are refused, and what is at the edge is not.
func TestOptions(t *testing.T) {
	cuts := func(evict, retain ratio.Ratio) carrel.Options {
		return carrel.Options{Cuts: pager.Cuts{Evict: evict, Retain: retain}}
	}
	for _, tt := range []struct {
		name string
		opts carrel.Options
		want string // in the error, or empty
	}{
		{"none", carrel.Options{}, ""},
		{"cuts at one score", cuts(500_000, 500_000), ""},
		{"cuts the wrong way round", cuts(500_001, 500_000), "is above the retain cut"},
		{"no window", carrel.Options{Window: 1}, ""},
		{"a window below 0", carrel.Options{Window: -1}, "window is -1 tokens"},
		{"recency alone", carrel.Options{Weights: pager.Weights{Recency: 1}}, ""},
		{"relevance alone", carrel.Options{Weights: pager.Weights{Relevance: 1}}, ""},
		{"a recency below 0", carrel.Options{Weights: pager.Weights{Relevance: 1, Recency: -1}}, "weight of recency"},
		{"a relevance below 0", carrel.Options{Weights: pager.Weights{Relevance: -1, Recency: 1}}, "weight of relevance"},
		{"a strategy that does not exist", carrel.Options{Strategy: "hope"}, `no strategy is called "hope"`},
		{"a trigger out of order", carrel.Options{Trigger: pager.Trigger{Warn: 900_000}}, ""},
	} {
		e, err := carrel.New(stores.New(t), &tt.opts)
		if tt.name == "a trigger out of order" {
			if err == nil {
				t.Errorf("%s is taken", tt.name)
			}
			continue
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || (e == nil) != (err != nil) {
			t.Errorf("%s: %v, want an error with %q", tt.name, err, tt.want)
		}
	}
	if e, err := carrel.New(nil, nil); err == nil || e != nil {
		t.Error("an engine has no store")
	}
}

// Ids in the order in which a person gives them: one that nothing has, and one that fits
// several, say nothing of the session; one that a block has does.
func TestDiscardFindsTheSession(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	first := make(map[byte]int)
	for _, b := range list.Messages {
		first[b.ID[0]]++
	}
	several, ok := "", false
	for c, n := range first {
		if n == 2 {
			several, ok = string(c), true
		}
	}
	if !ok {
		t.Fatal("no two blocks have ids that begin alike")
	}
	block := list.Messages[3].ShortID
	for _, tt := range []struct {
		name string
		ids  []string
		want error
	}{
		{"one that fits several", []string{several}, carrel.ErrAmbiguous},
		{"one that nothing has", []string{"zzz"}, store.ErrNotFound},
		{"none", []string{"#"}, store.ErrNotFound},
		{"one that nothing has, and one that fits several", []string{"zzz", several}, store.ErrNotFound},
		{"one that fits several, and one that nothing has", []string{several, "zzz"}, carrel.ErrAmbiguous},
		{"one that fits several, and a block", []string{several, block}, carrel.ErrPolicy}, // in that session, not all can go
		{"one that nothing has, and a block", []string{"zzz", block}, carrel.ErrPolicy},
	} {
		if _, err := e.Discard(t.Context(), scope, &carrel.DiscardRequest{IDs: tt.ids, Trigger: &pager.Trigger{Floor: 1}}); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	if res, err := e.Discard(t.Context(), scope, &carrel.DiscardRequest{IDs: []string{"#block-" + block}, Trigger: &pager.Trigger{Floor: 1}}); err != nil || res.Session != in.Session || len(res.Discarded) != 1 {
		t.Errorf("a block: %+v, %v", res, err)
	}
}
