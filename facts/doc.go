// Package facts extracts from a conversation what a program can recognize and an
// agent may have to know or repeat exactly.
//
// [Each] finds identifiers in a text: paths, files, URLs, hashes, ids, versions,
// symbols, numbers and quantities. [Extract] finds
// facts in a conversation: what was wanted and corrected, which files were read,
// changed and how, which commands ran and how they ended, what was decided and
// why, what failed and what resolved it, what is open, planned and done, and by
// which call. [NewGraph] connects what calls are about: where a file, a command, an
// error, an entry of a list of things to do or an identifier came from, what used
// it, and which call was superseded by which later one.
//
// # What facts say
//
// Texts are verbatim: pieces of the conversation on one line, without marks of
// Markdown before a line or in bold, cut off with an ellipsis where they are
// long. Two are composed of words that are in the conversation: the description
// of a change, and the fields of a result in JSON. The package does not know
// what a text means. It goes by the arguments and results of calls, by how
// programs report, and in prose by English words; a fact of prose that is left
// out is no mistake, one that says what was not meant is.
//
// # How identifiers are found
//
// A text is cut into runs of the bytes that URLs are made of, those into runs of
// letters, digits and _ . / - @, and each of these is the largest that it can be:
// a path rather than a file, a date rather than three numbers, a version or a
// quantity rather than a number, a hash or an id rather than a symbol. An escape
// such as \n in JSON separates; a sequence that colors a terminal is skipped. A
// plain word is no identifier, whatever it means: a reader of another language or
// of another trade would not know it for one either.
//
// How well this does is measured: testdata/labeled has texts of all kinds with all
// that is to be found in them, and the test of the package fails where less than
// 98 of 100 finds are right.
//
// # What supersedes what
//
// Most of a long conversation is what tools returned, and much of that has been
// overtaken: a file was read and then edited, or read again; a test failed and
// passes by now; a list of things to do was stated ten times. [Graph.Call] says so
// of a call, and names the later call that is the reason, so that what drops it
// can explain why. It is careful: a call that failed supersedes nothing, a part of
// a file does not cover all of it, and what a pipe leaves of a file is not known.
// The rules are with [Graph].
//
// # What is needed again
//
// [NewScan] finds the lines and the identifiers of a text, once, when it arrives.
// [History] puts the scans of a conversation in order and says where each is from, and
// [Estimate] turns that into the [Chance] that the agent uses a name or copies a line in
// what it does next, by a [Model]: integer weights of features that can be seen, such as
// how many calls ago something was seen, whether the agent worked with it, and what
// became of its file. doc/design/need.md has the features and how the weights were found;
// [Model.ExplainName] and [Model.ExplainLine] say which of them decided.
//
// # Cost and determinism
//
// All of it is one pass over the bytes, linear in their number, and depends on
// nothing else: equal conversations have equal facts, in equal order, and equal
// graphs. It calls no model and reads no clock. Lengths are in runes.
package facts
