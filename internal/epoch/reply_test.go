package epoch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/token"
)

// raws returns JSON texts as they are in a reply.
func raws(texts ...string) (list []json.RawMessage) {
	for _, text := range texts {
		list = append(list, json.RawMessage(text))
	}
	return list
}

// In place of the client's version of a reply the provider gets its own, and the answers to hidden
// calls stand before or behind those to the client's calls.
func TestReplies(t *testing.T) {
	const (
		u, again = `{"role":"user","content":"u"}`, `{"role":"user","content":"v"}`
		ask      = `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"tool_use","id":"h1","name":"recall","input":{}}]}`
		told     = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"h1","content":"t"}]}`
		seen     = `{"role":"assistant","content":[{"type":"text","text":"hi  there"},{"type":"tool_use","id":"c1","name":"ls","input":{}}]}`
		both     = `{"role":"assistant","content":[{"type":"text","text":"hi there"},{"type":"tool_use","id":"c1","name":"ls","input":{}},{"type":"tool_use","id":"h2","name":"recall","input":{}}]}`
		c1, h2   = `{"type":"tool_result","tool_use_id":"c1","content":"a"}`, `{"type":"tool_result","tool_use_id":"h2","content":"t2"}`
		mark     = `"cache_control":{"type":"ephemeral"}`
		said     = `{"role":"assistant","content":[{"type":"text","text":"hi there"}]}`

		calls   = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1"},{"id":"c2"}]}`
		hidden  = `{"role":"assistant","content":null,"tool_calls":[{"id":"h1"},{"id":"c1"},{"id":"c2"},{"id":"h2"}]}`
		t1, t2  = `{"role":"tool","tool_call_id":"c1","content":"a"}`, `{"role":"tool","tool_call_id":"c2","content":"b"}`
		th1     = `{"role":"tool","tool_call_id":"h1","content":"c"}`
		th2     = `{"role":"tool","tool_call_id":"h2","content":"d"}`
		thought = `{"type":"reasoning","content":[{"type":"x","text":"y"}]}`
		call    = `{"type":"function_call","call_id":"c1","name":"ls","arguments":"{}"}`
		output  = `{"type":"function_call_output","call_id":"c1","output":"a"}`
		secret  = `{"type":"function_call","call_id":"h1","name":"recall","arguments":"{}"}`
		open    = `{"type":"function_call_output","call_id":"h1","output":"t"}`
		spoken  = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}`
	)
	user := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	marked := func(block string) string { return "{" + mark + "," + block[1:] }
	hides := epoch.Reply{Messages: raws(ask, told, both), Results: []epoch.Result{{Text: json.RawMessage(h2)}}}
	chats := epoch.Reply{Messages: raws(hidden), Results: []epoch.Result{{Text: json.RawMessage(th1)}, {Behind: "c2", Text: json.RawMessage(th2)}}}
	for _, tt := range []struct {
		name     string
		dialect  wire.Dialect
		reply    epoch.Reply
		calls    []string
		text     string
		other    epoch.Rewrite // for so many messages, or none
		messages []string
		want     []string
	}{
		{"a text", wire.Anthropic, epoch.Reply{Messages: raws(ask, told, said)}, nil, "hi there", epoch.Rewrite{}, []string{u, `{"role":"assistant","content":"hi  there"}`, again}, []string{u, ask, told, said, again}},
		{"another text", wire.Anthropic, epoch.Reply{Messages: raws(ask, told, said)}, nil, "hi there", epoch.Rewrite{}, []string{u, `{"role":"assistant","content":"hi"}`, again}, []string{u, `{"role":"assistant","content":"hi"}`, again}},
		{"the first message", wire.Anthropic, epoch.Reply{Messages: raws(ask, told, said)}, nil, "hi there", epoch.Rewrite{}, []string{said, again}, []string{said, again}},
		{"a mark on it", wire.Anthropic, epoch.Reply{Messages: raws(ask, told, said)}, nil, "hi there", epoch.Rewrite{}, []string{u, `{"role":"assistant","content":[{"type":"text","text":"hi there",` + mark + `}]}`, again}, []string{u, ask, told, `{"role":"assistant","content":[` + marked(`{"type":"text","text":"hi there"}`) + `]}`, again}},
		{"calls of both", wire.Anthropic, hides, []string{"c1"}, "", epoch.Rewrite{}, []string{u, seen, user(c1), again}, []string{u, ask, told, both, user(h2, c1), again}},
		{"calls of both, and a mark", wire.Anthropic, hides, []string{"c1"}, "", epoch.Rewrite{}, []string{u, seen, user(strings.TrimSuffix(c1, "}") + "," + mark + "}"), again}, []string{u, ask, told, both, user(h2, marked(c1)), again}},
		{"no answer of the client", wire.Anthropic, hides, []string{"c1"}, "", epoch.Rewrite{}, []string{u, seen, user()}, []string{u, ask, told, both, user(h2)}},
		{"an answer that is a text", wire.Anthropic, hides, []string{"c1"}, "", epoch.Rewrite{}, []string{u, seen, again}, []string{u, ask, told, both, again}},
		{"an answer with a rewrite", wire.Anthropic, hides, []string{"c1"}, "", epoch.Rewrite{Kind: epoch.Message, Messages: 3, Data: []byte(user(strings.Replace(c1, `"a"`, `"b"`, 1)))}, []string{u, seen, user(c1)}, []string{u, ask, told, both, user(h2, strings.Replace(c1, `"a"`, `"b"`, 1))}},
		{"a head up to it", wire.Anthropic, hides, []string{"c1"}, "", epoch.Rewrite{Kind: epoch.Head, Messages: 2, Data: []byte("[" + both + "]")}, []string{u, seen, user(c1)}, []string{both, user(h2, c1)}},
		{"Chat Completions", wire.Chat, chats, []string{"c1", "c2"}, "", epoch.Rewrite{}, []string{u, calls, t1, t2, again}, []string{u, hidden, th1, t1, t2, th2, again}},
		{"another order of answers", wire.Chat, chats, []string{"c1", "c2"}, "", epoch.Rewrite{}, []string{u, calls, t2, t1, again}, []string{u, hidden, th1, t2, th2, t1, again}},
		{"Responses", wire.Responses, epoch.Reply{Messages: raws(thought, secret, open, call)}, []string{"c1"}, "", epoch.Rewrite{}, []string{u, thought, call, output, again}, []string{u, thought, secret, open, call, output, again}},
		{"Responses, a text", wire.Responses, epoch.Reply{Messages: raws(secret, open, spoken)}, nil, "hi", epoch.Rewrite{}, []string{u, thought, spoken}, []string{u, secret, open, spoken}},
	} {
		b := epoch.NewBook(tt.dialect)
		q := read(t, tt.dialect, bodyOf(tt.dialect, tt.messages...))
		data, err := tt.reply.Data()
		if err != nil {
			t.Fatal(err)
		}
		add := []epoch.Rewrite{{Kind: epoch.Message, Messages: 2, Chain: epoch.ReplyChain(tt.dialect, q.Messages[0].Chain, tt.calls, tt.text), Data: data}}
		if tt.other.Messages > 0 {
			tt.other.Chain = q.Messages[tt.other.Messages-1].Chain
			add = append(add, tt.other)
		}
		for i := range add {
			if err := b.Add(&add[i]); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 { // the second time the results were put in before
			got, _ := sent(t, b, tt.dialect, bodyOf(tt.dialect, tt.messages...))
			if want := bodyOf(tt.dialect, tt.want...); strings.ReplaceAll(got, ", ", ",") != strings.ReplaceAll(want, ", ", ",") {
				t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, want)
			}
		}
		if tt.other.Kind == epoch.Head {
			continue
		}
		want := read(t, tt.dialect, bodyOf(tt.dialect, tt.want...))
		if whole, err := b.Whole(q, len(tt.messages)); err != nil || chainOf(read(t, tt.dialect, string(whole))) != chainOf(want) {
			t.Errorf("%s: %v, the whole is\n%s", tt.name, err, whole)
		}
	}
}

// A body to store has no prompt for a summary, no marks and no billing line, and a single text is
// a string.
func TestWholeUnasked(t *testing.T) {
	const (
		u, a   = `{"role":"user","content":[{"type":"text","text":"u","cache_control":{"type":"ephemeral"}}]}`, `{"role":"assistant","content":[{"type":"text","text":"a","citations":[]}]}`
		prompt = `{"type":"text","text":"CRITICAL: Respond with TEXT ONLY."}`
		result = `{"type":"tool_result","tool_use_id":"t","content":"x"}`
		frame  = `"tools":[{"name":"ls"}],"messages":[`
	)
	for last, want := range map[string]string{
		`{"role":"user","content":[` + prompt + `]}`:                                    "",
		`{"role":"user","content":[` + result + `,` + prompt + `]}`:                     `,{"role":"user","content":[` + result + `]}`,
		`{"role":"user","content":[{"type":"text","text":"b"},` + prompt + `]}`:         `,{"role":"user","content":"b"}`,
		`{"role":"user","content":[` + result + `,{"type":"text","text":"no prompt"}]}`: "",
		`{"role":"user","content":"CRITICAL: Respond with TEXT ONLY."}`:                 "",
	} {
		q := read(t, wire.Anthropic, `{"system":[{"type":"text","text":"x-anthropic-billing-header: 1"},{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],`+strings.Replace(frame, `"ls"`, `"ls","cache_control":{}`, 1)+u+`,`+a+`,`+last+`]}`)
		got, err := epoch.NewBook(wire.Anthropic).WholeUnasked(q)
		whole := `{"system":[{"type":"text","text":"s"}],` + frame + `{"role":"user","content":"u"},` + a + want + `]}`
		if err != nil || string(got) != whole {
			t.Errorf("%s: %v\n%s\nwant\n%s", last, err, got, whole)
		}
	}
	q := read(t, wire.Responses, `{"input":[{"role":"user","content":[{"type":"input_text","text":"u"}]}]}`)
	if got, err := epoch.NewBook(wire.Responses).Whole(q, 1); err != nil || !strings.Contains(string(got), `[{"type":"input_text","text":"u"}]`) {
		t.Errorf("Responses: %v: %s", err, got)
	}
}

// A simulation has the sizes of the requests that would be sent: pointers in place of large
// results, and a head in place of the messages that it replaces.
func TestSimulation(t *testing.T) {
	const model = "claude-opus-4-5"
	const pointer = 5
	long := strings.Repeat("lamp ", 40)
	result := func(id string) string {
		return `{"role":"user","content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"` + long + `"}]}`
	}
	call := func(id, name string) string {
		return `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{}}]}`
	}
	messages := []string{`{"role":"user","content":"u"}`, call("a", "ls"), result("a"), call("b", "mcp__carrel__recall"), result("b"), call("c", "ls"), result("c")}
	request := func(n int) (*wire.Request, epoch.Size) {
		q := read(t, wire.Anthropic, bodyOf(wire.Anthropic, messages[:n]...))
		return q, epoch.NewSizes(wire.Anthropic, model).Of(q, epoch.NewBook(wire.Anthropic).Plan(q))
	}
	less := token.ForModel(model).Count(long) - pointer
	s := epoch.NewSimulation(epoch.NewSizes(wire.Anthropic, model), 100, pointer)
	check := func(n int, head epoch.EstimatedHead, made, all token.Count, results int) epoch.Image {
		t.Helper()
		q, z := request(n)
		var m epoch.Image
		for range 2 {
			m = s.Of(q)
		}
		want := epoch.Image{Size: epoch.Size{All: all, Fresh: z.Fresh - token.Count(results)*less, Frame: z.Frame, Tools: z.Tools, Made: made}, Came: z.All, Head: head, Results: results}
		if m != want {
			t.Errorf("of %d messages the image is\n%+v, want\n%+v", n, m, want)
		}
		return m
	}
	_, z3 := request(3)
	none := epoch.EstimatedHead{}
	m := check(3, none, 0, z3.All-less, 1)
	_, z5 := request(5)
	check(5, none, 0, z5.All-less, 0) // what is recalled stays
	q, _ := request(3)
	for _, tt := range []struct {
		room, want token.Count
	}{{m.Frame - 1, 0}, {m.Frame, 0}, {m.Frame + 7, 7}, {1 << 20, z3.All - z3.Frame - z3.Fresh}} {
		before := s.Newest().Epoch
		s.Cut(q, &m, tt.room)
		if got := s.Newest(); got != (epoch.EstimatedHead{Chain: q.Messages[1].Chain, Epoch: before + 1, Tokens: tt.want}) {
			t.Errorf("with room for %d the head is %+v, want %d tokens", tt.room, got, tt.want)
		}
	}
	head := epoch.EstimatedHead{Chain: q.Messages[1].Chain, Epoch: 4, Tokens: 7}
	s.Add(head)
	s.Add(epoch.EstimatedHead{Epoch: 3})
	if s.Newest() != head {
		t.Errorf("the newest head is %+v", s.Newest())
	}
	check(3, head, z3.Frame+7, z3.Frame+7+z3.Fresh-less, 1)
	_, z7 := request(7)
	check(7, head, z7.Frame+7, z7.All-2*less-(z3.All-z3.Frame-z3.Fresh)+7, 1)
	empty := read(t, wire.Anthropic, bodyOf(wire.Anthropic))
	m = s.Of(empty)
	if s.Cut(empty, &m, 1<<20); s.Newest() != head || m.All != m.Frame || m.Came != m.Frame {
		t.Errorf("of nothing the image is %+v", m)
	}
}
