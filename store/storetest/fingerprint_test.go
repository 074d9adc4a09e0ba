package storetest_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
)

const fingerprintScope governance.Scope = "test"

// A write makes one write to a store.
type write func(ctx context.Context, s store.Store) error

func applied(at store.Revision, c *store.Change) write {
	return func(ctx context.Context, s store.Store) error {
		_, err := s.Apply(ctx, fingerprintScope, "s", at, c)
		return err
	}
}

func updated(u *store.Update) write {
	return func(ctx context.Context, s store.Store) error {
		_, err := s.Update(ctx, fingerprintScope, u)
		return err
	}
}

func fingerprintCell(id store.CellID, kind store.CellKind) store.Cell {
	c := store.Cell{ID: id, Kind: kind, Salt: digest.Salt(digest.Of([]byte(id))), Body: []byte("text of " + id)}
	c.Commit = digest.Commit(c.Salt, string(kind), c.Body)
	return c
}

// history returns writes with a value in every field, and the change and updates that
// they will write, so that a test can modify these before.
func history() (writes []write, c *store.Change, u, last *store.Update) {
	epoch := time.UnixMilli(1_700_000_000_000)
	entry := func(id string) store.Entry {
		return store.Entry{ID: id, Op: "op", Actor: governance.ActorUser, Time: epoch, Data: []byte(`{"n": 1}`)}
	}
	c = &store.Change{
		Head: store.Head{
			Format: "f", Model: "m", Encoding: "e", About: "c2", Messages: 1, Blocks: 2, Tokens: 3, Window: 4, Bytes: 5,
			Created: epoch, Updated: epoch,
		},
		Cells: []store.Cell{
			fingerprintCell("c1", store.CellItem), fingerprintCell("c2", store.CellAbout), fingerprintCell("c3", store.CellStub), fingerprintCell("c4", store.CellSent),
		},
		Rewrites: []store.Rewrite{{Chain: digest.Digest{1}, Kind: store.RewriteHead, Epoch: 1, Messages: 2, Cell: "c4"}},
		Edges:    []store.Edge{{Derived: "c3", Source: "c1", Rel: "stub"}},
		Items:    []store.CellID{"c1", "c1"},
		Blocks: []store.Block{{
			ID: "b1", Turn: 1, Kind: "user", Tools: []string{"Bash"}, Tokens: 3, State: store.StateStub, Form: "stub", Window: 1,
			Stub: "c3", Cells: []store.CellID{"c1"},
		}},
		Entry:      entry("op1"),
		Statements: []string{`(fact "one")`},
	}
	u = &store.Update{
		Cells: []store.Cell{fingerprintCell("a1", store.CellText), fingerprintCell("a2", store.CellAbout), fingerprintCell("a3", store.CellSegment)},
		Edges: []store.Edge{{Derived: "a3", Source: "a1", Rel: "sent"}},
		Artifacts: []store.Write{{Artifact: store.Artifact{
			ID: "art1", Class: provenance.Memory, Status: store.StatusLive, Content: "a1", About: "a2", Bytes: 1, Tokens: 2,
			Encoding: "e", Source: "s", Created: epoch, Updated: epoch, Expires: epoch, Address: "x", Gate: []byte(`{}`),
		}}},
		Manifest: &store.Manifest{
			ID: "m1", Session: "s", Created: epoch, Format: "f", Tier: "full", Budget: 1, Total: 1, Body: []byte(`{}`),
			Uses: []store.ArtifactID{"art1"},
		},
		Outcome: &store.ContextOutcome{Manifest: "m1", Actor: governance.ActorUser, Time: epoch, Data: []byte(`{}`)},
		Entry:   entry("op2"),
	}
	last = &store.Update{Entry: entry("op3")}
	call := store.Call{ID: "call_1", State: store.CallIntent, Begun: epoch}
	recorded := func(ctx context.Context, s store.Store) error {
		return s.Record(ctx, fingerprintScope, []store.Call{call})
	}
	return []write{recorded, applied(0, c), updated(u), updated(last)}, c, u, last
}

// fingerprints returns the fingerprint of a store before the first write and
// after each write.
func fingerprints(t *testing.T, s store.Store, writes []write) (all []string) {
	t.Helper()
	for i := range len(writes) + 1 {
		if i > 0 {
			if err := writes[i-1](t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		one, err := storetest.Fingerprint(t.Context(), s, fingerprintScope)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one.String())
	}
	return all
}

func TestFingerprintIsOfTheContents(t *testing.T) {
	writes, _, _, _ := history()
	want := fingerprints(t, memory.New(), writes)
	seen := make(map[string]bool)
	for i, one := range want {
		if seen[one] {
			t.Errorf("write %d did not change the fingerprint", i)
		}
		seen[one] = true
	}
	file, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "carrel.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()
	again, _, _, _ := history()
	if diff := cmp.Diff(want, fingerprints(t, file, again)); diff != "" {
		t.Errorf("fingerprints of the same writes (-memory +sqlite):\n%s", diff)
	}
}

// A change of any single value changes the fingerprint.
func TestFingerprintChanges(t *testing.T) {
	writes, _, _, _ := history()
	all := fingerprints(t, memory.New(), writes)
	seen := map[string]string{all[len(all)-1]: "nothing"}
	for name, change := range map[string]func(c *store.Change, u, last *store.Update){
		"a head's model":            func(c *store.Change, _, _ *store.Update) { c.Head.Model = "n" },
		"a head's bytes":            func(c *store.Change, _, _ *store.Update) { c.Head.Bytes++ },
		"a head's time":             func(c *store.Change, _, _ *store.Update) { c.Head.Updated = c.Head.Updated.Add(time.Millisecond) },
		"a body":                    func(c *store.Change, _, _ *store.Update) { c.Cells[0] = fingerprintCell("c1", store.CellStub) },
		"the items":                 func(c *store.Change, _, _ *store.Update) { c.Items = c.Items[:1] },
		"a block's tools":           func(c *store.Change, _, _ *store.Update) { c.Blocks[0].Tools = []string{"Ba", "sh"} },
		"a block's cells":           func(c *store.Change, _, _ *store.Update) { c.Blocks[0].Cells = []store.CellID{"c2"} },
		"a block's stub":            func(c *store.Change, _, _ *store.Update) { c.Blocks[0].Stub = "c2" },
		"a block's pin":             func(c *store.Change, _, _ *store.Update) { c.Blocks[0].Pinned = true },
		"a journal entry":           func(c *store.Change, _, _ *store.Update) { c.Entry.Data = nil },
		"a statement":               func(c *store.Change, _, _ *store.Update) { c.Statements[0] = `(fact "two")` },
		"a rewrite's chain":         func(c *store.Change, _, _ *store.Update) { c.Rewrites[0].Chain[0]++ },
		"an edge of a block":        func(c *store.Change, _, _ *store.Update) { c.Edges[0].Source = "c2" },
		"an artifact's id":          func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].ID, u.Manifest.Uses = "art2", nil },
		"an artifact's class":       func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Class = provenance.Tool },
		"an artifact's status":      func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Status = store.StatusHeld },
		"an artifact's pin":         func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Pinned = true },
		"an artifact's tokens":      func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Tokens++ },
		"an artifact's expiry":      func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Expires = time.Time{} },
		"an artifact's gate":        func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Gate = nil },
		"an artifact's address":     func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Address = "y" },
		"an artifact's source":      func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Source = "" },
		"an artifact's content":     func(_ *store.Change, u, _ *store.Update) { u.Artifacts[0].Content = "c1" },
		"what was made from it":     func(_ *store.Change, u, _ *store.Update) { u.Cells[2] = fingerprintCell("a3", store.CellQuery) },
		"an edge":                   func(_ *store.Change, u, _ *store.Update) { u.Edges[0].Rel = "other" },
		"a manifest's seal":         func(_ *store.Change, u, _ *store.Update) { u.Manifest.Seal[3]++ },
		"a manifest's body":         func(_ *store.Change, u, _ *store.Update) { u.Manifest.Body = []byte(`{ }`) },
		"a manifest's uses":         func(_ *store.Change, u, _ *store.Update) { u.Manifest.Uses = nil },
		"a manifest's tier":         func(_ *store.Change, u, _ *store.Update) { u.Manifest.Tier = "core" },
		"an outcome":                func(_ *store.Change, u, _ *store.Update) { u.Outcome.Data = []byte(`{ }`) },
		"no outcome":                func(_ *store.Change, u, _ *store.Update) { u.Outcome = nil },
		"the log":                   func(_ *store.Change, _, last *store.Update) { last.Entry.Op = "other" },
		"a purge":                   func(_ *store.Change, _, last *store.Update) { last.Purge = []store.CellID{"a1"} },
		"a purge of what came next": func(_ *store.Change, _, last *store.Update) { last.Purge = []store.CellID{"a3"} },
	} {
		writes, c, u, last := history()
		change(c, u, last)
		all := fingerprints(t, memory.New(), writes)
		one := all[len(all)-1]
		if other, ok := seen[one]; ok {
			t.Errorf("a change of %s gives the same fingerprint as %s", name, other)
		}
		seen[one] = name
	}
}

func TestFingerprintReportsErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := storetest.Fingerprint(ctx, memory.New(), fingerprintScope); !errors.Is(err, context.Canceled) {
		t.Errorf("Fingerprint in a context that is done: %v, want context.Canceled", err)
	}
}

// A recorded store returns its fields from every method, even if they are inconsistent.
type recorded struct {
	store.Store
	head      store.Head
	items     []store.CellID
	block     store.Block
	entry     store.Entry
	statement string
	rewrite   store.Rewrite
	call      store.Call
	version   store.Version
	artifact  store.Artifact
	manifest  store.Manifest
	logged    store.Entry
	derived   []store.CellID
	cell      store.Cell // without its id
	gone      bool
	edge      store.Edge
	fails     string // name of the method that fails, or empty
}

var errRecorded = errors.New("the recorded store fails")

func (r *recorded) err(method string) error {
	if r.fails == method {
		return errRecorded
	}
	return nil
}

// yields returns an iteration over one value with the error of a method.
func yields[T any](r *recorded, method string, v T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { yield(v, r.err(method)) }
}

func (r *recorded) Heads(context.Context, governance.Scope) iter.Seq2[*store.Head, error] {
	return yields(r, "Heads", &r.head)
}

func (r *recorded) Items(context.Context, governance.Scope, transcript.SessionID) ([]store.CellID, error) {
	return r.items, r.err("Items")
}

func (r *recorded) Blocks(context.Context, governance.Scope, transcript.SessionID) iter.Seq2[*store.Block, error] {
	return yields(r, "Blocks", &r.block)
}

func (r *recorded) Entries(context.Context, governance.Scope, transcript.SessionID, store.Revision) iter.Seq2[*store.Entry, error] {
	return yields(r, "Entries", &r.entry)
}

func (r *recorded) Statements(context.Context, governance.Scope, transcript.SessionID) iter.Seq2[string, error] {
	return yields(r, "Statements", r.statement)
}

func (r *recorded) Rewrites(context.Context, governance.Scope, transcript.SessionID) iter.Seq2[*store.Rewrite, error] {
	return yields(r, "Rewrites", &r.rewrite)
}

func (r *recorded) Calls(context.Context, governance.Scope, store.CallFilter) iter.Seq2[*store.Call, error] {
	return yields(r, "Calls", &r.call)
}

func (r *recorded) Version(context.Context, governance.Scope) (store.Version, error) {
	return r.version, r.err("Version")
}

func (r *recorded) Artifacts(context.Context, governance.Scope, store.Version) iter.Seq2[*store.Artifact, error] {
	return yields(r, "Artifacts", &r.artifact)
}

func (r *recorded) Manifests(context.Context, governance.Scope, transcript.SessionID) iter.Seq2[*store.Manifest, error] {
	return yields(r, "Manifests", &store.Manifest{ID: r.manifest.ID})
}

func (r *recorded) Manifest(context.Context, governance.Scope, string) (*store.Manifest, error) {
	return &r.manifest, r.err("Manifest")
}

func (r *recorded) Log(_ context.Context, _ governance.Scope, after store.Version) iter.Seq2[*store.Entry, error] {
	if after != 0 {
		return func(func(*store.Entry, error) bool) {}
	}
	return yields(r, "Log", &r.logged)
}

func (r *recorded) Derived(context.Context, governance.Scope, []store.CellID) ([]store.CellID, error) {
	return r.derived, r.err("Derived")
}

func (r *recorded) Cells(_ context.Context, _ governance.Scope, ids []store.CellID) iter.Seq2[*store.Cell, error] {
	return func(yield func(*store.Cell, error) bool) {
		for _, id := range ids {
			c := r.cell
			c.ID = id
			err := r.err("Cells")
			if r.gone {
				yield(nil, &store.GoneError{Cell: id, Kind: c.Kind, Commit: c.Commit})
				return
			}
			if !yield(&c, err) {
				return
			}
		}
	}
}

func (r *recorded) Sources(context.Context, governance.Scope, store.CellID) ([]store.Edge, error) {
	return []store.Edge{r.edge}, r.err("Sources")
}

func newRecorded() *recorded {
	return &recorded{
		head: store.Head{ID: "s", About: "c4", Summary: "c3"}, items: []store.CellID{"c1", "c2"}, block: store.Block{Tools: []string{"Read", "Bash"}, Cells: []store.CellID{"c1"}, Stub: "c5"},
		manifest: store.Manifest{ID: "m", Uses: []store.ArtifactID{"a", "b"}, Made: []store.ContextOutcome{{}}, Body: []byte("{}")},
		artifact: store.Artifact{Content: "c6", About: "c7"}, derived: []store.CellID{"c0"}, cell: store.Cell{Kind: store.CellText},
	}
}

func fingerprintOf(t *testing.T, r *recorded) string {
	t.Helper()
	d, err := storetest.Fingerprint(t.Context(), r, fingerprintScope)
	if err != nil {
		t.Fatal(err)
	}
	return d.String()
}

// otherwise changes v to another value. It returns false if it does not support the kind of v.
func otherwise(v reflect.Value) bool {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.UnixMilli(7)))
		return true
	case digest.Digest:
		v.Index(3).SetUint(9)
		return true
	}
	switch v.Kind() { //nolint:exhaustive // fields of records have no other kinds
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Slice:
		v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 1, 1), v))
	default:
		return false
	}
	return true
}

// The fingerprint covers each field of all records that a reader can see.
func TestFingerprintHasEveryField(t *testing.T) {
	seen := map[string]string{fingerprintOf(t, newRecorded()): "nothing"}
	check := func(name string, r *recorded) {
		t.Helper()
		one := fingerprintOf(t, r)
		if other, ok := seen[one]; ok {
			t.Errorf("a change of %s gives the same fingerprint as %s", name, other)
		}
		seen[one] = name
	}
	parts := map[string]func(*recorded) any{
		"head": func(r *recorded) any { return &r.head }, "block": func(r *recorded) any { return &r.block },
		"entry": func(r *recorded) any { return &r.entry }, "artifact": func(r *recorded) any { return &r.artifact },
		"manifest": func(r *recorded) any { return &r.manifest }, "outcome": func(r *recorded) any { return &r.manifest.Made[0] },
		"rewrite": func(r *recorded) any { return &r.rewrite }, "call": func(r *recorded) any { return &r.call },
		"log": func(r *recorded) any { return &r.logged }, "edge": func(r *recorded) any { return &r.edge },
	}
	for name, part := range parts {
		for i := range reflect.TypeOf(part(newRecorded())).Elem().NumField() {
			r := newRecorded()
			v := reflect.ValueOf(part(r)).Elem()
			field := name + "." + v.Type().Field(i).Name
			if field == "outcome.Manifest" { // it repeats the id of the manifest
				continue
			}
			if !otherwise(v.Field(i)) {
				t.Errorf("%s is of kind %s", field, v.Field(i).Kind())
			}
			check(field, r)
		}
	}
	for name, change := range map[string]func(*recorded){
		"the items":             func(r *recorded) { r.items = []store.CellID{"c2", "c1"} },
		"the number of items":   func(r *recorded) { r.items, r.block.Stub, r.block.Cells = r.items[:1], "c2", nil },
		"no items":              func(r *recorded) { r.items = nil },
		"the statement":         func(r *recorded) { r.statement = "x" },
		"the version":           func(r *recorded) { r.version++ },
		"what was made":         func(r *recorded) { r.derived = []store.CellID{"c8"} },
		"a kind of cells":       func(r *recorded) { r.cell.Kind = store.CellStub },
		"a commitment":          func(r *recorded) { r.cell.Commit[0]++ },
		"that cells are gone":   func(r *recorded) { r.gone = true },
		"where a text ends":     func(r *recorded) { r.head.ID, r.head.Format = "", "s" },
		"a tool":                func(r *recorded) { r.block.Tools = []string{"Read", "Grep"} },
		"where tools end":       func(r *recorded) { r.block.Tools = []string{"ReadBash"} },
		"an entry without data": func(r *recorded) { r.entry.Data = []byte{} },
		"an intent of nothing":  func(r *recorded) { r.call.Intent = []byte{} },
		"a gate without data":   func(r *recorded) { r.artifact.Gate = []byte{} },
	} {
		r := newRecorded()
		change(r)
		check(name, r)
	}
}

// Fingerprint returns the error of whichever method fails.
func TestFingerprintNeedsEveryPart(t *testing.T) {
	for _, method := range []string{
		"Heads", "Items", "Blocks", "Entries", "Statements", "Rewrites", "Calls", "Version", "Artifacts", "Manifests", "Manifest", "Log", "Derived", "Cells", "Sources",
	} {
		r := newRecorded()
		r.fails = method
		if d, err := storetest.Fingerprint(t.Context(), r, fingerprintScope); !errors.Is(err, errRecorded) || d != (digest.Digest{}) {
			t.Errorf("%s fails: %v, %v", method, d, err)
		}
	}
}
