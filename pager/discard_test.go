package pager

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// standings returns how the blocks of a conversation stand, all of them whole
// but those of the given indexes, which are in other forms.
func standings(msgs []transcript.Message, other map[int]Form) []Standing {
	blocks := transcript.Group("s", 0, msgs)
	forms := make([]Form, len(blocks))
	for i := range forms {
		forms[i] = Whole
		if f, ok := other[i]; ok {
			forms[i] = f
		}
	}
	return Standings(msgs, blocks, Rules(msgs, blocks, &RuleOptions{Last: -1}), forms, nil)
}

func TestStandings(t *testing.T) {
	user, assistant := transcript.RoleUser, transcript.RoleAssistant
	// Each case is between a first task and a newest message with its answer.
	for _, tt := range []struct {
		name  string
		msgs  []transcript.Message
		forms map[int]Form // by block, the task being 0
		want  []string     // rule, or disposal and "stale"
	}{
		{
			"the classes of the seed",
			slices.Concat(
				tool1("1", "request_context", `{"path":"a.go"}`, "…"), tool1("2", "run_command", `{"command":"npm test"}`, "…"),
				tool1("3", "execute_code", `{"code":"1+1"}`, "2"), tool1("4", "generate_title", `{}`, "ok"),
				[]transcript.Message{say(user, "go on"), say(assistant, "going")},
				tool1("5", "run_command", `{"command":"npm install"}`, "…"), tool1("6", "ask", `{}`, "…"),
			),
			nil,
			[]string{"read", "one-off", "check", "title", "answered", "reply", "command", "tool"},
		},
		{
			"plans and conclusions are kept, old ones, too",
			slices.Concat(tool1("1", "write_todo", `{"n":1}`, "ok"), tool1("2", "write_todo", `{"n":2}`, "ok"), tool1("3", "final", `{}`, "ok")),
			nil,
			[]string{"plan", "plan", "plan"},
		},
		{
			"an edit is stronger than a plan in one reply",
			slices.Concat(
				[]transcript.Message{
					{Role: assistant, Parts: []transcript.Part{
						transcript.ToolCall{ID: "1", Name: "quick_edit", Input: []byte(`{"path":"a.go"}`)},
						transcript.ToolCall{ID: "2", Name: "write_todo", Input: []byte(`{"n":1}`)},
					}},
					answer("1", "ok", false), answer("2", "ok", false),
				},
				tool1("3", "quick_edit", `{"path":"a.go"}`, "ok"), tool1("4", "write_todo", `{"n":2}`, "ok"),
			),
			nil,
			[]string{"edit", "edit", "plan"},
		},
		{
			"edits of a part make no other void",
			slices.Concat(tool1("1", "quick_edit", `{"path":"a.go"}`, "ok"), tool1("2", "quick_edit", `{"path":"./a.go"}`, "ok")),
			nil,
			[]string{"edit", "edit"},
		},
		{
			"an overwritten or deleted file is",
			slices.Concat(
				tool1("1", "quick_edit", `{"path":"a.go"}`, "ok"), tool1("2", "quick_edit", `{"path":"b.go"}`, "ok"),
				tool1("3", "create_file", `{"path":"c.go"}`, "ok"), tool1("4", "overwrite_file", `{"path":"a.go"}`, "ok"),
				tool1("5", "delete_file", `{"path":"b.go"}`, "ok"),
				tool1("6", "str_replace_editor", `{"command":"create","path":"c.go"}`, "ok"),
			),
			nil,
			[]string{"tool", "tool", "tool", "edit", "edit", "edit"},
		},
		{
			"but not if the overwriting left the window, failed or has no result",
			slices.Concat(
				tool1("1", "quick_edit", `{"path":"a.go"}`, "ok"), tool1("2", "quick_edit", `{"path":"b.go"}`, "ok"),
				tool1("3", "quick_edit", `{"path":"c.go"}`, "ok"), tool1("4", "quick_edit", `{"path":"d.go"}`, "ok"),
				tool1("5", "overwrite_file", `{"path":"a.go"}`, "ok"), tool1("6", "overwrite_file", `{"path":"b.go"}`, "ok"),
				[]transcript.Message{call("7", "overwrite_file", `{"path":"c.go"}`), answer("7", "no such folder", true)},
				tool1("8", "overwrite_file", `{"path":"d.go"}`, "Error: disk is full"),
			),
			map[int]Form{5: Gone, 6: Line},
			[]string{"edit", "edit", "edit", "edit", "edit", "edit", "tool", "edit"},
		},
		{
			"an overwriting with its results cut still shows the file",
			slices.Concat(tool1("1", "quick_edit", `{"path":"a.go"}`, "ok"), tool1("2", "overwrite_file", `{"path":"a.go"}`, "ok")),
			map[int]Form{2: Calls},
			[]string{"tool", "edit"},
		},
		{
			"edits by the words of a command are kept",
			tool1("1", "bash", `{"command":"cat > a.go <<'EOF'\npackage a\nEOF"}`, ""),
			nil,
			[]string{"edit"},
		},
		{
			"a read is stale if its file was edited or read again",
			slices.Concat(
				tool1("1", "Read", `{"file_path":"a.go"}`, "…"), tool1("2", "Read", `{"file_path":"b.go"}`, "…"),
				tool1("3", "Grep", `{"pattern":"x"}`, "…"), tool1("4", "Read", `{"file_path":"c.go"}`, "…"),
				tool1("5", "Edit", `{"file_path":"a.go"}`, "ok"), tool1("6", "Read", `{"file_path":"b.go"}`, "…"),
				tool1("7", "Grep", `{"pattern":"x"}`, "…"),
			),
			nil,
			[]string{"read stale", "read stale", "read stale", "read", "edit", "read", "read"},
		},
		{
			"a command that only reads files is a read",
			slices.Concat(
				tool1("1", "bash", `{"command":"cd web && cat a.go | head -20"}`, "…"), tool1("2", "bash", `{"command":"rg -n x b.go"}`, "…"),
				tool1("3", "bash", `{"command":"cat c.go d.go"}`, "…"), tool1("4", "bash", `{"command":"cat e.go && go test ./..."}`, "…"),
				tool1("5", "bash", `{"command":"cat f.go"}`, "…"), tool1("6", "Edit", `{"file_path":"web/a.go"}`, "ok"),
				tool1("7", "Read", `{"file_path":"b.go"}`, "…"), tool1("8", "bash", `{"command":"sed -n 1,5p c.go"}`, "…"),
				tool1("9", "bash", `{"command":"(cd . && sed -i s/a/b/ f.go)"}`, ""), tool1("10", "bash", `{"command":"grep x e.go"}`, "…"),
			),
			nil,
			[]string{"read stale", "read stale", "read", "one-off", "read stale", "edit", "read", "read", "edit", "read"},
		},
		{
			"a search shows not the whole file, a read does",
			slices.Concat(
				tool1("1", "Read", `{"file_path":"a.go"}`, "…"), tool1("2", "bash", `{"command":"grep x a.go"}`, "…"),
				tool1("3", "Read", `{"file_path":"b.go"}`, "…"), tool1("4", "bash", `{"command":"cat b.go"}`, "…"),
				tool1("5", "Read", `{"file_path":"c.go"}`, "…"), tool1("6", "bash", `{"command":"make > c.go"}`, "…"),
				tool1("7", "Read", `{"file_path":"d.go"}`, "…"), tool1("8", "bash", `{"command":"make d.go < d.go"}`, "…"),
				tool1("9", "Read", `{"file_path":"e.go"}`, "…"), tool1("10", "Grep", `{"pattern":"x","path":"e.go"}`, "…"),
				tool1("11", "Grep", `{"pattern":"y","path":"e.go"}`, "…"),
			),
			nil,
			[]string{"read", "read", "read stale", "read", "read stale", "command", "read", "command", "read", "read", "read"},
		},
		{
			"a read is not stale by what has left, nor one of two files if one of them is",
			slices.Concat(
				tool1("1", "Read", `{"file_path":"a.go"}`, "…"), tool1("2", "Read", `{"file_path":"a.go"}`, "…"),
				tool1("3", "bash", `{"command":"cat b.go c.go"}`, "…"), tool1("4", "Read", `{"file_path":"b.go"}`, "…"),
				tool1("5", "Read", `{"file_path":"d.go"}`, "…"), tool1("6", "Read", `{"file_path":"./d.go"}`, "…"),
			),
			map[int]Form{2: Gone, 6: Line},
			[]string{"read", "read", "read", "read", "read stale", "read"},
		},
		{
			"a read is not stale by a call that failed",
			slices.Concat(
				tool1("1", "Read", `{"file_path":"a.go"}`, "…"), tool1("2", "Read", `{"file_path":"b.go"}`, "…"), tool1("3", "bash", `{"command":"cat c.go"}`, "…"),
				[]transcript.Message{
					call("4", "Edit", `{"file_path":"a.go"}`), answer("4", "String to replace not found", true),
					call("5", "Read", `{"file_path":"b.go"}`), answer("5", "no access", true),
					call("6", "bash", `{"command":"sed -i s/a/b/ c.go"}`), answer("6", "sed: no space left", true),
				},
			),
			nil,
			[]string{"read", "read", "read", "tool", "read", "command"},
		},
		{
			"an overwriting without a path makes nothing void, and one that failed is no edit",
			[]transcript.Message{
				call("1", "quick_edit", `{}`), answer("1", "ok", false), call("2", "overwrite_file", `{}`), answer("2", "ok", false),
				call("3", "quick_edit", `{"path":"a.go"}`), answer("3", "no match", true), call("4", "write_todo", `{}`), answer("4", "failed", true),
			},
			nil,
			[]string{"edit", "edit", "tool", "plan"},
		},
		{
			"calls without a file are about what they ask",
			slices.Concat(
				tool1("1", "Read", `{}`, "…"), tool1("2", "Read", `{"x":1}`, "…"), tool1("3", "Read", `{"x":1}`, "…"),
				tool1("4", "bash", `{"command":"cat <"}`, "…"), []transcript.Message{answer("zz", "…", false)},
			),
			nil,
			[]string{"read", "read stale", "read", "command", "tool"},
		},
		{
			"an overwriting that was never answered makes nothing void",
			[]transcript.Message{
				call("1", "quick_edit", `{"path":"a.go"}`), answer("1", "ok", false),
				{Role: assistant, Parts: []transcript.Part{
					transcript.ToolCall{ID: "2", Name: "overwrite_file", Input: []byte(`{"path":"a.go"}`)},
					transcript.ToolCall{ID: "3", Name: "Read", Input: []byte(`{"path":"b.go"}`)},
				}},
				answer("3", "…", false),
			},
			nil,
			[]string{"edit", "edit"},
		},
		{
			"a reply with several calls goes with the last of them",
			[]transcript.Message{
				{Role: assistant, Parts: []transcript.Part{
					transcript.ToolCall{ID: "1", Name: "Read", Input: []byte(`{"file_path":"a.go"}`)},
					transcript.ToolCall{ID: "2", Name: "Bash", Input: []byte(`{"command":"make deploy"}`)},
				}},
				answer("1", "…", false), answer("2", "…", false),
			},
			nil,
			[]string{"command"},
		},
		{
			"corrections are kept, and summaries",
			[]transcript.Message{
				say(user, "No, use the other port."), say(assistant, "yes"),
				{Role: user, Summary: true, Parts: []transcript.Part{transcript.Text("so far: all")}},
			},
			nil,
			[]string{"correction", "reply", "summary"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			msgs := slices.Concat([]transcript.Message{say(user, "build it")}, tt.msgs, []transcript.Message{say(user, "last"), say(assistant, "done")})
			all := standings(msgs, tt.forms)
			var got []string
			for _, s := range all[1 : len(all)-2] {
				switch {
				case s.Rule != "":
					got = append(got, string(s.Rule))
				case s.Stale:
					got = append(got, string(s.Disposal)+" stale")
				default:
					got = append(got, string(s.Disposal))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("standings (-want +got):\n%s", diff)
			}
			for i, want := range map[int]Rule{0: RuleFirstTask, len(all) - 2: ruleNewestUser, len(all) - 1: ruleNewest} {
				if all[i].Rule != want {
					t.Errorf("block %d is under %q, want %q", i, all[i].Rule, want)
				}
			}
		})
	}
}

// tool1 returns a reply with one call, and its result.
func tool1(id, name, input, result string) []transcript.Message {
	return []transcript.Message{call(id, name, input), answer(id, result, false)}
}

func TestUnansweredMessagesAreKept(t *testing.T) {
	msgs := []transcript.Message{
		say(transcript.RoleUser, "build it"), say(transcript.RoleAssistant, "built"), say(transcript.RoleUser, "test it"), say(transcript.RoleUser, "and lint it"),
	}
	for i, want := range []Rule{RuleFirstTask, "", ruleNewestUser, ruleNewestUser} {
		if got := standings(msgs, nil)[i].Rule; got != want {
			t.Errorf("block %d is under %q, want %q", i, got, want)
		}
	}
}

// block returns a standing of a size.
func block(turn int, d Disposal, tokens token.Count) Standing {
	return Standing{ID: transcript.BlockID(fmt.Sprintf("%02x", turn)), Turn: turn, Form: Whole, Disposal: d, Tokens: tokens}
}

func TestAutomaticDiscard(t *testing.T) {
	stale := func(s Standing) Standing { s.Stale = true; return s }
	kept := func(s Standing, r Rule) Standing { s.Rule = r; return s }
	all := []Standing{
		kept(block(1, disposeAnswered, 100), RuleFirstTask),
		block(2, disposeReply, 100), block(3, disposeTool, 100), block(4, disposeCommand, 100), block(5, disposeAnswered, 100),
		block(6, disposeTitle, 100), block(7, disposeCheck, 100), block(8, disposeOneOff, 100), block(9, disposeRead, 100),
		stale(block(10, disposeRead, 100)), block(11, disposeRead, 100),
		kept(block(12, disposeTool, 100), RuleEdit),
	}
	for _, tt := range []struct {
		name          string
		blocks        []Standing
		target, floor token.Count
		want          []int // turns
		after         token.Count
	}{
		{"in the order of the seed, stale reads first", all, 210, 200, []int{10, 9, 11, 8, 7, 6, 5, 4, 3, 2}, 200},
		{"as many as needed", all, 1000, 100, []int{10, 9}, 1000},
		{"one more for one token", all, 999, 100, []int{10, 9, 11}, 900},
		{"none if it fits", all, 1200, 100, nil, 1200},
		{
			"a block that would cross the floor stays, a smaller one goes",
			[]Standing{block(1, disposeRead, 500), block(2, disposeOneOff, 100), block(3, disposeOneOff, 50)},
			550, 500,
			[]int{2},
			550,
		},
		{
			"what may go if it does not suffice",
			[]Standing{block(1, disposeRead, 500), block(2, disposeOneOff, 100), block(3, disposeOneOff, 50)},
			110, 110,
			[]int{1},
			150,
		},
		{
			"what is not in the window does not go",
			[]Standing{{ID: "01", Turn: 1, Form: Gone, Disposal: disposeRead}, block(2, disposeReply, 9), block(3, disposeReply, 9)},
			10, 1,
			[]int{2},
			9,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := PlanDiscard(&DiscardRequest{Blocks: tt.blocks, Auto: true, Target: tt.target, Floor: tt.floor})
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, d := range p.Discards {
				got = append(got, d.Turn)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || p.After != tt.after {
				t.Errorf("after %d, want %d; turns (-want +got):\n%s", p.After, tt.after, diff)
			}
		})
	}
	_, err := PlanDiscard(&DiscardRequest{Blocks: all, Auto: true, Target: 99, Floor: 100})
	if e, ok := errors.AsType[*DiscardError](err); !ok || e.Target != 99 || !strings.Contains(err.Error(), "below the floor of 100") {
		t.Errorf("a target below the floor: %v", err)
	}
}

func TestNamedDiscard(t *testing.T) {
	pinned := block(2, disposeRead, 100)
	pinned.Rule = RulePin
	gone := Standing{ID: "05", Turn: 5, Form: Gone, Disposal: disposeRead}
	blocks := []Standing{block(1, disposeRead, 100), pinned, block(3, disposeOneOff, 100), block(4, disposeReply, 100), gone}
	for _, tt := range []struct {
		name  string
		ids   []transcript.BlockID
		floor token.Count
		want  []Refusal
	}{
		{"what nothing keeps goes", []transcript.BlockID{"04", "01"}, 200, nil},
		{"what a rule keeps does not, nor what is named with it", []transcript.BlockID{"01", "02"}, 0, []Refusal{{"02", RulePin, "is pinned"}}},
		{
			"all that is refused is listed",
			[]transcript.BlockID{"01", "05", "01", "zz", "02"},
			0,
			[]Refusal{{"05", "", "is not in the window"}, {"01", "", "is named twice"}, {"zz", "", "is not in the window"}, {"02", RulePin, "is pinned"}},
		},
		{
			"nothing passes the floor",
			[]transcript.BlockID{"01", "03"},
			201,
			[]Refusal{
				{"01", "", "would, with the others, leave a window of 200 tokens, and the floor is 201: at most 199 may go"},
				{"03", "", "would, with the others, leave a window of 200 tokens, and the floor is 201: at most 199 may go"},
			},
		},
		{"from below the floor, nothing goes", []transcript.BlockID{"01"}, 500, []Refusal{{"01", "", "would leave a window of 300 tokens, and the floor is 500: nothing may go"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := PlanDiscard(&DiscardRequest{Blocks: blocks, IDs: tt.ids, Floor: tt.floor})
			if tt.want == nil {
				if err != nil || len(p.Discards) != len(tt.ids) || p.Discards[0].Block != tt.ids[0] || p.After != 200 {
					t.Fatalf("plan %+v, %v", p, err)
				}
				return
			}
			e, ok := errors.AsType[*DiscardError](err)
			if !ok {
				t.Fatalf("plan %+v, %v; want it refused", p, err)
			}
			if diff := cmp.Diff(tt.want, e.Refused); diff != "" {
				t.Errorf("refused (-want +got):\n%s", diff)
			}
		})
	}
}

// An error about a discard names one block, and how many there are.
func TestDiscardErrorIsShort(t *testing.T) {
	for n, want := range map[int]string{
		1: "1 of 9 blocks may not be discarded: b0 is pinned",
		3: "3 of 9 blocks may not be discarded; the first of them, b0, is pinned",
	} {
		e := &DiscardError{Named: 9, Before: 5, Floor: 3}
		for i := range n {
			e.Refused = append(e.Refused, Refusal{fmt.Sprint("b", i), RulePin, "is pinned"})
		}
		if got := e.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		e.Paging = true
		if got, want := e.Error(), strings.ReplaceAll(want, "discarded", "paged"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for floor, want := range map[token.Count]string{4: "leave a window of 2 tokens, and the floor is 4: at most 1 may go", 5: "leave a window of 2 tokens, and the floor is 5: nothing may go"} {
		if got := (&discarding{DiscardRequest: &DiscardRequest{Floor: floor}, before: 5}).belowFloor(2); !strings.HasSuffix(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	for target, want := range map[token.Count]string{0: "target of 1 tokens is below the floor of 100", 5: "target of 5 tokens is below the floor of 100"} {
		_, err := PlanDiscard(&DiscardRequest{Auto: true, Target: target, Floor: 100})
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if _, err := PlanDiscard(&DiscardRequest{Auto: true, Target: 100, Floor: 100}); err != nil {
		t.Errorf("a target that is the floor: %v", err)
	}
}

// An automatic discard leaves blocks without tokens, and a block without a disposal cannot
// be discarded by name.
func TestDiscardLeavesWhatIsNothing(t *testing.T) {
	blocks := []Standing{block(1, disposeRead, 0), block(2, disposeRead, 1), block(3, "", 50), block(4, disposeReply, 49)}
	p, err := PlanDiscard(&DiscardRequest{Blocks: blocks, Auto: true, Target: 50})
	if err != nil || p.After != 50 || p.Before != 100 || len(p.Discards) != 2 || p.Discards[0].Turn != 2 || p.Discards[1].Turn != 4 {
		t.Errorf("plan %+v, %v", p, err)
	}
	_, err = PlanDiscard(&DiscardRequest{Blocks: blocks, IDs: []transcript.BlockID{"03"}})
	e, ok := errors.AsType[*DiscardError](err)
	if want := []Refusal{{"03", "", "is never discarded"}}; !ok || cmp.Diff(want, e.Refused) != "" || e.Before != 100 || e.Named != 1 {
		t.Errorf("refused %+v", err)
	}
	if p, err := PlanDiscard(&DiscardRequest{Blocks: blocks, IDs: []transcript.BlockID{"01"}}); err != nil || p.After != 100 {
		t.Errorf("plan %+v, %v", p, err)
	}
	if p, err := PlanDiscard(&DiscardRequest{Blocks: blocks, Floor: 1000}); err != nil || p.After != 100 || p.Discards != nil {
		t.Errorf("nothing that is named: plan %+v, %v", p, err)
	}
}

// Blocks go by class, stale reads first, then the older, the larger and those with the
// lower id; each says why.
func TestDiscardOrder(t *testing.T) {
	stale := block(9, disposeRead, 5)
	stale.Stale = true
	large, low, high := block(2, disposeCheck, 9), block(2, disposeCheck, 5), block(2, disposeCheck, 5)
	large.ID, low.ID, high.ID = "z", "x", "y"
	blocks := []Standing{block(1, disposeReply, 5), high, low, large, block(3, disposeRead, 5), block(4, disposeCheck, 50), stale}
	p, err := PlanDiscard(&DiscardRequest{Blocks: blocks, Auto: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range p.Discards {
		got = append(got, fmt.Sprintf("%s %d %d %s", d.Block, d.Priority, d.Tokens, d.Reason))
	}
	want := []string{
		"09 1 5 output of a reading tool for what was examined, edited or read again since", "03 1 5 output of a reading tool for what was examined",
		"z 3 9 output of a quick check", "x 3 5 output of a quick check", "y 3 5 output of a quick check", "04 3 50 output of a quick check", "01 8 5 older reply",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("discards (-want +got):\n%s", diff)
	}
	if Disposal("").Priority() != 0 || Disposal("").words() != "" {
		t.Error("what is never discarded has a place in the order")
	}
}

// Blocks after a discarded block lose their thinking, and the plan counts its tokens.
func TestThinkingBehindADiscardGoes(t *testing.T) {
	blocks := []Standing{block(1, disposeReply, 100), block(2, disposeRead, 100), block(3, disposeReply, 100), block(4, disposeReply, 100)}
	for i := range blocks {
		blocks[i].Thinking = 40
	}
	blocks[3].Rule = RuleRecent
	p, err := PlanDiscard(&DiscardRequest{Blocks: blocks, IDs: []transcript.BlockID{"02"}, Floor: 220})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]transcript.BlockID{"03", "04"}, p.Bare); diff != "" || p.Thinking != 80 || p.After != 220 {
		t.Errorf("after %d, %d thinking (-want +got):\n%s", p.After, p.Thinking, diff)
	}
	if _, err := PlanDiscard(&DiscardRequest{Blocks: blocks, IDs: []transcript.BlockID{"02"}, Floor: 221}); err == nil {
		t.Error("thinking that goes is not counted for the floor")
	}
}

// A desk is a window from which agents discard blocks.
type desk struct {
	blocks       []Standing
	fixed, floor token.Count
}

func drawDesk(t *rapid.T) *desk {
	d := &desk{fixed: token.Count(rapid.IntRange(0, 50).Draw(t, "fixed")), floor: token.Count(rapid.IntRange(0, 4000).Draw(t, "floor"))}
	rules := []Rule{"", "", "", "", RulePin, RuleEdit, rulePlan, RuleRecent, RuleCorrection}
	for i := range rapid.IntRange(0, 25).Draw(t, "blocks") {
		b := block(i+1, disposals[rapid.IntRange(0, len(disposals)-1).Draw(t, "disposal")].disposal, token.Count(rapid.IntRange(0, 900).Draw(t, "tokens")))
		b.Rule = rapid.SampledFrom(rules).Draw(t, "rule")
		b.Stale = b.Disposal == disposeRead && rapid.Bool().Draw(t, "stale")
		if !b.Rule.Hard() {
			b.Thinking = token.Count(rapid.IntRange(0, int(b.Tokens)).Draw(t, "thinking"))
		}
		d.blocks = append(d.blocks, b)
	}
	return d
}

// tokens returns the size of the window, counted anew.
func (d *desk) tokens() token.Count {
	n := d.fixed
	for i := range d.blocks {
		n += d.blocks[i].Tokens
	}
	return n
}

// carryOut does what a plan says.
func (d *desk) carryOut(p *DiscardPlan) {
	for i := range d.blocks {
		b := &d.blocks[i]
		if slices.ContainsFunc(p.Discards, func(x Discard) bool { return x.Block == b.ID }) {
			b.Form, b.Tokens, b.Thinking = Gone, 0, 0
		} else if slices.Contains(p.Bare, b.ID) {
			b.Form, b.Tokens, b.Thinking = Bare, b.Tokens-b.Thinking, 0
		}
	}
}

// agents name blocks to discard, each in its way.
var agents = map[string]func(d *desk, rnd *rand.Rand) []transcript.BlockID{
	"greedy": func(d *desk, _ *rand.Rand) []transcript.BlockID { // the largest that is still there
		largest := -1
		for i := range d.blocks {
			if d.blocks[i].Rule == "" && d.blocks[i].Form != Gone && (largest < 0 || d.blocks[i].Tokens > d.blocks[largest].Tokens) {
				largest = i
			}
		}
		if largest < 0 {
			return nil
		}
		return []transcript.BlockID{d.blocks[largest].ID}
	},
	"everything": func(d *desk, _ *rand.Rand) []transcript.BlockID {
		var ids []transcript.BlockID
		for i := range d.blocks {
			ids = append(ids, d.blocks[i].ID)
		}
		return ids
	},
	"random": func(d *desk, rnd *rand.Rand) []transcript.BlockID {
		var ids []transcript.BlockID
		for i := range d.blocks {
			if rnd.IntN(4) == 0 {
				ids = append(ids, d.blocks[i].ID)
			}
		}
		return ids
	},
	"malicious": func(d *desk, rnd *rand.Rand) []transcript.BlockID {
		ids := []transcript.BlockID{"", "zz", "0"}[:rnd.IntN(4)]
		for range rnd.IntN(6) {
			if len(d.blocks) > 0 {
				id := d.blocks[rnd.IntN(len(d.blocks))].ID
				ids = append(ids, id, id)[:len(ids)+1+rnd.IntN(2)]
			}
		}
		return ids
	},
}

// No sequence of discards takes the window below the floor or removes a block under a
// rule; a refused discard changes nothing; a discard has exactly the planned result.
func TestNoAgentPassesTheFloorOrARule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDesk(t)
		name := rapid.SampledFrom([]string{"greedy", "everything", "random", "malicious"}).Draw(t, "agent")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for range 12 {
			before := d.tokens()
			r := &DiscardRequest{Blocks: slices.Clone(d.blocks), Fixed: d.fixed, Floor: d.floor, IDs: agents[name](d, rnd)}
			if rnd.IntN(4) == 0 {
				r.Auto, r.Target, r.IDs = true, token.Count(rnd.IntN(6000)), nil
			}
			p, err := PlanDiscard(r)
			if diff := cmp.Diff(d.blocks, r.Blocks); diff != "" {
				t.Fatalf("planning changed the request:\n%s", diff)
			}
			if err != nil {
				if e, ok := errors.AsType[*DiscardError](err); !ok || len(e.Refused) == 0 && e.Target == 0 {
					t.Fatalf("refused without a reason: %v", err)
				}
				continue
			}
			if p.Before != before {
				t.Fatalf("plan begins with %d tokens of %d", p.Before, before)
			}
			for _, x := range p.Discards {
				b := d.blocks[x.Turn-1]
				if b.Rule != "" || b.Form == Gone {
					t.Fatalf("%s discarded %+v", name, b)
				}
			}
			d.carryOut(p)
			switch after := d.tokens(); {
			case after != p.After:
				t.Fatalf("the window has %d tokens, the plan %d", after, p.After)
			case len(p.Discards) > 0 && after < d.floor:
				t.Fatalf("%s passed the floor: %d tokens, floor %d", name, after, d.floor)
			case r.Auto && len(p.Discards) > 0 && before <= r.Target:
				t.Fatalf("took from %d tokens, target %d", before, r.Target)
			}
		}
	})
}

// An automatic discard takes no block more than it needs, and a larger target
// takes a beginning of what a smaller one does where no block is too large for
// the floor.
func TestAutomaticDiscardTakesABeginning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDesk(t)
		low := rapid.IntRange(int(d.floor), 8000).Draw(t, "low")
		high := rapid.IntRange(low, 9000).Draw(t, "high")
		plan := func(target int) *DiscardPlan {
			p, err := PlanDiscard(&DiscardRequest{Blocks: d.blocks, Fixed: d.fixed, Floor: d.floor, Auto: true, Target: token.Count(target)})
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		more, fewer := plan(low), plan(high)
		if n := len(fewer.Discards); n > len(more.Discards) || !slices.Equal(more.Discards[:n], fewer.Discards) {
			t.Errorf("a target of %d takes %v, one of %d %v", low, more.Discards, high, fewer.Discards)
		}
		if n := len(more.Discards); n > 0 {
			all := make([]transcript.BlockID, 0, n)
			for _, x := range more.Discards[:n-1] {
				all = append(all, x.Block)
			}
			without, err := PlanDiscard(&DiscardRequest{Blocks: d.blocks, Fixed: d.fixed, Floor: d.floor, IDs: all})
			if err != nil || without.After <= token.Count(low) {
				t.Errorf("the last block was not needed: %v", err)
			}
		}
		if diff := cmp.Diff(more, plan(low)); diff != "" {
			t.Errorf("two plans of one window (-first +second):\n%s", diff)
		}
	})
}
