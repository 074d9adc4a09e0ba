package handoff

import "slices"

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
	}
	for _, b := range p.Boundaries {
		c.boundaries += plain(b.Boundary) + "\n" + plain(b.Reason) + "\n"
	}
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

	boundaries string // texts of all boundaries, folded, one per line
}

func (c *checker) fail(r HonestyRule, s Section, entry, text string) {
	c.found = append(c.found, Finding{r, s, entry, text, true})
}

func (c *checker) warn(r HonestyRule, s Section, entry, text string) {
	c.found = append(c.found, Finding{r, s, entry, text, false})
}

// hasBoundary reports whether a boundary of the packet names name.
func (c *checker) hasBoundary(name string) bool { return names(c.boundaries, key(name)) }

func (c *checker) read() {
	for _, s := range c.p.Sources {
		switch says := unread.Get().MatchString(s.What); {
		case s.State == Verified && says:
			c.fail(RuleRead, sectionSources, s.Source, "is verified, and nothing was verified from it")
		case s.State == Scanned && says && !isUnknown(s.What):
			c.fail(RuleRead, sectionSources, s.Source, "is scanned, and was not read")
		case (s.State == Referenced || s.State == Unavailable) && !says:
			c.warn(RuleRead, sectionSources, s.Source, "was not read, and something is told of it; say \"Nothing: \" and why")
		}
	}
}

func (c *checker) decided() {
	for _, d := range c.p.Decisions {
		switch {
		case assumed.Get().MatchString(d.Basis):
			c.fail(RuleDecided, sectionDecisions, d.Text, "is locked on no more than an assumption")
		case c.inferred.has(d.Text):
			c.fail(RuleDecided, sectionDecisions, d.Text, "is among the inferred claims too")
		}
	}
}

func (c *checker) done() {
	for _, d := range c.p.Done {
		switch {
		case c.questions.has(d):
			c.fail(RuleDone, sectionDone, d, "is an open question")
		case c.remaining.has(d):
			c.fail(RuleDone, sectionDone, d, "is among the remaining work too")
		case asks(d):
			c.fail(RuleDone, sectionDone, d, "is a question")
		}
	}
	status := make(map[string]Status)
	for _, a := range c.p.Artifacts {
		k := artifactKey(a)
		if was, ok := status[k]; ok && was != a.Status {
			c.fail(RuleDone, sectionArtifacts, a.Artifact, "is both "+string(was)+" and "+string(a.Status))
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
			c.fail(ruleReasoning, at.section, *at.text, "holds the reasoning of a model")
		}
	}
}

func (c *checker) access() {
	for _, s := range c.p.Sources {
		if s.State == Unavailable && !c.hasBoundary(s.Source) {
			c.fail(ruleAccess, sectionBoundaries, s.Source, "was unavailable, and no boundary says so")
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
			c.fail(ruleState, sectionSources, s.Source, "is both "+string(was)+" and "+string(s.State))
		}
		state[k] = s.State
		if s.State == Verified && c.inferred.has(s.What) {
			c.fail(ruleState, sectionSources, s.What, "is verified here, and inferred in section 5")
		}
	}
	for _, d := range c.p.Done {
		if c.inferred.has(d) {
			c.fail(ruleState, sectionDone, d, "is done here, and inferred in section 5")
		}
	}
}

func (c *checker) doubt() {
	if why := c.firstUncertain(); why != "" && len(c.p.Boundaries) == 0 {
		c.fail(ruleDoubt, sectionBoundaries, "", "is empty, and "+why)
	}
	for _, q := range questions(c.p.Notes) {
		if !c.questions.has(q) {
			c.fail(ruleDoubt, sectionNotes, q, "asks what is not among the open questions")
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
