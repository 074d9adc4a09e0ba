// Package outcome determines the outcome of a tool call of a coding agent: passed, failed or
// unknown, and a line of the result that shows it.
//
//	o := table.Of(call, result)
//	// o.Verdict is Failed, o.Text "--- FAIL: TestDim (0.00s); FAIL example.com/lamp 0.012s"
//
// # The verdict
//
// The programs on the command line decide, and programs that these may run. Lines in which a
// program reports its outcome come first: "3 failed", "0 issues.". Next is the exit status of the
// command line, if it is known: the status of a pipe is that of its last command and proves
// nothing about those before it. A result with an error flag or a status
// other than 0 never passes. Some programs print nothing on success, so for them an empty
// output is a pass. Otherwise the verdict is unknown.
//
// Commands that only show something (cat, git log, a tool that reads a file) have no outcome
// unless they fail. The report of a sub-agent has none, because it is prose.
//
// # Text
//
// The text consists of pieces of the result, joined by "; ". They are verbatim except for white
// space and colors. One of several similar pieces stands for all, with the number of the
// others, as in (+3 more). Text that a client or a program adds around an output (ids of
// chunks, times, JSON, progress bars) is left out. A successful edit has no text.
//
// # Programs
//
// A table of regular expressions by program defines the lines that decide. Users add programs
// with [Table.With]. The package runs no program.
//
// The result depends on the call and its result alone. Time is linear in the command line and
// the result; only the first and the last 64 KiB of the result are read. Tables do not change
// and may be used concurrently.
package outcome
