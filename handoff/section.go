package handoff

import (
	"fmt"
	"iter"
	"strconv"
)

// A Section names a section of a packet by its key in JSON.
type Section string

// The sections. The header has no name in JSON.
const (
	sectionHeader      Section = ""
	sectionGoal        Section = "current_goal"
	sectionState       Section = "current_state"
	sectionIntent      Section = "active_intent"
	sectionSources     Section = "verified_sources"
	sectionInferred    Section = "inferred_claims"
	sectionDecisions   Section = "locked_decisions"
	sectionQuestions   Section = "open_questions"
	sectionCorrections Section = "active_user_corrections"
	sectionContext     Section = "context_to_preserve"
	sectionDone        Section = "work_completed"
	sectionRemaining   Section = "work_not_yet_completed"
	sectionBoundaries  Section = "do_not_claim_beyond_this"
	sectionNext        Section = "recommended_next_action"
	sectionNotes       Section = "handoff_notes"
	sectionArtifacts   Section = "artifacts"
)

// Title returns the heading of a section in Markdown, such as "7. Open
// Questions". That of the header is "Header".
func (s Section) Title() string {
	for i := range layouts {
		if layouts[i].section == s {
			return layouts[i].heading(i)
		}
	}
	if s == sectionHeader {
		return "Header"
	}
	return string(s)
}

// A field is a text of a packet: its key in JSON and its label in Markdown.
type field struct {
	key      string // empty for a plain string in a list
	label    string
	optional bool
	words    []string // the allowed values; nil if any text is allowed
}

// A form says how a section is written in Markdown.
type form int

const (
	formProse  form = iota // paragraphs
	formIntent             // a list of labels
	formList               // a list; the other fields of an entry are indented below its first field
	formTable              // a table; the fields are its columns
)

// A layout describes the fixed properties of a section.
type layout struct {
	section Section
	title   string
	form    form
	fields  []field
	text    func(*Packet) *string // text of a section of formProse
	entries func(*Packet) list    // entries of a section of formList or formTable
}

// heading returns the heading of the section at an index of layouts.
func (l *layout) heading(i int) string { return strconv.Itoa(i+1) + ". " + l.title }

var headFields = []field{
	{key: "filename", label: "Filename", optional: true},
	{key: "created_for", label: "Created for"},
	{key: "created_by", label: "Created by"},
	{key: "date", label: "Date"},
	{key: "session_or_project", label: "Session / project"},
	{key: "receipts_permalink", label: "Receipts permalink", optional: true},
}

func (p *Packet) head() []*string {
	return []*string{&p.Filename, &p.CreatedFor, &p.CreatedBy, &p.Date, &p.Session, &p.Permalink}
}

var verbs = []string{"explain", "create", "transform", "analyze", "decide", "plan", "fix", unknownVerb}

var intentFields = []field{
	{key: "primary_intent", label: "Primary intent", words: verbs},
	{key: "target_or_artifact", label: "Target/artifact"},
	{key: "status", label: "Status"},
	{key: "basis", label: "Basis"},
	{key: "secondary_intent", label: "Secondary intent", optional: true},
}

func (in *Aim) texts() []*string {
	return []*string{&in.Primary, &in.Target, &in.Status, &in.Basis, &in.Secondary}
}

// intentLists are the fields of an intent that are lists.
var intentLists = []field{
	{key: "unresolved_slots", label: "Unresolved slots", optional: true},
	{key: "flags", label: "Flags", optional: true},
}

func (in *Aim) lists() []*[]string { return []*[]string{&in.Slots, &in.Flags} }

var (
	states   = []string{string(Verified), string(Scanned), string(Referenced), string(Unavailable)}
	statuses = []string{string(Delivered), string(Draft), string(Intermediate)}
)

// layouts has the sections in their order. They are numbered from 1.
var layouts = [...]layout{
	{section: sectionGoal, title: "Current Goal", text: func(p *Packet) *string { return &p.Goal }},
	{section: sectionState, title: "Current State", text: func(p *Packet) *string { return &p.State }},
	{section: sectionIntent, title: "Active Intent", form: formIntent},
	{section: sectionSources, title: "Verified Sources", form: formTable, fields: []field{
		{key: "source", label: "Source"},
		{key: "type", label: "Type"},
		{key: "state", label: "State", words: states},
		{key: "what_was_verified", label: "What was verified"},
	}, entries: func(p *Packet) list {
		return rows[Source]{&p.Sources, func(s *Source) []*string { return []*string{&s.Source, &s.Type, (*string)(&s.State), &s.What} }}
	}},
	{section: sectionInferred, title: "Inferred Claims", form: formList, fields: []field{
		{key: "text", label: "Inferred"}, {key: "basis", label: "Basis"},
	}, entries: func(p *Packet) list {
		return rows[Claim]{&p.Inferred, func(c *Claim) []*string { return []*string{&c.Text, &c.Basis} }}
	}},
	{section: sectionDecisions, title: "Locked Decisions", form: formList, fields: []field{
		{key: "text", label: "Decision"}, {key: "basis", label: "Basis"},
	}, entries: func(p *Packet) list {
		return rows[Decision]{&p.Decisions, func(d *Decision) []*string { return []*string{&d.Text, &d.Basis} }}
	}},
	{section: sectionQuestions, title: "Open Questions", form: formList, fields: []field{
		{key: "question", label: "Question"}, {key: "why_it_matters", label: "Why it matters"},
	}, entries: func(p *Packet) list {
		return rows[Question]{&p.Questions, func(q *Question) []*string { return []*string{&q.Question, &q.Why} }}
	}},
	{section: sectionCorrections, title: "Active User Corrections", form: formList, fields: []field{
		{key: "correction", label: "Correction"}, {key: "meaning_for_next_agent", label: "Meaning for next agent"},
	}, entries: func(p *Packet) list {
		return rows[Correction]{&p.Corrections, func(c *Correction) []*string { return []*string{&c.Correction, &c.Meaning} }}
	}},
	{section: sectionContext, title: "Context to Preserve", form: formList, fields: []field{
		{key: "context", label: "Context"}, {key: "why_it_matters", label: "Why it matters"},
	}, entries: func(p *Packet) list {
		return rows[Context]{&p.Context, func(c *Context) []*string { return []*string{&c.Context, &c.Why} }}
	}},
	{section: sectionDone, title: "Work Completed", form: formList, fields: []field{
		{label: "Completed"},
	}, entries: func(p *Packet) list { return rows[string]{&p.Done, textRow} }},
	{section: sectionRemaining, title: "Work Not Yet Completed", form: formList, fields: []field{
		{label: "Remaining"},
	}, entries: func(p *Packet) list { return rows[string]{&p.Remaining, textRow} }},
	{section: sectionBoundaries, title: "Do Not Claim Beyond This", form: formList, fields: []field{
		{key: "boundary", label: "Boundary"}, {key: "reason", label: "Reason"},
	}, entries: func(p *Packet) list {
		return rows[Boundary]{&p.Boundaries, func(b *Boundary) []*string { return []*string{&b.Boundary, &b.Reason} }}
	}},
	{section: sectionNext, title: "Recommended Next Action", text: func(p *Packet) *string { return &p.Next }},
	{section: sectionNotes, title: "Handoff Notes for the Receiving Agent", text: func(p *Packet) *string { return &p.Notes }},
	{section: sectionArtifacts, title: "Session Artifacts", form: formTable, fields: []field{
		{key: "artifact", label: "Artifact"},
		{key: "type", label: "Type"},
		{key: "path", label: "Path"},
		{key: "status", label: "Status", words: statuses},
	}, entries: func(p *Packet) list {
		return rows[Deliverable]{&p.Artifacts, func(a *Deliverable) []*string { return []*string{&a.Artifact, &a.Type, &a.Path, (*string)(&a.Status)} }}
	}},
}

// textRow returns the row of an entry that is a single text, as the method row of a list returns
// it.
func textRow(s *string) []*string { return []*string{s} }

// A list gives access to the entries of a section as rows of texts.
type list interface {
	stated() bool        // reports whether the list is not nil
	size() int           // returns the number of entries
	row(i int) []*string // returns the texts of entry i, in the order of the fields
	state()              // turns a nil list into an empty list
	grow() []*string     // adds an entry and returns its row
}

type rows[T any] struct {
	entries *[]T
	cells   func(*T) []*string
}

func (r rows[T]) stated() bool        { return *r.entries != nil }
func (r rows[T]) size() int           { return len(*r.entries) }
func (r rows[T]) row(i int) []*string { return r.cells(&(*r.entries)[i]) }

func (r rows[T]) state() {
	if *r.entries == nil {
		*r.entries = []T{}
	}
}

func (r rows[T]) grow() []*string {
	var zero T
	*r.entries = append(*r.entries, zero)
	return r.row(len(*r.entries) - 1)
}

// A place locates a text in a packet.
type place struct {
	section Section
	path    string // as in "open_questions.0.question"
	field   *field
	text    *string
}

// places iterates over all texts of a packet except optional texts that are empty.
func (p *Packet) places() iter.Seq[place] {
	return func(yield func(place) bool) {
		texts := func(s Section, prefix string, fields []field, texts []*string) bool {
			for i, t := range texts {
				if fields[i].optional && *t == "" {
					continue
				}
				if !yield(place{s, join(prefix, fields[i].key), &fields[i], t}) {
					return false
				}
			}
			return true
		}
		if !texts(sectionHeader, "", headFields, p.head()) {
			return
		}
		for i := range layouts {
			l := &layouts[i]
			name, ok := string(l.section), true
			switch l.form {
			case formProse:
				ok = yield(place{l.section, name, &field{key: name}, l.text(p)})
			case formIntent:
				ok = texts(l.section, name, intentFields, p.Intent.texts())
				for j, items := range p.Intent.lists() {
					for k := range *items {
						path := fmt.Sprintf("%s.%s.%d", name, intentLists[j].key, k)
						ok = ok && yield(place{l.section, path, &field{}, &(*items)[k]})
					}
				}
			case formList, formTable:
				entries := l.entries(p)
				for j := 0; ok && j < entries.size(); j++ {
					ok = texts(l.section, fmt.Sprintf("%s.%d", name, j), l.fields, entries.row(j))
				}
			}
			if !ok {
				return
			}
		}
	}
}

// join appends a key to a path. Either may be empty.
func join(path, key string) string {
	if path == "" || key == "" {
		return path + key
	}
	return path + "." + key
}
