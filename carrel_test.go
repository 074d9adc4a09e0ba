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
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

const scope = governance.Scope("test")

// quarter counts a token for four bytes, rounded up: fast, and easy to check.
type quarter struct{}

func (quarter) Count(text string) token.Count { return token.Count(len(text)+3) / 4 }
func (quarter) Encoding() string              { return "quarter" }

// newEngine returns an engine that compresses by rules and scores alone. What
// summaries do is in compress_test.go.
func newEngine(t testing.TB, s store.Store) *carrel.Engine {
	t.Helper()
	e, err := carrel.New(s, &carrel.Options{
		Strategy: carrel.StrategyImportance,
		Counter:  quarter{},
		Now:      func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// A message is one of a request body in the format of Chat Completions.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
	Calls   []call `json:"tool_calls,omitempty"`
	CallID  string `json:"tool_call_id,omitempty"`
}

type call struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func newCall(id, name, args string) call {
	c := call{ID: id, Type: "function"}
	c.Function.Name, c.Function.Arguments = name, args
	return c
}

func body(t require, msgs []message) []byte {
	b, err := json.Marshal(map[string]any{"model": "gpt-4o", "messages": msgs})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// require is what rapid.T and testing.T have in common here.
type require interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// conversation is one that a person could have had with a coding agent.
func conversation(t require) []byte {
	long := strings.Repeat("ok  example.com/app/internal/pool 0.1s\n", 60)
	msgs := []message{
		{Role: "system", Content: "You fix things."},
		{Role: "user", Content: "Find why the pool hangs and fix it."},
	}
	for i := range 12 {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs,
			message{Role: "assistant", Calls: []call{newCall(id, "Bash", fmt.Sprintf(`{"command":"go test ./internal/p%d"}`, i))}},
			message{Role: "tool", CallID: id, Content: long},
		)
	}
	msgs = append(msgs,
		message{Role: "user", Content: "No, don't touch the public API."},
		message{Role: "assistant", Content: "Understood.", Calls: []call{newCall("call_e", "Edit", `{"file_path":"internal/pool/pool.go"}`)}},
		message{Role: "tool", CallID: "call_e", Content: "updated"},
		message{Role: "assistant", Content: "The pool waited for rejected jobs."},
		message{Role: "user", Content: "Now open a pull request for the pool."},
		message{Role: "assistant", Content: "It is open."},
	)
	return body(t, msgs)
}

// What an engine has counted for the model of one session it does not take for another's.
func TestSessionsOfDifferentModelsAreCountedApart(t *testing.T) {
	of := func(model string) []byte {
		return bytes.Replace(conversation(t), []byte("gpt-4o"), []byte(model), 1)
	}
	for _, strategy := range carrel.Strategies() {
		var want *carrel.CompressResult
		for _, models := range [][]string{{"gpt-4"}, {"gpt-4o", "gpt-4"}} {
			e := newEngine(t, stores.New(t))
			var got *carrel.CompressResult
			for _, model := range models {
				in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: model + ".json", Data: of(model)})
				if err != nil {
					t.Fatal(err)
				}
				if got, err = e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 2)}, Strategy: strategy, ProbeMin: anything()}); err != nil {
					t.Fatal(err)
				}
			}
			if got.Op = ""; want == nil {
				want = got
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-alone +behind a session of another model):\n%s", strategy, diff)
			}
		}
	}
}

func load(t testing.TB, e *carrel.Engine, data []byte) *carrel.ImportResult {
	t.Helper()
	in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "pool.json", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func export(t testing.TB, e *carrel.Engine, id transcript.SessionID) []byte {
	t.Helper()
	out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	return out.Data
}

// The whole main job, with what is promised about it.
func TestCompress(t *testing.T) {
	s := stores.New(t)
	e := newEngine(t, s)
	data := conversation(t)
	in := load(t, e, data)
	if !bytes.Equal(export(t, e, in.Session), data) {
		t.Fatal("the untouched export is not the input")
	}
	req := &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 4)}}

	plan := *req
	plan.DryRun = true
	planned, err := e.Compress(t.Context(), scope, &plan)
	if err != nil {
		t.Fatal(err)
	}
	if planned.Op != "" || !bytes.Equal(export(t, e, in.Session), data) {
		t.Error("planning changed something")
	}
	res, err := e.Compress(t.Context(), scope, req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(planned.Decisions, res.Decisions); diff != "" {
		t.Errorf("the pass is not the plan (-plan +pass):\n%s", diff)
	}
	if res.After > res.Budget || res.Tokens.Sum() != int64(res.Imported) || res.Imported != in.Tokens {
		t.Errorf("after %d, budget %d, %+v of %d tokens", res.After, res.Budget, res.Tokens, in.Tokens)
	}
	window := string(export(t, e, in.Session))
	for _, kept := range []string{"You fix things.", "Find why the pool hangs", "don't touch the public API", "Now open a pull request", "It is open."} {
		if !strings.Contains(window, kept) {
			t.Errorf("the window does not say %q", kept)
		}
	}
	again, err := newEngine(t, s).Compress(t.Context(), scope, req)
	if err != nil || again.Changed != 0 || again.Op != "" {
		t.Errorf("a second run changes %d blocks, %v", again.Changed, err)
	}
	checkRecall(t.Context(), t, e, data, "pool.json", in.Session)
	checkContract(t, e, in.Session, res)
}

// checkRecall compares every block with what came in.
func checkRecall(ctx context.Context, t require, e *carrel.Engine, data []byte, name string, id transcript.SessionID) {
	f, err := carrel.Detect(data)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Decode(name, data)
	if err != nil {
		t.Fatal(err)
	}
	list, err := e.Messages(ctx, scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	blocks := transcript.Group(s.ID, 0, s.Messages)
	if len(list.Messages) != len(blocks) {
		t.Fatalf("%d blocks are listed of %d", len(list.Messages), len(blocks))
	}
	for i, b := range list.Messages {
		got, err := e.Recall(ctx, scope, &carrel.RecallRequest{Block: b.ShortID})
		if err != nil || !bytes.Equal(got.Data, s.RawBlock(&blocks[i])) {
			t.Fatalf("recall of %s: other bytes, %v", b.ShortID, err)
		}
	}
}

// checkContract replays the contract and compares it with a pass.
func checkContract(t *testing.T, e *carrel.Engine, id transcript.SessionID, res *carrel.CompressResult) {
	t.Helper()
	lines, err := e.Contract(t.Context(), scope, &carrel.SessionRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	state, err := contract.Replay(slices.Values(lines.Statements))
	if err != nil {
		t.Fatal(err)
	}
	got := carrel.Tally{
		Live: int64(state.Count(contract.Retained)), Stub: int64(state.Count(contract.Paged)), Cold: int64(state.Count(contract.Evicted)),
	}
	if got != res.Blocks {
		t.Errorf("the contract has %+v, the window %+v", got, res.Blocks)
	}
}

func TestWhyKnowsRuleOrScore(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 10)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range res.Decisions {
		why, err := e.Why(t.Context(), scope, &carrel.BlockRequest{Block: string(d.Block)})
		if err != nil {
			t.Fatal(err)
		}
		last := why.History[len(why.History)-1]
		if diff := cmp.Diff(&d, last.Decision); diff != "" || last.Op != res.Op {
			t.Errorf("why of turn %d (-pass +why):\n%s", d.Turn, diff)
		}
		if why.Now == nil || why.Now.Rule == "" && why.Now.Signals.Terms == 0 {
			t.Errorf("turn %d has neither rule nor score inputs: %+v", d.Turn, why.Now)
		}
		checkNeed(t, why)
	}
}

// checkNeed checks that what a block is likely to be needed for is the likeliest first,
// that everything has its reasons, and that the lines are the block's own.
func checkNeed(t *testing.T, why *carrel.WhyResult) {
	t.Helper()
	if why.Need == nil {
		return
	}
	need := why.Need
	for i, n := range need.Names {
		if n.Name == "" || len(n.Because) == 0 || i > 0 && n.Chance > need.Names[i-1].Chance {
			t.Errorf("turn %d: name %d of the need is %+v", why.Turn, i, n)
		}
	}
	for i, l := range need.Lines {
		if strings.TrimSpace(l.Text) == "" || len(l.Because) == 0 || i > 0 && l.Chance > need.Lines[i-1].Chance {
			t.Errorf("turn %d: line %d of the need is %+v", why.Turn, i, l)
		}
	}
}

func TestUndoRestoresTheWindow(t *testing.T) {
	e := newEngine(t, stores.New(t))
	data := conversation(t)
	in := load(t, e, data)
	windows := [][]byte{data}
	var ops []string
	for _, percent := range []int{50, 25, 10} {
		res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(percent, 100)}})
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, res.Op)
		windows = append(windows, export(t, e, in.Session))
	}
	if _, err := e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session, Op: ops[0]}); !errors.Is(err, carrel.ErrPolicy) {
		t.Errorf("undoing the first of three operations: %v, want ErrPolicy", err)
	}
	for i, op := range slices.Backward(ops) {
		res, err := e.Undo(t.Context(), scope, &carrel.UndoRequest{Op: op})
		if err != nil {
			t.Fatal(err)
		}
		if res.Undone != op || !bytes.Equal(export(t, e, in.Session), windows[i]) {
			t.Errorf("undo %d took back %s and left another window", i, res.Undone)
		}
	}
	if _, err := e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("with nothing left to undo: %v, want ErrNotFound", err)
	}
}

// If a block of one of several sessions cannot be pinned, none is.
func TestPinOfSeveralSessions(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	var refs []string
	for _, data := range [][]byte{conversation(t), podTalk(t, 3)} {
		in, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Data: data})
		if err != nil {
			t.Fatal(err)
		}
		list, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, string(list.Messages[len(list.Messages)-1].ID))
	}
	pin := func(dry bool) (*carrel.PinResult, error) {
		return b.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: refs, DryRun: dry})
	}
	if res, err := pin(true); err != nil || len(res.Changed) != 2 || len(res.Ops) != 0 {
		t.Fatalf("two blocks of two sessions: %+v, %v", res, err)
	}
	if _, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Data: podTalk(t, 1), Rewind: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := pin(false); !errors.Is(err, carrel.ErrPolicy) {
		t.Fatalf("with a block that left: %v", err)
	}
	refs = refs[:1]
	res, err := pin(false)
	if err != nil || len(res.Changed) != 1 || len(res.Ops) != 1 {
		t.Fatalf("the block of the first session is pinned already: %+v, %v", res, err)
	}
	if res, err = pin(false); err != nil || res.Changed == nil || len(res.Changed) != 0 {
		t.Errorf("a second pin: %+v, %v", res, err)
	}
}

func TestPinKeepsABlock(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	pinned := list.Messages[3] // an old test run, the first to go
	pin, err := e.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{pinned.ShortID}})
	if err != nil || len(pin.Changed) != 1 {
		t.Fatal(pin, err)
	}
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 4)}})
	if err != nil {
		t.Fatal(err)
	}
	if d := res.Decisions[3]; d.Rule != pager.RulePin || d.To != pager.Whole {
		t.Errorf("decision about a pinned block is %+v", d)
	}
	if _, err := e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session}); err != nil {
		t.Fatal(err)
	}
	if undo, err := e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session}); err != nil || undo.Undone != pin.Ops[0] {
		t.Errorf("undo after that took back %v, %v, want the pin", undo, err)
	}
	if list, err = e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session}); err != nil || list.Messages[3].Pinned {
		t.Errorf("the block is still pinned, %v", err)
	}
}

// A conversation that grew keeps the places of its blocks; one that was
// rewound keeps what left recallable.
func TestImportAgain(t *testing.T) {
	e := newEngine(t, stores.New(t))
	data := conversation(t)
	in := load(t, e, data)
	if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 4)}}); err != nil {
		t.Fatal(err)
	}
	before, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	if again := load(t, e, data); again.Changed || again.Tokens != in.Tokens || again.Blocks != in.Blocks {
		t.Errorf("the same file again: %+v", again)
	}

	var doc struct{ Messages []message }
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatal(err)
	}
	grown := load(t, e, body(t, append(slices.Clone(doc.Messages), message{Role: "user", Content: "Thanks."})))
	after, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	if grown.Added != 1 || len(after.Messages) != len(before.Messages)+1 {
		t.Fatalf("%d blocks were added to %d, now %d", grown.Added, len(before.Messages), len(after.Messages))
	}
	for i, b := range before.Messages {
		if a := after.Messages[i]; a.ID != b.ID || a.Form != b.Form || a.Window != b.Window {
			t.Errorf("turn %d was %s %s, is %s %s", b.Turn, b.ID, b.Form, a.ID, a.Form)
		}
	}

	rewound := load(t, e, body(t, append(slices.Clone(doc.Messages[:len(doc.Messages)-1]), message{Role: "assistant", Content: "Another answer."})))
	if rewound.Added != 1 || rewound.Blocks != in.Blocks {
		t.Errorf("after a rewind: %+v", rewound)
	}
	left := before.Messages[len(before.Messages)-1]
	if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 5)}}); err != nil {
		t.Fatal(err)
	}
	lines, err := e.Contract(t.Context(), scope, &carrel.SessionRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	state, err := contract.Replay(slices.Values(lines.Statements))
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := state.Bucket("block-" + string(left.ID)); b != contract.Evicted {
		t.Errorf("the contract has a block that left the conversation in %q", b)
	}
	got, err := e.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(left.ID)})
	if err != nil || !strings.Contains(string(got.Data), "It is open.") {
		t.Errorf("recall of a block that left: %v, %v", got, err)
	}
}

func TestSearch(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 10)}}); err != nil {
		t.Fatal(err)
	}
	found, err := carrel.Items(e.Search(t.Context(), scope, &carrel.SearchRequest{Query: "waiting for rejected jobs"}))
	if err != nil || len(found) == 0 || !strings.Contains(found[0].Excerpt, "rejected jobs") {
		t.Errorf("found %+v, %v", found, err)
	}
	other, err := carrel.Items(e.Search(t.Context(), "other", &carrel.SearchRequest{Query: "rejected"}))
	if err != nil || len(other) != 0 {
		t.Errorf("another scope finds %+v, %v", other, err)
	}
}

func TestFloorIsTyped(t *testing.T) {
	e := newEngine(t, stores.New(t))
	data := conversation(t)
	in := load(t, e, data)
	_, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: 10}})
	floor, ok := carrel.Floor(err)
	if !ok || !errors.Is(err, carrel.ErrBudget) {
		t.Fatalf("error is %v, want a floor", err)
	}
	if floor.Need <= 10 || len(floor.Held) == 0 || !bytes.Equal(export(t, e, in.Session), data) {
		t.Errorf("floor is %+v", floor)
	}
	if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: floor.Need}}); err != nil {
		t.Errorf("a budget of the floor itself: %v", err)
	}
}

func TestNothingIsStoredOfABadFile(t *testing.T) {
	e := newEngine(t, stores.New(t))
	for name, data := range map[string]string{
		"broken.json":  `{"messages":[{"role":"user","content":"a"},{"role":"tool"`,
		"badrole.json": `{"messages":[{"role":"user","content":"a"},{"role":"robot","content":"b"}]}`,
		"text.txt":     "hello",
		"empty.json":   "",
	} {
		_, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: name, Data: []byte(data)})
		_, syntax := errors.AsType[*transcript.SyntaxError](err)
		if !syntax && !errors.Is(err, carrel.ErrFormat) {
			t.Errorf("%s: %v, want a SyntaxError or ErrFormat", name, err)
		}
		if err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("error %q does not name the file", err)
		}
	}
	if list, err := carrel.Items(e.Sessions(t.Context(), scope, &carrel.SessionsRequest{})); err != nil || len(list) != 0 {
		t.Errorf("stored: %v, %v", list, err)
	}
}

// conflicting is a store in which somebody else writes before the first Apply
// calls.
type conflicting struct {
	store.Store
	times int
}

func (c *conflicting) Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, ch *store.Change) (store.Revision, error) {
	if c.times > 0 {
		c.times--
		return 0, store.ErrConflict
	}
	return c.Store.Apply(ctx, scope, id, at, ch)
}

func TestConflictsAreRetriedThreeTimes(t *testing.T) {
	for times, want := range map[int]error{2: nil, 3: store.ErrConflict} {
		e := newEngine(t, &conflicting{stores.New(t), times})
		_, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "x.json", Data: conversation(t)})
		if !errors.Is(err, want) {
			t.Errorf("after %d conflicts: %v, want %v", times, err, want)
		}
	}
}

// draw returns a random conversation: words, replies, calls with long and short
// results, interrupted and orphaned ones, parallel ones.
func draw(t *rapid.T) []byte {
	words := rapid.StringMatching(`([a-z]{1,8}[ ./_-]){0,60}`)
	msgs := []message{}
	if rapid.Bool().Draw(t, "system") {
		msgs = append(msgs, message{Role: "system", Content: "rules"})
	}
	for i := range rapid.IntRange(1, 14).Draw(t, "messages") {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			msgs = append(msgs, message{Role: "user", Content: "u " + words.Draw(t, "words")})
		case 1:
			msgs = append(msgs, message{Role: "assistant", Content: "a " + words.Draw(t, "words")})
		case 2:
			msgs = append(msgs, message{Role: "user", Content: "no, " + words.Draw(t, "words")})
		default:
			m := message{Role: "assistant"}
			var results []message
			for k := range rapid.IntRange(1, 3).Draw(t, "calls") {
				id := fmt.Sprintf("c%d_%d", i, k)
				tool := rapid.SampledFrom([]string{"Bash", "Edit", "Read", "TodoWrite"}).Draw(t, "tool")
				m.Calls = append(m.Calls, newCall(id, tool, `{"path":"x/`+id+`.go"}`))
				long := strings.Repeat(words.Draw(t, "result"), rapid.IntRange(0, 4).Draw(t, "times"))
				results = append(results, message{Role: "tool", CallID: id, Content: long})
			}
			if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
				results = results[:len(results)-1]
			}
			msgs = append(append(msgs, m), results...)
		}
	}
	return body(t, msgs)
}

// For any conversation and any budget: within the budget or a typed floor,
// valid for every provider, nothing protected touched, no call parted from its
// result, every byte recalled, a second run changes nothing.
func TestCompressHoldsForAnyConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		strategy := rapid.SampledFrom([]carrel.Strategy{carrel.StrategyImportance, carrel.StrategyPager}).Draw(t, "strategy")
		e, err := carrel.New(stores.New(t), &carrel.Options{Strategy: strategy, Counter: quarter{}})
		if err != nil {
			t.Fatal(err)
		}
		data := draw(t)
		in, err := e.Import(ctx, scope, &carrel.ImportRequest{Name: "r.json", Data: data})
		if err != nil {
			t.Fatal(err)
		}
		req := &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: token.Count(rapid.IntRange(1, 2*int(in.Tokens)).Draw(t, "target"))}}
		res, err := e.Compress(ctx, scope, req)
		if floor, ok := carrel.Floor(err); ok {
			if floor.Need <= req.Target.Tokens {
				t.Fatalf("floor of %d in a budget of %d", floor.Need, req.Target)
			}
			return
		}
		if err != nil && errors.Is(err, carrel.ErrInvalid) {
			t.Fatalf("%v\n%s", err, data)
		}
		if err != nil {
			t.Fatal(err)
		}
		if res.After > req.Target.Tokens {
			t.Fatalf("%d tokens in a budget of %d", res.After, req.Target)
		}
		for _, d := range res.Decisions {
			held := d.Rule.Hard() && strategy == carrel.StrategyPager || d.Rule.Absolute()
			if held && d.To != pager.Whole || d.Rule != "" && d.To == pager.Gone {
				t.Fatalf("decision %+v", d)
			}
		}
		if again, err := e.Compress(ctx, scope, req); err != nil || again.Changed != 0 {
			t.Fatalf("a second run changes %d blocks, %v", again.Changed, err)
		}
		for _, to := range []string{"openai", "anthropic", "claudecode"} {
			out, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: in.Session, To: to})
			if err != nil {
				t.Fatalf("%v\n%s", err, data)
			}
			if !out.Intact {
				paired(t, to, out.Data)
			}
		}
		checkRecall(ctx, t, e, data, "r.json", in.Session)
	})
}

// decoded returns the session of an export, as its format reads it.
func decoded(t require, format string, data []byte) *transcript.Session {
	f, err := carrel.FormatNamed(format)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Decode("x", data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// paired checks by ids alone, without the format's validator, that every call
// in an export has one result behind it and every result one call before it;
// calls that nothing follows are pending.
func paired(t *rapid.T, format string, data []byte) {
	s := decoded(t, format, data)
	open := make(map[string]bool)
	for i := range s.Messages {
		m := &s.Messages[i]
		if m.Role != transcript.RoleTool && len(open) > 0 {
			t.Fatalf("%s: message %d follows unanswered calls", format, i)
		}
		for _, r := range m.Results() {
			if !open[r.CallID] {
				t.Fatalf("%s: result %s has no call", format, r.CallID)
			}
			delete(open, r.CallID)
		}
		for _, c := range m.Calls() {
			open[c.ID] = true
		}
	}
}
