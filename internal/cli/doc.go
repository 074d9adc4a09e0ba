// Package cli is the command line of Carrel.
//
// A command is a small constructor in a file of its own. It reads its
// arguments, calls one method of the engine with one request, and prints the
// result; it decides nothing. [Main] runs one command line and returns the exit
// code, so that tests need no process and only main exits.
//
// # Output
//
// Results go to standard output and nothing else does. A terminal gets aligned
// columns, a pipe gets fields parted by tabs, without headings, and never a
// color. With --json it is one document whose "schema" says what it is; keys
// are added to a schema, never removed. Text of conversations is printed with
// escapes for what commands a terminal and for what nobody sees. Where bytes are
// the result they are so in a pipe and in a file, and on a terminal with --raw.
//
// # Exit codes
//
// One function turns an error into an exit code, see "carrel help exit-codes".
// An error prints one line, and a hint at what to try next.
//
// Nothing here is safe for concurrent use but what says so.
package cli
