package handoffs

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/intent"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/summary"
	"github.com/carrel-dev/carrel/summary/extractive"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// What a packet lists at most, the newest of each. It says how many more there are,
// and where.
const (
	mostSources = 60
	mostClaims  = 40
	mostOut     = 40
)

// mostCorrection is how many bytes of a user's correction a packet has. The rest is
// one recall away, and the packet says so.
const mostCorrection = 4000

// A packing is a session while a packet is made of it.
type packing struct {
	held  *hold.Held // the entire session
	now   int        // the first block of the conversation
	about *hold.About
	rules []pager.Rule
	state *contract.State
	found []facts.Fact    // of what came after the packet that the session began with
	base  *handoff.Packet // that packet, or nil
	first int             // block behind it
}

func (e *Handoffs) pack(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*packing, error) {
	h, err := e.Load(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	p := &packing{held: h.Entire(), now: h.Behind()}
	if p.about, err = e.About(ctx, scope, h.Head); err != nil {
		return nil, err
	}
	rules, err := e.Rules(ctx, scope, h, 0)
	if err != nil {
		return nil, err
	}
	p.rules = append(p.held.FirstTask(p.now), rules...)
	a, err := e.Agreement(ctx, scope, h)
	if err != nil {
		return nil, err
	}
	p.state = a.State
	p.base, p.first = p.held.Packet()
	for _, f := range e.FactsOf(p.held, len(p.held.Blocks), 0) {
		if f.Block >= p.first {
			p.found = append(p.found, f)
		}
	}
	return p, nil
}

// ref names a block, for the basis of what is said.
func (p *packing) ref(i int) string { return "block " + p.held.Rows[i].ID.Short() }

// input returns what a packet is made of.
func (p *packing) input() *handoff.Input {
	in := &handoff.Input{Session: string(p.held.Head.ID)}
	if p.about.Title != "" {
		in.Session += " (" + p.about.Title + ")"
	}
	if p.base != nil {
		p.inherit(in)
	}
	p.aim(in)
	p.sources(in)
	p.claims(in)
	p.questions(in)
	p.corrections(in)
	p.work(in)
	p.window(in)
	return in
}

// inherit takes over the packet that the session began with.
func (p *packing) inherit(in *handoff.Input) {
	b := p.base
	in.Goal, in.State, in.Intent, in.Permalink = b.Goal, b.State, b.Intent, b.Permalink
	in.Sources, in.Inferred = slices.Clone(b.Sources), slices.Clone(b.Inferred)
	in.Decisions, in.Questions = slices.Clone(b.Decisions), slices.Clone(b.Questions)
	in.Corrections, in.Context = slices.Clone(b.Corrections), slices.Clone(b.Context)
	in.Done, in.Remaining = slices.Clone(b.Done), slices.Clone(b.Remaining)
	in.Boundaries, in.Artifacts = slices.Clone(b.Boundaries), slices.Clone(b.Artifacts)
	in.Next, in.Notes = b.Next, b.Notes
}

// aim fills what the session is for, how it stands, and what was asked last.
func (p *packing) aim(in *handoff.Input) {
	if len(p.found) > 0 {
		s := extractive.Draft(p.found, &extractive.Options{Ref: func(i int) string { return p.held.Rows[i].ID.Short() }})
		if in.Goal == "" {
			in.Goal = s.Intent
		}
		in.State = s.State
		in.Next = ""
		for _, step := range s.Next {
			if step.Text != summary.None {
				in.Next = step.Text
				break
			}
		}
	}
	if resume := p.state.ResumeState(); resume != "" {
		in.State = strings.TrimSpace(in.State + "\nTo be resumed: " + resume)
	}
	for i := len(p.held.Blocks) - 1; i >= p.first; i-- {
		b := &p.held.Blocks[i]
		if b.Kind != transcript.KindUser || !pager.Instructs(p.held.Session.Messages, b) {
			continue
		}
		got := intent.Compile(p.held.Texts()[i], nil)
		if got.Verb == "" {
			continue // it only says to go on
		}
		in.Intent = p.intentOf(got, i)
		return
	}
}

// intentOf returns a compiled prompt as a packet has it.
func (p *packing) intentOf(got *intent.Intent, block int) handoff.Intent {
	to := handoff.Intent{
		Primary: handoff.Verb(got.Verb), Status: "asked; whether it is done, sections 10 and 11 say",
		Basis: "the prompt compiler's reading of the user's words in " + p.ref(block) + ", with confidence " + string(got.Confidence),
	}
	for _, slot := range got.Verb.Slots() {
		for _, v := range got.Slots[slot] {
			if to.Target == "" {
				to.Target = v.Text
			}
		}
	}
	for _, s := range got.Secondary {
		to.Secondary = string(s.Verb)
		break
	}
	for _, gap := range got.Gaps {
		to.Slots = append(to.Slots, string(gap))
	}
	for _, flag := range got.Amber {
		to.Flags = append(to.Flags, flag.Name)
	}
	return to
}

// sources fills what was read and run, and what was only mentioned.
func (p *packing) sources(in *handoff.Input) {
	var list []handoff.Source
	for i := range p.found {
		f := &p.found[i]
		s := handoff.Source{Source: f.Subject}
		switch f.Kind { //nolint:exhaustive // the others are no sources
		case facts.FactRead:
			s.Type, s.State, s.What = sourceType(f.Subject), handoff.Scanned, "read in "+p.ref(f.Block)
			if f.Status == facts.StatusFailed {
				s.State, s.What = handoff.Unavailable, "Nothing: it could not be read in "+p.ref(f.Block)
			}
		case facts.FactCommand:
			if f.Status != facts.StatusOK || pager.OneOff(p.line(f)) {
				continue
			}
			s.Type, s.State, s.What = "command", handoff.Verified, "it ran without an error in "+p.ref(f.Block)
			if f.Text != "" {
				s.What += ": " + f.Text
			}
		case facts.FactReference:
			if !strings.Contains(f.Subject, "://") {
				continue
			}
			s.Type, s.State = "page", handoff.Referenced
		default:
			continue
		}
		list = append(list, s)
	}
	list = newest(list, func(s handoff.Source) string { return s.Source })
	in.Sources = append(in.Sources, last(in, list, mostSources, "sources")...)
	for _, s := range p.state.Sources() {
		if s.Claim {
			in.Inferred = append(in.Inferred, handoff.Claim{Text: s.Text, Basis: "the contract has it as the claim " + s.Name})
			continue
		}
		in.Sources = append(in.Sources, handoff.Source{
			Source: s.Name, Type: "source of the contract", State: handoff.Scanned, What: "the contract has its text",
		})
	}
	had := p.inherited(func(b *handoff.Packet, add func(string)) {
		for _, s := range b.Sources {
			add(claimOf(&s))
		}
	})
	for _, claim := range p.state.Texts(contract.VerifiedClaims) {
		if !had[claim] {
			in.Sources = append(in.Sources, handoff.Source{
				Source: "contract of session " + string(p.held.Head.ID), Type: contractType, State: handoff.Verified, What: claim,
			})
		}
	}
}

// contractType is the type of a source that is a contract.
const contractType = "contract"

// claimOf returns what a source of a packet says as a contract has it.
func claimOf(s *handoff.Source) string {
	if s.Type == contractType {
		return contract.Clean(s.What)
	}
	return contract.Clean(s.Source + ": " + s.What)
}

// inherited returns the texts of the contract that come from the packet with which
// the session began, which has them in its own words.
func (p *packing) inherited(list func(b *handoff.Packet, add func(string))) map[string]bool {
	had := make(map[string]bool)
	if p.base != nil {
		list(p.base, func(text string) { had[text] = true })
	}
	return had
}

// line returns the command line of a fact, of which its subject may be a part.
func (p *packing) line(f *facts.Fact) string {
	for _, k := range p.held.Blocks[f.Block].Messages {
		for _, c := range p.held.Session.Messages[k].Calls() {
			if line := tool.Line(c); c.ID == f.CallID && line != "" {
				return line
			}
		}
	}
	return f.Subject
}

// sourceType says what sort of a thing was read.
func sourceType(subject string) string {
	switch {
	case strings.Contains(subject, "://"):
		return "page"
	case strings.ContainsAny(subject, "/.") && !strings.ContainsAny(subject, " |*+?()[]{}^$\\"):
		return "file"
	}
	return "query"
}

// claims fills what the agent said and decided, and what the user decided.
func (p *packing) claims(in *handoff.Input) {
	var said []handoff.Claim
	for i := range p.found {
		f := &p.found[i]
		switch {
		case f.Kind == facts.FactProgress && strings.HasSuffix(f.Text, ":"):
			// it announces what comes next, which is a claim of its own
		case f.Kind == facts.FactProgress:
			said = append(said, handoff.Claim{Text: f.Text, Basis: "the agent said so in " + p.ref(f.Block)})
		case f.Kind == facts.FactDecision && f.Role == transcript.RoleUser:
			in.Decisions = append(in.Decisions, handoff.Decision{Text: p.assent(f), Basis: "the user said so in " + p.ref(f.Block)})
		case f.Kind == facts.FactDecision:
			basis := "the agent decided it in " + p.ref(f.Block) + "; no word of the user's on it is on record"
			if f.Why != "" {
				basis += "; its reason: " + f.Why
			}
			said = append(said, handoff.Claim{Text: f.Text, Basis: basis})
		}
	}
	said = newest(said, func(c handoff.Claim) string { return c.Text })
	in.Inferred = append(in.Inferred, last(in, said, mostClaims, "inferred claims")...)
	had := p.inherited(func(b *handoff.Packet, add func(string)) {
		for _, d := range b.Decisions {
			add(contract.Clean(d.Text))
		}
	})
	for _, l := range []contract.List{contract.InheritedDecisions, contract.TrackedDecisions} {
		for _, d := range p.state.Texts(l) {
			if had[d] {
				continue
			}
			in.Decisions = append(in.Decisions, handoff.Decision{Text: d, Basis: "the contract has it in " + string(l)})
		}
	}
}

// assent returns a decision of the user's. One of few words, such as "yes", says
// little without what it answers: the end of what the agent said before.
func (p *packing) assent(f *facts.Fact) string {
	if f.Block == 0 || len(strings.Fields(f.Text)) > 3 {
		return f.Text
	}
	before := &p.held.Blocks[f.Block-1]
	if before.Kind != transcript.KindAssistant && before.Kind != transcript.KindTool {
		return f.Text
	}
	said := lastLine(p.held.Session.Messages[before.Messages[0]].Text())
	if said == "" {
		return f.Text
	}
	return f.Text + " (to the agent's words: " + said + ")"
}

// mostAnswered is how many bytes of what a user answers a packet has.
const mostAnswered = 300

// lastLine returns the last line of a text with a letter in it, or its end.
func lastLine(s string) string {
	for s != "" {
		at := strings.LastIndexByte(s, '\n') + 1
		line := strings.TrimSpace(s[at:])
		if strings.ContainsFunc(line, unicode.IsLetter) {
			if len(line) > mostAnswered {
				line = text.Ellipsis + text.Tail(line, mostAnswered)
			}
			return line
		}
		s = s[:max(at-1, 0)]
	}
	return ""
}

// questions fills what is open.
func (p *packing) questions(in *handoff.Input) {
	for i := range p.found {
		f := &p.found[i]
		switch {
		case f.Status != facts.StatusOpen:
		case f.Kind == facts.FactQuestion:
			in.Questions = append(in.Questions, handoff.Question{Question: f.Text, Why: "nobody answered it since " + p.ref(f.Block)})
		case f.Kind == facts.FactError:
			in.Questions = append(in.Questions, handoff.Question{
				Question: "How is this error resolved: " + strings.TrimSuffix(f.Subject+": "+f.Text, ": "),
				Why:      "it is on record in " + p.ref(f.Block) + ", and nothing that resolved it",
			})
		}
	}
	had := p.inherited(func(b *handoff.Packet, add func(string)) {
		for _, q := range b.Questions {
			add(contract.Clean(q.Question))
		}
	})
	for _, l := range []contract.List{contract.UnresolvedQuestions, contract.OpenQuestions} {
		for _, q := range p.state.Texts(l) {
			if had[q] {
				continue
			}
			in.Questions = append(in.Questions, handoff.Question{Question: q, Why: "the contract has it in " + string(l)})
		}
	}
}

// corrections fills what the user said against the way of working, in the user's
// words.
func (p *packing) corrections(in *handoff.Input) {
	for i := p.first; i < len(p.rules); i++ {
		if !p.corrects(i) {
			continue
		}
		said := strings.TrimSpace(p.held.Texts()[i])
		meaning := "It stands until the user says otherwise. It is " + p.ref(i) + ", which never leaves the window."
		if i < p.now {
			meaning = "It stands until the user says otherwise. It is " + p.ref(i) + ", which the agent's own compaction took out of the window."
		}
		if len(said) > mostCorrection {
			said = text.Head(said, mostCorrection)
			meaning += " These are its first words; carrel recall " + p.held.Rows[i].ID.Short() + " has all."
		}
		if said != "" {
			in.Corrections = append(in.Corrections, handoff.Correction{Correction: said, Meaning: meaning})
		}
	}
	had := p.inherited(func(b *handoff.Packet, add func(string)) {
		for _, c := range b.Corrections {
			add(contract.LookUpCorrection(c.Correction).Name)
		}
	})
	for _, c := range p.state.Corrections() {
		if had[c.Name] {
			continue
		}
		in.Corrections = append(in.Corrections, handoff.Correction{Correction: c.Name, Meaning: c.Meaning})
	}
}

// corrects reports whether a block records a correction: it may be under a
// stronger rule than that of corrections.
func (p *packing) corrects(i int) bool {
	if p.rules[i] == pager.RuleCorrection {
		return true
	}
	b := &p.held.Blocks[i]
	return b.Kind == transcript.KindUser && p.rules[i] != pager.RuleFirstTask &&
		pager.Instructs(p.held.Session.Messages, b) && pager.Correction(p.held.Texts()[i])
}

// work fills what was done, what remains, and the files.
func (p *packing) work(in *handoff.Input) {
	committed := -1
	changes := make(map[string][]string)
	var paths []string
	at := make(map[string]int)
	for i := range p.found {
		f := &p.found[i]
		switch f.Kind { //nolint:exhaustive // the others are no work
		case facts.FactTodo:
			if f.Status == facts.StatusCompleted {
				in.Done = append(in.Done, f.Subject)
			} else {
				in.Remaining = append(in.Remaining, f.Subject)
			}
		case facts.FactCommand:
			if f.Status == facts.StatusOK && strings.Contains(f.Subject, "git commit") {
				committed = f.Block
			}
		case facts.FactChange:
			if changes[f.Subject] == nil {
				paths = append(paths, f.Subject)
			}
			changes[f.Subject] = append(changes[f.Subject], strings.TrimSuffix(string(f.Status)+": "+f.Text, ": "))
			at[f.Subject] = f.Block
		}
	}
	for _, name := range paths {
		list := changes[name]
		text := list[len(list)-1]
		if n := len(list) - 1; n > 0 {
			text += fmt.Sprintf(" (changes before: %d)", n)
		}
		in.Done = append(in.Done, name+": "+text)
		status := handoff.Draft
		switch {
		case strings.HasPrefix(name, "/tmp/"):
			status = handoff.Intermediate
		case at[name] < committed:
			status = handoff.Delivered
		}
		in.Artifacts = append(in.Artifacts, handoff.Artifact{
			Artifact: path.Base(name), Type: fileType(name), Path: name, Status: status,
		})
	}
}

// fileType returns what sort of a file a path is of.
func fileType(name string) string {
	if ext := strings.TrimPrefix(path.Ext(name), "."); ext != "" {
		return ext + " file"
	}
	return "file"
}

// window fills what the pager says: what is pinned, and what is out of the window.
func (p *packing) window(in *handoff.Input) {
	h := p.held
	var out []handoff.Out
	stubs := 0
	for i := p.first; i < len(h.Rows); i++ {
		r := &h.Rows[i]
		switch {
		case r.State == store.StateStub:
			stubs++
		case r.State != store.StateLive:
			out = append(out, handoff.Out{ID: r.ID.Short(), Text: hold.Preview(h.Session.Messages, &h.Blocks[i])})
		}
		if r.Pinned {
			why := "somebody pinned it: it never leaves the window"
			if i < p.now {
				why = "somebody pinned it, before the agent's own compaction took it out of the window"
			}
			in.Context = append(in.Context, handoff.Context{
				Context: "Block " + r.ID.Short() + ": " + hold.Preview(h.Session.Messages, &h.Blocks[i]), Why: why,
			})
		}
	}
	in.Out = last(in, out, mostOut, "blocks out of the window")
	if stubs > 0 {
		in.Context = append(in.Context, handoff.Context{
			Context: fmt.Sprintf("%d blocks are stubs in the window; carrel recall ID has each of them whole", stubs),
			Why:     "what a stub does not say is not lost",
		})
	}
}

// last returns the last n of a list. That there are more is said among what is to
// be preserved.
func last[T any](in *handoff.Input, list []T, n int, what string) []T {
	if len(list) <= n {
		return list
	}
	in.Context = append(in.Context, handoff.Context{
		Context: fmt.Sprintf("There are %d more %s, older than those listed here: carrel messages and carrel search have them", len(list)-n, what),
		Why:     "this packet lists the newest",
	})
	return list[len(list)-n:]
}

// newest returns the list with the last of those that have the same key, in the
// order of the last.
func newest[T any](list []T, key func(T) string) []T {
	seen := make(map[string]bool)
	var kept []T
	for _, x := range slices.Backward(list) {
		if k := key(x); !seen[k] {
			seen[k] = true
			kept = append(kept, x)
		}
	}
	slices.Reverse(kept)
	return kept
}

// evidenceOf returns what is on record of the session, in the words of the input.
func (p *packing) evidence(in *handoff.Input) *handoff.Evidence {
	ev := &handoff.Evidence{
		Sources: in.Sources, Decisions: in.Decisions, Done: in.Done, Remaining: in.Remaining, Artifacts: in.Artifacts,
		Unavailable: in.Unavailable,
	}
	for _, c := range in.Inferred {
		ev.Inferred = append(ev.Inferred, c.Text)
	}
	for _, q := range in.Questions {
		ev.Questions = append(ev.Questions, q.Question)
	}
	for _, c := range in.Corrections {
		ev.Corrections = append(ev.Corrections, c.Correction)
	}
	for _, o := range in.Out {
		ev.Out = append(ev.Out, o.ID)
	}
	for i := range p.held.Session.Messages {
		for _, part := range p.held.Session.Messages[i].Parts {
			if t, ok := part.(transcript.Thinking); ok {
				ev.Reasoning = append(ev.Reasoning, t.Text)
			}
		}
	}
	return ev
}
