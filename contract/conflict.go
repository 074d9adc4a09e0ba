package contract

import (
	"slices"
	"strings"
	"unicode"
)

// A Resolution says how to resolve a contradiction between a new decision and earlier ones.
type Resolution string

// The resolutions.
const (
	Refuse   Resolution = ""         // fail with an error
	Override Resolution = "override" // replace the contradicted decision, and record that
	Defer    Resolution = "defer"    // add the new decision as an open question
	Comply   Resolution = "comply"   // drop the new decision
)

// A Conflict is a decision that a new one contradicts.
type Conflict struct {
	Decision string
	List     List   // [InheritedDecisions] or [TrackedDecisions]
	Stem     string // common subject, such as "database"
	Value    string // value of the stem in Decision, such as "sqlite"
}

// prefixes are the verbs that decisions begin with.
var prefixes = [...]string{"use-", "pin-", "set-", "choose-", "prefer-", "select-"}

// stemOf splits a decision into a stem, its subject, and a value: "pin-version-0.10" has the
// stem "version" and the value "0.10". It reports false for a decision that cannot be split. A
// decision that can is a name without spaces that begins with one of the six verbs, "use-",
// "pin-", "set-", "choose-", "prefer-" or "select-", which belong to neither part. The value is
// the text behind
//
//   - the first "=" or ":", if there is one: set-log-level=debug;
//   - otherwise the hyphen before the first part that begins with a digit, or with
//     "v" and a digit, as versions may have hyphens: pin-python-3.12-slim;
//   - otherwise the last hyphen: use-database-sqlite.
//
// A decision without such a place, such as "use-sqlite", contradicts nothing. Case does not
// matter.
func stemOf(decision string) (stem, value string, ok bool) {
	name := strings.ToLower(strings.TrimSpace(decision))
	if strings.ContainsFunc(name, unicode.IsSpace) {
		return "", "", false
	}
	for _, p := range prefixes {
		if rest, found := strings.CutPrefix(name, p); found {
			return cutValue(rest)
		}
	}
	return "", "", false
}

// cutValue splits a decision without its verb into stem and value.
func cutValue(name string) (stem, value string, ok bool) {
	at := strings.IndexAny(name, "=:")
	for i := 1; at < 0 && i < len(name); i++ {
		if name[i-1] == '-' && startsVersion(name[i:]) {
			at = i - 1
		}
	}
	if at < 0 {
		at = strings.LastIndexByte(name, '-')
	}
	if at <= 0 || at == len(name)-1 {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}

// startsVersion reports whether a text begins with a digit, or "v" and a digit.
func startsVersion(text string) bool {
	text = strings.TrimPrefix(text, "v")
	return text != "" && '0' <= text[0] && text[0] <= '9'
}

// conflicts returns the inherited and tracked decisions with the stem of decision and another
// value, see [stemOf].
func (s *Contract) conflicts(decision string) []Conflict {
	stem, value, ok := stemOf(decision)
	if !ok {
		return nil
	}
	var conflicts []Conflict
	for _, l := range [...]List{InheritedDecisions, TrackedDecisions} {
		for _, old := range s.session.list(l).decisions(stem) {
			if _, oldValue, _ := stemOf(old); oldValue != value {
				conflicts = append(conflicts, Conflict{Decision: old, List: l, Stem: stem, Value: oldValue})
			}
		}
	}
	return conflicts
}

// AddDecision tracks a decision. If it contradicts inherited or tracked ones, r decides the
// outcome; for [Refuse] the error is a [*ConflictError]. A decision that is already tracked adds
// no statement.
//
// Only decisions without spaces that begin with "use-", "pin-", "set-", "choose-", "prefer-" or
// "select-" can contradict each other. The rest is a stem and a value: "use-database-sqlite" has
// the value behind the last hyphen, "pin-python-3.12-slim" that from the version on, and
// "set-log-level=debug" that behind = or a colon. Equal stems with different values contradict
// each other, so use-cache-redis and use-cache-ttl do, too.
func (s *Contract) AddDecision(decision string, r Resolution) ([]string, error) {
	return s.edit(func(d *draft) { d.decide(decision, r) })
}

func (d *draft) decide(decision string, r Resolution) {
	d.check("decision", decision)
	if !slices.Contains([]Resolution{Refuse, Override, Defer, Comply}, r) {
		d.fail(&TextError{What: "resolution", Text: string(r), Reason: "is not override, defer or comply"})
	}
	if d.has(TrackedDecisions, decision) || d.has(InheritedDecisions, decision) {
		return
	}
	if conflicts := d.state.conflicts(decision); len(conflicts) > 0 {
		switch r {
		case Refuse:
			d.fail(&ConflictError{Decision: decision, Conflicts: conflicts})
			return
		case Defer:
			d.question("whether " + decision + " takes the place of " + conflicts[0].Decision)
			return
		case Comply:
			return
		case Override:
			for _, c := range conflicts {
				d.remove(c.List, c.Decision)
				d.add(overriddenDecisions, "decision", c.Decision)
			}
		}
	}
	d.add(TrackedDecisions, "decision", decision)
	if d.err == nil {
		d.bindNumber(decisionCount, d.state.session.list(TrackedDecisions).count)
	}
}
