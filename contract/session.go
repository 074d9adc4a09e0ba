package contract

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Source is a named text that a session remembers: a source or a claim.
type Source struct {
	Name  string // the contract's name of it, see [Contract.AddSource]
	Text  string
	Claim bool // a claim, not a source
}

// A session is the part of a contract that is not about blocks.
type session struct {
	lists   [len(lists)]*texts   // nil for a list that is not declared
	values  [len(scalars)]string // "" for a name that is not bound
	sources []Source             // in the order of their names' first use
	places  map[string]int       // index of each source by its name
	closed  bool
	changes []change // of the lists, since the last edit began
}

func (s *session) clone() session {
	c := *s
	for i := range c.lists {
		c.lists[i] = c.lists[i].clone()
	}
	c.sources, c.places, c.changes = slices.Clone(s.sources), maps.Clone(s.places), nil
	return c
}

// list returns the items of a list, or nil if it is not declared.
func (s *session) list(l List) *texts { return s.lists[l.index()] }

// value returns the value of a name, or "".
func (s *session) value(name string) string { return s.values[scalarIndex(name)] }

// number returns the value of a numeric name, or 0.
func (s *session) number(name string) int64 {
	n, _ := strconv.ParseInt(s.value(name), 10, 64) // a bound value was checked
	return n
}

// Texts returns the items of a list, in order. It returns nil for a list that never had an item,
// and an empty slice, not nil, for a list from which all items were removed.
func (s *Contract) Texts(l List) []string {
	if i := l.index(); i >= 0 {
		return s.session.lists[i].all()
	}
	return nil
}

// ResumeState returns the point at which to resume the session, or "".
func (s *Contract) ResumeState() string { return s.session.value(resumeState) }

// SourceState returns how much of the sources was read, or "" if it is not
// recorded.
func (s *Contract) SourceState() SourceState { return SourceState(s.session.value(sourceState)) }

// ClaimBasis returns the basis of the claims, or "" if it is not recorded.
func (s *Contract) ClaimBasis() ClaimBasis { return ClaimBasis(s.session.value(claimBasis)) }

// WindowTokens returns the tokens of the window after the last pass, and
// their limit.
func (s *Contract) WindowTokens() (tokens, limit int64) {
	return s.session.number(windowTokens), s.session.number(tokenBudget)
}

// Summary returns the id of the summary in the window, and the number of blocks at the
// beginning of the session that it covers. Both are zero if there is no summary.
func (s *Contract) Summary() (id string, blocks int64) {
	if id = s.session.value(summaryName); id == noSummary || id == "" {
		return "", 0
	}
	return id, s.session.number(summaryBlocks)
}

// Sources returns the sources and claims, in order.
func (s *Contract) Sources() []Source { return slices.Clone(s.session.sources) }

// source returns a source or claim by its name.
func (s *Contract) source(name string) (Source, bool) {
	i, ok := s.session.places[name]
	if !ok {
		return Source{}, false
	}
	return s.session.sources[i], true
}

// Initialized reports whether the contract has the statements of [Contract.Init].
func (s *Contract) Initialized() bool { return s.session.value(contractState) != "" }

// guarded reports whether the contract has the statements of [Contract.Guard].
func (s *Contract) guarded() bool { return s.session.value(blockCount) != "" }

// Closed reports whether the contract is closed, so that no further statement may change
// anything.
func (s *Contract) Closed() bool { return s.session.closed }

// applySession replays a statement that is not about blocks and is not the marker that
// ends a pass.
func (s *Contract) applySession(st *statement) *SyntaxError {
	switch st.verb {
	case verbDeclare:
		return s.declareList(st)
	case verbAdd, verbRemove:
		return s.changeList(st)
	case verbBind:
		return s.bind(st)
	default: // verbSource
		s.remember(Source{Name: st.name, Text: st.text, Claim: st.claim})
		return nil
	}
}

func (s *Contract) declareList(st *statement) *SyntaxError {
	i := List(st.name).index()
	if s.session.lists[i] != nil {
		return fault(st.column, "add to the list instead: add \"TEXT\" to "+st.name, "%s is declared already, and a second declaration would empty it", st.name)
	}
	t := newTexts()
	for _, text := range st.items {
		t.add(text)
	}
	s.session.lists[i] = t
	return nil
}

func (s *Contract) changeList(st *statement) *SyntaxError {
	t, at := s.session.list(List(st.name)), -1
	switch {
	case t == nil:
		return fault(st.column, "declare it: remember a list called "+st.name, "no line before declares %s", st.name)
	case st.verb == verbAdd:
		t.add(st.text)
	default:
		if at = t.remove(st.text); at < 0 {
			return fault(st.column, "", "%q is not in %s", st.text, st.name)
		}
	}
	s.session.changes = append(s.session.changes, change{t, st.text, at})
	return nil
}

func (s *Contract) bind(st *statement) *SyntaxError {
	if len(st.items) == 1 { // the count of a list
		t := s.session.list(List(st.items[0]))
		if t == nil {
			return fault(st.column, "", "%s is counted before it is declared", st.items[0])
		}
		st.text = strconv.Itoa(t.count)
	}
	i := scalarIndex(st.name)
	if reason := scalars[i].refuses(st.text); reason != "" {
		return fault(st.column, "", "%s cannot be %q: it %s", st.name, st.text, reason)
	}
	s.session.values[i] = st.text
	s.session.closed = s.session.value(contractState) == stateClosed
	return nil
}

// refuses returns why a scalar cannot have a value, or "".
func (s *scalar) refuses(value string) string {
	switch {
	case s.number:
		if n, err := strconv.ParseInt(value, 10, 64); err != nil || n < 0 || strconv.FormatInt(n, 10) != value {
			return "is a whole number that is not negative"
		}
	case s.among != nil && !slices.Contains(s.among, value):
		return "is one of " + oneOf(s.among)
	}
	return ""
}

// oneOf joins words for a sentence: "a, b and c".
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

func (s *Contract) remember(source Source) {
	if i, ok := s.session.places[source.Name]; ok {
		s.session.sources[i] = source
		return
	}
	if s.session.places == nil {
		s.session.places = make(map[string]int)
	}
	s.session.places[source.Name] = len(s.session.sources)
	s.session.sources = append(s.session.sources, source)
}
