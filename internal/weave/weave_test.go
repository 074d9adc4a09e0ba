package weave

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/wire"
)

// A reply waits if it has calls of the proxy's tool alone, and the model stopped for them.
func TestRepliesThatWait(t *testing.T) {
	one := []Call{{ID: "1"}}
	for _, tt := range []struct {
		r    Round
		want bool
	}{
		{Round{Calls: one, Stop: "tool_use"}, true},
		{Round{Calls: one, Stop: "tool_calls"}, true},
		{Round{Calls: one, Stop: "completed"}, true},
		{Round{Calls: one, Stop: "stop"}, true},
		{Round{Calls: one, Stop: "max_tokens"}, false},
		{Round{Calls: one}, false},
		{Round{Stop: "tool_use"}, false},
		{Round{Calls: one, Own: []string{"2"}, Stop: "tool_use"}, false},
	} {
		if got := tt.r.Waits(); got != tt.want {
			t.Errorf("%+v waits: %v, want %v", tt.r, got, tt.want)
		}
	}
}

// A reply with a part that is not known is not sent back, in no dialect.
func TestUnknownPartsAreNotSentBack(t *testing.T) {
	for _, d := range []wire.Dialect{wire.Anthropic, wire.Chat, wire.Responses} {
		r := &Round{dialect: d, unsure: true, message: []byte("{}")}
		if got, err := r.Messages(nil); got != nil || !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %s, %v, want ErrUnknown", d, got, err)
		}
		r.unsure = false
		if _, err := r.Messages(nil); err != nil {
			t.Errorf("%s: %v", d, err)
		}
	}
	if _, err := (&Round{dialect: "other"}).Messages(nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("another dialect: %v, want ErrUnknown", err)
	}
}

func TestMembersAreReplaced(t *testing.T) {
	for _, tt := range []struct{ raw, key, value, want string }{
		{`{"a":1,"b": 2}`, "b", "3", `{"a":1,"b":3}`},
		{`{"a":1,"b": 2}`, "a", "3", `{"a":3,"b": 2}`},
		{`{"a":1}`, "c", "3", `{"a":1,"c":3}`},
		{`{}`, "c", "3", `{"c":3}`},
		{`{"a":1,"b":2}`, "a", "", `{"b":2}`},
		{`{"b":2}`, "a", "", `{"b":2}`},
	} {
		var value []byte
		if tt.value != "" {
			value = []byte(tt.value)
		}
		if got := string(with([]byte(tt.raw), tt.key, value)); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
	for path, want := range map[string]string{"a b": "1", "a": `{"b":1}`, "c": "[2,\"x\"]", "a c": "", "c d": "", "e": ""} {
		if got := string(get([]byte(`{"a":{"b":1},"c":[2,"x"]}`), strings.Fields(path)...)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	if got := elements([]byte(`[2,"x"]`)); len(got) != 2 || said(got[1]) != "x" || said(got[0]) != "" || said(nil) != "" {
		t.Errorf("elements are %s", got)
	}
	if got := elements([]byte(`{}`)); got != nil {
		t.Errorf("elements of an object are %s", got)
	}
	for raw, want := range map[string]int{"0": 0, "7": 7, "-1": -1, "-7": -1, "1.5": -1, `"1"`: -1, "": -1} {
		if got := number([]byte(raw)); got != want {
			t.Errorf("number(%s) = %d, want %d", raw, got, want)
		}
	}
}

// A call of the proxy's tool is hidden and answered also if the provider gives it no id.
func TestCallsWithoutAnID(t *testing.T) {
	const call = `{"type":"function_call","name":"recall","arguments":"{}"`
	for _, id := range []string{"", `,"call_id":null`, `,"call_id":"c"`} {
		w := New(wire.Responses, "recall")
		if err := w.Whole([]byte(`{"status":"completed","output":[` + call + id + "}," + call + `,"call_id":"d"}]}`)); err != nil {
			t.Fatal(err)
		}
		if r := w.Round(); !r.Waits() || len(r.Calls) != 2 || len(r.Own) != 0 {
			t.Fatalf("%s: it waits %v, for %+v and the client's %q", id, r.Waits(), r.Calls, r.Own)
		}
		if got, err := w.Round().Messages([]string{"x", "y"}); err != nil || len(got) != 4 {
			t.Errorf("%s: %s, %v, want both calls with their results", id, got, err)
		}
	}
}

// Deltas add up by the field of the block that they belong to, and one that is not known is noticed.
func TestDeltasAddUp(t *testing.T) {
	b := &block{parts: make(map[string]*strings.Builder)}
	for _, delta := range []string{
		`{"type":"text_delta","text":"a"}`, `{"type":"thinking_delta","thinking":"t"}`, `{"type":"text_delta","text":"b"}`,
		`{"type":"input_json_delta","partial_json":"{"}`, `{"type":"input_json_delta","partial_json":"}"}`, `{"type":"signature_delta","signature":"s"}`,
		`{"type":"citations_delta","citation":{"n":1}}`,
	} {
		b.take([]byte(delta))
	}
	for field, want := range map[string]string{"text": "ab", "thinking": "t", "input": "{}", "signature": "s"} {
		if got := b.parts[field]; got == nil || got.String() != want {
			t.Errorf("%s is %v, want %q", field, got, want)
		}
	}
	if len(b.parts) != 4 || len(b.cited) != 1 || b.unknown {
		t.Errorf("%d fields, %d citations, unknown %v", len(b.parts), len(b.cited), b.unknown)
	}
	for texts, want := range map[[2]string]string{{"a", "b"}: "a\nb", {"a", ""}: "a", {"", "b"}: "b"} {
		if got := joinTexts(texts[0], texts[1]); got != want {
			t.Errorf("%q are joined as %q, want %q", texts, got, want)
		}
	}
	if b.take([]byte(`{"type":"odd_delta"}`)); !b.unknown {
		t.Error("a delta of an unknown type is not noticed")
	}
}

// The usage of several rounds is one usage: numbers are added, with a fraction or without.
func TestUsageAddsUp(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"1", "2", "3"},
		{"0", "0", "0"},
		{"0.25", "0.5", "0.75"},
		{"1", "0.5", "1.5"},
		{"1e-3", "1", "1.001"},
		{"null", "2", "2"},
		{"2", "null", "2"},
		{"", "2", "2"},
		{"2", "", "2"},
		{"1", `"x"`, `"x"`},
		{`"1"`, "2", "2"},
		{"true", "false", "false"},
		{"[1]", "[2]", "[1,2]"},
		{"[1]", "2", "2"},
		{"1", "[2]", "[2]"},
		{`{"in":1}`, "[2]", "[2]"},
		{"[2]", `{"in":1}`, `{"in":1}`},
		{"0", "9007199254740993", "9007199254740993"},
		{"9007199254740993", "0", "9007199254740993"},
		{"-1", "3", "2"},
		{`{"in":1,"cost":0.5}`, `{"in":2,"cost":0.25,"out":3}`, `{"in":3,"cost":0.75,"out":3}`},
	} {
		if got := string(sum([]byte(tt.a), []byte(tt.b))); got != tt.want {
			t.Errorf("sum(%s, %s) = %s, want %s", tt.a, tt.b, got, tt.want)
		}
	}
}

// Without the proxy's calls a round has what the client saw, but for thinking at its end.
func TestRoundsWithoutCalls(t *testing.T) {
	thought, text, call := []byte(`{"type":"thinking"}`), []byte(`{"type":"text"}`), []byte(`{"type":"tool_use"}`)
	for _, tt := range []struct {
		blocks [][]byte
		shown  []bool
		want   int
	}{
		{nil, nil, 0},
		{[][]byte{thought, text, call}, []bool{true, true, false}, 2},
		{[][]byte{text, thought, call}, []bool{true, true, false}, 1},
		{[][]byte{thought, []byte(`{"type":"redacted_thinking"}`), []byte(`{"type":"reasoning"}`)}, []bool{true, true, true}, 0},
		{[][]byte{text, call}, []bool{true, true}, 2},
	} {
		r := &Round{blocks: tt.blocks, shown: tt.shown, Own: []string{"1"}}
		if c := r.without(); len(c.blocks) != tt.want || len(c.shown) != tt.want || len(c.Own) != 1 || c.message != nil {
			t.Errorf("%s: %s, want %d blocks", tt.blocks, c.blocks, tt.want)
		}
	}
	for _, tt := range []struct{ text, message, want string }{
		{"say \"x\"", "{}", `{"role":"assistant","content":"say \"x\""}`}, {"", "{}", ""}, {"x", "", ""},
	} {
		r := &Round{text: tt.text}
		if tt.message != "" {
			r.message = []byte(tt.message)
		}
		if got := string(r.without().message); got != tt.want {
			t.Errorf("%+v: %s", tt, got)
		}
	}
}

// A chunk of Chat Completions may have pieces of several calls, and some servers count calls from
// 1. The client gets its own calls, in order and counted from 0, wherever the proxy's call stands
// among them; the round has them all.
func TestCallsInOneChunk(t *testing.T) {
	for _, tt := range []struct {
		from  int // index of the first call
		names []string
		want  []string // index and name of each piece for the client
	}{
		{0, []string{"recall", "Bash"}, []string{"0 Bash"}},
		{0, []string{"Bash", "recall", "Read"}, []string{"0 Bash", "1 Read"}},
		{0, []string{"recall", "recall", "Bash"}, []string{"0 Bash"}},
		{0, []string{"recall"}, nil},
		{1, []string{"recall"}, nil},
		{1, []string{"recall", "Bash", "Read"}, []string{"0 Bash", "1 Read"}},
	} {
		var pieces, ours, own []string
		for i, name := range tt.names {
			id := fmt.Sprint("c", i)
			if name == "recall" {
				ours = append(ours, id)
			} else {
				own = append(own, id)
			}
			pieces = append(pieces, fmt.Sprintf(`{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}`, tt.from+i, id, name))
		}
		w := New(wire.Chat, "recall")
		out, err := w.Feed([]byte(`data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[` + strings.Join(pieces, ",") + "]}}]}\n\ndata: [DONE]\n\n"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		if data, ok := strings.CutPrefix(string(out), "data: "); ok {
			for _, p := range elements(get(elements(get([]byte(data), "choices"))[0], "delta", "tool_calls")) {
				got = append(got, fmt.Sprint(number(get(p, "index")), " ", said(get(p, "function", "name"))))
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s from %d: the client gets (-want +got):\n%s", tt.names, tt.from, diff)
		}
		var asked []string
		for _, c := range w.Round().Calls {
			asked = append(asked, c.ID)
		}
		if !slices.Equal(asked, ours) || !slices.Equal(w.Round().Own, own) {
			t.Errorf("%s from %d: the proxy answers %s and the client %s, want %s and %s", tt.names, tt.from, asked, w.Round().Own, ours, own)
		}
	}
}

// A provider chooses the index of a call; a large one takes no more memory than another.
func TestAnyIndexOfACall(t *testing.T) {
	w := New(wire.Chat, "recall")
	chunk := func(index int, id, name string) string {
		return fmt.Sprintf(`data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}]}}]}`, index, id, name) + "\n\n"
	}
	const large = 2_000_000_000
	out, err := w.Feed([]byte(chunk(large, "c2", "Bash") + chunk(0, "c1", "Read") + chunk(7, "c0", "recall") + chunk(0, "", "")))
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := w.form.(*chat); !ok || len(c.calls) != 3 {
		t.Errorf("there are %d calls, want 3", len(c.calls))
	}
	if want := chunk(0, "c2", "Bash") + chunk(1, "c1", "Read") + chunk(1, "", ""); string(out) != want {
		t.Errorf("the client gets %s, want %s", out, want)
	}
	if _, err := w.Feed([]byte("data: [DONE]\n\n")); err != nil {
		t.Fatal(err)
	}
	want := []Call{{ID: "c0", Input: "{}", Behind: "c1"}}
	if r := w.Round(); !slices.Equal(r.Own, []string{"c1", "c2"}) || !slices.Equal(r.Calls, want) {
		t.Errorf("calls %+v and %v, want %+v, c1 and c2", r.Calls, r.Own, want)
	}
}

// An event with several lines of data has as many when it is encoded again.
func TestLinesOfData(t *testing.T) {
	for _, raw := range []string{
		"data: {}\n\n",
		"event: x\ndata: {\ndata:  \"a\": 1\ndata: }\n\n",
		"data: {\ndata: \ndata: }\n\n",
	} {
		e := parse([]byte(raw))
		if got := string(e.written(e.data)); got != raw {
			t.Errorf("%q: %q", raw, got)
		}
	}
}

// Lines end with a line feed, a carriage return or both, wherever a piece of the stream ends.
func TestEndsOfLines(t *testing.T) {
	const stream = ": remark\nevent: x\ndata:1\ndata\nid: 7\ndata:  2\n\n\ndata: 3\n\ndata: rest"
	for _, end := range []string{"\n", "\r", "\r\n"} {
		raw := strings.ReplaceAll(stream, "\n", end)
		for _, size := range []int{1, 2, 3, len(raw)} {
			s := new(splitter)
			var got []string
			whole := ""
			for piece := range slices.Chunk([]byte(raw), size) {
				for _, e := range s.feed(piece) {
					got, whole = append(got, fmt.Sprintf("%s %q", e.name, e.data)), whole+string(e.raw)
				}
			}
			if whole += string(s.rest()); fmt.Sprint(got) != `[x "1\n\n 2"  ""  "3"]` || whole != raw {
				t.Errorf("%q in pieces of %d bytes: %s", end, size, got)
			}
		}
	}
}

// The client gets the usage of all rounds in whichever chunk the provider puts the usage.
func TestUsageOfTheStopChunk(t *testing.T) {
	call := `data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"recall","arguments":"{}"}}]}}]}` + "\n\n"
	stop := func(reason string, tokens int) string {
		return fmt.Sprintf(`data: {"id":"1","choices":[{"index":0,"delta":{},"finish_reason":%q}],"usage":{"prompt_tokens":%d}}`, reason, tokens) + "\n\ndata: [DONE]\n\n"
	}
	w := New(wire.Chat, "recall")
	feed := func(text string) {
		t.Helper()
		if _, err := w.Feed([]byte(text)); err != nil || !w.Over() {
			t.Fatalf("over %v, %v", w.Over(), err)
		}
	}
	feed(call + stop("tool_calls", 30))
	w.Next([]string{"text"})
	feed(stop("stop", 50))
	data, _, _ := strings.Cut(strings.TrimPrefix(string(w.End()), "data: "), "\n")
	if got := string(get([]byte(data), "usage", "prompt_tokens")); got != "80" {
		t.Errorf("the client gets %s tokens in %s, want 80", got, data)
	}
	w = New(wire.Chat, "recall")
	feed(stop("stop", 50))
	if got := string(w.End()); got != stop("stop", 50) {
		t.Errorf("one round: %q", got)
	}
	const none, some, sum = `"usage":null`, `"usage":{"prompt_tokens":50}`, `"usage":{"prompt_tokens":80}`
	for _, tt := range []struct{ stop, tail, wantStop, wantTail string }{{none, some, none, sum}, {some, none, sum, none}} {
		w = New(wire.Chat, "recall")
		chunks := func(stop, tail string) string {
			return `data: {"id":"1","created":3,"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],` + stop + "}\n\n" + `data: {"id":"1","created":3,"choices":[],` + tail + "}\n\ndata: [DONE]\n\n"
		}
		feed(strings.Replace(call, `"1",`, `"1","created":3,`, 1) + stop("tool_calls", 30))
		w.Next([]string{"text"})
		out, err := w.Feed([]byte(chunks(tt.stop, tt.tail)))
		if got, want := string(out)+string(w.End()), chunks(tt.wantStop, tt.wantTail); err != nil || got != want {
			t.Errorf("%v, the client gets\n%s\nwant\n%s", err, got, want)
		}
	}
}

// Chunks without a choice or a delta, and remarks, pass at once, and behind the finish reason only
// remarks do.
func TestChunksThatPass(t *testing.T) {
	const (
		filter = "data: {\"id\":\"1\",\"choices\":[]}\n\n"
		empty  = "data: {\"id\":\"1\",\"choices\":[{\"index\":0}]}\n\n"
		remark = ": wait\n\n"
		stop   = "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	)
	w := New(wire.Chat, "recall")
	for _, tt := range []struct{ sent, want string }{{filter, filter}, {empty, empty}, {remark, remark}, {stop + remark + filter, remark}} {
		if out, err := w.Feed([]byte(tt.sent)); err != nil || w.Over() || string(out) != tt.want {
			t.Errorf("%q: %v, over %v, the client gets %q, want %q", tt.sent, err, w.Over(), out, tt.want)
		}
	}
	if got := string(w.Rest()) + string(w.End()); !w.Over() || got != stop+filter {
		t.Errorf("at the end, over %v, the client gets %q", w.Over(), got)
	}
	w = New(wire.Chat, "recall")
	if _, err := w.Feed([]byte(empty)); err != nil {
		t.Fatal(err)
	}
	w.Next(nil)
	out, err := w.Feed([]byte(strings.Replace(empty, `"1"`, `"2"`, 1)))
	if id := said(get(bytes.TrimPrefix(out, []byte("data: ")), "id")); err != nil || id != "1" {
		t.Errorf("in the next round: %v, %s, want the id of the first", err, out)
	}
}

// A call counts at the end of a chat that lacks its mark; one of an unknown kind is not sent back.
func TestCallsAtTheEndOfAChat(t *testing.T) {
	for _, tt := range []struct {
		kinds string
		want  error
	}{{"function", nil}, {",function", nil}, {"function,custom", ErrUnknown}, {"custom,function", ErrUnknown}} {
		w := New(wire.Chat, "recall")
		for i, kind := range strings.Split(tt.kinds, ",") {
			if _, err := w.Feed(fmt.Appendf(nil, "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":%d,\"id\":\"c\",\"type\":%q,\"function\":{\"name\":\"recall\",\"arguments\":\"{}\"}}]}}]}\n\n", i, kind)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := w.Feed([]byte("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n")); err != nil || w.Over() {
			t.Fatalf("%v, over %v", err, w.Over())
		}
		if rest := w.Rest(); len(rest) > 0 || !w.Over() || !w.Round().Waits() {
			t.Errorf("%s: the rest is %q, over %v, waits %v", tt.kinds, rest, w.Over(), w.Round().Waits())
		}
		if _, err := w.Round().Messages([]string{"x", "y"}); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.kinds, err, tt.want)
		}
	}
}

// An answer of Chat Completions that is no stream and has no text keeps its empty content.
func TestJoinedWithoutText(t *testing.T) {
	const call = `{"id":%q,"created":%d,"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":%q,"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	w := New(wire.Chat, "recall")
	first, last := fmt.Sprintf(call, "1", 3, "recall"), fmt.Sprintf(call, "2", 4, "Bash")
	if err := w.Whole([]byte(first)); err != nil {
		t.Fatal(err)
	}
	w.Next([]string{"x"})
	if err := w.Whole([]byte(last)); err != nil {
		t.Fatal(err)
	}
	if got, want := string(w.Joined()), fmt.Sprintf(call, "1", 3, "Bash"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A reply that was cut off among its calls is known without the proxy's.
func TestReplyThatIsCutOff(t *testing.T) {
	w := New(wire.Chat, "recall")
	if err := w.Whole([]byte(`{"choices":[{"message":{"role":"assistant","content":"So:","tool_calls":[{"id":"c","function":{"name":"recall","arguments":"{}"}}]}}]}`)); err != nil {
		t.Fatal(err)
	}
	got, err := w.Reply(nil)
	want := &Reply{Text: "So:", Messages: [][]byte{[]byte(`{"role":"assistant","content":"So:"}`)}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
}

// Messages may send several events message_delta. The client gets all of them, and the stop reason
// counts wherever it stands.
func TestSeveralMessageDeltas(t *testing.T) {
	const (
		start     = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"usage\":{\"input_tokens\":3}}}\n\n"
		call      = "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"recall\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"
		container = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"container\":{\"id\":\"x\"}},\"usage\":{\"output_tokens\":5}}\n\n"
		over      = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	)
	stop := func(reason string) string {
		return fmt.Sprintf("event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":%q},\"usage\":{\"output_tokens\":4}}\n\n", reason)
	}
	feed := func(w *Weaver, stream string) string {
		t.Helper()
		out, err := w.Feed([]byte(stream))
		if err != nil || !w.Over() {
			t.Fatalf("over %v, %v", w.Over(), err)
		}
		return string(out)
	}
	for _, order := range []string{stop("end_turn") + container, container + stop("end_turn")} {
		w := New(wire.Anthropic, "recall")
		got := feed(w, start+order+over) + string(w.End())
		if want := start + order + over; got != want || w.Round().Stop != "end_turn" {
			t.Errorf("it stops with %q, and the client gets\n%s\nwant\n%s", w.Round().Stop, got, want)
		}
	}
	w := New(wire.Anthropic, "recall")
	if feed(w, start+call+stop("tool_use")+container+over); !w.Round().Waits() {
		t.Fatalf("it stops with %q, and does not wait for the recall", w.Round().Stop)
	}
	w.Next([]string{"text"})
	feed(w, start+stop("end_turn")+container+over)
	end := string(w.End())
	if rest, ok := strings.CutPrefix(end, stop("end_turn")); !ok || !strings.Contains(rest, `"container":{"id":"x"}`) || !strings.Contains(rest, `"input_tokens":6,"output_tokens":10`) {
		t.Errorf("after a recall the client gets the end\n%s\nwant both events, and the usage of both rounds in the last", end)
	}
}

// The client does not get a call of the proxy's tool that was cut off, however it comes.
func TestCallsThatAreCutOff(t *testing.T) {
	const (
		text     = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"So:"}]}`
		call     = `{"type":"function_call","name":"recall","call_id":"c1","arguments":"{\"i","status":"incomplete"}`
		response = `{"id":"r","status":"incomplete","output":[%s]}`
		want     = `"output":[` + text + `]`
	)
	body := fmt.Sprintf(response, text+","+call)
	w := New(wire.Responses, "recall")
	if err := w.Whole([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if got := string(w.Joined()); strings.Contains(got, "recall") || !strings.Contains(got, want) {
		t.Errorf("whole: the client gets %s", got)
	}
	for _, done := range []string{"", `data: {"type":"response.output_item.done","output_index":1,"item":` + call + "}\n\n"} {
		w := New(wire.Responses, "recall")
		out, err := w.Feed([]byte(`data: {"type":"response.output_item.done","output_index":0,"item":` + text + "}\n\n" + done +
			`data: {"type":"response.incomplete","response":` + body + "}\n\n"))
		if err != nil || w.HidesCalls() {
			t.Fatalf("hides calls %v, %v", w.HidesCalls(), err)
		}
		if got := string(out) + string(w.End()); strings.Contains(got, "recall") || !strings.Contains(got, want) {
			t.Errorf("the client gets\n%s", got)
		}
	}
}

// A block is sent back with all that came of it, or not at all; an input that came at once stays. The
// usage has each iteration that the provider reports, or else the round.
func TestBlocksThatAreSentBack(t *testing.T) {
	block := func(index int, begun string, deltas ...string) string {
		s := fmt.Sprintf("data: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":%s}\n\n", index, begun)
		for _, d := range deltas {
			s += fmt.Sprintf("data: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":%s}\n\n", index, d)
		}
		return s + fmt.Sprintf("data: {\"type\":\"content_block_stop\",\"index\":%d}\n\n", index)
	}
	round := func(usage, blocks string) string {
		return "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n" + blocks +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":" + usage + "}\n\ndata: {\"type\":\"message_stop\"}\n\n"
	}
	const (
		text  = `{"type":"text","text":"a"}`
		more  = `{"type":"text_delta","text":"b"}`
		cited = `{"type":"citations_delta","citation":{"n":1}}`
		call  = `{"type":"tool_use","id":"c","name":"recall","input":{"id":"7"}}`
		none  = `{"type":"input_json_delta","partial_json":""}`
		own   = `{"type":"compaction","input_tokens":4}`
	)
	w := New(wire.Anthropic, "recall")
	if _, err := w.Feed([]byte(round(`{"input_tokens":3,"iterations":[`+own+`]}`, block(0, text, more, cited)+block(1, call, none)))); err != nil {
		t.Fatal(err)
	}
	goes, err := w.Round().Messages([]string{"x"})
	if err != nil || len(goes) != 2 || string(goes[0]) != `{"role":"assistant","content":[{"type":"text","text":"ab","citations":[{"n":1}]},`+call+"]}" {
		t.Errorf("the reply is %s, %v", goes, err)
	}
	w.Next([]string{"x"})
	if _, err := w.Feed([]byte(round(`{"input_tokens":5}`, block(0, text)))); err != nil {
		t.Fatal(err)
	}
	if end, want := string(w.End()), `"iterations":[`+own+`,{"type":"message","input_tokens":5}]`; !strings.Contains(end, want) {
		t.Errorf("the client gets %s, want %s", end, want)
	}
	w = New(wire.Anthropic, "recall")
	if _, err := w.Feed([]byte(round("{}", block(0, text, `{"type":"odd_delta"}`)+block(1, call)))); err != nil {
		t.Fatal(err)
	}
	if goes, err := w.Round().Messages([]string{"x"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("with an unknown delta the reply is %s, %v, want ErrUnknown", goes, err)
	}
}

// Items that came only at the end of a stream count, results of the provider's are no calls of the
// client's, and an event about an item that never began passes as it came.
func TestItemsOfResponses(t *testing.T) {
	const odd = "data: {\"type\":\"response.output_text.delta\",\"output_index\":5,\"delta\":\"x\"}\n\n"
	w := New(wire.Responses, "recall")
	out, err := w.Feed([]byte(odd + `data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","call_id":"c","name":"recall","arguments":"{}"},{"type":"shell_call_output","call_id":"d"}]}}` + "\n\n"))
	if err != nil || string(out) != odd || !w.Round().Waits() {
		t.Errorf("%v, waits %v, the client gets %s", err, w.Round().Waits(), out)
	}
}

// A large event in small pieces is not copied for each piece.
func TestLargeEvents(t *testing.T) {
	const pieces = 1000
	piece := bytes.Repeat([]byte("x"), 1000)
	s := new(splitter)
	allocs := testing.AllocsPerRun(1, func() {
		*s = splitter{}
		s.feed([]byte("data: "))
		for range pieces {
			s.feed(piece)
		}
	})
	if allocs > 100 {
		t.Errorf("%d pieces of an event need %v new buffers, want at most 100", pieces, allocs)
	}
	events := s.feed([]byte("\n\ndata: y\n\n"))
	if len(events) != 2 || len(events[0].data) != pieces*len(piece) || string(events[1].data) != "y" || len(s.rest()) != 0 {
		t.Errorf("got %d events and a rest of %d bytes", len(events), len(s.rest()))
	}
}

// Some servers give the pieces of calls no index. The client gets its pieces as they came, and the
// round has each call of its own.
func TestCallsWithoutAnIndex(t *testing.T) {
	piece := func(id, name, arguments string) string {
		p := fmt.Sprintf(`{"function":{"arguments":%q}}`, arguments)
		if name != "" {
			p = fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%q}}`, id, name, arguments)
		}
		return p
	}
	chunk := func(pieces ...string) string {
		return `data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[` + strings.Join(pieces, ",") + "]}}]}\n\n"
	}
	for _, tt := range []struct {
		name, sent, want string
		calls            []string // id and arguments of the client's calls
		hidden           []Call
	}{
		{
			"two in one chunk", chunk(piece("a", "Bash", "{}"), piece("b", "Read", "[]")),
			chunk(piece("a", "Bash", "{}"), piece("b", "Read", "[]")),
			[]string{"a {}", "b []"},
			nil,
		},
		{
			"in pieces", chunk(piece("a", "Bash", "{")) + chunk(piece("", "", "}")) + chunk(piece("b", "Read", "[")) + chunk(piece("b", "Read", "]")),
			chunk(piece("a", "Bash", "{")) + chunk(piece("", "", "}")) + chunk(piece("b", "Read", "[")) + chunk(piece("b", "Read", "]")),
			[]string{"a {}", "b []"},
			nil,
		},
		{
			"without ids", chunk(piece("", "Bash", "{}")) + chunk(piece("", "Read", "[]")),
			chunk(piece("", "Bash", "{}")) + chunk(piece("", "Read", "[]")),
			[]string{" {}", " []"},
			nil,
		},
		{
			"with a recall", chunk(piece("r", "recall", "{")) + chunk(piece("", "", "}")) + chunk(piece("b", "Read", "[")) + chunk(piece("", "", "]")),
			chunk(piece("b", "Read", "[")) + chunk(piece("", "", "]")),
			[]string{"b []"},
			[]Call{{ID: "r", Input: "{}"}},
		},
	} {
		w := New(wire.Chat, "recall")
		out, err := w.Feed([]byte(tt.sent + "data: [DONE]\n\n"))
		if err != nil || string(out) != tt.want {
			t.Errorf("%s: %v, the client gets\n%s\nwant\n%s", tt.name, err, out, tt.want)
		}
		var calls []string
		for _, c := range elements(get(w.Round().message, "tool_calls")) {
			if said(get(c, "function", "name")) != "recall" {
				calls = append(calls, said(get(c, "id"))+" "+said(get(c, "function", "arguments")))
			}
		}
		if !slices.Equal(calls, tt.calls) || !slices.Equal(w.Round().Calls, tt.hidden) {
			t.Errorf("%s: the round has %q and %+v, want %q and %+v", tt.name, calls, w.Round().Calls, tt.calls, tt.hidden)
		}
	}
}

// A stream of Responses passes as it came, whatever its first sequence number is.
func TestFirstSequenceNumber(t *testing.T) {
	for _, first := range []int{0, 1, 7} {
		var stream string
		for i, kind := range []string{"response.created", "response.in_progress", "response.completed"} {
			stream += fmt.Sprintf("id: %d\ndata: {\"type\":%q,\"sequence_number\": %d,\"response\":{\"id\":\"r\",\"output\":[]}}\n\n", i, kind, first+i)
		}
		w := New(wire.Responses, "recall")
		out, err := w.Feed([]byte(stream))
		if got := string(out) + string(w.End()); err != nil || got != stream {
			t.Errorf("from %d: %v, the client gets\n%s", first, err, got)
		}
	}
}

// The end of a stream that lacks the empty line after its last event reaches the client.
func TestTheLastEventWithoutItsEmptyLine(t *testing.T) {
	piece := func(text string) string {
		return `data: {"id":"1","choices":[{"index":0,"delta":{"content":"` + text + `"}}]}`
	}
	w := New(wire.Chat, "recall")
	out, err := w.Feed([]byte(piece("a lamp") + "\n\n" + piece("and a bulb")))
	if err != nil || !strings.Contains(string(out), "a lamp") || strings.Contains(string(out), "bulb") {
		t.Fatalf("%s, %v", out, err)
	}
	if rest := string(w.Rest()); !strings.Contains(rest, "and a bulb") || w.Over() {
		t.Errorf("the rest is %q, over %v", rest, w.Over())
	}
	short := New(wire.Chat, "recall")
	if _, err := short.Feed([]byte("data: 7")); err != nil || string(short.Rest()) != "data: 7" {
		t.Errorf("the rest of a short stream is dropped, %v", err)
	}
	done := New(wire.Chat, "recall")
	if _, err := done.Feed([]byte("data: [DONE]\n\n" + piece("more"))); err != nil || !done.Over() {
		t.Fatalf("%v, over %v", err, done.Over())
	}
	if rest := done.Rest(); len(rest) > 0 {
		t.Errorf("behind the end there is %q", rest)
	}
}
