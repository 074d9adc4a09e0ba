package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/governance"
)

// A BlobKey names the blob that has the body of one cell. It is unique in its scope, and consists
// of the size of the body, a hyphen and a random text, as in "1048576-JSLNS5Z2…". Package
// store/offload puts a digest of the scope and a slash before it.
type BlobKey string

// NewBlobKey returns a new key for a body with the given size in bytes.
func NewBlobKey(size int) BlobKey { return BlobKey(strconv.Itoa(size) + "-" + rand.Text()) }

// Size returns the size of the body, or -1 if the key was not made by [NewBlobKey].
func (k BlobKey) Size() int64 {
	digits, _, _ := strings.Cut(string(k), "-")
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil { // no sign, as that of a negative number is the hyphen behind the digits
		return n
	}
	return -1
}

// An AwayError means that the body of a cell is in a blob. It has the cell without the body, and
// matches [ErrUnreadable]. Package store/offload reads the blob instead of returning the error.
type AwayError struct{ Cell Cell }

func (e *AwayError) Error() string {
	return fmt.Sprintf("cell %s: %v: its text is in a blob, and no place of blobs is set: set blobs.url", e.Cell.ID, ErrUnreadable)
}

// Is makes errors.Is(e, ErrUnreadable) true.
func (e *AwayError) Is(target error) bool { return target == ErrUnreadable }

// Blobs is the role of a store that can keep the bodies of cells elsewhere, in blobs. It stores
// the keys of the blobs and never reads or writes a blob: package store/offload does that. A cell
// with a [Cell.Blob] has no body in the store, and reading it fails with an [AwayError].
//
// A key is loose while no cell refers to it. It is recorded before its blob is written, and until
// its blob is deleted, so no blob is forgotten, whenever a process may die. A write of a cell takes
// the key in the transaction of the write, and fails with ErrConflict if the key is not loose or is
// being dropped. A purge of the cell makes the key loose again.
type Blobs interface {
	// ReserveBlobs durably records keys as loose, for blobs that are written next.
	ReserveBlobs(ctx context.Context, scope governance.Scope, keys []BlobKey) error

	// LooseBlobs returns, in order, the loose keys whose blobs can be deleted: those that are
	// being dropped, and those that were reserved at least age ago by the clock of the database.
	LooseBlobs(ctx context.Context, scope governance.Scope, age time.Duration) ([]BlobKey, error)

	// DropBlobs durably marks those of the keys that are loose as being dropped, and returns
	// them, in order. From then on no write can take them, and their blobs can be deleted.
	DropBlobs(ctx context.Context, scope governance.Scope, keys []BlobKey) ([]BlobKey, error)

	// ForgetBlobs deletes the records of keys that are being dropped, after their blobs were
	// deleted.
	ForgetBlobs(ctx context.Context, scope governance.Scope, keys []BlobKey) error

	// CellBlobs returns the keys of the blobs of the cells with the given ids, or of all cells of
	// the scope if ids is nil. Cells without a blob are left out.
	CellBlobs(ctx context.Context, scope governance.Scope, ids []CellID) (map[CellID]BlobKey, error)
}

// BlobsOf returns the keys of the blobs of those cells that have one.
func BlobsOf(cells []Cell) (keys []BlobKey) {
	for i := range cells {
		if cells[i].Blob != "" {
			keys = append(keys, cells[i].Blob)
		}
	}
	return keys
}
