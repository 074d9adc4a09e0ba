package handoff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/intent"
	"github.com/carrel-dev/carrel/transcript"
)

// A History has the recorded data of a session, from which [History.Input] makes the
// input of a packet. Blocks, Texts and Known are parallel: index i is the same block.
//
// Messages and Blocks join all windows of the session: those of [transcript.Session.Earlier] in
// order, then the present one. [transcript.Session.Blocks] returns the blocks of each window with
// indexes in the messages of that window; the caller adds to each the number of messages in the
// windows before, so that Block.Messages has indexes in Messages here. Facts must be extracted from
// these two lists: Fact.Block and First are indexes in Blocks.
type History struct {
	Session  string // its id
	Title    string
	Messages []transcript.Message
	Blocks   []transcript.Block
	Texts    []string // text of each block
	Known    []Known
	Facts    []facts.Fact       // facts of the blocks from First on
	Contract *contract.Contract // must be set; new(contract.Contract) if there is none

	// The goal of the session, its present state and its next action. The caller derives them
	// from Facts, for example with package extractive. They are not used if Facts is empty.
	Goal, State, Next string

	Base  *Packet // packet with which the session began, or nil
	First int     // index of the first block after Base

	Preview func(block int) string // must be set; returns a description of a block in one line
	OneOff  func(line string) bool // must be set; reports whether a command line only inspects: pager.OneOff
}

// Known has the properties of a block that its text does not tell.
type Known struct {
	Asks     bool // it has a person's own words
	Corrects bool // it records a correction
	Earlier  bool // it was in the window before a compaction by the agent's client
	Pinned   bool
	Live     bool // it is whole in the window
	Stub     bool // a stub stands for it
}

// ref returns the name of block i for the basis of a claim, such as "block 3f2a".
func (h *History) ref(i int) string { return "block " + h.Blocks[i].ID.Short() }

// Input returns the input from which [Build] makes a packet of the session.
func (h *History) Input() *Input {
	in := &Input{Session: h.Session}
	if h.Title != "" {
		in.Session += " (" + h.Title + ")"
	}
	if h.Base != nil {
		h.inherit(in)
	}
	h.aim(in)
	h.sources(in)
	h.claims(in)
	h.questions(in)
	h.corrections(in)
	h.work(in)
	h.window(in)
	return in
}

// inherit copies the entries of h.Base, the packet with which the session began, to the input in. It
// leaves out decisions and questions that the contract of the session inherited and removed since:
// another decision replaced them, or they were answered.
func (h *History) inherit(in *Input) {
	b := h.Base
	in.Goal, in.State, in.Intent, in.Permalink = b.Goal, b.State, b.Intent, b.Permalink
	in.Sources, in.Inferred = slices.Clone(b.Sources), slices.Clone(b.Inferred)
	given := b.Contract()
	replaced := h.removed(given.Texts(contract.TrackedDecisions), contract.InheritedDecisions, contract.TrackedDecisions)
	in.Decisions = slices.DeleteFunc(slices.Clone(b.Decisions), func(d Decision) bool { return replaced[contract.Clean(d.Text)] })
	answered := h.removed(given.Texts(contract.OpenQuestions), contract.UnresolvedQuestions, contract.OpenQuestions)
	in.Questions = slices.DeleteFunc(slices.Clone(b.Questions), func(q Question) bool { return answered[contract.Clean(q.Question)] })
	in.Corrections, in.Context = slices.Clone(b.Corrections), slices.Clone(b.Context)
	in.Done, in.Remaining = slices.Clone(b.Done), slices.Clone(b.Remaining)
	in.Boundaries, in.Artifacts = slices.Clone(b.Boundaries), slices.Clone(b.Artifacts)
	in.Next, in.Notes = b.Next, b.Notes
}

// removed returns the set of those given texts that are neither in the list named inherited nor in
// the list named own of the contract. The set is empty if the list named inherited never had an
// item, because the contract then did not begin with the packet.
func (h *History) removed(given []string, inherited, own contract.List) map[string]bool {
	now := h.Contract.Texts(inherited)
	if now == nil {
		return nil
	}
	gone := make(map[string]bool)
	for _, t := range given {
		gone[t] = true
	}
	for _, t := range slices.Concat(now, h.Contract.Texts(own)) {
		gone[t] = false
	}
	return gone
}

// aim sets in.Goal, in.State, in.Next and in.Intent. The intent comes from the user's last request.
func (h *History) aim(in *Input) {
	if len(h.Facts) > 0 {
		in.Goal = cmp.Or(in.Goal, h.Goal)
		in.State, in.Next = h.State, h.Next
	}
	if resume := h.Contract.ResumeState(); resume != "" {
		in.State = strings.TrimSpace(in.State + "\nTo be resumed: " + resume)
	}
	for i := len(h.Blocks) - 1; i >= h.First; i-- {
		if !h.Known[i].Asks {
			continue
		}
		got := intent.Compile(h.Texts[i], nil)
		if got.Verb == "" {
			continue // a prompt without a verb only says to continue
		}
		in.Intent = h.intentOf(got, i)
		return
	}
}

// intentOf converts the compiled prompt of a block to the intent of a packet.
func (h *History) intentOf(got *intent.Intent, block int) Aim {
	to := Aim{
		Primary: string(got.Verb), Status: "asked; whether it is done, sections 10 and 11 say",
		Basis: "the prompt compiler's reading of the user's words in " + h.ref(block) + ", with confidence " + string(got.Confidence),
	}
	for _, slot := range got.Verb.Slots() {
		for _, v := range got.Slots[slot] {
			to.Target = cmp.Or(to.Target, v.Text)
		}
	}
	if len(got.Secondary) > 0 {
		to.Secondary = string(got.Secondary[0].Verb)
	}
	for _, gap := range got.Gaps {
		to.Slots = append(to.Slots, string(gap))
	}
	for _, flag := range got.Amber {
		to.Flags = append(to.Flags, flag.Name)
	}
	return to
}

// last returns the last n entries of a list. If it leaves entries out, last adds a sentence with
// their number to the context to preserve. The sentence calls them by the text in what.
func last[T any](in *Input, list []T, n int, what string) []T {
	if len(list) <= n {
		return list
	}
	in.Context = append(in.Context, Context{
		Context: fmt.Sprintf("There are %d more %s, older than those listed here: carrel messages and carrel search have them", len(list)-n, what),
		Why:     "this packet lists the newest",
	})
	return list[len(list)-n:]
}

// newest removes duplicates: of the entries with the same key it keeps the last one, in
// its place.
func newest[T any](list []T, key func(T) string) []T {
	seen := make(map[string]bool)
	var kept []T
	for _, x := range slices.Backward(list) {
		if k := key(x); !seen[k] {
			seen[k] = true
			kept = append(kept, x)
		}
	}
	slices.Reverse(kept)
	return kept
}

// Evidence returns the evidence for [Check]: the entries of the input in, and the reasoning of the
// session's models. Reasoning that a message also says in its visible text is not hidden, and Check
// permits it.
func (h *History) Evidence(in *Input) *Evidence {
	ev := &Evidence{
		Sources: in.Sources, Decisions: in.Decisions, Done: in.Done, Remaining: in.Remaining, Artifacts: in.Artifacts,
		Unavailable: in.Unavailable, Inferred: texts(in.Inferred, ofClaim), Questions: texts(in.Questions, ofQuestion),
		Corrections: texts(in.Corrections, ofCorrection), Out: texts(in.Out, func(o Out) string { return o.ID }),
	}
	for i := range h.Messages {
		ev.said = append(ev.said, h.Messages[i].Text())
		for _, part := range h.Messages[i].Parts {
			if t, ok := part.(transcript.Thinking); ok {
				ev.Reasoning = append(ev.Reasoning, t.Text)
			}
		}
	}
	return ev
}
