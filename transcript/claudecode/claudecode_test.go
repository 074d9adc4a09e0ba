package claudecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/formattest"
)

// A file builds a session file.
type file struct{ strings.Builder }

// row writes a row of the chain; content is JSON.
func (f *file) row(kind, id, parent, content, extra string) {
	p := "null"
	if parent != "" {
		p = `"` + parent + `"`
	}
	msg := fmt.Sprintf(`{"role":%q,"content":%s}`, kind, content)
	if kind == "assistant" {
		reply, rest, _ := strings.Cut(content, " ")
		msg = fmt.Sprintf(`{"id":%q,"role":"assistant","model":"claude-opus-4-6","content":[%s]}`, reply, rest)
	}
	fmt.Fprintf(f, `{"parentUuid":%s,"isSidechain":false,"sessionId":"s-1","type":%q,"message":%s,"uuid":%q,"timestamp":"2026-01-01T00:00:%02d.000Z","cwd":"/srv/app","extra":9007199254740993%s}`+"\n", p, kind, msg, id, f.Len()/1000%60, extra)
}

// mark writes the row that marks a compaction. keeps is JSON for a member of its metadata.
func (f *file) mark(id, before, keeps string) {
	fmt.Fprintf(f, `{"type":"system","subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":%q,"uuid":%q,"sessionId":"s-1","compactMetadata":{%s}}`+"\n", before, id, keeps)
}

func use(id string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"ls  -l"}}`, id)
}

func res(id string) string {
	return fmt.Sprintf(`[{"type":"tool_result","tool_use_id":%q,"content":"out of %s"}]`, id, id)
}

// samples are session files of every shape that the decoder treats in a different way.
func samples() map[string][]byte {
	m := make(map[string][]byte)
	add := func(name string, build func(f *file)) {
		var f file
		build(&f)
		m[name] = []byte(f.String())
	}
	add("plain", func(f *file) {
		f.row("user", "u1", "", `"build <it> & \u00e9"`, "")
		f.row("assistant", "a1", "u1", `m1 {"type":"thinking","thinking":"hm","signature":"c2ln"}`, "")
		f.row("assistant", "a2", "a1", `m1 `+use("t1"), "")
		f.row("user", "r1", "a2", res("t1"), `,"sourceToolAssistantUUID":"a2","toolUseResult":{"stdout":"out of t1"}`)
		f.row("assistant", "a3", "r1", `m2 {"type":"text","text":"done"}`, "")
		f.row("user", "u2", "a3", `"and now?"`, "")
		f.row("assistant", "a4", "u2", `m3 {"type":"text","text":"that"}`, "")
	})
	add("parallel calls fork the tree", func(f *file) {
		f.row("user", "u1", "", `"go"`, "")
		f.row("assistant", "a1", "u1", `m1 `+use("t1"), "")
		f.row("assistant", "a2", "a1", `m1 `+use("t2"), "")
		f.row("user", "r1", "a1", res("t1"), "")
		f.row("user", "r2", "a2", res("t2"), "")
		f.row("assistant", "a3", "r2", `m2 {"type":"text","text":"done"}`, "")
	})
	add("results between the rows of a reply", func(f *file) {
		f.row("user", "u1", "", `"go"`, "")
		f.row("assistant", "a1", "u1", `m1 `+use("t1"), "")
		f.row("user", "r1", "a1", res("t1"), "")
		f.row("assistant", "a2", "r1", `m1 `+use("t2"), "")
		f.row("user", "r2", "a2", res("t2"), "")
		f.row("assistant", "a3", "r2", `m2 {"type":"text","text":"done"}`, "")
	})
	add("side rows, notes, a rewind and a sub-agent", func(f *file) {
		f.WriteString(`{"type":"summary","summary":"A title","leafUuid":"a9"}` + "\n")
		f.WriteString(`{"type":"summary","summary":"Another title","leafUuid":"a9"}` + "\n")
		f.row("user", "u1", "", `"go"`, "")
		f.row("assistant", "a1", "u1", `m1 {"type":"text","text":"left"}`, "")
		f.row("user", "u2", "a1", `"that way was left"`, "")
		f.row("assistant", "x1", "u1", `m9 {"type":"text","text":"from a sub-agent"}`, `,"isSidechain":true,"isMeta":false`)
		f.row("user", "n1", "u1", `"a note"`, `,"isMeta":true,"isSidechain":false`)
		f.row("assistant", "a9", "n1", `m2 {"type":"text","text":"right"}`, "")
		f.WriteString(`{"type":"weather","uuid":"w1","parentUuid":"a9","rain":true}` + "\n")
		f.WriteString("\n")
	})
	add("a compaction cuts the tree", func(f *file) {
		f.row("user", "u1", "", `"go"`, "")
		f.row("assistant", "a1", "u1", `m1 {"type":"text","text":"gone"}`, "")
		f.WriteString(`{"type":"system","subtype":"compact_boundary","parentUuid":null,"logicalParentUuid":"a1","uuid":"b1","sessionId":"s-1"}` + "\n")
		f.row("user", "u2", "b1", `"so far: gone"`, `,"isCompactSummary":true`)
		f.row("assistant", "a2", "u2", `m2 {"type":"text","text":"on"}`, "")
	})
	add("two compactions, the second keeps a call", func(f *file) {
		f.row("user", "u1", "", `"<local-command-stdout>"`, "")
		f.row("user", "u2", "u1", `"paint it"`, "")
		f.row("assistant", "a1", "u2", `m1 {"type":"text","text":"red"}`, "")
		f.mark("b1", "a1", "")
		f.row("user", "u3", "b1", `"so far: red"`, `,"isCompactSummary":true`)
		f.row("user", "u4", "u3", `"now the door"`, "")
		f.row("assistant", "a2", "u4", `m2 `+use("t1"), "")
		f.row("user", "r1", "a2", res("t1"), "")
		f.row("assistant", "a3", "r1", `m3 {"type":"text","text":"blue"}`, "")
		f.mark("b2", "a3", `"preservedMessages":{"anchorUuid":"u5","uuids":["a2","r1","a3"]}`)
		f.row("user", "u5", "b2", `"so far: red, blue"`, `,"isCompactSummary":true`)
		f.row("user", "u6", "a3", `"and the roof?"`, "")
		f.row("assistant", "a4", "u6", `m4 {"type":"text","text":"green"}`, "")
	})
	add("a row with two calls, and one with both results", func(f *file) {
		f.row("user", "u1", "", `"go"`, "")
		f.row("assistant", "a1", "u1", `m1 `+use("t1")+","+use("t2"), "")
		f.row("user", "r1", "a1", strings.TrimSuffix(res("t1"), "]")+","+strings.TrimPrefix(res("t2"), "["), "")
		f.row("assistant", "a2", "r1", `m2 {"type":"text","text":"done"}`, "")
	})
	add("rows that number their blocks", func(f *file) {
		f.row("user", "u1", "", `"go"`, "")
		f.row("assistant", "a1", "u1", `m1 {"type":"text","text":"second"}`, `,"apiBlockIndex":1`)
		f.row("assistant", "a2", "a1", `m1 {"type":"text","text":"without a number"}`, "")
		f.row("assistant", "a3", "a2", `m1 {"type":"text","text":"first"}`, `,"apiBlockIndex":0`)
	})
	add("rows without a time", func(f *file) {
		f.WriteString(`{"type":"user","uuid":"u1","parentUuid":null,"message":{"content":"go"}}` + "\n")
		f.WriteString(`{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"id":"m1","content":[{"type":"text","text":"done"}]}}` + "\n")
	})
	add("a result without its call", func(f *file) {
		f.row("user", "u1", "", `"go"`, "")
		f.row("assistant", "a1", "u1", `m1 {"type":"text","text":"left"}`, "")
		f.row("user", "r1", "a1", res("t9"), "")
		f.row("assistant", "a2", "r1", `m2 {"type":"text","text":"right"}`, "")
	})
	add("a result in two pieces", func(f *file) {
		f.row("user", "u1", "", `"go"`, "")
		f.row("assistant", "a1", "u1", `m1 `+use("t1"), "")
		f.row("user", "r1", "a1", `[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}]`, "")
		f.row("assistant", "a2", "r1", `m2 {"type":"text","text":"done"}`, "")
	})
	add("a note of the program is the last row", func(f *file) {
		f.row("user", "n1", "", `"a caveat"`, `,"isMeta":true`)
		f.row("user", "u1", "n1", `"go"`, "")
		f.row("assistant", "a1", "u1", `m1 `+use("t1"), "")
		f.row("assistant", "a2", "a1", `m1 `+use("t2"), "")
		f.row("user", "r1", "a1", res("t1"), "")
		f.row("user", "r2", "a2", res("t2"), "")
		f.row("assistant", "a3", "r2", `m2 {"type":"text","text":"done"}`, "")
		f.row("user", "u2", "a3", `"now paint it red"`, "")
		f.row("assistant", "a4", "u2", `m3 {"type":"text","text":"painted"}`, "")
		f.row("user", "n2", "a4", `"feedback of a hook"`, `,"isMeta":true`)
	})
	add("an interrupted call and a pending one", func(f *file) {
		f.row("user", "u1", "", `"go"`, "")
		f.row("assistant", "a1", "u1", `m1 `+use("t1"), "")
		f.row("user", "u2", "a1", `[{"type":"text","text":"[Request interrupted by user]"}]`, "")
		f.row("assistant", "a2", "u2", `m2 `+use("t2"), "")
	})
	return m
}

func TestFormat(t *testing.T) { formattest.Run(t, format{}, samples()) }

// words returns roles and texts of a conversation, one message per line.
func words(msgs []transcript.Message) string {
	var b strings.Builder
	for i := range msgs {
		m := &msgs[i]
		fmt.Fprintf(&b, "%s:", m.Role)
		for _, p := range m.Parts {
			switch p := p.(type) {
			case transcript.Text:
				fmt.Fprintf(&b, " %s", string(p))
			case transcript.Thinking:
				fmt.Fprintf(&b, " (%s)", p.Text)
			case transcript.ToolCall:
				fmt.Fprintf(&b, " call %s", p.ID)
			case transcript.ToolResult:
				fmt.Fprintf(&b, " %s", p.Text())
			case transcript.Media, transcript.Opaque:
				b.WriteString(" ?")
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestDecode(t *testing.T) {
	all := samples()
	for name, want := range map[string]string{
		"plain":                                           "user: build <it> & é\nassistant: (hm) call t1\ntool: out of t1\nassistant: done\nuser: and now?\nassistant: that\n",
		"parallel calls fork the tree":                    "user: go\nassistant: call t1 call t2\ntool: out of t1\ntool: out of t2\nassistant: done\n",
		"results between the rows of a reply":             "user: go\nassistant: call t1 call t2\ntool: out of t1\ntool: out of t2\nassistant: done\n",
		"side rows, notes, a rewind and a sub-agent":      "user: go\nassistant: right\n",
		"a compaction cuts the tree":                      "user: so far: gone\nassistant: on\n",
		"a row with two calls, and one with both results": "user: go\nassistant: call t1 call t2\ntool: out of t1 out of t2\nassistant: done\n",
		"a result without its call":                       "user: go\nassistant: left\ntool: out of t9\nassistant: right\n",
		"a result in two pieces":                          "user: go\nassistant: call t1\ntool: one\ntwo\nassistant: done\n",
		"rows that number their blocks":                   "user: go\nassistant: first without a number second\n",
		"rows without a time":                             "user: go\nassistant: done\n",
		"a note of the program is the last row":           "user: go\nassistant: call t1 call t2\ntool: out of t1\ntool: out of t2\nassistant: done\nuser: now paint it red\nassistant: painted\n",
		"an interrupted call and a pending one":           "user: go\nassistant: call t1\nuser: [Request interrupted by user]\nassistant: call t2\n",
	} {
		s, err := format{}.Decode("x.jsonl", all[name])
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(want, words(s.Messages)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Messages before a compaction form an earlier window, except messages that the agent
// kept: these are in the newest window that keeps them.
func TestEarlierWindows(t *testing.T) {
	plain := func(f *file) {
		f.row("user", "u1", "", `"paint it"`, "")
		f.row("assistant", "a1", "u1", `m1 {"type":"text","text":"red"}`, "")
	}
	after := func(f *file, parent, extra string) {
		f.row("user", "u2", parent, `"so far: red"`, extra)
		f.row("assistant", "a2", "u2", `m2 {"type":"text","text":"on"}`, "")
	}
	const first, rest, summary = "user: paint it\nassistant: red\n", "user: so far: red\nassistant: on\n", `,"isCompactSummary":true`
	for _, tt := range []struct {
		name    string
		build   func(f *file)
		now     string
		earlier []string
	}{
		{"the mark names the row before it", func(f *file) { plain(f); f.mark("b1", "a1", ""); after(f, "b1", summary) }, rest, []string{first}},
		{"the mark names a row that is not there", func(f *file) { plain(f); f.mark("b1", "gone", ""); after(f, "b1", summary) }, rest, []string{first}},
		{"a note of the program before the mark is not where the window ends", func(f *file) {
			plain(f)
			f.WriteString(`{"type":"system","uuid":"n1","parentUuid":"u1"}` + "\n")
			f.mark("b1", "gone", "")
			after(f, "b1", summary)
		}, rest, []string{first}},
		{"there is a summary without a mark", func(f *file) { plain(f); after(f, "", summary) }, rest, []string{first}},
		{"a new beginning is no compaction", func(f *file) { plain(f); after(f, "", "") }, rest, nil},
		{"what was rewound before it is no part of the window", func(f *file) {
			plain(f)
			f.row("user", "u9", "a1", `"not this way"`, "")
			f.row("user", "u3", "a1", `"this way"`, "")
			f.mark("b1", "u3", "")
			after(f, "b1", summary)
		}, rest, []string{first + "user: this way\n"}},
		{"the agent kept the end as a list", func(f *file) {
			plain(f)
			f.mark("b1", "a1", `"preservedMessages":{"anchorUuid":"u2","uuids":["a1"]}`)
			after(f, "b1", summary)
		}, "user: so far: red\nassistant: red\nassistant: on\n", []string{"user: paint it\n"}},
		{"the agent kept the end as a list, and a sub-agent has a mark behind it", func(f *file) {
			plain(f)
			f.mark("b1", "a1", `"preservedMessages":{"anchorUuid":"u2","uuids":["a1"]}`)
			f.row("user", "u2", "b1", `"so far: red"`, summary)
			f.WriteString(`{"type":"system","subtype":"compact_boundary","uuid":"b2","isSidechain":true}` + "\n")
			f.row("assistant", "a2", "u2", `m2 {"type":"text","text":"on"}`, "")
		}, "user: so far: red\nassistant: red\nassistant: on\n", []string{"user: paint it\n"}},
		{"the agent kept the end as a list, in the file of a sub-agent", func(f *file) {
			var of file
			plain(&of)
			of.mark("b1", "a1", `"preservedMessages":{"anchorUuid":"u2","uuids":["a1"]}`)
			after(&of, "b1", summary)
			f.WriteString(strings.NewReplacer(`"isSidechain":false`, `"isSidechain":true`, `"parentUuid":null,"logical`, `"isSidechain":true,"logical`).Replace(of.String()))
		}, "user: so far: red\nassistant: red\nassistant: on\n", []string{"user: paint it\n"}},
		{"the agent kept the end as a segment", func(f *file) {
			plain(f)
			f.mark("b1", "a1", `"preservedSegment":{"headUuid":"u1","anchorUuid":"b1","tailUuid":"a1"}`)
			after(f, "b1", summary)
		}, first + rest, nil},
		{"the agent kept a result without its call", func(f *file) {
			f.row("user", "u1", "", `"paint it"`, "")
			f.row("assistant", "a1", "u1", `m1 `+use("t1"), "")
			f.row("user", "r1", "a1", res("t1"), "")
			f.mark("b1", "r1", `"preservedMessages":{"anchorUuid":"u2","uuids":["r1"]}`)
			after(f, "b1", summary)
		}, "user: so far: red\nassistant: call t1\ntool: out of t1\nassistant: on\n", []string{"user: paint it\n"}},
		{"a list that names a row that is not there keeps nothing", func(f *file) {
			plain(f)
			f.mark("b1", "a1", `"preservedMessages":{"anchorUuid":"u2","uuids":["a1","gone"]}`)
			after(f, "b1", summary)
		}, rest, []string{first}},
		{"a list that names the mark keeps nothing", func(f *file) {
			plain(f)
			f.mark("b1", "a1", `"preservedMessages":{"anchorUuid":"u2","uuids":["a1","b1"]}`)
			after(f, "b1", summary)
		}, rest, []string{first}},
		{"a list behind a row that is not there keeps nothing", func(f *file) {
			plain(f)
			f.mark("b1", "a1", `"preservedMessages":{"anchorUuid":"gone","uuids":["a1"]}`)
			after(f, "b1", summary)
		}, rest, []string{first}},
		{"a list behind a row before the mark keeps nothing", func(f *file) {
			plain(f)
			f.mark("b1", "a1", `"preservedMessages":{"anchorUuid":"u1","uuids":["a1"]}`)
			after(f, "b1", summary)
		}, rest, []string{first}},
		{"a segment that begins with a row that is not there keeps nothing", func(f *file) {
			plain(f)
			f.mark("b1", "a1", `"preservedSegment":{"headUuid":"gone","anchorUuid":"u2","tailUuid":"a1"}`)
			after(f, "b1", summary)
		}, rest, []string{first}},
		{"a segment that ends with a row that is not there keeps nothing", func(f *file) {
			plain(f)
			f.mark("b1", "a1", `"preservedSegment":{"headUuid":"u1","anchorUuid":"u2","tailUuid":"gone"}`)
			after(f, "b1", summary)
		}, rest, []string{first}},
		{"there is one row before the mark", func(f *file) {
			f.row("user", "u1", "", `"paint it"`, "")
			f.mark("b1", "gone", "")
			after(f, "b1", summary)
		}, rest, []string{"user: paint it\n"}},
		{"a segment that ends with the mark keeps nothing", func(f *file) {
			plain(f)
			f.mark("b1", "a1", `"preservedSegment":{"headUuid":"b1","anchorUuid":"u2","tailUuid":"b1"}`)
			after(f, "b1", summary)
		}, rest, []string{first}},
		{"a mark that names itself", func(f *file) { plain(f); f.mark("b1", "b1", ""); after(f, "b1", summary) }, rest, []string{first}},
	} {
		var f file
		tt.build(&f)
		s, err := format{}.Decode("x.jsonl", []byte(f.String()))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var earlier []string
		for _, msgs := range s.Earlier {
			earlier = append(earlier, words(msgs))
		}
		for i := range s.Messages {
			if m := &s.Messages[i]; m.Summary != (m.ID == "u2" && tt.name != "a new beginning is no compaction") {
				t.Errorf("%s: message %s is a summary: %t", tt.name, m.ID, m.Summary)
			}
		}
		if diff := cmp.Diff(tt.now, words(s.Messages)); diff != "" {
			t.Errorf("%s: now (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(tt.earlier, earlier); diff != "" {
			t.Errorf("%s: earlier windows (-want +got):\n%s", tt.name, diff)
		}
	}
}

// In the older reading, messages that the agent kept over a compaction stay before it.
func TestApartKeepsMessagesBeforeTheCompaction(t *testing.T) {
	var f file
	f.row("user", "u1", "", `"paint it"`, "")
	f.row("assistant", "a1", "u1", `m1 {"type":"text","text":"red"}`, "")
	f.mark("b1", "a1", `"preservedMessages":{"anchorUuid":"u2","uuids":["a1"]}`)
	f.row("user", "u2", "b1", `"so far: red"`, `,"isCompactSummary":true`)
	f.row("assistant", "a2", "u2", `m2 {"type":"text","text":"on"}`, "")
	s, err := format{}.Older()[2].Decode("x.jsonl", []byte(f.String()))
	if err != nil {
		t.Fatal(err)
	}
	const earlier, now = "user: paint it\nassistant: red\n", "user: so far: red\nassistant: on\n"
	if len(s.Earlier) != 1 || words(s.Earlier[0]) != earlier || words(s.Messages) != now {
		t.Errorf("%d earlier windows, now %q, want %q and %q", len(s.Earlier), words(s.Messages), earlier, now)
	}
}

// In the older reading, a session with a note as its last row ends at an older result.
func TestOlderEndBehindANote(t *testing.T) {
	s, err := format{}.Older()[1].Decode("x.jsonl", samples()["a note of the program is the last row"])
	if err != nil {
		t.Fatal(err)
	}
	if got, want := words(s.Messages), "user: go\nassistant: call t1 call t2\ntool: out of t1\ntool: out of t2\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Each of several compactions leaves an earlier window, and the title is the first text
// of a person in any window.
func TestSeveralCompactions(t *testing.T) {
	s, err := format{}.Decode("x.jsonl", samples()["two compactions, the second keeps a call"])
	if err != nil {
		t.Fatal(err)
	}
	if s.Title != "paint it" {
		t.Errorf("title %q", s.Title)
	}
	if len(s.Branches) != 0 {
		t.Errorf("branches: %+v", s.Branches)
	}
	var all []string
	for _, msgs := range append(s.Earlier, s.Messages) {
		all = append(all, words(msgs))
	}
	want := []string{
		"user: <local-command-stdout>\nuser: paint it\nassistant: red\n",
		"user: so far: red\nuser: now the door\n",
		"user: so far: red, blue\nassistant: call t1\ntool: out of t1\nassistant: blue\nuser: and the roof?\nassistant: green\n",
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	now, earlier := s.Blocks()
	seen := make(map[transcript.BlockID]bool)
	for _, blocks := range append(earlier, now) {
		for i := range blocks {
			if seen[blocks[i].ID] || blocks[i].Turn != i+1 {
				t.Errorf("block %s at turn %d, place %d, is there twice: %t", blocks[i].ID, blocks[i].Turn, i+1, seen[blocks[i].ID])
			}
			seen[blocks[i].ID] = true
		}
	}
}

// Validation reports a conversation that begins with a reply, which the provider refuses.
func TestValidateTheFirstMessage(t *testing.T) {
	var f file
	f.row("assistant", "a1", "", `m1 {"type":"text","text":"done"}`, "")
	found, err := format{}.Validate([]byte(f.String()))
	if err != nil || len(found) != 1 || found[0].Rule != "X7" || found[0].Message != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

// Claude Code writes an empty text as a row of its own before the other rows of a reply, and goes
// on with such a session. A reply that is nothing else is refused.
func TestValidateEmptyTexts(t *testing.T) {
	for _, test := range []struct {
		name, rest, want string
	}{
		{"beside another text", `m1 {"type":"text","text":"done"}`, "[]"},
		{"alone", "", "[X7: text is empty]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var f file
			f.row("user", "u1", "", `"go"`, "")
			f.row("assistant", "a1", "u1", `m1 {"type":"text","text":"\n\n"}`, "")
			if test.rest != "" {
				f.row("assistant", "a2", "a1", test.rest, "")
			}
			found, err := format{}.Validate([]byte(f.String()))
			if got := fmt.Sprint(found); err != nil || got != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestBranches(t *testing.T) {
	all := samples()
	var noted file
	noted.row("user", "n1", "", `"a note"`, `,"isMeta":true`)
	noted.row("user", "u1", "n1", `"go"`, "")
	noted.row("assistant", "a1", "u1", `m1 {"type":"text","text":"done"}`, "")
	noted.WriteString(`{"type":"system","uuid":"n2","parentUuid":"a1"}` + "\n")
	noted.row("user", "u2", "n2", `"not that way"`, "")
	noted.row("assistant", "x1", "u2", `m9 {"type":"text","text":"from a sub-agent"}`, `,"isSidechain":true`)
	noted.row("user", "u3", "a1", `"that way"`, "")
	all["a fork behind a note"] = []byte(noted.String())
	for name, want := range map[string][]transcript.Branch{
		"side rows, notes, a rewind and a sub-agent": {
			{Kind: transcript.BranchFork, Root: "a1", Leaf: "u2", Parent: "u1", Messages: 2},
			{Kind: transcript.BranchSidechain, Root: "x1", Leaf: "x1", Parent: "u1", Messages: 1},
		},
		"a fork behind a note": {
			{Kind: transcript.BranchFork, Root: "u2", Leaf: "u2", Parent: "a1", Messages: 1},
			{Kind: transcript.BranchSidechain, Root: "x1", Leaf: "x1", Parent: "a1", Messages: 1},
		},
		"a compaction cuts the tree":   nil, // the part before the compaction is an earlier window
		"parallel calls fork the tree": nil,
	} {
		s, err := format{}.Decode("x.jsonl", all[name])
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.Branches); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAbout(t *testing.T) {
	s, err := format{}.Decode("x.jsonl", samples()["side rows, notes, a rewind and a sub-agent"])
	if err != nil {
		t.Fatal(err)
	}
	if s.ID != "s-1" || s.Title != "A title" || s.Model != "claude-opus-4-6" || s.Project != "/srv/app" {
		t.Errorf("id %q, title %q, model %q, project %q", s.ID, s.Title, s.Model, s.Project)
	}
}

// The file of a sub-agent is a session of its own, if the file names the parent session.
func TestSubAgentsFile(t *testing.T) {
	for agent, id := range map[string]transcript.SessionID{`,"agentId":"a17"`: "s-1/agent-a17", "": "s-1"} {
		var f file
		f.row("user", "u1", "", `"look into it"`, `,"isSidechain":true`+agent)
		f.row("assistant", "a1", "u1", `m1 {"type":"text","text":"found"}`, `,"isSidechain":true`+agent)
		s, err := format{}.Decode("agent-a17.jsonl", []byte(f.String()))
		if err != nil || s.ID != id || len(s.Messages) != 2 {
			t.Errorf("with %q: %+v, %v", agent, s, err)
		}
	}
}

// A line that is not JSON is kept with a warning; the other lines are read.
func TestBrokenLinesAreKept(t *testing.T) {
	plain := string(samples()["plain"])
	for _, tt := range []struct {
		name, in string
		line     int
		text     string
	}{
		{"a torn last line", plain + `{"type":"user","uu`, 8, "torn last line (kept, not read)"},
		{"two rows on one line", plain + "{} {}\n", 8, "not a JSON object (kept, not read)"},
		{"a uuid used twice", plain + strings.SplitAfter(plain, "\n")[0], 8, "uuid u1 was used before (kept, not read)"},
	} {
		s, err := format{}.Decode("x.jsonl", []byte(tt.in))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		want := []transcript.Warning{{Line: tt.line, Text: tt.text}}
		if diff := cmp.Diff(want, s.Warnings); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if len(s.Messages) != 6 || string(s.Bytes()) != tt.in {
			t.Errorf("%s: %d messages, bytes kept %t", tt.name, len(s.Messages), string(s.Bytes()) == tt.in)
		}
	}
}

func TestNoConversation(t *testing.T) {
	for name, in := range map[string]string{
		"nothing":       "",
		"no JSON":       "hello\nworld\n",
		"only notes":    `{"type":"user","uuid":"n","isMeta":true,"message":{"role":"user","content":"x"}}`,
		"only side row": `{"type":"summary","summary":"x","leafUuid":"y"}`,
	} {
		s, err := format{}.Decode("x.jsonl", []byte(in))
		if name == "only notes" { // the rule for the leaf takes notes if the file has nothing else
			if err != nil || len(s.Messages) != 1 {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if e, ok := errors.AsType[*transcript.SyntaxError](err); !ok || e.Name != "x.jsonl" || e.Hint == "" {
			t.Errorf("%s: error is %#v, want a SyntaxError with name and hint", name, err)
		}
	}
}

// A tree with a cycle is read without hanging.
func TestCycle(t *testing.T) {
	var f file
	f.row("user", "u1", "a1", `"go"`, "")
	f.row("assistant", "a1", "u1", `m1 {"type":"text","text":"round"}`, "")
	f.row("user", "u2", "a1", `"on"`, "")
	s, err := format{}.Decode("x.jsonl", []byte(f.String()))
	if err != nil || len(s.Messages) != 3 {
		t.Errorf("%v, %v", s, err)
	}
}

// A changed session becomes a new session: one chain of new uuids, its own id and rising
// times. Unchanged content keeps its bytes.
func TestEncodeChanged(t *testing.T) {
	s, err := format{}.Decode("x.jsonl", samples()["plain"])
	if err != nil {
		t.Fatal(err)
	}
	w := transcript.Whole(s)
	w.Entries[1] = w.Entries[1].WithoutThinking()
	w.Entries[2] = w.Entries[2].WithResult("t1", "[carrel: <stub>]")
	w.Entries[3] = transcript.Stub("b", "[carrel: gone & done]")
	out, err := format{}.Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	again, err := format{}.Encode(w)
	if err != nil || !bytes.Equal(out.Data, again.Data) {
		t.Error("the same window gives other bytes")
	}
	text := string(out.Data)
	for _, want := range []string{`"content":"build <it> & \u00e9"`, `"input":{"command":"ls  -l"}`, `"content":"[carrel: <stub>]"`, `"toolUseResult":null`, `"extra":9007199254740993`, "gone & done"} {
		if !strings.Contains(text, want) {
			t.Errorf("output has no %s", want)
		}
	}
	for _, gone := range []string{"thinking", "out of t1", `"s-1"`, `"u1"`, `"a2"`} {
		if strings.Contains(text, gone) {
			t.Errorf("output still has %s", gone)
		}
	}
	parent, stamp := "", ""
	for line := range strings.Lines(text) {
		var row struct {
			UUID      string
			Parent    *string `json:"parentUuid"`
			Session   string  `json:"sessionId"`
			Timestamp string
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if got := ""; row.Parent != nil {
			got = *row.Parent
			if got != parent {
				t.Errorf("parent of %s is %s, want %s", row.UUID, got, parent)
			}
		}
		if row.Session != string(out.Session) || row.Timestamp < stamp {
			t.Errorf("session %s, time %s after %s", row.Session, row.Timestamp, stamp)
		}
		parent, stamp = row.UUID, row.Timestamp
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range samples() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := format{}.Decode("x.jsonl", data)
		if err != nil {
			return
		}
		if !bytes.Equal(s.Bytes(), data) {
			t.Fatal("items are not the input")
		}
		out, err := format{}.Encode(transcript.Whole(s))
		if err != nil || !bytes.Equal(out.Data, data) {
			t.Fatalf("the intact session is not the input: %v", err)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	var f file
	f.row("user", "u", "", `"go"`, "")
	parent := "u"
	for i := range 4000 {
		a, r := fmt.Sprint("a", i), fmt.Sprint("r", i)
		f.row("assistant", a, parent, fmt.Sprintf("m%d ", i)+use(fmt.Sprint("t", i)), "")
		f.row("user", r, a, fmt.Sprintf(`[{"type":"tool_result","tool_use_id":"t%d","content":%q}]`, i, strings.Repeat("a line of output\n", 40)), "")
		parent = r
	}
	data := []byte(f.String())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (format{}).Decode("x.jsonl", data); err != nil {
			b.Fatal(err)
		}
	}
}

// The size of the request is the usage of the newest answered request of the conversation
// itself, without sub-agents.
func TestSent(t *testing.T) {
	row := func(uuid, parent, more, usage string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"parentUuid":%q%s,"message":{"id":"m%s","role":"assistant","content":[{"type":"text","text":"x"}]%s}}`+"\n",
			uuid, parent, more, uuid, usage)
	}
	first := `{"type":"user","uuid":"u","message":{"role":"user","content":"Go."}}` + "\n"
	counted := row("a", "u", "", `,"usage":{"input_tokens":3,"cache_read_input_tokens":40,"cache_creation_input_tokens":500,"output_tokens":6000}`)
	for _, tt := range []struct {
		name, data string
		want       int64
	}{
		{"nothing was answered", first, 0},
		{"all of it is counted", first + counted, 543},
		{"the newest counts", first + counted + row("b", "a", "", `,"usage":{"input_tokens":7}`), 7},
		{"what the client says itself has no usage", first + counted + row("b", "a", "", `,"usage":{"input_tokens":0,"output_tokens":0}`) + row("c", "b", "", ""), 543},
		{"a sub-agent's requests are its own", first + counted + row("b", "a", `,"isSidechain":true`, `,"usage":{"input_tokens":7}`), 543},
		{"a number below zero is none", first + row("a", "u", "", `,"usage":{"input_tokens":-5,"cache_read_input_tokens":2}`), 2},
	} {
		s, err := format{}.Decode("x.jsonl", []byte(tt.data))
		if err != nil || s.Sent != tt.want {
			t.Errorf("%s: %d, %v; want %d", tt.name, s.Sent, err, tt.want)
		}
	}
}

// The rows of a smaller window do not say how large the window of their calls was: Claude Code would
// take that for the size of this one, and compact it at once.
func TestASmallerWindowHasNoUsage(t *testing.T) {
	rows := `{"type":"user","uuid":"u","message":{"role":"user","content":"Go."}}` + "\n" +
		`{"type":"assistant","uuid":"a","parentUuid":"u","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":3,"output_tokens":6}}}` + "\n"
	s, err := format{}.Decode("x.jsonl", []byte(rows))
	if err != nil {
		t.Fatal(err)
	}
	w := transcript.Whole(s)
	w.Entries[0] = transcript.Stub("b", "[carrel b]")
	out, err := format{}.Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = (format{}).Decode("y.jsonl", out.Data); err != nil || s.Sent != 0 || len(s.Messages) != 2 {
		t.Errorf("%+v, %v: want two messages, and no tokens\n%s", s, err, out.Data)
	}
}

// The title of a session is the first text of a person, not the client's text around
// commands and summaries.
func TestTitleSkipsWhatTheClientWrote(t *testing.T) {
	for _, own := range []string{
		"<command-name>/clear</command-name>\n<command-message>clear</command-message>", "/clear", "/compact",
		"<local-command-stdout>Bye!</local-command-stdout>",
		"Caveat: The messages below were generated by the user while running local commands.",
		"<local-command-caveat>Caveat: The messages below were generated by the user</local-command-caveat>",
		"This session is being continued from a previous conversation that ran out of context.",
		"[Request interrupted by user]", "<system-reminder>It is late.</system-reminder>",
	} {
		for said, want := range map[string]string{"Find out why the build fails.\nIt did not.": "Find out why the build fails.", "/srv is full": "/srv is full", "": ""} {
			var rows []byte
			for i, text := range []string{own, said} {
				if text == "" {
					continue
				}
				content, err := json.Marshal(text)
				if err != nil {
					t.Fatal(err)
				}
				parent := "null"
				if i > 0 {
					parent = `"u0"`
				}
				rows = fmt.Appendf(rows, `{"type":"user","uuid":"u%d","parentUuid":%s,"sessionId":"s","cwd":"/srv/app","timestamp":"2026-01-02T03:04:0%d.000Z","message":{"role":"user","content":%s}}`+"\n", i, parent, i, content)
			}
			s, err := format{}.Decode("s.jsonl", rows)
			if err != nil {
				t.Fatal(err)
			}
			if s.Title != want {
				t.Errorf("after %q, %q: the title is %q, want %q", own, said, s.Title, want)
			}
		}
	}
}

// A summary by the client is never the title, even if no person wrote before it.
func TestTitleIsNotFromASummary(t *testing.T) {
	var f file
	f.row("user", "u1", "", `"so far: red"`, `,"isCompactSummary":true`)
	f.row("user", "u2", "u1", `"and the roof?"`, "")
	s, err := format{}.Decode("s.jsonl", []byte(f.String()))
	if err != nil || s.Title != "and the roof?" {
		t.Errorf("the title is %q, %v", s.Title, err)
	}
}

// A title is one line of at most 80 characters.
func TestTitleIsShort(t *testing.T) {
	for n, want := range map[int]string{79: strings.Repeat("é", 79), 80: strings.Repeat("é", 80), 81: strings.Repeat("é", 79) + "…"} {
		var f file
		f.row("user", "u1", "", fmt.Sprintf("%q", strings.Repeat("é", n)+"\nand more"), "")
		s, err := format{}.Decode("s.jsonl", []byte(f.String()))
		if err != nil {
			t.Fatal(err)
		}
		if s.Title != want {
			t.Errorf("of %d characters: the title is %q, want %q", n, s.Title, want)
		}
	}
}

// Results of calls stay with their calls over a compaction, also where one row has several.
func TestKeptResultBringsItsCall(t *testing.T) {
	var f file
	f.row("user", "u1", "", `"go"`, "")
	f.row("assistant", "a1", "u1", `m1 `+use("t1")+","+use("t2"), "")
	f.row("user", "r2", "a1", res("t2"), "")
	f.row("user", "r1", "r2", res("t1"), "")
	f.row("assistant", "a2", "r1", `m2 {"type":"text","text":"done"}`, "")
	f.mark("b1", "a2", `"preservedMessages":{"anchorUuid":"u2","uuids":["r2","a2"]}`)
	f.row("user", "u2", "b1", `"so far"`, `,"isCompactSummary":true`)
	f.row("assistant", "a3", "a2", `m3 {"type":"text","text":"on"}`, "")
	s, err := format{}.Decode("s.jsonl", []byte(f.String()))
	if err != nil {
		t.Fatal(err)
	}
	got := words(s.Messages)
	if want := "call t1 call t2\ntool: out of t2\ntool: out of t1\n"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
}

// If a file lost the row with the result of a provider's own tool, the reply stays whole,
// before the results of its other calls.
func TestALostResultOfAServersTool(t *testing.T) {
	var f file
	f.row("user", "u1", "", `"go"`, "")
	f.row("assistant", "a1", "u1", `m1 {"type":"server_tool_use","id":"w1","name":"web_search","input":{"query":"mill"}},`+use("t1"), "")
	f.row("user", "r1", "a1", res("t1"), "")
	f.row("assistant", "a2", "r1", `m2 {"type":"text","text":"done"}`, "")
	s, err := format{}.Decode("s.jsonl", []byte(f.String()))
	if err != nil {
		t.Fatal(err)
	}
	w := transcript.Whole(s)
	w.As = "12345678-0000-4000-8000-000000000000"
	out, err := format{}.Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]transcript.Fix{{Rule: "A6", Message: 1, What: "server_tool_use without its result became text"}}, out.Repairs); diff != "" {
		t.Errorf("repairs (-want +got):\n%s", diff)
	}
	if broken, err := (format{}).Validate(out.Data); err != nil || len(broken) > 0 {
		t.Errorf("what was mended is refused: %v %v\n%s", broken, err, out.Data)
	}
	if !strings.Contains(string(out.Data), `\"query\":\"mill\"`) {
		t.Errorf("the call is lost:\n%s", out.Data)
	}
}
