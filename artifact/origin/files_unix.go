//go:build unix

package origin

import "syscall"

// nonblock opens a pipe without waiting for somebody to write to it.
const nonblock = syscall.O_NONBLOCK
