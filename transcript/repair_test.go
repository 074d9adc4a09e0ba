package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// script reads a conversation written as words: "u" is a user's text, "s" the
// system's, "a" a reply, "a:x,y" a reply that calls x and y, and "r:x,y" a
// message with their results. A "+" at the end adds a text.
func script(text string) []Entry {
	var entries []Entry
	for i, word := range strings.Fields(text) {
		kind, ids, _ := strings.Cut(word, ":")
		ids, more := strings.CutSuffix(ids, "+")
		role := map[string]Role{"u": RoleUser, "s": RoleSystem, "a": RoleAssistant, "r": RoleTool}[kind]
		m := &Message{Role: role}
		if kind != "r" {
			m.Parts = append(m.Parts, Text(fmt.Sprintf("text %d", i)))
		}
		for k, id := range strings.Split(ids, ",") {
			switch {
			case id == "":
			case kind == "r":
				m.Parts = append(m.Parts, ToolResult{CallID: id, Content: []Part{Text(fmt.Sprintf("result %d.%d", i, k))}})
			default:
				m.Parts = append(m.Parts, ToolCall{ID: id, Name: "run"})
			}
		}
		if more {
			m.Parts = append(m.Parts, Text("more"))
		}
		entries = append(entries, Keep(m, ""))
	}
	return entries
}

// words is the inverse of script. A "!" marks entries that the repair created.
func words(entries []Entry) string {
	var list []string
	for i := range entries {
		e := &entries[i]
		word := map[Role]string{RoleUser: "u", RoleSystem: "s", RoleAssistant: "a", RoleTool: "r"}[e.Role]
		var ids []string
		for _, c := range e.Calls() {
			ids = append(ids, c.ID)
		}
		for _, r := range e.Results() {
			ids = append(ids, r.CallID)
		}
		if len(ids) > 0 {
			word += ":" + strings.Join(ids, ",")
		}
		if e.Role == RoleTool && len(e.Results()) < len(e.Parts) {
			word += "+"
		}
		if e.Source == nil {
			word += "!"
		}
		list = append(list, word)
	}
	return strings.Join(list, " ")
}

func TestRepair(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing to do", "s u a:x,y r:x r:y u a", "s u a:x,y r:x r:y u a"},
		{"text behind results is no reason", "u a:x r:x+ a", "u a:x r:x+ a"},
		{"a pending call", "u a:x", "u a:x"},
		{"an interrupted call", "u a:x u", "u a:x r:x! u"},
		{"a reply of which only one call was answered is not pending", "u a:x,y r:x", "u a:x,y r:x r:y!"},
		{"a result behind the user's next word", "u a:x u r:x a", "u a:x r:x u a"},
		{"a result without a call", "u r:x a", "u u! a"},
		{"a result before its call", "u r:x a:x u", "u u! a:x r:x! u"},
		{"a second result", "u a:x r:x r:x a", "u a:x r:x u! a"},
		{"an id used in two replies", "u a:x r:x a:x r:x u", "u a:x r:x a:x_2! r:x_2! u"},
		{"a new name that is taken", "u a:x r:x a:x r:x a:x_2 r:x_2 u", "u a:x r:x a:x_3! r:x_3! a:x_2 r:x_2 u"},
		{"a second result for the newest call with an id", "u a:x a:x r:x r:x u", "u a:x r:x! a:x_2! r:x_2! u! u"},
		{"an id used twice in one reply", "u a:x,x r:x r:x u", "u a:x,x_2! r:x r:x_2! u"},
		{"results of two replies in one message", "u a:x a:y r:x,y u", "u a:x r:x! a:y r:y! u"},
		{"a message without results among results", "u a:x r:+ r:x u", "u a:x r:x u u"},
		{"a valid neighbor keeps its text and bytes", "u a:x r:x+ a:y u", "u a:x r:x+ a:y r:y! u"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, fixes := Repair(script(tt.in))
			if diff := cmp.Diff(tt.want, words(got)); diff != "" {
				t.Errorf("Repair(%s) (-want +got):\n%s", tt.in, diff)
			}
			if changed := tt.in != tt.want; changed != (len(fixes) > 0) {
				t.Errorf("Repair(%s) reports %v", tt.in, fixes)
			}
		})
	}
}

// Repairs are listed in order, each with its place in the repaired list.
func TestRepairTellsWhatItDid(t *testing.T) {
	for _, tt := range []struct {
		in, out string
		fixes   []string
	}{
		{"u a:x u", "u a:x r:x! u", []string{"2 made up a result for an unanswered call"}},
		{"u a:x u r:x a", "u a:x r:x u a", []string{"2 result moved behind its call"}},
		{"u r:x a", "u u! a", []string{"1 result without a call became user text"}},
		{"u a:x r:x r:x a", "u a:x r:x u! a", []string{"3 second result for a call became user text"}},
		{"u a:x r:x,x a", "u a:x r:x! u! a", []string{"2 result moved behind its call", "3 second result for a call became user text"}},
		{"u a:x r:x a:x r:x u", "u a:x r:x a:x_2! r:x_2! u", []string{"3 call id x was used before"}},
		{"u a:x,x,x r:x r:x r:x u", "u a:x,x_2,x_3! r:x r:x_2! r:x_3! u", []string{"1 call id x was used before", "1 call id x was used before"}},
		{"a:x a:y r:y r:x u", "a:x r:x a:y r:y u", []string{"1 result moved behind its call"}},
		{"u a:x r:x,y u", "u a:x r:x! u! u", []string{"2 result moved behind its call", "3 result without a call became user text"}},
		{"u a:x r:y,x u", "u a:x r:x! u! u", []string{"2 result moved behind its call", "3 result without a call became user text"}},
		{"a:x,y u r:y u r:x u", "a:x,y r:x r:y u u u", []string{"1 result moved behind its call", "2 result moved behind its call"}},
		{"a:x u r:x+ u", "a:x r:x! u u! u", []string{"1 result moved behind its call"}},
		{"a:x r:+ r:x+ u", "a:x r:x! u u! u", []string{"1 result moved behind its call"}},
		{"a:x,y r:x r:x,y u", "a:x,y r:x r:y! u! u", []string{"2 result moved behind its call", "3 second result for a call became user text"}},
		{"r:x,x u", "u! u", []string{"0 result without a call became user text", "0 second result for a call became user text"}},
		{"a:x u a:y", "a:x r:x! u a:y", []string{"1 made up a result for an unanswered call"}},
		{"u a:x u r: u r:x", "u a:x r:x u u u", []string{"2 result moved behind its call"}},
		{"a:x,y r:y", "a:x,y r:x! r:y", []string{"1 made up a result for an unanswered call"}},
		{"a:x a:x r:x", "a:x r:x! a:x_2! r:x_2!", []string{"2 call id x was used before", "1 made up a result for an unanswered call"}},
		{"u a:z a:x r:x a:x r:x u", "u a:z r:z! a:x r:x a:x_2! r:x_2! u", []string{"5 call id x was used before", "2 made up a result for an unanswered call"}},
	} {
		got, fixes := Repair(script(tt.in))
		var told []string
		for _, f := range fixes {
			told = append(told, fmt.Sprint(f.Message, " ", f.What))
		}
		if words(got) != tt.out || !slices.Equal(told, tt.fixes) {
			t.Errorf("Repair(%s) =\n%s, want\n%s\nfixes %q, want\n      %q", tt.in, words(got), tt.out, told, tt.fixes)
		}
	}
}

// A call of the provider's own tool and its result become text if a result of another call comes to
// stand between them.
func TestRepairCutsNoReply(t *testing.T) {
	call := Message{Role: RoleAssistant, Parts: []Part{Opaque{Type: "server_tool_use", Raw: []byte(`{"type":"server_tool_use","id":"s"}`)}, ToolCall{ID: "x", Name: "run"}}}
	result := Message{Role: RoleAssistant, Parts: []Part{Opaque{Type: "web_search_tool_result", Raw: []byte(`{"type":"web_search_tool_result","tool_use_id":"s"}`)}}}
	out, fixes := Repair([]Entry{Keep(new(said(RoleUser, "go")), ""), Keep(&call, ""), Keep(&result, "")})
	want := []Fix{
		{Message: 2, What: "made up a result for an unanswered call"},
		{Message: 1, What: "server_tool_use without its result became text"},
		{Message: 3, What: "web_search_tool_result without its call became text"},
	}
	if diff := cmp.Diff(want, fixes); diff != "" || words(out) != "u a:x! r:x! a!" {
		t.Errorf("repaired to %s; repairs (-want +got):\n%s", words(out), diff)
	}
}

// The time of a repair grows with the size of the conversation: with a walk over all calls for each
// result, this would take hours.
func TestRepairOfManyResults(t *testing.T) {
	ids := make([]string, 20_000)
	for i := range ids {
		ids[i] = fmt.Sprint("c", i)
	}
	list := strings.Join(ids, ",")
	out, fixes := Repair(script("u a:" + list + " r:" + list + ",zzz u"))
	if len(out) != len(ids)+4 || len(fixes) != len(ids)+1 {
		t.Errorf("%d entries with %d repairs", len(out), len(fixes))
	}
	out, fixes = Repair(script("u a:" + list + " r:" + strings.Join(ids, " r:") + " u r:zzz"))
	if len(out) != len(ids)+4 || len(fixes) != 1 {
		t.Errorf("%d entries with %d repairs", len(out), len(fixes))
	}
}

// A result in a reply belongs to no call, and a call in a user message is a call.
func TestRepairOfOddRoles(t *testing.T) {
	m := calls("x")
	r := results("x")
	r.Role = RoleAssistant
	entries := []Entry{Keep(&m, "b1"), Keep(&r, "b2"), Keep(new(said(RoleUser, "go on")), "")}
	out, fixes := Repair(entries)
	if len(fixes) == 0 || !wellFormed(out) {
		t.Errorf("repaired to %s with %v", words(out), fixes)
	}
	if words(out) != "a:x r:x! u" || out[1].Role != RoleTool || out[1].Block != "b1" || out[1].Results()[0].Text() != "result of x" {
		t.Errorf("behind the call stands %+v", out[1])
	}
	both := Message{Role: RoleAssistant, Parts: []Part{ToolCall{ID: "x", Name: "run"}, ToolResult{CallID: "x", Content: []Part{Text("mine")}}}}
	out, _ = Repair([]Entry{Keep(&both, ""), Keep(new(said(RoleUser, "go on")), "")})
	if words(out) != "a:x! r:x! u" || !out[1].Results()[0].Error || out[1].Results()[0].Text() != Interrupted || !strings.HasSuffix(out[0].Text(), "\nmine") {
		t.Errorf("repaired to %s: %+v", words(out), out)
	}
	calling := results("x")
	calling.Parts = append(calling.Parts, ToolCall{ID: "y", Name: "run"})
	out, _ = Repair(append(script("a:x u"), Keep(&calling, ""), Keep(new(results("y")), "")))
	if words(out) != "a:x r:x! u u:y! r:y" {
		t.Errorf("repaired to %s", words(out))
	}
	m.Role = RoleUser
	entries = []Entry{Keep(&m, ""), Keep(new(results("x")), ""), Keep(new(said(RoleUser, "go on")), "")}
	if out, fixes := Repair(entries); len(fixes) > 0 || words(out) != "u:x r:x u" {
		t.Errorf("repaired to %s with %v", words(out), fixes)
	}
}

// For any input, the output is valid, needs no second repair, and has every call, every text
// and the text of every result.
func TestRepairLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.Custom(func(t *rapid.T) string {
			ids := rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y", "x_2"}), 0, 3).Draw(t, "ids")
			more := rapid.SampledFrom([]string{"", "+"}).Draw(t, "more")
			kind := rapid.SampledFrom([]string{"u", "s", "a:", "r:", "r:", "a:"}).Draw(t, "kind")
			if strings.HasSuffix(kind, ":") {
				kind += strings.Join(ids, ",") + more
			}
			return kind
		})
		in := strings.Join(rapid.SliceOfN(word, 0, 12).Draw(t, "words"), " ")
		entries := script(in)
		out, _ := Repair(entries)
		if !wellFormed(out) {
			t.Fatalf("Repair(%s) = %s", in, words(out))
		}
		again, fixes := Repair(out)
		if words(again) != words(out) || len(fixes) > 0 {
			t.Fatalf("Repair(%s) = %s, then %s", in, words(out), words(again))
		}
		all := everything(out)
		for _, s := range everything(entries) {
			if !slices.ContainsFunc(all, func(a string) bool { return strings.HasSuffix(a, s) }) {
				t.Fatalf("Repair(%s) = %s lost %q", in, words(out), s)
			}
		}
	})
}

// everything returns the texts in entries, including those of results.
func everything(entries []Entry) []string {
	var texts []string
	for i := range entries {
		for _, p := range entries[i].Parts {
			switch p := p.(type) {
			case Text:
				texts = append(texts, string(p))
			case ToolResult:
				texts = append(texts, p.Text())
			case ToolCall:
				texts = append(texts, p.Name)
			}
		}
	}
	return texts
}
