package hook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/server/hook"
)

var big = strings.Repeat("a line of the output\n", 2000) // 42 000 bytes

type object = map[string]any

// Each row is what the clients of versions 2.1.197 and 2.1.330 send, and what it must be told for
// the model to see the pointer.
func TestResults(t *testing.T) {
	c := newClient(t)
	all := strings.Repeat("all of a line\n", 20_000)
	kept := c.write(t, c.results+"/b1.txt", all)
	elsewhere := c.write(t, t.TempDir()+"/b1.txt", all)
	bash := func(stdout string, more object) object {
		r := object{"stdout": stdout, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false}
		maps.Copy(r, more)
		return r
	}
	cell := func(path, pointer string) object {
		source := "\n" + pointer + "\n"
		return object{"type": "notebook", "file": object{"filePath": path, "cells": []any{
			object{"cell_id": "carrel", "cellType": "code", "language": "python", "source": source},
		}}}
	}
	for _, tt := range []struct {
		name     string
		tool     string
		input    object
		response any
		want     any // nil if it stays
		stashed  []string
	}{
		{"what a command printed", "Bash", object{"command": "make"}, bash(big, nil), bash(`pointer 0 by Bash`, nil), []string{big}},
		{"what a command printed to both", "Bash", nil, bash(big, object{"stderr": "!" + big}), bash(`pointer 0 by Bash`, object{"stderr": `pointer 1 by Bash`}), []string{big, "!" + big}},
		{"the one that is large", "Bash", nil, bash("short", object{"stderr": big}), bash("short", object{"stderr": `pointer 0 by Bash`}), []string{big}},
		{
			"what the client has cut is kept whole", "Bash", nil,
			bash(big, object{"persistedOutputPath": kept, "persistedOutputSize": len(all)}), bash(`pointer 0 by Bash`, nil),
			[]string{all},
		},
		{"a file that is not the whole stays with the client", "Bash", nil, bash(big, object{"persistedOutputPath": kept, "persistedOutputSize": len(all) + 1}), nil, nil},
		{
			"a file that is not beside the transcript is not looked at", "Bash", nil,
			bash(big, object{"persistedOutputPath": elsewhere, "persistedOutputSize": len(all)}),
			bash(`pointer 0 by Bash`, object{"persistedOutputPath": elsewhere, "persistedOutputSize": float64(len(all))}),
			[]string{big},
		},
		{"a picture", "Bash", nil, bash(big, object{"isImage": true}), nil, nil},
		{
			"a file that was read, whose lines the client would number anew", "Read", nil,
			object{"type": "text", "file": object{"filePath": "/srv/a", "content": big, "startLine": 1.0, "numLines": 2000.0}},
			cell("/srv/a", `pointer 0 by Read from line 1`),
			[]string{big},
		},
		{
			"a part of a file", "Read",
			object{"file_path": "/srv/a", "offset": 3479},
			object{"type": "text", "file": object{"filePath": "/srv/a", "content": big, "startLine": 3479.0, "numLines": 2000.0}},
			cell("/srv/a", `pointer 0 by Read from line 3479`),
			[]string{big},
		},
		{"a picture that was read", "Read", nil, object{"type": "image", "file": object{"base64": big, "content": big}}, nil, nil},
		{"what a search found", "Grep", nil, object{"mode": "content", "content": big}, object{"mode": "content", "content": `pointer 0 by Grep`}, []string{big}},
		{"a page", "WebFetch", nil, object{"result": big, "code": 200.0}, object{"result": `pointer 0 by WebFetch`, "code": 200.0}, []string{big}},
		{
			"the report of a sub-agent", "Agent", nil,
			object{"status": "completed", "prompt": big, "content": []any{object{"type": "text", "text": big}}},
			object{"status": "completed", "prompt": big, "content": []any{object{"type": "text", "text": `pointer 0 by Agent`}}},
			[]string{big},
		},
		{
			"blocks of an MCP tool", "mcp__desk__list", nil,
			[]any{object{"type": "text", "text": "small"}, object{"type": "text", "text": big}, object{"type": "image", "data": big}},
			[]any{object{"type": "text", "text": "small"}, object{"type": "text", "text": `pointer 0 by mcp__desk__list`}, object{"type": "image", "data": big}},
			[]string{big},
		},
		{"the text of an MCP tool", "mcp__desk__list", nil, big, `pointer 0 by mcp__desk__list`, []string{big}},
		{"what Carrel itself returns", "mcp__carrel__recall", nil, []any{object{"type": "text", "text": big}}, nil, nil},
		{"what Carrel returns as a plug-in", "mcp__plugin_carrel_carrel__recall", nil, []any{object{"type": "text", "text": big}}, nil, nil},
		{"what its command returns", "Bash", object{"command": "cd x && /usr/bin/carrel stash get id0 | head -500"}, bash(big, nil), nil, nil},
		{"a file that was written", "Write", nil, object{"type": "create", "content": big}, nil, nil},
		{"a tool that nobody knows", "Loom", nil, object{"stdout": big, "content": big}, nil, nil},
		{"a result of another shape", "Bash", nil, []any{big}, nil, nil},
		{"no result", "Bash", object{"command": big}, nil, nil, nil},
		{"small results", "Bash", object{"command": big}, bash("short", nil), nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &engine{}
			var notes []error
			out, err := run(t, e, "PostToolUse", c.input(t, "PostToolUse", object{
				"tool_name": tt.tool, "tool_input": tt.input, "tool_response": tt.response, "tool_use_id": "toolu_1",
			}), hook.Options{Note: func(err error) { notes = append(notes, err) }})
			var stashed []string
			for _, s := range e.stash {
				stashed = append(stashed, string(s))
			}
			if diff := cmp.Diff(tt.stashed, stashed); diff != "" {
				t.Errorf("stashed (-want +got):\n%s", diff)
			}
			if tt.want == nil {
				if out != "" {
					t.Errorf("printed %s, want nothing", out)
				}
				return
			}
			if err != nil || notes != nil {
				t.Fatal(err, notes)
			}
			var got any
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatalf("%v in %s", err, out)
			}
			want := object{"hookSpecificOutput": object{"hookEventName": "PostToolUse", "updatedToolOutput": tt.want}}
			if diff := cmp.Diff(any(want), got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	c := newClient(t)
	const imported = "claudecode 1111.jsonl 16"
	for _, tt := range []struct {
		name, event string
		members     object
		text        string // printed as it is
		context     string // printed as additional context
		opens       bool
		imports     []string
	}{
		{"a new session is greeted", "SessionStart", object{"source": "startup"}, "", "recall tool of the carrel server", false, nil},
		{"a session that goes on, too", "SessionStart", object{"source": "resume"}, "", "recall tool of the carrel server", false, nil},
		{"after a compaction it says how things stand", "SessionStart", object{"source": "compact"}, "", "brief of s1 for a restart", true, []string{imported}},
		{"before a compaction it says what to keep", "PreCompact", object{"trigger": "auto"}, "brief of s1 for a compaction\n", "", true, []string{imported}},
		{"a compaction is imported", "PostCompact", nil, "", "", true, []string{imported}},
		{"an answer is imported", "Stop", nil, "", "", true, []string{imported}},
		{"a question is imported", "UserPromptSubmit", object{"prompt": "go on"}, "", "", true, []string{imported}},
		{"the end is imported", "SessionEnd", object{"reason": "other"}, "", "", true, []string{imported}},
		{"a small result needs nothing", "PostToolUse", object{"tool_name": "Bash", "tool_response": object{"stdout": "ok"}}, "", "", false, nil},
		{"an event that nobody knows needs nothing", "TeaTime", nil, "", "", false, nil},
		{"nor does one that is known", "PreToolUse", object{"tool_name": "Bash"}, "", "", false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &engine{}
			out, err := run(t, e, tt.event, c.input(t, tt.event, tt.members), hook.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if (e.opened > 0) != tt.opens {
				t.Errorf("opened the store %d times", e.opened)
			}
			if diff := cmp.Diff(tt.imports, e.imports); diff != "" {
				t.Errorf("imported (-want +got):\n%s", diff)
			}
			if tt.context == "" {
				if out != tt.text {
					t.Errorf("printed %q, want %q", out, tt.text)
				}
				return
			}
			var got struct {
				Out struct{ HookEventName, AdditionalContext string } `json:"hookSpecificOutput"`
			}
			if err := json.Unmarshal([]byte(out), &got); err != nil || got.Out.HookEventName != tt.event || !strings.Contains(got.Out.AdditionalContext, tt.context) {
				t.Errorf("printed %s, %v, want context %q", out, err, tt.context)
			}
		})
	}
}

// Whatever fails, an agent hears nothing of it and keeps what it had.
func TestFailsOpen(t *testing.T) {
	c := newClient(t)
	down := errors.New("down")
	result := c.input(t, "PostToolUse", object{"tool_name": "Bash", "tool_response": object{"stdout": big, "stderr": ""}})
	compact := c.input(t, "PreCompact", nil)
	for _, tt := range []struct {
		name, event, input string
		engine             engine
		want               error // nil for any
	}{
		{"the store does not open", "PostToolUse", result, engine{fail: map[string]error{"open": down}}, down},
		{"the stash does not take it", "PostToolUse", result, engine{fail: map[string]error{"stash": down}}, down},
		{"it holds a credential", "PostToolUse", result, engine{fail: map[string]error{"stash": carrel.ErrPolicy}}, carrel.ErrPolicy},
		{"the store does not close", "PostToolUse", result, engine{fail: map[string]error{"close": down}}, down},
		{"the stash panics", "PostToolUse", result, engine{panics: "stash"}, nil},
		{"the stash takes forever", "PostToolUse", result, engine{hangs: "stash"}, hook.ErrLate},
		{"there is no brief", "PreCompact", compact, engine{fail: map[string]error{"brief": down}}, down},
		{"nothing can be imported", "PreCompact", compact, engine{fail: map[string]error{"import": down}}, down},
		{"the input is no JSON", "PreCompact", "{", engine{}, nil},
		{"the transcript is a folder", "Stop", fmt.Sprintf(`{"transcript_path":%q}`, c.results), engine{}, nil},
		{"no transcript is named", "Stop", "{}", engine{}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			limit := time.Hour
			if tt.engine.hangs != "" {
				limit = time.Millisecond
			}
			out, err := run(t, &tt.engine, tt.event, tt.input, hook.Options{Limit: limit})
			if out != "" {
				t.Errorf("printed %q", out)
			}
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
	t.Run("standard input breaks", func(t *testing.T) {
		var out strings.Builder
		e := &engine{}
		if err := hook.Run(t.Context(), hook.Claude, "Stop", iotest.ErrReader(down), &out, &hook.Options{Open: e.open}); !errors.Is(err, down) || out.Len() > 0 {
			t.Errorf("error %v, printed %q", err, out.String())
		}
	})
}

func TestTitles(t *testing.T) {
	c := newClient(t)
	for input, want := range map[string]string{
		`{"command":"make all\nmake test","description":"build"}`: "Bash make all",
		`{"command":"` + strings.Repeat("é", 100) + `"}`:          "Bash " + strings.Repeat("é", 79) + "…",
		`{"command":7}`: "Bash",
		`[]`:            "Bash",
	} {
		e := &engine{}
		if _, err := run(t, e, "PostToolUse", c.input(t, "PostToolUse", object{
			"tool_name": "Bash", "tool_input": json.RawMessage(input), "tool_response": object{"stdout": big},
		}), hook.Options{}); err != nil || !slices.Equal(e.titles, []string{want}) {
			t.Errorf("%s: titles %q, %v, want %q", input, e.titles, err, want)
		}
	}
}

// What a session says helps to shorten a result, but is not needed for it.
func TestResultWithoutHistory(t *testing.T) {
	c := newClient(t)
	e := &engine{fail: map[string]error{"import": errors.New("down")}}
	var notes []error
	out, err := run(t, e, "PostToolUse", c.input(t, "PostToolUse", object{"tool_name": "Bash", "tool_response": object{"stdout": big}}),
		hook.Options{Note: func(err error) { notes = append(notes, err) }})
	if err != nil || len(notes) != 1 || !strings.Contains(out, `pointer 0 by Bash`) {
		t.Errorf("printed %s, noted %v, error %v", out, notes, err)
	}
}

// A pointer replaces an output only if it is shorter and the whole output is in the stash. What
// fails for one output is noted, and the other one is replaced.
func TestPointersThatServe(t *testing.T) {
	c := newClient(t)
	cut := c.write(t, c.results+"/b1.txt", "all")
	for _, tt := range []struct {
		name   string
		alter  func(*carrel.StashResult)
		more   object
		want   string
		failed bool
		notes  int
	}{
		{"a shorter pointer", func(r *carrel.StashResult) { r.Pointer = strings.Repeat("p", len(big)-1) }, nil, "ppp", false, 0},
		{"a pointer of the same length", func(r *carrel.StashResult) { r.Pointer = strings.Repeat("p", len(big)) }, nil, "", false, 0},
		{"a part in the stash", func(r *carrel.StashResult) { r.Bytes-- }, nil, "", true, 0},
		{"a pointer to nothing", func(r *carrel.StashResult) { r.ID = "" }, nil, "", true, 0},
		{"another output that fails", nil, object{"stderr": "!" + big, "persistedOutputPath": cut, "persistedOutputSize": 4}, `"stderr":"pointer 0 by Bash"`, false, 1},
	} {
		response := object{"stdout": big, "stderr": ""}
		maps.Copy(response, tt.more)
		var notes []error
		out, err := run(t, &engine{alter: tt.alter}, "PostToolUse", c.input(t, "PostToolUse", object{"tool_name": "Bash", "tool_response": response}),
			hook.Options{Note: func(err error) { notes = append(notes, err) }})
		if (err != nil) != tt.failed || len(notes) != tt.notes || !strings.Contains(out, tt.want) || tt.want == "" && out != "" {
			t.Errorf("%s: printed %.200s, noted %v, error %v", tt.name, out, notes, err)
		}
	}
}

// An event of 64 MiB is answered, and a longer one is not.
func TestLargestEvent(t *testing.T) {
	for size, ok := range map[int]bool{64 << 20: true, 64<<20 + 1: false} {
		in := io.MultiReader(strings.NewReader("{}"), strings.NewReader(strings.Repeat(" ", size-2)))
		if err := hook.Run(t.Context(), hook.Claude, "TeaTime", in, io.Discard, &hook.Options{Limit: time.Hour}); (err == nil) != ok {
			t.Errorf("an event of %d bytes: %v", size, err)
		}
	}
}

// A conversation is imported up to 1 MiB while the agent waits, and else up to 512 MiB.
func TestLargestConversation(t *testing.T) {
	for _, tt := range []struct {
		event    string
		size     int64
		imported bool
		failed   bool
	}{
		{"Stop", 1 << 20, true, false},
		{"Stop", 1<<20 + 1, false, false},
		{"UserPromptSubmit", 512 << 20, true, false},
		{"UserPromptSubmit", 512<<20 + 1, false, true},
	} {
		c, e := newClient(t), &engine{}
		if err := os.Truncate(c.transcript, tt.size); err != nil {
			t.Fatal(err)
		}
		_, err := run(t, e, tt.event, c.input(t, tt.event, nil), hook.Options{Limit: time.Hour})
		if len(e.imports) == 1 != tt.imported || (err != nil) != tt.failed {
			t.Errorf("%s of %d bytes: imported %v, %v", tt.event, tt.size, e.imports, err)
		}
	}
}

// What an event says of the session goes on before anything else is done, but not what
// an event of the past says. A failure there spoils nothing.
func TestSessionIsNamed(t *testing.T) {
	c := newClient(t)
	for event, want := range map[string]bool{
		"SessionStart": true, "UserPromptSubmit": true, "PostToolUse": true, "PreCompact": true, "TeaTime": true,
		"Stop": false, "SessionEnd": false, "PostCompact": false,
	} {
		var named []string
		var noted []error
		down := errors.New("down")
		_, err := run(t, &engine{fail: map[string]error{"open": errors.New("no store")}}, event, c.input(t, event, nil), hook.Options{
			Named: func(e *hook.Event) error {
				named = append(named, string(e.Session)+" "+e.Transcript)
				return down
			},
			Note: func(err error) { noted = append(noted, err) },
		})
		if err != nil && err.Error() != "no store" {
			t.Errorf("%s: %v", event, err)
		}
		if got := slices.Equal(named, []string{"1111 " + c.transcript}); got != want || len(named) > 1 || want != slices.Contains(noted, down) {
			t.Errorf("%s: named %q, noted %v", event, named, noted)
		}
	}
	if _, err := run(t, &engine{}, "PreToolUse", `{"cwd":"/srv"}`, hook.Options{Named: func(e *hook.Event) error {
		t.Errorf("an event without a session names %q", e.Session)
		return nil
	}}); err != nil {
		t.Error(err)
	}
}

// What an agent waits for does not grow with the session: of a long conversation its
// beginning and its end are read, and it is imported by an event that the agent does
// not wait for.
func TestTheAgentDoesNotWaitForALongConversation(t *testing.T) {
	row := `{"type":"user","uuid":"u"}` + strings.Repeat(" ", 974) + "\n" // 1,001 bytes
	var histories []int
	for _, tt := range []struct {
		rows int
		want []string // the events that import it
	}{
		{1000, []string{"PostToolUse", "Stop", "UserPromptSubmit", "SessionEnd"}},
		{3600, []string{"UserPromptSubmit", "SessionEnd"}},
		{36_000, []string{"UserPromptSubmit", "SessionEnd"}},
	} {
		c := newClient(t)
		c.write(t, c.transcript, strings.Repeat(row, tt.rows))
		e := &engine{}
		var imported []string
		for _, event := range []string{"PostToolUse", "Stop", "UserPromptSubmit", "SessionEnd"} {
			before := len(e.imports)
			input := c.input(t, event, object{"tool_name": "Bash", "tool_response": object{"stdout": big}})
			if _, err := run(t, e, event, input, hook.Options{Limit: time.Hour}); err != nil {
				t.Fatal(err)
			}
			if len(e.imports) > before {
				imported = append(imported, event)
			}
		}
		if diff := cmp.Diff(tt.want, imported); diff != "" {
			t.Errorf("%d rows: imported by (-want +got):\n%s", tt.rows, diff)
		}
		histories = append(histories, e.histories...)
	}
	if len(histories) != 3 || histories[1] == 0 || slices.Max(histories) > 600<<10 {
		t.Errorf("the stash is told %v bytes of the conversations", histories)
	}
	if difference := histories[2] - histories[1]; difference < -2*len(row) || difference > 2*len(row) { // of parts of rows
		t.Errorf("of 3.6 MB %d bytes are read, of 36 MB %d", histories[1], histories[2])
	}
}

// Where more of a conversation is known than its file has at the moment, as another hook
// was faster, what is known is what counts.
func TestMoreIsKnown(t *testing.T) {
	c := newClient(t)
	shorter := &carrel.ShorterError{Session: "s1", Known: 9, Has: 7}
	for _, tt := range []struct {
		name, event string
		members     object
		want        string
	}{
		{"before a compaction", "PreCompact", object{"trigger": "auto"}, "brief of s1 for a compaction"},
		{"after it", "SessionStart", object{"source": "compact"}, "brief of s1 for a restart"},
		{"a result", "PostToolUse", object{"tool_name": "Bash", "tool_response": object{"stdout": big}}, "pointer 0 by Bash"},
	} {
		var notes []error
		e := &engine{fail: map[string]error{"import": fmt.Errorf("import: %w", shorter)}}
		out, err := run(t, e, tt.event, c.input(t, tt.event, tt.members), hook.Options{Note: func(err error) { notes = append(notes, err) }})
		if err != nil || !strings.Contains(out, tt.want) {
			t.Errorf("%s: printed %s, want %s: %v", tt.name, out, tt.want, err)
		}
		if len(notes) != 1 || !errors.Is(notes[0], carrel.ErrShorter) {
			t.Errorf("%s: notes %v", tt.name, notes)
		}
	}
}

// The first message of a session is sent before there is a transcript.
func TestNothingWasSaidYet(t *testing.T) {
	for _, event := range []string{"UserPromptSubmit", "Stop", "PreCompact"} {
		if out, err := run(t, &engine{}, event, `{"transcript_path":"/nowhere/1.jsonl"}`, hook.Options{}); out != "" || err != nil {
			t.Errorf("%s: printed %q, error %v", event, out, err)
		}
	}
}

// Whatever comes in, nothing goes out but what the client takes; and the same again
// gives the same.
func TestProperties(t *testing.T) {
	c := newClient(t)
	text := rapid.OneOf(rapid.String(), rapid.Custom(func(rt *rapid.T) string {
		return strings.Repeat(rapid.SampledFrom([]string{"x", "é\n", "\\", "<a>", "\x00"}).Draw(rt, "unit"), rapid.IntRange(0, 40_000).Draw(rt, "times"))
	}))
	var value *rapid.Generator[any]
	value = rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int32().AsAny(), text.AsAny(), text.AsAny(),
			rapid.SliceOfN(value, 0, 3).AsAny(),
			rapid.MapOfN(rapid.SampledFrom([]string{"stdout", "stderr", "file", "content", "text", "type", "result", "isImage", "persistedOutputPath"}), value, 0, 4).AsAny(),
		)
	})
	rapid.Check(t, func(rt *rapid.T) {
		event := rapid.SampledFrom([]string{"PostToolUse", "PostToolUse", "PostToolUse", "SessionStart", "PreCompact", "Stop", "Tea", ""}).Draw(rt, "event")
		input := c.input(t, event, object{
			"source":        value.Draw(rt, "source"),
			"tool_name":     rapid.OneOf(rapid.SampledFrom([]string{"Bash", "Read", "Agent", "mcp__a__b"}).AsAny(), value).Draw(rt, "tool"),
			"tool_input":    value.Draw(rt, "input"),
			"tool_response": value.Draw(rt, "response"),
		})
		if rapid.Bool().Draw(rt, "torn") {
			input = input[:rapid.IntRange(0, len(input)).Draw(rt, "at")]
		}
		e := &engine{}
		first, _ := run(t, e, event, input, hook.Options{})
		again, _ := run(t, e, event, input, hook.Options{})
		if first != again {
			rt.Fatalf("the same event was answered %q and %q", first, again)
		}
		if first == "" || event == "PreCompact" && strings.HasPrefix(first, "brief of ") {
			return
		}
		var out map[string]map[string]json.RawMessage
		if err := json.Unmarshal([]byte(first), &out); err != nil || len(out) != 1 {
			rt.Fatalf("%v in %s", err, first)
		}
		for k := range out["hookSpecificOutput"] {
			if k != "hookEventName" && k != "additionalContext" && k != "updatedToolOutput" {
				rt.Fatalf("the client knows no %q", k)
			}
		}
		if got := string(out["hookSpecificOutput"]["hookEventName"]); got != `"`+event+`"` {
			rt.Fatalf("an answer to %s calls itself one to %s", event, got)
		}
	})
}

// A text that is no Unicode cannot come back byte for byte, so it stays where it is.
func TestNoUnicode(t *testing.T) {
	c := newClient(t)
	input := c.input(t, "PostToolUse", object{"tool_name": "Bash", "tool_response": object{"stdout": big + "HERE"}})
	for bad, stays := range map[string]bool{`\ud800`: true, "\xff": true, `\ufffd`: false, "\uFFFD": false} {
		e := &engine{}
		out, err := run(t, e, "PostToolUse", strings.Replace(input, "HERE", bad, 1), hook.Options{})
		if (out == "") != stays || (err != nil) != stays || (len(e.stash) == 0) != stays {
			t.Errorf("with %q: printed %q, error %v", bad, out, err)
		}
	}
}
