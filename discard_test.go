package carrel_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/tool"
)

// low is a trigger with a floor that a small conversation can be above.
var low = &pager.Trigger{Floor: 1000}

func TestMessagesSayWhatMayGo(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, body(t, []message{
		{Role: "user", Content: "Build it."},
		{Role: "assistant", Calls: []call{newCall("1", "read_file", `{"path":"a.go"}`)}},
		{Role: "tool", CallID: "1", Content: "package a"},
		{Role: "assistant", Calls: []call{newCall("2", "edit_file", `{"path":"a.go"}`)}},
		{Role: "tool", CallID: "2", Content: "ok"},
		{Role: "user", Content: "Go on."},
		{Role: "assistant", Content: "1"},
		{Role: "assistant", Content: "2"},
		{Role: "assistant", Content: "3"},
		{Role: "assistant", Content: "4"},
	}))
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range list.Messages[:4] {
		got = append(got, fmt.Sprintf("%t %s %d %s", b.Discardable, b.Class, b.Priority, b.Kept))
	}
	want := []string{
		"false  0 is the first task", "true read 1 ", "false  0 is a code edit that shows what a file is like now", "false  0 is the newest user message",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("blocks (-want +got):\n%s", diff)
	}
}

// The figures of the seed, for the window of its model.
func TestMessagesOfALargeWindow(t *testing.T) {
	for _, tt := range []struct {
		window, floor, target token.Count
	}{{200_000, 30_000, 50_000}, {1_000_000, 30_000, 50_000}, {64_000, 19_200, 32_000}} {
		e, err := carrel.New(stores.New(t), &carrel.Options{Counter: quarter{}, Window: tt.window})
		if err != nil {
			t.Fatal(err)
		}
		in := load(t, e, conversation(t))
		list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
		if err != nil {
			t.Fatal(err)
		}
		if list.Floor != tt.floor || list.Target != tt.target {
			t.Errorf("window %d: floor %d, target %d; want %d, %d", tt.window, list.Floor, list.Target, tt.floor, tt.target)
		}
	}
}

func TestDiscard(t *testing.T) {
	e := newEngine(t, stores.New(t))
	data := conversation(t)
	in := load(t, e, data)
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{list.Messages[2].ShortID, "block-" + string(list.Messages[4].ID)}
	req := &carrel.DiscardRequest{IDs: ids, Trigger: low}

	trial := *req
	trial.DryRun = true
	planned, err := e.Discard(t.Context(), scope, &trial)
	if err != nil || planned.Op != "" || !bytes.Equal(export(t, e, in.Session), data) {
		t.Fatalf("planning: %+v, %v", planned, err)
	}
	res, err := e.Discard(t.Context(), scope, req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(planned.Discarded, res.Discarded); diff != "" || len(res.Discarded) != 2 || !res.Continue {
		t.Errorf("continue %t, discarded (-plan +discard):\n%s", res.Continue, diff)
	}
	window := export(t, e, in.Session)
	if bytes.Contains(window, []byte("call_0")) || bytes.Contains(window, []byte("call_2")) || !bytes.Contains(window, []byte("call_1")) {
		t.Error("the window has not lost what was discarded, and that only")
	}
	after, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil || after.Total != res.After || after.Messages[2].State != "cold" || after.Messages[2].Kept != "is not in the window" {
		t.Errorf("after it: %d tokens, %+v, %v", after.Total, after.Messages[2], err)
	}
	checkRecall(t.Context(), t, e, data, "pool.json", in.Session)
	why, err := e.Why(t.Context(), scope, &carrel.BlockRequest{Block: ids[0]})
	if err != nil {
		t.Fatal(err)
	}
	if last := why.History[len(why.History)-1]; last.Op != res.Op || last.Kind != "discard" || last.Decision.Step != "discard-one-off" {
		t.Errorf("why says %+v of it", last)
	}
	lines, err := e.Contract(t.Context(), scope, &carrel.SessionRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	state, err := contract.Replay(slices.Values(lines.Statements))
	if err != nil {
		t.Fatal(err)
	}
	if n := state.Count(contract.Evicted); n != 2 {
		t.Errorf("the contract has %d blocks that left, want 2", n)
	}
	if _, err := e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session}); err != nil || !bytes.Equal(export(t, e, in.Session), data) {
		t.Errorf("undo does not bring the window back: %v", err)
	}
}

func TestDiscardIsRefusedAsAWhole(t *testing.T) {
	e := newEngine(t, stores.New(t))
	data := conversation(t)
	in := load(t, e, data)
	other := load(t, e, body(t, []message{{Role: "user", Content: "Another."}, {Role: "assistant", Content: "Yes."}}))
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: other.Session})
	if err != nil {
		t.Fatal(err)
	}
	id := func(turn int) string { return string(list.Messages[turn-1].ID) }
	var all []string
	for i := range list.Messages {
		all = append(all, id(i+1))
	}
	for _, tt := range []struct {
		name string
		req  carrel.DiscardRequest
		want []string // of reasons
	}{
		{"what a rule keeps", carrel.DiscardRequest{IDs: []string{id(3), id(16)}}, []string{"code edit"}},
		{"the newest words of the user", carrel.DiscardRequest{IDs: []string{id(18)}}, []string{"newest user message"}},
		{"all", carrel.DiscardRequest{IDs: all}, []string{"system text", "first task", "correction", "code edit", "among the last", "newest user", "answer to"}},
		{"twice", carrel.DiscardRequest{IDs: []string{id(3), id(3)[:9]}}, []string{"named twice"}},
		{"another session's", carrel.DiscardRequest{IDs: []string{id(3), elsewhere.Messages[0].ShortID}}, []string{"no block of the conversation"}},
		{"nobody's", carrel.DiscardRequest{Session: in.Session, IDs: []string{"nobody", ""}}, []string{"no block", "no block"}},
		{"what would cross the floor", carrel.DiscardRequest{IDs: []string{id(3)}, Trigger: &pager.Trigger{Floor: list.Total - 1}}, []string{": at most 1 may go"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.req.Trigger == nil {
				tt.req.Trigger = low
			}
			_, err := e.Discard(t.Context(), scope, &tt.req)
			refused, ok := carrel.Refused(err)
			if !errors.Is(err, carrel.ErrPolicy) || !ok || len(refused.Refused) < len(tt.want) {
				t.Fatalf("%v, want it refused for %d reasons", err, len(tt.want))
			}
			for i, want := range tt.want {
				if len(tt.want) == len(refused.Refused) && !strings.Contains(refused.Refused[i].Reason, want) {
					t.Errorf("reason %d is %q, want %q", i, refused.Refused[i].Reason, want)
				}
				if !slices.ContainsFunc(refused.Refused, func(r pager.Refusal) bool { return strings.Contains(r.Reason, want) }) {
					t.Errorf("no reason is %q: %+v", want, refused.Refused)
				}
			}
			if !bytes.Equal(export(t, e, in.Session), data) {
				t.Error("something was changed")
			}
		})
	}
	for name, req := range map[string]*carrel.DiscardRequest{
		"nothing":                    {},
		"named and chosen":           {Session: in.Session, IDs: []string{id(3)}, Auto: true},
		"a target for what is named": {IDs: []string{id(3)}, To: 5},
		"a target below 0":           {Session: in.Session, Auto: true, To: -1},
		"chosen in no session":       {Auto: true},
		"a trigger without sense":    {IDs: []string{id(3)}, Trigger: &pager.Trigger{Floor: -1}},
	} {
		if _, err := e.Discard(t.Context(), scope, req); !errors.Is(err, carrel.ErrRequest) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDiscardChooses(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	req := &carrel.DiscardRequest{Session: in.Session, Auto: true, To: 3000, Trigger: low, DryRun: true}
	first, err := e.Discard(t.Context(), scope, req)
	if err != nil {
		t.Fatal(err)
	}
	second, err := e.Discard(t.Context(), scope, req)
	if diff := cmp.Diff(first, second); diff != "" || err != nil {
		t.Errorf("a second plan is another one: %v\n%s", err, diff)
	}
	req.DryRun = false
	res, err := e.Discard(t.Context(), scope, req)
	if err != nil || res.After > 3000 || res.After < 2000 {
		t.Fatalf("%d tokens are left of %d, want just below 3000: %v", res.After, res.Before, err)
	}
	again, err := e.Discard(t.Context(), scope, req)
	if err != nil || again.Op != "" || len(again.Discarded) > 0 || !again.Continue || !strings.Contains(again.Message, "nothing had to go") {
		t.Errorf("a second discard: %+v, %v", again, err)
	}
	req.To = 999
	if _, err := e.Discard(t.Context(), scope, req); !errors.Is(err, carrel.ErrPolicy) {
		t.Errorf("a target below the floor: %v", err)
	}
}

// Tools of one's own are known by their classes.
func TestDiscardKnowsToolsOfOnesOwn(t *testing.T) {
	table, err := (*tool.Table)(nil).With(map[string]tool.Class{"Bash": tool.Edit})
	if err != nil {
		t.Fatal(err)
	}
	e, err := carrel.New(stores.New(t), &carrel.Options{Counter: quarter{}, Tools: table})
	if err != nil {
		t.Fatal(err)
	}
	in := load(t, e, conversation(t))
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	if b := list.Messages[2]; b.Discardable || b.Rule != pager.RuleEdit {
		t.Errorf("an edit by one's own tool: %+v", b)
	}
}

// Agents that discard what they like, take it back and compress in between never
// pass the floor, and the window is always valid and what the figures say.
func TestDiscardsHoldTheFloor(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		e := newEngine(t, stores.New(t))
		in := load(t, e, conversation(r))
		floor := token.Count(rapid.IntRange(500, 6000).Draw(r, "floor"))
		for range rapid.IntRange(1, 6).Draw(r, "calls") {
			switch rapid.IntRange(0, 4).Draw(r, "before") { // what else an agent does, if it can be done
			case 0:
				_, _ = e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: 5000}})
			case 1:
				_, _ = e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session})
			}
			list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
			if err != nil {
				r.Fatal(err)
			}
			req := &carrel.DiscardRequest{Session: in.Session, Trigger: &pager.Trigger{Floor: floor}}
			if req.Auto = rapid.Bool().Draw(r, "auto"); req.Auto {
				req.To = token.Count(rapid.IntRange(1, 8000).Draw(r, "to"))
			} else {
				for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(list.Messages)-1), 1, 4).Draw(r, "blocks") {
					req.IDs = append(req.IDs, list.Messages[i].ShortID)
				}
			}
			res, err := e.Discard(t.Context(), scope, req)
			if err != nil {
				if _, ok := carrel.Refused(err); !ok {
					r.Fatal(err)
				}
				continue
			}
			now, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
			if err != nil {
				r.Fatal(err)
			}
			sum := now.Total - list.Total
			for i := range now.Messages {
				sum += list.Messages[i].Window - now.Messages[i].Window
				if b := list.Messages[i]; now.Messages[i].Form == pager.Gone && b.Form != pager.Gone && !b.Discardable {
					r.Fatalf("%s went, which is kept: %s", b.ShortID, b.Kept)
				}
			}
			if now.Total != res.After || sum != 0 || len(res.Discarded) > 0 && res.After < floor {
				r.Fatalf("%d tokens are left, %d counted, floor %d", res.After, now.Total, floor)
			}
			if _, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session}); err != nil {
				r.Fatal(err)
			}
		}
	})
}

func TestTrigger(t *testing.T) {
	e, err := carrel.New(stores.New(t), &carrel.Options{Counter: quarter{}, Window: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	in := load(t, e, conversation(t))
	ask := func(tr *pager.Trigger) *carrel.TriggerResult {
		t.Helper()
		res, err := e.Trigger(t.Context(), scope, &carrel.TriggerRequest{Session: in.Session, Trigger: tr})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	if res := ask(nil); !res.Due || res.Action != "compress" || res.Effective != 8000 || res.Messages != 32 || res.Target != 4000 {
		t.Errorf("an overfull window: %+v", res)
	}
	if res := ask(&pager.Trigger{Profile: pager.ProfilePager}); !res.Due || res.Action != "page" || res.Iterations != 3 {
		t.Errorf("by the pager: %+v", res)
	}
	if res := ask(&pager.Trigger{Effective: 1 << 20}); res.Effective != 10_000 {
		t.Errorf("an effective window above the window: %+v", res)
	}
	if _, err := e.Trigger(t.Context(), scope, &carrel.TriggerRequest{Session: in.Session, Trigger: &pager.Trigger{Warn: 900_000}}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("edges that fall: %v", err)
	}
}

func TestTriggerCountsCompressions(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	for i, target := range []token.Count{6000, 5000, 4000} {
		if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: target}}); err != nil {
			t.Fatal(err)
		}
		res, err := e.Trigger(t.Context(), scope, &carrel.TriggerRequest{Session: in.Session})
		if err != nil || res.Cycles != i+1 {
			t.Errorf("after %d compressions: %d, %v", i+1, res.Cycles, err)
		}
	}
	if _, err := e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: in.Session}); err != nil {
		t.Fatal(err)
	}
	res, err := e.Trigger(t.Context(), scope, &carrel.TriggerRequest{Session: in.Session, Trigger: &pager.Trigger{Cycles: 2, Warn: 1, Compress: 1, Critical: 2}})
	if err != nil || res.Cycles != 2 || res.Action != "new-session" || res.Due {
		t.Errorf("after an undo: %+v, %v", res, err)
	}
}
