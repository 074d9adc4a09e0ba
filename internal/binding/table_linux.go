package binding

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// System implements [Table] by the file system /proc.
func System(pid int) (Entry, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Entry{}, false
	}
	return parseStat(stat)
}

// parseStat reads the line that /proc has of a process: its id, its name in
// parentheses, which may have spaces and parentheses itself, and then fields, of which
// the second is the parent and the twentieth the start, in ticks since the system's.
func parseStat(stat []byte) (Entry, bool) {
	_, rest, _ := bytes.Cut(stat, []byte("("))
	to := bytes.LastIndexByte(rest, ')')
	if to < 0 {
		return Entry{}, false
	}
	const parent, started = 1, 19
	fields := bytes.Fields(rest[to+1:])
	if len(fields) <= started {
		return Entry{}, false
	}
	ppid, err := strconv.Atoi(string(fields[parent]))
	return Entry{Parent: ppid, Started: string(fields[started]), Name: string(rest[:to])}, err == nil
}
