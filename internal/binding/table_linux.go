package binding

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// System implements [Table] with the file system /proc.
func System(pid int) (Entry, bool) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Entry{}, false
	}
	return parseStat(stat)
}

// parseStat parses the line in /proc/PID/stat: the process id, the name in parentheses, which may
// itself contain blanks and parentheses, and then fields. The second of these is the parent, the
// twentieth the start in clock ticks since boot.
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
