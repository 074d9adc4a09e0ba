//go:build !(darwin || linux)

package binding

// System implements [Table] where processes cannot be looked at: it knows none.
func System(int) (Entry, bool) { return Entry{}, false }
