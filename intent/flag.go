package intent

import "github.com/carrel-dev/carrel/internal/lazy"

// A side is one of the two contradictory directions of an amber rule.
type side byte

const (
	left side = iota
	right
)

// ambers are the amber rules with the markers of both sides, in the order in which flags are
// listed.
var ambers = []struct {
	name        string
	left, right string
}{
	{
		"BREVITY_DEPTH_TENSION",
		"brief, briefly, short, concise, concisely, quick, summary, one sentence",
		"comprehensive, comprehensively, thorough, thoroughly, detailed, exhaustive, exhaustively, complete, in-depth, every detail",
	},
	{
		"TONE_TENSION",
		"casual, relaxed, conversational, friendly, informal, laid back, laid-back",
		"formal, professional, official, academic, executive, polished",
	},
	{
		"AUDIENCE_TENSION",
		"beginner, beginners, like i'm five, like i'm 5, non-technical, new to this, novice, novices",
		"advanced, expert, experts, technical audience, specialist, specialists, senior, professional, professionals",
	},
	{
		"SIMPLICITY_DEPTH_TENSION",
		"simple, simply, simplify, plain, easy, basic, minimal",
		"detailed, deep, in depth, full explanation, comprehensive, nuanced",
	},
	{
		"EFFORT_TENSION",
		"fast, quick, quickly, asap, rapid, right now, rough",
		"thorough, thoroughly, careful, carefully, rigorous, rigorously, deeply, exhaustive, fully researched",
	},
	{
		"STYLE_TENSION",
		"creative, imaginative, inventive, story-like, dramatic, evocative",
		"factual, accurate, strictly true, evidence-based, literal, no embellishment",
	},
	{
		"SCOPE_TENSION",
		"general, overview, broad, big picture, high level, high-level, overall",
		"specific, exact, particular, step by step, step-by-step, line by line, line-by-line, detailed example",
	},
	{
		"LANGUAGE_TENSION",
		"technical language, technical detail, precise terminology, jargon, for developers, engineering detail, formal terms",
		"accessible, plain language, simple words, non-technical, layperson, easy to read",
	},
}

// humans are the rules about the person, with their markers.
var humans = []struct{ name, words string }{
	{"UNCERTAIN_USER", "not sure, i don't know, maybe, kind of, something like, i think, probably, sorry"},
	{"OVERWHELMED_USER", "overwhelmed, confused, lost, stuck, panic, frustrated, this is a mess, i'm new"},
	{"EXPERT_USER", "architecture, architectures, edge case, edge cases, tradeoff, tradeoffs, benchmark, benchmarks, regression, regressions, invariant, invariants, schema, schemas, api contract, api contracts"},
	{"DELEGATING_USER", "handle this, just do it, take care of, you decide, make it good, ship it"},
	{"HIGH_STAKES_USER", "legal, medical, financial, tax, taxes, contract, contracts, lawsuit, lawsuits, diagnosis, investment, investments"},
	{"IMPERFECT_TEXT", "typo, typos, rough, messy, drafty, half-baked, rambling, voice notes, bad prompt"},
}

// A marking is a side of a rule. Rules about the person have only the left side.
type marking struct {
	rule int
	side side
}

var (
	amberMarks = lazy.Value[phrases[[]marking]]{Make: func() phrases[[]marking] {
		all := make(map[string][]marking)
		for i, a := range ambers {
			collect(all, a.left, marking{i, left})
			collect(all, a.right, marking{i, right})
		}
		return index(all)
	}}

	humanMarks = lazy.Value[phrases[[]marking]]{Make: func() phrases[[]marking] {
		all := make(map[string][]marking)
		for i, h := range humans {
			collect(all, h.words, marking{i, left})
		}
		return index(all)
	}}
)
