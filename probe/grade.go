package probe

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/ratio"
)

// Evidence has the texts that Grade searches for answers.
type Evidence struct {
	Window []string // texts of the window, for example one for each block
	Recall []string // texts that one recall returns
}

// A Location says where the answer to a probe was found. It is stored as its
// text.
type Location string

// The locations.
const (
	Window Location = "window" // the probe passed
	Recall Location = "recall" // the probe failed, but one recall answers it
	Lost   Location = "lost"
)

// A Result is the grade of one probe.
type Result struct {
	Probe   Probe    `json:"probe"`
	Place   Location `json:"place"`
	Found   []string `json:"found"`             // keywords in the best passage
	Missing []string `json:"missing"`           // keywords that are not in it
	Passage string   `json:"passage,omitempty"` // best passage, at most 800 bytes
}

// A Tally counts probes.
type Tally struct {
	Total  int `json:"total"`
	Passed int `json:"passed"` // answered by the window
	Recall int `json:"recall"` // not answered by the window, but by one recall
}

// score returns the share of the probes that passed.
func (t Tally) score() ratio.Ratio { return ratio.Of(t.Passed, t.Total) }

// Lost returns the number of probes without an answer.
func (t Tally) Lost() int { return t.Total - t.Passed - t.Recall }

func (t *Tally) count(p Location) {
	t.Total++
	switch p {
	case Window:
		t.Passed++
	case Recall:
		t.Recall++
	case Lost:
	}
}

// A TypeTally counts the probes of one type.
type TypeTally struct {
	Type Type `json:"type"`
	Tally
}

// A Report is the grade of a window, or of a model's answers.
type Report struct {
	Tally
	Score    ratio.Ratio `json:"score"` // Passed divided by Total; 0 without probes
	Critical Tally       `json:"critical"`
	Ordinary Tally       `json:"ordinary"`
	Types    []TypeTally `json:"types"`   // types with probes, in the order of Types
	Results  []Result    `json:"results"` // in the order of the probes
}

// Failed returns the results of the probes that did not pass, critical ones
// first.
func (r *Report) Failed() []Result {
	var failed []Result
	for _, critical := range [...]bool{true, false} {
		for _, res := range r.Results {
			if res.Place != Window && res.Probe.Critical == critical {
				failed = append(failed, res)
			}
		}
	}
	return failed
}

// Grade searches texts for the answers of probes. A nil ev has no texts. It reads each text
// once. Additional texts never make a probe fail that passed.
func Grade(probes []Probe, ev *Evidence) *Report {
	if ev == nil {
		ev = &Evidence{}
	}
	m := newMatcher(probes)
	window, recall := m.read(ev.Window), m.read(ev.Recall)
	results := make([]Result, len(probes))
	for i := range probes {
		best, in, place := window.find(i), window, Window
		if !best.ok {
			place = Lost
			if other := recall.find(i); other.ok {
				best, in, place = other, recall, Recall
			}
		}
		results[i] = probes[i].result(place, best.found, in.quote(best.span))
	}
	return report(results)
}

// result returns the grade of a probe, given which of its keywords were found.
func (p *Probe) result(place Location, found []bool, passage string) Result {
	r := Result{Probe: *p, Place: place, Found: []string{}, Missing: []string{}, Passage: passage}
	for k, keyword := range p.Expected {
		if found[k] {
			r.Found = append(r.Found, keyword)
		} else {
			r.Missing = append(r.Missing, keyword)
		}
	}
	return r
}

func report(results []Result) *Report {
	r := &Report{Types: []TypeTally{}, Results: results}
	types := make(map[Type]*Tally)
	for _, res := range results {
		t := types[res.Probe.Type]
		if t == nil {
			t = &Tally{}
			types[res.Probe.Type] = t
		}
		t.count(res.Place)
		r.count(res.Place)
		if res.Probe.Critical {
			r.Critical.count(res.Place)
		} else {
			r.Ordinary.count(res.Place)
		}
	}
	for _, t := range Types() {
		if tally := types[t]; tally != nil {
			r.Types = append(r.Types, TypeTally{t, *tally})
		}
	}
	r.Score = r.score()
	return r
}

// GradeAnswers grades a model's answers, which are given by the ids of the probes. It ignores
// words that an answer repeats from the question. An answer that admits not to know, or says that
// the text does not have it, fails. The only locations are [Window] and [Lost].
func GradeAnswers(probes []Probe, answers map[string]string) *Report {
	results := make([]Result, len(probes))
	for i, p := range probes {
		m := newMatcher(probes[i : i+1])
		answer := answers[p.ID]
		read := m.read([]string{cut(answer, words(p.Question))})
		best, place := read.find(0), Lost
		switch {
		case ignorant(answer):
			best = match{found: make([]bool, len(p.Expected))}
		case best.ok:
			place = Window
		}
		results[i] = p.result(place, best.found, read.quote(best.span))
	}
	return report(results)
}

// cut returns text without the places that repeat all words of question one after the other.
func cut(text string, question []string) string {
	if len(question) == 0 {
		return text
	}
	var found []string
	var at []span
	s := scanner{word: func(form []byte, start, end int) {
		found = append(found, string(form))
		at = append(at, span{start, end})
	}}
	s.scan(text, 0)
	var b strings.Builder
	from := 0
	for i := 0; i+len(question) <= len(found); i++ {
		if !slices.Equal(found[i:i+len(question)], question) {
			continue
		}
		b.WriteString(text[from:max(from, at[i].start)])
		b.WriteByte('\n')
		i += len(question) - 1
		from = at[i].end
	}
	return b.String() + text[from:]
}

// ignorant reports whether an answer admits not to know.
func ignorant(answer string) bool {
	n := normal(answer)
	return slices.Contains(shrugs.Get(), n) || slices.ContainsFunc(unknowing.Get(), func(phrase string) bool { return contains(n, phrase) }) ||
		slices.ContainsFunc(silent.Get(), func(phrase string) bool { return lacks(n, phrase) })
}

// lacks reports whether an answer says of the text that it was given that it is silent, with one of
// the phrases in silent. Both arguments are in normal form. Such a phrase about another thing, as in
// "the build does not include tests", is content.
func lacks(answer, phrase string) bool {
	before, _, ok := strings.Cut(" "+answer+" ", " "+phrase+" ")
	before = strings.TrimSpace(before)
	return ok && (before == "" || before == "it" || sources.Get()[before[strings.LastIndexByte(before, ' ')+1:]])
}

// sources are words for the text that an answer is from.
var sources = lazy.Words("context conversation text record records summary transcript passage excerpt information above provided")

// silent are phrases that say that a text has no answer.
var silent = normals("does not mention|doesn't mention|does not say|doesn't say|does not state|doesn't state|" +
	"does not specify|doesn't specify|does not contain|doesn't contain|does not include|doesn't include")

// shrugs are whole answers without content.
var shrugs = normals("unknown|n/a|none|nothing|not sure|no idea|unclear|unsure|no answer|not available")

// unknowing are phrases in answers without content.
var unknowing = normals(
	"I do not know|I don't know|do not know the answer|I am not sure|I'm not sure|I am unable|I'm unable|" +
		"unable to determine|unable to answer|cannot determine|can't determine|cannot be determined|cannot answer|" +
		"can't answer|I cannot tell|I can't tell|cannot tell from|can't tell from|no information|not enough information|insufficient information|" +
		"is not mentioned|not mentioned in|I have no record|I have no idea|I have no way|I have no answer|I have no memory|" +
		"I have no knowledge|I have no access|I have no data|I have no details|I have no context|not in the context")

// normals returns the normal forms of texts that are given as one string, with bars between
// them. They are computed on first use.
func normals(texts string) *lazy.Reading[[]string] {
	return &lazy.Reading[[]string]{Text: texts, Read: readNormals}
}

func readNormals(texts string) (list []string) {
	for s := range strings.SplitSeq(texts, "|") {
		list = append(list, normal(s))
	}
	return list
}
