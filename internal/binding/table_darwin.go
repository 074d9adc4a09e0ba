package binding

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// System implements [Table] with the process list of the kernel.
func System(pid int) (Entry, bool) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid {
		return Entry{}, false
	}
	start := p.Proc.P_starttime
	return Entry{
		Parent:  int(p.Eproc.Ppid),
		Started: fmt.Sprintf("%d.%06d", start.Sec, start.Usec),
		Name:    unix.ByteSliceToString(p.Proc.P_comm[:]),
	}, true
}
