package retention

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/openai"
)

// Strategies returns a method for each strategy in list, named "carrel-" and the strategy.
// model returns the model for the family of a case. If model or its result is nil, the engine
// uses its built-in model. If the engine fails, except at its floor, the method keeps nothing.
func Strategies(model func(family string) *facts.Model, list ...carrel.Strategy) []Method {
	if model == nil {
		model = func(string) *facts.Model { return nil }
	}
	var methods []Method
	for _, s := range list {
		methods = append(methods, Method{
			Name: "carrel-" + string(s),
			Pack: func(prefix []Message, budget int) []Message {
				out, _ := compress(prefix, budget, s, nil, nil)
				return out
			},
			packCase: func(c *Case, budget int, now func() time.Time) ([]Message, time.Duration) {
				return compress(c.Prefix, budget, s, model(c.Trajectory.Family), now)
			},
		})
	}
	return methods
}

// Epochs returns a method that compresses in epochs. The window grows at its end until the
// budget is full. Then everything before is compressed to half of the budget. So from one step
// to the next, the beginning of the window stays the same byte for byte.
func Epochs(model func(family string) *facts.Model, s carrel.Strategy) Method {
	m := Strategies(model, s)[0]
	run := m.packCase
	return Method{
		Name: m.Name + "-epochs",
		Pack: func(prefix []Message, budget int) []Message {
			from := epoch(prefix, budget)
			return slices.Concat(m.Pack(prefix[:from:from], budget/2), prefix[from:])
		},
		packCase: func(c *Case, budget int, now func() time.Time) ([]Message, time.Duration) {
			from := epoch(c.Prefix, budget)
			at := *c
			at.Prefix = c.Prefix[:from:from]
			out, took := run(&at, budget/2, now)
			return slices.Concat(out, c.Prefix[from:]), took
		},
	}
}

// epoch returns how many messages of a prefix the last compression covers, if the prefix is
// compressed in epochs. It never separates a reply from the results of its calls.
func epoch(prefix []Message, budget int) int {
	from, cost, full := 0, 0, budget
	for i := range prefix {
		if prefix[i].Role != transcript.RoleTool && cost > full {
			from, cost, full = i, 0, budget-budget/2
		}
		cost += prefix[i].Cost()
	}
	if cost > full {
		return len(prefix)
	}
	return from
}

// tries is how often compress calls the engine at most, each time with a corrected target.
const tries = 5

// compress lets the engine import, compress and export a prefix. The engine counts tokens in
// another way than this package, because it adds what a provider charges for messages and calls. So
// compress corrects the engine's target until the cost of the result fits the budget. If rules keep
// more than the budget, the result is as small as possible and over the budget. If now is not nil,
// compress also returns how long the last compression took, without the import.
func compress(prefix []Message, budget int, s carrel.Strategy, m *facts.Model, now func() time.Time) ([]Message, time.Duration) {
	d, err := newDesk(prefix, m)
	if err != nil {
		return nil, 0
	}
	d.now = now
	target := budget
	var best []Message
	for range tries {
		out, err := d.at(target, s)
		if floor, ok := errors.AsType[*pager.FloorError](err); ok {
			if best == nil {
				best, _ = d.at(int(floor.Need), s)
			}
			break
		}
		if err != nil {
			break
		}
		cost := Cost(out)
		if cost <= budget && (best == nil || cost > Cost(best)) {
			best = out
		}
		if cost <= budget && cost*100 >= budget*97 || cost == 0 {
			break
		}
		next := target * budget / cost
		if cost > budget {
			next = min(next, target-target/200-1)
		}
		if next == target || next < 1 {
			break
		}
		target = next
	}
	return best, d.took
}

const scope = governance.Scope("retention")

// A Desk is an engine that holds one conversation and makes windows of it. It is not safe for
// concurrent use.
type Desk struct {
	// Stays is the size of system text, tools and framing in the engine's tokens. Every window
	// has them, so a smaller target cannot be reached.
	Stays int

	engine  *carrel.Engine
	session transcript.SessionID
}

// NewDesk returns a desk for a conversation. If format is empty, the format is detected. m and
// p are the model and the prior of the engine; nil means the built-in ones.
func NewDesk(name, format string, data []byte, m *facts.Model, p *account.Prior) (*Desk, error) {
	counter, err := token.Encoding("estimate")
	if err != nil {
		return nil, err
	}
	e, err := carrel.New(memory.New(), &carrel.Options{Counter: counter, Model: m, Prior: p})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	in, err := e.Import(ctx, scope, &carrel.ImportRequest{Name: name, Format: format, Data: data})
	if err != nil {
		return nil, err
	}
	all, err := e.Context(ctx, scope, &carrel.ContextRequest{Session: in.Session})
	if err != nil {
		return nil, err
	}
	return &Desk{Stays: int(all.Fixed.Tokens + all.System.Tokens), engine: e, session: in.Session}, nil
}

// Whole returns the present window of the conversation as the body of a request of Chat
// Completions. [Desk.Window] undoes its compression, so between calls of it the window is the whole
// conversation.
func (d *Desk) Whole() ([]byte, error) {
	out, err := d.engine.Export(context.Background(), scope, &carrel.ExportRequest{Session: d.session, To: "openai"})
	if err != nil {
		return nil, err
	}
	return out.Data, nil
}

// Window returns the conversation as compressed by a strategy, as a request of Chat
// Completions. target is in the engine's tokens. A window that fails its probes is accepted.
// Window fails like [carrel.Engine.Compress].
func (d *Desk) Window(target int, s carrel.Strategy) ([]byte, error) {
	ctx := context.Background()
	res, err := d.engine.Compress(ctx, scope, d.request(target, s))
	if err != nil {
		return nil, err
	}
	window, err := d.Whole()
	if err != nil {
		return nil, err
	}
	if res.Op != "" {
		if _, err := d.engine.Undo(ctx, scope, &carrel.UndoRequest{Session: d.session, Op: res.Op}); err != nil {
			return nil, err
		}
	}
	return window, nil
}

func (d *Desk) request(target int, s carrel.Strategy) *carrel.CompressRequest {
	return &carrel.CompressRequest{Session: d.session, Target: carrel.Target{Tokens: token.Count(target)}, Strategy: s, ProbeMin: new(ratio.Ratio)}
}

// A desk is a [Desk] for a prefix.
type desk struct {
	*Desk

	places map[string][]int // messages of each block, by its short id
	now    func() time.Time // a clock, or nil
	took   time.Duration    // duration of the last compression
}

func newDesk(prefix []Message, m *facts.Model) (*desk, error) {
	data, err := Request(prefix)
	if err != nil {
		return nil, err
	}
	in, err := NewDesk("prefix", "openai", data, m, nil)
	if err != nil {
		return nil, err
	}
	whole, err := openai.Format.Decode("prefix", data)
	if err != nil {
		return nil, err
	}
	if len(whole.Messages) != len(prefix) {
		return nil, fmt.Errorf("internal error, please report it: %d messages were read as %d", len(prefix), len(whole.Messages))
	}
	d := &desk{Desk: in, places: make(map[string][]int)}
	blocks := transcript.Group(whole.ID, 0, whole.Messages)
	for i := range blocks {
		d.places[blocks[i].ID.Short()] = blocks[i].Messages
	}
	return d, nil
}

// at returns the window for a target in the engine's tokens, and undoes the compression.
func (d *desk) at(target int, s carrel.Strategy) ([]Message, error) {
	if d.now != nil {
		ctx, try := context.Background(), d.request(target, s)
		try.DryRun = true
		if _, err := d.engine.Compress(ctx, scope, try); err != nil {
			return nil, err
		}
		start := d.now()
		if _, err := d.engine.Compress(ctx, scope, try); err != nil {
			return nil, err
		}
		d.took = d.now().Sub(start)
	}
	out, err := d.Window(target, s)
	if err != nil {
		return nil, err
	}
	window, err := openai.Format.Decode("window", out)
	if err != nil {
		return nil, err
	}
	msgs := MessagesOf(window)
	for i := range msgs {
		msgs[i].Stubs = d.stubs(msgs[i].Text)
	}
	return msgs, nil
}

// heads matches the beginning of Carrel's stubs and summaries.
var heads = lazy.Regexp(`(?m)^\[carrel (?:sum_)?([0-9a-f]{8})`)

// sources matches a line of a summary that names its block.
var sources = lazy.Regexp(`(?m)^.*\[([0-9a-f]{8})\].*$`)

// traces matches the line of an account that names a shortened block. It stands behind the text
// of the block.
var traces = lazy.Regexp(`(?m)^\[([0-9a-f]{8})\]$`)

// stubs finds the parts of a text that name a block to recall: a stub from its head up to the
// next head, a line of a summary that names a block, and the text of an account up to the line
// with its block's id.
func (d *desk) stubs(text string) []Stub {
	var list []Stub
	from := 0
	for _, m := range traces.Get().FindAllStringSubmatchIndex(text, -1) {
		if blocks := d.places[text[m[2]:m[3]]]; blocks != nil {
			list = append(list, Stub{From: from, To: m[1], For: blocks})
			from = m[1]
		}
	}
	at := heads.Get().FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		to := len(text)
		if i+1 < len(at) {
			to = at[i+1][0]
		}
		if blocks := d.places[text[m[2]:m[3]]]; blocks != nil {
			list = append(list, Stub{From: m[0], To: to, For: blocks})
			continue
		}
		for _, l := range sources.Get().FindAllStringSubmatchIndex(text[m[0]:to], -1) {
			list = append(list, Stub{From: m[0] + l[0], To: m[0] + l[1], For: d.places[text[m[0]+l[2]:m[0]+l[3]]]})
		}
	}
	return list
}

// A chatMessage is a message of Chat Completions.
type chatMessage struct {
	Role      transcript.Role `json:"role"`
	Content   *string         `json:"content"`
	ToolCalls []chatCall      `json:"tool_calls,omitempty"`
	CallID    string          `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Request returns messages as a request of Chat Completions.
func Request(msgs []Message) ([]byte, error) {
	list := make([]chatMessage, len(msgs))
	for i := range msgs {
		m := &msgs[i]
		list[i] = chatMessage{Role: m.Role, CallID: m.CallID}
		if m.Text != "" || len(m.Calls) == 0 {
			list[i].Content = &m.Text
		}
		for _, c := range m.Calls {
			list[i].ToolCalls = append(list[i].ToolCalls, chatCall{c.ID, "function", chatFunction{c.Name, c.Args}})
		}
	}
	data, err := json.Marshal(map[string]any{"messages": list})
	if err != nil {
		return nil, fmt.Errorf("write a request: %w", err)
	}
	return data, nil
}
