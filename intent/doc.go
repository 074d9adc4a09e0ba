// Package intent compiles a prompt: it says what a person asks for, in a form
// that programs can use.
//
// [Compile] finds one of seven verbs, fills the slots of that verb with spans of
// the prompt, and lists what is missing, what pulls in two directions, what the
// words say of the person and what else is asked for. Nothing is made up: every
// value stands in the prompt, and a required slot that the prompt leaves open is
// a gap. A pronoun fills no required slot, unless what it stands for is at hand.
//
// [Intent.Keywords] are what the pager looks for in blocks, [Diff] says what
// changed between two turns, and [Score] holds the compiler against cases that
// somebody has labeled. [Parse] reads an intent that another program wrote, and
// [Intent.Published] has the types that other programs read.
//
// Small talk, what tells somebody to go on, and what a program wrote ask for
// nothing: they pass through, with a [PassReason] that says why.
//
// Verbs, slots, flags and the form as JSON are those of the prompt compiler of
// prosecode (Intent IR v0). There, slots are keys without values.
//
// # How it reads
//
// The prompt is cut into words, punctuation and literals, which are quoted text
// and code: they fill slots, but nothing is read into them. Clauses end at
// punctuation, and where a further request begins. A clause is a request if an
// opener begins it, behind what is only polite. What it speaks of may change its
// verb: "write a plan" is for planning, "repair my letter" makes a text better, and
// "how do I make it stop failing" is for mending. What follows is parted into slots by markers,
// such as "for", "without" and "as a". A text that follows a heading, or a colon
// and a line break, is attached to the prompt and not part of it. A style is a
// constraint of transform, which has no slot for it. If no rule finds the object of
// a request that names something, all its words are the object.
//
// The first request is what the prompt is about, and others are secondary. If
// there is none, one is taken from what stands there: a form ("shorter"), a noun
// that is asked for ("cover letter for a bakery"), a choice, something that does
// not work, what something must be able to do, or a word that commands an object.
// Failing that, an answer to a question and a short statement of the person pass
// through, and anything else is read as explain, with low confidence.
//
// # How the verb is weighed
//
// Rules know phrases, and people use others. So a table has the last word on the
// verb, and on whether a prompt passes through. It adds up what each feature of the
// prompt says for each outcome: the words with which clauses begin, pairs of words,
// the classes of words (verbs of repair, nouns for texts, words of a fault), what
// ends the prompt, and what the rules take its clauses for. Weights are integers.
// If the table disagrees with the rules, the slots are filled for its verb, and
// [Intent.Assumed] names the word that spoke most for it.
//
// The weights are learned from labeled prompts, by multinomial logistic regression.
// TestWeights makes them anew, and fails if the committed ones are others.
//
// # Flags
//
// Markers of flags match whole words and phrases, in the person's own words
// only. Plain substrings, which the original matches, would find "contract" in
// "contractor" and "tax" in "syntax". A marker of an amber rule does not count
// if a word such as no, not or without stands up to 12 bytes before it in the
// same piece of the sentence, or if it describes a thing and not the work, as in
// "a general strike".
//
// # Limits
//
// The words are English. The rules know phrases and not grammar, so that a
// value may be cut too long or too short. What the table learned from are single
// prompts: it does not know what was said before. Of a prompt of more than
// 16 KiB, the beginning and the end are looked at, and
// [Intent.Assumed] says how much was not. Of further requests, eight are kept.
//
// How well this works is recorded in testdata/cases/README.md.
//
// # Determinism
//
// Equal prompts give equal intents, in time linear in the length. Any bytes
// will do, and nothing panics. Offsets are in bytes. The package does no I/O,
// reads no clock and lets no order of a map show; its functions may be called
// concurrently.
package intent
