//go:build !unix

package sqlite

import "os"

// writable reports whether the file at path has a permission for writing.
func writable(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().Perm()&0o200 != 0
}
