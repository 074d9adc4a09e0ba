//go:build unix

package sqlite

import "syscall"

// writable reports whether the process may write the file at path. It does not open the file,
// because closing it again would release the POSIX locks of this process.
func writable(path string) bool {
	const w = 2
	return syscall.Access(path, w) == nil
}
