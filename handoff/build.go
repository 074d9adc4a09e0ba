package handoff

import "slices"

// Input has the contents of a packet for [Build]. Any text may be empty and any
// list nil: the packet then says "unknown" or "none".
type Input struct {
	For       string // the agent that continues the session; any agent if empty
	By        string // the agent that hands over the session
	Date      string // such as 2026-01-05
	Session   string
	Filename  string // optional
	Permalink string // optional

	Goal   string // what the session is for
	Task   string // the user's first request, if it differs from Goal
	State  string
	Intent Aim

	Sources     []Source
	Inferred    []Claim
	Decisions   []Decision
	Questions   []Question
	Corrections []Correction
	Context     []Context
	Out         []Out // blocks that are out of the window
	Done        []string
	Remaining   []string
	Unavailable []string // tools and other things that cannot be reached
	Boundaries  []Boundary
	Next        string
	Notes       string
	Artifacts   []Deliverable // nil if the artifacts are not known
}

// Out is a block that is out of the window and can be recalled.
type Out struct {
	ID   string
	Text string // description of the block in one line; may be empty
}

// Build makes a valid packet, for which [Check] without evidence finds no
// error. Check with evidence finds no error either if the evidence has all
// entries of the input.
//
// Entries keep their order and duplicates are removed; sources are sorted by
// state and name. Build moves entries that go against a rule: a decision without
// a basis becomes an inferred claim, work that is also an open question is not
// listed as completed, and a source from which nothing was verified gets a
// weaker state. Inferred, open, unread and unavailable entries get a boundary
// that forbids to claim them. The hidden reasoning of models is left out.
func Build(in *Input) *Packet {
	b := &builder{in: in, p: new(Packet)}
	b.header()
	b.claims()
	b.open()
	b.sources()
	b.correctionsAndContext()
	b.work()
	b.artifacts()
	b.nextAction()
	b.boundaries()
	b.p.fillLists()
	return b.p
}

type builder struct {
	in *Input
	p  *Packet

	inferred, questions set

	gone []string // sources that at least one record calls unavailable
}

// or returns the cleaned text, or other if the cleaned text is empty.
func or(text, other string) string {
	if s := clean(text); s != "" {
		return s
	}
	return other
}

func (b *builder) header() {
	in, p := b.in, b.p
	p.Filename = clean(in.Filename)
	p.CreatedFor = or(in.For, "any agent")
	p.CreatedBy = or(in.By, unknown+"the author is not on record.")
	p.Date = or(in.Date, unknown+"the date is not on record.")
	p.Session = or(in.Session, unknown+"the session has no name on record.")
	p.Permalink = clean(in.Permalink)
	p.Goal = or(in.Goal, or(in.Task, unknown+"no goal is on record."))
	if task := clean(in.Task); task != "" && key(task) != key(p.Goal) {
		p.Goal = clean(p.Goal + "\n\nThe task as it was given: " + task)
	}
	p.State = or(in.State, unknown+"no state is on record.")
	p.Intent = Aim{
		Primary:   in.Intent.Primary,
		Target:    or(in.Intent.Target, unknown+"no target is on record."),
		Status:    or(in.Intent.Status, unknown+"no status is on record."),
		Basis:     or(in.Intent.Basis, unknown+"what the intent was taken from is not on record."),
		Secondary: clean(in.Intent.Secondary),
		Slots:     once(in.Intent.Slots),
		Flags:     once(in.Intent.Flags),
	}
	if !slices.Contains(verbs, p.Intent.Primary) {
		p.Intent.Primary = unknownVerb
	}
}

// once returns the texts that are not empty, cleaned and without duplicates. For a nil list it
// returns nil.
func once(texts []string) []string {
	if texts == nil {
		return nil
	}
	list, seen := []string{}, make(set)
	for _, t := range texts {
		if seen.add(t) {
			list = append(list, clean(t))
		}
	}
	return list
}

// claims fills the inferred claims and the decisions. A text that is in both
// lists stays an inferred claim only.
func (b *builder) claims() {
	b.inferred = make(set)
	for _, c := range b.in.Inferred {
		b.infer(c.Text, or(c.Basis, unknown+"the basis is not on record."))
	}
	locked := make(set)
	for _, d := range b.in.Decisions {
		basis := clean(d.Basis)
		if basis != "" && !assumed.Get().MatchString(basis) && !b.inferred.has(d.Text) && locked.add(d.Text) {
			b.p.Decisions = append(b.p.Decisions, Decision{clean(d.Text), basis})
		}
	}
	for _, d := range b.in.Decisions {
		if !locked.has(d.Text) {
			b.infer(d.Text, or(d.Basis, unknown+"who decided it is not on record."))
		}
	}
}

func (b *builder) infer(text, basis string) {
	if b.inferred.add(text) {
		b.p.Inferred = append(b.p.Inferred, Claim{clean(text), basis})
	}
}

// open fills the notes and the open questions: the questions of the input, the
// questions that were listed as completed work, and the questions in the notes.
func (b *builder) open() {
	b.p.Notes = or(b.in.Notes, "Begin with section 13. Keep to section 8, and say nothing that section 12 excludes.")
	b.questions = make(set)
	for _, q := range b.in.Questions {
		b.ask(q.Question, or(q.Why, unknown+"what depends on it is not on record."))
	}
	for _, d := range b.in.Done {
		if asks(d) {
			b.ask(d, "It was listed as work completed, and is a question.")
		}
	}
	for _, q := range questions(b.p.Notes) {
		b.ask(q, "The notes ask it.")
	}
}

func (b *builder) ask(question, why string) {
	if b.questions.add(question) {
		b.p.Questions = append(b.p.Questions, Question{clean(question), why})
	}
}

// correctionsAndContext fills the corrections and the context to preserve.
func (b *builder) correctionsAndContext() {
	seen := make(set)
	for _, c := range b.in.Corrections {
		if seen.add(c.Correction) {
			b.p.Corrections = append(b.p.Corrections,
				Correction{clean(c.Correction), or(c.Meaning, "Follow it as it is worded.")})
		}
	}
	seen = make(set)
	keep := func(text, why string) {
		if seen.add(text) {
			b.p.Context = append(b.p.Context, Context{clean(text), why})
		}
	}
	for _, c := range b.in.Context {
		keep(c.Context, or(c.Why, unknown+"why it matters is not on record."))
	}
	for _, o := range b.in.Out {
		if key(o.ID) != "" && key(o.Text) != "" {
			keep("Block "+clean(o.ID)+": "+clean(o.Text), "It is out of the window; recall it before relying on it.")
		}
	}
}

// work fills the completed and the remaining work. A text that is also an open
// question, remaining work or an inferred claim is not listed as completed.
func (b *builder) work() {
	b.p.Remaining = once(b.in.Remaining)
	remaining := setOf(b.p.Remaining, ofText)
	for _, d := range once(b.in.Done) {
		if !asks(d) && !b.questions.has(d) && !remaining.has(d) && !b.inferred.has(d) {
			b.p.Done = append(b.p.Done, d)
		}
	}
}

// artifacts fills the files that the session produced. The last record of a file
// decides its status.
func (b *builder) artifacts() {
	if b.in.Artifacts == nil {
		return
	}
	list, at := []Deliverable{}, make(map[string]int)
	for _, a := range b.in.Artifacts {
		if artifactKey(a) == "" {
			continue
		}
		a = Deliverable{
			or(a.Artifact, clean(a.Path)), or(a.Type, "unknown"),
			or(a.Path, unknown+"the path is not on record."), a.Status,
		}
		if !slices.Contains(statuses, string(a.Status)) {
			a.Status = Intermediate
		}
		if i, ok := at[artifactKey(a)]; ok {
			list[i] = a
			continue
		}
		at[artifactKey(a)] = len(list)
		list = append(list, a)
	}
	b.p.Artifacts = list
}

// nextAction fills the recommended next action.
func (b *builder) nextAction() {
	p, other := b.p, unknown+"no next step is on record. Ask the user for one."
	if len(p.Remaining) > 0 {
		other = "Go on with: " + p.Remaining[0]
	} else if len(p.Questions) > 0 {
		other = "Ask the user: " + p.Questions[0].Question
	}
	p.Next = or(b.in.Next, other)
}
