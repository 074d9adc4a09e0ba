package contract

// Inherit adds decisions that still hold, all corrections, unanswered questions, and verified
// claims of an earlier session. Behind each it adds a requirement that the list has it, so that
// the contract fails if its statement is deleted. Sources and blocks are not inherited.
//
// Call it at the beginning of a session. If a decision of this session
// contradicts an inherited one, the error is a [*ConflictError].
func (s *Contract) Inherit(parent *Contract) ([]string, error) {
	return s.edit(func(d *draft) {
		d.inherit(InheritedDecisions, "decision", parent, InheritedDecisions, TrackedDecisions)
		d.inherit(ActiveCorrections, "correction", parent, ActiveCorrections, sessionCorrections)
		d.inherit(UnresolvedQuestions, "question", parent, UnresolvedQuestions, OpenQuestions)
		d.inherit(VerifiedClaims, "claim", parent, VerifiedClaims)
	})
}

// inherit adds the items of some of a parent's lists, those in the parameter from, to the list
// named by the parameter to.
func (d *draft) inherit(to List, what string, parent *Contract, from ...List) {
	d.declare(to)
	for _, l := range from {
		for _, text := range parent.Texts(l) {
			if d.has(to, text) {
				continue
			}
			if to == InheritedDecisions {
				if conflicts := d.state.conflicts(text); len(conflicts) > 0 {
					d.fail(&ConflictError{Decision: text, Conflicts: conflicts})
					return
				}
			}
			d.add(to, what, text)
			d.line("require " + string(to) + ` includes "` + text + `" because "an earlier session left it"`)
		}
	}
}
