// Package store is the interface to a database of sessions, artifacts and manifests: the cells with
// their text, journals, contracts, and the index of blocks and artifacts. Packages store/memory,
// store/sqlite and store/postgres implement it; package store/storetest tests implementations.
//
//	db, err := sqlite.Open(ctx, path, nil)
//	...
//	head, err := db.Head(ctx, scope, id)
//
// The example of the package writes a session and reads the text of a block.
//
// # Guarantees
//
// A write is a [Change] at an expected [Revision] of one session. It is made whole or not at all,
// and it is durable before Apply returns: it survives the death of the process and the loss of
// power, as far as the disk keeps acknowledged writes.
//
// A store finds; it does not rank, score or decide. Orders of results are documented; results
// without a documented order are sets. A limit of 0 or less returns nothing, except that of a
// [CallFilter].
//
// The text of conversations and artifacts is stored only in cells. Blocks, heads and journal
// entries refer to cells by id, so that text can be erased without rewriting them; derived cells
// have edges to their sources. Outside of cells are the lines of contracts and the words of the
// indexes, which a purge removes, see [Change.Erase] and [Update.Purge].
//
// A method that reads or writes records of a scope takes the scope after ctx, or in a [Job] or
// [Request]. A store never mixes scopes: a record in another scope is reported as not existing.
//
// Artifacts are written by an [Update], which makes a new [Version] of their scope. Updates do not
// conflict unless they replace the same version of an artifact.
//
// A [Call] to a model is recorded when it begins and when it ends. It is not part of a session's
// journal, does not wait for a session's writers, and stays when a session is purged, because it
// holds no text.
//
// # Roles
//
// The drivers return a [Database]. [Requests] and [Blobs] are roles that only some of their stores
// have: ask with r, ok := db.(store.Requests). Stores of sqlite have Blobs, those of postgres both,
// and those of memory Requests.
//
// # Errors and concurrency
//
// Drivers wrap the sentinels of this package; test with errors.Is. The error for an invalid
// argument matches none of them. Stores are safe for concurrent use. An iterator sees the database
// as it was when the iteration began, except that [Cells.Cells] may yield a [GoneError] for a cell
// that was purged since; an error is the last value that it yields. A store keeps no reference to
// its arguments after a method returns, and the caller owns the results.
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

// Errors of every driver. In the texts of the last six, "it" is the store, or a place of blobs.
var (
	ErrNotFound = errors.New("not found")                 // the record is not in the scope
	ErrConflict = errors.New("changed by another writer") // read the record again before another attempt
	ErrBusy     = errors.New("store is busy")             // the same call may succeed later
	ErrCorrupt  = errors.New("store is damaged")          // a record is missing or changed; [Admin.Check] lists the damage
	ErrGone     = errors.New("erased")                    // the text was purged; see [GoneError]

	ErrFull       = errors.New("no space is left for it")
	ErrReadOnly   = errors.New("it cannot be written") // opened for reading, or without the permission to write
	ErrUnreadable = errors.New("it cannot be read")    // no permission, an old schema, or a missing setting
	ErrFailing    = errors.New("its disk fails")
	ErrMoved      = errors.New("its file was moved away, removed or replaced") // open the store again

	ErrUnreachable = errors.New("its server cannot be reached")
)

// A GoneError means that a cell was purged. It has the parts of the cell that
// remain, and matches [ErrGone].
type GoneError struct {
	Cell   CellID
	Kind   CellKind
	Commit digest.Digest
}

func (e *GoneError) Error() string { return fmt.Sprintf("cell %s: %v", e.Cell, ErrGone) }

// Is makes errors.Is(e, ErrGone) true.
func (e *GoneError) Is(target error) bool { return target == ErrGone }

// A SchemaError means that a newer version of Carrel made the store. Nothing was written to it.
type SchemaError struct {
	Path string // path or address of the store
	Have int    // version of its schema
	Know int    // newest version that this program supports
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s has schema %d and this version of carrel knows schemas up to %d: use a newer carrel, or restore a backup from before the upgrade",
		e.Path, e.Have, e.Know)
}

// A Revision counts the changes to one session, from 1.
type Revision int64

// A CellID names one cell of a scope. The writer makes it: any text that is not empty, new in the
// scope, and reveals nothing about the body, such as 16 random bytes in hexadecimal.
type CellID string

// A Cell stores one text. The writer makes a new random Salt for each cell, and computes Commit.
type Cell struct {
	ID     CellID
	Kind   CellKind
	Salt   digest.Salt   // erased with the body
	Commit digest.Digest // digest.Commit(Salt, string(Kind), Body); writes and reads check it; stays after a purge
	Body   []byte

	// Gone means that the cell was purged, and has neither Salt nor Body. Only [Movable.AddCells]
	// takes such a cell; [Cells.Cells] yields a [GoneError] in its place.
	Gone bool

	// Blob, if it is not empty, names the blob that has the body; Body is then
	// nil. Only package store/offload sets it, for a store with the role [Blobs].
	Blob BlobKey
}

// A CellKind is the kind of a cell's content. It is stored as its text.
type CellKind string

// The kinds of cells.
const (
	CellItem    CellKind = "item"    // a piece of an imported file
	CellStub    CellKind = "stub"    // text in place of a block
	CellSummary CellKind = "summary" // summary in place of a session's older blocks, as JSON
	CellAbout   CellKind = "about"   // title and origin of a session or an artifact, as JSON
	CellText    CellKind = "text"    // content of an artifact
	CellSegment CellKind = "segment" // a piece of an assembled context
	CellQuery   CellKind = "query"   // query of an assembled context
	CellNames   CellKind = "names"   // hashes of the ids of messages in a file that is imported again as it grows
	CellSent    CellKind = "sent"    // text sent to a model in place of a client's messages
)

// An Edge records that a cell was made from another.
type Edge struct {
	Derived CellID
	Source  CellID
	Rel     string // such as "stub"; the store does not interpret it
}

// A State says where the text of a block is. It is stored as its text.
type State string

// The states of a block. Only an erasure sets StatePurged.
const (
	StateLive   State = "live"   // in the window
	StateStub   State = "stub"   // a short text is in the window in its place
	StateCold   State = "cold"   // out of the window; the text is kept
	StatePurged State = "purged" // the text is erased
)

// A Block is the record of a block. Turn orders the blocks of a session and
// is unique among blocks that are not Off.
type Block struct {
	ID     transcript.BlockID
	Turn   int
	Kind   transcript.Kind
	Tools  []string    // names of the called tools, in order
	Tokens token.Count // tokens of the whole block as it was imported
	State  State
	Form   string      // form in the window: the text of a pager.Form, such as "whole"
	Window token.Count // tokens in the present window
	Stub   CellID      // cell with the text that stands in place of the block, or empty
	Pinned bool        // pinned by a user or an agent
	Off    bool        // not part of the present conversation: dropped by an import, or of an earlier window
	Cells  []CellID    // cells whose bodies are the imported bytes, in order

	// Earlier is the number of the block's earlier window, from 1 for the oldest. It is 0 for a
	// block of the present window, and for old records without a number.
	Earlier int
}

// A Head is the summary record of a session.
type Head struct {
	ID       transcript.SessionID // set by the store
	Revision Revision             // set by the store
	Status   Status               // empty for a live session, else StatusTombstoned or StatusPurged
	Format   string               // name of the format of the imported input, such as "anthropic"
	Model    string
	Encoding string // encoding of the token counts
	About    CellID
	Summary  CellID      // summary in the window, or empty
	Messages int         // number of messages of the present conversation
	Blocks   int         // number of blocks that are not Off
	Tokens   token.Count // imported tokens of the blocks that are not Off
	Window   token.Count // tokens of the present window
	Bytes    int64       // size of the imported input
	Created  time.Time   // UTC, whole milliseconds
	Updated  time.Time   // UTC, whole milliseconds
}

// An Entry is an entry of a session's journal or of a scope's log of updates. It holds no text of
// the conversation. The store does not interpret Op and Data.
type Entry struct {
	Revision Revision         `json:"revision"` // set by the store; each revision has one entry; in the log, the Version that the update made
	ID       string           `json:"id"`       // not empty and new in the scope, such as "op_5c1f09ab"
	Op       string           `json:"op"`       // such as "import" or "page"
	Actor    governance.Actor `json:"actor"`
	Time     time.Time        `json:"time"` // UTC, whole milliseconds
	Data     json.RawMessage  `json:"data"`
}

// A Change has all that one write changes in a session. Entry needs an ID; all other fields may be
// zero.
type Change struct {
	Head       Head // the whole new head
	Cells      []Cell
	Edges      []Edge
	ItemsFrom  int      // number of the session's items that stay before Items; at most the length of the list
	Items      []CellID // replace the list of items from index ItemsFrom to its end; nil keeps the list
	Blocks     []Block  // blocks to add or replace, by id
	Index      []IndexEntry
	Entry      Entry
	Statements []string // lines to append to the contract

	// Rewrites are added, or replace the rewrite of the same kind and chain. Each
	// refers to a cell of kind CellSent in Cells, or to a cell in Adopt, so that
	// a purge of the session's cells erases it too.
	Rewrites []Rewrite

	// Adopt has stored cells that count as added by this change, see [Cells.Brought]. Only a move
	// of a store needs it, which adds the cells before the sessions.
	Adopt []CellID

	// Erase removes the text that is not in cells, when a session is purged: the lines of the
	// contract, the index entries of the blocks, and the rewrites, whose chains are digests of
	// text. An [Update] purges the cells.
	Erase bool
}

// An IndexEntry is the index entry of a block. It replaces the earlier entry; without Words it only
// removes it.
type IndexEntry struct {
	Block transcript.BlockID

	// Words has the frequency of each word. The store compares words byte by byte with those of
	// [Finder.Postings]; the engine indexes the stems that retrieval.CountStems returns.
	Words map[string]uint32
}

// A BlockRef identifies a block by its session and its id.
type BlockRef struct {
	Session transcript.SessionID
	Block   transcript.BlockID
}

// Sessions stores the records of conversations.
type Sessions interface {
	// Apply makes a change durably, whole or not at all, and returns the new revision. The
	// parameter at is the revision that the session must have, or 0 if the session must not exist
	// yet; otherwise Apply fails with ErrConflict. It fails with ErrNotFound if the change refers
	// to a missing cell or block. It refuses a change that [Change.Validate] refuses, one with a
	// cell or entry that exists already, and one that gives the same turn to two blocks that are
	// not Off.
	Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at Revision, c *Change) (Revision, error)

	// Head returns the head of a session, or ErrNotFound.
	Head(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*Head, error)

	// Heads yields the heads of a scope, last updated first, then by id.
	Heads(ctx context.Context, scope governance.Scope) iter.Seq2[*Head, error]

	// Blocks yields the blocks of a session by turn, then by id; blocks that
	// are off come last. It yields ErrNotFound if the session does not exist.
	Blocks(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[*Block, error]

	// Items returns the ids of the cells whose bodies concatenate to the
	// imported input, in order, or ErrNotFound.
	Items(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]CellID, error)
}

// Cells stores text.
type Cells interface {
	// Cells yields the cells with the given ids, in that order, also twice. It ends with
	// ErrNotFound at a missing cell, a [GoneError] at a purged one, an [AwayError] at one whose
	// body is in a blob, and ErrCorrupt at one whose commitment does not match.
	Cells(ctx context.Context, scope governance.Scope, ids []CellID) iter.Seq2[*Cell, error]

	// Sources returns the edges to the cells from which a cell was made directly, ordered by source
	// and relation; none if the cell does not exist.
	Sources(ctx context.Context, scope governance.Scope, id CellID) ([]Edge, error)

	// Derived returns the cells made from the given ones, directly or
	// indirectly, ordered by id, without the given ones.
	Derived(ctx context.Context, scope governance.Scope, ids []CellID) ([]CellID, error)

	// Brought returns the cells that the changes of a session added, ordered by id, whether or not
	// they are still referenced; none if the session does not exist.
	Brought(ctx context.Context, scope governance.Scope, id transcript.SessionID) ([]CellID, error)
}

// Journal stores the entries of sessions.
type Journal interface {
	// Entries yields the journal entries of a session after a revision, in order; after 0, all.
	// It yields ErrNotFound if the session does not exist.
	Entries(ctx context.Context, scope governance.Scope, id transcript.SessionID, after Revision) iter.Seq2[*Entry, error]

	// Statements yields the lines of a session's contract in order. It yields
	// ErrNotFound if the session does not exist.
	Statements(ctx context.Context, scope governance.Scope, id transcript.SessionID) iter.Seq2[string, error]
}

// Finder finds blocks.
type Finder interface {
	// Block returns one block, or ErrNotFound. Unlike [Sessions.Blocks], it does not check the
	// integrity of the session's list of blocks.
	Block(ctx context.Context, scope governance.Scope, ref BlockRef) (*Block, error)

	// Find returns the blocks whose id begins with prefix, ordered by session
	// and id, at most limit, including blocks that are off.
	Find(ctx context.Context, scope governance.Scope, prefix string, limit int) ([]BlockRef, error)

	// Postings returns the input of retrieval.FindBest: one view for each part of the scope's
	// index. A view has for each of words, in that order, the blocks that have it, with
	// frequencies, of all sessions and states. Blocks are identified by numbers that grow in the
	// order in which blocks were indexed; [Finder.Numbered] resolves them.
	Postings(ctx context.Context, scope governance.Scope, words []string) ([]postings.View, error)

	// Numbered returns the blocks with the given numbers, in order. The entry
	// of a missing block is zero.
	Numbered(ctx context.Context, scope governance.Scope, numbers []int64) ([]BlockRef, error)
}

// Admin maintains a database.
type Admin interface {
	// Info describes the database.
	Info(ctx context.Context) (*Info, error)

	// Scopes returns the scopes with any records, ordered by their text.
	Scopes(ctx context.Context) ([]governance.Scope, error)

	// Check verifies the database: its structure, every commitment, every reference, and, as far as
	// the driver can tell, that records are unchanged and complete. It returns the problems in a
	// stable order; they are no error.
	Check(ctx context.Context) ([]string, error)

	// Backup writes a consistent copy to a new file, concurrently with writes. It fails with
	// fs.ErrExist if the file exists, and with errors.ErrUnsupported if the driver cannot do it:
	// only sqlite can.
	Backup(ctx context.Context, path string) error

	// Close releases the database. Completed writes are durable without it.
	Close() error
}

// Info describes a database.
type Info struct {
	Driver   string `json:"driver"`  // such as "sqlite"
	Version  string `json:"version"` // of the database engine
	Path     string `json:"path,omitempty"`
	Schema   int    `json:"schema"` // version of the schema
	Sessions int64  `json:"sessions"`
	Blocks   int64  `json:"blocks"`
	Cells    int64  `json:"cells"`

	Artifacts int64 `json:"artifacts"`
	Manifests int64 `json:"manifests"`

	Bytes int64 `json:"bytes"` // size on disk or in memory
}

// A Store is a whole database.
//
//nolint:interfacebloat // it only combines its roles
type Store interface {
	Sessions
	Cells
	Journal
	Finder
	Artifacts
	Ledger
	Calls
	Jobs
	Admin
}
