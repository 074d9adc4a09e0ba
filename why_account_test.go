package carrel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

// Of each block of an account, why lists the units that stand in the window and others that
// do not, each with its reasons; and a compression to the target that it names brings one
// back.
func TestWhyExplainsAnAccount(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, leak(t))
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 10)}, Strategy: carrel.StrategyAccount})
	if err != nil {
		t.Fatal(err)
	}
	window := string(export(t, e, in.Session))
	var missing []carrel.WhyUnit
	var of []string
	kept := 0
	for _, d := range res.Decisions {
		why, err := e.Why(t.Context(), scope, &carrel.BlockRequest{Block: string(d.Block)})
		if err != nil {
			t.Fatal(err)
		}
		w := why.Account
		if w == nil || len(w.Units) > w.Total || w.Kept > w.Total {
			t.Fatalf("turn %d: %+v", d.Turn, w)
		}
		kept += w.Kept
		for i, u := range w.Units {
			switch before := max(i-1, 0); {
			case u.Text == "" || u.Tokens <= 0 || u.Kind == "" || len(u.Because) == 0:
				t.Errorf("turn %d: unit %+v", d.Turn, u)
			case u.Kept && (u.Target > 0 || u.In != "" || !w.Units[before].Kept):
				t.Errorf("turn %d: %q is in the window, and something is to bring it back: %+v", d.Turn, u.Text, u)
			case u.Kept == w.Units[before].Kept && u.Worth > w.Units[before].Worth:
				t.Errorf("turn %d: %q is worth more than the one before it", d.Turn, u.Text)
			case !u.Kept && u.Target > 0:
				missing, of = append(missing, u), append(of, string(d.Block))
			}
		}
	}
	if kept == 0 || len(missing) == 0 {
		t.Fatalf("%d units are in the window, %d are missing", kept, len(missing))
	}
	i := slices.IndexFunc(missing, func(u carrel.WhyUnit) bool { return !strings.Contains(window, quoted(u.Text)) })
	if i < 0 {
		t.Fatal("nothing is missing in the window")
	}
	again, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: missing[i].Target + missing[i].Target/50}, Strategy: carrel.StrategyAccount})
	if err != nil || again.Op == "" {
		t.Fatalf("%+v, %v", again, err)
	}
	why, err := e.Why(t.Context(), scope, &carrel.BlockRequest{Block: of[i]})
	if err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(why.Account.Units, func(u carrel.WhyUnit) bool { return !u.Kept && u.Text == missing[i].Text }) {
		t.Errorf("%q is not back at a target of %d", missing[i].Text, missing[i].Target)
	}
}

// Of a block that keeps its calls, why says which units stand in the window, in a result that was
// shortened or in one that stays.
func TestWhyOfABlockOfCalls(t *testing.T) {
	e := newEngine(t, stores.New(t))
	lamps := func(n int, what string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s %d of the pier burns since %d\n", what, i, i*7)
		}
		return b.String()
	}
	msgs := []message{{Role: "user", Content: "Find out which lamp of the pier is red."}}
	for i := range 6 {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, message{Role: "assistant", Calls: []call{newCall(id, "Bash", `{"command":"burn"}`)}}, message{Role: "tool", CallID: id, Content: lamps(300, "lamp")})
	}
	msgs = append(msgs, message{Role: "assistant", Calls: []call{newCall("long", "Bash", `{"command":"burn -l"}`), newCall("short", "Bash", `{"command":"burn -s"}`)}},
		message{Role: "tool", CallID: "long", Content: lamps(200, "lantern")}, message{Role: "tool", CallID: "short", Content: "beacon 1 is red"})
	in := load(t, e, body(t, msgs))
	if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: 2_000}, KeepLast: -1, Strategy: carrel.StrategyAccount}); err != nil {
		t.Fatal(err)
	}
	list := of(e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session}))(t).Messages
	last := list[len(list)-1]
	if last.Form != pager.Calls {
		t.Fatalf("the last block is %s, want %s", last.Form, pager.Calls)
	}
	var window struct{ Messages []message }
	if err := json.Unmarshal(export(t, e, in.Session), &window); err != nil {
		t.Fatal(err)
	}
	said := window.Messages[len(window.Messages)-2:] // the two results
	w := of(e.Why(t.Context(), scope, &carrel.BlockRequest{Block: string(last.ID)}))(t).Account
	if w == nil || w.Kept == w.Total || said[1].Content != "beacon 1 is red" {
		t.Fatalf("of %+v is in the window; the short result is %q", w, said[1].Content)
	}
	kept := 0
	for _, u := range w.Units {
		line := u.Text[strings.LastIndex(u.Text, "\n")+1:] // the outcome of a call
		there := strings.Contains(said[0].Content, line) || strings.Contains(u.Text, "beacon") || strings.Contains(u.Text, "burn -s")
		if there != u.Kept {
			t.Errorf("%q is in the window: %v, and why says %v", u.Text, there, u.Kept)
		}
		if u.Kept {
			kept++
		}
	}
	if kept < 3 || w.Kept < kept {
		t.Errorf("of %d units in the window there are %d in the list", w.Kept, kept)
	}
}

// A window that is no account has none to explain.
func TestWhyOfAnotherStrategyHasNoAccount(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, leak(t))
	for _, strategy := range []carrel.Strategy{"", carrel.StrategyImportance} {
		if strategy != "" {
			if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 10)}, Strategy: strategy}); err != nil {
				t.Fatal(err)
			}
		}
		why, err := e.Why(t.Context(), scope, &carrel.BlockRequest{Block: string(firstBlock(t, e, in.Session))})
		if err != nil || why.Account != nil {
			t.Errorf("strategy %q: %+v, %v", strategy, why.Account, err)
		}
	}
}

// quoted returns the first line of a text as JSON has it.
func quoted(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	b := bytes.NewBufferString(line)
	return strings.ReplaceAll(b.String(), `"`, `\"`)
}

func firstBlock(t *testing.T, e *carrel.Engine, id transcript.SessionID) transcript.BlockID {
	t.Helper()
	res, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	return res.Messages[0].ID
}
