package contract

import "fmt"

// An added identifies an effect of a statement, to find the statement that caused a failure. It has
// a list and the text that the statement adds to it, or the name that the statement binds.
type added struct{ name, text string }

// A checker checks the state of a contract against the rules.
type checker struct {
	state    *Contract
	failures []Failure
	by       []added // cause of each failure
}

// examine returns the failures of a contract. The state s is that after all lines.
func examine(s *Contract, lines []string) []Failure {
	c := &checker{state: s}
	c.pins()
	c.budget()
	c.decisions()
	c.place(lines)
	return c.failures
}

func (c *checker) pins() {
	for _, l := range [...]List{PinnedBlocks, CorrectionBlocks} {
		for _, id := range c.state.Texts(l) {
			if c.state.blocks[id] == Evicted {
				c.fail(FailedPin, added{string(Evicted), id}, "block %q is in %s and is evicted", id, l)
			}
		}
	}
}

func (c *checker) budget() {
	if tokens, limit := c.state.WindowTokens(); tokens > limit {
		c.fail(FailedBudget, added{name: windowTokens}, "a window of %d tokens is over the budget of %d", tokens, limit)
	}
}

// decisions adds a failure for each decision that contradicts an earlier one.
func (c *checker) decisions() {
	type said struct{ value, decision string }
	stems := make(map[string]said)
	for _, l := range [...]List{InheritedDecisions, TrackedDecisions} {
		for _, decision := range c.state.Texts(l) {
			stem, value, ok := stemOf(decision)
			if !ok {
				continue
			}
			before, known := stems[stem]
			switch {
			case !known:
				stems[stem] = said{value, decision}
			case before.value != value:
				c.fail(FailedDecision, added{string(l), decision}, "decision %q contradicts %q", decision, before.decision)
			}
		}
	}
}

// fail adds a failure with the formatted text, and records the effect in the parameter by as its
// cause.
func (c *checker) fail(kind FailureKind, by added, format string, args ...any) {
	c.failures = append(c.failures, Failure{Kind: kind, Text: fmt.Sprintf(format, args...)})
	c.by = append(c.by, by)
}

// place sets the line of each failure: to the last statement that adds the text or binds the name
// that caused the failure.
func (c *checker) place(lines []string) {
	open := make(map[added][]*Failure)
	for i := range c.failures {
		c.failures[i].Line = len(lines)
		open[c.by[i]] = append(open[c.by[i]], &c.failures[i])
	}
	for n := len(lines); n > 0 && len(open) > 0; n-- {
		st, _ := c.state.read(lines[n-1]) // on an error, a statement without effect
		if st.verb == verbRemove {
			continue
		}
		by := added{st.name, st.text}
		if st.verb == verbBind {
			by.text = ""
		}
		for _, f := range open[by] {
			f.Line = n
		}
		delete(open, by)
	}
}
