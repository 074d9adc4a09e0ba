package handoff

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// A recorder checks a packet against the evidence of the session.
type recorder struct {
	*checker
	e *Evidence
}

// strength returns the rank of a state, from 0 for Verified, the strongest, to 3.
func strength(s Scrutiny) int {
	switch s {
	case Verified:
		return 0
	case Scanned:
		return 1
	case Referenced:
		return 2
	case Unavailable:
	}
	return 3
}

// known returns the strongest recorded state of each source, by the source's key.
func (r *recorder) known() map[string]Scrutiny {
	known := make(map[string]Scrutiny, len(r.e.Sources))
	for _, s := range r.e.Sources {
		k := key(s.Source)
		if was, ok := known[k]; !ok || strength(s.State) < strength(was) {
			known[k] = s.State
		}
	}
	return known
}

func (r *recorder) read() {
	known := r.known()
	for _, s := range r.p.Sources {
		was, ok := known[key(s.Source)]
		switch {
		case !ok && strength(s.State) < strength(Referenced):
			r.fail(RuleRead, sectionSources, s.Source, "has the state "+string(s.State)+", but the record does not say that it was read; lower the state")
		case ok && strength(s.State) < strength(was):
			r.fail(RuleRead, sectionSources, s.Source, "has the state "+string(s.State)+", but "+string(was)+" in the record; lower the state")
		}
	}
}

func (r *recorder) decided() {
	bases := make(map[string]set)
	for _, d := range r.e.Decisions {
		k := key(d.Text)
		if bases[k] == nil {
			bases[k] = make(set)
		}
		bases[k].add(d.Basis)
	}
	inferred := setOf(r.e.Inferred, ofText)
	for _, d := range r.p.Decisions {
		switch on, ok := bases[key(d.Text)]; {
		case inferred.has(d.Text):
			r.fail(RuleDecided, sectionDecisions, d.Text, "is only inferred in the record; move it to section 5")
		case !ok:
			r.fail(RuleDecided, sectionDecisions, d.Text, "is not recorded as a decision; move it to section 5 or remove it")
		case !on.has(d.Basis):
			r.fail(RuleDecided, sectionDecisions, d.Text, "has a basis that is not recorded; name the recorded one")
		}
	}
}

func (r *recorder) done() {
	done, open := setOf(r.e.Done, ofText), setOf(r.e.Questions, ofText)
	remaining := setOf(r.e.Remaining, ofText)
	for _, d := range r.p.Done {
		switch {
		case isUnknown(d):
		case open.has(d):
			r.fail(RuleDone, sectionDone, d, "is an open question in the record; move it to section 7")
		case remaining.has(d):
			r.fail(RuleDone, sectionDone, d, "remains to be done by the record; move it to section 11")
		case !done.has(d):
			r.fail(RuleDone, sectionDone, d, "is not recorded as done; remove it")
		}
	}
	r.missing(RuleDone, sectionRemaining, r.e.Remaining, "remains to be done, but is missing here; add it", r.remaining)
	listed := setOf(r.p.Done, ofText)
	for _, d := range r.e.Done {
		if key(d) != "" && !listed.has(d) {
			r.warn(RuleDone, sectionDone, d, "was done, but is missing here")
		}
	}
	r.artifacts()
}

// missing adds an error for each of the recorded texts that is in none of the sets.
func (r *recorder) missing(rule HonestyRule, s Section, texts []string, why string, in ...set) {
	seen := make(set)
	for _, t := range texts {
		found := !seen.add(t)
		for _, set := range in {
			found = found || set.has(t)
		}
		if !found {
			r.fail(rule, s, t, why)
		}
	}
}

func (r *recorder) artifacts() {
	status := make(map[string]Status)
	for _, a := range r.e.Artifacts {
		status[artifactKey(a)] = a.Status
	}
	for _, a := range r.p.Artifacts {
		switch was, ok := status[artifactKey(a)]; {
		case !ok:
			r.fail(RuleDone, sectionArtifacts, a.Artifact, "is not recorded as produced; remove it")
		case was != a.Status:
			r.fail(RuleDone, sectionArtifacts, a.Artifact, "has the status "+string(a.Status)+", but "+string(was)+" in the record; correct it")
		}
	}
	if r.p.Artifacts == nil {
		return // a packet of fourteen sections claims nothing about files
	}
	listed := map[string]bool{"": true}
	for _, a := range r.p.Artifacts {
		listed[artifactKey(a)] = true
	}
	for _, a := range r.e.Artifacts {
		if !listed[artifactKey(a)] {
			listed[artifactKey(a)] = true
			r.fail(ruleState, sectionArtifacts, a.Artifact, "was produced, but is missing here; add it")
		}
	}
}

// leastReasoning is the length of the shortest reasoning that the check searches
// for, in bytes. A shorter text may occur in a packet by chance.
const leastReasoning = 24

func (r *recorder) reasoning() {
	var hidden []string
	for _, text := range r.e.Reasoning {
		if k := key(text); len(k) >= leastReasoning {
			hidden = append(hidden, k)
		}
	}
	said := lazy.Value[[]string]{Make: func() []string { return texts(r.e.said, key) }}
	isSaid := func(k string) bool {
		return slices.ContainsFunc(said.Get(), func(text string) bool { return strings.Contains(text, k) })
	}
	for at := range r.p.places() {
		text := key(*at.text)
		if slices.ContainsFunc(hidden, func(k string) bool { return strings.Contains(text, k) && !isSaid(k) }) {
			r.fail(ruleReasoning, at.section, *at.text, "has hidden reasoning of a model that was recorded; remove that part")
		}
	}
}

func (r *recorder) access() {
	for _, u := range r.e.Unavailable {
		if key(u) != "" && !r.hasBoundary(u) {
			r.fail(ruleAccess, sectionBoundaries, u, "cannot be reached, but no boundary names it; add one")
		}
	}
}

func (r *recorder) corrected() {
	r.missing(RuleCorrections, sectionCorrections, r.e.Corrections, "is missing here; add it in the words of the user", r.corrections)
	known := setOf(r.e.Corrections, ofText)
	for _, x := range r.p.Corrections {
		if !known.has(x.Correction) {
			r.fail(RuleCorrections, sectionCorrections, x.Correction, "is not recorded in these words; use the words of the user")
		}
	}
}

func (r *recorder) states() {
	r.missing(ruleState, sectionSources, texts(r.e.Sources, ofSource), "is in the record, but is missing here; add it", setOf(r.p.Sources, ofSource))
	known := r.known()
	for _, s := range r.p.Sources {
		if was, ok := known[key(s.Source)]; ok && strength(s.State) > strength(was) {
			r.warn(ruleState, sectionSources, s.Source, "has the state "+string(s.State)+", but the stronger "+string(was)+" in the record")
		}
	}
	r.missing(ruleState, sectionInferred, r.e.Inferred, "is inferred in the record, but is missing here; add it", r.inferred)
	inferred := setOf(r.e.Inferred, ofText)
	for _, s := range r.p.Sources {
		if s.State == Verified && inferred.has(s.What) && !r.inferred.has(s.What) {
			r.fail(ruleState, sectionSources, s.What, "is only inferred in the record; move it to section 5")
		}
	}
	r.missing(ruleState, sectionDecisions, texts(r.e.Decisions, ofDecision), "was decided, but is missing here; add it",
		setOf(r.p.Decisions, ofDecision), r.inferred)
	kept := r.boundaries + strings.Join(texts(r.p.Context, func(c Context) string { return plain(c.Context) }), "\n")
	for _, id := range r.e.Out {
		if key(id) != "" && !names(kept, key(id)) {
			r.fail(ruleState, sectionContext, id, "is out of the window, but neither section 9 nor section 12 names it; add it to section 9")
		}
	}
}

func (r *recorder) doubt() {
	r.missing(ruleDoubt, sectionQuestions, r.e.Questions, "is open in the record, but is missing here; add it", r.questions)
}

// texts returns the texts of entries.
func texts[T any](entries []T, text func(T) string) []string {
	list := make([]string, len(entries))
	for i, e := range entries {
		list[i] = text(e)
	}
	return list
}
