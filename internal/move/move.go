// Package move copies a store to another one of any driver, and verifies the copy.
//
// The source is only read. The copy has every record of every scope under its own id: sessions with
// their whole journals, cells with their salts, what remains of purged cells, artifacts with their
// versions and positions, the log, manifests and outcomes, calls, rewrites, contracts,
// credentials, requests if the target can take them, and jobs that have not ended. The indexes of words are made again: that of blocks from the source's index, that of
// artifacts from their text.
//
// # Order, and going on
//
// [Run] first compares the target with the source. The target must be empty, or an earlier state of
// the source: each of its journals and logs is the beginning of the source's. Any other target is
// an [OtherError], and nothing is written. Then Run reads the whole source, which finds damage
// before anything is written.
//
// It adds the cells of a scope first and then replays each journal and the log. The entries come
// one by one, but what a session consists of now comes with its last entry, and what an artifact is
// now with the version that wrote it last. So a session that is at its last revision is complete,
// and a move that was cut off at any place goes on where it was. In the same way a copy is brought
// up to date after the source has grown.
//
// # Verification
//
// In the end Run reads the whole target, and compares digests over every record of both stores. The
// digest covers all that the package copies except requests, jobs, the index of artifacts, which a
// store cannot list, and the numbers by which the index of blocks orders them. An unequal digest is a
// [DifferError].
package move

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// Options adjusts a move.
type Options struct {
	// IndexText returns the text by which an artifact is found, given its metadata and its
	// content. It is required.
	IndexText func(a *store.Artifact, about, content []byte) (string, error)

	// Progress is called now and then with the name of a step and how far it is. It may be nil.
	Progress func(step string, done, total int)

	// DryRun compares the stores, reads the source, and writes nothing.
	DryRun bool
}

// A Result says what the source has, what of that the target had before the move, and whether the
// copy was verified.
type Result struct {
	Scopes     int           `json:"scopes"`
	Has        Amount        `json:"has"`     // of the source
	Present    Amount        `json:"present"` // of that, what the target had before
	Requests   int           `json:"requests"`
	LeftBehind int           `json:"requests_left"` // requests that the target cannot take
	Digest     digest.Digest `json:"digest"`
	Verified   bool          `json:"verified"` // whether the source and the target both have this digest
}

// An Amount counts records.
type Amount struct {
	Revisions   int `json:"revisions"` // of sessions
	Versions    int `json:"versions"`  // updates of artifacts
	Cells       int `json:"cells"`
	Calls       int `json:"calls"`
	Credentials int `json:"credentials"`
}

// An OtherError means that the target has something that the source does not have. So the target is
// not a copy of the source.
type OtherError struct {
	Scope governance.Scope // empty for credentials
	What  string
}

func (e *OtherError) Error() string {
	if e.Scope == "" {
		return fmt.Sprintf("the target is neither empty nor a copy of the source: %s", e.What)
	}
	return fmt.Sprintf("the target is neither empty nor a copy of the source: scope %s: %s", e.Scope, e.What)
}

// A DifferError means that a finished copy does not equal the source.
type DifferError struct {
	Scope   governance.Scope // empty for credentials
	Changed bool             // whether the source was changed during the move
}

func (e *DifferError) Error() string {
	where := "scope " + string(e.Scope)
	if e.Scope == "" {
		where = "credentials"
	}
	if e.Changed {
		return fmt.Sprintf("%s: the source was changed during the move", where)
	}
	return fmt.Sprintf("%s: the digest of the copy differs from that of the source", where)
}

// A mover copies a store.
type mover struct {
	from, to store.Database
	o        Options
	res      *Result
}

// Run copies one store to another: from is the source, and to is the target. It fails with
// [store.ErrCorrupt] if the source is damaged, with an [*OtherError] if the target is neither empty
// nor an earlier copy, and with a [*DifferError] if the finished copy does not equal the source;
// then it returns a result, too.
func Run(ctx context.Context, from, to store.Database, o *Options) (*Result, error) {
	m := &mover{from: from, to: to, o: *o, res: new(Result)}
	if m.o.Progress == nil {
		m.o.Progress = func(string, int, int) {}
	}
	scopes, err := from.Scopes(ctx)
	if err != nil {
		return nil, source(err)
	}
	m.res.Scopes = len(scopes)
	plans, err := m.compareAll(ctx, scopes)
	if err != nil {
		return nil, err
	}
	keys, err := m.compareCredentials(ctx)
	if err != nil {
		return nil, err
	}
	for i, p := range plans {
		m.o.Progress("read the source: scope", i+1, len(plans))
		if p.survey, err = look(ctx, from, p.scope); err != nil {
			return nil, source(fmt.Errorf("check scope %s: %w", p.scope, err))
		}
	}
	m.res.Digest = total(plans, keys.sum)
	if err := m.countRequests(ctx, plans); err != nil {
		return nil, err
	}
	if m.o.DryRun {
		return m.res, nil
	}
	for _, p := range plans {
		if err := m.copy(ctx, p); err != nil {
			return nil, fmt.Errorf("copy scope %s: %w", p.scope, err)
		}
	}
	if err := m.copyCredentials(ctx, keys); err != nil {
		return nil, err
	}
	return m.res, m.verify(ctx, plans, keys.sum)
}

// source adds to an error that it occurred in reading the source.
func source(err error) error { return fmt.Errorf("read the source: %w", err) }

// total returns the digest of a store, given its scopes and its credentials.
func total(plans []*plan, credentials digest.Digest) digest.Digest {
	f := &fingerprint{hash: sha256.New()}
	f.text("carrel store 1")
	for _, p := range plans {
		f.text(string(p.scope), p.survey.sum.String())
	}
	f.text(credentials.String())
	return digest.Digest(f.hash.Sum(nil))
}

// verify compares the digests of both stores.
func (m *mover) verify(ctx context.Context, plans []*plan, issued digest.Digest) error {
	for i, p := range plans {
		m.o.Progress("verify the copy: scope", i+1, len(plans))
		got, err := look(ctx, m.to, p.scope)
		if err != nil {
			return fmt.Errorf("verify the copy: scope %s: %w", p.scope, err)
		}
		if got.sum.Equal(p.survey.sum) {
			continue
		}
		now, err := look(ctx, m.from, p.scope)
		if err != nil {
			return source(fmt.Errorf("check scope %s: %w", p.scope, err))
		}
		return &DifferError{Scope: p.scope, Changed: !now.sum.Equal(p.survey.sum)}
	}
	all, err := m.to.Credentials(ctx)
	if err != nil {
		return fmt.Errorf("verify the copy: %w", err)
	}
	if !ofCredentials(all...).Equal(issued) {
		return &DifferError{}
	}
	m.res.Verified = true
	return nil
}

// A survey has what was found in reading a whole scope.
type survey struct {
	sum  digest.Digest
	gone map[store.CellID]bool // purged cells
}

// blocksAtOnce is the number of blocks whose words are read at a time.
const blocksAtOnce = 20_000

// look reads a whole scope. It checks each text against its commitment.
func look(ctx context.Context, s store.Database, scope governance.Scope) (*survey, error) {
	f := &fingerprint{ctx: ctx, s: s, scope: scope, hash: sha256.New(), cells: make(map[store.CellID]bool)}
	found := &survey{gone: make(map[store.CellID]bool)}
	f.text("carrel moved scope 1")
	for _, part := range []func() error{f.sessions, f.artifacts, f.manifests, f.log, f.calls} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	ids, err := s.AllCells(ctx, scope)
	if err != nil {
		return nil, err
	}
	err = cellsOf(ctx, s, scope, ids, func(c *store.Cell) error {
		f.cell(c)
		if c.Gone {
			found.gone[c.ID] = true
		} else {
			f.text(string(c.Salt[:]))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	edges, err := s.AllEdges(ctx, scope)
	if err != nil {
		return nil, err
	}
	f.edges(edges)
	if err := f.indexed(s); err != nil {
		return nil, err
	}
	found.sum = digest.Digest(f.hash.Sum(nil))
	return found, nil
}
