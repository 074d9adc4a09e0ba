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

// words is the inverse of script. A "!" marks what was made.
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

// Whatever comes in, what goes out is well formed, needs no second repair, and
// holds every call, every text and the text of every result.
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

// everything returns the texts in entries, those of results included.
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
