// Package summary has the anchored summary of a session: a document with fixed,
// required sections. Each compression merges new entries into the earlier
// summary and never rewrites it. Only the state, the blockers and the next steps
// are replaced by newer ones.
//
//	next, err := summary.Parse(data)
//	merged, edits := earlier.Merge(next)
//	problems := summary.Check(merged, &original)
//
// # Sections
//
// Every section must be present and not empty. A section without content says
// [None]; a list says it by one entry whose text, path, decision or error is
// None. An empty section and a placeholder are errors of the writer.
// The sections, their JSON fields and the order in Markdown are those of the
// context-compression skill (SkillForge and OrchestKit): Session Intent, Files
// Modified, Decisions Made, Current State, Blockers / Open Questions, Next
// Steps, and its template's Technical Context, Errors Encountered and Key
// Artifacts, of which the last may be left out.
//
// A nil list means that the section is missing; an empty list means that the
// section has a heading and no entries. [Check] reports both, and other faults:
// vague or invented text, a refusal of a model, and a summary that is longer than
// the summarized blocks.
//
// # Forms
//
// A summary has two written forms, JSON and Markdown. [Parse] reads both, and
// similar documents of other programs and models, such as the published state
// file. It fails with a [*SyntaxError]. It ignores unknown fields of JSON and
// unknown sections of Markdown. A third form, [Summary.Fit], is for a model: it
// fits a budget of tokens and names in each section what it leaves out.
//
// # Merging
//
// [Summary.Merge] unites the changes of each path, the decisions, the errors, the
// context and the artifacts, and removes duplicates. The first intent stays, and
// a changed intent is noted below it. Newer values replace the state, the blockers
// and the next steps, but an empty value never replaces anything. The published
// merge loses data in four places; [Compat] reproduces it for comparisons.
//
// # Determinism
//
// Equal arguments give equal results. Nothing here reads a clock, draws a
// random number or lets the order of a map show. Sizes are in tokens, as the
// caller counts them. No function changes its arguments, and all may be
// called by several goroutines at once.
package summary

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/ratio"
)

// None is the text of a section without content.
const None = "None"

// NotStated is the rationale of a decision whose reason is not known.
const NotStated = "not stated"

// The statuses of an [Error].
const (
	statusOpen     = "open"
	statusResolved = "resolved"
)

// A Section names a section of a summary, by its field in JSON: "session_intent",
// "files_modified", "decisions_made", "current_state", "blockers", "next_steps",
// "technical_context", "errors_encountered" or "key_artifacts". [Sections] returns
// all.
type Section string

// Sections that callers name.
const (
	SectionIntent    Section = "session_intent"
	SectionFiles     Section = "files_modified"
	sectionDecisions Section = "decisions_made"
	SectionState     Section = "current_state"
	sectionBlockers  Section = "blockers"
	SectionNext      Section = "next_steps"
	SectionContext   Section = "technical_context"
	sectionErrors    Section = "errors_encountered"
	SectionArtifacts Section = "key_artifacts"
)

// titles are the headings of the sections in Markdown, in the order of Sections.
var titles = [...]string{
	"Session Intent", "Files Modified", "Decisions Made", "Current State", "Blockers / Open Questions",
	"Next Steps", "Technical Context", "Errors Encountered", "Key Artifacts",
}

// Sections returns all sections, in the order of the document.
func Sections() []Section {
	return []Section{
		SectionIntent, SectionFiles, sectionDecisions, SectionState, sectionBlockers,
		SectionNext, SectionContext, sectionErrors, SectionArtifacts,
	}
}

func (s Section) title() string { return titles[slices.Index(Sections(), s)] }

// A Summary is an anchored summary with its metadata. Its JSON form has the
// fields of the state that the skill publishes, and more. [Parse] reads this
// form, the published one, and the Markdown of a summary.
type Summary struct {
	Intent    string     `json:"session_intent"`
	Files     Files      `json:"files_modified,omitzero"`
	Decisions []Decision `json:"decisions_made,omitzero"`
	State     string     `json:"current_state"`
	Blockers  []Item     `json:"blockers,omitzero"`
	Next      []Item     `json:"next_steps,omitzero"`
	Context   []Item     `json:"technical_context,omitzero"`
	Errors    []Error    `json:"errors_encountered,omitzero"`
	Artifacts []Item     `json:"key_artifacts,omitzero"` // nil if left out

	Meta
}

// Meta describes how a summary was made.
type Meta struct {
	Count        int         `json:"compression_count"`             // number of compressions of the session
	At           string      `json:"last_compressed_at,omitempty"`  // RFC 3339
	Messages     int         `json:"messages_compressed,omitempty"` // number of blocks that the summary covers, from the first block of the session
	TokensBefore int64       `json:"tokens_before,omitempty"`
	TokensAfter  int64       `json:"tokens_after,omitempty"`
	Ratio        ratio.Ratio `json:"compression_ratio,omitempty"` // 1 − after/before
	ProbeScore   ratio.Ratio `json:"probe_score,omitempty"`       // share of probes that passed
	Strategy     string      `json:"strategy,omitempty"`
	Model        string      `json:"model,omitempty"`        // model that wrote the last draft; empty if no model did
	Depth        int         `json:"depth,omitempty"`        // number of times that a summary was the input of a summary
	Input        string      `json:"input_digest,omitempty"` // digest of the text of all covered blocks
}

// A metaField is a field of the metadata: its name in JSON, its labels in Markdown, and a
// pointer to its value: an *int, *int64, *string or *ratio.Ratio. The first label is
// written; all labels are read.
type metaField struct {
	name   string
	labels []string
	value  any
}

// fields returns the fields in the order of Markdown, the first three for the header.
func (m *Meta) fields() []metaField {
	return []metaField{
		{"compression_count", []string{"Compression #", "Compression", "Compression Count"}, &m.Count},
		{"last_compressed_at", []string{"Timestamp", "Last Compressed At"}, &m.At},
		{"messages_compressed", []string{"Messages Compressed"}, &m.Messages},
		{"probe_score", []string{"Probe Score"}, &m.ProbeScore},
		{"tokens_before", []string{"Tokens Before"}, &m.TokensBefore},
		{"tokens_after", []string{"Tokens After"}, &m.TokensAfter},
		{"compression_ratio", []string{"Compression Ratio"}, &m.Ratio},
		{"strategy", []string{"Strategy"}, &m.Strategy},
		{"model", []string{"Model"}, &m.Model},
		{"depth", []string{"Depth"}, &m.Depth},
		{"input_digest", []string{"Input Digest"}, &m.Input},
	}
}

// An Item is one entry of a section. In JSON it is a text, or an object with
// the text and its source.
type Item struct {
	Text   string
	Source string // short id of the block that the entry comes from, or empty
}

// Files are files, each path once. In JSON they are an object with their paths
// as keys, in the order of the list, and lists of items as values.
type Files []File

// A File is a file and what was done to it, oldest first.
type File struct {
	Path    string
	Changes []Item
}

// A Decision is a decision and its rationale. The rationale is [NotStated] if it
// is not known.
type Decision struct {
	Decision  string `json:"decision"`
	Rationale string `json:"rationale"`
	Source    string `json:"source,omitempty"`
}

// An Error is a failure and its status.
type Error struct {
	Error  string `json:"error"`
	Status string `json:"status"` // "open" or "resolved"
	Note   string `json:"note,omitempty"`
	Source string `json:"source,omitempty"`
}

// A Statement is one entry of a summary: a line of the intent or the state, a path,
// a change of a file, a decision with its rationale, an error with its status and
// note, or an item. An entry that says [None] is not a statement.
type Statement struct {
	Section Section
	Text    string // a change is "path: text"
	Source  string
}

// Digest returns the first 8 hexadecimal digits of the SHA-256 of the statement's
// text, for records that must not have the text.
func (e Statement) Digest() string { return short(e.Text) }

// Entries returns all entries of s, in the order of the document.
func (s *Summary) Entries() []Statement {
	var list []Statement
	for _, sec := range Sections() {
		list = s.appendEntries(list, sec)
	}
	return list
}

// appendEntries appends the entries of one section to list.
func (s *Summary) appendEntries(list []Statement, sec Section) []Statement {
	add := func(text, source string) {
		if text != "" && !isNone(text) {
			list = append(list, Statement{sec, text, source})
		}
	}
	switch sec {
	case SectionIntent, SectionState:
		for line := range strings.Lines(s.prose(sec)) {
			add(strings.TrimSpace(line), "")
		}
	case SectionFiles:
		for _, f := range s.Files {
			add(f.Path, "")
			for _, c := range f.Changes {
				add(f.Path+": "+c.Text, c.Source)
			}
		}
	case sectionDecisions:
		for _, d := range s.Decisions {
			add(d.text(), d.Source)
		}
	case sectionErrors:
		for _, e := range s.Errors {
			add(e.text(), e.Source)
		}
	case sectionBlockers, SectionNext, SectionContext, SectionArtifacts:
		for _, it := range *s.items(sec) {
			add(it.Text, it.Source)
		}
	}
	return list
}

// said reports whether a section is present, even if it is empty.
func (s *Summary) said(sec Section) bool {
	switch sec {
	case SectionIntent, SectionState:
		return s.prose(sec) != ""
	case SectionFiles:
		return s.Files != nil
	case sectionDecisions:
		return s.Decisions != nil
	case sectionErrors:
		return s.Errors != nil
	case sectionBlockers, SectionNext, SectionContext, SectionArtifacts:
	}
	return *s.items(sec) != nil
}

// prose returns the text of the intent or the state.
func (s *Summary) prose(sec Section) string {
	if sec == SectionState {
		return s.State
	}
	return s.Intent
}

// items returns the field of a section that is a list of items, or nil for
// another section.
func (s *Summary) items(sec Section) *[]Item {
	switch sec {
	case sectionBlockers:
		return &s.Blockers
	case SectionNext:
		return &s.Next
	case SectionContext:
		return &s.Context
	case SectionArtifacts:
		return &s.Artifacts
	case SectionIntent, SectionFiles, sectionDecisions, SectionState, sectionErrors:
	}
	return nil
}

// text returns a decision and its rationale as one text.
func (d Decision) text() string {
	if d.Rationale == "" {
		return d.Decision
	}
	return d.Decision + ": " + d.Rationale
}

// text returns an error, its status and its note as one text.
func (e Error) text() string {
	t := e.Error
	if e.Status != "" {
		t += ": " + e.Status
	}
	if e.Note != "" {
		t += " – " + e.Note
	}
	return t
}

// stated reports whether a rationale gives a reason.
func stated(rationale string) bool {
	n := norm(rationale)
	return n != "" && n != NotStated && !isNone(rationale)
}

// isNone reports whether a text is one of the ways in which people and models
// write None: "None", "none.", "(none)", "_None_", "No blockers".
func isNone(text string) bool {
	if len(text) > 32 {
		return false
	}
	t := strings.ToLower(strings.Trim(text, " \t.()[]_*-"))
	return slices.Contains(nones, t)
}

// nones are the texts that stand for None, in lower case.
var nones = []string{
	"none", "nothing", "none so far", "none yet", "none at this time", "none at the moment", "none currently",
	"none known", "none identified", "none encountered", "none stated",
	"no blockers", "no open questions", "no blockers or open questions", "no errors", "no errors encountered",
	"no files", "no files modified", "no files were modified", "no decisions", "no decisions made", "no next steps",
}

// norm returns the form in which texts are compared: in lower case, with single
// spaces and without punctuation at the end.
func norm(s string) string {
	return strings.TrimRight(strings.ToLower(text.Fold(s)), " .,;:!")
}

// short returns the first 8 hexadecimal digits of the SHA-256 of a text.
func short(text string) string { return digest.Of([]byte(text)).Short() }
