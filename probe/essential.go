package probe

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// essentialKeywords is the most keywords of an answer.
const essentialKeywords = 12

// Essentials returns the probes that every summary must answer, in any
// wording: the first task, users' corrections, orders and decisions, changed
// files, decisions, failures, open questions and next steps. [Generate] also
// asks for details, such as commands, durations and edited identifiers, which
// only a window with verbatim text has. o.Originals is ignored.
//
// The keywords are all informative words of an answer, not only the rarest,
// and an answer needs one to three of them: Probe.Need, for [GradeAuthored].
func Essentials(found []facts.Fact, o *Options) []Probe {
	var list []candidate
	seen := make(map[string]bool)
	for _, d := range essentials(found, o) {
		p := d.Probe
		if p.Expected = d.exact; p.Expected == nil {
			p.Expected = informativeWords(clock(d.answer))
		}
		p.Need = few(len(p.Expected))
		if p.About == "correction" && len(p.Expected) < 3 {
			p.Critical = false // too short to recognize in other words
		}
		if p.Type == typeError { // a code or a name identifies the error
			p.Expected = slices.DeleteFunc(p.Expected, func(w string) bool { return strings.Trim(w, "0123456789.") == "" })
			p.Need = min(1, len(p.Expected))
		}
		if len(p.Expected) == 0 {
			continue
		}
		q, _ := d.question(&p, nil)
		key := string(p.Type) + "\x00" + normal(strings.Join(p.Expected, " "))
		if q == "" || seen[key] {
			continue
		}
		seen[key] = true
		p.Question = q
		list = append(list, candidate{Probe: p, at: d.at})
	}
	return named(choose(list, o))
}

// few returns how many of n keywords an answer in other words must have: one if n is below 4,
// two if n is from 4 to 7, and three if n is 8 or more.
func few(n int) int {
	switch {
	case n < 4:
		return min(n, 1)
	case n < 8:
		return 2
	}
	return 3
}

// essentials returns drafts of questions about facts, without those that a summary need not
// answer. It joins short orders of one message into one question, because alone they are hard
// to recognize.
func essentials(found []facts.Fact, o *Options) []draft {
	var list []draft
	task := false
	for _, d := range drafts(found, o) {
		f := &found[d.at]
		switch d.About {
		case "task":
			if task {
				continue // the later files and decisions cover later tasks
			}
			task = true
		case "correction":
			d.Critical = !question(f.Text)
			if n := len(list); n > 0 && list[n-1].About == "correction" && list[n-1].Source == d.Source &&
				(len(informativeWords(list[n-1].answer)) < 3 || len(informativeWords(d.answer)) < 3) {
				list[n-1].answer += " " + d.answer
				continue
			}
		case "decision":
			if d.Critical {
				d.answer = decided(f.Text)
			}
			d.Critical = d.Critical && len(informativeWords(f.Text)) > 1
		case "plan":
			if replaced(found, d.at) {
				continue
			}
		case "path", "error", "todo":
			if d.Type == typeResolution || d.Type == typeProgress || d.About == "error" && slip.Get().MatchString(f.Text) {
				continue
			}
		case "question":
			if d.Type != typeBlocker {
				continue
			}
			d.Critical = true
		default:
			continue
		}
		list = append(list, d)
	}
	return list
}

// replaced reports whether the plan at index at is out of date: a person asked for something
// after it, or a later message announced other steps.
func replaced(found []facts.Fact, at int) bool {
	return slices.ContainsFunc(found[at+1:], func(f facts.Fact) bool {
		return f.Kind == facts.FactTask || f.Kind == facts.FactPlan && f.Role != transcript.RoleUser && f.Block != found[at].Block
	})
}

// decided returns the first informative sentence of a person's decision. The text behind it,
// such as a name that was asked for, is no decision.
func decided(said string) string {
	first, rest := text.FirstSentence(said)
	for rest != "" && len(informativeWords(first)) <= 1 {
		first, rest = text.FirstSentence(rest)
	}
	if rest == "" {
		return said
	}
	return first
}

// slip matches errors of an editing tool about missing or changed text. The next call usually
// repairs them.
var slip = lazy.Regexp(`(?i)\bstring to replace\b|\bold_(?:string|str)\b|\bfile has (?:not been read|been modified since)\b`)

func question(text string) bool { return strings.HasSuffix(strings.TrimSpace(text), "?") }

// informativeWords returns the words of a text that carry information, each once, as they are
// written.
func informativeWords(said string) []string {
	part := clip(said)
	var list []string
	seen := make(map[string]bool)
	s := scanner{word: func(form []byte, start, end int) {
		w := string(form)
		if len(list) == essentialKeywords || stop.Get()[w] || generic.Get()[w] || text.IsUnit(w) || inQuestions.Get()[w] || idle.Get()[w] || len(w) < 2 && !isDigit(w[0]) || w == "%" || seen[root(w)] {
			return
		}
		seen[root(w)] = true
		list = append(list, trim(part[start:end]))
	}}
	s.scan(part, 0)
	return list
}

// idle has words of orders and answers that carry no information about the subject.
var idle = setOf(`actually good great fine nice right agreed wait hello hi thing stuff everything anything nothing someone sure sorry yeah
	leave want wants please thank thanks understand understood don doesn isn`)

// root returns the stem of a word, or the digits of a number written as a word.
func root(w string) string { return cmp.Or(numerals[w], text.Stem(w)) }

// numerals are numbers written as words.
var numerals = map[string]string{
	"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10",
	"eleven": "11", "twelve": "12",
}

// sameRoot reports whether two roots may belong to the same word: they are equal, or one is the
// other without its beginning.
func sameRoot(a, b string) bool {
	if a == b {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return len(a) >= 5 && len(b)-len(a) <= 4 && strings.HasPrefix(b, a)
}

// GradeAuthored grades a summary that a person or a model wrote in words of
// their own. intent is its statement of the task; entries are all its
// entries, including intent. A probe passes if one entry has Probe.Need of
// its keywords, in any inflection; the first task must be in intent
// if intent is not empty. A path counts as found by its file name alone.
func GradeAuthored(probes []Probe, intent string, entries []string) *Report {
	said := make([]roots, len(entries))
	for i, e := range entries {
		said[i] = rootsOf(e)
	}
	wanted := []roots{rootsOf(intent)}
	results := make([]Result, len(probes))
	for i := range probes {
		p := &probes[i]
		in, texts := said, entries
		if p.Type == typeIntent && p.About == "task" && len(wanted[0].all) > 0 {
			in, texts = wanted, []string{intent}
		}
		best, at, most := make([]bool, len(p.Expected)), -1, 0
		for k := range in {
			found, n := in[k].find(p)
			if n > most {
				best, at, most = found, k, n
			}
		}
		place, passage := Lost, ""
		if need := p.need(); need > 0 && most >= need {
			place = Window
		}
		if at >= 0 {
			passage = clip(text.Fold(texts[at]))
		}
		results[i] = p.result(place, best, passage)
	}
	return report(results)
}

var twelveHours = lazy.Regexp(`(?i)\b(1[0-2]|[1-9])(?::([0-5]\d))? ?([ap])\.?m\b\.?`)

// clock rewrites times of day from the 12-hour to the 24-hour form: 4 pm becomes 16:00.
func clock(text string) string {
	return twelveHours.Get().ReplaceAllStringFunc(text, func(s string) string {
		m := twelveHours.Get().FindStringSubmatch(s)
		h, _ := strconv.Atoi(m[1])
		h %= 12
		if m[3] == "p" || m[3] == "P" {
			h += 12
		}
		return strconv.Itoa(h) + ":" + cmp.Or(m[2], "00")
	})
}

// roots has the roots of the words of an entry.
type roots struct {
	all   map[string]bool
	list  []string
	whole string   // the entry in normal form
	parts []string // the normal forms of its parts between blanks
}

func rootsOf(text string) roots {
	all := words(clock(text))
	r := roots{all: make(map[string]bool), whole: strings.Join(all, " "), parts: strings.Fields(text)}
	for i, part := range r.parts {
		r.parts[i] = normal(part)
	}
	for _, w := range all {
		if w = root(w); !r.all[w] {
			r.all[w] = true
			r.list = append(r.list, w)
		}
	}
	return r
}

// find returns which keywords of a probe an entry has, and their number.
func (r *roots) find(p *Probe) (found []bool, n int) {
	found = make([]bool, len(p.Expected))
	for i, keyword := range p.Expected {
		has := false
		if p.Type == typeFilePath {
			_, name := cutLast(strings.TrimRight(keyword, "/"))
			has = r.hasName(name)
		} else {
			has = r.hasWords(words(keyword))
		}
		if found[i] = has; has && !repeats(p.Expected[:i], keyword) {
			n++
		}
	}
	return found, n
}

// repeats reports whether a list has a keyword in the same form.
func repeats(list []string, keyword string) bool {
	return slices.ContainsFunc(list, func(other string) bool { return normal(other) == normal(keyword) })
}

// hasWords reports whether an entry has all the given words, in any inflection.
func (r *roots) hasWords(parts []string) bool {
	return len(parts) > 0 && !slices.ContainsFunc(parts, func(w string) bool {
		w = root(w)
		return !r.all[w] && !slices.ContainsFunc(r.list, func(o string) bool { return sameRoot(w, o) })
	})
}

// hasName reports whether an entry has a file name as it is: not in other inflections, and its
// parts not apart.
func (r *roots) hasName(name string) bool {
	form := normal(name)
	if strings.ContainsFunc(name, unicode.IsSpace) {
		return contains(r.whole, form)
	}
	return slices.ContainsFunc(r.parts, func(part string) bool { return contains(part, form) })
}
