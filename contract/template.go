package contract

// templateLists are the lists that [Contract.Init] declares.
var templateLists = [...]List{
	TrackedDecisions, overriddenDecisions, OpenQuestions, sessionCorrections, VerifiedClaims, precommitVerified,
}

// templateRest are the lines that begin every contract: two compositions, and three guards that
// state how reliable its claims are.
var templateRest = [...]string{
	`remember how to disclose: show source-state and show claim-basis and show open-questions`,
	`remember how to summarize: show tracked-decisions and show open-questions and show session-corrections`,
	`when source-state is "unscanned":`,
	`  show "hold: no source was read yet, so claim nothing about one"`,
	`when claim-basis is "inference" unless source-state is "verified":`,
	`  show "warn: what is claimed is inferred, and no source was checked for it"`,
	`when claim-basis is "verified":`,
	`  show "ok: what is claimed was checked"`,
}

// Init begins the contract of a session: it adds missing states, empty lists, compositions and
// guards, then the items of p, which may be nil. It fails with [ErrInitialized] if it was called
// before, with a [*TextError] for an id that cannot be written, with a [*PayloadError] for an item
// of p that cannot be written, and with a [*ConflictError] if decisions contradict each other.
func (s *Contract) Init(id string, p *Payload) ([]string, error) {
	if s.Initialized() {
		return nil, ErrInitialized
	}
	return s.edit(func(d *draft) {
		d.template(id)
		if p != nil {
			d.payload(p)
			d.fail(p.missing(&d.state))
		}
	})
}

func (d *draft) template(id string) {
	if id != "" {
		d.text(sessionID, id)
	}
	d.bind(contractState, stateOpen)
	if d.state.SourceState() == "" {
		d.bind(sourceState, string(Unscanned))
	}
	if d.state.ClaimBasis() == "" {
		d.bind(claimBasis, string(BasisNone))
	}
	for _, l := range templateLists {
		d.declare(l)
	}
	d.bindNumber(decisionCount, d.state.session.list(TrackedDecisions).count)
	for _, line := range templateRest {
		d.line(line)
	}
}
