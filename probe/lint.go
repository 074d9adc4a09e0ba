package probe

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The rules that [Lint] checks.
const (
	ruleLeak      = "leak"      // the question has a keyword of the answer, or a part of its path
	ruleMissing   = "missing"   // a field is empty
	ruleType      = "type"      // unknown type
	ruleNeed      = "need"      // Need is 0 or larger than the number of keywords
	ruleDuplicate = "duplicate" // an id or a keyword occurs twice
	ruleKeyword   = "keyword"   // a keyword is too common
	ruleQuestion  = "question"  // the question has no question mark
)

// A Problem is a defect of a probe. Its Rule is "leak": the question reveals a part of the answer;
// "missing": a field is empty; "type": the type is unknown; "need": Need is not from 1 to the
// number of keywords; "duplicate": an id or a keyword occurs twice; "keyword": a keyword is too
// common; or "question": the question has no question mark or fewer than three words.
type Problem struct {
	Index int    `json:"index"` // of the probe, from 0
	Probe string `json:"probe"` // its id, or empty
	Rule  string `json:"rule"`
	Text  string `json:"text"`
}

// Lint returns the defects of probes, in order.
func Lint(probes []Probe) []Problem {
	problems := []Problem{}
	first := make(map[string]int)
	for i, p := range probes {
		add := func(rule, format string, args ...any) {
			problems = append(problems, Problem{i, p.ID, rule, fmt.Sprintf(format, args...)})
		}
		if p.ID == "" {
			add(ruleMissing, "no id")
		} else if k, ok := first[p.ID]; ok {
			add(ruleDuplicate, "the id is that of probe %d", k)
		} else {
			first[p.ID] = i
		}
		p.lint(add)
	}
	return problems
}

func (p *Probe) lint(add func(rule, format string, args ...any)) {
	switch {
	case p.Type == "":
		add(ruleMissing, "no type")
	case !slices.Contains(Types(), p.Type):
		add(ruleType, "%q is no type of probes", string(p.Type))
	}
	asked := words(p.Question)
	switch {
	case len(asked) == 0:
		add(ruleMissing, "no question")
	case len(asked) < 3 || !asks(p.Question):
		add(ruleQuestion, "%q is no question", p.Question)
	}
	if len(p.Expected) == 0 {
		add(ruleMissing, "no keywords")
	} else if p.Need < 1 || p.Need > len(p.Expected) {
		add(ruleNeed, "it needs %d of %d keywords", p.Need, len(p.Expected))
	}
	seen := make(map[string]bool)
	for i, t := range p.terms() {
		keyword := p.Expected[i]
		if why := weak(t); why != "" {
			add(ruleKeyword, "keyword %q %s", keyword, why)
		}
		if seen[t.key()] {
			add(ruleDuplicate, "keyword %q is there twice", keyword)
		}
		seen[t.key()] = true
		if part := leak(strings.Join(asked, " "), t); part != "" {
			add(ruleLeak, "the question has %q of keyword %q", part, keyword)
		}
	}
}

// asks reports whether a text ends with a question mark.
func asks(text string) bool {
	text = strings.TrimRight(text, " \t\r\n*_`\"'”’)")
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// weak returns why a term would be found in nearly any text, or "" if it would not.
func weak(t term) string {
	switch {
	case len(t.words) == 0:
		return "has no letter and no digit"
	case len(t.words) == 1 && utf8.RuneCountInString(t.words[0]) < 2 && t.words[0][0] < utf8.RuneSelf:
		return "is too short"
	case len(t.words) == 1 && generic.Get()[t.words[0]]:
		return "is too generic"
	}
	for _, w := range t.words {
		if !stop.Get()[w] {
			return ""
		}
	}
	return "has nothing but stop words"
}

// leak returns the part of a term that a question in normal form contains, or "". That is the
// whole term or, for a path, one of its names or its last name without the extension.
func leak(question string, t term) string {
	whole := strings.Join(t.words, " ")
	if contains(question, whole) {
		return whole
	}
	if t.path == "" {
		return ""
	}
	rest, last := cutLast(t.path)
	stem, _, _ := strings.Cut(last, ".")
	for _, part := range [...]string{normal(last), normal(stem)} {
		if len(part) > 1 && contains(question, part) {
			return part
		}
	}
	for rest != "" {
		rest, last = cutLast(rest)
		if part := normal(last); len(part) > 1 && !stop.Get()[part] && !generic.Get()[part] && contains(question, part) {
			return part
		}
	}
	return ""
}
