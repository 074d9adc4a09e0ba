package hold

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

const keptScope governance.Scope = "test/kept"

// anyChange returns a random change of a session to the given number of items and these rows.
func anyChange(rng *rand.Rand, n, items int, rows []store.Block) *store.Change {
	at := time.UnixMilli(int64(n)).UTC()
	c := &store.Change{
		Head:  store.Head{Format: "openai", Created: at, Updated: at, Bytes: int64(n)},
		Entry: store.Entry{ID: fmt.Sprintf("e%d", n), Op: "import", Actor: governance.ActorUser, Time: at},
	}
	for i := range rng.IntN(4) {
		cell := store.Cell{ID: store.CellID(fmt.Sprintf("c%d-%d", n, i)), Kind: store.CellItem, Body: fmt.Appendf(nil, "<%d.%d>", n, i)}
		cell.Commit = digest.Commit(cell.Salt, string(cell.Kind), cell.Body)
		c.Cells, c.Items = append(c.Cells, cell), append(c.Items, cell.ID)
	}
	if c.Items != nil {
		c.ItemsFrom = rng.IntN(items + 1)
		c.Blocks = append(c.Blocks, store.Block{
			ID: transcript.BlockID(fmt.Sprintf("b%d", rng.IntN(1000)*1000+n)), Turn: 1000 + n, Tools: []string{"Bash"}, Cells: c.Items[:1], State: store.StateLive,
		})
	}
	for _, b := range rows {
		switch rng.IntN(4) {
		case 0:
			b.Off, b.State = true, store.StateCold
			c.Blocks = append(c.Blocks, b)
		case 1:
			b.Pinned, b.Tools = !b.Pinned, nil
			c.Blocks = append(c.Blocks, b)
		}
	}
	return c
}

// After any series of changes the cache holds what the store holds.
func TestWhatIsKeptIsWhatTheStoreHas(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := &Desk{Stacks: &stacks.Stacks{Base: &base.Base{}}, Memory: new(Memory)}
		d.Store = d.Sessions.Over(stores.New(t))
		id, items, rows := transcript.SessionID("s"), 0, []store.Block(nil)
		for n := range 20 {
			revision, err := d.Store.Apply(t.Context(), keptScope, id, store.Revision(n), anyChange(rng, n+1, items, rows))
			if err != nil {
				t.Fatal(err)
			}
			head, err := d.Store.Head(t.Context(), keptScope, id)
			if err != nil {
				t.Fatal(err)
			}
			k := d.Sessions.find(keptScope, head)
			if k == nil {
				t.Fatalf("seed %d: revision %d is not kept", seed, revision)
			}
			want, data, err := d.Read(t.Context(), keptScope, head)
			if err != nil {
				t.Fatal(err)
			}
			got := k.snapshot(head)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Snapshot{}), cmpopts.EquateEmpty()); diff != "" || string(k.data) != string(data) {
				t.Fatalf("seed %d, revision %d: %q, want %q: %s", seed, revision, k.data, data, diff)
			}
			items, rows = len(want.Items), want.Rows
		}
	}
}

// The cache finds a session only under the head with which it was cached, and not after an
// erasure in its scope.
func TestWhatChangedElsewhereIsNotKept(t *testing.T) {
	var c SessionCache
	s := stores.New(t)
	apply := func(s store.Store, at store.Revision) *store.Head {
		t.Helper()
		change := anyChange(rand.New(rand.NewPCG(1, 1)), int(at)+1, 0, nil)
		if _, err := s.Apply(t.Context(), keptScope, "s", at, change); err != nil {
			t.Fatal(err)
		}
		head, err := s.Head(t.Context(), keptScope, "s")
		if err != nil {
			t.Fatal(err)
		}
		return head
	}
	first := apply(c.Over(s), 0)
	if c.find(keptScope, first) == nil {
		t.Error("the first revision is not kept")
	}
	if c.find("test/other", first) != nil {
		t.Error("it is found in another scope")
	}
	second := apply(s, 1) // by another process
	if c.find(keptScope, second) != nil {
		t.Error("a revision that another made is kept")
	}
	third := apply(c.Over(s), 2)
	if c.find(keptScope, third) != nil || c.find(keptScope, first) != nil {
		t.Error("what followed a revision that another made is kept")
	}
	other := apply(c.Over(stores.New(t)), 0)
	c.forget(keptScope)
	if c.find(keptScope, other) != nil || c.bytes != 0 {
		t.Errorf("after the scope was forgotten, %d bytes are kept", c.bytes)
	}
}

// The cache stays within its limit and keeps the most recently used sessions.
func TestKeptSessionsAreBounded(t *testing.T) {
	var c SessionCache
	kept := func(n, size int) *keptSession {
		return &keptSession{key: sessionKey{keptScope, transcript.SessionID(fmt.Sprint(n))}, head: store.Head{ID: transcript.SessionID(fmt.Sprint(n))}, data: make([]byte, size)}
	}
	c.keep(kept(0, maxKeptSession+1))
	if c.bytes != 0 {
		t.Error("a session is kept that is too large")
	}
	for n := range 12 {
		c.keep(kept(n, maxKeptSession))
		c.find(keptScope, &store.Head{ID: "0"}) // is used all the time
	}
	if c.bytes != maxKept || len(c.all) != 8 || c.order.Len() != 8 {
		t.Errorf("%d bytes of %d sessions are kept, want %d of 8", c.bytes, len(c.all), maxKept)
	}
	if c.find(keptScope, &store.Head{ID: "0"}) == nil || c.find(keptScope, &store.Head{ID: "1"}) != nil {
		t.Error("not those are kept that were used last")
	}
	for _, revision := range []store.Revision{2, 1, 2} {
		k := kept(0, 1)
		k.head.Revision = revision
		c.keep(k)
	}
	if c.find(keptScope, &store.Head{ID: "0", Revision: 2}) == nil || c.bytes != maxKept-maxKeptSession+1 {
		t.Errorf("an older revision took the place of a newer one, or %d bytes are kept", c.bytes)
	}
	k := kept(0, 0)
	for size, want := range map[int64]bool{maxKeptSession: true, maxKeptSession + 1: false} {
		if got := k.changed(1, &store.Change{Head: store.Head{Bytes: size}}); (got != nil) != want {
			t.Errorf("a session that grows to %d bytes is kept: %v", size, got != nil)
		}
	}
	for name, c := range map[string]*store.Change{
		"erased": {Erase: true}, "unknown items before": {Items: []store.CellID{"i"}, ItemsFrom: 999}, "unknown item": {Items: []store.CellID{"unknown"}},
	} {
		if got := k.changed(1, c); got != nil {
			t.Errorf("%s: %+v is kept", name, got)
		}
	}
	if got := k.changed(1, &store.Change{Blocks: []store.Block{{ID: "purged", Cells: []store.CellID{}}}}); got.rows[len(got.rows)-1].Cells != nil {
		t.Error("a block without cells has a list of them")
	}
}

// The other caches stay within their limits, too, and forget a scope alone.
func TestCachesAreBounded(t *testing.T) {
	var views ViewCache
	head := &store.Head{ID: "s"}
	keep := func(kind string, size int) {
		KeepView(&views, keptScope, kind, Viewed[string]{Value: kind, Head: head, Bytes: size})
	}
	find := func(kind string) any { return views.find(viewKey{sessionKey{keptScope, "s"}, kind}, head) }
	keep("a", maxViews/2)
	keep("b", maxViews/2)
	keep("b", maxViews+1)
	if find("a") != "a" || find("b") != nil || views.bytes != maxViews/2 {
		t.Errorf("%v and %v of %d bytes are kept, want a alone", find("a"), find("b"), views.bytes)
	}
	keep("c", maxViews/2)
	find("a")
	if keep("d", 1); find("a") == nil || find("c") != nil || find("d") == nil || views.bytes != maxViews/2+1 {
		t.Errorf("%d bytes are kept, want those of a and d, which were used last", views.bytes)
	}
	if keep("f", maxViews); find("f") == nil || find("a") != nil || views.bytes != maxViews {
		t.Errorf("%d bytes are kept, want those of f alone", views.bytes)
	}
	KeepView(&views, "test/other", "e", Viewed[string]{Head: head, Bytes: 3})
	if views.forget(keptScope); views.bytes != 3 || len(views.all) != 1 || views.order.Len() != 1 {
		t.Errorf("after the scope was forgotten, %d bytes are kept", views.bytes)
	}

	var receipts ReceiptCache
	one, two := sessionKey{keptScope, "1"}, sessionKey{"test/other", "2"}
	receipts.keep(one, &Receipts{List: make([]transcript.Receipt, maxReceipts-2), Log: make([]transcript.Request, 1)})
	receipts.keep(one, &Receipts{List: make([]transcript.Receipt, maxReceipts-2)})
	if receipts.keep(two, &Receipts{List: make([]transcript.Receipt, 2)}); len(receipts.all) != 2 || receipts.count != maxReceipts {
		t.Errorf("%d receipts of %d sessions are kept, want all", receipts.count, len(receipts.all))
	}
	if receipts.forget("test/other"); len(receipts.all) != 1 || receipts.count != maxReceipts-2 {
		t.Errorf("after the scope was forgotten, %d receipts are kept", receipts.count)
	}
	if receipts.keep(two, &Receipts{List: make([]transcript.Receipt, 3)}); len(receipts.all) != 1 || receipts.count != 3 {
		t.Errorf("%d receipts of %d sessions are kept, want that the cache begins anew", receipts.count, len(receipts.all))
	}

	var scans ScanCache
	key := scans.key(keptScope, "one")
	if scans.new.texts[key] = facts.NewScan("of the same hash"); scans.Scan(keptScope, "one").Text != "one" {
		t.Error("the scan of another text is served")
	}
	scans = ScanCache{}
	scan := scans.Scan(keptScope, "a text")
	for i, size := range []int{maxScanned - len("a text"), 1, maxScanned - 1, 1} {
		if found := scans.Scan(keptScope, "a text") == scan; !found {
			t.Errorf("after %d steps the scan is not kept", i)
		}
		if scans.keeps(size); scans.new.bytes > maxScanned {
			t.Errorf("a generation has %d bytes", scans.new.bytes)
		}
	}
	if scans.Scan(keptScope, "a text") == scan {
		t.Error("a scan outlives two generations")
	}
}
