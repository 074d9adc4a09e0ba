package handoff

import (
	"slices"
	"strings"
)

// Check checks p against the rules of honesty and returns the violations, by
// rule and then in the order of the packet. If e is nil, Check only compares the
// sections of the packet with each other. A packet with an error among its
// findings must not be handed over.
func Check(p *Packet, e *Evidence) []Finding {
	c := &checker{
		p:           p,
		inferred:    setOf(p.Inferred, ofClaim),
		questions:   setOf(p.Questions, ofQuestion),
		remaining:   setOf(p.Remaining, ofText),
		corrections: setOf(p.Corrections, ofCorrection),
		unreached:   make(set),
	}
	var all strings.Builder
	for _, b := range p.Boundaries {
		if name, ok := strings.CutPrefix(b.Boundary, unreached); ok {
			c.unreached.add(name)
		}
		all.WriteString(plain(b.Boundary) + "\n" + plain(b.Reason) + "\n")
	}
	c.boundaries = all.String()
	c.read()
	c.decided()
	c.done()
	c.reasoning()
	c.access()
	c.corrected()
	c.states()
	c.doubt()
	if e != nil {
		r := &recorder{c, e}
		r.read()
		r.decided()
		r.done()
		r.reasoning()
		r.access()
		r.corrected()
		r.states()
		r.doubt()
	}
	order := Rules()
	slices.SortStableFunc(c.found, func(a, b Finding) int {
		return slices.Index(order, a.Rule) - slices.Index(order, b.Rule)
	})
	return c.found
}

// A checker checks a packet against the rules without evidence.
type checker struct {
	p     *Packet
	found []Finding

	inferred, questions, remaining, corrections set

	unreached  set    // names in boundaries that begin with the text unreached
	boundaries string // texts of all boundaries, folded, one per line
}

func (c *checker) fail(r HonestyRule, s Section, entry, text string) {
	c.found = append(c.found, Finding{r, s, entry, text, true})
}

func (c *checker) warn(r HonestyRule, s Section, entry, text string) {
	c.found = append(c.found, Finding{r, s, entry, text, false})
}

// hasBoundary reports whether a boundary of the packet contains a name.
func (c *checker) hasBoundary(name string) bool {
	return c.unreached.has(name) || names(c.boundaries, key(name))
}

func (c *checker) read() {
	for _, s := range c.p.Sources {
		switch says := unread.Get().MatchString(s.What); {
		case s.State == Verified && says:
			c.fail(RuleRead, sectionSources, s.Source, "has the state verified, but its text says that nothing was verified; change one of them")
		case s.State == Scanned && says && !isUnknown(s.What):
			c.fail(RuleRead, sectionSources, s.Source, "has the state scanned, but its text says that it was not read; change one of them")
		case (s.State == Referenced || s.State == Unavailable) && !says:
			c.warn(RuleRead, sectionSources, s.Source, "was not read, but its text tells something of it; say \"Nothing: \" and why")
		}
	}
}

func (c *checker) decided() {
	for _, d := range c.p.Decisions {
		switch {
		case assumed.Get().MatchString(d.Basis):
			c.fail(RuleDecided, sectionDecisions, d.Text, "rests on an assumption only; move it to section 5, or name the decision of the user")
		case c.inferred.has(d.Text):
			c.fail(RuleDecided, sectionDecisions, d.Text, "is an inferred claim, too; keep it in one of the two sections")
		}
	}
}

func (c *checker) done() {
	for _, d := range c.p.Done {
		switch {
		case c.questions.has(d):
			c.fail(RuleDone, sectionDone, d, "is an open question, too; keep it in one of the two sections")
		case c.remaining.has(d):
			c.fail(RuleDone, sectionDone, d, "is remaining work, too; keep it in one of the two sections")
		case asks(d):
			c.fail(RuleDone, sectionDone, d, "is a question, not work; move it to section 7")
		}
	}
	status := make(map[string]Status)
	for _, a := range c.p.Artifacts {
		k := artifactKey(a)
		if was, ok := status[k]; ok && was != a.Status {
			c.fail(RuleDone, sectionArtifacts, a.Artifact, "has two statuses, "+string(was)+" and "+string(a.Status)+"; keep one of them")
		}
		status[k] = a.Status
	}
}

// artifactKey returns the key by which artifacts are compared. The key is empty
// for an artifact that has neither a name nor a path.
func artifactKey(a Deliverable) string {
	path := a.Path
	if isUnknown(path) {
		path = ""
	}
	name := key(or(a.Artifact, path))
	if name == "" {
		return ""
	}
	return name + "\n" + key(path)
}

func (c *checker) reasoning() {
	for at := range c.p.places() {
		if hasReasoning(*at.text) {
			c.fail(ruleReasoning, at.section, *at.text, "has hidden reasoning of a model; remove that part")
		}
	}
}

func (c *checker) access() {
	for _, s := range c.p.Sources {
		if s.State == Unavailable && !c.hasBoundary(s.Source) {
			c.fail(ruleAccess, sectionBoundaries, s.Source, "was unavailable, but no boundary names it; add one")
		}
	}
}

func (c *checker) corrected() {
	for _, x := range c.p.Corrections {
		if isUnknown(x.Meaning) {
			c.warn(RuleCorrections, sectionCorrections, x.Correction, "does not say what it means for the next agent")
		}
	}
}

func (c *checker) states() {
	state := make(map[string]Scrutiny)
	for _, s := range c.p.Sources {
		k := key(s.Source)
		if was, ok := state[k]; ok && was != s.State {
			c.fail(ruleState, sectionSources, s.Source, "has two states, "+string(was)+" and "+string(s.State)+"; keep one of them")
		}
		state[k] = s.State
		if s.State == Verified && c.inferred.has(s.What) {
			c.fail(ruleState, sectionSources, s.What, "is verified here, but inferred in section 5; keep one of them")
		}
	}
	for _, d := range c.p.Done {
		if c.inferred.has(d) {
			c.fail(ruleState, sectionDone, d, "is done here, but only inferred in section 5; keep one of them")
		}
	}
}

func (c *checker) doubt() {
	if why := c.firstUncertain(); why != "" && len(c.p.Boundaries) == 0 {
		c.fail(ruleDoubt, sectionBoundaries, "", "is empty, but "+why+"; add a boundary")
	}
	for _, q := range questions(c.p.Notes) {
		if !c.questions.has(q) {
			c.fail(ruleDoubt, sectionNotes, q, "asks a question that is missing in section 7; add it there")
		}
	}
}

// firstUncertain names the first uncertainty of the packet, such as "there are
// open questions". It returns "" if everything is certain.
func (c *checker) firstUncertain() string {
	p := c.p
	switch {
	case len(p.Inferred) > 0:
		return "there are inferred claims"
	case len(p.Questions) > 0:
		return "there are open questions"
	case len(p.Intent.Slots) > 0:
		return "there are unresolved slots"
	case slices.ContainsFunc(p.Sources, func(s Source) bool { return s.State != Verified }):
		return "there are sources that were not verified"
	case doubt.Get().MatchString(p.Notes):
		return "the notes have doubts"
	}
	for at := range p.places() {
		if at.field.words == nil && isUnknown(*at.text) {
			return "something is unknown"
		}
	}
	return ""
}
