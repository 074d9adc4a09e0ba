// Package probe tests whether a compressed context still answers questions that its original
// answers.
//
// A [Probe] is a question with the keywords of its answer. Probes are generated from facts of
// the original:
//
//	probes := probe.Generate(found, &probe.Options{})
//	report := probe.Grade(probes, &probe.Evidence{Window: texts})
//	verdict := report.Judge(nil, before, after) // tokens
//
// Grading needs no model: a probe passes if its keywords stand together in the window. Answers
// that one recall returns are counted separately. A question must not reveal its answer; [Lint]
// finds those that do.
//
// Types of probes, the shares at which a compression is accepted and the red
// flags are those of the context-compression skill (SkillForge and
// OrchestKit). Its published checks are weaker: they pass if a single word is
// found anywhere, and their questions name the path that they ask for.
//
// # Matching
//
// Texts and keywords are compared as words: runs of letters, digits and "_",
// in lower case, without accents, marks of Markdown, and the s of a plural.
// Quotes, dashes, spaces and full-width characters count as their plain
// forms, 1,234 as 1234, 40ms as 40 ms, 90 percent as 90%. A keyword of
// several words is found where they follow each other; a number only as a
// whole. A path is found where a path stands that is equal or ends alike: one
// must be the end of the other, with at least two names. So ./a/b.go,
// /src/a/b.go and a/b.go agree, and c/b.go and a/b.go do not.
//
// Keywords stand together if they begin within 400 bytes of one text, be that
// one line, a few short ones or a stretch of a long one. A line that is the
// question of a probe is no answer, and is not read.
//
// # Summaries in other words
//
// The probes of [Generate] need verbatim text in the window. A summary in
// other words must only answer the [Essentials], which [GradeAuthored] grades
// by the stems of words, entry by entry.
//
// # Determinism
//
// Equal facts give equal probes, and equal texts equal grades: the package
// reads no clock and uses no random numbers. The keywords of a fact, and so its
// probe, depend on the facts before it, too: words that are rare among these are taken.
package probe

import (
	"strings"

	"github.com/carrel-dev/carrel/digest"
)

// passageBytes is the size of the part of a text in which the keywords of an answer must begin.
const passageBytes = 400

// A Type is the subject of a probe. It is stored as its text: "file_path" (which file?),
// "file_changes" (what was done to it?), "decision", "rationale" (why?), "error", "resolution" (how
// was it fixed?), "blocker" (what is open?), "progress" (what was done, run or measured?),
// "next_steps", or "intent" (what does the user want, and which rules apply?).
type Type string

// The ten types.
const (
	typeFilePath    Type = "file_path"    // which file?
	typeFileChanges Type = "file_changes" // what was done to it?
	typeDecision    Type = "decision"     // what was decided?
	typeRationale   Type = "rationale"    // why?
	typeError       Type = "error"        // what failed?
	typeResolution  Type = "resolution"   // how was it fixed?
	typeBlocker     Type = "blocker"      // what is open?
	typeProgress    Type = "progress"     // what was done, run or measured?
	typeNextSteps   Type = "next_steps"   // what comes next?
	typeIntent      Type = "intent"       // what does the user want, and which rules apply?
)

// Types returns all types, in the order of the comment of [Type].
func Types() []Type {
	return []Type{typeFilePath, typeFileChanges, typeDecision, typeRationale, typeError, typeResolution, typeBlocker, typeProgress, typeNextSteps, typeIntent}
}

// A Probe is a question that a compressed context must answer.
type Probe struct {
	ID       string   `json:"id"` // digest of type, source and answer; stable
	Type     Type     `json:"type"`
	About    string   `json:"about,omitempty"` // "path", "command", "number", "correction", "reference" …
	Question string   `json:"question"`
	Expected []string `json:"expected_keywords"`
	Need     int      `json:"need"` // number of Expected keywords that an answer must have together; 0 means two thirds of them, rounded up
	Critical bool     `json:"critical"`
	Source   string   `json:"source_message,omitempty"` // short id of the fact's block
}

// needOf returns how many of n keywords an answer must have: all if n is 1 or 2, otherwise two
// thirds, rounded up.
func needOf(n int) int {
	if n <= 2 {
		return n
	}
	return (2*n + 2) / 3
}

func (p *Probe) need() int {
	if p.Need == 0 {
		return needOf(len(p.Expected))
	}
	return p.Need
}

// identify returns the id of a probe. The argument salt is 0; another number gives another
// id, for a probe whose id would equal that of another probe.
func (p *Probe) identify(salt int) string {
	s := string(p.Type) + "\x00" + p.Source + "\x00" + strings.Join(p.Expected, "\x00") + strings.Repeat("\x00", salt)
	return digest.Of([]byte(s)).Short()
}

// name gives a different id to each probe without one.
func name(probes []Probe) {
	taken := make(map[string]bool, len(probes))
	for i := range probes {
		if id := probes[i].ID; id != "" {
			taken[id] = true
		}
	}
	for i := range probes {
		p := &probes[i]
		for salt := 0; p.ID == ""; salt++ {
			if id := p.identify(salt); !taken[id] {
				p.ID, taken[id] = id, true
			}
		}
	}
}
