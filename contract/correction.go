package contract

import "slices"

// A Category is what a correction is about, such as "depth". A correction that is none of
// the named ones has none.
type Category string

// The corrections that change how a session is paged, see [Effects].
const (
	priorContext = "consult-prior-context"
	sourcesFirst = "verify-against-source-not-memory"
)

// A Correction is how a user wants the agent to work from now on.
type Correction struct {
	Name     string
	Category Category
	Meaning  string // in one sentence
}

// corrections are the named ones, by category.
var corrections = [...]Correction{
	{"go-into-detail", "depth", "Give the reasons and the edge cases, not only the outline."},
	{"keep-it-short", "depth", "Say it in as few words as it needs, and stop."},
	{"write-plainly", "register", "Use everyday words and whole sentences, without flourish."},
	{"no-praise", "register", "Leave out compliments and apologies."},
	{"ask-before-acting", "agency", "Propose, and wait for a yes before anything is changed."},
	{"decide-and-go-on", "agency", "Choose what is reasonable, say what was chosen, and do not stop to ask."},
	{sourcesFirst, "verification", "Look into the source before saying what is in it, however well it is remembered."},
	{"run-before-claiming", "verification", "Call something working only after it was run and seen to work."},
	{"answer-first", "timing", "Give the answer at the beginning and explain it afterwards."},
	{"report-as-you-go", "timing", "Say what was found when it is found, not only at the end."},
	{"name-what-is-uncertain", "transparency", "Say which parts are known, which are inferred and which are guessed."},
	{"admit-what-was-skipped", "transparency", "List what was not done, or not looked at, without being asked."},
	{"say-no-when-it-is-no", "directness", "Refuse or contradict in plain words rather than by hints."},
	{"one-recommendation", "directness", "Recommend one thing rather than listing choices."},
	{"stay-on-the-task", "focus", "Do what was asked, and leave what else could be improved."},
	{"finish-before-starting", "focus", "Bring one thing to its end before beginning the next."},
	{"check-for-changes", "freshness", "Look at the present state again, as it may have changed since it was read."},
	{"leave-other-files-alone", "boundary", "Change only the files that were named."},
	{"no-new-dependencies", "boundary", "Use what the project has, and add nothing from outside."},
	{"keep-the-order", "order", "Work through things in the order in which they were given."},
	{priorContext, "continuity", "Look at what earlier sessions established before asking or deciding anew."},
	{"do-not-reopen-decisions", "continuity", "Treat what was decided as decided until the user says otherwise."},
	{"argue-against-me", "challenge", "Name the strongest objection to what the user proposes."},
	{"explain-terms", "accessibility", "Explain each technical term where it occurs first."},
}

// Corrections returns the named corrections, by category.
func Corrections() []Correction { return slices.Clone(corrections[:]) }

// LookUpCorrection returns the named correction that a text names. If there is
// none, it is a correction without category whose name is the letters and digits of the
// text in lower case, with hyphens for all else, and whose meaning is the text.
func LookUpCorrection(text string) Correction {
	name := slug(text)
	for _, c := range corrections {
		if c.Name == name {
			return c
		}
	}
	return Correction{Name: name, Meaning: Clean(text)}
}

// Corrections returns the corrections that are in force: those of earlier
// sessions, and then those of this one.
func (s *Contract) Corrections() []Correction {
	var active []Correction
	for _, l := range [...]List{ActiveCorrections, sessionCorrections} {
		for _, name := range s.Texts(l) {
			active = append(active, LookUpCorrection(name))
		}
	}
	return active
}

// AddCorrection notes a correction by its name, which is made of a text as
// [LookUpCorrection] does, and the blocks that record it. Those cannot be evicted
// any more; one that is evicted already is a [*PinError].
func (s *Contract) AddCorrection(text string, blocks ...string) ([]string, error) {
	for _, id := range blocks {
		if err := s.checkPin(id); err != nil {
			return nil, err
		}
	}
	return s.edit(func(d *draft) {
		name := slug(text)
		if !d.has(ActiveCorrections, name) {
			d.add(sessionCorrections, "correction", name)
		}
		for _, id := range blocks {
			d.add(CorrectionBlocks, "block", id)
		}
	})
}

// Effects are what the corrections of a contract mean for paging.
type Effects struct {
	// AlwaysRetain has the blocks that record a correction, as the contract knows
	// them.
	AlwaysRetain []string

	// PriorContext is that what earlier sessions established is wanted: blocks
	// with such facts that overlap the intent are worth more.
	PriorContext bool

	// SourcesFirst is that sources are wanted rather than what is remembered of
	// them: blocks with sources are worth more.
	SourcesFirst bool
}

// Effects returns what the corrections that are in force mean for paging.
func (s *Contract) Effects() Effects {
	return Effects{
		AlwaysRetain: s.Texts(CorrectionBlocks),
		PriorContext: s.has(priorContext, ActiveCorrections, sessionCorrections),
		SourcesFirst: s.has(sourcesFirst, ActiveCorrections, sessionCorrections),
	}
}
