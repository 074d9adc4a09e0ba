//go:build !unix

package sqlite

import "os"

// writable reports whether a file may be written.
func writable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().Perm()&0o200 != 0
}
