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

// Strategies returns a method for each of some strategies of Carrel's engine, named
// "carrel-" and the strategy. The model is asked for by the family of a case; a nil
// function, or a nil model, is that which Carrel comes with. What the engine fails at,
// for another reason than its floor, it keeps nothing of.
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

// Epochs returns the method of an engine that compacts in epochs: what is sent grows at
// its end until the budget is full, and only then all that came before is compressed,
// to half of the budget. So from one step to the next the beginning stays what it was,
// byte for byte.
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

// epoch returns how many messages of a prefix the last compaction has before it. A
// reply and the results of its calls are not parted.
func epoch(prefix []Message, budget int) int {
	from, cost, full := 0, 0, budget
	for i := range prefix {
		step := prefix[i].Role != transcript.RoleTool && i > 0
		if step && cost > full {
			from, cost, full = i, 0, budget-budget/2
		}
		cost += prefix[i].Cost()
	}
	if cost > full {
		return len(prefix)
	}
	return from
}

// tries are how often a budget is translated.
const tries = 5

// compress has the engine import a prefix, compress it and export it again. The
// engine counts characters and adds what a provider charges for each message and
// call, so its budget is corrected until the cost here fits. What it refuses because
// rules hold more than the budget is compressed as far as it goes, and is over. With
// a clock it says how long the last compression took, of a session whose messages
// the engine has seen.
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

// A Desk is an engine with a conversation in it, which makes windows of it. It is not
// safe for concurrent use.
type Desk struct {
	// Stays is what system text, tools and framing have, in the engine's tokens. They
	// are a part of every window, so no smaller target can be met.
	Stays int

	engine  *carrel.Engine
	session transcript.SessionID
}

// NewDesk returns a desk with a conversation in a format that Carrel reads; which one, the
// data say if the format is empty. The engine goes by the weights of a model and a prior;
// nil ones are those that Carrel comes with.
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

// Whole returns the conversation as a request of Chat Completions.
func (d *Desk) Whole() ([]byte, error) {
	out, err := d.engine.Export(context.Background(), scope, &carrel.ExportRequest{Session: d.session, To: "openai"})
	if err != nil {
		return nil, err
	}
	return out.Data, nil
}

// Window returns what a strategy makes of the conversation with a target in the engine's
// tokens, as a request of Chat Completions. Probes refuse nothing. It fails as
// [carrel.Engine.Compress] does.
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

// A desk is a [Desk] with a prefix in it.
type desk struct {
	*Desk

	places map[string][]int // messages of a block, by the short form of its id
	now    func() time.Time // a clock, or nil
	took   time.Duration    // of the last compression
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
		return nil, fmt.Errorf("%d messages were read as %d", len(prefix), len(whole.Messages))
	}
	d := &desk{Desk: in, places: make(map[string][]int)}
	blocks := transcript.Group(whole.ID, 0, whole.Messages)
	for i := range blocks {
		d.places[blocks[i].ID.Short()] = blocks[i].Messages
	}
	return d, nil
}

// at returns the window with a budget of the engine's tokens, and takes the
// compression back.
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

// heads is how stubs and summaries of Carrel begin.
var heads = lazy.Regexp(`(?m)^\[carrel (?:sum_)?([0-9a-f]{8})`)

// sources is how a line of a summary names the block that it is from.
var sources = lazy.Regexp(`(?m)^.*\[([0-9a-f]{8})\].*$`)

// traces are how an account names blocks that are not all there, each behind what is.
var traces = lazy.Regexp(`(?m)^\[([0-9a-f]{8})\]$`)

// stubs finds the parts of a text by which blocks can be recalled: from the head of
// a stub up to the next, lines of a summary that name a block, and what an account has of
// a block up to its id.
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
