//go:build unix

package sqlite

import "syscall"

// writable reports whether a file may be written. To open it would do, too, but to
// close it again would drop the locks that this process has on it.
func writable(path string) bool {
	const w = 2
	return syscall.Access(path, w) == nil
}
