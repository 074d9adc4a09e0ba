//go:build !unix

package postgres

import (
	"errors"
	"os/exec"
	"os/user"
)

func become(cmd *exec.Cmd, as *user.User) {
	if as != nil {
		cmd.Err = errors.ErrUnsupported
	}
}

func apart(*exec.Cmd) {}

func give(string, *user.User) error { return errors.ErrUnsupported }
