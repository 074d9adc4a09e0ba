package claudecode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

func TestFieldsOfRows(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"user","uuid":"a","parentUuid":"b"}`: "user a b block -1", `{"type":"user","uuid":"a","parentUuid":null}`: "user a  block -1", `{"type":"user","isSidechain":true}`: "user   block -1 hidden sidechain", `{"type":"user","isSidechain":false,"isMeta":true}`: "user   block -1 hidden", `{"type":"user","isMeta":true,"isSidechain":false}`: "user   block -1 hidden",
		`{"type":"user","isMeta":"True"}`: "user   block -1 hidden", `{"type":"user","isMeta":"yes"}`: "user   block -1", `{"type":"user","isMeta":1}`: "user   block -1 hidden", `{"type":"user","teamName":"x"}`: "user   block -1 hidden", `{"type":"user","teamName":""}`: "user   block -1", `{"type":"user","teamName":"x","isMeta":false}`: "user   block -1 hidden", `{"type":"user","isMeta":true,"teamName":""}`: "user   block -1 hidden", `{"type":"system","subtype":"compact_boundary","logicalParentUuid":"c"}`: "system   block -1 boundary before c",
		`{"type":"system","subtype":"x"}`: "system   block -1", `{"type":"user","isCompactSummary":true}`: "user   block -1 summary", `{"type":"assistant","apiBlockIndex":2,"message":{"id":"m"}}`: "assistant   block 2 reply m", `{"type":"assistant","apiBlockIndex":0,"message":{"id":"m"}}`: "assistant   block 0 reply m", `{"type":"user","message":{"id":"m"}}`: "user   block -1", `{"type":"user","message":7}`: "user   block -1",
		`{"type":7}`: "7   block -1", `[]`: "error", `{"type":"user"} x`: "error", `{"type":`: "error",
	} {
		r, err := newRowReader().row(0, []byte(line))
		got := fmt.Sprintf("%s %s %s block %d", r.kind, r.uuid, r.parent, r.block)
		for _, flag := range []struct {
			on   bool
			name string
		}{{r.hidden, " hidden"}, {r.sidechain, " sidechain"}, {r.boundary, " boundary"}, {r.summary, " summary"}, {r.before != "", " before " + r.before}, {r.reply != "", " reply " + r.reply}} {
			if flag.on {
				got += flag.name
			}
		}
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s is %q, want %q", line, got, want)
		}
	}
	for content, want := range map[string]string{
		`"a"`: "text a", `null`: "text ", `7`: "text 7", `[]`: "", `[{"type":"text","text":"a"}]`: "text a", `[{"type":"thinking","thinking":"t","signature":"s"}]`: "thinking t s false", `[{"type":"redacted_thinking","data":"d"}]`: "thinking  d true", `[{"type":"tool_use","id":"i","name":"n","input":{"x":1}}]`: `call i n {"x":1}`, `[{"type":"tool_result","tool_use_id":"i","is_error":true,"content":"c"}]`: "result i true c",
		`[{"type":"tool_result","tool_use_id":"i","content":[{"type":"text","text":"c"}]}]`: "result i false c", `[{"type":"image","source":{"media_type":"image/png","data":"QQ=="}}]`: "image image/png QQ== ", `[{"type":"document","source":{"url":"u"}}]`: "document   u", `[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"words"}}]`: "document text/plain  ", `[{"type":"x"}]`: "opaque x", `[7]`: "opaque ",
	} {
		r, err := newRowReader().row(0, []byte(`{"type":"user","message":{"content":`+content+`}}`))
		if err != nil {
			t.Errorf("%s: %v", content, err)
		}
		var all []string
		for _, p := range r.parts {
			switch p := p.(type) {
			case transcript.Text:
				all = append(all, "text "+string(p))
			case transcript.Thinking:
				all = append(all, fmt.Sprint("thinking ", p.Text, " ", p.Signature, " ", p.Redacted))
			case transcript.ToolCall:
				all = append(all, "call "+p.ID+" "+p.Name+" "+string(p.Input))
			case transcript.ToolResult:
				all = append(all, fmt.Sprint("result ", p.CallID, " ", p.Error, " ", p.Text()))
			case transcript.Media:
				all = append(all, strings.Join([]string{p.Kind, p.MIME, p.Data, p.URL}, " "))
			case transcript.Opaque:
				all = append(all, "opaque "+p.Type)
			}
		}
		if got := strings.Join(all, "|"); got != want {
			t.Errorf("%s is %q, want %q", content, got, want)
		}
	}
}

// chained makes rows of "id parent flags": u and a are messages, s is none, h is hidden.
func chained(list string) *tree {
	var rows []row
	for w := range strings.SplitSeq(list, ", ") {
		id, flags, _ := strings.Cut(w, ":")
		id, parent, _ := strings.Cut(id, "<")
		r := row{uuid: id, parent: parent, block: -1, kind: "user", hidden: strings.Contains(flags, "h"), boundary: strings.Contains(flags, "b"), summary: strings.Contains(flags, "S")}
		if strings.Contains(flags, "a") {
			r.kind = "assistant"
		}
		if strings.Contains(flags, "s") {
			r.kind = "system"
		}
		r.item = len(rows)
		rows = append(rows, r)
	}
	return grow(rows)
}

// A conversation ends at the newest leaf that is a message of its own.
func TestWhereAConversationEnds(t *testing.T) {
	for list, want := range map[string]int{
		"1": 0, "1, 2<1:a": 1, "1, 2<1:a, 3<1:a": 2, "1, 2<1:a, 3<2:s": 1, "1, 2<1:a, 3<1:ah": 1, "1:h, 2<1:ah": 1, "1, 2:s": 0, "1:s, 2<1:s": -1, "1, 2<1:s, 3<2:s, 4<2:a": 3, "1:h, 2": 1, "1, 2:h": 0, "1<2, 2<1": -1, "1, 2<9:a": 1,
		"1, 2<1:a, 3<1, 4<3:a, 5<4:h": 3, "1, 2<1:h, 3<2:a, 4<3:h": 2, "1, 2<1:a, 3<2:h, 4<3:s": 1,
	} {
		if got := chained(list).leaf(false); got != want {
			t.Errorf("%s ends at row %d, want %d", list, got, want)
		}
	}
	tr := chained("1, 2<1:a, 3<2, 4<3:a, 5<4, 6<2")
	w := &walk{tree: tr}
	for _, tt := range []struct {
		head, tail string
		cut        int
		want       []int
	}{{"2", "4", 6, []int{1, 2, 3}}, {"4", "4", 6, []int{3}}, {"4", "2", 6, nil}, {"2", "4", 3, nil}, {"2", "4", 4, []int{1, 2, 3}}, {"9", "4", 6, nil}, {"2", "9", 6, nil}, {"3", "6", 6, nil}, {"1", "6", 6, []int{0, 1, 5}}} {
		if got := w.segment(tt.head, tt.tail, tt.cut); !slices.Equal(got, tt.want) {
			t.Errorf("from %s to %s before row %d: %v, want %v", tt.head, tt.tail, tt.cut, got, tt.want)
		}
	}
	k := &kept{rows: []int{1, 2}, place: map[int]int{1: 0, 2: 1}, anchor: 3}
	for i, want := range map[int]int{1: 3, 2: 1, 4: 2, 3: 2, 5: 1, 0: -1} {
		if got := k.parent(tr, i); got != want && (i != 3 || got != tr.parent[3]) {
			t.Errorf("with kept rows the parent of row %d is %d, want %d", i, got, want)
		}
	}
	if got := new(kept).parent(tr, 4); got != 3 {
		t.Errorf("without kept rows the parent of row 4 is %d", got)
	}
	for _, tt := range []struct {
		list, before string
		root, want   int
	}{{"1, 2<1:a, 3:sb, 4<3", "", 2, 1}, {"1, 2<1:a, 3:sb, 4<3", "1", 2, 0}, {"1, 2<1:a, 3:sb, 4<3", "4", 2, 1}, {"1, 2<1:a, 3:S, 4<3", "", 2, 1}, {"1, 2<1:a, 3, 4<3", "", 2, -1}, {"1, 2<1:ah, 3:sb", "", 2, 0}, {"1:h, 2<1:ah, 3:sb", "", 2, -1}, {"1:s, 2:sb", "", 1, -1}} {
		tr := chained(tt.list)
		tr.rows[tt.root].before = tt.before
		if got := (&walk{tree: tr}).before(tt.root); got != tt.want {
			t.Errorf("%s: before row %d, which names %q, is row %d, want %d", tt.list, tt.root, tt.before, got, tt.want)
		}
	}
	if got := (&walk{tree: chained("1:h, 2<1:ah, 3:sb"), notes: true}).before(2); got != 1 {
		t.Errorf("in a conversation of hidden rows, before row 2 is row %d, want 1", got)
	}
}

// Kept rows follow their anchor, and the rows of a reply have the order of its blocks.
func TestOrderOfAWindow(t *testing.T) {
	tr := chained("1, 2<1:a, 3<2:a, 4<3:sb, 5<4, 6<5:a")
	if got, want := tr.order(window{rows: []int{1, 2, 4, 5}, kept: kept{rows: []int{1, 2}, anchor: 4, cut: 3}}), []int{4, 1, 2, 5}; !slices.Equal(got, want) {
		t.Errorf("with kept rows the order is %v, want %v", got, want)
	}
	if got, want := tr.order(window{rows: []int{0, 1, 2}}), []int{0, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
	for i, block := range map[int]int{1: 2, 2: 0, 5: 1} {
		tr.rows[i].reply, tr.rows[i].block = "m", block
	}
	if got, want := tr.order(window{rows: []int{0, 1, 2, 4, 5}}), []int{0, 2, 5, 4, 1}; !slices.Equal(got, want) {
		t.Errorf("by blocks the order is %v, want %v", got, want)
	}
	tr.rows[2].block = -1
	if got, want := tr.order(window{rows: []int{0, 1, 2, 4, 5}}), []int{0, 5, 2, 4, 1}; !slices.Equal(got, want) {
		t.Errorf("with a row without a block the order is %v, want %v", got, want)
	}
}

// The calls of a session, with what they followed.
func TestReceiptsOfRows(t *testing.T) {
	row := func(kind, id, parent, more string) string {
		return `{"type":"` + kind + `","uuid":"` + id + `","parentUuid":"` + parent + `","timestamp":"2026-01-01T00:00:0` + id + `Z"` + more + `}`
	}
	reply := func(id string, in, out int) string {
		return fmt.Sprintf(`,"message":{"id":"%s","model":"x","usage":{"input_tokens":%d,"output_tokens":%d}}`, id, in, out)
	}
	for _, tt := range []struct {
		name string
		rows []string
		want string // id after compacted in/out begun-ended of each receipt
	}{
		{"a reply", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 7))}, "m -1 false 5/7 1-2"},
		{"two", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 7)), row("user", "3", "2", ""), row("assistant", "4", "3", reply("n", 9, 1))}, "m -1 false 5/7 1-2; n 0 false 9/1 3-4"},
		{"a reply of two rows", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 1)), row("assistant", "3", "2", reply("m", 5, 7))}, "m -1 false 5/7 1-3"},
		{"one whose second row says less", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 7)), row("assistant", "3", "2", reply("m", 6, 6))}, "m -1 false 5/7 1-2"},
		{"one whose second row says as much", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 7)), row("assistant", "3", "2", reply("m", 6, 7))}, "m -1 false 6/7 1-3"},
		{"one whose second row has no usage", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 0)), row("assistant", "3", "2", reply("m", 0, 9))}, "m -1 false 5/0 1-2"},
		{"words of the client", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 0, 7))}, ""},
		{"replies without ids", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("", 5, 7)), row("assistant", "3", "2", reply("", 5, 7))}, " -1 false 5/7 1-2;  0 false 5/7 1-3"},
		{"after a compaction", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 7)), row("system", "3", "", `,"subtype":"compact_boundary","logicalParentUuid":"2"`), row("user", "4", "3", ""), row("assistant", "5", "4", reply("n", 1, 1))}, "m -1 false 5/7 1-2; n 0 true 1/1 4-5"},
		{"after one that names no row", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 7)), row("system", "3", "", `,"subtype":"compact_boundary"`), row("assistant", "4", "3", reply("n", 1, 1))}, "m -1 false 5/7 1-2; n 0 true 1/1 3-4"},
		{"behind rows that are not there", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 7)), row("user", "3", "9", ""), row("assistant", "4", "3", reply("n", 1, 1))}, "m -1 false 5/7 1-2; n 0 false 1/1 3-4"},
		{"a fork", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 7)), row("assistant", "3", "1", reply("n", 1, 1))}, "m -1 false 5/7 1-2; n -1 false 1/1 1-3"},
		{"one whose second row has the least usage", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 1)), row("assistant", "3", "2", reply("m", 1, 7))}, "m -1 false 1/7 1-3"},
		{"behind nothing that is there", []string{row("assistant", "2", "9", reply("m", 5, 7))}, "m -1 false 5/7 0-2"},
		{"of a sub-agent behind rows that are not there", []string{row("user", "1", "", ""), row("assistant", "2", "1", reply("m", 5, 7)), row("assistant", "3", "9", `,"isSidechain":true`+reply("n", 1, 1))}, "m -1 false 5/7 1-2; n -1 false 1/1 0-3 side"},
		{"of a sub-agent", []string{row("user", "1", "", `,"isSidechain":true`), row("assistant", "2", "1", `,"isSidechain":true`+reply("m", 5, 7))}, "m -1 false 5/7 1-2 side"},
		{"a row without an id", []string{`{"type":"assistant"` + reply("m", 5, 7) + `}`}, ""},
	} {
		s := &transcript.Session{}
		for _, r := range tt.rows {
			s.Items = append(s.Items, transcript.Item{Raw: []byte(r)})
		}
		var all []string
		for _, r := range (format{}).Receipts(s) {
			text := fmt.Sprintf("%s %d %v %d/%d %d-%d", r.ID, r.After, r.Compacted, r.Uncached, r.Output, r.Begun.Second(), r.Ended.Second())
			if r.Side {
				text += " side"
			}
			all = append(all, text)
		}
		if got := strings.Join(all, "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for usage, want := range map[string][5]int64{
		`{"input_tokens":1,"cache_read_input_tokens":2,"cache_creation_input_tokens":4,"output_tokens":8}`: {1, 2, 4, 0, 8}, `{"cache_creation_input_tokens":4,"cache_creation":{"ephemeral_1h_input_tokens":3}}`: {0, 0, 1, 3, 0}, `{"cache_creation_input_tokens":4,"cache_creation":{"ephemeral_1h_input_tokens":9}}`: {0, 0, 0, 4, 0}, `{"input_tokens":-1}`: {},
	} {
		r := reading(gjson.Parse(usage))
		if d := cmp.Diff(want, [5]int64{r.Uncached, r.Read, r.Write5m, r.Write1h, r.Output}); d != "" {
			t.Errorf("%s (-want +got):\n%s", usage, d)
		}
		if got := promptOf(r); got != want[0]+want[1]+want[2]+want[3] {
			t.Errorf("the prompt of %s has %d tokens", usage, got)
		}
	}
}

// The rules of a conversation, each with the message that breaks it.
func TestRulesOfAConversation(t *testing.T) {
	say := func(role transcript.Role, parts ...transcript.Part) transcript.Message {
		return transcript.Message{Role: role, Parts: parts}
	}
	user, agent, tool := transcript.RoleUser, transcript.RoleAssistant, transcript.RoleTool
	call := func(id string) transcript.Part { return transcript.ToolCall{ID: id} }
	result := func(id string) transcript.Part { return transcript.ToolResult{CallID: id} }
	served := func(kind, raw string) transcript.Part {
		return transcript.Opaque{Type: kind, Raw: []byte(raw)}
	}
	search, found := served("server_tool_use", `{"id":"s"}`), served("web_search_tool_result", `{"tool_use_id":"s"}`)
	text := transcript.Text("x")
	for _, tt := range []struct {
		name string
		msgs []transcript.Message
		want string
	}{
		{"sound", []transcript.Message{say(user, text), say(agent, call("a"), call("b")), say(tool, result("b"), result("a")), say(agent, text)}, ""},
		{"a pending call", []transcript.Message{say(user, text), say(agent, call("a"))}, ""},
		{"a reply first", []transcript.Message{say(agent, text)}, "X7 0"},
		{"an empty text", []transcript.Message{say(user, transcript.Text(" "))}, "X7 0"},
		{"a call without a result", []transcript.Message{say(user, text), say(agent, call("a")), say(user, text)}, "X1 2"},
		{"two calls, one result", []transcript.Message{say(user, text), say(agent, call("a"), call("b")), say(tool, result("a")), say(user, text)}, "X1 3"},
		{"a result in the second message of results", []transcript.Message{say(user, text), say(agent, call("a"), call("b")), say(tool, result("a")), say(tool, result("b"))}, ""},
		{"a result without a call", []transcript.Message{say(user, text), say(tool, result("a"))}, "X1 1"},
		{"a second result", []transcript.Message{say(user, text), say(agent, call("a")), say(tool, result("a"), result("a"))}, "X1 2"},
		{"an id twice", []transcript.Message{say(user, text), say(agent, call("a")), say(tool, result("a")), say(agent, call("a"))}, "A16 3"},
		{"a search", []transcript.Message{say(user, text), say(agent, search, found, text)}, ""},
		{"a search without a result", []transcript.Message{say(user, text), say(agent, search), say(user, text)}, "A6 1"},
		{"a result without a search", []transcript.Message{say(user, text), say(agent, found)}, "A6 1"},
		{"a search without a result in the only reply", []transcript.Message{say(agent, search, text)}, "X7 0; A6 0"},
		{"a second result of a search", []transcript.Message{say(user, text), say(agent, search, found, found)}, "A6 1"},
		{"none", nil, ""},
	} {
		var got []string
		for _, v := range check(tt.msgs) {
			got = append(got, fmt.Sprint(v.Rule, " ", v.Message))
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		ids  string
		want string
	}{{"a b c", "a c"}, {"b", ""}, {"a", "a"}, {"b b", "b"}, {"", ""}} {
		ids := strings.Fields(tt.ids)
		if got := strings.Join(without(ids, "b"), " "); got != tt.want || strings.Join(ids, " ") != tt.ids {
			t.Errorf("%q without b is %q, want %q", tt.ids, got, tt.want)
		}
	}
}

// The time for the leaf and the branches grows with the number of rows: each of these trees would
// take minutes if each row were a walk to its root.
func TestLongChainsBesideTheConversation(t *testing.T) {
	const n = 100_000
	var rows []row
	add := func(kind string, parent int) {
		rows = append(rows, row{uuid: strconv.Itoa(len(rows)), parent: strconv.Itoa(parent), kind: kind, block: -1, item: len(rows)})
	}
	add("user", -1)
	for i := range n { // a long chain that was rewound
		add("user", i)
	}
	for i := range n { // a chain of other rows, and its children
		add("progress", max(0, len(rows)-1)*min(i, 1))
	}
	for end := len(rows) - 1; len(rows) < 3*n; {
		add("progress", end)
	}
	add("assistant", 0)
	tr := grow(rows)
	if got := tr.leaf(false); got != len(rows)-1 {
		t.Errorf("the conversation ends at row %d, want %d", got, len(rows)-1)
	}
	shown := make([]bool, len(rows))
	shown[0], shown[len(rows)-1] = true, true
	got := tr.branches(shown)
	want := []transcript.Branch{{Kind: transcript.BranchFork, Root: "1", Leaf: strconv.Itoa(n), Parent: "0", Messages: n}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Parts without text, signed thinking and the blocks of the provider are written where it can read them.
func TestPartsThatAreWritten(t *testing.T) {
	signed, unsigned := transcript.Thinking{Text: "hm", Signature: "c2ln"}, transcript.Thinking{Text: "hm"}
	for _, tt := range []struct {
		name     string
		parts    []transcript.Part
		provider bool
		want     bool
	}{
		{"a text", []transcript.Part{transcript.Text("x")}, false, true},
		{"a blank text", []transcript.Part{transcript.Text(" ")}, true, false},
		{"a call", []transcript.Part{transcript.ToolCall{}}, false, true},
		{"signed thinking", []transcript.Part{signed}, true, true},
		{"signed thinking of another provider", []transcript.Part{signed}, false, false},
		{"thinking without a signature", []transcript.Part{signed, unsigned}, true, false},
		{"a block", []transcript.Part{transcript.Opaque{Raw: []byte(`{}`)}}, true, true},
		{"a block of another provider", []transcript.Part{transcript.Opaque{Raw: []byte(`{}`)}}, false, false},
		{"a block that is no JSON", []transcript.Part{transcript.Opaque{Raw: []byte(`{`)}}, true, false},
	} {
		if got := anyWritten(tt.parts, tt.provider); got != tt.want {
			t.Errorf("%s is written: %v", tt.name, got)
		}
	}
	for format, want := range map[string][2]bool{"claudecode": {false, true}, "anthropic": {true, true}, "openai-chat": {false, true}} { // of another session, and of an own one
		for i, own := range []bool{false, true} {
			e := &encoder{own: own, from: &transcript.Session{Format: format}}
			if got := len(e.blocks(0, []transcript.Part{transcript.Opaque{Raw: []byte(`{}`)}, signed})) == 2; got != want[i] || got != (len(e.losses) == 0) {
				t.Errorf("blocks of %s, own %v, are written: %v, with losses %v", format, own, got, e.losses)
			}
		}
	}
}
