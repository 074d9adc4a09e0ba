package handoff

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

// Largest numbers of entries in a packet. A longer list keeps its newest entries, and
// the packet says how many are left out and how to find them.
const (
	mostSources = 60
	mostClaims  = 40
	mostOut     = 40
)

// mostCorrection is the largest length of a user's correction in a packet, in bytes. A
// longer one is cut, and the packet names the command that recalls all of it.
const mostCorrection = 4000

// sources sets in.Sources: the files that were read, the commands whose last run succeeded, and the
// pages that were only mentioned.
func (h *History) sources(in *Input) {
	var list []Source
	failed := make(map[string]bool) // whether the last run of a command failed
	for i := range h.Facts {
		f := &h.Facts[i]
		s := Source{Source: f.Subject}
		switch f.Kind { //nolint:exhaustive // the others are no sources
		case facts.FactRead:
			s.Type, s.State, s.What = sourceType(f.Subject), Scanned, "read in "+h.ref(f.Block)
			if f.Status == facts.StatusFailed {
				s.State, s.What = Unavailable, "Nothing: it could not be read in "+h.ref(f.Block)
			}
		case facts.FactCommand:
			if f.Status != facts.StatusOK && f.Status != facts.StatusFailed || h.OneOff(h.line(f)) {
				continue
			}
			failed[f.Subject] = f.Status == facts.StatusFailed
			s.Type, s.State, s.What = "command", Verified, "it ran without an error in "+h.ref(f.Block)
			if f.Text != "" {
				s.What += ": " + f.Text
			}
		case facts.FactReference:
			if !strings.Contains(f.Subject, "://") {
				continue
			}
			s.Type, s.State = "page", Referenced
		default:
			continue
		}
		list = append(list, s)
	}
	fails := func(s Source) bool { return s.Type == "command" && failed[s.Source] }
	in.Sources = slices.DeleteFunc(in.Sources, fails)
	list = strongest(slices.DeleteFunc(list, fails))
	in.Sources = append(in.Sources, last(in, list, mostSources, "sources")...)
	for _, s := range h.Contract.Sources() {
		if s.Claim {
			in.Inferred = append(in.Inferred, Claim{Text: s.Text, Basis: "the contract has it as the claim " + s.Name})
			continue
		}
		in.Sources = append(in.Sources, Source{
			Source: s.Name, Type: "source of the contract", State: Scanned, What: "the contract has its text",
		})
	}
	had := h.inherited(func(b *Packet, add func(string)) {
		for _, s := range b.Sources {
			add(claimOf(&s))
		}
	})
	for _, claim := range h.Contract.Texts(contract.VerifiedClaims) {
		if !had[claim] {
			in.Sources = append(in.Sources, Source{
				Source: "contract of session " + h.Session, Type: contractType, State: Verified, What: claim,
			})
		}
	}
}

// strongest removes duplicates: of the records of the same source it keeps the one with the
// strongest state, and of several with this state the last one, in its place.
func strongest(list []Source) []Source {
	best := make(map[string]int)
	for i, s := range list {
		if at, ok := best[s.Source]; !ok || strength(s.State) <= strength(list[at].State) {
			best[s.Source] = i
		}
	}
	var kept []Source
	for i, s := range list {
		if best[s.Source] == i {
			kept = append(kept, s)
		}
	}
	return kept
}

// inherited returns a set of texts of h.Base, the packet with which the session began. The function
// list adds these texts. Callers skip entries of the contract that are in this set, because the
// input already has them from the packet.
func (h *History) inherited(list func(b *Packet, add func(string))) map[string]bool {
	had := make(map[string]bool)
	if h.Base != nil {
		list(h.Base, func(text string) { had[text] = true })
	}
	return had
}

// line returns the whole command line of the call that f comes from. The subject of f
// may be only a part of this line; line returns the subject if it does not find the call.
func (h *History) line(f *facts.Fact) string {
	for _, k := range h.Blocks[f.Block].Messages {
		for _, c := range h.Messages[k].Calls() {
			if line := tool.Line(c); c.ID == f.CallID && line != "" {
				return line
			}
		}
	}
	return f.Subject
}

// sourceType returns the type of a source that was read: page, file or query.
func sourceType(subject string) string {
	switch {
	case strings.Contains(subject, "://"):
		return "page"
	case strings.ContainsAny(subject, "/.") && !strings.ContainsAny(subject, " |*+?()[]{}^$\\"):
		return "file"
	}
	return "query"
}

// claims sets in.Inferred to the agent's statements and decisions, and in.Decisions to the user's
// decisions and those of the contract.
func (h *History) claims(in *Input) {
	var said []Claim
	for i := range h.Facts {
		f := &h.Facts[i]
		switch {
		case f.Kind == facts.FactProgress && strings.HasSuffix(f.Text, ":"):
			// a line with a colon at its end only announces the next claim
		case f.Kind == facts.FactProgress:
			said = append(said, Claim{Text: f.Text, Basis: "the agent said so in " + h.ref(f.Block)})
		case f.Kind == facts.FactDecision && f.Role == transcript.RoleUser:
			in.Decisions = append(in.Decisions, Decision{Text: h.assent(f), Basis: "the user said so in " + h.ref(f.Block)})
		case f.Kind == facts.FactDecision:
			basis := "the agent decided it in " + h.ref(f.Block) + "; no word of the user's on it is on record"
			if f.Why != "" {
				basis += "; its reason: " + f.Why
			}
			said = append(said, Claim{Text: f.Text, Basis: basis})
		}
	}
	said = newest(said, func(c Claim) string { return c.Text })
	in.Inferred = append(in.Inferred, last(in, said, mostClaims, "inferred claims")...)
	had := h.inherited(func(b *Packet, add func(string)) {
		for _, d := range b.Decisions {
			add(contract.Clean(d.Text))
		}
	})
	for _, l := range []contract.List{contract.InheritedDecisions, contract.TrackedDecisions} {
		for _, d := range h.Contract.Texts(l) {
			if had[d] {
				continue
			}
			in.Decisions = append(in.Decisions, Decision{Text: d, Basis: "the contract has it in " + string(l)})
		}
	}
}

// assent returns the text of a user's decision. If the decision has at most three words,
// such as "yes", assent appends the last line of the agent's message that it answers.
func (h *History) assent(f *facts.Fact) string {
	if f.Block == 0 || len(strings.Fields(f.Text)) > 3 {
		return f.Text
	}
	before := &h.Blocks[f.Block-1]
	if before.Kind != transcript.KindAssistant && before.Kind != transcript.KindTool {
		return f.Text
	}
	said := lastLine(h.Messages[before.Messages[0]].Text())
	if said == "" {
		return f.Text
	}
	return f.Text + " (to the agent's words: " + said + ")"
}

// mostAnswered is the largest length of an agent's line that [History.assent] quotes, in
// bytes.
const mostAnswered = 300

// lastLine returns the last line of s that has a letter. Of a line longer than
// [mostAnswered] it returns the end; it returns "" if no line has a letter.
func lastLine(s string) string {
	for s != "" {
		at := strings.LastIndexByte(s, '\n') + 1
		line := strings.TrimSpace(s[at:])
		if strings.ContainsFunc(line, unicode.IsLetter) {
			if len(line) > mostAnswered {
				line = text.Ellipsis + text.Tail(line, mostAnswered)
			}
			return line
		}
		s = s[:max(at-1, 0)]
	}
	return ""
}

// questions sets in.Questions to unanswered questions and unresolved errors.
func (h *History) questions(in *Input) {
	for i := range h.Facts {
		f := &h.Facts[i]
		switch {
		case f.Status != facts.StatusOpen:
		case f.Kind == facts.FactQuestion:
			in.Questions = append(in.Questions, Question{Question: f.Text, Why: "nobody answered it since " + h.ref(f.Block)})
		case f.Kind == facts.FactError:
			in.Questions = append(in.Questions, Question{
				Question: "How is this error resolved: " + strings.TrimSuffix(f.Subject+": "+f.Text, ": "),
				Why:      "it is on record in " + h.ref(f.Block) + ", and nothing that resolved it",
			})
		}
	}
	had := h.inherited(func(b *Packet, add func(string)) {
		for _, q := range b.Questions {
			add(contract.Clean(q.Question))
		}
	})
	for _, l := range []contract.List{contract.UnresolvedQuestions, contract.OpenQuestions} {
		for _, q := range h.Contract.Texts(l) {
			if had[q] {
				continue
			}
			in.Questions = append(in.Questions, Question{Question: q, Why: "the contract has it in " + string(l)})
		}
	}
}

// corrections sets in.Corrections to the user's corrections of how the agent works, word for word,
// and those of the contract.
func (h *History) corrections(in *Input) {
	for i := h.First; i < len(h.Known); i++ {
		if !h.Known[i].Corrects {
			continue
		}
		said := strings.TrimSpace(h.Texts[i])
		meaning := "It stands until the user says otherwise. It is " + h.ref(i) + ", which never leaves the window."
		if h.Known[i].Earlier {
			meaning = "It stands until the user says otherwise. It is " + h.ref(i) + ", which the agent's own compaction took out of the window."
		}
		if len(said) > mostCorrection {
			said = text.Head(said, mostCorrection)
			meaning += " These are its first words; carrel recall " + h.Blocks[i].ID.Short() + " has all."
		}
		if said != "" {
			in.Corrections = append(in.Corrections, Correction{Correction: said, Meaning: meaning})
		}
	}
	had := h.inherited(func(b *Packet, add func(string)) {
		for _, c := range b.Corrections {
			known := contract.LookUpCorrection(c.Correction)
			add(known.Name) // contracts of earlier releases have names only
			add(known.Meaning)
		}
	})
	for _, c := range h.Contract.Corrections() {
		switch {
		case had[c.Meaning]:
		case c.Category == "":
			in.Corrections = append(in.Corrections, Correction{Correction: c.Meaning})
		default:
			in.Corrections = append(in.Corrections, Correction{Correction: c.Name, Meaning: c.Meaning})
		}
	}
}

// work sets in.Done, the completed work, in.Remaining and in.Artifacts. The newest state of a task
// replaces the state that h.Base has.
func (h *History) work(in *Input) {
	done, open := make(set), make(set)
	for i := range h.Facts {
		switch f := &h.Facts[i]; {
		case f.Kind != facts.FactTodo:
		case f.Status == facts.StatusCompleted:
			done.add(f.Subject)
		default:
			open.add(f.Subject)
		}
	}
	in.Done = slices.DeleteFunc(in.Done, open.has)
	in.Remaining = slices.DeleteFunc(in.Remaining, done.has)
	committed := -1
	changes := make(map[string][]string)
	var paths []string
	at := make(map[string]int)
	for i := range h.Facts {
		f := &h.Facts[i]
		switch f.Kind { //nolint:exhaustive // the others are no work
		case facts.FactTodo:
			if f.Status == facts.StatusCompleted {
				in.Done = append(in.Done, f.Subject)
			} else {
				in.Remaining = append(in.Remaining, f.Subject)
			}
		case facts.FactCommand:
			if f.Status == facts.StatusOK && strings.Contains(f.Subject, "git commit") {
				committed = f.Block
			}
		case facts.FactChange:
			if changes[f.Subject] == nil {
				paths = append(paths, f.Subject)
			}
			changes[f.Subject] = append(changes[f.Subject], strings.TrimSuffix(string(f.Status)+": "+f.Text, ": "))
			at[f.Subject] = f.Block
		}
	}
	for _, name := range paths {
		list := changes[name]
		text := list[len(list)-1]
		if n := len(list); n > 1 {
			text += fmt.Sprintf(" (the last of %d changes)", n)
		}
		in.Done = append(in.Done, name+": "+text)
		status := Draft
		switch {
		case strings.HasPrefix(name, "/tmp/"):
			status = Intermediate
		case at[name] < committed:
			status = Delivered
		}
		in.Artifacts = append(in.Artifacts, Deliverable{
			Artifact: path.Base(name), Type: fileType(name), Path: name, Status: status,
		})
	}
}

// fileType returns the type of the file with a path, such as "go file".
func fileType(name string) string {
	if ext := strings.TrimPrefix(path.Ext(name), "."); ext != "" {
		return ext + " file"
	}
	return "file"
}

// window adds entries for pinned blocks, for blocks out of the window, and for stubs to the input
// in.
func (h *History) window(in *Input) {
	var out []Out
	stubs := 0
	for i := h.First; i < len(h.Known); i++ {
		k, id := &h.Known[i], h.Blocks[i].ID.Short()
		switch {
		case k.Stub:
			stubs++
		case !k.Live:
			out = append(out, Out{ID: id, Text: h.Preview(i)})
		}
		if k.Pinned {
			why := "somebody pinned it: it never leaves the window"
			if k.Earlier {
				why = "somebody pinned it, before the agent's own compaction took it out of the window"
			}
			in.Context = append(in.Context, Context{
				Context: "Block " + id + ": " + h.Preview(i), Why: why,
			})
		}
	}
	in.Out = last(in, out, mostOut, "blocks out of the window")
	if stubs > 0 {
		in.Context = append(in.Context, Context{
			Context: fmt.Sprintf("%d blocks are stubs in the window; carrel recall ID has each of them whole", stubs),
			Why:     "what a stub does not say is not lost",
		})
	}
}
