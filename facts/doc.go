// Package facts extracts from a conversation the facts that a program can
// recognize and that an agent may have to know or repeat exactly.
//
//	found := facts.Extract(messages, blocks, nil)
//	graph := facts.NewGraph(messages, blocks, nil)
//	need := facts.Estimate(facts.History(messages, blocks, nil), nil)
//
// [Each] finds identifiers in a text: paths, files, URLs, hashes, ids,
// versions, symbols, numbers and quantities. [Extract] finds facts in a
// conversation, with the calls that they come from: tasks and corrections,
// files read and changed, commands and their outcomes, decisions and reasons,
// failures and their fixes, open questions, plans and progress. [NewGraph]
// connects files, commands, errors, to-dos and identifiers with the calls
// that use them, and records which later call superseded a call.
//
// # Texts of facts
//
// Texts are verbatim: one line of the conversation without marks of Markdown,
// shortened with an ellipsis. Two are composed of words of the conversation:
// the description of a change, and the fields of a JSON result. The package
// does not understand meaning. It uses the arguments and results of calls,
// the formats in which programs report, and in prose English words. In prose
// it prefers missing a fact to inventing one.
//
// # How identifiers are found
//
// A text is cut into runs of the bytes of URLs, and those into runs of
// letters, digits and _ . / - @. Each identifier is as large as possible: a
// path rather than a file, a date rather than three numbers, a version or a
// quantity rather than a number, a hash or an id rather than a symbol. An
// escape such as \n in JSON separates; terminal color codes are skipped. A
// plain word is no identifier.
//
// The test of the package measures the quality with the labeled texts in
// testdata/labeled. It fails if less than 98 of 100 finds are right.
//
// # Superseded calls
//
// Most of a long conversation is tool results, and later calls make many of
// them obsolete: a file is read and then edited, a failing test passes, a
// task list is written ten times. [Graph.Call] says so of a call and names
// the later call. It is careful: a failed call supersedes nothing, a part of
// a file does not cover the whole, and the output of a pipe proves nothing
// about a file. The rules are with [Graph].
//
// # Expected need
//
// [NewScan] finds the lines and the identifiers of a text once, when the text
// arrives. [History] orders the scans of a conversation and records their
// sources. [Estimate] computes with a [Model] the [Chance] that the agent
// uses a name or copies a line in its next calls: integer weights of
// observable features, such as the number of calls since a name was last
// seen. doc/design/need.md describes the features and how the weights were
// fitted; [Model.ExplainName] and [Model.ExplainLine] return the
// contributions of the features.
//
// # Cost and determinism
//
// All functions take one pass over the bytes and depend only on their
// arguments: equal conversations give equal facts and graphs, in equal order.
// No function calls a model or reads a clock. The bounds of the texts of facts are in runes,
// offsets in bytes. Functions may be called concurrently.
package facts
