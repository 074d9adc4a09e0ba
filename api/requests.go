// Package api declares the requests and results of Carrel's jobs, the kinds
// of errors, and problems. The engine, every surface and the client use it;
// the command line prints as JSON the same results that HTTP returns.
//
// Every job is a method of carrel.Engine with the signature
//
//	func (ctx context.Context, scope governance.Scope, req *api.XRequest) (*api.XResult, error)
//
// The caller owns the request, which a job does not change, and the result.
// Fields document their defaults and units; sizes are in tokens, money in
// billionths of a US dollar, times in UTC. Requests and results are safe to
// marshal with encoding/json; their JSON names are those of the HTTP
// interface.
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

// DefaultLimit and MaxLimit are the default and the largest number of entries
// of a page.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// A Cursor asks for a page of a list.
type Cursor struct {
	Limit int    `json:"limit,omitempty"` // DefaultLimit by default, at most MaxLimit
	After string `json:"after,omitempty"` // Next of the previous page
}

// A List is a list or one page of it.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // cursor of the next page; empty on the last
}

// The requests of the methods that take plain arguments.
type (
	// None is an empty request.
	None struct{}

	// A SessionRequest names a session.
	SessionRequest struct {
		Session transcript.SessionID `json:"session"`
	}

	// A WordRequest has a word that names a session, see
	// carrel.Engine.FindSession.
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

	// A ContextRequest asks for the sizes of the parts of a session's window.
	ContextRequest struct {
		Session transcript.SessionID `json:"session"`
		Window  token.Count          `json:"window,omitempty"` // size of the context window; by default the model's
	}

	// A JournalRequest asks for the journal of a session after a revision.
	JournalRequest struct {
		Session transcript.SessionID `json:"session"`
		Since   store.Revision       `json:"since,omitempty"`
		Cursor
	}

	// A LogRequest asks for the events of a scope's artifacts after a
	// version.
	LogRequest struct {
		Since store.Version `json:"since,omitempty"`
		Cursor
	}

	// A BlockRequest names a block by its id or a prefix of it.
	BlockRequest struct {
		Block string `json:"block"`
	}

	// An IDRequest names an artifact, a manifest or a held memory.
	IDRequest struct {
		ID string `json:"id"`
	}

	// An IDsRequest names artifacts.
	IDsRequest struct {
		IDs []string `json:"ids"`
	}

	// A PutRequest stores artifacts, all or none.
	PutRequest struct {
		Artifacts []*NewArtifact `json:"artifacts"`
	}

	// A PinArtifactRequest pins or unpins an artifact.
	PinArtifactRequest struct {
		ID     string `json:"id"`
		Pinned bool   `json:"pinned"`
	}

	// A CollectRequest purges expired outputs from the stash.
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

// Results of methods whose plain result would be no JSON object, or several
// values.
type (
	// A SessionResult names a session.
	SessionResult struct {
		Session transcript.SessionID `json:"session"`
	}

	// A ContractResult has the statements of a contract, a line each.
	ContractResult struct {
		Statements []string `json:"statements"`
	}

	// A ManifestResult has the record of a manifest and its sealed document,
	// byte for byte.
	ManifestResult struct {
		store.Manifest
		Document []byte `json:"document"`
	}

	// A ReplayResult has the exact bytes of a context.
	ReplayResult struct {
		Data []byte `json:"data"`
	}

	// A DiffResult lists the differences between two manifests.
	DiffResult = manifest.Delta

	// An Identity is the actor of a credential and its permissions.
	Identity struct {
		Actor       governance.Actor          `json:"actor"`
		Scopes      []governance.ScopePattern `json:"scopes"`
		Permissions []governance.Permission   `json:"permissions"`
		Expires     time.Time                 `json:"expires,omitzero"`
		Version     string                    `json:"version"` // version of the server
		Policy      string                    `json:"policy"`  // policy to which verdicts are bound, see Engine.Policy
	}

	// An EventsRequest asks for a stream of events of one session, or of a
	// scope with its sessions and artifacts. Since is the id of the last
	// known event; for one session that is a revision. The header
	// Last-Event-ID overrides it. Without either, the stream begins with the
	// next event.
	EventsRequest struct {
		Session transcript.SessionID `json:"session,omitempty"`
		Since   string               `json:"since,omitempty"`
	}

	// An Event is an entry of a session's journal or, without a session, of a
	// scope's log.
	Event struct {
		Session transcript.SessionID `json:"session,omitempty"`
		Entry   store.Entry          `json:"entry"`
	}
)

// Items returns the entries of l, or err if it is not nil. A caller passes it
// the two results of a job, as in Items(e.Sessions(ctx, scope, req)).
func Items[T any](l *List[T], err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return l.Items, nil
}

// Paging returns c. Requests that embed a Cursor inherit it.
func (c *Cursor) Paging() *Cursor { return c }

// Sealed parses the document and compares its seal with the recorded one. It
// fails with [ErrIntegrity] if they differ or if the document cannot be read.
func (r *ManifestResult) Sealed() (*manifest.Sealed, error) {
	sealed, err := manifest.Parse(r.Document)
	if err == nil && !sealed.Seal().Equal(r.Seal) {
		err = errors.New("its seal is not the recorded one, so the document or the record was changed")
	}
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w: %w", r.ID, ErrIntegrity, err)
	}
	return sealed, nil
}

// SealedOf returns r.Sealed(), or err if it is not nil.
func SealedOf(r *ManifestResult, err error) (*manifest.Sealed, error) {
	if err != nil {
		return nil, err
	}
	return r.Sealed()
}
