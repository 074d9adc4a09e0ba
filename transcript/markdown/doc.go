// Package markdown writes windows of sessions as Markdown for people, and reads these documents.
//
// A message is a section. Its heading has its number, its speaker, and the id of its block. All
// texts are in fences of backticks that are longer than any run of backticks in the text. So no
// text can end its fence, look like a heading, or be rendered. Calls have their arguments and
// their outcome, results their own fences, stubs their own heading. At the end is a table of the
// blocks that are not whole in the window: shortened, replaced by a stub, or gone.
//
// Invisible characters, and characters that could control a terminal or end a line elsewhere, are
// replaced by visible ones (␛ for an escape, the text U+202E for a character that reverses a
// line). Thinking loses its signature. Media, and data that only a provider can read, are replaced
// by their name and size. All of these are reported as losses. An id with a line break or a
// backtick is replaced, too.
//
// Reading returns texts, thinking, calls and results. Tables and outcomes are computed again when
// a window is written, and every unchanged section of a document keeps its bytes. Validate finds
// no violations, because no provider accepts Markdown.
package markdown
