// Package api declares the request and the result of each of Carrel's jobs, the kinds of errors,
// and [Problem], which is an error as JSON. A job is an operation of the engine, such as an import
// or a compression. The engine, its surfaces (command line, HTTP and MCP) and the client use these
// types; the command line prints as JSON the same results that HTTP returns.
//
// Every job is a method of carrel.Engine that takes a context, a scope and a request:
//
//	func (ctx context.Context, scope governance.Scope, req *api.XRequest) (*api.XResult, error)
//
// Most jobs have a request and a result of their own name. Others share one, such as
// [SessionRequest], [IDRequest] or [ImportResult], whose comments name their jobs. Jobs that list
// things return a [List].
//
// The caller owns the result, and the request except for data that a field hands over; a job does
// not change the request. A request with DryRun makes the same checks and returns the same result
// as without, but writes nothing. Op is the id of the journal entry that a job wrote; it is empty
// if the job wrote nothing.
//
// Fields of type [token.Count] are in tokens, fields named Bytes or Size in bytes, money is in
// billionths of a US dollar, times are in UTC. Imported tokens are those of a block or a session as
// it was imported, before any pass. All requests but [FollowRequest] and all results can be
// marshaled with encoding/json; their JSON names are those of the HTTP interface.
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
// of a page over HTTP and MCP.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// A Cursor asks for a page of a list.
type Cursor struct {
	// Limit is the most entries of the page, DefaultLimit by default and at most MaxLimit. For a
	// method of carrel.Engine 0 means all, and there is no maximum. Another number is an
	// [ErrRequest].
	Limit int    `json:"limit,omitempty"`
	After string `json:"after,omitempty"` // Next of the previous page
}

// A List is a list or one page of it.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // cursor of the next page; empty on the last
}

// Requests of few fields, some for several jobs.
type (
	// None is the empty request of Reviews and RemovedSessions.
	None struct{}

	// A SessionRequest names a session. It is the request of Session, RemoveSession,
	// RestoreSession, PurgeSession, Contract, CheckContract, ProbeReport, Rewrites, State, Stats
	// and Summary.
	SessionRequest struct {
		Session transcript.SessionID `json:"session"`
	}

	// A WordRequest has a word that names a session, see
	// carrel.Engine.FindSession.
	WordRequest struct {
		Word string `json:"word"`
	}

	// A SessionsRequest asks for the sessions of a scope, last updated first.
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

		// Window is the capacity of the context window. The default is Options.Window of the
		// engine, or else the capacity of the session's model.
		Window token.Count `json:"window,omitempty"`
	}

	// A JournalRequest asks for the journal of a session after a revision, oldest entry first.
	JournalRequest struct {
		Session transcript.SessionID `json:"session"`
		Since   store.Revision       `json:"since,omitempty"`
		Cursor
	}

	// A LogRequest asks for the events of a scope's artifacts after a
	// version, oldest first.
	LogRequest struct {
		Since store.Version `json:"since,omitempty"`
		Cursor
	}

	// A BlockRequest names a block by its id or a prefix of it. It is the request of Why.
	BlockRequest struct {
		Block string `json:"block"`
	}

	// An IDRequest names a manifest (for Manifest, VerifyManifest and Replay), a memory (for
	// Review) or a call (for Call).
	IDRequest struct {
		ID string `json:"id"`
	}

	// An IDsRequest names artifacts. It is the request of Remove, Restore and Purge.
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

	// A ManifestsRequest asks for the manifests of a scope, or of one session, newest first.
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

	// An EventsRequest asks over HTTP for a stream of events of one session, or
	// of a scope with its sessions and artifacts. Since is the id of the last
	// known event; for one session that is a revision. The header
	// Last-Event-ID overrides it. Without either, the stream begins with the
	// next event. No method of carrel.Engine takes this request.
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

// Items returns the entries of l, or err if it is not nil. A caller passes it the two results of a
// job, as in Items(e.Sessions(ctx, scope, req)). It drops l.Next, so it returns one page only.
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
