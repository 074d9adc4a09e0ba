//go:build unix

package postgres

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// become makes a command run as another user, unless as is nil.
func become(cmd *exec.Cmd, as *user.User) {
	if as == nil {
		return
	}
	uid, gid, err := ids(as)
	if err != nil {
		cmd.Err = err
		return
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: gid}}
}

// apart runs a command in its own session, so that signals to the test's process group do not
// reach it.
func apart(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setsid = true
}

// give makes another user the owner of a directory.
func give(dir string, to *user.User) error {
	uid, gid, err := ids(to)
	if err != nil {
		return err
	}
	return os.Chown(dir, int(uid), int(gid))
}

func ids(u *user.User) (uid, gid uint32, err error) {
	user, err1 := strconv.ParseUint(u.Uid, 10, 32)
	group, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return uint32(user), uint32(group), errors.Join(err1, err2)
}
