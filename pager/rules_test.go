package pager

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

// say returns a message with a text.
func say(role transcript.Role, text string) transcript.Message {
	return transcript.Message{Role: role, Parts: []transcript.Part{transcript.Text(text)}}
}

// call returns a reply with one call, and answer its result.
func call(id, name, input string) transcript.Message {
	return transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{
		transcript.ToolCall{ID: id, Name: name, Input: []byte(input)},
	}}
}

func answer(id, text string, failed bool) transcript.Message {
	return transcript.Message{Role: transcript.RoleTool, Parts: []transcript.Part{
		transcript.ToolResult{CallID: id, Content: []transcript.Part{transcript.Text(text)}, Error: failed},
	}}
}

func TestRules(t *testing.T) {
	user, assistant := transcript.RoleUser, transcript.RoleAssistant
	for _, tt := range []struct {
		name string
		msgs []transcript.Message
		opts *RuleOptions
		want []Rule
	}{
		{
			"the frame of a conversation",
			[]transcript.Message{
				say(transcript.RoleSystem, "be brief"), say(user, "build it"), say(assistant, "looking"),
				say(assistant, "built"), say(user, "thanks, now test"), say(assistant, "running"), say(assistant, "tested"),
			},
			&RuleOptions{Last: -1},
			[]Rule{RuleSystem, RuleFirstTask, "", "", ruleNewestUser, "", ruleNewest},
		},
		{
			"the last five are soft, weaker rules last",
			[]transcript.Message{
				say(user, "build it"), say(assistant, "a"), say(assistant, "b"), say(assistant, "c"), say(assistant, "d"),
				say(assistant, "e"), say(assistant, "f"),
			},
			nil,
			[]Rule{ruleNewestUser, "", RuleRecent, RuleRecent, RuleRecent, RuleRecent, ruleNewest},
		},
		{
			"an edit is superseded by the newest block",
			[]transcript.Message{
				say(user, "build it"), call("1", "Edit", `{"file_path":"a.go"}`), answer("1", "ok", false),
				call("2", "Edit", `{"file_path":"a.go"}`), answer("2", "ok", false),
			},
			&RuleOptions{Last: -1},
			[]Rule{ruleNewestUser, "", ruleNewest},
		},
		{
			"an edit beside another call",
			[]transcript.Message{
				say(user, "build it"),
				{Role: assistant, Parts: []transcript.Part{
					transcript.ToolCall{ID: "1", Name: "Read", Input: []byte(`{"file_path":"b.go"}`)},
					transcript.ToolCall{ID: "2", Name: "Edit", Input: []byte(`{"file_path":"a.go"}`)},
				}},
				answer("1", "ok", false), answer("2", "ok", false), say(assistant, "done"),
			},
			&RuleOptions{Last: -1},
			[]Rule{ruleNewestUser, RuleEdit, ruleNewest},
		},
		{
			"a correction stays, what a program says is none",
			[]transcript.Message{
				say(user, "build it"), say(assistant, "a"), say(user, "No, use the other port."), say(assistant, "b"),
				say(user, "<command-name>/clear</command-name> don't"), say(user, "go on"), say(assistant, "c"),
			},
			&RuleOptions{Last: -1},
			[]Rule{RuleFirstTask, "", RuleCorrection, "", "", ruleNewestUser, ruleNewest},
		},
		{
			"an edit is superseded by a later one of the same file, not by one that failed",
			[]transcript.Message{
				say(user, "build it"),
				call("1", "Edit", `{"file_path":"a.go"}`), answer("1", "ok", false),
				call("2", "Write", `{"file_path":"b.go"}`), answer("2", "ok", false),
				call("3", "Edit", `{"file_path":"a.go"}`), answer("3", "ok", false),
				call("4", "Edit", `{"file_path":"b.go"}`), answer("4", "no match", true),
				say(user, "go on"), say(assistant, "done"),
			},
			&RuleOptions{Last: -1},
			[]Rule{RuleFirstTask, "", RuleEdit, RuleEdit, "", ruleNewestUser, ruleNewest},
		},
		{
			"only the newest plan is an anchor",
			[]transcript.Message{
				say(user, "build it"),
				call("1", "TodoWrite", `{"todos":[]}`), answer("1", "ok", false),
				call("2", "mcp__plan__write_todo", `{"todos":[1]}`), answer("2", "ok", false),
				call("3", "TodoWrite", `{"todos":[1]}`), answer("3", "ok", false),
				say(user, "go on"), say(assistant, "done"),
			},
			&RuleOptions{Last: -1},
			[]Rule{RuleFirstTask, "", rulePlan, rulePlan, ruleNewestUser, ruleNewest},
		},
		{
			"an edit is stronger than a plan in the same block",
			[]transcript.Message{
				say(user, "build it"),
				{Role: assistant, Parts: []transcript.Part{
					transcript.ToolCall{ID: "1", Name: "TodoWrite", Input: []byte(`{"todos":[]}`)},
					transcript.ToolCall{ID: "2", Name: "Edit", Input: []byte(`{"file_path":"a.go"}`)},
				}},
				answer("1", "ok", false), answer("2", "ok", false),
				say(user, "go on"), say(assistant, "done"),
			},
			&RuleOptions{Last: -1},
			[]Rule{RuleFirstTask, RuleEdit, ruleNewestUser, ruleNewest},
		},
		{
			"a compaction by the provider is hard, whatever else its block is",
			[]transcript.Message{
				say(user, "build it"),
				{Role: assistant, Parts: []transcript.Part{transcript.Opaque{Type: "compaction", Raw: []byte("{}")}, transcript.ToolCall{ID: "1", Name: "Bash"}}},
				answer("1", "ok", false),
				{Role: assistant, Parts: []transcript.Part{transcript.Opaque{Type: "server_tool_use", Raw: []byte("{}")}}},
				say(user, "go on"), say(assistant, "done"),
			},
			&RuleOptions{Last: -1},
			[]Rule{RuleFirstTask, ruleCompaction, "", ruleNewestUser, ruleNewest},
		},
		{
			"a pending call is hard",
			[]transcript.Message{say(user, "build it"), call("1", "Bash", `{}`)},
			&RuleOptions{Last: -1},
			[]Rule{ruleNewestUser, rulePending},
		},
		{
			"a call in the middle is not pending, and an edit may come first",
			[]transcript.Message{call("1", "Edit", `{"file_path":"a.go"}`), say(user, "build it"), call("2", "Bash", `{}`), say(assistant, "a"), say(user, "go on"), say(assistant, "b")},
			&RuleOptions{Last: -1},
			[]Rule{RuleEdit, RuleFirstTask, "", "", ruleNewestUser, ruleNewest},
		},
		{
			"edits of files that are not known supersede nothing",
			[]transcript.Message{
				say(user, "build it"), call("1", "Edit", `{}`), answer("1", "ok", false), call("2", "Edit", `{}`), answer("2", "ok", false),
				say(user, "go on"), say(assistant, "b"),
			},
			&RuleOptions{Last: -1},
			[]Rule{RuleFirstTask, RuleEdit, RuleEdit, ruleNewestUser, ruleNewest},
		},
		{
			"a picture is a task, nothing at all is none, and what a program says neither",
			[]transcript.Message{
				{Role: user},
				say(user, " "),
				{Role: user, Parts: []transcript.Part{transcript.Media{Kind: "image"}}},
				say(assistant, "a"),
				{Role: user, Parts: []transcript.Part{transcript.Media{Kind: "image"}, transcript.Text("<bash-stdout>x</bash-stdout>")}},
			},
			&RuleOptions{Last: -1},
			[]Rule{"", "", ruleNewestUser, ruleNewest, ""},
		},
		{
			"words behind a tool's result correct, too",
			[]transcript.Message{
				say(user, "build it"), call("1", "Bash", `{}`),
				{Role: transcript.RoleTool, Parts: []transcript.Part{
					transcript.ToolResult{CallID: "1"}, transcript.Text("stop, that is the wrong branch"),
				}},
				say(assistant, "sorry"), say(user, "go on"), say(assistant, "done"),
			},
			&RuleOptions{Last: -1},
			[]Rule{RuleFirstTask, RuleCorrection, "", ruleNewestUser, ruleNewest},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			blocks := transcript.Group("s", 0, tt.msgs)
			if diff := cmp.Diff(tt.want, Rules(tt.msgs, blocks, tt.opts)); diff != "" {
				t.Errorf("rules (-want +got):\n%s", diff)
			}
		})
	}
}

// A tool that edits files and is told to show one is no edit that must stay.
func TestWhatShowsAFileIsNoEdit(t *testing.T) {
	msgs := []transcript.Message{say(transcript.RoleUser, "begin")}
	for id, command := range []string{"str_replace", "view"} {
		name := fmt.Sprint(id)
		msgs = append(msgs, transcript.Message{Role: transcript.RoleAssistant, Parts: []transcript.Part{
			transcript.ToolCall{ID: name, Name: "str_replace_based_edit_tool", Input: fmt.Appendf(nil, `{"command":%q,"path":"a.go"}`, command)},
		}}, transcript.Message{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: name}}})
	}
	msgs = append(msgs, say(transcript.RoleAssistant, "done"))
	blocks := transcript.Group("s", 0, msgs)
	got := Rules(msgs, blocks, &RuleOptions{Last: -1})
	if got[1] != RuleEdit || got[2] != "" {
		t.Errorf("rules of an edit and of a view of its file: %q, %q", got[1], got[2])
	}
}

func TestPinsAreHard(t *testing.T) {
	msgs := []transcript.Message{say(transcript.RoleUser, "a"), say(transcript.RoleAssistant, "b"), say(transcript.RoleUser, "c")}
	blocks := transcript.Group("s", 0, msgs)
	rules := Rules(msgs, blocks, &RuleOptions{Last: -1, Pinned: map[transcript.BlockID]bool{blocks[1].ID: true}})
	if rules[1] != RulePin || !rules[1].Hard() {
		t.Errorf("rule of a pinned block is %q", rules[1])
	}
}

func TestCorrection(t *testing.T) {
	for text, want := range map[string]bool{
		"No, the other one":                       true,
		"no":                                      true,
		"Wrong file.":                             true,
		"Please don't push yet":                   true,
		"From now on use tabs":                    true,
		"That’s not what I asked for":             true,
		"Fine, but don’t push":                    true,
		"hmm, no":                                 true,
		"  Undo that":                             true,
		"donnever do it":                          false, // a part of another word
		"never do it":                             true,
		"No_op is the name":                       false,
		"I said it":                               true,
		"Two corrections: it is red":              true,
		"Ah. Redo it by days":                     true,
		"It has to be red":                        true,
		"Only if it is red":                       true,
		"As long as it is red, fine":              true,
		"Unless it is red":                        true,
		"Red, no later than Friday":               true,
		"Make sure that it is red":                true,
		"Both have to be red":                     true,
		"Please do it again":                      true,
		"Forget the lamp":                         true,
		"OK, forget about it":                     true,
		strings.Repeat("x ", 297) + "never do it": true,  // the last word begins within 600 bytes and ends there
		strings.Repeat("x ", 298) + "never do it": false, // and here it does not
		"nothing to add":                          false, // begins with "no", but is another word
		"Now run the tests":                       false,
		"stopwatch class, please":                 false,
		"[Request interrupted by user]":           false,
		"<local-command-stdout>don't</local-com>": false,
		"": false,
	} {
		if got := Correction(text); got != want {
			t.Errorf("Correction(%q) = %t, want %t", text, got, want)
		}
	}
}

func TestIntent(t *testing.T) {
	in := NewIntent("Fix the pager's score, and the SCORE of block_7")
	if diff := cmp.Diff(Terms{"fix", "pager", "score", "block_7"}, in); diff != "" {
		t.Errorf("NewIntent (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int{2, 0, 1}, in.Hits([]string{"PAGER: block_7 has pager, block_7; scoreboard", "", "a score"})); diff != "" {
		t.Errorf("Hits (-want +got):\n%s", diff)
	}
	texts := []string{"fix pager", "fix score", "fix pager score", "fix"}
	if diff := cmp.Diff(Terms{"pager", "score"}, in.Focus(texts, 2)); diff != "" {
		t.Errorf("Focus (-want +got):\n%s", diff)
	}
}

// Terms are what a pattern finds, and hits are counted by text.
func TestTermsAgainstPattern(t *testing.T) {
	word := regexp.MustCompile(`[A-Za-z0-9_]+`)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aAzZ09_@[`{/:é b-")), 0, 120, -1)
		terms := func(text string) (list []string) {
			for _, w := range word.FindAllString(text, -1) {
				list = append(list, strings.ToLower(w))
			}
			return list
		}
		said := strings.Repeat(text.Draw(t, "text"), rapid.IntRange(1, 3).Draw(t, "times"))
		var want Terms
		for _, w := range terms(said) {
			if len(w) > 1 && !stop.Get()[w] && !slices.Contains(want, w) {
				want = append(want, w)
			}
		}
		in := NewIntent(said, said)
		if diff := cmp.Diff(want, in); diff != "" {
			t.Fatalf("terms of %q (-want +got):\n%s", said, diff)
		}
		texts := rapid.SliceOfN(text, 0, 6).Draw(t, "texts")
		texts = append(texts, said)[rapid.IntRange(0, 1).Draw(t, "without the first")*len(texts):]
		hits := make([]int, len(texts))
		count := make(map[string]int)
		for i, text := range texts {
			for _, term := range in {
				if slices.Contains(terms(text), term) {
					hits[i]++
					count[term]++
				}
			}
		}
		if diff := cmp.Diff(hits, in.Hits(texts)); diff != "" {
			t.Fatalf("hits of %q in %q (-want +got):\n%s", in, texts, diff)
		}
		n := rapid.IntRange(0, 5).Draw(t, "n")
		var focus Terms
		for times := 1; times <= len(texts); times++ {
			for _, term := range in {
				if count[term] == times && len(focus) < n {
					focus = append(focus, term)
				}
			}
		}
		if got := in.Focus(texts, n); !slices.Equal(focus, got) {
			t.Fatalf("the focus of %q on %q is %q, want %q", in, texts, got, focus)
		}
		if got := in.FocusBy(Spread(texts), n); !slices.Equal(focus, got) {
			t.Fatalf("the focus of %q by the spread of %q is %q, want %q", in, texts, got, focus)
		}
	})
}

// Without a user message, no block is the newest user message, its answer or the first task.
func TestRulesWithoutAUser(t *testing.T) {
	var msgs []transcript.Message
	for range 7 {
		msgs = append(msgs, say(transcript.RoleAssistant, "I go on."))
	}
	blocks := transcript.Group("s", 0, msgs)
	for i, r := range Rules(msgs, blocks, &RuleOptions{Last: -1}) {
		if r != "" {
			t.Errorf("block %d is under rule %s, want none", i, r)
		}
	}
	for last, want := range map[int]int{1: 1, 2: 2, 6: 6, 7: 7, 9: 7, -1: 0, 0: 5} { // 0 is the default
		n := 0
		for i, r := range Rules(msgs, blocks, &RuleOptions{Last: last}) {
			if r != "" {
				n++
				if i < len(msgs)-want {
					t.Errorf("last %d: block %d is under rule %s", last, i, r)
				}
			}
		}
		if n != want {
			t.Errorf("last %d: %d blocks under a rule, want %d", last, n, want)
		}
	}
}
