//go:build !(darwin || linux)

package binding

// System implements [Table] on systems without a supported process list: it returns no entry.
func System(int) (Entry, bool) { return Entry{}, false }
