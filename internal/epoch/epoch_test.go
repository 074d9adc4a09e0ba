package epoch_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/token"
)

func read(t rapid.TB, dialect wire.Dialect, body string) *wire.Request {
	t.Helper()
	doc := new(rawjson.Document)
	if err := doc.Read([]byte(body)); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	q := new(wire.Request)
	if err := q.Read(dialect, wire.KindCall, nil, doc); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return q
}

func bodyOf(dialect wire.Dialect, messages ...string) string {
	key := "messages"
	if dialect == wire.Responses {
		key = "input"
	}
	return fmt.Sprintf(`{"model":"m","system":"s","tools":[{"name":"ls"}],%q: [%s]}`, key, strings.Join(messages, ", "))
}

// sent returns what is sent for a body, and the plan of it.
func sent(t rapid.TB, b *epoch.Book, dialect wire.Dialect, body string) (string, *epoch.Plan) {
	t.Helper()
	q := read(t, dialect, body)
	p := b.Plan(q)
	p.Edit(q)
	out := string(bytes.Join(q.Doc.Segments(), nil))
	if got := read(t, dialect, out); chainOf(got) != p.Sent {
		t.Fatalf("the chain of what is sent is not that of the plan:\n%s\n%s", body, out)
	}
	return out, p
}

func chainOf(q *wire.Request) (d digest.Digest) {
	if n := len(q.Messages); n > 0 {
		d = q.Messages[n-1].Chain
	}
	return d
}

func TestWhatIsSent(t *testing.T) {
	const (
		u1  = `{"role":"user","content":"one"}`
		a1  = `{"role":"assistant","content":"two"}`
		u2  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"three","cache_control":{"type":"ephemeral","ttl":"1h"}},{"type":"text","text":"four","cache_control":{"type":"ephemeral"}}]}`
		u2s = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"3"},{"type":"text","text":"four"}]}`
	)
	chain := func(messages ...string) digest.Digest {
		return chainOf(read(t, wire.Anthropic, bodyOf(wire.Anthropic, messages...)))
	}
	head := func(data string, messages ...string) epoch.Rewrite {
		return epoch.Rewrite{Chain: chain(messages...), Kind: epoch.Head, Epoch: 1, Messages: len(messages), Data: []byte(data)}
	}
	single := func(data string, messages ...string) epoch.Rewrite {
		return epoch.Rewrite{Chain: chain(messages...), Kind: epoch.Message, Messages: len(messages), Data: []byte(data)}
	}
	for _, tt := range []struct {
		name     string
		rewrites []epoch.Rewrite
		messages []string
		want     []string // messages that are sent
	}{
		{"no rewrite", nil, []string{u1, a1, u2}, []string{u1, a1, u2}},
		{"a rewrite of another history", []epoch.Rewrite{head(`[{"role":"user","content":"x"}]`, a1)}, []string{u1, a1}, []string{u1, a1}},
		{"a head", []epoch.Rewrite{head(`[{"role":"user","content":[{"type":"text","text":"x"}]}]`, u1)}, []string{u1, a1, u2}, []string{`{"role":"user","content":[{"type":"text","text":"x"}]}`, a1, u2}},
		{"a head of two", []epoch.Rewrite{head(` [ {"role":"user","content":"x"} , {"role":"assistant","content":[{"type":"text","text":"y"}]} ] `, u1)}, []string{u1}, []string{`{"role":"user","content":"x"}`, `{"role":"assistant","content":[{"type":"text","text":"y"}]}`}},
		{"the longest head", []epoch.Rewrite{head(`[{"role":"user","content":[{"type":"text","text":"x"}]}]`, u1), head(`[{"role":"user","content":[{"type":"text","text":"z"}]}]`, u1, a1)}, []string{u1, a1, u2}, []string{`{"role":"user","content":[{"type":"text","text":"z"}]}`, u2}},
		{
			"marks move to the end of the head",
			[]epoch.Rewrite{head(`[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},{"type":"text","text":"y"}]}]`, u1, a1, u2)},
			[]string{u1, a1, u2},
			[]string{`{"role":"user","content":[{"type":"text","text":"x"},{"cache_control":{"type":"ephemeral"},"type":"text","text":"y"}]}`},
		},
		{
			"a mark where none is taken",
			[]epoch.Rewrite{head(`[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}},{"type":"thinking","thinking":"x","signature":"s"}]}]`, u1, a1, u2)},
			[]string{u1, a1, u2},
			[]string{`{"role":"assistant","content":[{"cache_control":{"type":"ephemeral"},"type":"tool_use","id":"t","name":"n","input":{}},{"type":"thinking","thinking":"x","signature":"s"}]}`},
		},
		{
			"a message",
			[]epoch.Rewrite{single(u2s, u1, a1, u2)},
			[]string{u1, a1, u2, a1},
			[]string{u1, a1, `{"role":"user","content":[{"cache_control":{"type":"ephemeral","ttl":"1h"},"type":"tool_result","tool_use_id":"t","content":"3"},{"cache_control":{"type":"ephemeral"},"type":"text","text":"four"}]}`, a1},
		},
		{"a message in a head", []epoch.Rewrite{single(u2s, u1, a1, u2), head(`[{"role":"user","content":[{"type":"text","text":"x"}]}]`, u1, a1, u2, a1)}, []string{u1, a1, u2, a1, u1}, []string{`{"role":"user","content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"x"}]}`, u1}},
		{"an empty text", []epoch.Rewrite{single(`{"role":"user","content":""}`, u1)}, []string{u1, a1}, []string{`{"role":"user","content":""}`, a1}},
		{"no blocks for marks", []epoch.Rewrite{single(`{"role":"user","content":["x"]}`, u1, a1, u2)}, []string{u1, a1, u2}, []string{u1, a1, `{"role":"user","content":["x"]}`}},
		{
			"two marks for one block",
			[]epoch.Rewrite{single(`{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":""}]}`, u1, a1, u2)},
			[]string{u1, a1, u2},
			[]string{u1, a1, `{"role":"user","content":[{"cache_control":{"type":"ephemeral"},"type":"text","text":"x"},{"type":"text","text":""}]}`},
		},
		{"no messages", nil, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := epoch.NewBook(wire.Anthropic)
			for i := range tt.rewrites {
				if err := b.Add(&tt.rewrites[i]); err != nil {
					t.Fatal(err)
				}
			}
			got, _ := sent(t, b, wire.Anthropic, bodyOf(wire.Anthropic, tt.messages...))
			if want := bodyOf(wire.Anthropic, tt.want...); strings.ReplaceAll(got, ", ", ",") != strings.ReplaceAll(want, ", ", ",") {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestAnInputOfOneText(t *testing.T) {
	q := read(t, wire.Responses, `{"input":"x"}`)
	for _, kind := range []epoch.Kind{epoch.Head, epoch.Message} {
		data := `{"role":"user","content":"y"}`
		if kind == epoch.Head {
			data = "[" + data + "]"
		}
		b := epoch.NewBook(wire.Responses)
		if err := b.Add(&epoch.Rewrite{Chain: q.Messages[0].Chain, Kind: kind, Messages: 1, Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Whole(read(t, wire.Responses, `{"input":"x"}`), 1); err != nil || string(got) != `{"input":"x"}` {
			t.Errorf("%s: what is stored is %s, %v", kind, got, err)
		}
		if got, _ := sent(t, b, wire.Responses, `{"input":"x"}`); got != `{"input":[{"role":"user","content":"y"}]}` {
			t.Errorf("%s: got %s", kind, got)
		}
	}
}

func TestWhatIsNoRewrite(t *testing.T) {
	for _, r := range []epoch.Rewrite{
		{Kind: epoch.Head, Messages: 1, Data: []byte(`[]`)},
		{Kind: epoch.Head, Messages: 0, Data: []byte(`[{"role":"user","content":"x"}]`)},
		{Kind: epoch.Head, Messages: 1, Data: []byte(`{"role":"user","content":"x"}`)},
		{Kind: epoch.Head, Messages: 1, Data: []byte(`["x"]`)},
		{Kind: epoch.Head, Messages: 1, Data: []byte(`"x"`)},
		{Kind: epoch.Message, Messages: 1, Data: []byte(`{},{}`)},
		{Kind: epoch.Message, Messages: 1, Data: nil},
	} {
		for _, dialect := range []wire.Dialect{wire.Anthropic, wire.Responses} {
			b := epoch.NewBook(dialect)
			if err := b.Add(&r); err == nil || b.Len() > 0 {
				t.Errorf("%s: %s was taken for a %s: %v", dialect, r.Data, r.Kind, err)
			}
		}
	}
}

// The error of a reply that cannot be read says what is wrong with it.
func TestRepliesThatCannotBeRead(t *testing.T) {
	for data, want := range map[string]string{
		`{"carrel":"odd","messages":[{"role":"assistant","content":"x"}]}`: `the form is "odd": want "reply"`,
		`{"carrel":"reply","messages":[]}`:                                 "it has no messages",
		`{"carrel":"reply","messages":1}`:                                  "cannot unmarshal number",
		`{"carrel":"reply","messages":["x"]}`:                              "message 0 is not an object",
	} {
		err := epoch.NewBook(wire.Anthropic).Add(&epoch.Rewrite{Kind: epoch.Message, Epoch: 2, Messages: 4, Data: []byte(data)})
		if err == nil || !strings.Contains(err.Error(), "reply of epoch 2 behind 3 messages") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", data, err, want)
		}
	}
}

// A book is as large as what is sent in place of messages.
func TestSizeOfABook(t *testing.T) {
	b := epoch.NewBook(wire.Chat)
	for _, r := range []epoch.Rewrite{
		{Chain: digest.Of([]byte("a")), Kind: epoch.Head, Epoch: 1, Messages: 1, Data: []byte(`[{"role":"user","content":"12345"}, {}]`)},
		{Chain: digest.Of([]byte("b")), Kind: epoch.Message, Messages: 1, Data: []byte(`{"role":"user","content":"1"}`)},
	} {
		if err := b.Add(&r); err != nil {
			t.Fatal(err)
		}
	}
	if want := len(`{"role":"user","content":"12345"},{}` + `{"role":"user","content":"1"}`); b.Size() != want {
		t.Errorf("got %d bytes, want %d", b.Size(), want)
	}
}

// withReply adds a reply to a book: what is sent in place of the messages of q that begin at index i,
// whose calls and text the client knows.
func withReply(t *testing.T, b *epoch.Book, q *wire.Request, i int, calls []string, text string, r *epoch.Reply) {
	t.Helper()
	data, err := r.Data()
	if err == nil {
		err = b.Add(&epoch.Rewrite{Chain: epoch.ReplyChain(q.Dialect, q.Messages[i-1].Chain, calls, text), Kind: epoch.Message, Messages: i + 1, Data: data})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What is hidden of a reply is sent again: the reply with its marks at its end, and its results in
// front of those of the next message, whatever that message is.
func TestHiddenParts(t *testing.T) {
	const (
		ask     = `{"role":"user","content":"a"}`
		call    = `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"ls","input":{}}]}`
		calls   = `{"role":"assistant","content":[{"type":"tool_use","id":"h","name":"recall","input":{}},{"type":"tool_use","id":"t","name":"ls","input":{}}]}`
		hidden  = `{"type":"tool_result","tool_use_id":"h","content":"7"}`
		result  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}`
		results = `{"role":"user","content":[` + hidden + `,{"type":"tool_result","tool_use_id":"t","content":"x"}]}`
		more    = `{"role":"user","content":[{"type":"text","text":"more"}]}`
		marked  = `"cache_control":{"type":"ephemeral"}`
		said    = `{"role":"assistant","content":[{"type":"text","text":"b",` + marked + `}]}`
	)
	for _, tt := range []struct {
		name     string
		reply    []string
		text     string // of the reply, if it has no call
		own      string // what is sent for the third message itself
		messages []string
		want     []string
	}{
		{"a result in front", []string{calls}, "", "", []string{ask, call, result}, []string{ask, calls, results}},
		{"only the next message", []string{calls}, "", "", []string{ask, call, result, more}, []string{ask, calls, results, more}},
		{"an empty message", []string{calls}, "", "", []string{ask, call, `{"role":"user","content":[]}`}, []string{ask, calls, `{"role":"user","content":[` + hidden + `]}`}},
		{"a message of a digit", []string{calls}, "", "", []string{ask, call, `{"role":"user","content":[7]}`}, []string{ask, calls, `{"role":"user","content":[` + hidden + `,7]}`}},
		{"a rewritten message", []string{calls}, "", result, []string{ask, call, more}, []string{ask, calls, results}},
		{"two messages", []string{more, `{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]}`}, "b", "", []string{ask, said}, []string{ask, more, `{"role":"assistant","content":[{"type":"text","text":"b"},{` + marked + `,"type":"text","text":"c"}]}`}},
		{"one message", []string{`{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"text","text":"c"}]}`}, "b", "", []string{ask, said}, []string{ask, `{"role":"assistant","content":[{` + marked + `,"type":"text","text":"b"},{"type":"text","text":"c"}]}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, b := read(t, wire.Anthropic, bodyOf(wire.Anthropic, tt.messages...)), epoch.NewBook(wire.Anthropic)
			r, ids := &epoch.Reply{}, []string{"t"}
			for _, m := range tt.reply {
				r.Messages = append(r.Messages, []byte(m))
			}
			if tt.text != "" {
				ids = nil
			} else {
				r.Results = []epoch.Result{{Text: []byte(hidden)}}
			}
			withReply(t, b, q, 1, ids, tt.text, r)
			if tt.own != "" {
				if err := b.Add(&epoch.Rewrite{Chain: q.Messages[2].Chain, Kind: epoch.Message, Messages: 3, Data: []byte(tt.own)}); err != nil {
					t.Fatal(err)
				}
			}
			got, _ := sent(t, b, wire.Anthropic, bodyOf(wire.Anthropic, tt.messages...))
			if want := bodyOf(wire.Anthropic, tt.want...); strings.ReplaceAll(got, ", ", ",") != strings.ReplaceAll(want, ", ", ",") {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A reply of Responses is all items up to the next message, also at the end of a request, and its marks
// go to the end of the items that are sent in its place.
func TestHiddenItems(t *testing.T) {
	const (
		ask  = `{"role":"user","content":"a"}`
		mark = `"prompt_cache_breakpoint":{}`
		full = `{"role":"assistant","content":[{"type":"output_text","text":"b"},{"type":"output_text","text":"c"}]}`
	)
	body := bodyOf(wire.Responses, ask, `{"type":"reasoning"}`, `{"role":"assistant","content":[{"type":"output_text","text":"b",`+mark+`}]}`)
	q, b := read(t, wire.Responses, body), epoch.NewBook(wire.Responses)
	withReply(t, b, q, 1, nil, "b", &epoch.Reply{Messages: []json.RawMessage{[]byte(full)}})
	got, _ := sent(t, b, wire.Responses, body)
	if want := bodyOf(wire.Responses, ask, strings.Replace(full, `{"type":"output_text","text":"c"`, `{`+mark+`,"type":"output_text","text":"c"`, 1)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A reply replaces another of the same chain, but none of a later epoch.
func TestALaterReplyStays(t *testing.T) {
	b, base := epoch.NewBook(wire.Anthropic), -1
	for _, r := range []struct {
		epoch int
		text  string
		want  int // length of the texts
	}{{2, "four", 4}, {2, "seven77", 7}, {1, "x", 7}, {3, "xx", 2}} {
		data := fmt.Appendf(nil, `{"carrel":"reply","messages":[{"role":"assistant","content":%q}]}`, r.text)
		if err := b.Add(&epoch.Rewrite{Kind: epoch.Message, Epoch: r.epoch, Messages: 4, Data: data}); err != nil {
			t.Fatal(err)
		}
		if base < 0 {
			base = b.Size() - r.want
		}
		if got := b.Size() - base; got != r.want {
			t.Errorf("after %q of epoch %d: %d bytes, want %d", r.text, r.epoch, got, r.want)
		}
	}
}

// A client is a conversation as a client keeps it, and what a proxy made of it.
type client struct {
	t        *rapid.T
	history  []string // as it is written without marks, texts as texts
	rewrites []epoch.Rewrite
	made     int
}

func (c *client) message(role string) string {
	c.made++
	text := fmt.Sprintf("%d %s", c.made, rapid.StringMatching(`[a-z"\\é]{0,9}`).Draw(c.t, "text"))
	if rapid.Bool().Draw(c.t, "plain") {
		return fmt.Sprintf(`{"role":%q,"content":%s}`, role, rawjson.AppendString(nil, text))
	}
	return fmt.Sprintf(`{"role":%q,"content":[{"type":"tool_result","tool_use_id":"t%d","content":%s},{"type":"text","text":"and"}]}`, role, c.made, rawjson.AppendString(nil, text))
}

// body returns the request that the client makes: texts as texts or as blocks, with up to
// four marks.
func (c *client) body() string {
	var list []string
	marks := 0
	for _, m := range c.history {
		if role, text, found := strings.Cut(m, `,"content":"`); found && !strings.Contains(role, "[") && rapid.Bool().Draw(c.t, "as a block") {
			m = role + `,` + `"content":[{"type":"text","text":"` + strings.TrimSuffix(text, "}") + "}]}"
		}
		if i := strings.LastIndex(m, `"}]}`); i >= 0 && marks < 4 && rapid.Bool().Draw(c.t, "marked") {
			m = m[:i+1] + `,"cache_control":{"type":"ephemeral"}` + m[i+1:]
			marks++
		}
		list = append(list, m)
	}
	return bodyOf(wire.Anthropic, list...)
}

// rewrite makes a head of all messages, or a rewrite of the last, as a proxy would for this
// request.
func (c *client) rewrite(body string) {
	q := read(c.t, wire.Anthropic, body)
	r := epoch.Rewrite{Chain: chainOf(q), Messages: len(q.Messages), Kind: epoch.Message, Data: []byte(c.message("user"))}
	if rapid.Bool().Draw(c.t, "head") {
		r.Kind, r.Data = epoch.Head, fmt.Appendf(nil, "[%s,%s]", c.message("user"), c.message("assistant"))
	}
	for i := range c.rewrites {
		r.Epoch = max(r.Epoch, c.rewrites[i].Epoch)
	}
	if r.Kind == epoch.Head {
		r.Epoch++
	}
	c.rewrites = append(c.rewrites, r)
}

func (c *client) book() *epoch.Book {
	b := epoch.NewBook(wire.Anthropic)
	for i := range c.rewrites {
		if err := b.Add(&c.rewrites[i]); err != nil {
			c.t.Fatal(err)
		}
	}
	return b
}

// However a history grows, is rewound, forked, sent again in another form or after a
// restart: what was sent for a beginning of it stands at the beginning of what is sent now,
// unless a head was made behind it; and the client's marks do not become more.
func TestWhatWasSentStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &client{t: t}
		type call struct {
			chain digest.Digest   // of the client's messages
			sent  []digest.Digest // identities
			head  int
		}
		var calls []call
		book := c.book()
		for range rapid.IntRange(1, 20).Draw(t, "calls") {
			if n := len(c.history); n > 0 && rapid.IntRange(0, 4).Draw(t, "rewind") == 0 {
				c.history = c.history[:rapid.IntRange(1, n).Draw(t, "to")]
			}
			for range rapid.IntRange(0, 3).Draw(t, "more") {
				c.history = append(c.history, c.message("user"), c.message("assistant"))
			}
			c.history = append(c.history, c.message("user"))
			body := c.body()
			chain := chainOf(read(t, wire.Anthropic, body))
			again := slices.ContainsFunc(calls, func(old call) bool { return old.chain == chain })
			if !again && rapid.IntRange(0, 3).Draw(t, "rewrite") == 0 {
				c.rewrite(body)
				book = c.book() // which is also what a restart does
			}
			out, p := sent(t, book, wire.Anthropic, body)
			if again, _ := sent(t, c.book(), wire.Anthropic, body); again != out {
				t.Fatalf("after a restart the same request is\n%s\nnot\n%s", again, out)
			}
			if other, _ := sent(t, book, wire.Anthropic, c.body()); stripped(t, other) != stripped(t, out) {
				t.Fatalf("in another form the same history is\n%s\nnot\n%s", other, out)
			}
			if strings.Count(out, "cache_control") > strings.Count(body, "cache_control") {
				t.Fatalf("there are more marks in\n%s\nthan in\n%s", out, body)
			}
			if p.Untouched() && out != body {
				t.Fatalf("without a rewrite %s became %s", body, out)
			}
			q := read(t, wire.Anthropic, body)
			now := call{chain: chain, head: p.Head}
			for _, m := range read(t, wire.Anthropic, out).Messages {
				now.sent = append(now.sent, m.Identity)
			}
			for _, old := range calls {
				begins := slices.ContainsFunc(q.Messages, func(m wire.Message) bool { return m.Chain == old.chain })
				if begins && old.head == now.head && !slices.Equal(old.sent, now.sent[:min(len(old.sent), len(now.sent))]) {
					t.Fatalf("what was sent for a beginning of it is not at the beginning of\n%s", out)
				}
			}
			calls = append(calls, now)
		}
	})
}

// stripped returns the identities of what a body has.
func stripped(t rapid.TB, body string) (s string) {
	for _, m := range read(t, wire.Anthropic, body).Messages {
		s += m.Identity.Short()
	}
	return s
}

func TestDecide(t *testing.T) {
	limits := &epoch.Limits{Budget: 100_000, Target: 60_000, Least: 10_000}
	after := func(n int) func(removed, behind token.Count) int {
		return func(token.Count, token.Count) int { return n }
	}
	for _, tt := range []struct {
		name  string
		state epoch.State
		want  epoch.Reason
	}{
		{"it fits", epoch.State{Tokens: 65_000, Frame: 5_000, Warm: true, Calls: 20, Payback: after(1)}, ""},
		{"over the budget", epoch.State{Tokens: 100_001, Warm: true}, epoch.Budget},
		{"at the budget, and too dear", epoch.State{Tokens: 100_000, Warm: true, Calls: 20, Payback: after(3)}, ""},
		{"it pays within a tenth of the calls", epoch.State{Tokens: 100_000, Warm: true, Calls: 20, Payback: after(2)}, epoch.Payback},
		{"cold", epoch.State{Tokens: 70_000}, epoch.Cold},
		{"cold, with too little to gain", epoch.State{Tokens: 69_999}, ""},
		{"cold, with system and tools alone", epoch.State{Tokens: 75_000, Frame: 70_000}, ""},
		{"cold, just after a head", epoch.State{Tokens: 80_000, Made: 75_000}, ""},
		{"over the budget, just after a head", epoch.State{Tokens: 102_000, Made: 101_000, Warm: true}, ""},
		{"over the budget, grown since the head", epoch.State{Tokens: 104_000, Made: 101_000, Warm: true}, epoch.Budget},
		{"over the budget, grown by a sixteenth of the room", epoch.State{Tokens: 103_500, Made: 101_000, Warm: true}, ""},
		{"and by more", epoch.State{Tokens: 103_501, Made: 101_000, Warm: true}, epoch.Budget},
		{"cold, and grown enough since the head", epoch.State{Tokens: 80_000, Made: 70_000}, epoch.Cold},
		{"warm, without a price", epoch.State{Tokens: 80_000, Warm: true}, ""},
	} {
		if got := epoch.Decide(&tt.state, limits); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	for tokens, want := range map[token.Count]epoch.Reason{60_000: "", 60_001: epoch.Cold} {
		if got := epoch.Decide(&epoch.State{Tokens: tokens}, &epoch.Limits{Budget: 100_000, Target: 60_000}); got != want {
			t.Errorf("of %d tokens, if the least saving is none: got %q, want %q", tokens, got, want)
		}
	}
	var behind token.Count
	epoch.Decide(&epoch.State{Tokens: 90_000, Frame: 55_000, Warm: true, Payback: func(_, b token.Count) int { behind = b; return 0 }}, limits)
	if behind != 10_000 {
		t.Errorf("%d tokens would stay behind a large frame, want 10000", behind)
	}
	epoch.Decide(&epoch.State{Tokens: 90_000, Frame: 20_000, Warm: true, Payback: func(removed, b token.Count) int {
		if behind = b; removed != 30_000 {
			t.Errorf("%d tokens would leave, want 30000", removed)
		}
		return 0
	}}, limits)
	if behind != 40_000 {
		t.Errorf("%d tokens would stay behind, want 40000", behind)
	}
}

func TestOutputs(t *testing.T) {
	long := strings.Repeat("x", 50)
	for _, tt := range []struct {
		name     string
		dialect  wire.Dialect
		messages []string
		tools    []string // of the calls
		want     string   // the last message, with pointers
	}{
		{"a text", wire.Anthropic, []string{
			`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]}`,
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"` + long + `\n"},{"type":"text","text":"` + long + `"}]}`,
		}, []string{`Bash {"command":"ls"}`}, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"1"},{"type":"text","text":"` + long + `"}]}`},
		{"a list", wire.Anthropic, []string{
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[ {"type":"text","text":"` + long + `"},{"type":"text","text":"short"},{"text":"` + long + `","type":"text"}]}]}`,
		}, []string{" ", " "}, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[ {"type":"text","text":"1"},{"type":"text","text":"short"},{"text":"2","type":"text"}]}]}`},
		{"an image", wire.Anthropic, []string{
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"base64","data":"` + long + `"}}]}]}`,
		}, nil, ""},
		{"Chat Completions", wire.Chat, []string{
			`{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"ls","arguments":"{\"path\":1}"}}]}`,
			`{"role":"tool","tool_call_id":"t","content":"` + long + `"}`,
		}, []string{`ls {"path":1}`}, `{"role":"tool","tool_call_id":"t","content":"1"}`},
		{"Responses", wire.Responses, []string{
			`{"type":"function_call","call_id":"t","name":"ls","arguments":"{}"}`,
			`{"type":"function_call_output","call_id":"t","output":"` + long + `"}`,
		}, []string{`ls {}`}, `{"type":"function_call_output","call_id":"t","output":"1"}`},
		{"a call of a custom tool, and another", wire.Responses, []string{
			`{"type":"custom_tool_call","call_id":"t","name":"sh","input":"ls"}`,
			`{"type":"function_call","call_id":"u","name":"cat","arguments":"{}"}`,
			`{"type":"custom_tool_call_output","call_id":"t","output":"` + long + `"}`,
		}, []string{`sh "ls"`}, `{"type":"custom_tool_call_output","call_id":"t","output":"1"}`},
		{"as many bytes as are not large", wire.Chat, []string{
			`{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"ls","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"t","content":"` + long[:38] + `"}`,
		}, nil, ""},
		{"a byte more", wire.Chat, []string{
			`{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":7}]}`,
			`{"role":"tool","tool_call_id":"t","content":"` + long[:39] + `"}`,
		}, []string{" "}, `{"role":"tool","tool_call_id":"t","content":"1"}`},
		{"a result of no call", wire.Responses, []string{
			`{"type":"mcp_call","name":"ls","arguments":"{}"}`,
			`{"type":"function_call_output","call_id":null,"output":"` + long + `"}`,
		}, []string{" "}, `{"type":"function_call_output","call_id":null,"output":"1"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := read(t, tt.dialect, bodyOf(tt.dialect, tt.messages...))
			from := epoch.Fresh(q, func(digest.Digest) bool { return false })
			if from != len(tt.messages)-1 {
				t.Fatalf("message %d is the first new one", from)
			}
			got := epoch.Outputs(q, from, 40)
			var tools, texts []string
			for i, o := range got {
				if len(o.Text) < 39 || !strings.HasPrefix(long, strings.TrimSuffix(o.Text, "\n")) || o.Message != from {
					t.Errorf("got %+v", o)
				}
				tools, texts = append(tools, o.Call.Name+" "+string(o.Call.Input)), append(texts, fmt.Sprint(i+1))
			}
			if !slices.Equal(tools, tt.tools) {
				t.Fatalf("got the calls %q, want %q", tools, tt.tools)
			}
			if len(got) == 0 {
				return
			}
			if m := string(epoch.Replace(q, got, texts)); m != tt.want {
				t.Errorf("got\n%s\nwant\n%s", m, tt.want)
			}
			if m := string(epoch.Replace(q, got, make([]string, len(got)))); m != tt.messages[from] {
				t.Errorf("without pointers it is %s", m)
			}
		})
	}
}

// Results that nobody has replied to stay behind a new head; anything else is replaced by it.
func TestCovers(t *testing.T) {
	const (
		user   = `{"role":"user","content":"a"}`
		reply  = `{"role":"assistant","content":"b"}`
		result = `{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result","tool_use_id":"t","content":"x"}]}`
		block  = `{"role":"user","content":[{"type":"text","text":"a"}]}`
		tool   = `{"role":"tool","tool_call_id":"t","content":"x"}`
	)
	for _, tt := range []struct {
		name     string
		dialect  wire.Dialect
		messages []string
		want     int
	}{
		{"nothing", wire.Anthropic, nil, 0},
		{"no reply", wire.Anthropic, []string{result}, 1},
		{"a question", wire.Anthropic, []string{user, reply, block}, 3},
		{"a result", wire.Anthropic, []string{user, reply, result}, 2},
		{"a result behind the first message", wire.Anthropic, []string{reply, user, result}, 1},
		{"a result before the reply", wire.Anthropic, []string{user, reply, result, reply}, 4},
		{"a message of a result", wire.Chat, []string{user, reply, tool}, 2},
		{"a block that is a result elsewhere", wire.Chat, []string{user, reply, result}, 3},
	} {
		if got := epoch.Covers(read(t, tt.dialect, bodyOf(tt.dialect, tt.messages...))); got != tt.want {
			t.Errorf("%s: %d messages, want %d", tt.name, got, tt.want)
		}
	}
}

// Only results are outputs, however large other messages are, and each has the call before it.
func TestWhatIsNoOutput(t *testing.T) {
	long := `"` + strings.Repeat("x", 39) + `"` // a byte more than what is not large
	call := `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"ls","input":{}}]}`
	of := func(role, content string) string {
		return `{"role":"` + role + `","content":[{"type":"tool_result","tool_use_id":"t","content":` + content + `}]}`
	}
	for _, tt := range []struct {
		name     string
		dialect  wire.Dialect
		messages []string
		want     string // for each output the index of its message and the name of the call
	}{
		{"a call, and a question between", wire.Anthropic, []string{call, `{"role":"user","content":"wait"}`, of("user", long)}, "2 ls "},
		{"a reply", wire.Anthropic, []string{call, of("assistant", long)}, ""},
		{"a message of a tool in Messages", wire.Anthropic, []string{call, `{"role":"tool","call_id":"t","output":` + long + `}`}, ""},
		{"blocks that are none", wire.Anthropic, []string{call, of("user", `["x",{"type":"text","type":"text","text":`+long+`},{"text":`+long+`}]`)}, "1 ls "},
		{"a text that is none", wire.Anthropic, []string{call, of("user", `[{"type":"text","text":[`+long+`]}]`)}, ""},
		{"a text of a list that is not large", wire.Anthropic, []string{call, of("user", `[{"type":"text","text":"`+strings.Repeat("x", 38)+`"}]`)}, ""},
		{"a question in Chat Completions", wire.Chat, []string{`{"role":"user","content":` + long + `}`, `{"role":"tool","content":` + long + `}`}, "1  "},
		{"a call of the provider's", wire.Responses, []string{`{"type":"mcp_call","call_id":"t","name":"ls","output":` + long + `}`}, ""},
		{"one text", wire.Responses, nil, ""},
	} {
		body := bodyOf(tt.dialect, tt.messages...)
		if tt.messages == nil {
			body = `{"input":` + long + `}`
		}
		got := ""
		for _, o := range epoch.Outputs(read(t, tt.dialect, body), 0, 40) {
			got += fmt.Sprintf("%d %s ", o.Message, o.Call.Name)
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestWhatWasSentIsNotFresh(t *testing.T) {
	q := read(t, wire.Anthropic, bodyOf(wire.Anthropic, `{"role":"assistant","content":"a"}`, `{"role":"user","content":"b"}`, `{"role":"user","content":"c"}`))
	if got := epoch.Fresh(q, func(d digest.Digest) bool { return d == q.Messages[1].Chain }); got != 2 {
		t.Errorf("message %d is fresh, want 2", got)
	}
}

func TestBare(t *testing.T) {
	const thinking = `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"},{"type":"text","text":"y"},{"type":"redacted_thinking","data":"z"}]}`
	messages := []string{
		`{"role":"user","content":"a"}`, thinking, `{"role":"user","content":"b"}`, thinking,
		`{"role":"user","content":"c"}`, `{"role":"assistant","content":[{"type":"thinking","thinking":"x","signature":"s"}]}`, `{"role":"user","content":"d"}`,
	}
	q := read(t, wire.Anthropic, bodyOf(wire.Anthropic, messages...))
	b := epoch.NewBook(wire.Anthropic)
	if got := string(epoch.Bare(q, b, false)); got != "["+strings.Join(messages, ",")+"]" {
		t.Errorf("without a rewrite %s", got)
	}
	if err := b.Add(&epoch.Rewrite{Chain: q.Messages[2].Chain, Kind: epoch.Message, Messages: 3, Data: []byte(messages[2])}); err != nil {
		t.Fatal(err)
	}
	messages[3] = `{"role":"assistant","content":[{"type":"text","text":"y"}]}`
	messages = slices.Delete(messages, 5, 6)
	if got := string(epoch.Bare(q, b, false)); got != "["+strings.Join(messages, ",")+"]" {
		t.Errorf("got %s", got)
	}
	messages[1] = messages[3]
	hidden := epoch.NewBook(wire.Anthropic)
	withReply(t, hidden, q, 1, nil, "y", &epoch.Reply{Messages: []json.RawMessage{[]byte(thinking)}})
	if got := string(epoch.Bare(q, hidden, false)); got != "["+strings.Join(messages, ",")+"]" {
		t.Errorf("behind a reply with hidden messages %s", got)
	}
	if got := string(epoch.Bare(q, b, true)); got != "["+strings.Join(messages, ",")+"]" {
		t.Errorf("without any thinking it is %s", got)
	}
}

func TestSizesAreBounds(t *testing.T) {
	const model = "claude-opus-4-5"
	q := read(t, wire.Anthropic, bodyOf(wire.Anthropic,
		`{"role":"user","content":"a\nb"}`,
		`{"role":"assistant","content":[{"type":"thinking","thinking":"why","signature":"`+strings.Repeat("A", 4000)+`"},{"type":"tool_use","id":"t","name":"ls","input":{"path":"/tmp"}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"data":"`+strings.Repeat("A", 100_000)+`"}}]}]}`))
	s := epoch.NewSizes(wire.Anthropic, model)
	z := s.Of(q, epoch.NewBook(wire.Anthropic).Plan(q))
	least := token.ForModel(model).Count("a\nbwhyls/tmp") + token.ImageBound + 1000
	if got := z.All - z.Frame; got < least || got > least+400 {
		t.Errorf("got %d, want a little more than %d", got, least)
	}
	if again := s.Of(q, epoch.NewBook(wire.Anthropic).Plan(q)); again != z || z.Made != 0 || z.Tools >= z.Frame {
		t.Errorf("got %+v, and the second time %+v", z, again)
	}
	b := epoch.NewBook(wire.Anthropic)
	if err := b.Add(&epoch.Rewrite{Chain: q.Messages[1].Chain, Kind: epoch.Head, Messages: 2, Data: []byte(`[{"role":"user","content":"a"}]`)}); err != nil {
		t.Fatal(err)
	}
	if z := s.Of(q, b.Plan(q)); z.Made <= z.Frame || z.Made > z.Frame+20 {
		t.Errorf("with a head of a letter it is %+v", z)
	}
}

// What the model sees counts: texts, calls and results, and no types, marks and syntax.
func TestSizesOfBlocks(t *testing.T) {
	const model = "claude-opus-4-5"
	count := func(texts ...string) (n token.Count) {
		for _, text := range texts {
			n += token.ForModel(model).Count(text)
		}
		return n
	}
	for block, want := range map[string]token.Count{
		`{"type":"text","text":"lamp","cache_control":{"type":"ephemeral"},"n":7,"b":true}`:                                   count("lamp"),
		`{"type":"tool_use","id":"t","name":"ls","input":{"a":"b"}}`:                                                          count("t", "ls", `{"a":"b"}`) + 32,
		`{"type":"thinking","thinking":"why","signature":"` + strings.Repeat("A", 400) + `"}`:                                 count("why") + 100,
		`{"type":"redacted_thinking","data":"` + strings.Repeat("A", 80) + `"}`:                                               20,
		`{"type":"reasoning","encrypted_content":"` + strings.Repeat("A", 80) + `"}`:                                          20,
		`{"type":"tool_result","tool_use_id":"t","content":"x","prompt_cache_breakpoint":{}}`:                                 count("t", "x") + 32,
		`{"type":"tool_result","tool_call_id":"t","content":["x","y"]}`:                                                       count("t", "x", "y") + 32,
		`{"type":"image_url","image_url":{"url":"lamp"}}`:                                                                     token.ImageBound,
		`{"type":"function","arguments":"{}"}`:                                                                                count("{}") + 32,
		`{"type":"document","source":{"type":"base64","media_type":"text/csv","data":"` + strings.Repeat("A", 25_616) + `"}}`: token.ImageBound + 1,
	} {
		q := read(t, wire.Anthropic, bodyOf(wire.Anthropic, `{"role":"user","content":[`+block+`]}`))
		z := epoch.NewSizes(wire.Anthropic, model).Of(q, epoch.NewBook(wire.Anthropic).Plan(q))
		if got := z.All - z.Frame; got != want+8 {
			t.Errorf("%s: %d tokens, want %d", block, got, want+8)
		}
		if tools := 1040 + count(`[{"name":"ls"}]`); z.Tools != tools || z.Frame != tools+count("s") {
			t.Errorf("system and tools are %+v, want %d of tools", z, tools)
		}
	}
}

// A document counts by its content: a text by its tokens, another file by its bytes.
func TestSizesOfDocuments(t *testing.T) {
	const model = "claude-opus-4-5"
	text := strings.Repeat("the quick brown fox ", 20_000)
	tokens := token.ForModel(model).Count(text)
	for _, tt := range []struct {
		name, block string
		want        token.Count
	}{
		{"a text", `{"type":"document","source":{"type":"text","media_type":"text/plain","data":"` + text + `"}}`, tokens},
		{"the type behind the data", `{"type":"document","source":{"data":"` + text + `","type":"text"}}`, tokens},
		{"a content", `{"type":"document","source":{"type":"content","content":"` + text + `"}}`, tokens},
		{"blocks and an image", `{"type":"document","source":{"type":"content","content":[{"type":"text","text":"` + text + `"},{"type":"image","source":{"type":"url","url":"u"}}]}}`, tokens + token.ImageBound},
		{"a large file", `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + strings.Repeat("A", 160_000) + `"}}`, 10_000},
		{"a small file", `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}`, token.ImageBound},
		{"a file of Chat Completions", `{"type":"file","file":{"file_data":"` + strings.Repeat("A", 160_000) + `"}}`, 10_000},
		{"a large image", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + strings.Repeat("A", 160_000) + `"}}`, token.ImageBound},
		{"an address", `{"type":"document","source":{"type":"url","url":"u"}}`, token.ImageBound},
		{"the source of a search result", `{"type":"search_result","source":"u"}`, token.ImageBound},
	} {
		q := read(t, wire.Anthropic, bodyOf(wire.Anthropic, `{"role":"user","content":[`+tt.block+`]}`))
		z := epoch.NewSizes(wire.Anthropic, model).Of(q, epoch.NewBook(wire.Anthropic).Plan(q))
		if got := z.All - z.Frame; got < tt.want || got > tt.want+20 {
			t.Errorf("%s: %d tokens, want a little more than %d", tt.name, got, tt.want)
		}
	}
}

// A simulation uses the newest head that there would be, and counts as a pointer what is larger than
// one and was not asked of Carrel.
func TestSimulation(t *testing.T) {
	const model = "claude-opus-4-5"
	text := strings.Repeat("lamp ", 20)
	n := token.ForModel(model).Count(text)
	q := read(t, wire.Anthropic, bodyOf(wire.Anthropic,
		`{"role":"user","content":"a"}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"ls","input":{}},{"type":"tool_use","id":"u","name":"mcp__carrel__recall","input":{}}]}`,
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"`+text+`"},{"type":"tool_result","tool_use_id":"u","content":"`+text+`"}]}`))
	sizes := func() *epoch.Sizes { return epoch.NewSizes(wire.Anthropic, model) }
	for pointer, want := range map[token.Count]int{n: 0, n - 1: 1} {
		m := epoch.NewSimulation(sizes(), 80, pointer).Of(q)
		if m.Results != want || m.Came-m.All != token.Count(want) || m.Made != 0 {
			t.Errorf("with pointers of %d tokens for %d: %+v, want %d results", pointer, n, m, want)
		}
	}
	s := epoch.NewSimulation(sizes(), 80, n)
	s.Add(epoch.EstimatedHead{Chain: digest.Of([]byte("other")), Epoch: 1, Tokens: 3})
	if m := s.Of(q); m.Head.Epoch != 0 || m.Made != 0 {
		t.Errorf("with a head of another conversation: %+v", m)
	}
	head := epoch.EstimatedHead{Chain: q.Messages[0].Chain, Epoch: 1, Tokens: 5}
	if s.Add(head); s.Newest() != head {
		t.Errorf("the newest head is %+v, want %+v", s.Newest(), head)
	}
	if m := s.Of(q); m.Head != head || m.Made != m.Frame+5 {
		t.Errorf("with a head of the first message: %+v", m)
	}
	none, one := read(t, wire.Anthropic, `{"messages":[]}`), read(t, wire.Anthropic, bodyOf(wire.Anthropic, `{"role":"user","content":"b"}`))
	if s.Cut(none, &epoch.Image{}, 9); s.Newest() != head {
		t.Errorf("a request without messages made the head %+v", s.Newest())
	}
	m := s.Of(one)
	if s.Cut(one, &m, m.Frame); s.Newest().Epoch != 2 || s.Newest().Chain != one.Messages[0].Chain {
		t.Errorf("a request of one message made the head %+v", s.Newest())
	}
}

// A prompt for a summary is not stored, and what stands beside it is, as it came.
func TestWholeUnasked(t *testing.T) {
	const (
		user   = `{"role":"user","content":"a"}`
		other  = `{"role":"user","content":"b"}`
		result = `{"type":"tool_result","tool_use_id":"t","content":"x"}`
		ask    = `{"type":"text","text":"CRITICAL: Respond with TEXT ONLY"}`
		text   = `{"type":"text","text":"c"}`
	)
	for _, tt := range []struct {
		name, last string
		want       []string
	}{
		{"the prompt alone", `{"role":"user","content":[` + ask + `]}`, []string{other}},
		{"behind a result", `{"role":"user","content":[` + result + `,` + ask + `]}`, []string{other, `{"role":"user","content":[` + result + `]}`}},
		{"no known prompt", `{"role":"user","content":[` + result + `,` + text + `]}`, []string{other}},
	} {
		q, b := read(t, wire.Anthropic, bodyOf(wire.Anthropic, user, tt.last)), epoch.NewBook(wire.Anthropic)
		for i, data := range []string{other, user} {
			if err := b.Add(&epoch.Rewrite{Chain: q.Messages[i].Chain, Kind: epoch.Message, Messages: i + 1, Data: []byte(data)}); err != nil {
				t.Fatal(err)
			}
		}
		got, err := b.WholeUnasked(q)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, m := range read(t, wire.Anthropic, string(got)).Messages {
			list = append(list, m.Identity.Short())
		}
		var want []string
		for _, m := range read(t, wire.Anthropic, bodyOf(wire.Anthropic, tt.want...)).Messages {
			want = append(want, m.Identity.Short())
		}
		if !slices.Equal(list, want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	odd := `{"role":"user","content":[{"type":"text","text":7}]}`
	if got, err := epoch.NewBook(wire.Anthropic).Whole(read(t, wire.Anthropic, bodyOf(wire.Anthropic, odd)), 1); err != nil || !strings.Contains(string(got), odd) {
		t.Errorf("a text that is none is stored as %s, %v", got, err)
	}
}

// The beginning of a conversation is stored with the same bytes, however it is sent.
func TestWholeIsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &client{t: t}
		for range rapid.IntRange(1, 6).Draw(t, "turns") {
			c.history = append(c.history, c.message("user"), c.message("assistant"))
		}
		if rapid.Bool().Draw(t, "rewritten") {
			c.rewrite(c.body())
		}
		b := c.book()
		n := rapid.IntRange(1, len(c.history)).Draw(t, "n")
		one, err := b.Whole(read(t, wire.Anthropic, c.body()), n)
		if err != nil {
			t.Fatal(err)
		}
		two, err := b.Whole(read(t, wire.Anthropic, c.body()), n)
		if err != nil || !bytes.Equal(one, two) || bytes.Contains(one, []byte("cache_control")) {
			t.Fatalf("%v: the same history is\n%s\nand\n%s", err, one, two)
		}
		q := read(t, wire.Anthropic, string(one))
		if len(q.Messages) != n {
			t.Fatalf("%d of %d messages are in it", len(q.Messages), len(c.history))
		}
	})
}
