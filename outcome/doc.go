// Package outcome says how a tool call of a coding agent ended: passed, failed, or
// neither can be known, and in one line what the result says of it.
//
//	o := table.Of(call, result)
//	// o.Verdict is Failed, o.Text "--- FAIL: TestDim (0.00s); FAIL example.com/lamp 0.012s"
//
// # What decides
//
// A call is judged by the programs that its command line runs, as package shell reads
// it. The lines by which a program says how it ended win: "3 failed", "0 issues.". Then
// comes the status that the line ended with, where it is known, for those commands that
// it counts: the status of a pipe is that of its last command and proves nothing about
// those before it. A result with an error flag or a status that is not 0 never passes.
// Some programs print nothing when all is well, and an empty output is their word. Where
// none of this says anything, there is no verdict.
//
// What only shows something (cat, git log, a tool that reads a file) has no outcome,
// unless it failed. Nor has the report of a sub-agent, which is prose.
//
// # Text
//
// The text consists of pieces of the result, verbatim but for white space and colors,
// joined by "; ". Behind one of several like pieces stands how many more there are, as in
// (+3 more). What a client or a program puts around an output (ids of chunks, times,
// JSON, bars of progress) is not said, nor that an edit succeeded.
//
// # Programs
//
// Which lines decide is in one table of regular expressions by program, and users add
// programs of their own with [Table.With]. Nothing of a user's is run.
//
// All is computed from the call and the result alone, in time in proportion to the line
// and to the result, of which the first and the last 64 KiB are read. Tables are not
// changed once they are made, and may be used by several goroutines at once.
package outcome
