package stacks

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/triage"
)

const testScope = governance.Scope("a/b/c")

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A countedStore records the versions after which artifacts were read.
type countedStore struct {
	store.Store
	after []store.Version
}

func (s *countedStore) Artifacts(ctx context.Context, scope governance.Scope, after store.Version) iter.Seq2[*store.Artifact, error] {
	s.after = append(s.after, after)
	return s.Store.Artifacts(ctx, scope, after)
}

// process returns the stacks of a new process over a store, with snapshots at a path.
func process(t testing.TB, s store.Store, snapshots string) *Stacks {
	t.Helper()
	o, err := base.Options{Snapshots: snapshots, Now: func() time.Time { return epoch }}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	shared, err := NewShared(&o)
	if err != nil {
		t.Fatal(err)
	}
	return &Stacks{Base: &base.Base{Store: s, Opts: o}, Shared: shared}
}

// artifactAt returns artifact i of the store that filled makes.
func artifactAt(i int) store.Artifact {
	a := store.Artifact{
		ID: store.ArtifactID(fmt.Sprintf("%016x", i*7919)), Class: provenance.Classes()[i%7], Status: store.StatusLive,
		Content: "c", About: "c", Pinned: i%1000 == 5, Created: epoch.Add(-time.Duration(i) * time.Minute),
	}
	if i%5 == 0 {
		a.Expires = a.Created.Add(48 * time.Hour)
	}
	if i%100 == 1 {
		a.ID = store.ArtifactID(fmt.Sprintf("named-%d", i))
	}
	return a
}

// filled returns a store with n artifacts, whose log begins with the given entry.
func filled(t testing.TB, n int, entry string) store.Store {
	t.Helper()
	s := stores.New(t)
	u := &store.Update{Entry: store.Entry{ID: entry}, Cells: []store.Cell{{ID: "c", Kind: store.CellText, Commit: digest.Commit(digest.Salt{}, "text", nil)}}}
	for i := range n {
		u.Artifacts = append(u.Artifacts, store.Write{Artifact: artifactAt(i)})
	}
	if _, err := s.Update(t.Context(), testScope, u); err != nil {
		t.Fatal(err)
	}
	return s
}

// change writes artifact i of a filled store anew.
func change(t testing.TB, e *Stacks, i int, f func(*store.Artifact)) {
	t.Helper()
	found, err := e.Store.Pick(t.Context(), testScope, &store.Pick{Prefix: string(artifactAt(i).ID)}, 1)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	w := store.Write{Artifact: found[0], At: found[0].Version}
	f(&w.Artifact)
	u := &store.Update{Artifacts: []store.Write{w}}
	if w.Status == store.StatusPurged {
		u.Purge = []store.CellID{"c"}
	}
	if _, err := e.Update(t.Context(), testScope, u, "test", nil); err != nil {
		t.Fatal(err)
	}
}

// same fails unless the catalog of e equals the catalog of a process that reads the whole store.
func same(t require, e *Stacks) {
	t.Helper()
	o := e.Opts
	o.Snapshots = ""
	shared, err := NewShared(&o)
	if err != nil {
		t.Fatal(err)
	}
	plain := &Stacks{Base: &base.Base{Store: e.Store, Opts: o}, Shared: shared}
	got, err := e.Catalog(context.Background(), testScope)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Mu.RUnlock()
	want, err := plain.Catalog(context.Background(), testScope)
	if err != nil {
		t.Fatal(err)
	}
	defer want.Mu.RUnlock()
	if got.Table.Len() != want.Table.Len() || got.Version != want.Version || len(got.Pins) != len(want.Pins) {
		t.Fatalf("%d rows at version %d with %d pins, want %d at %d with %d",
			got.Table.Len(), got.Version, len(got.Pins), want.Table.Len(), want.Version, len(want.Pins))
	}
	for row := range want.Table.Len() {
		if got.Table.Row(row) != want.Table.Row(row) || got.Location(row) != want.Location(row) || got.Pins[row] != want.Pins[row] {
			t.Fatalf("row %d is %v at %v, want %v at %v", row, got.Table.Row(row), got.Location(row), want.Table.Row(row), want.Location(row))
		}
	}
}

// The status, the pin and the gate of an artifact give the flags of its row.
func TestFlagsOfArtifacts(t *testing.T) {
	e := process(t, filled(t, 8, "op_1"), "")
	for i, f := range []func(*store.Artifact){
		func(*store.Artifact) {},
		func(a *store.Artifact) { a.Gate = []byte(`0`) },
		func(a *store.Artifact) { a.Status = store.StatusRefuted },
		func(a *store.Artifact) { a.Status = store.StatusHeld },
		func(a *store.Artifact) { a.Status = store.StatusTombstoned },
		func(a *store.Artifact) { a.Pinned = true },
		func(a *store.Artifact) { a.Pinned, a.Gate = true, []byte(`{}`) },
		func(a *store.Artifact) { a.Pinned, a.Status = true, store.StatusRefuted },
	} {
		change(t, e, i, func(a *store.Artifact) { a.Pinned = false; f(a) })
	}
	k, err := e.Catalog(t.Context(), testScope)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Mu.RUnlock()
	for row, want := range []triage.Flags{
		0, triage.Promoted, triage.Refuted, triage.Absent, triage.Absent, triage.Absent, triage.Absent | triage.Promoted, triage.Refuted,
	} {
		if got := k.Table.Row(row).Flags; got != want || k.Pins[row] != (row == 5 || row == 6) {
			t.Errorf("artifact %d has the flags %d, pinned %v, want %d", row, got, k.Pins[row], want)
		}
	}
}

// require has the methods that tests and property checks share.
type require interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// A new process reads the snapshot, and from the store only newer artifacts.
func TestSnapshot(t *testing.T) {
	s, dir := filled(t, leastSnapshot, "op_1"), filepath.Join(t.TempDir(), "db-columns-")
	first := process(t, s, dir)
	same(t, first)
	info, err := os.Stat(first.SnapshotPath(testScope))
	if err != nil {
		t.Fatal(err)
	}
	if perm := info.Mode().Perm(); perm&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("others may read the snapshot: %v", perm)
	}
	counted := &countedStore{Store: s}
	second := process(t, counted, dir)
	if k, err := second.Catalog(t.Context(), testScope); err != nil {
		t.Fatal(err)
	} else {
		k.Mu.RUnlock()
	}
	if want := []store.Version{1}; !slices.Equal(counted.after, want) {
		t.Errorf("artifacts are read after the versions %v, want %v", counted.after, want)
	}
	same(t, second)
	change(t, first, 3, func(a *store.Artifact) { a.Status = store.StatusRefuted })
	change(t, first, 5, func(a *store.Artifact) { a.Pinned = false })
	change(t, first, 6, func(a *store.Artifact) { a.Pinned, a.Expires = true, epoch })
	same(t, second)
	same(t, process(t, s, dir))
}

// A scope with few artifacts gets no snapshot, and neither does an engine without a path.
func TestNoSnapshot(t *testing.T) {
	dir := t.TempDir()
	same(t, process(t, filled(t, leastSnapshot-1, "op_1"), filepath.Join(dir, "db-columns-")))
	same(t, process(t, filled(t, leastSnapshot, "op_1"), ""))
	same(t, process(t, filled(t, leastSnapshot, "op_1"), filepath.Join(dir, "no", "such", "folder")))
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("there are %v, %v", files, err)
	}
}

// A snapshot with a valid checksum that names more rows than it has is refused.
func TestSnapshotWithTooFewRows(t *testing.T) {
	s, dir := filled(t, leastSnapshot, "op_1"), filepath.Join(t.TempDir(), "db-columns-")
	e := process(t, s, dir)
	same(t, e)
	data, err := os.ReadFile(e.SnapshotPath(testScope))
	if err != nil {
		t.Fatal(err)
	}
	header := len(snapshotMark) + 8 + len(testScope) + 8 + len("op_1") + 8 + 8
	for _, each := range []int{0, 8, 12, 15} { // bytes left of an id and a version
		cut := slices.Clone(data[:header+each*leastSnapshot])
		cut = binary.LittleEndian.AppendUint32(cut, checksum(cut))
		if _, err := new(columns).decode(cut, testScope); !errors.Is(err, errNotWhole) {
			t.Errorf("%d bytes for each row: %v", each, err)
		}
	}
}

// A snapshot that is damaged, cut or too long is ignored and replaced.
func TestDamagedSnapshot(t *testing.T) {
	s, dir := filled(t, leastSnapshot, "op_1"), filepath.Join(t.TempDir(), "db-columns-")
	e := process(t, s, dir)
	same(t, e)
	path := e.SnapshotPath(testScope)
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		data := slices.Clone(sound)
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			data[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		case 1:
			data = data[:at]
		case 2:
			data = append(data, data[:at+1]...)
		}
		if _, err := new(columns).decode(data, testScope); err == nil {
			t.Fatal("a damaged snapshot is read")
		}
	})
	sound[len(sound)/2] ^= 1
	if err := os.WriteFile(path, sound, 0o600); err != nil {
		t.Fatal(err)
	}
	same(t, process(t, s, dir))
	again, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := new(columns).decode(again, testScope); err != nil {
		t.Errorf("the damaged snapshot is still there: %v", err)
	}
}

// A snapshot is ignored if it belongs to another scope, to another store at the same version, or
// to a state that the store has not reached.
func TestForeignSnapshot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "db-columns-")
	ahead := process(t, filled(t, leastSnapshot, "op_1"), dir)
	change(t, ahead, 3, func(a *store.Artifact) { a.Status = store.StatusRefuted })
	same(t, ahead)
	same(t, process(t, filled(t, leastSnapshot+70, "op_1"), dir))
	same(t, process(t, filled(t, leastSnapshot, "op_2"), dir))

	data, err := os.ReadFile(ahead.SnapshotPath(testScope))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := new(columns).decode(data, "a/b/d"); err == nil {
		t.Error("the snapshot of another scope is read")
	}
}

// A purge by any process removes the snapshot of the state before.
func TestPurgeAndSnapshot(t *testing.T) {
	s, dir := filled(t, leastSnapshot, "op_1"), filepath.Join(t.TempDir(), "db-columns-")
	purge := func(a *store.Artifact) { a.Status, a.Pinned = store.StatusPurged, false }
	for i, by := range []*Stacks{process(t, s, ""), process(t, s, dir)} {
		reader := process(t, s, dir)
		same(t, reader)
		change(t, by, i, purge)
		if by.Opts.Snapshots == "" {
			same(t, process(t, s, dir)) // finds what another process purged
		}
		data, err := os.ReadFile(reader.SnapshotPath(testScope))
		if by.Opts.Snapshots != "" {
			if !os.IsNotExist(err) {
				t.Errorf("after a purge there is a snapshot: %v", err)
			}
			continue
		}
		c := new(columns)
		if _, err := c.decode(data, testScope); err != nil || c.Version != store.Version(i+2) {
			t.Errorf("the snapshot is of version %d, %v", c.Version, err)
		}
	}
}

// A snapshot with a valid checksum whose numbers do not fit what follows is refused, however large
// they are.
func TestSnapshotWithWrongNumbers(t *testing.T) {
	word := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	table := func(rows int) []byte {
		var t triage.Table
		for range rows {
			t.Append(triage.Row{})
		}
		b, _ := t.AppendBinary(nil)
		return b
	}
	scope, entry := append(word(uint64(len(testScope))), testScope...), append(word(4), "op_1"...)
	const huge = 1 << 62
	for name, parts := range map[string][][]byte{
		"mark":         {[]byte(snapshotMark[:5])},
		"entry":        {[]byte(snapshotMark), scope, word(huge), word(1), word(0), word(0), word(0), table(0)},
		"names":        {[]byte(snapshotMark), scope, entry, word(1), word(0), word(huge)},
		"pins":         {[]byte(snapshotMark), scope, entry, word(1), word(0), word(0), word(huge)},
		"no table":     {[]byte(snapshotMark), scope, entry, word(1), word(0), word(0), word(0), []byte("tab")},
		"small table":  {[]byte(snapshotMark), scope, entry, word(1), word(1), word(7), word(1), word(0), word(0), table(0)},
		"large table":  {[]byte(snapshotMark), scope, entry, word(1), word(0), word(0), word(0), table(1)},
		"fitting":      {[]byte(snapshotMark), scope, entry, word(1), word(1), word(7), word(1), word(0), word(0), table(1)},
		"empty":        {[]byte(snapshotMark), scope, entry, word(1), word(0), word(0), word(0), table(0)},
		"another mark": {[]byte(strings.ToUpper(snapshotMark)), scope, entry, word(1), word(0), word(0), word(0), table(0)},
	} {
		data := bytes.Join(parts, nil)
		got, err := new(columns).decode(binary.LittleEndian.AppendUint32(data, checksum(data)), testScope)
		if fits := name == "fitting" || name == "empty"; fits && (err != nil || got != "op_1") || !fits && !errors.Is(err, errNotWhole) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// A snapshot is replaced once 1/8 of the rows or 256 versions are newer, and only of a catalog that
// is at one version.
func TestSnapshotIsReplaced(t *testing.T) {
	broken := errors.New("no log")
	for name, c := range map[string]struct {
		rows, changed int
		saved, newest store.Version
		entry         string
		failed        error
		replaced      bool
	}{
		"small":          {rows: leastSnapshot - 1, entry: "op"},
		"never saved":    {rows: leastSnapshot, entry: "op", replaced: true},
		"fresh":          {rows: leastSnapshot, changed: leastSnapshot/8 - 1, saved: 1001 - staleAfter, entry: "op"},
		"many rows":      {rows: leastSnapshot, changed: leastSnapshot / 8, saved: 1001 - staleAfter, entry: "op", replaced: true},
		"many versions":  {rows: leastSnapshot, saved: 1000 - staleAfter, entry: "op", replaced: true},
		"newer row":      {rows: leastSnapshot, newest: 1001, entry: "op"},
		"no entry":       {rows: leastSnapshot},
		"log that fails": {rows: leastSnapshot, failed: broken},
	} {
		e := process(t, &loggedStore{log: []store.Entry{{ID: c.entry}}, err: c.failed}, "")
		k := &Catalog{scope: testScope, saved: c.saved, changed: c.changed, columns: columns{Version: 1000, newest: c.newest}}
		for range c.rows {
			k.Table.Append(triage.Row{})
		}
		data, version, err := e.snapshot(t.Context(), k)
		if (data != nil) != c.replaced || data != nil && version != 1000 || data == nil && version != 0 || !errors.Is(err, c.failed) {
			t.Errorf("%s: %d bytes of version %d, %v", name, len(data), version, err)
		}
	}
}

// While one goroutine writes the snapshot of a catalog, others do not.
func TestSnapshotIsWrittenOnce(t *testing.T) {
	e := process(t, filled(t, leastSnapshot, "op_1"), filepath.Join(t.TempDir(), "db-columns-"))
	k := e.CatalogOf(testScope)
	k.saving.Lock()
	defer k.saving.Unlock()
	same(t, e)
	if _, err := os.Stat(e.SnapshotPath(testScope)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a snapshot: %v", err)
	}
}

// Doubt keeps a catalog that the store itself gave, and one that is older than the store.
func TestNoDoubt(t *testing.T) {
	s, dir := filled(t, leastSnapshot, "op_1"), filepath.Join(t.TempDir(), "db-columns-")
	read := process(t, s, "")
	same(t, read)
	same(t, process(t, s, dir))
	older := process(t, s, dir)
	same(t, older)
	change(t, read, 3, func(a *store.Artifact) { a.Status = store.StatusRefuted })
	same(t, read)
	for name, e := range map[string]*Stacks{"from the store": read, "older": older} {
		if err := e.DiscardStale(t.Context(), testScope); err != nil {
			t.Fatal(err)
		}
		if n := e.CatalogOf(testScope).Table.Len(); n != leastSnapshot {
			t.Errorf("%s: the catalog has %d rows, want %d", name, n, leastSnapshot)
		}
	}
	if _, err := os.Stat(older.SnapshotPath(testScope)); err != nil {
		t.Error(err)
	}
}

// An engine keeps the 64 catalogs that were used last. One that it drops lets its pages go.
func TestMostCatalogs(t *testing.T) {
	e := process(t, filled(t, 8, "op_1"), "")
	scope := func(i int) governance.Scope { return governance.Scope(fmt.Sprintf("s/%d", i)) }
	for i := range maxCatalogs {
		k := e.CatalogOf(scope(i))
		k.names[0], k.Pins[0] = "pinned", true
	}
	first, second := e.CatalogOf(scope(0)), e.CatalogOf(scope(1))
	e.CatalogOf(scope(0))
	for i := 2; i < maxCatalogs; i++ {
		e.CatalogOf(scope(i))
	}
	if n := len(e.Catalogs.all); n != maxCatalogs {
		t.Errorf("there are %d catalogs, want %d", n, maxCatalogs)
	}
	e.CatalogOf(testScope)
	if n := len(e.Catalogs.all); n != maxCatalogs || len(second.Pins) != 0 || len(first.Pins) != 1 {
		t.Errorf("there are %d catalogs, the first used has %d pins, a newer one %d; want %d, 0, 1", n, len(second.Pins), len(first.Pins), maxCatalogs)
	}
	if e.CatalogOf(scope(0)) != first || e.CatalogOf(scope(1)) == second {
		t.Error("another catalog than that which was used first is dropped")
	}
}

// Doubt throws away a snapshot that passes all checks but differs from the store.
func TestDoubt(t *testing.T) {
	s, dir := filled(t, leastSnapshot, "op_1"), filepath.Join(t.TempDir(), "db-columns-")
	same(t, process(t, s, dir))
	e := process(t, s, dir)
	path := e.SnapshotPath(testScope)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := new(columns)
	entry, err := c.decode(data, testScope)
	if err != nil {
		t.Fatal(err)
	}
	for row := range c.versions {
		c.versions[row] = 0
	}
	if err := os.WriteFile(path, c.appendTo(nil, testScope, entry), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := e.Catalog(t.Context(), testScope)
	if err != nil {
		t.Fatal(err)
	}
	spot := k.Location(0)
	k.Mu.RUnlock()
	pages, err := e.Fault(t.Context(), testScope, []Location{spot})
	if err != nil || pages[0] != nil {
		t.Fatalf("a record of another version is served: %v, %v", pages[0], err)
	}
	if err := e.DiscardStale(t.Context(), testScope); err != nil {
		t.Fatal(err)
	}
	same(t, e)
}

// After a restore of an older database, a catalog with more artifacts than the store has is read
// anew.
func TestARestoredStoreIsReadAnew(t *testing.T) {
	e := process(t, filled(t, leastSnapshot+50, "op_1"), filepath.Join(t.TempDir(), "db-columns-"))
	same(t, e)
	e.Store = filled(t, leastSnapshot, "op_1")
	if err := e.DiscardStale(t.Context(), testScope); err != nil {
		t.Fatal(err)
	}
	same(t, e)
}
