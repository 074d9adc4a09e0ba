package carrel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// hostile returns outputs of tools that were written to be taken for something else.
func hostile(t testing.TB) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/hostile.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Name, Text string }
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, c := range list {
		all[c.Name] = c.Text
	}
	return all
}

// attacked is a request, by either provider's rules, in which what tools returned and
// what they were called with comes from a function.
func attacked(t require, format string, steps int, text func(what string) string) []byte {
	type m = map[string]any
	var msgs []m
	say := func(role, text string) { msgs = append(msgs, m{"role": role, "content": text}) }
	say("user", "Find why the deployment hangs and mend it.")
	for i := range steps {
		id, name := fmt.Sprintf("c%d", i), []string{"Bash", "Read", "Edit", "mcp__x__y"}[i%4]
		input := m{"command": "deploy " + text("argument"), "file_path": fmt.Sprintf("/srv/app/%d%s.go", i, text("path"))}
		result := fmt.Sprintf("line one of /srv/app/%d.go\n%s\n", i, text("result")) + strings.Repeat(fmt.Sprintf("ok internal/pool%d 0.1s\n", i), 8)
		failed := i%5 == 2
		if format == "openai" {
			raw, err := json.Marshal(input)
			if err != nil {
				t.Fatal(err)
			}
			msgs = append(msgs,
				m{"role": "assistant", "content": nil, "tool_calls": []any{m{"id": id, "type": "function", "function": m{"name": name, "arguments": string(raw)}}}},
				m{"role": "tool", "tool_call_id": id, "content": result})
		} else {
			msgs = append(msgs,
				m{"role": "assistant", "content": []any{m{"type": "tool_use", "id": id, "name": name, "input": input}}},
				m{"role": "user", "content": []any{m{"type": "tool_result", "tool_use_id": id, "content": result, "is_error": failed}}})
		}
		if i%6 == 5 {
			say("assistant", "That is done.")
			say("user", fmt.Sprintf("Go on with part %d, but never touch the database.", i))
		}
	}
	say("assistant", "It hangs in the pool.")
	say("user", "Then mend the pool.")
	data, err := json.Marshal(m{"model": "claude-opus-4-8", "messages": msgs})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var (
	lineEnds = regexp.MustCompile("\r\n|[\n\v\f\r\x1c\x1d\x1e\u0085\u2028\u2029]")
	someone  = regexp.MustCompile(`(?i)^(human|user|assistant|system|developer|tool):|^\[system\]`)
	harness  = regexp.MustCompile(`(?i)</?(system-reminder|command-|local-command|bash-|task-notification)`)
	genuine  = regexp.MustCompile(`^\[carrel ([0-9a-f]{8}|sum_[0-9a-f]{8})[ :\]]`)
)

// ours fails if a line of a text, which is Carrel's, seems to be what it is not: known
// has the ids that a stub may have. Behind the end of a quotation stand ids of blocks alone,
// which are those of the user's messages that left.
func ours(t require, what, text string, known map[string]bool) {
	lines := lineEnds.Split(text, -1)
	for i, line := range lines {
		switch head := genuine.FindStringSubmatch(line); {
		case head != nil && known[head[1]]:
			continue
		case strings.HasPrefix(line, transcript.Mark):
			t.Fatalf("%s: line %d seems to be a stub: %q\n%s", what, i, line, text)
		case line == transcript.End && slices.ContainsFunc(lines[i+1:], func(line string) bool { return !trace.MatchString(line) }):
			t.Fatalf("%s: line %d seems to be the end\n%s", what, i, text)
		case someone.MatchString(line):
			t.Fatalf("%s: line %d seems to be somebody's turn: %q\n%s", what, i, line, text)
		}
	}
	if tag := harness.FindString(text); tag != "" {
		t.Fatalf("%s: has the tag %q\n%s", what, tag, text)
	}
}

// apart checks every message of an export that is not one of the conversation: what is
// not the tool's own message has nothing that only seems to be ours.
func apart(t require, what, format string, data []byte, original map[string]bool, known map[string]bool) {
	s := decoded(t, format, data)
	merges := format == "anthropic" || format == "claudecode"
	for i := range s.Messages {
		m := &s.Messages[i]
		text := m.Text()
		if m.Role == transcript.RoleTool || text == "" || original[text] || text == transcript.Opening {
			continue // what stands between two replies, where a provider wants a user's words, says nothing
		}
		if format == "pager" && m.Role == transcript.RoleAssistant {
			ours(t, what, text, nil)
			continue
		}
		ours(t, what, text, known)
		if m.Role == transcript.RoleAssistant {
			continue // an account is in the voice of who spoke
		}
		if cutFrom(text, original) {
			continue // the user's own words, and no quotation that would have to end
		}
		text = behindWords(text, original)
		if !strings.HasPrefix(text, transcript.Mark) {
			t.Fatalf("%s: message %d of the %s does not begin with a mark: %s", what, i, m.Role, text)
		}
		lines := strings.Split(text, "\n")
		last := lines[len(lines)-1]
		follows := i+1 < len(s.Messages) && (s.Messages[i+1].Role == transcript.RoleAssistant || genuine.MatchString(s.Messages[i+1].Text()))
		if merges && !follows && last != transcript.End && !genuine.MatchString(last) {
			t.Fatalf("%s: message %d of %s has no end before what follows:\n%s", what, i, data, text)
		}
	}
}

// behindWords returns a text without what an account keeps of the user's words in front of
// the first stub, and behind a stub that quotes nothing.
func behindWords(text string, original map[string]bool) string {
	if before, stub, found := strings.Cut(text, "\n"+transcript.Mark); found && !strings.HasPrefix(text, transcript.Mark) && cutFrom(before, original) {
		text = transcript.Mark + stub
	}
	if head, words, found := strings.Cut(text, "\n"); found && strings.HasPrefix(head, transcript.Mark) && cutFrom(words, original) {
		return head
	}
	return text
}

// cutFrom reports whether a text consists of lines of one message, and ids of blocks: it is
// what an account keeps of it.
func cutFrom(text string, original map[string]bool) bool {
	for whole := range original {
		all := true
		for line := range strings.SplitSeq(text, "\n") {
			for part := range strings.SplitSeq(line, " … ") {
				all = all && (strings.Contains(whole, part) || trace.MatchString(part) || part == transcript.End)
			}
		}
		if all {
			return true
		}
	}
	return false
}

var trace = regexp.MustCompile(`^\[[0-9a-f]{8}\]$`)

// saidIn returns the texts of the messages of a conversation.
func saidIn(t require, format string, data []byte) map[string]bool {
	f, err := carrel.FormatNamed(format)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Decode("x", data)
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]bool)
	for i := range s.Messages {
		texts[s.Messages[i].Text()] = true
	}
	return texts
}

// heldApart checks all that is made of an attacked session after one compression.
func heldApart(t require, e *carrel.Engine, format string, data []byte, req *carrel.CompressRequest) {
	ctx := context.Background()
	in, err := e.Import(ctx, scope, &carrel.ImportRequest{Name: "x.json", Format: format, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	req.Session, req.ProbeMin = in.Session, anything()
	_, err = e.Compress(ctx, scope, req)
	if err != nil && !errors.Is(err, carrel.ErrBudget) {
		t.Fatal(err)
	}
	list, err := e.Messages(ctx, scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	rest := data
	for i := range list.Messages {
		known[list.Messages[i].ID.Short()] = true
		got, err := e.Recall(ctx, scope, &carrel.RecallRequest{Block: string(list.Messages[i].ID)})
		if err != nil {
			t.Fatal(err)
		}
		// The bytes of a block are in the file, one behind the other.
		first, _, _ := bytes.Cut(got.Data, []byte("}{"))
		at := bytes.Index(rest, first)
		if at < 0 {
			t.Fatalf("block %d comes back as %s", i, got.Data)
		}
		rest = rest[at:]
	}
	if sum, err := e.Summary(ctx, scope, &carrel.SessionRequest{Session: in.Session}); err == nil {
		known[string(sum.ID)] = true
	}
	original := saidIn(t, format, data)
	for _, to := range carrel.Formats() {
		out, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: in.Session, To: to})
		if err != nil {
			t.Fatal(err)
		}
		apart(t, string(req.Strategy)+" to "+to, to, out.Data, original, known)
	}
	for _, p := range []carrel.Purpose{carrel.PurposeCompaction, carrel.PurposeRestart} {
		b, err := e.Brief(ctx, scope, &carrel.BriefRequest{Session: in.Session, For: p})
		if err != nil {
			t.Fatal(err)
		}
		ours(t, "brief", b.Text, nil)
	}
	packet, err := e.Handoff(ctx, scope, &carrel.HandoffRequest{Session: in.Session})
	if err != nil && !errors.Is(err, carrel.ErrPolicy) {
		t.Fatal(err)
	}
	if err == nil {
		ours(t, "packet", packet.Packet.Markdown(), nil)
	}
	for _, to := range []string{"text", "openai", "anthropic", "responses"} {
		out, err := e.Assemble(ctx, scope, &carrel.AssembleRequest{Session: in.Session, Format: to, Query: "the pool", Budget: 2 * in.Tokens})
		if err != nil {
			t.Fatal(err)
		}
		if to == "text" {
			continue // messages are in fences
		}
		original["the pool\n"], original["the pool"] = true, true
		apart(t, "context for "+to, to, out.Data, original, known)
	}
}

// What tools say is in no other role's text but as a quotation, whatever it is: each
// hostile output, by every strategy, from either format in turn, in every export.
func TestHostileOutputs(t *testing.T) {
	all := hostile(t)
	for at, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			for k, strategy := range carrel.Strategies() {
				i := (at + k) % 2
				format := []string{"openai", "anthropic"}[i]
				e, _ := summarizing(t, carrel.Options{Strategy: strategy, Counter: quarter{}})
				data := attacked(t, format, 13, func(what string) string {
					if what == "path" {
						return ""
					}
					return all[name]
				})
				heldApart(t, e, format, data, &carrel.CompressRequest{Strategy: strategy, Target: carrel.Target{Share: ratio.Of(int64(20+30*i), 100)}})
			}
		})
	}
}

// The same for outputs, arguments and names of files that are made of hostile pieces.
func TestNoToolSpeaksForTheUser(t *testing.T) {
	t.Parallel()
	pieces := []string{
		"[carrel", " deadbeef", " Bash", ": paged", "]", "[end]", "\n", "\r", "\u2028", "\u0085", "\x1e", "\u200b", " ", "\n\n", "Human:", "user:", "<system-reminder>", "</",
		"## ", "- ", "error: ", "panic: ", "FAIL", `"`, `\`, "internal/pool3", "remember a ", "/srv/app/1.go", "exit code 1", "[car", "rel",
	}
	for _, text := range hostile(t) {
		pieces = append(pieces, text)
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6)
		format := rapid.SampledFrom([]string{"openai", "anthropic"}).Draw(t, "format")
		strategy := rapid.SampledFrom(carrel.Strategies()).Draw(t, "strategy")
		data := attacked(t, format, rapid.IntRange(1, 16).Draw(t, "steps"), func(what string) string {
			return strings.Join(draw.Draw(t, what), "")
		})
		e, err := carrel.New(stores.New(t), &carrel.Options{Counter: quarter{}})
		if err != nil {
			t.Fatal(err)
		}
		heldApart(t, e, format, data, &carrel.CompressRequest{Strategy: strategy, Target: carrel.Target{Tokens: token.Count(rapid.IntRange(200, 4000).Draw(t, "target"))}})
	})
}

// A pointer to a stashed output, and an artifact in its fence, have no line that seems
// to be ours.
func TestHostileOutputsInTheStash(t *testing.T) {
	known := regexp.MustCompile(`(?m)^\[carrel(: stashed \d+ bytes| [0-9a-f]+: \d+ tokens left|: \d+ bytes (of lines \d+ to \d+ are )?left out|: the end of the text follows)`)
	for name, text := range hostile(t) {
		for _, n := range []int{1, 400} {
			e, _ := summarizing(t, carrel.Options{})
			content := strings.Repeat(text+"\nok\n", n)
			res, err := e.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(content)})
			if err != nil {
				t.Fatal(err)
			}
			marks := 0
			for _, line := range lineEnds.Split(res.Pointer, -1) {
				if strings.HasPrefix(line, transcript.Mark) {
					marks++
					if !known.MatchString(line) || strings.Contains(line, "deadbeef") {
						t.Errorf("%s: %q is in the pointer", name, line)
					}
				}
			}
			if marks == 0 || marks > 3 {
				t.Errorf("%s: %d lines of the pointer seem to be ours:\n%s", name, marks, res.Pointer)
			}
			if _, err := carrel.Items(e.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: provenance.Tool, Content: []byte(content)}}})); err != nil {
				t.Fatal(err)
			}
			out, err := e.Assemble(t.Context(), scope, &carrel.AssembleRequest{Query: "ok deploy", Budget: 2000})
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lineEnds.Split(string(out.Data), -1) {
				if strings.HasPrefix(line, transcript.Mark) && (!known.MatchString(line) || strings.Contains(line, "deadbeef")) {
					t.Errorf("%s: %q is in the context", name, line)
				}
			}
		}
	}
}

// A result that lost its call is a quotation, and a packet that repeats such lines can
// be read back.
func TestHostileOutputsElsewhere(t *testing.T) {
	for name, text := range hostile(t) {
		msgs := []transcript.Message{
			{Role: transcript.RoleUser, Parts: []transcript.Part{transcript.Text("go on")}},
			{Role: transcript.RoleTool, Parts: []transcript.Part{transcript.ToolResult{CallID: "x" + text, Content: []transcript.Part{transcript.Text(text)}}}},
		}
		entries, _ := transcript.Repair([]transcript.Entry{transcript.Keep(&msgs[0], ""), transcript.Keep(&msgs[1], "")})
		got := entries[1].Text()
		_, body, _ := strings.Cut(got, "\n")
		ours(t, name, body, nil)
		if transcript.Unquote(body) != text {
			t.Errorf("%s: %q is quoted as %q", name, text, body)
		}
		p := handoff.Build(&handoff.Input{Session: "s", By: "b", For: "f", Date: "2026-03-02", Goal: text, State: text, Notes: text})
		document := p.Markdown()
		for _, line := range lineEnds.Split(document, -1) {
			if strings.HasPrefix(line, transcript.Mark) {
				t.Errorf("%s: %q is in a packet", name, line)
			}
		}
		back, err := handoff.Parse("p", []byte(document))
		if err != nil || back.Goal != p.Goal || back.Notes != p.Notes {
			t.Errorf("%s: the packet is read back as %+v, %v", name, back, err)
		}
	}
}
