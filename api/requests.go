// Package api is the vocabulary of Carrel's jobs: their requests and results, the kinds
// of errors, and problems. The engine, every surface and the client speak it; the command
// line prints as JSON what HTTP answers.
//
// Every job of the engine is a method (ctx, scope, *api.XRequest) (*api.XResult, error).
// A request is owned by its caller and not changed; a result is the caller's own. What
// has no limit in a request has a default that is told at its field.
package api

import (
	"errors"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// DefaultLimit and MaxLimit are how many entries a page of a list has: by default,
// and at most.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// A Cursor asks for a page of a list.
type Cursor struct {
	Limit int    `json:"limit,omitempty"` // DefaultLimit by default, MaxLimit at most
	After string `json:"after,omitempty"` // what the page before gave as next
}

// A List is a list, or a page of one.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // where the next page begins; empty on the last
}

// The requests of the methods that take plain arguments.
type (
	// None is the request of what needs to be told nothing.
	None struct{}

	// A SessionRequest names a session.
	SessionRequest struct {
		Session transcript.SessionID `json:"session"`
	}

	// A WordRequest asks which session a word names, see carrel.Engine.FindSession.
	WordRequest struct {
		Word string `json:"word"`
	}

	// A SessionsRequest asks for the sessions of a scope.
	SessionsRequest struct {
		Cursor
	}

	// A MessagesRequest asks for the blocks of a session.
	MessagesRequest struct {
		Session transcript.SessionID `json:"session"`
		Cursor
	}

	// A ContextRequest asks what is in the window of a session.
	ContextRequest struct {
		Session transcript.SessionID `json:"session"`
		Window  token.Count          `json:"window,omitempty"` // its size; that of the model by default
	}

	// A JournalRequest asks what happened to a session after a revision.
	JournalRequest struct {
		Session transcript.SessionID `json:"session"`
		Since   store.Revision       `json:"since,omitempty"`
		Cursor
	}

	// A LogRequest asks what happened to the artifacts of a scope after a version.
	LogRequest struct {
		Since store.Version `json:"since,omitempty"`
		Cursor
	}

	// A BlockRequest names a block, by its id or the beginning of it.
	BlockRequest struct {
		Block string `json:"block"`
	}

	// An IDRequest names an artifact, a manifest or something held for review.
	IDRequest struct {
		ID string `json:"id"`
	}

	// An IDsRequest names artifacts.
	IDsRequest struct {
		IDs []string `json:"ids"`
	}

	// A PutRequest takes artifacts in, all or none.
	PutRequest struct {
		Artifacts []*NewArtifact `json:"artifacts"`
	}

	// A PinArtifactRequest pins an artifact, or does so no longer.
	PinArtifactRequest struct {
		ID     string `json:"id"`
		Pinned bool   `json:"pinned"`
	}

	// A CollectRequest clears the stash.
	CollectRequest struct {
		DryRun bool `json:"dry_run,omitempty"`
	}

	// A ManifestsRequest asks for the manifests of a scope, or of one session.
	ManifestsRequest struct {
		Session transcript.SessionID `json:"session,omitempty"`
		Cursor
	}

	// A DiffRequest names two manifests.
	DiffRequest struct {
		ID    string `json:"id"`
		Other string `json:"other"`
	}
)

// The results of the methods that return what is no object, or several things.
type (
	// A SessionResult names a session.
	SessionResult struct {
		Session transcript.SessionID `json:"session"`
	}

	// A ContractResult has the statements of a contract, a line each.
	ContractResult struct {
		Statements []string `json:"statements"`
	}

	// A ManifestResult has a manifest: what the store knows of it, without its body,
	// and the sealed document, byte for byte.
	ManifestResult struct {
		store.Manifest
		Document []byte `json:"document"`
	}

	// A ReplayResult has a context, byte for byte as it was handed out.
	ReplayResult struct {
		Data []byte `json:"data"`
	}

	// A DiffResult says how two manifests differ.
	DiffResult = manifest.Delta

	// An Identity says who a credential is for, and what it allows.
	Identity struct {
		Actor       governance.Actor          `json:"actor"`
		Scopes      []governance.ScopePattern `json:"scopes"`
		Permissions []governance.Permission   `json:"permissions"`
		Expires     time.Time                 `json:"expires,omitzero"`
		Version     string                    `json:"version"` // of the server
		Policy      string                    `json:"policy"`  // that verdicts are bound to, see Engine.Policy
	}

	// An EventsRequest asks for a stream of what happens: to one session, or to all of
	// a scope and to its artifacts. Since is the id of the last event that is known, and
	// of one session that is a revision; the header Last-Event-ID outdoes it. Without
	// either, the stream begins with what happens next.
	EventsRequest struct {
		Session transcript.SessionID `json:"session,omitempty"`
		Since   string               `json:"since,omitempty"`
	}

	// An Event is what happened: an entry of the journal of a session, or of the log of
	// a scope, which is of no session.
	Event struct {
		Session transcript.SessionID `json:"session,omitempty"`
		Entry   store.Entry          `json:"entry"`
	}
)

// Items returns the entries of a list, or the error in place of it.
func Items[T any](l *List[T], err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return l.Items, nil
}

// Paging returns the cursor of the request that it is a part of.
func (c *Cursor) Paging() *Cursor { return c }

// Sealed reads the document and holds its seal against the one that was recorded. It
// fails with [ErrIntegrity].
func (r *ManifestResult) Sealed() (*manifest.Sealed, error) {
	sealed, err := manifest.Parse(r.Document)
	if err == nil && !sealed.Seal().Equal(r.Seal) {
		err = errors.New("its seal is not the one that was recorded")
	}
	if err != nil {
		return nil, fmt.Errorf("manifest %s: %w: %w", r.ID, ErrIntegrity, err)
	}
	return sealed, nil
}

// SealedOf is [ManifestResult.Sealed] of a result, or the error in place of it.
func SealedOf(r *ManifestResult, err error) (*manifest.Sealed, error) {
	if err != nil {
		return nil, err
	}
	return r.Sealed()
}
