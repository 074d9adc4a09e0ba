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

// A History is what is on record of a session, from which [History.Input] gathers what a
// packet is made of. Slices of blocks run in parallel.
type History struct {
	Session  string // its id
	Title    string
	Messages []transcript.Message
	Blocks   []transcript.Block
	Texts    []string // what each block says
	Known    []Known
	Facts    []facts.Fact // of the blocks from First on
	Contract *contract.Contract

	// What the facts come to: what the session is for, how it stands and what comes next.
	Goal, State, Next string

	Base  *Packet // with which the session began, or nil
	First int     // the first block behind Base

	Preview func(block int) string // a block in one line
	OneOff  func(line string) bool // whether a command line only looks at something
}

// Known is what is known of a block beside what it says.
type Known struct {
	Asks     bool // it has a person's own words
	Corrects bool // it records a correction
	Earlier  bool // it is of a window that the agent's client compacted
	Pinned   bool
	Live     bool // it is whole in the window
	Stub     bool // a stub stands for it
}

// ref names a block, for the basis of what is said.
func (h *History) ref(i int) string { return "block " + h.Blocks[i].ID.Short() }

// Input returns what a packet of the session is made of.
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

// inherit takes over the packet that the session began with.
func (h *History) inherit(in *Input) {
	b := h.Base
	in.Goal, in.State, in.Intent, in.Permalink = b.Goal, b.State, b.Intent, b.Permalink
	in.Sources, in.Inferred = slices.Clone(b.Sources), slices.Clone(b.Inferred)
	in.Decisions, in.Questions = slices.Clone(b.Decisions), slices.Clone(b.Questions)
	in.Corrections, in.Context = slices.Clone(b.Corrections), slices.Clone(b.Context)
	in.Done, in.Remaining = slices.Clone(b.Done), slices.Clone(b.Remaining)
	in.Boundaries, in.Artifacts = slices.Clone(b.Boundaries), slices.Clone(b.Artifacts)
	in.Next, in.Notes = b.Next, b.Notes
}

// aim fills what the session is for, how it stands, and what was asked last.
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
			continue // it only says to go on
		}
		in.Intent = h.intentOf(got, i)
		return
	}
}

// intentOf returns a compiled prompt as a packet has it.
func (h *History) intentOf(got *intent.Intent, block int) Aim {
	to := Aim{
		Primary: string(got.Verb), Status: "asked; whether it is done, sections 10 and 11 say",
		Basis: "the prompt compiler's reading of the user's words in " + h.ref(block) + ", with confidence " + string(got.Confidence),
	}
	for _, slot := range got.Verb.Slots() {
		for _, v := range got.Slots[slot] {
			if to.Target == "" {
				to.Target = v.Text
			}
		}
	}
	for _, s := range got.Secondary {
		to.Secondary = string(s.Verb)
		break
	}
	for _, gap := range got.Gaps {
		to.Slots = append(to.Slots, string(gap))
	}
	for _, flag := range got.Amber {
		to.Flags = append(to.Flags, flag.Name)
	}
	return to
}

// last returns the last n of a list. That there are more is said among what is to
// be preserved.
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

// newest returns the list with the last of those that have the same key, in the
// order of the last.
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

// Evidence returns what is on record of the session, in the words of the input.
func (h *History) Evidence(in *Input) *Evidence {
	ev := &Evidence{
		Sources: in.Sources, Decisions: in.Decisions, Done: in.Done, Remaining: in.Remaining, Artifacts: in.Artifacts,
		Unavailable: in.Unavailable, Inferred: texts(in.Inferred, ofClaim), Questions: texts(in.Questions, ofQuestion),
		Corrections: texts(in.Corrections, ofCorrection), Out: texts(in.Out, func(o Out) string { return o.ID }),
	}
	for i := range h.Messages {
		for _, part := range h.Messages[i].Parts {
			if t, ok := part.(transcript.Thinking); ok {
				ev.Reasoning = append(ev.Reasoning, t.Text)
			}
		}
	}
	return ev
}
