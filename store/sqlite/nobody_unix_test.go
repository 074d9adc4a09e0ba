//go:build unix

package sqlite_test

import (
	"os"
	"os/exec"
	"syscall"
)

// asNobody has a command run as a user who owns nothing, if we may do so.
func asNobody(cmd *exec.Cmd) {
	const nobody = 65534
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}
