package probe

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
)

// Options has bounds for probes and the sources of facts. Nil and the zero value have the defaults;
// a negative bound allows no probes.
type Options struct {
	PerType  int // ordinary probes of each type; default 24
	Critical int // critical probes of all types; default 200

	// Ref returns the short id of the block with an index, for Probe.Source.
	// If it is nil, Source is empty.
	Ref func(block int) string

	// Turn returns the turn of the block with an index, from 1, or 0 if it is unknown. If it is
	// nil, every turn is unknown.
	Turn func(block int) int

	// Originals are the texts of the original. If there are any, probes that they do not answer
	// are dropped. That may happen because a fact can be worded differently from its source.
	Originals []string
}

func (o *Options) ref(f *facts.Fact) string {
	if o == nil || o.Ref == nil {
		return ""
	}
	return o.Ref(f.Block)
}

func (o *Options) turn(f *facts.Fact) int {
	if o == nil || o.Turn == nil {
		return 0
	}
	return o.Turn(f.Block)
}

// The number of keywords, and the length of the beginning of an answer that they are taken
// from.
const (
	maxKeywords = 5
	maxNames    = 3
	clipBytes   = 240
	changesEach = 2 // only the latest changes of a file get probes
)

// Generate returns probes for facts, which must be in the order of the
// conversation. Probes are ordered by type as in [Types], then like their
// facts.
//
// Critical are the first task, corrections, the paths of changed files, the
// user's decisions, and blockers that the user stated. If there are more
// probes than Options allow, the selection is spread evenly over the
// conversation and over the subjects. Only plans of the last turn with a plan
// have probes, and none if a task list came later. Of a task, its last state
// has one. A path that changes often has one, and so has each of its two latest
// changes.
//
// The keywords of an answer are its identifiers, then the rarest words of its
// first 240 bytes, at most five. A fact without distinctive keywords, or
// without a question that does not reveal the answer, has no probe.
func Generate(found []facts.Fact, o *Options) []Probe {
	g := &generator{count: make(map[string]int), seen: make(map[string]bool)}
	learned := 0
	for _, d := range drafts(found, o) {
		for ; learned <= d.at; learned++ {
			g.learn(&found[learned])
		}
		g.add(d)
	}
	if o != nil && len(o.Originals) > 0 {
		g.confirm(o.Originals)
	}
	list := choose(g.probes, o)
	list = dropAnswered(list)
	return named(list)
}

// named returns the probes of candidates and gives them ids.
func named(list []candidate) []Probe {
	probes := probesOf(list)
	name(probes)
	return probes
}

func probesOf(list []candidate) []Probe {
	probes := make([]Probe, len(list))
	for i := range list {
		probes[i] = list[i].Probe
	}
	return probes
}

// A draft is the material for a probe.
type draft struct {
	Probe
	at     int // index of the fact
	answer string
	exact  []string // keywords, if they are known
	names  []string
	turn   int
	hint   string   // a text; the question may name a word of it that is not in the answer
	verb   string   // operation on a file
	ask    []string // wordings of the question, best first
}

// drafts returns the drafts for facts.
func drafts(found []facts.Fact, o *Options) []draft {
	d := drafting{o: o, latest: latestOf(found, o), task: "first task"}
	for i := range found {
		d.at, d.fact, d.turn = i, &found[i], o.turn(&found[i])
		d.ask()
		switch d.fact.Kind { //nolint:exhaustive // other kinds have no figures
		case facts.FactCommand, facts.FactProgress, facts.FactReference:
			if keywords, of := figure(d.fact.Text); keywords != nil {
				d.add(typeProgress, "number", "figure", d.fact.Text, cmp.Or(of, d.fact.Subject), false).exact = keywords
			}
		}
	}
	return d.list
}

// A drafting writes the drafts of a list of facts.
type drafting struct {
	o      *Options
	list   []draft
	latest latest
	task   string // name of the next task

	at   int // index of the fact
	fact *facts.Fact
	turn int
}

// add adds a draft about the current fact.
func (d *drafting) add(t Type, about, question, answer, hint string, critical bool) *draft {
	d.list = append(d.list, draft{
		Probe: Probe{Type: t, About: about, Critical: critical, Source: d.o.ref(d.fact)},
		at:    d.at, answer: answer, names: d.fact.Names, turn: d.turn, hint: hint, ask: questions[question],
	})
	return &d.list[len(d.list)-1]
}

// ask adds the drafts for the current fact, by its kind.
func (d *drafting) ask() {
	f, user, resolved := d.fact, d.fact.Role == transcript.RoleUser, d.fact.Status == facts.StatusResolved
	switch f.Kind {
	case facts.FactTask:
		d.add(typeIntent, "task", d.task, f.Text, f.Text, d.task != "task")
		d.task = "task"
	case facts.FactCorrection:
		d.add(typeIntent, "correction", "correction", f.Text, f.Text, true)
	case facts.FactChange:
		d.change()
	case facts.FactCommand:
		question := "command"
		if f.Status == facts.StatusFailed {
			question = "failed"
		}
		d.add(typeProgress, "command", question, f.Subject, "", false)
	case facts.FactDecision:
		question := "decision"
		if user {
			question = "user decision"
		}
		d.add(typeDecision, "decision", question, f.Text, f.Text, user)
		d.add(typeRationale, "reason", "reason", f.Why, f.Text, false)
	case facts.FactError:
		d.add(typeError, "error", "error", f.Text, f.Text, false)
		if resolved {
			d.add(typeResolution, "error", "resolution", f.Why, f.Text, false)
		}
	case facts.FactQuestion:
		if resolved {
			d.add(typeResolution, "question", "answer", f.Why, f.Text, false)
		} else {
			d.add(typeBlocker, "question", "blocker", f.Text, f.Text, user)
		}
	case facts.FactTodo:
		d.todo()
	case facts.FactPlan:
		if d.turn == d.latest.plan {
			d.add(typeNextSteps, "plan", "plan", f.Text, f.Text, false)
		}
	case facts.FactProgress:
		d.add(typeProgress, "progress", "progress", f.Text, f.Text, false)
	case facts.FactReference:
		d.add(typeProgress, "reference", "reference", cmp.Or(f.Subject, f.Text), "", false)
	case facts.FactRead, facts.FactQuote:
	}
}

// change adds the drafts for a change of a file.
func (d *drafting) change() {
	f := d.fact
	if d.latest.first[d.at] {
		question := "file"
		if d.latest.changed[d.turn] > 1 {
			question = "files"
		}
		p := d.add(typeFilePath, "path", question, f.Subject, "", true)
		p.exact, p.verb = []string{f.Subject}, string(f.Status)
	}
	if d.latest.changes[d.at] {
		d.add(typeFileChanges, "change", "change", f.Text, f.Text, false)
	}
}

// todo adds the draft for an entry of a task list.
func (d *drafting) todo() {
	if !d.latest.todo[d.at] {
		return
	}
	of, question := typeNextSteps, "pending"
	switch d.fact.Status { //nolint:exhaustive // all other entries are pending
	case facts.StatusCompleted:
		of, question = typeProgress, "completed"
	case facts.StatusActive:
		question = "in progress"
	}
	d.add(of, "todo", question, d.fact.Subject, d.fact.Subject, false)
}

// latest selects the facts to ask about where later facts replace earlier ones.
type latest struct {
	first   map[int]bool // index of the first change of each path
	changes map[int]bool // indexes of the latest changes of each path
	changed map[int]int  // number of paths first changed, by turn
	todo    map[int]bool
	plan    int // last turn with a plan, or -1
}

func latestOf(found []facts.Fact, o *Options) latest {
	l := latest{first: map[int]bool{}, changes: map[int]bool{}, changed: map[int]int{}, todo: map[int]bool{}}
	paths, changes, todos := make(map[string]bool), make(map[string]int), make(map[string]bool)
	last := 0 // last turn with a task list
	keys := make([]string, len(found))
	for i := range found {
		f := &found[i]
		if f.Kind == facts.FactTodo {
			last = max(last, o.turn(f))
			keys[i] = normal(f.Subject)
		}
		if f.Kind == facts.FactPlan {
			l.plan = max(l.plan, o.turn(f))
		}
		if f.Kind == facts.FactChange {
			keys[i] = compile(f.Subject, true).key()
			if !paths[keys[i]] {
				paths[keys[i]] = true
				l.first[i] = true
				l.changed[o.turn(f)]++
			}
		}
	}
	if last > l.plan {
		l.plan = -1
	}
	for i, f := range slices.Backward(found) {
		if f.Kind == facts.FactChange && f.Text != "" && changes[keys[i]] < changesEach {
			changes[keys[i]]++
			l.changes[i] = true
		}
		if f.Kind == facts.FactTodo && !todos[keys[i]] {
			todos[keys[i]] = true
			l.todo[i] = true
		}
	}
	return l
}

// A candidate is a probe that may be chosen.
type candidate struct {
	Probe
	at    int
	plain string // its question without the subject
}

// A generator makes probes of drafts.
type generator struct {
	count  map[string]int // number of facts so far with each word
	seen   map[string]bool
	probes []candidate
}

func (g *generator) add(d draft) {
	ranked := g.rank(d)
	p := d.Probe
	p.Expected = d.exact
	if p.Expected == nil {
		p.Expected = pick(ranked, clip(d.answer))
	}
	if !g.keep(&p, d) {
		return
	}
	c := candidate{Probe: p, at: d.at}
	if c.Question, c.plain = d.question(&p, g.hint(d)); c.Question == "" {
		return
	}
	parts := []string{string(p.Type)}
	for _, t := range p.terms() {
		parts = append(parts, t.key())
	}
	if key := strings.Join(parts, "\x00"); !g.seen[key] {
		g.seen[key] = true
		g.probes = append(g.probes, c)
	}
}

// confirm drops probes that the originals do not answer.
func (g *generator) confirm(originals []string) {
	r := newMatcher(probesOf(g.probes)).read(originals)
	i := -1
	g.probes = slices.DeleteFunc(g.probes, func(candidate) bool {
		i++
		return !r.answers(i)
	})
}

// learn counts the words of a fact.
func (g *generator) learn(f *facts.Fact) {
	seen := make(map[string]bool)
	for _, text := range [...]string{f.Subject, f.Text, f.Why} {
		for _, r := range runs(clip(text)) {
			if !seen[r.normal] {
				seen[r.normal] = true
				g.count[r.normal]++
			}
		}
	}
}

// keep drops the keywords of p that are not at the beginning of the answer. It reports whether
// the other keywords identify the answer.
func (g *generator) keep(p *Probe, d draft) bool {
	if d.exact == nil {
		m := newMatcher([]Probe{*p})
		best := m.read([]string{clip(d.answer)}).find(0)
		var found []string
		for i, keyword := range p.Expected {
			if best.found[i] {
				found = append(found, keyword)
			}
		}
		p.Expected = found
	}
	strong := len(p.Expected) > 1
	for i, t := range p.terms() {
		if weak(t) != "" {
			return false
		}
		strong = strong || p.Type == typeFilePath || isName(p.Expected[i], t)
	}
	p.Need = needOf(len(p.Expected))
	return strong
}

// isName reports whether a keyword is distinctive by itself: it is a name, not a plain
// word.
func isName(keyword string, t term) bool {
	if len(t.words) > 1 || strings.ContainsAny(keyword, "0123456789_") {
		return true
	}
	return len(keyword) > 3 && strings.ToLower(keyword[1:]) != keyword[1:] && strings.ToUpper(keyword) != keyword
}

// A run is a word of an answer as it is written there.
type run struct {
	text   string
	words  []string // words in the form for comparison
	normal string   // the same words, joined
	at     int
	class  int // 0 for a name, 1 for a word, 2 for a common word
}

// trim removes punctuation of the sentence from a run.
func trim(run string) string {
	return strings.TrimRight(strings.TrimLeft(run, "-+_"), "./-@+~_")
}

// runs returns the runs of a text that can be keywords.
func runs(said string) []run {
	var list []run
	s := scanner{
		run: func(start, end int) { list = append(list, run{text: trim(said[start:end]), at: start}) },
		word: func(form []byte, _, _ int) {
			if !bytes.Equal(form, percent) { // it is a word of the run before it
				last := &list[len(list)-1]
				last.words = append(last.words, string(form))
			}
		},
	}
	s.scan(said, 0)
	list = slices.DeleteFunc(list, func(r run) bool {
		if len(r.text) < 2 || len(r.text) > 100 || weak(term{words: r.words}) != "" {
			return true
		}
		w := r.words[0]
		return len(r.words) == 1 && (text.IsUnit(w) || inQuestions.Get()[w])
	})
	for i := range list {
		list[i].normal = strings.Join(list[i].words, " ")
	}
	return list
}

// rank returns the runs of a draft's answer, best keywords first.
func (g *generator) rank(d draft) []run {
	part := clip(d.answer)
	list := runs(part)
	named := make(map[string]bool)
	for _, n := range d.names {
		named[normal(n)] = true
		if at := strings.Index(part, n); at >= 0 && strings.ContainsAny(n, ":?#=&% ") && len(n) <= 100 { // a URL consists of several runs
			if w := words(n); weak(term{words: w}) == "" {
				list = append(list, run{text: n, normal: strings.Join(w, " "), at: at})
			}
		}
	}
	if d.Type == typeFileChanges { // the counts of lines are not in the original
		list = slices.DeleteFunc(list, func(r run) bool { return numeric([]byte(r.normal)) < 0 })
	}
	for i := range list {
		if r := &list[i]; !named[r.normal] {
			r.class = 1
			if common.Get()[r.normal] {
				r.class = 2
			}
		}
	}
	g.sort(list)
	return list
}

// sort sorts runs by class, then rarest first, then longest first.
func (g *generator) sort(list []run) {
	slices.SortStableFunc(list, func(a, b run) int {
		return cmp.Or(
			cmp.Compare(a.class, b.class),
			cmp.Compare(g.count[a.normal], g.count[b.normal]),
			cmp.Compare(len(b.normal), len(a.normal)),
			cmp.Compare(a.at, b.at),
		)
	})
}

// pick returns the best keywords in the order of the answer. None contains another.
func pick(ranked []run, part string) []string {
	var chosen []run
	names := 0
	for _, r := range ranked {
		if len(chosen) == maxKeywords {
			break
		}
		if r.class == 0 && names == maxNames || slices.ContainsFunc(chosen, func(c run) bool {
			return contains(c.normal, r.normal) || contains(r.normal, c.normal)
		}) {
			continue
		}
		if r.class == 0 {
			names++
		}
		chosen = append(chosen, r)
	}
	slices.SortFunc(chosen, func(a, b run) int { return cmp.Compare(a.at, b.at) })
	var keywords []string
	for _, r := range chosen {
		keywords = append(keywords, part[r.at:][strings.Index(part[r.at:], r.text):][:len(r.text)])
	}
	return keywords
}

// hint returns plain words of the subject of a draft, rarest first.
func (g *generator) hint(d draft) []string {
	list := slices.DeleteFunc(runs(clip(d.hint)), func(r run) bool {
		return strings.Contains(r.normal, " ") || strings.ContainsAny(r.text, "0123456789_./@")
	})
	g.sort(list)
	var hints []string
	for _, r := range list {
		hints = append(hints, r.text)
	}
	return hints
}

// question returns the most specific question of a draft that does not reveal the answer, and
// the same question without its subject.
func (d *draft) question(p *Probe, hints []string) (full, plain string) {
	terms := p.terms()
	sound := func(q string) bool {
		n := normal(q)
		return !slices.ContainsFunc(terms, func(t term) bool { return leak(n, t) != "" })
	}
	var when []string
	if d.turn > 0 {
		when = append(when, " in turn "+strconv.Itoa(d.turn))
	}
	if len(words(d.Source)) > 0 {
		when = append(when, " in block "+d.Source)
	}
	verb := d.verb
	if !verbs[verb] {
		verb = "changed"
	}
	for _, w := range append(when, "") {
		for _, ask := range d.ask {
			ask = strings.ReplaceAll(strings.ReplaceAll(ask, "@", verb), "#", w)
			q := strings.ReplaceAll(ask, "~", "")
			if !sound(q) {
				continue
			}
			for _, h := range hints {
				if !strings.Contains(ask, "~") {
					break
				}
				if full := strings.ReplaceAll(ask, "~", " about \""+h+"\""); sound(full) {
					return full, q
				}
			}
			return q, q
		}
	}
	return "", ""
}

// dropAnswered makes sure that the questions, read one after the other, answer no probe. It
// first removes the subjects of revealing questions, then drops probes that are still answered.
func dropAnswered(list []candidate) []candidate {
	for {
		probes, ends := probesOf(list), make([]int, len(list))
		var all strings.Builder
		for i, c := range list {
			all.WriteString(c.Question + "\n")
			ends[i] = all.Len()
			probes[i].Question = "" // a matcher skips lines that are questions of its probes
		}
		r := newMatcher(probes).read([]string{all.String()})
		drop := make([]bool, len(list))
		again := false
		for i := range list {
			m := r.find(i)
			if !m.ok {
				continue
			}
			again, drop[i] = true, true
			first, _ := slices.BinarySearch(ends, m.start+1)
			for k := first; k == 0 || ends[k-1] < m.end; k++ {
				if list[k].Question != list[k].plain {
					list[k].Question, drop[i] = list[k].plain, false
				}
			}
		}
		if !again {
			return list
		}
		i := -1
		list = slices.DeleteFunc(list, func(candidate) bool {
			i++
			return drop[i]
		})
	}
}

// figure returns the keywords of the first distinctive figure in a text, and the words of its
// subject.
func figure(said string) (keywords []string, of string) {
	said = said[:min(len(said), 2000)]
	type piece struct{ start, end int }
	var list []piece
	s := scanner{run: func(start, end int) { list = append(list, piece{start, end}) }, word: func([]byte, int, int) {}}
	s.scan(said, 0)
	for i, p := range list {
		raw := trim(said[p.start:p.end])
		if raw == "" || len(raw) > 24 || !isDigit(raw[0]) && (raw[0] != 'v' || len(raw) < 2 || !isDigit(raw[1])) {
			continue
		}
		form := words(raw)
		switch {
		case p.start > 0 && said[p.start-1] == ':' || strings.HasPrefix(said[p.end:], ":"):
			// a time, or a line number behind a file
		case len(form) == 2 && text.IsUnit(form[1]):
			return []string{raw}, beside(said, p.start)
		case len(form) != 1 || !isDigit(form[0][0]) || numeric([]byte(form[0])) >= 0:
		case strings.HasPrefix(said[p.end:], "%"):
			return []string{raw + "%"}, beside(said, p.start)
		case i+1 < len(list) && list[i+1].start == p.end+1 && said[p.end] == ' ' && isCount(said[list[i+1].start:list[i+1].end]):
			noun := strings.TrimRight(said[list[i+1].start:list[i+1].end], ".-/")
			if len(form[0]) < 2 || text.IsUnit(strings.ToLower(noun)) {
				return []string{raw + " " + noun}, beside(said, p.start)
			}
			return []string{raw, noun}, ""
		case len(form[0]) > 2:
			return []string{raw}, beside(said, p.start)
		}
	}
	return nil, ""
}

// isCount reports whether a word can be the unit of a count.
func isCount(w string) bool {
	w = strings.TrimRight(w, ".-/")
	for i := range len(w) {
		if c := w[i] | 0x20; c < 'a' || c > 'z' {
			return false
		}
	}
	n := normal(w)
	return len(w) > 1 && !stop.Get()[n] && !generic.Get()[n]
}

// beside returns the words shortly before an offset. The last one is usually the subject of the
// figure: port 8443.
func beside(text string, at int) string {
	from := max(at-24, 0)
	for from < at && from > 0 && text[from-1] != ' ' {
		from++
	}
	return text[from:at]
}

// clip returns the beginning of a text, cut between words.
func clip(s string) string {
	if len(s) <= clipBytes {
		return s
	}
	if i := strings.LastIndexAny(s[:clipBytes], " \t\n"); i >= 0 {
		return s[:i]
	}
	return text.Head(s, clipBytes)
}

// choose returns the probes within the bounds of o: critical ones of all types, and ordinary
// ones of each type. They are ordered by type, then by fact.
func choose(list []candidate, o *Options) []candidate {
	per, critical := 24, 200
	if o != nil {
		per, critical = cmp.Or(o.PerType, per), cmp.Or(o.Critical, critical)
	}
	groups := make(map[Type][]candidate)
	for _, c := range list {
		if c.Critical {
			groups[""] = append(groups[""], c)
		} else {
			groups[c.Type] = append(groups[c.Type], c)
		}
	}
	chosen := share(groups[""], critical)
	for _, t := range Types() {
		chosen = append(chosen, share(groups[t], per)...)
	}
	slices.SortStableFunc(chosen, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(slices.Index(Types(), a.Type), slices.Index(Types(), b.Type)), cmp.Compare(a.at, b.at))
	})
	return chosen
}

// share selects n candidates: equally many about each subject if possible, and of each subject
// some that are spread evenly over the conversation.
func share(list []candidate, n int) []candidate {
	if len(list) <= n {
		return list
	}
	var matters []string
	of := make(map[string][]candidate)
	for _, c := range list {
		if len(of[c.About]) == 0 {
			matters = append(matters, c.About)
		}
		of[c.About] = append(of[c.About], c)
	}
	quota := make(map[string]int)
	for n > 0 {
		for _, m := range matters {
			if n > 0 && quota[m] < len(of[m]) {
				quota[m]++
				n--
			}
		}
	}
	var chosen []candidate
	for _, m := range matters {
		all, k := of[m], quota[m]
		for i := range k {
			chosen = append(chosen, all[(2*i+1)*len(all)/(2*k)])
		}
	}
	return chosen
}

// common has words that are frequent in this field. They are keywords only if there are no
// others.
var common = setOf(`allow app application available based check checks code common config correct create current currently data default
	different ensure entire exist existing expected feature find handle implement implementation include information input install
	instead list logic main module need output package part parse pass passed project properly provide read remove repo repository
	request response result return set setup show simple specific start state status step string support system task tool
	understand version write wrong`)
