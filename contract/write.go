package contract

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/token"
)

// A draft is a sequence of statements that is being written, and the state after them.
type draft struct {
	state Contract
	lines []string
	err   error // the first one
}

// edit writes statements that are not about blocks. Either all take effect or none. The draft shares
// its lists with s, because copying a long list for each item would take quadratic time.
func (s *Contract) edit(write func(d *draft)) ([]string, error) {
	if s.Closed() {
		return nil, ErrClosed
	}
	d := &draft{state: *s}
	d.state.session.sources, d.state.session.places = slices.Clone(s.session.sources), maps.Clone(s.session.places)
	d.state.session.changes = nil
	write(d)
	if d.err != nil {
		for _, c := range slices.Backward(d.state.session.changes) {
			c.undo()
		}
		return nil, d.err
	}
	d.state.session.changes = nil
	*s = d.state
	return d.lines, nil
}

// fail records the first error.
func (d *draft) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// line applies a statement and appends it.
func (d *draft) line(line string) {
	if d.err != nil {
		return
	}
	if err := d.state.apply(line); err != nil {
		err.Line, err.Statement = len(d.lines)+1, line
		d.err = err
		return
	}
	d.lines = append(d.lines, line)
}

func (d *draft) declare(l List) {
	if d.state.session.list(l) == nil {
		d.line("remember a list called " + string(l))
	}
}

// add adds a text to a list unless the list has it.
func (d *draft) add(l List, what, text string) {
	d.check(what, text)
	d.declare(l)
	if !d.has(l, text) {
		d.line(`add "` + text + `" to ` + string(l))
	}
}

func (d *draft) remove(l List, text string) {
	d.line(`remove "` + text + `" from ` + string(l))
}

func (d *draft) has(l List, text string) bool { return d.state.session.list(l).has(text) }

func (d *draft) bind(name, text string) {
	d.line("remember a string called " + name + ` with "` + text + `"`)
}

func (d *draft) bindNumber(name string, n int) { d.line(bindNumber(name, n)) }

// check fails if a text cannot be written.
func (d *draft) check(what, text string) {
	if err := checkID(text); err != nil {
		d.fail(&TextError{What: what, Text: text, Reason: err.(*IDError).Text}) //nolint:errorlint // never wrapped
	}
}

// bindNumber returns the statement that binds a name to a number.
func bindNumber(name string, n int) string {
	return "remember a number called " + name + " with " + strconv.Itoa(n)
}

// AddQuestion adds an open question, unless it is open already in this or an earlier session.
func (s *Contract) AddQuestion(question string) ([]string, error) {
	return s.edit(func(d *draft) { d.question(question) })
}

func (d *draft) question(question string) {
	if !d.has(UnresolvedQuestions, question) {
		d.add(OpenQuestions, "question", question)
	}
}

// ResolveQuestion removes an open question of this or an earlier session. It
// fails with a [*TextError] if there is no such question.
func (s *Contract) ResolveQuestion(question string) ([]string, error) {
	return s.edit(func(d *draft) {
		switch {
		case d.has(OpenQuestions, question):
			d.remove(OpenQuestions, question)
		case d.has(UnresolvedQuestions, question):
			d.remove(UnresolvedQuestions, question)
		default:
			d.fail(&TextError{What: "question", Text: question, Reason: "is not open"})
		}
	})
}

// SetSourceState records how much of the sources was read.
func (s *Contract) SetSourceState(state SourceState) ([]string, error) {
	return s.edit(func(d *draft) { d.choose(sourceState, string(state)) })
}

// SetClaimBasis records the basis of the claims.
func (s *Contract) SetClaimBasis(basis ClaimBasis) ([]string, error) {
	return s.edit(func(d *draft) { d.choose(claimBasis, string(basis)) })
}

// choose binds a name to one of its allowed words, unless the name is bound to that word
// already.
func (d *draft) choose(name, word string) {
	if reason := scalars[scalarIndex(name)].refuses(word); reason != "" {
		d.fail(&TextError{What: name, Text: word, Reason: "cannot be: it " + reason})
		return
	}
	if d.state.session.value(name) != word {
		d.bind(name, word)
	}
}

// SetResumeState records the point at which to resume the session.
func (s *Contract) SetResumeState(text string) ([]string, error) {
	return s.edit(func(d *draft) { d.text(resumeState, text) })
}

// text binds a name to a text, unless the name is bound to that text already.
func (d *draft) text(name, text string) {
	d.check(name, text)
	if d.state.session.value(name) != text {
		d.bind(name, text)
	}
}

// AddSource adds the text of a source under a name. The contract's name has the letters and
// digits of name in lower case, hyphens for everything else, and the prefix "source-" if the
// language or a contract uses the name. It fails with a [*TextError] if name has no letters and
// digits or is in use for another text.
func (s *Contract) AddSource(name, text string) ([]string, error) {
	return s.edit(func(d *draft) { d.remember("source", name, text) })
}

// AddClaim adds a claim under a name, by the same rules as [Contract.AddSource].
func (s *Contract) AddClaim(name, text string) ([]string, error) {
	return s.edit(func(d *draft) { d.remember("claim", name, text) })
}

func (d *draft) remember(what, name, text string) {
	word, err := sourceName(name)
	if err != nil {
		d.fail(err)
		return
	}
	d.check("text of "+what, text)
	switch old, ok := d.state.source(word); {
	case !ok:
		d.line("remember a " + what + " called " + word + ` with "` + text + `"`)
	case old.Text != text || old.Claim != (what == "claim"):
		d.fail(&TextError{What: what, Text: word, Reason: "is remembered already, with another text"})
	}
	if got, _ := d.state.source(word); got.Text != text {
		d.fail(&TextError{What: what, Text: name, Reason: "has a name that cannot be written"})
	}
}

// Verify adds claim, a text, to the verified claims. If source is not empty, it is the name of a
// source as [Contract.AddSource] got it, or its Name in [Contract.Sources]. The text of that source
// must contain claim in the same case; otherwise the error is a [*TextError]. The statement is then
// one of the pack "session" of [limn.BuiltinPack]. [Contract.AddClaim] is not needed before.
func (s *Contract) Verify(claim, source string) ([]string, error) {
	return s.edit(func(d *draft) {
		d.check("claim", claim)
		if source != "" {
			d.cite(claim, source)
		}
		d.add(VerifiedClaims, "claim", claim)
	})
}

func (d *draft) cite(claim, source string) {
	word, err := sourceName(source)
	if err != nil {
		d.fail(err)
		return
	}
	switch s, ok := d.state.source(word); {
	case !ok || s.Claim:
		d.fail(&TextError{What: "source", Text: word, Reason: "is not remembered"})
	case !strings.Contains(s.Text, claim):
		d.fail(&TextError{What: "claim", Text: claim, Reason: fmt.Sprintf("is not a part of the text of source %q", word)})
	default:
		d.line(`cite "` + claim + `" from ` + word)
	}
}

// VerifyCommit records that what was checked before a commit, such as "the list of its files".
func (s *Contract) VerifyCommit(what string) ([]string, error) {
	return s.edit(func(d *draft) { d.add(precommitVerified, "check", what) })
}

// Pin replaces the pinned blocks. It fails with a [*PinError] if one of them
// is evicted, and with an [*IDError] for an invalid id.
func (s *Contract) Pin(blocks []string) ([]string, error) {
	want := make(map[string]bool, len(blocks))
	for _, id := range blocks {
		if err := s.checkPin(id); err != nil {
			return nil, err
		}
		want[id] = true
	}
	return s.edit(func(d *draft) {
		d.declare(PinnedBlocks)
		for _, id := range d.state.Texts(PinnedBlocks) {
			if !want[id] {
				d.remove(PinnedBlocks, id)
			}
		}
		for _, id := range blocks {
			d.add(PinnedBlocks, "block", id)
		}
	})
}

// checkPin returns an error if a block cannot be pinned.
func (s *Contract) checkPin(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	if s.blocks[id] == Evicted {
		return &PinError{Block: id, Evicted: true}
	}
	return nil
}

// Pinned reports whether a block is pinned or records a correction. Such a block cannot be
// evicted.
func (s *Contract) Pinned(block string) bool {
	return s.session.list(PinnedBlocks).has(block) || s.session.list(CorrectionBlocks).has(block)
}

// Budget records the tokens of the window and their limit; call it after each pass. If tokens
// exceeds limit, it fails with a [*BudgetError].
func (s *Contract) Budget(tokens, limit token.Count) ([]string, error) {
	if tokens < 0 || tokens > limit {
		return nil, &BudgetError{Tokens: tokens, Limit: limit}
	}
	return s.edit(func(d *draft) {
		d.bindNumber(tokenBudget, int(limit))
		d.bindNumber(windowTokens, int(tokens))
	})
}

// Summarize records the summary in the window and the number of blocks at the beginning of the
// session that it covers. An empty id means no summary. If nothing changed, it returns no
// statement.
func (s *Contract) Summarize(id string, blocks int) ([]string, error) {
	if id == "" {
		blocks = 0
	}
	if was, covers := s.Summary(); was == id && covers == int64(blocks) {
		return nil, nil
	}
	return s.edit(func(d *draft) {
		if id == "" {
			d.bind(summaryName, noSummary)
		} else {
			d.text(summaryName, id)
		}
		d.bindNumber(summaryBlocks, blocks)
	})
}

// Gate moves the id of a context or a memory to one of the three lists of the gate. For any other
// list, the error is a [*TextError].
func (s *Contract) Gate(id string, to List) ([]string, error) {
	return s.edit(func(d *draft) {
		lists := []List{GateCommitted, GateHeld, GateRejected}
		if !slices.Contains(lists, to) {
			d.fail(&TextError{What: "list", Text: string(to), Reason: "is not a list of the gate"})
		}
		for _, l := range lists {
			switch {
			case l == to:
				d.add(l, "id", id)
			case d.has(l, id):
				d.remove(l, id)
			}
		}
	})
}

// Close closes the contract. No later statement may change anything.
func (s *Contract) Close() ([]string, error) {
	return s.edit(func(d *draft) { d.bind(contractState, stateClosed) })
}
