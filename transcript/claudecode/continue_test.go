package claudecode

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

// A scribe writes random rows with few distinct ids, so that rows refer to one another often.
type scribe struct {
	*rapid.T

	uuids, messages, calls []string
}

// id returns an id of a kind: mostly a new one, else any id that exists or will exist.
func (s *scribe) id(kind string, all *[]string) string {
	if s.one(8) {
		return fmt.Sprintf("%s%d", kind, rapid.IntRange(0, 12).Draw(s.T, kind))
	}
	id := fmt.Sprintf("%s%d", kind, len(*all))
	*all = append(*all, id)
	return id
}

// old returns an existing id: mostly the last, else any.
func (s *scribe) old(kind string, all []string) string {
	if len(all) == 0 || s.one(6) {
		return fmt.Sprintf("%s%d", kind, rapid.IntRange(0, 12).Draw(s.T, "old "+kind))
	}
	return all[len(all)-1-min(len(all)-1, rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(s.T, "back"))]
}

// one is true once in n times.
func (s *scribe) one(n int) bool { return rapid.IntRange(1, n).Draw(s.T, "chance") == n }

func (s *scribe) row() string {
	if s.one(25) {
		return rapid.SampledFrom([]string{"", "{}", "torn {", `{"type":"summary","summary":"A title"}`, `{"type":"mode"}`}).Draw(s.T, "line")
	}
	parent := `"` + s.old("u", s.uuids) + `"`
	if len(s.uuids) == 0 {
		parent = "null"
	}
	head := fmt.Sprintf(`"sessionId":"s","parentUuid":%s,"uuid":"%s"`, parent, s.id("u", &s.uuids))
	for _, flag := range []string{"isMeta", "isSidechain", "isCompactSummary"} {
		if s.one(20) {
			head += fmt.Sprintf(`,"%s":true`, flag)
		}
	}
	switch rapid.IntRange(0, 9).Draw(s.T, "kind") {
	case 0, 1:
		return fmt.Sprintf(`{"type":"user",%s,"message":{"role":"user","content":"words"}}`, head)
	case 2, 3:
		return fmt.Sprintf(`{"type":"user",%s,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"%s","content":"out"}]}}`,
			head, s.old("c", s.calls))
	case 4:
		return fmt.Sprintf(`{"type":"attachment",%s}`, head)
	case 5:
		if s.one(3) {
			return fmt.Sprintf(`{"type":"system","subtype":"compact_boundary",%s,"logicalParentUuid":"%s","compactMetadata":{"preservedMessages":{"anchorUuid":"u%d","uuids":["%s","%s"]}}}`,
				head, s.old("u", s.uuids), len(s.uuids), s.old("u", s.uuids), s.old("u", s.uuids))
		}
	}
	message := s.old("m", s.messages)
	if !s.one(3) {
		message = s.id("m", &s.messages)
	}
	content := `{"type":"text","text":"said"}`
	if rapid.Bool().Draw(s.T, "calls") {
		content = fmt.Sprintf(`{"type":"tool_use","id":"%s","name":"Bash","input":{}}`, s.id("c", &s.calls))
	}
	return fmt.Sprintf(`{"type":"assistant",%s,"apiBlockIndex":%d,"message":{"id":"%s","role":"assistant","model":"m","content":[%s]}}`,
		head, rapid.IntRange(0, 2).Draw(s.T, "block"), message, content)
}

// A line describes one message, for comparison.
type line struct {
	id    string
	role  transcript.Role
	items []int
	parts string
}

// linesOf returns the messages as lines, with item numbers raised by behind.
func linesOf(msgs []transcript.Message, behind int) []line {
	var all []line
	for i := range msgs {
		items := slices.Clone(msgs[i].Items)
		for k := range items {
			items[k] += behind
		}
		all = append(all, line{msgs[i].ID, msgs[i].Role, items, fmt.Sprintf("%v", msgs[i].Parts)})
	}
	return all
}

// continued decodes the lines after the first n with Continue; nil if Continue refuses.
func continued(lines []string, n int) *transcript.Session {
	var before transcript.Session
	format{}.split(&before, []byte(strings.Join(lines[:n], "\n")))
	var all []string
	for _, item := range before.Items {
		all = slices.Concat(all, item.Brings, item.Mentions)
	}
	return format{}.Continue("s", []byte(strings.Join(lines[n:], "\n")+"\n"), func(id string) bool { return slices.Contains(all, id) })
}

// If Continue decodes the end of a file, Decode of the whole file ends with the same
// messages, and its earlier messages do not change when the end grows.
func TestContinueIsDecode(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := &scribe{T: rt}
		var lines []string
		for range rapid.IntRange(2, 12).Draw(rt, "rows") {
			lines = append(lines, s.row())
		}
		for n := range lines {
			var before []line
			var earlier [][]line
			first := true
			for to := n + 1; to <= len(lines); to++ {
				end := continued(lines[:to], n)
				if end == nil {
					continue
				}
				file := []byte(strings.Join(lines[:to], "\n") + "\n")
				whole, err := format{}.Decode("s", file)
				if err != nil {
					rt.Fatalf("lines from %d to %d are read alone; all: %v\n%s", n+1, to, err, file)
				}
				got, want := linesOf(whole.Messages, 0), linesOf(end.Messages, n)
				if len(got) < len(want) || !cmp.Equal(got[len(got)-len(want):], want, cmp.AllowUnexported(line{})) {
					rt.Fatalf("lines from %d to %d alone are\n%v\nthe file is\n%v\n%s", n+1, to, want, got, file)
				}
				var past [][]line
				for _, msgs := range whole.Earlier {
					past = append(past, linesOf(msgs, 0))
				}
				got = got[:len(got)-len(want)]
				if !first && (!cmp.Equal(got, before, cmp.AllowUnexported(line{})) || !cmp.Equal(past, earlier, cmp.AllowUnexported(line{}))) {
					rt.Fatalf("with lines from %d to %d the beginning is\n%v\n%v\nand was\n%v\n%v\n%s", n+1, to, past, got, earlier, before, file)
				}
				if end.ID != whole.ID || end.Project != whole.Project || end.Model != "" && end.Model != whole.Model {
					rt.Fatalf("the end is of %q %q %q, the file of %q %q %q", end.ID, end.Project, end.Model, whole.ID, whole.Project, whole.Model)
				}
				before, earlier, first = got, past, false
			}
		}
	})
}

// Continue reads the usual continuations, and refuses those that need the whole file.
func TestContinue(t *testing.T) {
	user := func(uuid, parent, text string) string {
		return fmt.Sprintf(`{"type":"user","uuid":%q,"parentUuid":%q,"sessionId":"s","message":{"role":"user","content":%q}}`, uuid, parent, text)
	}
	reply := func(uuid, parent, id, part string) string {
		return fmt.Sprintf(`{"type":"assistant","uuid":%q,"parentUuid":%q,"sessionId":"s","message":{"id":%q,"model":"m","content":[%s]}}`, uuid, parent, id, part)
	}
	call := func(id string) string { return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{}}`, id) }
	result := func(uuid, parent, id string) string {
		return fmt.Sprintf(`{"type":"user","uuid":%q,"parentUuid":%q,"sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"x"}]}}`, uuid, parent, id)
	}
	const text = `{"type":"text","text":"said"}`
	before := []string{user("u1", "", "Build it."), reply("a1", "u1", "m1", text), user("u2", "a1", "Go on."), reply("a2", "u2", "m2", call("c2")), result("r2", "a2", "c2")}
	for _, tt := range []struct {
		name string
		rows []string
		want int // messages, 0 if Continue must return nil
	}{
		{"an order", []string{user("u3", "r2", "And?")}, 1},
		{"a reply in two rows", []string{reply("a3", "r2", "m3", text), reply("a4", "a3", "m3", call("c3"))}, 1},
		{"two calls at a time", []string{reply("a3", "r2", "m3", call("c3")), reply("a4", "a3", "m3", call("c4")), result("r3", "a3", "c3"), result("r4", "a4", "c4"), user("u4", "r4", "Well.")}, 4},
		{"rows without an id", []string{user("u3", "r2", "And?"), `{"type":"mode","mode":"x"}`, reply("a3", "u3", "m3", text)}, 2},
		{"a note of the program", []string{user("u3", "r2", "And?"), `{"type":"system","uuid":"n","parentUuid":"a1"}`}, 1},
		{"a sub-agent", []string{user("u3", "r2", "And?"), `{"type":"user","uuid":"n","isSidechain":true,"message":{"content":"x"}}`}, 1},
		{"a fork", []string{user("u3", "r2", "And?"), reply("a3", "u2", "m3", text)}, 0},
		{"more of an older reply", []string{user("u3", "r2", "And?"), reply("a3", "u3", "m2", text)}, 0},
		{"a late result", []string{user("u3", "r2", "And?"), result("r3", "u3", "c2")}, 0},
		{"a call with an old id", []string{user("u3", "r2", "And?"), reply("a3", "u3", "m3", call("c2"))}, 0},
		{"a row with an old id", []string{user("u3", "r2", "And?"), reply("a1", "u3", "m3", text)}, 0},
		{"a compaction", []string{user("u3", "r2", "And?"), `{"type":"system","subtype":"compact_boundary","uuid":"n"}`, user("u4", "n", "What there was.")}, 0},
		{"a summary without a mark", []string{user("u3", "r2", "And?"), `{"type":"user","uuid":"n","parentUuid":"u3","sessionId":"s","isCompactSummary":true,"message":{"content":"x"}}`}, 0},
		{"a title", []string{user("u3", "r2", "And?"), `{"type":"summary","summary":"Building"}`}, 0},
		{"a line that is no JSON", []string{user("u3", "r2", "And?"), `{`}, 0},
		{"a last note of the program", []string{user("u3", "r2", "And?"), `{"type":"user","isMeta":true,"uuid":"n","parentUuid":"u3","message":{"content":"x"}}`}, 1},
		{"no message at first", []string{`{"type":"mode"}`, user("u3", "r2", "And?")}, 0},
	} {
		s := continued(slices.Concat(before, tt.rows), len(before))
		got := 0
		if s != nil {
			got = len(s.Messages)
		}
		if got != tt.want {
			t.Errorf("%s: %d messages, want %d", tt.name, got, tt.want)
		}
	}
	said := []byte(user("u1", "r0", "Build."))
	if got := (format{}).Piece([][]byte{said}); len(got) != 1 {
		t.Errorf("a line with a message is %d messages", len(got))
	}
	for _, line := range []string{`{`, ``, `{"type":"summary","summary":"Building"}`, `{"type":"system","subtype":"compact_boundary","uuid":"n"}`} {
		if got := (format{}).Piece([][]byte{said, []byte(line)}); got != nil {
			t.Errorf("with the line %q there are %d messages", line, len(got))
		}
	}
	torn := bytes.TrimSuffix([]byte(before[0]+"\n"), []byte("\n"))
	if (format{}).Continue("s", torn, func(string) bool { return false }) != nil {
		t.Error("a line that has not ended is read alone")
	}
}
