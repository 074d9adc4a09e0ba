// Package markdown writes windows of sessions as Markdown that people read, and reads what it
// has written.
//
// A message is a section: its heading has its place, who speaks, and the id of its block. All
// that was said is in fences of backticks that are longer than any in it, as it was said:
// nothing of it can end its fence, look like a heading, or be rendered. Calls have their
// arguments and how they ended, results stand in their own fences, stubs have a heading of
// their own. At the end is a table of the blocks of which a stub or nothing is in the window,
// and of those of which a part is.
//
// Characters that could command a terminal, end a line elsewhere or are not seen are
// written as others that are (␛ for an escape, U+202E for what turns a line around); thinking
// loses its signature, and media and what only a provider can read are named with their size.
// These are losses. Ids that are not of one line without backticks are written as such.
//
// Reading takes the sections back: texts, thinking, calls and results. Tables and outcomes are
// made anew where a window is written, and of a window of this format every section that
// did not change keeps its bytes. No provider takes Markdown, so that nothing is refused.
package markdown
