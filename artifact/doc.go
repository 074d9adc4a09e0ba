// Package artifact is the vocabulary of the paged artifact store: what is
// resident, what is dirty, what is pinned, and what a fault is.
//
// An artifact is a piece of context from outside the conversation: a memory, a
// retrieved chunk, a document. A store holds all of them; a few are resident,
// in memory, in a set of [Pages] of limited size. To ask for one that is not
// there is a fault: the caller reads it from the store and puts it into the
// set, which evicts the pages that were used least recently.
//
// # The dirty bit is checked on access
//
// A page is dirty when it is no longer what its source holds. Nobody tells us
// when that happens: an editor saves a file, a site publishes a page, another
// process writes to the store. A bit that is set by one's own writes misses all
// of them, and a bit that is only set, but never acted upon, serves what is
// stale. So both halves of the bit are looked up each time a page is wanted,
// before it is used:
//
//   - against the store, by the version that [Pages.Get] takes: a page of
//     another version is no hit;
//   - against the origin, by [Source.Fetch], which is told what the caller
//     has and answers that it is unchanged, or with what it is now.
//
// # Sources
//
// A [Ref] names where an artifact came from and can be fetched from again. A
// [Source] fetches; package artifact/origin has those for files, HTTP and MCP.
// Every error of a fetch is one of [ErrGone], [ErrForbidden] and
// [ErrUnavailable]; test with errors.Is.
//
// # Units and concurrency
//
// Sizes are in bytes. Lines are counted from 1. Pages are safe for
// concurrent use, and sources must be. The package reads no clock and does no
// I/O: which pages are evicted depends only on the order of the calls.
package artifact
