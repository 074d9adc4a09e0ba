package storetest

import (
	"context"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/move"
	"github.com/carrel-dev/carrel/store"
)

// Fingerprint returns a digest of the contents of a scope: sessions with their
// blocks, journals and contracts, artifacts with the cells derived from them,
// manifests, the log, and calls, in their documented orders. Two stores, or one
// store at two times, have the same fingerprint if a reader cannot tell them apart.
// The fingerprint does not cover the indexes of words.
//
// Text is represented by its commitment, whose salt is random, so that a text
// cannot be guessed from a fingerprint. Fingerprint reads in several transactions,
// so there must be no concurrent writes.
func Fingerprint(ctx context.Context, s store.Store, scope governance.Scope) (digest.Digest, error) {
	return move.Fingerprint(ctx, s, scope)
}
