// Package facts extracts from a conversation what a program can recognize and an
// agent may have to know or repeat exactly.
//
// [Each] finds identifiers in a text: paths, files, URLs, ids, symbols and
// numbers. [Extract] finds facts in a conversation: what was wanted and
// corrected, which files were changed and how, which commands ran and how they
// ended, what was decided and why, what failed and what resolved it, what is
// open, planned and done.
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
// # Cost and determinism
//
// Extraction is one pass over the bytes, linear in their number, and depends on
// nothing else: equal conversations have equal facts, in equal order. It calls
// no model and reads no clock. Lengths are in runes.
package facts
