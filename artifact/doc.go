// Package artifact has [Pages], a cache of artifacts in memory, and [Source], the interface of the
// sources from which artifacts are fetched again. The artifacts themselves are in a store, see
// package store.
//
//	pages := artifact.NewPages[string](256 << 20)
//	page, ok := pages.Get(key, version)
//	if !ok { // a fault
//		text := read(key) // from the store
//		page = artifact.Page[string]{Version: version, Size: int64(len(text)), Value: text}
//		pages.Put(key, page)
//	}
//
// An artifact is a piece of context from outside the conversation: a memory,
// a retrieved chunk, a document. A store holds all artifacts; a few are
// resident in memory, in a set of [Pages] of limited size. A request for an
// artifact that is not resident is a fault: the caller reads it from the
// store and puts it into the set, which evicts the least recently used pages.
//
// # Stale pages are detected on access
//
// A page is stale when its source has other content. Sources change without
// notice: an editor saves a file, a site publishes a page, another process
// writes to the store. So the caller checks twice at each access:
//
//   - against the store, by the version that it reads there and passes to [Pages.Get]:
//     a page of another version is a fault;
//   - against the origin, by [Source.Fetch], which receives the caller's copy and
//     returns "unchanged" or the new content.
//
// # Sources
//
// A [Ref] names the origin of an artifact. A [Source] fetches it; package
// artifact/origin has sources for files, HTTP and MCP. Every fetch error is
// [ErrGone], [ErrForbidden] or [ErrUnavailable]; test with errors.Is.
//
// # Units and concurrency
//
// Sizes are in bytes. Lines are counted from 1. Pages and sources are safe
// for concurrent use. The package reads no clock and does no I/O: evictions
// depend only on the order of calls.
package artifact
