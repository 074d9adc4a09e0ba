package contexts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Assemble makes a context for a query within a budget: a system text, pinned artifacts,
// what is in the window of a session, the artifacts that triage finds worth a place, and
// the query, in this order, so that what stays the same from call to call comes first.
func (e *Contexts) Assemble(ctx context.Context, scope governance.Scope, req *api.AssembleRequest) (_ *api.AssembleResult, err error) {
	defer base.During("assemble", &err)

	if req.Budget <= 0 || req.Reserve < 0 || req.Reserve >= req.Budget {
		return nil, fmt.Errorf("%w: a budget of %d tokens with %d in reserve leaves nothing", api.ErrRequest, req.Budget, req.Reserve)
	}
	if req.Tier != "" && !slices.Contains(tier.Tiers(), req.Tier) {
		return nil, fmt.Errorf("%w: tier %q: want one of %v", api.ErrRequest, req.Tier, tier.Tiers())
	}
	switch {
	case req.Tiers != "" && req.Tiers != api.TiersArticle && req.Tiers != api.TiersSoft:
		return nil, fmt.Errorf("%w: tiers %q: want %s or %s", api.ErrRequest, req.Tiers, api.TiersArticle, api.TiersSoft)
	case req.Tiers == api.TiersSoft && req.Tier != "":
		return nil, fmt.Errorf("%w: tier %q is forced, which the soft ladder does not have", api.ErrRequest, req.Tier)
	}
	var res *api.AssembleResult
	err = base.Retry(ctx, func() error {
		a := &assembling{engine: e, scope: scope, req: req}
		res, err = a.run(ctx)
		return err
	})
	return res, err
}

// assembling is one attempt at a context.
type assembling struct {
	engine *Contexts
	scope  governance.Scope
	req    *api.AssembleRequest

	format    transcript.Format // nil for text
	meter     hold.Meter
	held      *hold.Held         // nil without a session
	window    *transcript.Window // what of it goes in
	stubs     map[transcript.BlockID]pager.Stub
	selection *selection
	known     *stacks.SegmentsKnown
	intent    string   // of the session, once it was asked for
	terms     []string // of the query

	plan   *assembly.Plan
	parts  []part // in the order of the output, without those of the window
	losses []transcript.Loss
}

// A part is a text that goes into a context and is not of the session.
type part struct {
	kind    manifest.Kind
	reason  manifest.Reason
	text    string
	tokens  token.Count
	pick    *selected // the artifact, if it is one
	form    assembly.Form
	marks   int // characters made visible
	sources []store.CellID
}

func (a *assembling) run(ctx context.Context) (*api.AssembleResult, error) {
	if err := a.prepare(ctx); err != nil {
		return nil, err
	}
	var err error
	if a.selection, err = a.engine.selectArtifacts(ctx, a.scope, a.query()); err != nil {
		return nil, err
	}
	if err := a.fit(ctx); err != nil {
		return nil, err
	}
	if len(a.parts) == 0 && len(a.window.Entries) == 0 {
		return nil, fmt.Errorf("%w: there is nothing to make a context of: no query, no session, no system text, and no artifact that is worth a place", api.ErrRequest)
	}
	data, spans, err := a.encode()
	if err != nil {
		return nil, err
	}
	return a.seal(ctx, data, spans)
}

// prepare finds the format, what counts, and the session.
func (a *assembling) prepare(ctx context.Context) error {
	e, req := a.engine, a.req
	switch req.Format {
	case "", api.FormatText:
	case "openai", "anthropic":
		var err error
		if a.format, err = hold.FormatNamed(req.Format); err != nil {
			return err
		}
	default:
		return fmt.Errorf("%w: a context is written as openai, anthropic or text, not %q", api.ErrFormat, req.Format)
	}
	a.meter = hold.Meter{Counter: e.ArtifactCounter()}
	if req.Model != "" {
		a.meter.Counter = token.ForModel(req.Model)
	}
	if a.format != nil {
		a.meter.Framing = token.FramingOf(a.format.Name())
	}
	if req.Session == "" {
		s := &transcript.Session{}
		a.window = &transcript.Window{Session: s}
		return nil
	}
	h, err := e.Load(ctx, a.scope, req.Session)
	if err != nil {
		return err
	}
	m, err := e.MeterFor(h.Session, h.Head.Encoding)
	if err != nil {
		return err
	}
	a.held = h
	if req.Model == "" {
		a.meter.Counter = m.Counter
	}
	if a.stubs, err = e.Stubs(ctx, a.scope, h.Rows); err != nil {
		return err
	}
	a.setWindow(h.Rows, a.stubs)
	return a.waiting()
}

// setWindow sets what of the session goes in. Thinking that may be bound to what stands
// before it is left out, as [Engine.Export] does: here something else may stand there.
func (a *assembling) setWindow(rows []store.Block, stubs map[transcript.BlockID]pager.Stub) {
	a.window = a.held.Window(rows, stubs, a.held.Summary)
	if a.format != nil {
		a.losses = hold.Unbind(a.window, a.format.Name(), true)
		a.window = hold.Closed(a.window, a.format.Name())
	}
}

// waiting refuses a session whose last reply waits for results: nothing can be
// put between a call and its result.
func (a *assembling) waiting() error {
	open := make(map[string]bool)
	for i := range a.window.Entries {
		for _, c := range a.window.Entries[i].Calls() {
			open[c.ID] = true
		}
		for _, r := range a.window.Entries[i].Results() {
			delete(open, r.CallID)
		}
	}
	n := len(a.window.Entries)
	if n > 0 && len(open) > 0 && len(a.window.Entries[n-1].Calls()) > 0 {
		return fmt.Errorf("%w: the last reply of session %s waits for the results of its tools: import them first", api.ErrRequest, a.req.Session)
	}
	return nil
}

// query returns what steers triage.
func (a *assembling) query() string {
	if a.req.Query == "" && a.held != nil && a.intent == "" {
		a.intent = strings.Join(hold.FocusOf(a.held, nil), " ")
	}
	return cmp.Or(a.req.Query, a.intent)
}

// A measured context has everything that could be in it, with its sizes.
type measured struct {
	request *assembly.Request
	system  string
	query   string
	pins    []selected
	winners []selected               // in the order of the request
	made    []map[token.Count]string // of each winner: shorter forms, by their tokens
}

// fit measures everything, has the core decide, and makes the parts.
func (a *assembling) fit(ctx context.Context) error {
	m := a.measure()
	var err error
	if a.plan, err = a.decide(ctx, m.request); err != nil {
		return err
	}
	a.arrange(m)
	return nil
}

// measure measures everything before anything is cut.
func (a *assembling) measure() *measured {
	a.terms = retrieval.Keys(a.query())
	m := &measured{system: a.trusted("system", a.req.System), query: a.trusted("query", a.req.Query)}
	r := &assembly.Request{
		Budget: a.req.Budget - a.req.Reserve, Ladder: a.ladder(), Tier: a.req.Tier,
		System: a.message(m.system) + a.meter.Fixed(a.window.Session),
		Window: a.windowTokens(), Query: a.message(m.query),
	}
	m.request = r
	m.pins = a.distinct(a.selection.pins, nil)
	for i := range m.pins {
		r.Pins += m.pins[i].page.Tokens(a.meter.Counter)
	}
	if notice := a.meter.Counter.Count(noticeText); len(m.pins) > 0 {
		r.Pins += notice + a.meter.Framing.Message
	} else {
		r.Notice = notice
	}
	if m.query == "" {
		r.Notice += a.meter.Framing.Message // artifacts need a message of their own
	}
	m.winners = a.winners(m.pins)
	m.made = make([]map[token.Count]string, len(m.winners))
	for i := range m.winners {
		m.made[i] = make(map[token.Count]string)
		r.Winners = append(r.Winners, assembly.Winner{
			Class: m.winners[i].page.Row.Class, Tokens: a.pageIn(&m.winners[i], m.made[i]),
			Brief: func(limit token.Count) token.Count { return a.brief(&m.winners[i], limit, m.made[i]) },
		})
	}
	return m
}

// ladder returns the ladder of the request.
func (a *assembling) ladder() tier.Ladder {
	if a.req.Tiers == api.TiersSoft {
		return tier.SoftLadder
	}
	return a.engine.Opts.Ladder
}

// windowTokens returns what the window of the session takes.
func (a *assembling) windowTokens() token.Count {
	if a.format == nil {
		return a.plainWindow()
	}
	return a.meter.Entries(a.window.Entries)
}

// decide returns the plan. A session that alone is too large for what is left is
// cut first; the demand and the tier are those of the whole.
func (a *assembling) decide(ctx context.Context, r *assembly.Request) (*assembly.Plan, error) {
	plan, err := assembly.Fit(r)
	over, ok := errors.AsType[*assembly.FloorError](err)
	if !ok {
		return plan, err
	}
	others := over.Need - over.Window
	if a.held == nil || others >= r.Budget {
		return nil, &fixedError{over}
	}
	demand := over.Need + r.Notice
	for i := range r.Winners {
		demand += r.Winners[i].Tokens
	}
	if err := a.cutWindow(ctx, r.Budget-others); err != nil {
		return nil, err
	}
	r.Window, r.Tier = a.windowTokens(), cmp.Or(r.Tier, tier.Minimal)
	plan, err = assembly.Fit(r)
	if over, ok := errors.AsType[*assembly.FloorError](err); ok {
		return nil, &fixedError{over}
	}
	if err != nil {
		return nil, err
	}
	plan.Demand = demand
	return plan, nil
}

// arrange makes the parts of the plan, in their order.
func (a *assembling) arrange(m *measured) {
	a.part(manifest.KindSystem, manifest.ReasonSystem, m.system)
	used := func(c assembly.Choice) bool { return c.Form != assembly.Out }
	if len(m.pins) > 0 || slices.ContainsFunc(a.plan.Choices, used) {
		a.part(manifest.KindNotice, manifest.ReasonNotice, noticeText)
	}
	for i := range m.pins {
		a.place(&m.pins[i], manifest.KindPin, manifest.ReasonPinned, assembly.Whole, "")
	}
	for _, c := range a.plan.Choices {
		w, short := &m.winners[c.Index], m.made[c.Index][c.Tokens]
		switch {
		case c.Form == assembly.Out && c.Reason == assembly.ReasonNoRoom:
			a.selection.omit(w, manifest.ReasonOverBudget)
		case c.Form == assembly.Out:
			a.selection.omit(w, manifest.ReasonTier)
		case short == "":
			a.place(w, manifest.KindArtifact, manifest.ReasonFits, assembly.Whole, "")
		default: // brief, or so large that its whole is an excerpt
			a.place(w, manifest.KindArtifact, manifest.ReasonBrief, assembly.Shorter, short)
		}
	}
	a.part(manifest.KindQuery, manifest.ReasonQuery, m.query)
}

// A fixedError is an [ErrBudget] with the sizes of what must be in a context.
type fixedError struct{ *assembly.FloorError }

// Is makes errors.Is(e, ErrBudget) true.
func (e *fixedError) Is(target error) bool { return target == api.ErrBudget }

// Unwrap returns the figures.
func (e *fixedError) Unwrap() error { return e.FloorError }

// noticeText tells the model what fences mean.
var noticeText = assembly.Preamble()

// trusted returns a text of the caller's as the format has it.
func (a *assembling) trusted(name, text string) string {
	if strings.TrimSpace(text) == "" {
		return "" // providers refuse texts without anything in them
	}
	if a.format != nil {
		return text
	}
	return "<" + name + ">\n" + strings.TrimSuffix(text, "\n") + "\n</" + name + ">\n"
}

// message returns what a message with one text takes.
func (a *assembling) message(text string) token.Count {
	if text == "" {
		return 0
	}
	return a.meter.Framing.Message + a.meter.Counter.Count(text)
}

// distinct returns the picks that can be used and whose text is not in another
// already, and notes why the others are left out.
func (a *assembling) distinct(picks, others []selected) []selected {
	seen := make(map[string]bool)
	for i := range others {
		seen[others[i].page.Row.Address] = true
	}
	var kept []selected
	for i := range picks {
		p := &picks[i]
		switch {
		case !p.usable():
			a.selection.omit(p, unusable(p.fetch))
		case seen[p.page.Row.Address]:
			a.selection.omit(p, manifest.ReasonDuplicate)
		default:
			seen[p.page.Row.Address] = true
			kept = append(kept, *p)
		}
	}
	return kept
}

// winners returns what triage found worth a place, best first.
func (a *assembling) winners(pins []selected) []selected {
	var worth []selected
	for i := range a.selection.scored {
		p := &a.selection.scored[i]
		if p.usable() && !wins(p.Tag) {
			a.selection.omit(p, manifest.ReasonMinor)
			continue
		}
		worth = append(worth, *p)
	}
	return a.distinct(worth, pins)
}

// pageIn returns the tokens of an artifact as it goes in, fence included. Of one
// that is larger than a page it makes an excerpt, which is kept under its
// tokens.
func (a *assembling) pageIn(p *selected, made map[token.Count]string) token.Count {
	whole, limit := p.page.Tokens(a.meter.Counter), a.engine.Opts.Page
	if limit < 0 || whole <= limit {
		return whole
	}
	if n := a.shorten(p, limit, assembly.Excerpt, made); n > 0 {
		return n
	}
	return whole
}

// brief makes a brief form of an artifact within a limit, fence included, and
// returns its tokens. The form is kept under its tokens.
func (a *assembling) brief(p *selected, limit token.Count, made map[token.Count]string) token.Count {
	return a.shorten(p, limit, assembly.Brief, made)
}

// shorten makes a form of an artifact, and tries again with less where the
// fence takes what there was room for.
func (a *assembling) shorten(
	p *selected, limit token.Count,
	form func(assembly.Source, string, []string, token.Count, func(string) token.Count) string,
	made map[token.Count]string,
) token.Count {
	count := a.meter.Counter.Count
	src := p.page.Source()
	src.Form = assembly.Shorter
	fence := count(assembly.Fence(src, ""))
	src.Tokens = max(1, p.page.Tokens(a.meter.Counter)-fence)
	room := limit - fence
	for range 4 {
		if room <= 0 {
			return 0
		}
		shown, _ := assembly.Neutralize(p.page.Shown())
		text := form(src, shown, a.terms, room, count)
		if text == "" {
			return 0
		}
		text = assembly.Fence(src, text)
		n := count(text)
		if n <= limit {
			made[n] = text
			return n
		}
		room -= n - limit
	}
	return 0
}

// part adds a text, unless there is none.
func (a *assembling) part(kind manifest.Kind, reason manifest.Reason, text string) {
	if text != "" {
		a.parts = append(a.parts, part{kind: kind, reason: reason, text: text, tokens: a.meter.Counter.Count(text)})
	}
}

// place adds an artifact, whole or in a brief form that was made before.
func (a *assembling) place(p *selected, kind manifest.Kind, reason manifest.Reason, form assembly.Form, brief string) {
	pt := part{
		kind: kind, reason: reason, pick: p, form: form,
		sources: []store.CellID{p.page.Row.Content, p.page.Row.About},
	}
	if form == assembly.Whole {
		pt.text, pt.marks = p.page.Render()
		pt.tokens = p.page.Tokens(a.meter.Counter)
	} else {
		pt.text, pt.tokens = brief, a.meter.Counter.Count(brief)
		_, pt.marks = assembly.Neutralize(p.page.Shown())
	}
	a.parts = append(a.parts, pt)
}

// cutWindow makes the window of the session fit into so many tokens, for this
// context alone.
func (a *assembling) cutWindow(ctx context.Context, budget token.Count) error {
	rows, stubs, err := a.engine.Fit(ctx, a.scope, a.held, a.meter, budget+a.meter.Fixed(a.held.Session))
	if err == nil {
		a.setWindow(rows, stubs)
	}
	return err
}

// encode writes the context, and says where the messages of the session are.
func (a *assembling) encode() ([]byte, []transcript.Span, error) {
	if a.format == nil {
		data, spans := a.plain()
		return data, spans, nil
	}
	var head, tail []transcript.Part
	entries := make([]transcript.Entry, 0, len(a.window.Entries)+3)
	at := a.start()
	for i := range a.parts {
		switch p := &a.parts[i]; {
		case p.kind == manifest.KindSystem:
			entries = append(entries, transcript.Entry{Message: transcript.Message{
				Role: transcript.RoleSystem, Parts: []transcript.Part{transcript.Text(p.text)},
			}})
		case a.inHead(i):
			head = append(head, transcript.Text(p.text))
		default:
			tail = append(tail, transcript.Text(p.text))
		}
	}
	entries = append(entries, a.window.Entries[:at]...)
	if len(head) > 0 {
		entries = append(entries, transcript.Entry{Message: transcript.Message{Role: transcript.RoleUser, Parts: head}})
	}
	entries = append(entries, a.window.Entries[at:]...)
	if len(tail) > 0 {
		entries = append(entries, transcript.Entry{Message: transcript.Message{Role: transcript.RoleUser, Parts: tail}})
	}
	out, err := a.format.Encode(&transcript.Window{Session: a.window.Session, Entries: entries})
	if err != nil {
		return nil, nil, err
	}
	violations, err := a.format.Validate(out.Data)
	if err != nil {
		return nil, nil, err
	}
	if len(violations) > 0 {
		return nil, nil, &api.InvalidError{Format: a.format.Name(), Violations: violations}
	}
	a.losses = append(a.losses, out.Losses...)
	return out.Data, out.Spans, nil
}

// start returns how many entries of the window stand before what a context begins
// with: its system text and, if the provider made a compaction, all up to that, because
// the provider reads nothing that stands before it.
func (a *assembling) start() int {
	at := 0
	for at < len(a.window.Entries) && a.window.Entries[at].Role == transcript.RoleSystem {
		at++
	}
	if a.held == nil {
		return at
	}
	last := transcript.BlockID("")
	for i := range a.held.Blocks {
		if b := &a.held.Blocks[i]; pager.Compaction(a.held.Session.Messages, b) {
			last = b.ID
		}
	}
	for i := range a.window.Entries {
		if last != "" && a.window.Entries[i].Block == last {
			at = i + 1
		}
	}
	return at
}

// inHead reports whether part i stands before the window: pins do, and the
// notice before them.
func (a *assembling) inHead(i int) bool {
	return a.parts[i].kind == manifest.KindPin ||
		a.parts[i].kind == manifest.KindNotice && i+1 < len(a.parts) && a.parts[i+1].kind == manifest.KindPin
}

// plain writes the context as text.
func (a *assembling) plain() ([]byte, []transcript.Span) {
	var b bytes.Buffer
	var spans []transcript.Span
	at := 0
	for at < len(a.parts) && (a.parts[at].kind == manifest.KindSystem || a.inHead(at)) {
		b.WriteString(a.parts[at].text)
		at++
	}
	for i := range a.window.Entries {
		start := b.Len()
		b.WriteString(plainEntry(&a.window.Entries[i]))
		spans = append(spans, transcript.Span{Block: a.window.Entries[i].Block, Start: start, End: b.Len()})
	}
	for ; at < len(a.parts); at++ {
		b.WriteString(a.parts[at].text)
	}
	return b.Bytes(), spans
}

// plainWindow counts the window as text.
func (a *assembling) plainWindow() token.Count {
	var n token.Count
	for i := range a.window.Entries {
		n += a.meter.Counter.Count(plainEntry(&a.window.Entries[i]))
	}
	return n
}

// plainEntry writes a message of a session as text, between two lines that it
// cannot forge.
func plainEntry(en *transcript.Entry) string {
	var b strings.Builder
	line := func(s string) {
		b.WriteString(s)
		if !strings.HasSuffix(s, "\n") {
			b.WriteByte('\n')
		}
	}
	for _, p := range en.Parts {
		switch p := p.(type) {
		case transcript.Text:
			line(string(p))
		case transcript.ToolCall:
			line("<call name=\"" + p.Name + "\">" + string(p.Input) + "</call>")
		case transcript.ToolResult:
			line(plainResult(p))
		case transcript.Media:
			line("[" + p.Kind + "]")
		case transcript.Thinking, transcript.Opaque:
		}
	}
	text := b.String()
	word := assembly.Word(text)
	return "<message role=\"" + string(en.Role) + "\" fence=\"" + word + "\">\n" + text + "</message " + word + ">\n"
}

// plainResult writes a result, between two lines that it cannot forge either: the
// user's words may stand behind it.
func plainResult(r transcript.ToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		t, ok := c.(transcript.Text)
		if !ok {
			t = "[not text]"
		}
		b.WriteString(stacks.Lined(string(t)))
	}
	word := assembly.Word(b.String())
	return "<result fence=\"" + word + "\">\n" + b.String() + "</result " + word + ">\n"
}

// A stretch is a segment before it has a cell.
type stretch struct {
	start, end int
	segment    manifest.Segment
	sources    []store.CellID
}

// stretches tiles the output. What stands between two parts belongs to the one
// behind it; what is before the first and after the last is the frame.
func (a *assembling) stretches(data []byte, spans []transcript.Span) ([]stretch, error) {
	list := a.messages(spans)
	at := 0
	for i := range a.parts {
		p := &a.parts[i]
		text := []byte(p.text)
		if a.format != nil {
			text = rawjson.AppendString(nil, p.text)
		}
		from := at
		if p.kind == manifest.KindSystem {
			from = 0 // its field may come after the messages
		}
		found := bytes.Index(data[from:], text)
		if found < 0 {
			return nil, fmt.Errorf("internal error: part %d of the context, %s, is not in it", i, p.kind)
		}
		s := stretch{start: from + found, end: from + found + len(text), sources: p.sources, segment: manifest.Segment{
			Kind: p.kind, Reason: p.reason, Tokens: p.tokens, Neutralized: p.marks,
		}}
		if p.pick != nil {
			row := &p.pick.page.Row
			s.segment.Ref, s.segment.Row, s.segment.Version = string(row.ID), int64(p.pick.Row+1), int64(row.Version)
			s.segment.Class, s.segment.Form, s.segment.Score = row.Class, manifest.Form(p.form), p.pick.score()
			s.segment.Fetched = p.pick.fetch != nil && p.pick.fetch.Outcome == manifest.OutcomeChanged
		}
		if p.kind != manifest.KindSystem {
			at = s.end
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(x, y stretch) int { return cmp.Compare(x.start, y.start) })
	return a.tile(list, data), nil
}

// messages returns the stretches of the blocks of the session.
func (a *assembling) messages(spans []transcript.Span) []stretch {
	if a.held == nil {
		return nil
	}
	tokens := make(map[transcript.BlockID]token.Count)
	for i := range a.window.Entries {
		en := &a.window.Entries[i]
		if a.format == nil {
			tokens[en.Block] += a.meter.Counter.Count(plainEntry(en))
		} else {
			tokens[en.Block] += a.meter.Entries(a.window.Entries[i : i+1])
		}
	}
	var list []stretch
	seen, places := make(map[string]int), a.held.Places()
	for _, sp := range spans {
		if sp.Block == "" {
			continue
		}
		if a.held.Summary != nil && sp.Block == a.held.Summary.ID {
			list = append(list, stretch{start: sp.Start, end: sp.End, sources: []store.CellID{a.held.Head.Summary}, segment: manifest.Segment{
				Kind: manifest.KindStub, Reason: manifest.ReasonWindow, Ref: string(sp.Block), Tokens: tokens[sp.Block],
			}})
			continue
		}
		row := &a.held.Rows[places[sp.Block]]
		if n := len(list); n > 0 && list[n-1].segment.Ref == string(sp.Block) {
			list[n-1].end = sp.End
			continue
		}
		s := stretch{start: sp.Start, end: sp.End, sources: row.Cells, segment: manifest.Segment{
			Kind: manifest.KindMessage, Reason: manifest.ReasonWindow, Ref: string(sp.Block), Tokens: tokens[sp.Block],
		}}
		if pager.Form(row.Form) != pager.Whole {
			s.segment.Kind = manifest.KindStub
		}
		if n := seen[s.segment.Ref]; n > 0 { // the block goes on behind another
			s.segment.Ref, s.segment.Tokens = fmt.Sprintf("%s:%d", s.segment.Ref, n+1), 0
		}
		seen[string(sp.Block)]++
		list = append(list, s)
	}
	return list
}

// tile closes the gaps between stretches, and gives the first frame what the
// format takes.
func (a *assembling) tile(list []stretch, data []byte) []stretch {
	frame := func(start, end int) stretch {
		s := stretch{start: start, end: end, segment: manifest.Segment{Kind: manifest.KindFrame, Reason: manifest.ReasonFrame}}
		if a.held != nil {
			s.sources = a.frameCells()
		}
		return s
	}
	if len(list) == 0 {
		if len(data) > 0 {
			list = append(list, frame(0, len(data)))
		}
		return list
	}
	if list[0].start > 0 {
		list = slices.Insert(list, 0, frame(0, list[0].start))
	}
	for i := 1; i < len(list); i++ {
		list[i].start = list[i-1].end
	}
	if last := list[len(list)-1].end; last < len(data) {
		list = append(list, frame(last, len(data)))
	}
	return list
}

// frameCells returns the cells of the session that belong to no block.
func (a *assembling) frameCells() []store.CellID {
	blocks := make(map[store.CellID]bool)
	for i := range a.held.Rows {
		for _, c := range a.held.Rows[i].Cells {
			blocks[c] = true
		}
	}
	var cells []store.CellID
	for _, c := range a.held.Items {
		if !blocks[c] {
			cells = append(cells, c)
		}
	}
	return cells
}

// seal makes the manifest, writes it with everything that the context has and
// the store does not, and returns the context.
func (a *assembling) seal(ctx context.Context, data []byte, spans []transcript.Span) (*api.AssembleResult, error) {
	e := a.engine
	list, err := a.stretches(data, spans)
	if err != nil {
		return nil, err
	}
	res := a.result(data)
	if a.req.DryRun {
		res.Data = nil
		return res, nil
	}
	u := &store.Update{}
	m, salts, err := a.segments(ctx, u, list, data)
	if err != nil {
		return nil, err
	}
	if err := a.header(u, m); err != nil {
		return nil, err
	}
	m.Items = append(m.Items, a.selection.left...)
	slices.SortStableFunc(m.Items, func(x, y manifest.Item) int { return cmp.Compare(rank(x), rank(y)) })
	m.Items = append(m.Items, a.selection.fetches...)
	m.Items = append(m.Items, &manifest.Output{Bytes: len(data), Commit: manifest.CommitOutput(salts, data)})
	sealed, err := manifest.Seal(m, e.Opts.Rand)
	if err != nil {
		return nil, fmt.Errorf("internal error: %w", err)
	}
	h := &m.Header
	u.Manifest = &store.Manifest{
		ID: h.ID, Session: a.req.Session, Created: h.Created, Format: h.Format, Tier: h.Tier, Budget: h.Budget,
		Total: h.Total, Seal: sealed.Seal(), Body: sealed.Bytes(), Uses: uses(m),
	}
	if _, err := e.Update(ctx, a.scope, u, "assemble", map[string]any{"manifest": h.ID}); err != nil {
		return nil, err
	}
	a.known.Keep(m, salts)
	res.Manifest, res.Seal = h.ID, sealed.Seal().String()
	e.Opts.Logger.InfoContext(ctx, "assembled", "manifest", h.ID, "tokens", h.Total, "tier", h.Tier)
	return res, nil
}

// rank is the order of items in a manifest.
func rank(it manifest.Item) int {
	switch it.(type) {
	case *manifest.Segment:
		return 0
	case *manifest.Omission:
		return 1
	case *manifest.Set:
		return 2
	}
	return 3
}

// uses returns the artifacts that are in a context.
func uses(m *manifest.Manifest) []store.ArtifactID {
	var ids []store.ArtifactID
	for _, it := range m.Items {
		if s, ok := it.(*manifest.Segment); ok && s.Class != "" {
			ids = append(ids, store.ArtifactID(s.Ref))
		}
	}
	return ids
}

// segments gives each stretch a cell: that of an earlier context which has the
// same bytes of the same thing, or a new one.
func (a *assembling) segments(ctx context.Context, u *store.Update, list []stretch, data []byte) (*manifest.Manifest, []digest.Salt, error) {
	e := a.engine
	var err error
	if a.known, err = e.KnownSegments(ctx, a.scope, a.req.Session, a.formatName()); err != nil {
		return nil, nil, err
	}
	m := &manifest.Manifest{}
	salts := make([]digest.Salt, 0, len(list))
	keys := make(stacks.SegmentKeys)
	for i := range list {
		s := &list[i]
		body := data[s.start:s.end]
		seg := s.segment
		known, ok := a.known.Find(keys.Next(&seg))
		if !ok || !manifest.CommitSegment(known.Salt, body).Equal(known.Commit) {
			c, err := e.Cell(store.CellSegment, bytes.Clone(body))
			if err != nil {
				return nil, nil, err
			}
			u.Cells = append(u.Cells, c)
			for _, source := range s.sources {
				u.Edges = append(u.Edges, store.Edge{Derived: c.ID, Source: source, Rel: "segment"})
			}
			known = stacks.KnownSegment{Cell: c.ID, Salt: c.Salt, Commit: c.Commit}
		}
		seg.Cell, seg.Commit, seg.Start, seg.Bytes = string(known.Cell), known.Commit, s.start, s.end-s.start
		salts = append(salts, known.Salt)
		m.Items = append(m.Items, &seg)
	}
	a.settle(m)
	return m, salts, nil
}

// settle gives what the format takes for itself to the frame, or to the first
// segment if there is none, so that the segments sum to the total.
func (a *assembling) settle(m *manifest.Manifest) {
	rest := a.plan.Total
	for _, it := range m.Items {
		rest -= it.(*manifest.Segment).Tokens
	}
	if len(m.Items) > 0 && rest > 0 {
		m.Items[0].(*manifest.Segment).Tokens += rest
	}
}

// header fills in the header of a manifest.
func (a *assembling) header(u *store.Update, m *manifest.Manifest) error {
	e := a.engine
	id, err := e.NewID()
	if err != nil {
		return err
	}
	s := a.selection
	m.Header = manifest.Header{
		ID: "m_" + id, Scope: nameFor("scope", cmp.Or(string(a.scope), "none")), Actor: nameFor("actor", string(e.Opts.Actor)),
		Created: e.Now(), Session: transcript.SessionID(nameFor("session", string(a.req.Session))),
		Version: int64(s.version), Policy: e.PolicyName, Format: a.formatName(),
		Encoding: nameFor("encoding", a.meter.Counter.Encoding()), Budget: a.req.Budget, Reserve: a.req.Reserve,
		Demand: a.plan.Demand, Tier: a.plan.Tier, Review: a.plan.Review, Semantic: s.semantic, SemanticCalls: s.calls,
		Candidates: s.candidates,
	}
	for _, it := range m.Items {
		m.Header.Total += it.(*manifest.Segment).Tokens
	}
	if a.held != nil {
		m.Header.Revision = int64(a.held.Head.Revision)
	}
	if q := a.query(); q != "" {
		c, err := e.Cell(store.CellQuery, []byte(q))
		if err != nil {
			return err
		}
		u.Cells = append(u.Cells, c)
		m.Header.Query = string(c.ID)
	}
	return nil
}

// nameFor returns a text as a name for a manifest. One that has characters which
// no name has, such as the id of a session that comes from the name of a file,
// gets a mark before it and dashes in their places.
func nameFor(mark, text string) string {
	if text == "" || manifest.ValidName(text) {
		return text
	}
	name := mark + ":" + strings.Map(func(r rune) rune {
		if manifest.ValidName("a" + string(r)) {
			return r
		}
		return '-'
	}, text)
	return name[:min(len(name), manifest.MaxName)]
}

func (a *assembling) formatName() string {
	if a.format == nil {
		return api.FormatText
	}
	return a.format.Name()
}

// result tells what was assembled.
func (a *assembling) result(data []byte) *api.AssembleResult {
	s := a.selection
	res := &api.AssembleResult{
		Data: data, Format: a.formatName(), Encoding: a.meter.Counter.Encoding(), Budget: a.req.Budget,
		Reserve: a.req.Reserve, Demand: a.plan.Demand, TokenCount: a.plan.Total, Tier: a.plan.Tier, Review: a.plan.Review,
		Candidates: s.candidates, Semantic: s.semantic, SemanticCalls: s.calls, Warning: s.warning, Tags: s.tags(),
		Left: make(map[manifest.Reason]int), Losses: a.losses,
	}
	if a.held != nil {
		res.Window = a.meter.Entries(a.window.Entries)
	}
	for i := range a.parts {
		p := &a.parts[i]
		if p.pick == nil {
			continue
		}
		used := api.UsedEntry{
			Artifact: a.engine.DescribeArtifact(&p.pick.page.Row, &p.pick.page.Note), Form: p.form, InContext: p.tokens,
			Tag: manifest.Tag(p.pick.Tag), Score: p.pick.Score, Neutralized: p.marks,
			Fetched: p.pick.fetch != nil && p.pick.fetch.Outcome == manifest.OutcomeChanged,
		}
		used.Tokens = p.pick.page.Tokens(a.meter.Counter) // by what counts the context
		res.Used = append(res.Used, used)
		if used.Fetched {
			res.Fetched++
		}
	}
	for _, it := range s.left {
		switch it := it.(type) {
		case *manifest.Omission:
			res.Left[it.Reason]++
		case *manifest.Set:
			res.Left[it.Reason] += it.Count
		}
	}
	return res
}
