package contract

import "slices"

// A Category is the subject of a correction, such as "depth". It is empty for
// a correction without a standard name.
type Category string

// The corrections that change paging, see [Effects].
const (
	priorContext = "consult-prior-context"
	sourcesFirst = "verify-against-source-not-memory"
)

// A Correction is a user's lasting instruction about the way of working.
type Correction struct {
	Name     string
	Category Category
	Meaning  string // in one sentence
}

// corrections are the standard corrections, by category.
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

// Corrections returns the standard corrections, by category.
func Corrections() []Correction { return slices.Clone(corrections[:]) }

// LookUpCorrection returns the standard correction with the name text. For any other text it
// returns a correction without category. Its meaning is text, and its name is text in lower
// case with hyphens in place of everything but letters and digits.
func LookUpCorrection(text string) Correction {
	name := slug(text)
	for _, c := range corrections {
		if c.Name == name {
			return c
		}
	}
	return Correction{Name: name, Meaning: Clean(text)}
}

// Corrections returns the corrections in force: those of earlier sessions,
// then those of this one.
func (s *Contract) Corrections() []Correction {
	var active []Correction
	for _, l := range [...]List{ActiveCorrections, sessionCorrections} {
		for _, item := range s.Texts(l) {
			active = append(active, LookUpCorrection(item))
		}
	}
	return active
}

// AddCorrection adds the correction that [LookUpCorrection] returns for text, and marks the
// blocks that record it. In the contract, a standard correction stands as its Name and any other
// as its Meaning, which is the user's text. The blocks can no longer be evicted. If one of them is
// evicted, the error is a [*PinError].
func (s *Contract) AddCorrection(text string, blocks ...string) ([]string, error) {
	for _, id := range blocks {
		if err := s.checkPin(id); err != nil {
			return nil, err
		}
	}
	return s.edit(func(d *draft) {
		c := LookUpCorrection(text)
		item := c.Name
		if c.Category == "" && item != "" {
			item = c.Meaning
		}
		if !d.has(ActiveCorrections, item) {
			d.add(sessionCorrections, "correction", item)
		}
		for _, id := range blocks {
			d.add(CorrectionBlocks, "block", id)
		}
	})
}

// Effects are the effects of a contract's corrections on paging.
type Effects struct {
	// AlwaysRetain lists the blocks that record a correction.
	AlwaysRetain []string

	// PriorContext gives a bonus to blocks with facts of earlier sessions that overlap the
	// intent.
	PriorContext bool

	// SourcesFirst gives a bonus to blocks with sources.
	SourcesFirst bool
}

// Effects returns the effects of the corrections in force on paging.
func (s *Contract) Effects() Effects {
	return Effects{
		AlwaysRetain: s.Texts(CorrectionBlocks),
		PriorContext: s.has(priorContext, ActiveCorrections, sessionCorrections),
		SourcesFirst: s.has(sourcesFirst, ActiveCorrections, sessionCorrections),
	}
}
