package stacks

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// A snapshot is a file with the columns of a catalog. It contains no text of an artifact and
// nothing that the store lacks. It spares a process that starts from reading a million records,
// which takes seconds; reading the file takes milliseconds.
//
// A snapshot is checked before use. Its checksum must fit (CRC-32C, for which processors have an
// instruction), it must belong to this scope, and the log of the store must have the snapshot's
// entry at the snapshot's version. Ids of entries are random, so this detects a store that was
// restored from a backup and then changed differently. Newer artifacts are read from the store. A
// snapshot that fails a check is ignored, and replaced by the next one.
//
// Any number of processes may use one store, and each may replace the snapshot. If two write it
// at once, its checksum fails. A purge removes the snapshot.

// snapshotMark is the start of a snapshot file.
const snapshotMark = "carrel/columns/1\n"

const (
	// leastSnapshot is how many artifacts a scope must have to get a snapshot. To read fewer
	// artifacts takes no longer than to open a snapshot, about half a millisecond.
	leastSnapshot = 200

	// staleAfter is by how many updates a snapshot may be behind its catalog before it is
	// replaced.
	staleAfter = 256
)

// checksum returns the CRC-32C of data.
func checksum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }

// SnapshotPath returns the path of the snapshot of a scope, or "" if snapshots are off.
func (e *Stacks) SnapshotPath(scope governance.Scope) string {
	if e.Opts.Snapshots == "" {
		return ""
	}
	return e.Opts.Snapshots + digest.Of([]byte("columns/v1\x00" + string(scope))).String()[:16]
}

// entryAt returns the id of the log entry that led to a version, or "" if there is none.
func (e *Stacks) entryAt(ctx context.Context, scope governance.Scope, v store.Version) (string, error) {
	for entry, err := range e.Store.Log(ctx, scope, v-1) {
		if err != nil {
			return "", err
		}
		return entry.ID, nil
	}
	return "", nil
}

// load fills an empty catalog from the snapshot of its scope, if there is a valid one. The argument
// version is a version that the scope has reached in the store.
func (e *Stacks) load(ctx context.Context, k *Catalog, version store.Version) error {
	path := e.SnapshotPath(k.scope)
	if path == "" {
		return nil
	}
	data, err := os.ReadFile(path) //nolint:gosec // the path is the store's
	if err != nil {
		return nil //nolint:nilerr // without a snapshot, the caller reads the store
	}
	c := new(columns)
	entry, err := c.decode(data, k.scope)
	if err == nil && c.Version > version {
		err = errors.New("the snapshot is newer than the store")
	}
	if err == nil {
		id, failed := e.entryAt(ctx, k.scope, c.Version)
		if failed != nil {
			return failed
		}
		if id != entry {
			err = errors.New("the snapshot belongs to another store")
		}
	}
	if err != nil {
		e.Opts.Logger.DebugContext(ctx, "snapshot not used", "path", path, "error", err)
		return nil
	}
	k.columns, k.saved, k.changed = *c, c.Version, 0
	for row := range k.Pins {
		k.resident.Pin(k.key(row))
	}
	return nil
}

// save replaces the snapshot of a catalog if it is too far behind. A failure is only logged,
// because a snapshot only saves time.
func (e *Stacks) save(ctx context.Context, k *Catalog) {
	path := e.SnapshotPath(k.scope)
	if path == "" || !k.saving.TryLock() {
		return
	}
	defer k.saving.Unlock()
	data, version, err := e.snapshot(ctx, k)
	if data != nil {
		err = replaceFile(path, data)
	}
	switch {
	case err != nil:
		e.Opts.Logger.DebugContext(ctx, "snapshot not written", "path", path, "error", err)
	case data != nil:
		k.Mu.Lock()
		k.saved, k.changed = version, 0
		k.Mu.Unlock()
	}
}

// snapshot returns the bytes and the version of a new snapshot, or nil if the present one is good
// enough.
func (e *Stacks) snapshot(ctx context.Context, k *Catalog) ([]byte, store.Version, error) {
	k.Mu.RLock()
	defer k.Mu.RUnlock()
	rows := k.Table.Len()
	if rows < leastSnapshot || k.saved > 0 && k.changed < rows/8 && k.Version-k.saved < staleAfter || k.newest > k.Version {
		return nil, 0, nil
	}
	entry, err := e.entryAt(ctx, k.scope, k.Version)
	if err != nil || entry == "" {
		return nil, 0, err
	}
	return k.appendTo(nil, k.scope, entry), k.Version, nil
}

// replaceFile writes a file that only its owner can read. It writes to a temporary name and
// renames the file when it is complete.
func replaceFile(path string, data []byte) error {
	part := path + ".part"
	if err := os.WriteFile(part, data, 0o600); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Rename(part, path)
}

// forget removes the snapshot of a scope.
func (e *Stacks) forget(scope governance.Scope) error {
	path := e.SnapshotPath(scope)
	if path == "" {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// DiscardStale removes the snapshot of a scope and empties the catalog, if the catalog came from the
// snapshot and is at the version of the store. Call it when the store turns out to differ from
// the catalog.
func (e *Stacks) DiscardStale(ctx context.Context, scope governance.Scope) error {
	version, err := e.Store.Version(ctx, scope)
	if err != nil {
		return err
	}
	k := e.CatalogOf(scope)
	k.Mu.RLock()
	stale := k.saved > 0 && k.Version >= version
	k.Mu.RUnlock()
	if !stale {
		return nil
	}
	k.close()
	return e.forget(scope)
}

// appendTo appends the columns as a snapshot of a scope, with the id of the log entry at their
// version. Numbers are words of 8 bytes, little-endian; a text is preceded by its length.
func (c *columns) appendTo(b []byte, scope governance.Scope, entry string) []byte {
	rows := c.Table.Len()
	b = append(make([]byte, 0, 40*rows+4096), b...)
	word := func(n uint64) { b = binary.LittleEndian.AppendUint64(b, n) }
	text := func(s string) { word(uint64(len(s))); b = append(b, s...) }
	b = append(b, snapshotMark...)
	text(string(scope))
	text(entry)
	word(uint64(c.Version)) //nolint:gosec // a version is not negative
	word(uint64(rows))      //nolint:gosec // likewise
	for _, id := range c.ids {
		word(id)
	}
	for _, v := range c.versions {
		word(uint64(v)) //nolint:gosec // likewise
	}
	word(uint64(len(c.names)))
	for row, id := range c.names {
		word(uint64(row)) //nolint:gosec // likewise
		text(string(id))
	}
	word(uint64(len(c.Pins)))
	for row := range c.Pins {
		word(uint64(row)) //nolint:gosec // likewise
	}
	b, _ = c.Table.AppendBinary(b) // it cannot fail
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

var (
	errNotWhole   = errors.New("the snapshot is damaged, or written by another version of Carrel")
	errOtherScope = errors.New("the snapshot belongs to another scope")
)

// decode reads a snapshot of a scope that appendTo wrote, and returns the id of its log entry.
func (c *columns) decode(data []byte, scope governance.Scope) (entry string, err error) {
	end := len(data) - crc32.Size
	if end < 0 || checksum(data[:end]) != binary.LittleEndian.Uint32(data[end:]) {
		return "", errNotWhole
	}
	r := wordReader{data: data[:end]}
	if !bytes.Equal(r.take(uint64(len(snapshotMark))), []byte(snapshotMark)) {
		return "", errNotWhole
	}
	if r.text() != string(scope) {
		return "", errOtherScope
	}
	entry = r.text()
	c.Version = store.Version(r.word()) //nolint:gosec // the checksum holds
	rows := r.word()
	if rows > uint64(len(r.data))/16 { // an id and a version in each
		return "", errNotWhole
	}
	c.ids, c.versions = make([]uint64, rows), make([]store.Version, rows)
	ids, versions := r.take(8*rows), r.take(8*rows)
	for i := range c.ids {
		c.ids[i] = binary.LittleEndian.Uint64(ids[8*i:])
		c.versions[i] = store.Version(binary.LittleEndian.Uint64(versions[8*i:])) //nolint:gosec // the checksum holds
		c.newest = max(c.newest, c.versions[i])
	}
	c.names, c.Pins = make(map[int]store.ArtifactID), make(map[int]bool)
	for n := r.word(); n > 0 && !r.short; n-- {
		row := int(r.word()) //nolint:gosec // likewise
		c.names[row] = store.ArtifactID(r.text())
	}
	for n := r.word(); n > 0 && !r.short; n-- {
		c.Pins[int(r.word())] = true //nolint:gosec // likewise
	}
	if err := c.Table.UnmarshalBinary(r.data); err != nil || uint64(c.Table.Len()) != rows { //nolint:gosec // a length
		return "", errNotWhole
	}
	return entry, nil
}

// A wordReader reads words and texts. Past the end of the data it returns zero, sets short and has
// no data left.
type wordReader struct {
	data  []byte
	short bool
}

func (r *wordReader) take(n uint64) []byte {
	if n > uint64(len(r.data)) {
		r.short, r.data = true, nil
		return make([]byte, min(n, 8))
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *wordReader) word() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

func (r *wordReader) text() string {
	b := r.take(r.word())
	if r.short {
		return ""
	}
	return string(b)
}
