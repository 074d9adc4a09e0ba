package contexts

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
)

// A fitted is a context within its budget: the parts that are in it, and the items left out.
type fitted struct {
	opened

	plan  *assembly.Packing
	parts []part          // in the order of the output, without those of the window
	left  []manifest.Item // items left out, with the reason
}

// A part is a text of a context that does not come from the session.
type part struct {
	kind    manifest.Kind
	reason  manifest.Reason
	text    string
	tokens  token.Count
	pick    *selected // the artifact, or nil
	form    manifest.Form
	marks   int // number of characters made visible
	sources []store.CellID
}

// A measured holds everything that could be in a context, with sizes.
type measured struct {
	request *assembly.Request
	system  string
	query   string
	pins    []selected
	winners []selected               // artifacts that triage selected, in the order of request
	shorter []map[token.Count]string // for each winner: shorter forms, by their tokens
	left    []manifest.Item
}

// noticeText explains to the model the fences, the marks around the text of each artifact.
var noticeText = assembly.Preamble()

// fit measures all candidates, lets package assembly choose, and makes the parts.
func (e *Contexts) fit(ctx context.Context, src *source, chosen *selection) (*fitted, error) {
	m := e.measure(src, chosen)
	f, err := e.fitBudget(ctx, src, m)
	if err != nil {
		return nil, err
	}
	f.arrange(src, m)
	return f, nil
}

// measure measures all candidates before anything is cut.
func (e *Contexts) measure(src *source, chosen *selection) *measured {
	terms := retrieval.Keys(src.query)
	m := &measured{system: src.trusted("system", src.req.System), query: src.trusted("query", src.req.Query), left: slices.Clip(chosen.left)}
	r := &assembly.Request{
		Budget: src.req.Budget - src.req.Reserve, Ladder: e.Opts.Ladder, Tier: src.req.Tier,
		System: src.message(m.system) + src.meter.Fixed(src.opened.window.Session),
		Window: src.windowTokens(src.opened.window), Query: src.message(m.query),
	}
	if src.req.Tiers == api.TiersSoft {
		r.Ladder = tier.SoftLadder
	}
	m.request = r
	m.pins = m.distinct(chosen.pins, nil)
	for i := range m.pins {
		r.Pins += m.pins[i].page.Tokens(src.meter.Counter)
	}
	if notice := src.count(noticeText); len(m.pins) > 0 {
		r.Pins += notice + src.meter.Framing.Message
	} else {
		r.Notice = notice
	}
	if m.query == "" {
		r.Notice += src.meter.Framing.Message // artifacts need a message of their own
	}
	m.winners = m.worthy(chosen.scored)
	m.shorter = make([]map[token.Count]string, len(m.winners))
	for i := range m.winners {
		w := &m.winners[i]
		m.shorter[i] = make(map[token.Count]string)
		shorten := func(form assembly.Shortener, limit token.Count) token.Count {
			text, n := w.shorten(form, terms, limit, src.meter.Counter)
			if n > 0 {
				m.shorter[i][n] = text
			}
			return n
		}
		size := w.page.Tokens(src.meter.Counter)
		if limit := e.Opts.Page; limit >= 0 && size > limit {
			size = cmp.Or(shorten(assembly.Excerpt, limit), size)
		}
		r.Winners = append(r.Winners, assembly.Winner{
			Class: w.page.Row.Class, Tokens: size,
			Brief: func(limit token.Count) token.Count { return shorten(assembly.Brief, limit) },
		})
	}
	return m
}

// distinct returns the picks that can be used and whose text occurs neither in an earlier pick nor
// in an element of others. It records for each of the remaining picks why it is left out.
func (m *measured) distinct(picks, others []selected) []selected {
	seen := make(map[string]bool)
	for i := range others {
		seen[others[i].page.Row.Address] = true
	}
	var kept []selected
	for i := range picks {
		p := &picks[i]
		switch {
		case !p.usable():
			m.left = append(m.left, p.omission(unusable(p.fetch)))
		case seen[p.page.Row.Address]:
			m.left = append(m.left, p.omission(manifest.ReasonDuplicate))
		default:
			seen[p.page.Row.Address] = true
			kept = append(kept, *p)
		}
	}
	return kept
}

// worthy returns the artifacts that triage selected, best first.
func (m *measured) worthy(scored []selected) []selected {
	var worth []selected
	for i := range scored {
		if p := &scored[i]; p.usable() && !wins(p.Tag) {
			m.left = append(m.left, p.omission(manifest.ReasonMinor))
		} else {
			worth = append(worth, *p)
		}
	}
	return m.distinct(worth, m.pins)
}

// fitBudget returns the plan of a context, which never exceeds the budget. If the session alone
// is too large, fitBudget first cuts the session; the demand is still that of the uncut session,
// and the tier is minimal if the request does not force another.
func (e *Contexts) fitBudget(ctx context.Context, src *source, m *measured) (*fitted, error) {
	r, f := m.request, &fitted{opened: src.opened, left: m.left}
	var err error
	f.plan, err = assembly.Fit(r)
	over, ok := errors.AsType[*assembly.FloorError](err)
	if !ok {
		return f, err
	}
	others := over.Need - over.Window
	if src.held == nil || others >= r.Budget {
		return nil, &fixedError{over}
	}
	demand := over.Need
	if len(r.Winners) > 0 {
		demand += r.Notice
	}
	for i := range r.Winners {
		demand += r.Winners[i].Tokens
	}
	rows, stubs, err := e.FitWindow(ctx, src.scope, src.held, src.shownTokens, r.Budget-others)
	if floor, ok := errors.AsType[*pager.FloorError](err); ok {
		floor.Budget, floor.Need, floor.Fixed = floor.Budget+others, floor.Need+others, floor.Fixed+others
	}
	if err != nil {
		return nil, err
	}
	f.opened = src.open(rows, stubs)
	smaller := *r
	smaller.Window, smaller.Tier = src.windowTokens(f.window), cmp.Or(r.Tier, tier.Minimal)
	f.plan, err = assembly.Fit(&smaller)
	if over, ok := errors.AsType[*assembly.FloorError](err); ok {
		return nil, &fixedError{over}
	}
	if err != nil {
		return nil, err
	}
	f.plan.Demand = demand
	return f, nil
}

// A fixedError is an [api.ErrBudget] with the sizes of the parts that cannot be left out.
type fixedError struct{ *assembly.FloorError }

// Is implements the interface of [errors.Is] for [api.ErrBudget].
func (e *fixedError) Is(target error) bool { return target == api.ErrBudget }

// Unwrap returns the figures.
func (e *fixedError) Unwrap() error { return e.FloorError }

// arrange makes the parts of the plan, in order.
func (f *fitted) arrange(src *source, m *measured) {
	counter := src.meter.Counter
	text := func(kind manifest.Kind, reason manifest.Reason, text string) {
		if text != "" {
			f.parts = append(f.parts, part{kind: kind, reason: reason, text: text, tokens: counter.Count(text)})
		}
	}
	text(manifest.KindSystem, manifest.ReasonSystem, m.system)
	if len(m.pins) > 0 || slices.ContainsFunc(f.plan.Choices, func(c assembly.Choice) bool { return c.Form != assembly.Out }) {
		text(manifest.KindNotice, manifest.ReasonNotice, noticeText)
	}
	for i := range m.pins {
		f.parts = append(f.parts, m.pins[i].part(manifest.KindPin, manifest.ReasonPinned, "", counter))
	}
	for _, c := range f.plan.Choices {
		w, short := &m.winners[c.Index], m.shorter[c.Index][c.Tokens]
		switch {
		case c.Form == assembly.Out && c.Reason == assembly.ReasonNoRoom:
			f.left = append(f.left, w.omission(manifest.ReasonOverBudget))
		case c.Form == assembly.Out:
			f.left = append(f.left, w.omission(manifest.ReasonTier))
		case short == "":
			f.parts = append(f.parts, w.part(manifest.KindArtifact, manifest.ReasonFits, "", counter))
		default: // brief, or so large that its whole is an excerpt
			f.parts = append(f.parts, w.part(manifest.KindArtifact, manifest.ReasonBrief, short, counter))
		}
	}
	text(manifest.KindQuery, manifest.ReasonQuery, m.query)
}

// part returns the part of an artifact. It has the text in short, which is a shorter form of the
// artifact, or the whole artifact if short is empty.
func (p *selected) part(kind manifest.Kind, reason manifest.Reason, short string, counter token.Counter) part {
	pt := part{kind: kind, reason: reason, pick: p, form: manifest.FormWhole, sources: []store.CellID{p.page.Row.Content, p.page.Row.About}}
	if short == "" {
		pt.text, pt.marks = p.page.Render()
		pt.tokens = p.page.Tokens(counter)
	} else {
		pt.form, pt.text, pt.tokens = manifest.FormBrief, short, counter.Count(short)
		_, pt.marks = assembly.Neutralize(p.page.ContextText())
	}
	return pt
}

// shorten returns a shorter form of an artifact and the tokens of that form. With its fence the
// form has at most limit tokens. If no form is so short, shorten returns 0 tokens.
func (p *selected) shorten(form assembly.Shortener, terms []string, limit token.Count, counter token.Counter) (string, token.Count) {
	s := p.page.FenceSource()
	s.Tokens = p.page.Tokens(counter)
	shown, _ := assembly.Neutralize(p.page.ContextText())
	return assembly.Shorten(form, s, shown, terms, limit, counter.Count)
}
