// Package store is the port to a database: sessions, artifacts and manifests,
// the cells that hold their text, their journals and contracts, and the finding
// of blocks and artifacts.
//
// # What a store promises
//
// A write is a [Change] at an expected [Revision] of one session. It is made
// whole or not at all, and it is durable before Apply returns: an acknowledged
// change survives the death of the process and the loss of power, as far as
// the disk keeps what it has acknowledged.
//
// A store finds; it never ranks, scores or decides. What a store returns in an
// order, it documents; everything else is a set.
//
// Text is in cells and nowhere else. Blocks, heads and journal entries refer
// to cells by id, so that a text can be erased without rewriting them; cells
// that were derived from others have edges to them. The index that
// [Finder.Postings] reads is derived, too, and is never read back.
//
// Scope comes first in every call. A store never mixes scopes: what is in
// another scope does not exist, and is reported like what never existed.
//
// Artifacts are written by an [Update], which makes a [Version] of their scope.
// Updates do not wait for one another: each names the version of what it
// replaces, and of nothing else.
//
// A [Call] to a model is recorded twice: when it begins, and when it ends. It is of no
// session's journal and waits for no writer of one, and as it holds no text it stays
// when a session is purged.
//
// # Errors and concurrency
//
// Drivers report the sentinels of this package, wrapped; test with errors.Is.
// Stores are safe for concurrent use by any number of goroutines. Iterators
// see the database as it was when the iteration began; an error is the last
// thing they yield.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/postings"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// The conditions that every driver reports.
var (
	ErrNotFound = errors.New("not found")
	ErrConflict = errors.New("changed by another writer")
	ErrBusy     = errors.New("store is busy")
	ErrCorrupt  = errors.New("store is damaged")
	ErrGone     = errors.New("erased")

	ErrFull       = errors.New("no space is left for it")
	ErrReadOnly   = errors.New("it cannot be written")
	ErrUnreadable = errors.New("it cannot be read")
	ErrFailing    = errors.New("its disk fails")
	ErrMoved      = errors.New("its file was moved away, removed or replaced")

	ErrUnreachable = errors.New("its server cannot be reached")
)

// A GoneError says that a cell was purged, and what is left of it. It is an
// [ErrGone].
type GoneError struct {
	Cell   CellID
	Kind   CellKind
	Commit digest.Digest
}

func (e *GoneError) Error() string { return fmt.Sprintf("cell %s: %v", e.Cell, ErrGone) }

// Is makes errors.Is(e, ErrGone) true.
func (e *GoneError) Is(target error) bool { return target == ErrGone }

// A SchemaError says that a store was made by a newer Carrel. Nothing was written to it.
type SchemaError struct {
	Path string // of the store, or its address
	Have int    // version of its schema
	Know int    // newest version that this program knows
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s has schema %d and this version of carrel knows schemas up to %d: use a newer carrel, or restore a backup from before the upgrade",
		e.Path, e.Have, e.Know)
}

// A Revision counts the changes to one session. The first makes it 1.
type Revision int64

// A CellID names one cell. It is random and says nothing about the text.
type CellID string

// A Cell is the one place where a text is stored.
type Cell struct {
	ID     CellID
	Kind   CellKind
	Salt   digest.Salt   // kept with the body and erased with it
	Commit digest.Digest // digest.Commit(Salt, Kind, Body); survives the body
	Body   []byte
}

// A CellKind says what a cell holds. It is stored as its text.
type CellKind string

// The kinds of cells.
const (
	CellItem    CellKind = "item"    // a piece of an imported file
	CellStub    CellKind = "stub"    // what stands in place of a block
	CellSummary CellKind = "summary" // what stands in place of a session's older blocks, as JSON
	CellAbout   CellKind = "about"   // title and origin of a session or an artifact, as JSON
	CellText    CellKind = "text"    // content of an artifact
	CellSegment CellKind = "segment" // a piece of an assembled context, as it was handed out
	CellQuery   CellKind = "query"   // what an assembled context was asked for
	CellNames   CellKind = "names"   // hashes of the ids in a file that is followed
	CellSent    CellKind = "sent"    // what was sent to a model in place of what a client sent
)

// An Edge says that a cell was made from another.
type Edge struct {
	Derived CellID
	Source  CellID
	Rel     string // such as "stub"
}

// A State says where a block is. It is stored as its text.
type State string

// The states of a block. Only erasure purges.
const (
	StateLive   State = "live"
	StateStub   State = "stub"
	StateCold   State = "cold"
	StatePurged State = "purged"
)

// A Block is what a store knows of one block. Turn orders the blocks of a
// session and is unique among those that are not Off.
type Block struct {
	ID     transcript.BlockID
	Turn   int
	Kind   transcript.Kind
	Tools  []string    // names of the tools it calls, in order
	Tokens token.Count // of the whole block, as it was imported
	State  State
	Form   string      // how much of it is in the window, in the pager's words
	Window token.Count // what it takes in the window now
	Stub   CellID      // text in its place, or empty
	Pinned bool        // by a user or an agent
	Off    bool        // not in the present window: left it, or of an earlier one
	Cells  []CellID    // the bytes it was read from, in order

	// Earlier is the number of the earlier window that the block is in, the oldest is 1. It
	// is 0 for one that is in none, and for one that was stored when no number was known.
	Earlier int
}

// A Head is what is known of a session without reading it.
type Head struct {
	ID       transcript.SessionID // set by the store
	Revision Revision             // set by the store
	Status   Status               // empty if it is live, or else StatusTombstoned or StatusPurged
	Format   string
	Model    string
	Encoding string // by which tokens were counted
	About    CellID
	Summary  CellID // what stands in the window for the older blocks, or empty
	Messages int
	Blocks   int         // in the visible conversation
	Tokens   token.Count // of all blocks, as imported
	Window   token.Count // of what is in the window now
	Bytes    int64       // of the imported input
	Created  time.Time   // UTC, whole milliseconds
	Updated  time.Time   // UTC, whole milliseconds
}

// An Entry is one line of a session's journal. It holds no text of the
// conversation.
type Entry struct {
	Revision Revision         `json:"revision"` // set by the store; there is one entry for each
	ID       string           `json:"id"`       // such as "op_5c1f09ab", unique in a scope
	Op       string           `json:"op"`       // such as "import" or "page"
	Actor    governance.Actor `json:"actor"`
	Time     time.Time        `json:"time"` // UTC, whole milliseconds
	Data     json.RawMessage  `json:"data"`
}

// A Change is all that one job writes to a session.
type Change struct {
	Head       Head // as it is from now on
	Cells      []Cell
	Edges      []Edge
	ItemsFrom  int      // index from which Items replaces the list of items
	Items      []CellID // the cells whose bodies concatenate to the input; nil leaves the list alone
	Blocks     []Block  // to add, or to replace those with the same id
	Index      []IndexEntry
	Entry      Entry
	Statements []string // to append to the contract, a line each

	// Rewrites are added, or replace those of the same kind and chain. Each refers to a
	// cell of kind CellSent among Cells, so that whatever purges what the session brought
	// purges what was sent of it.
	Rewrites []Rewrite

	// Erase takes out what is text and in no cell: the lines of the contract, and what
	// the blocks are findable by. The rewrites, whose chains are digests of text, go with
	// them. It is for a session that is purged, whose cells an [Update] purges.
	Erase bool
}

// An IndexEntry makes a block findable by words. It replaces what the block was findable
// by before.
type IndexEntry struct {
	Block transcript.BlockID
	Words map[string]uint32 // how often it has each
}

// A BlockRef names a block of a session.
type BlockRef struct {
	Session transcript.SessionID
	Block   transcript.BlockID
}

// Sessions keeps what is known of conversations.
type Sessions interface {
	// Apply makes a change as a whole or not at all, durably, and returns the
	// revision it made. It fails with ErrConflict unless the session is at
	// revision at; 0 means that it must not exist yet. It refuses a change
	// that is not valid, brings a cell or an entry that is there already, or
	// would give two visible blocks one turn, and with ErrNotFound a change
	// that refers to a cell or a block that is not there.
	Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at Revision, c *Change) (Revision, error)

	// Head returns the head of a session, or ErrNotFound.
	Head(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*Head, error)

	// Heads yields the heads of a scope, last updated first, then by id.
	Heads(ctx context.Context, scope governance.Scope) iter.Seq2[*Head, error]

	// Blocks yields the blocks of a session by turn, then by id; those that
	// are off come last. For no session it yields ErrNotFound.
	Blocks(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*Block, error]

	// Items returns the ids of the cells whose bodies concatenate to the
	// imported input, in order, or ErrNotFound.
	Items(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]CellID, error)
}

// Cells keeps text.
type Cells interface {
	// Cells yields the cells with the given ids, in that order. It yields
	// ErrNotFound at the first that does not exist, a [GoneError] at the first
	// that was purged, and ErrCorrupt at the first whose commitment does not hold.
	Cells(ctx context.Context, scope governance.Scope, ids []CellID) iter.Seq2[*Cell, error]

	// Sources returns the edges to the cells from which a cell was made
	// directly, ordered by source and relation. For no cell there are none.
	Sources(ctx context.Context, scope governance.Scope, id CellID) ([]Edge, error)

	// Derived returns the cells that were made from some cells, directly or not,
	// ordered by id. The given ones are not among them.
	Derived(ctx context.Context, scope governance.Scope, ids []CellID) ([]CellID, error)

	// Brought returns the cells that the changes of a session brought, ordered by id,
	// whether or not anything refers to them still. For no session there are none.
	Brought(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]CellID, error)
}

// Journal keeps what happened.
type Journal interface {
	// Entries yields the journal of a session from the revision after the
	// given one on, in order. For no session it yields ErrNotFound.
	Entries(ctx context.Context, scope governance.Scope, id transcript.SessionID, after Revision) iter.Seq2[*Entry, error]

	// Statements yields the lines of a session's contract in the order in
	// which they were appended. For no session it yields ErrNotFound.
	Statements(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[string, error]
}

// Finder finds blocks.
type Finder interface {
	// Block returns one block, or ErrNotFound. It does not tell whether the list that
	// the block is of is whole: see Blocks.
	Block(ctx context.Context, scope governance.Scope, ref BlockRef) (*Block, error)

	// Find returns the blocks whose id begins with prefix, ordered by session
	// and id, limit at most. Blocks that are off are among them.
	Find(ctx context.Context, scope governance.Scope, prefix string, limit int) ([]BlockRef, error)

	// Postings returns which blocks have some words, and how often. A block has a number
	// there, which is never larger than that of a block that was made findable later,
	// and which [Finder.Numbered] knows. The figures are of the blocks of the scope that
	// are findable by anything, of all sessions, whatever their state. What is returned
	// is the caller's.
	Postings(ctx context.Context, scope governance.Scope, words []string) ([]postings.View, error)

	// Numbered returns the blocks with some numbers, in their order. Where there is
	// none any more, the result has the zero value.
	Numbered(ctx context.Context, scope governance.Scope, numbers []int64) ([]BlockRef, error)
}

// Admin looks after a database.
type Admin interface {
	// Info describes the database.
	Info(ctx context.Context) (*Info, error)

	// Scopes returns the scopes of which there is anything, in order.
	Scopes(ctx context.Context) ([]governance.Scope, error)

	// Check verifies the database: its structure, every commitment, every
	// reference from one record to another, and that each record is as it was
	// written and none is missing, as far as a driver can tell. Problems are no
	// error: they are returned, in a stable order.
	Check(ctx context.Context) ([]string, error)

	// Backup writes a consistent copy to a new file while others go on
	// writing. It fails with fs.ErrExist if the file exists.
	Backup(ctx context.Context, path string) error

	// Close releases the database. It does not save: what a method has
	// reported as done is on disk already.
	Close() error
}

// Info describes a database.
type Info struct {
	Driver   string `json:"driver"`  // such as "sqlite"
	Version  string `json:"version"` // of the engine
	Path     string `json:"path,omitempty"`
	Schema   int    `json:"schema"` // version of the schema
	Sessions int64  `json:"sessions"`
	Blocks   int64  `json:"blocks"`
	Cells    int64  `json:"cells"`

	Artifacts int64 `json:"artifacts"`
	Manifests int64 `json:"manifests"`

	Bytes int64 `json:"bytes"` // on disk, or held
}

// A Store is a whole database.
//
//nolint:interfacebloat // it is nothing but its roles
type Store interface {
	Sessions
	Cells
	Journal
	Finder
	Artifacts
	Ledger
	Calls
	Admin
}
