package console

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// A meaning explains a word of the pages.
type meaning struct{ Word, Means string }

// meaningsOf returns the meanings of the given words, in the same order.
func meaningsOf(words ...string) []meaning {
	all := make([]meaning, 0, len(words))
	for _, w := range words {
		all = append(all, meaning{w, map[string]string{
			"block":        "a message of a person, or a reply with all results of its calls.",
			"pass":         "Carrel makes the window of a session smaller. Nothing is lost.",
			"stub":         "a short text in place of a block, with an id that recalls all of it.",
			"live":         "whole in the window.",
			"cold":         "out of the window. It can be recalled too.",
			"epoch":        "the calls between two passes. What was sent is repeated byte for byte, so that the provider's cache has it.",
			"account":      "the text that Carrel writes in place of old messages: their most important lines.",
			"worth":        "the chance that somebody needs a line again, for its length. 1 is the average of the session.",
			"cache":        "the provider keeps the beginning of a prompt for some minutes. To read it again is cheap; to write it costs somewhat more than to send it.",
			"managed":      "Carrel sends the window that it holds in place of the client's messages.",
			"context":      "the text that was put together for a question.",
			"artifact":     "a memory, a document or a passage of one.",
			"manifest":     "the sealed list of what is in a context and what was left out.",
			"tier":         "how much is left out when the candidates need more than the budget: nothing in full, most in minimal.",
			"probe":        "a question that the original conversation answers.",
			"contract":     "a program with the decisions of a session. It runs at every pass.",
			"guard":        "a requirement in the contract. A pass after which it fails is refused.",
			"memory":       "a sentence that an agent proposed to remember for later sessions. No agent sees it before it is approved.",
			"held":         "the check of proposed memories did not let it through by itself.",
			"Carrel holds": "the conversation as it would be on the next call. An estimate; tools and system text of the agent may come on top.",
			"last prompt":  "what the model got on the last call, as its provider counted it.",
		}[w]})
	}
	return all
}

// plural returns a number with the word for it.
func plural(n any, one, many string) string {
	if p, ok := n.(*token.Count); ok {
		n = *p // never nil: templates check that first
	}
	s := thousands(fmt.Sprint(n))
	if s == "1" {
		return s + " " + one
	}
	return s + " " + many
}

// span returns a duration in words, such as "50 min" or "1 h 30 min". A text that is no duration
// is returned as it is.
func span(v any) string {
	d, ok := v.(time.Duration)
	if s, isText := v.(string); isText {
		var err error
		if d, err = time.ParseDuration(s); err != nil {
			return s
		}
	} else if !ok {
		return fmt.Sprint(v)
	}
	units := []struct {
		name string
		of   time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}}
	d = d.Round(time.Second)
	for i, u := range units {
		if n := d / u.of; n > 0 {
			s := fmt.Sprintf("%d %s", n, u.name)
			if rest := d % u.of; i < 2 && rest >= units[i+1].of {
				s += fmt.Sprintf(" %d %s", rest/units[i+1].of, units[i+1].name)
			}
			return s
		}
	}
	return "less than a second"
}

// money returns a price in dollars. A price below ten cents has hundredths of cents, a higher
// one only cents.
func money(v any) string {
	m, ok := v.(economy.Money)
	if p, isPointer := v.(*economy.Money); isPointer && p != nil {
		m, ok = *p, true
	}
	if !ok {
		return "–"
	}
	const cent = economy.Money(1e7) // in billionths of a dollar
	if m > -10*cent && m < 10*cent {
		return m.String()
	}
	sign := ""
	if m < 0 {
		sign, m = "−", -m
	}
	cents := (m + cent/2) / cent
	return fmt.Sprintf("%s$%s.%02d", sign, thousands(fmt.Sprint(int64(cents/100))), cents%100)
}

// fills returns a sentence that says what fills the window of a session.
func fills(r *carrel.ContextResult) string {
	s := fmt.Sprintf("Carrel holds %s, %s of the window of %s", plural(r.Used, "token", "tokens"), percent(r.Used, r.Capacity), thousands(fmt.Sprint(r.Capacity)))
	most := bar{}
	for _, b := range barsOf(r) {
		if b.Class != "reserved" && b.Tokens > most.Tokens {
			most = b
		}
	}
	if most.Tokens > 0 {
		s += fmt.Sprintf("; the largest part is %s (%s)", most.Name, thousands(fmt.Sprint(most.Tokens)))
	}
	s += "."
	if r.Sent > 0 {
		s += fmt.Sprintf(" The last prompt had %s.", thousands(fmt.Sprint(r.Sent)))
	}
	if r.Figures.Compress > 0 {
		s += fmt.Sprintf(" A pass is due at %s.", thousands(fmt.Sprint(r.Figures.Compress)))
	}
	return s
}

// percent returns the share of part in whole as a percentage. Below ten percent
// it has one decimal.
func percent(part, whole token.Count) string {
	switch share := 100 * float64(part) / float64(max(whole, 1)); {
	case whole <= 0:
		return "–"
	case share > 0 && share < 10:
		return fmt.Sprintf("%.1f %%", share)
	default:
		return fmt.Sprintf("%.0f %%", share)
	}
}

// missed returns a clause that says why a call missed the cache. The argument before is the
// number of the earlier call.
func missed(b *economy.Break, before int64) string {
	if b.Cause == economy.CauseExpired && b.Idle > 0 {
		return fmt.Sprintf("it came %s after call %d, and the provider had dropped what it kept by then", span(b.Idle), before)
	}
	return causeWords(b.Cause)
}

// Dropped returns a sentence that says what left the window between the two
// moments of the page.
func (p *diffPage) Dropped() string {
	if len(p.Left) == 0 {
		return "Nothing left the window."
	}
	lost, stubs := token.Count(0), 0
	for i := range p.Left {
		lost += p.Left[i].Before - p.Left[i].After
		if p.Left[i].To != pager.Gone {
			stubs++
		}
	}
	what := "What was done between both moments"
	if p.A == string(api.MomentPass) && p.B == string(api.MomentNow) && len(p.Ops) > 0 {
		what = cmp.Or(map[string]string{"page": "The last pass", "page-by-hand": "The last paging by name", "discard": "The last discard"}[p.Ops[0].Kind], what)
	}
	s := fmt.Sprintf("%s dropped %s from %d of %s", what, plural(lost, "token", "tokens"), len(p.Left), plural(p.All, "block", "blocks"))
	gone := len(p.Left) - stubs
	switch {
	case gone == 0:
		s += ": each has a stub in its place that recalls it."
	case stubs == 0:
		s += ": all are out of the window, and can be recalled."
	default:
		s += fmt.Sprintf(": %s, %s out of the window and can be recalled too.", plural(stubs, "has a stub in its place that recalls it", "have a stub in their place that recalls them"), plural(gone, "is", "are"))
	}
	if len(p.Came) > 0 {
		s += fmt.Sprintf(" %s came back.", plural(len(p.Came), "block", "blocks"))
	}
	return s
}

// formWords returns the words for the form in which a block is in the window.
func formWords(f pager.Form) string {
	return cmp.Or(map[pager.Form]string{
		pager.Bare: "without thinking", pager.Calls: "calls, short results", pager.Lines: "some lines", pager.Line: "one line",
	}[f], string(f))
}

// opWords returns the words for an operation of the journal.
func opWords(op string) string {
	return cmp.Or(map[string]string{
		"page": "a pass", "page-by-hand": "blocks paged by name", "discard": "blocks discarded by the agent", "compacted": "a compaction by the client",
		"back": "blocks back in the window",
	}[op], op)
}

// reasonWords returns the words for a reason in a manifest.
func reasonWords(r manifest.Reason) string {
	words := strings.ReplaceAll(string(r), "_", " ")
	means := map[manifest.Reason]string{
		manifest.ReasonExpired: "its time to live has passed", manifest.ReasonRefuted: "it was found to be wrong", manifest.ReasonDistrusted: "its origin is trusted too little",
		manifest.ReasonHeld: "it waits for a review", manifest.ReasonPolicy: "a policy forbids it here", manifest.ReasonSecret: "it seems to hold a secret",
		manifest.ReasonSuperseded: "there is a later version", manifest.ReasonDuplicate: "the same content is in", manifest.ReasonCrowded: "others fit the query better at a first, quick look",
		manifest.ReasonNotScored: "it passed the first look, and others were taken for the second", manifest.ReasonMinor: "at the second look it adds little",
		manifest.ReasonOverBudget: "there was no room for it", manifest.ReasonTier: "the tier leaves it out", manifest.ReasonErased: "its text was erased",
		manifest.ReasonSourceGone: "it changed, and its source no longer has it", manifest.ReasonSourceForbidden: "it changed, and its source may not be asked",
		manifest.ReasonSourceUnavailable: "it may have changed, and its source does not answer",
	}[r]
	if means == "" {
		return words
	}
	return words + ": " + means
}

// gateWords returns the words for a reason of the gate.
func gateWords(r any) string {
	s := fmt.Sprint(r)
	return cmp.Or(map[string]string{
		"below threshold": "its confidence is below that of the gate, which is 70 % by default", "no verdict": "no evaluator has judged it", "unnamed evaluator": "its evaluator has no name",
		"self evaluation": "who proposed it has judged it", "hidden controls": "it has invisible characters", "instruction": "it tells the assistant what to do",
	}[s], s)
}

// unitWords returns the words for the kind of a line of a block.
func unitWords(kind string) string {
	return cmp.Or(map[string]string{
		"words": "a person's words", "sentence": "sentence of the agent", "report": "sentence of a report", "look": "call that reads", "run": "command", "edit": "edit of a file",
		"step": "other call", "change": "changed line", "written": "line that was written", "span": "line that was read", "output": "printed line",
	}[kind], kind)
}

// Stands returns a sentence that says how much of a block is in the window, and
// why.
func (p *blockPage) Stands() string {
	w := p.Why
	size := fmt.Sprintf("%s of its %s", thousands(fmt.Sprint(w.Window)), plural(w.Tokens, "token", "tokens"))
	rule := ""
	if w.Now != nil && w.Now.Rule != "" {
		rule = fmt.Sprintf(" The rule “%s” keeps it.", w.Now.Rule)
	}
	switch {
	case w.State == store.StateLive:
		return "This block is whole in the window, with " + size + "." + rule
	case w.State != store.StateStub:
		return "This block is out of the window; its id recalls it." + rule
	case w.Account == nil:
		return "A stub stands in place of this block, with " + size + "." + rule
	}
	s := fmt.Sprintf("A stub with %d of the %s of this block is in the window, %s.", w.Account.Kept, plural(w.Account.Total, "line", "lines"), size) + rule
	if w.Account.Floor > 0 {
		return s + fmt.Sprintf(" The last pass had room for lines worth %s and more.", w.Account.Floor.Short())
	}
	return s + " The last pass had room for all lines that are worth anything."
}

// byteSize returns a number of bytes in words.
func byteSize(n int64) string {
	for _, u := range []struct {
		name string
		of   int64
	}{{"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if n >= u.of {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(u.of), u.name)
		}
	}
	return plural(n, "byte", "bytes")
}
