// Package probe asks of a compressed context what its original could answer.
//
// A [Probe] is a question with the words that its answer must have, generated
// from facts of the original, before anything was compressed. Grading needs no
// model: a probe passes if the words of its answer stand together in what is in
// the window. What is one recall away is counted apart. A question never has
// the answer in it; [Lint] says where one does.
//
// Types of probes, the shares at which a compression is accepted and the red
// flags are those of the context-compression skill (SkillForge and OrchestKit).
// Its published checks pass if any one word is found anywhere, and ask for a
// path by naming it; here neither is enough.
//
// # Matching
//
// Texts and keywords are compared as words: runs of letters, digits and "_", in
// lower case, without accents, marks of Markdown, and the s of a plural. Quotes,
// dashes, spaces and full-width characters count as their plain forms, 1,234 as
// 1234, 40ms as 40 ms, 90 percent as 90%. A keyword of several words is found
// where they follow each other; a number only as a whole. A path is found where
// a path stands that is equal or ends alike: one must be the end of the other,
// with at least two names. So ./a/b.go, /src/a/b.go and a/b.go agree, and
// c/b.go and a/b.go do not.
//
// Keywords stand together if they begin within 400 bytes of one text, be
// that one line, a few short ones or a stretch of a long one. A line that is the
// question of a probe is no answer, and is not read.
//
// # Summaries in other words
//
// [Generate] asks what a window has that carries what was said verbatim. Of a
// summary that somebody wrote less is asked: [Essentials], which [GradeAuthored]
// grades by the stems of words, entry by entry.
//
// # Determinism
//
// Equal facts give equal probes, and equal texts equal grades: the package reads
// no clock, draws no random number and lets no order of a map show. The keywords
// of a fact, and so the ids of its probes, depend on it and on the facts before
// it: what is said later may change which are chosen and how they are asked, but
// not what they expect. Shares are [ratio.Ratio]. Functions may be called
// concurrently.
package probe

import (
	"strings"

	"github.com/carrel-dev/carrel/digest"
)

// passageBytes is within how many bytes of one text the keywords of an answer must
// begin.
const passageBytes = 400

// A Type says what a probe asks for. It is stored as its text.
type Type string

// The ten types.
const (
	typeFilePath    Type = "file_path"    // which file?
	typeFileChanges Type = "file_changes" // what was done to it?
	typeDecision    Type = "decision"     // what was decided?
	typeRationale   Type = "rationale"    // why?
	typeError       Type = "error"        // what failed?
	typeResolution  Type = "resolution"   // what mended it?
	typeBlocker     Type = "blocker"      // what is open?
	typeProgress    Type = "progress"     // what was done, run or measured?
	typeNextSteps   Type = "next_steps"   // what comes next?
	typeIntent      Type = "intent"       // what is wanted, and what must be heeded?
)

// Types returns all types, in the order of this list.
func Types() []Type {
	return []Type{typeFilePath, typeFileChanges, typeDecision, typeRationale, typeError, typeResolution, typeBlocker, typeProgress, typeNextSteps, typeIntent}
}

// A Probe is a question that a compressed context must answer.
type Probe struct {
	ID       string   `json:"id"` // of its type, source and answer; stable
	Type     Type     `json:"type"`
	About    string   `json:"about,omitempty"` // "path", "command", "number", "correction", "reference" …
	Question string   `json:"question"`
	Expected []string `json:"expected_keywords"`
	Need     int      `json:"need"` // how many of Expected an answer must have, together; 0 is Need(len(Expected))
	Critical bool     `json:"critical"`
	Source   string   `json:"source_message,omitempty"` // short id of the block that it is from
}

// needOf returns how many of n keywords an answer must have: all of one or two,
// else two thirds, rounded up.
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

// identify returns the id of a probe. Salt tells probes apart whose ids would
// be equal, and is 0 for all others.
func (p *Probe) identify(salt int) string {
	s := string(p.Type) + "\x00" + p.Source + "\x00" + strings.Join(p.Expected, "\x00") + strings.Repeat("\x00", salt)
	return digest.Of([]byte(s)).Short()
}

// name gives ids to the probes that have none, each its own.
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
