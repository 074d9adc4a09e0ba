// Package intent compiles a prompt: it says what a person asks for, in a form that programs can
// use.
//
//	in := intent.Compile("Fix the race in pool/drain.go", nil)
//	// in.Verb is Fix, in.Slots has the target "the race in pool/drain.go"
//
// [Compile] finds one of seven verbs, fills the slots of that verb with spans of the prompt, and
// lists required slots without a value (gaps), contradictory wishes (amber flags), signs of the
// person's state (human flags), and further requests. Compile makes nothing up: every value is a
// span of the prompt. A pronoun fills a required slot only if its noun is in the prompt.
//
// [Intent.Keywords] are the words that the pager looks for in blocks, [Diff] returns the
// differences between two turns, and [Score] compares the compiler with labeled cases. [Parse]
// reads an intent that another program wrote, and [Intent.Published] has the types that other
// programs read.
//
// Small talk, "go on" and text that a program wrote ask for nothing. Such a prompt passes
// through: it has no verb, and a [PassReason].
//
// Verbs, slots, flags and the JSON form are those of the prompt compiler of prosecode (Intent IR
// v0). There, slots are keys without values.
//
// # Reading
//
// The prompt is divided into words, punctuation and literals. Literals are quoted text and code:
// they fill slots, but their words are not read. A clause ends at punctuation, and where a
// further request begins. A clause is a request if it begins with an opener, after polite words
// at most. The object may change the verb: "write a plan" is plan, "repair my letter" is
// transform, and "how do I make it stop failing" is fix. Markers, such as "for", "without" and
// "as a", divide the rest of the clause into slots. Text after a heading, or after a colon and a
// line break, is attached to the prompt and not part of it. Transform has no slot style, so a style
// goes into its slot constraints. If no rule finds the object of a request, and the request names
// something, all its words are the object.
//
// The first request is the main one, and others are secondary. A prompt without a request gets
// one from its clauses: a form ("shorter"), a noun that is asked for ("cover letter for a
// bakery"), a choice, something that does not work, something that must be able to do a thing,
// or an unknown verb with an object. Otherwise, an answer to a question and a short statement of
// the person pass through, and any other prompt is read as explain, with low confidence.
//
// # Weights
//
// The rules only know certain phrases. So a table of weights decides the verb, and whether a
// prompt passes through. The table has a weight for each feature of the prompt and each outcome,
// and the outcome with the largest sum wins; against the rules, it needs a lead to change whether
// the prompt passes through. Features are the words with which clauses begin,
// pairs of words, the classes of words (verbs of repair, nouns for texts, words of a fault), the
// end of the prompt, and the verbs that the rules give the clauses. Weights are integers. If the
// table disagrees with the rules, the slots are filled for the verb of the table, and
// [Intent.Assumed] names the word with the largest weight for it.
//
// The weights are learned from labeled prompts, by multinomial logistic regression. TestWeights
// computes them again, and fails if the committed weights differ.
//
// # Flags
//
// Markers of flags match whole words and phrases, in the person's own words only. The original
// matches substrings, and so finds "contract" in "contractor" and "tax" in "syntax". A marker of
// an amber rule does not count after a word such as no, not or without that stands up to 12
// bytes before the marker in the same piece of the sentence, nor if the marker describes a thing
// and not the work, as in "a general strike".
//
// # Limits
//
// The words are English. The rules know phrases and not grammar, so that a value may be too long
// or too short. The table was learned from single prompts and does not see earlier turns. Of a
// prompt of more than 16 KiB, the beginning and the end are read, and [Intent.Assumed] gives the
// number of bytes between them. At most eight further requests are kept.
//
// testdata/cases/README.md has the measured accuracy.
//
// # Determinism
//
// Equal prompts give equal intents, in time linear in the length. Compile accepts any bytes and
// does not panic. Offsets are in bytes. The package does no I/O, reads no clock and does not
// depend on the order of maps; its functions may be called concurrently.
package intent
