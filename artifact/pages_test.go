package artifact_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/governance"
)

func key(id string) artifact.Key { return artifact.Key{Scope: "local", ID: id} }

func page(version int64, size int) artifact.Page[[]byte] {
	return artifact.Page[[]byte]{Version: version, Size: int64(size), Value: make([]byte, size)}
}

func ids(p *artifact.Pages[[]byte]) string {
	var s string
	for _, k := range p.Keys() {
		s += k.ID
	}
	return s
}

func TestPages(t *testing.T) {
	type pages = artifact.Pages[[]byte]
	put := func(id string, size int) func(*pages) {
		return func(p *pages) { p.Put(key(id), page(1, size)) }
	}
	get := func(id string) func(*pages) { return func(p *pages) { p.Get(key(id), 1) } }
	pin := func(id string) func(*pages) { return func(p *pages) { p.Pin(key(id)) } }
	unpin := func(id string) func(*pages) { return func(p *pages) { p.Unpin(key(id)) } }
	for _, tt := range []struct {
		name  string
		limit int64
		steps []func(*pages)
		want  string // resident, most recently used first
	}{
		{"what was put last is first", 30, []func(*pages){put("a", 10), put("b", 10), put("c", 10)}, "cba"},
		{"a hit promotes", 30, []func(*pages){put("a", 10), put("b", 10), put("c", 10), get("a")}, "acb"},
		{"the least recently used leaves", 30, []func(*pages){put("a", 10), put("b", 10), put("c", 10), get("a"), put("d", 10)}, "dac"},
		{"a large page drives out several", 30, []func(*pages){put("a", 10), put("b", 10), put("c", 10), put("d", 15)}, "dc"},
		{"a page as large as the limit is kept alone", 30, []func(*pages){put("a", 10), put("b", 30)}, "b"},
		{"a page larger than the limit is not kept and evicts nothing", 30, []func(*pages){put("a", 10), put("b", 31)}, "a"},
		{"a version larger than the limit takes the old one with it", 30, []func(*pages){put("a", 10), put("a", 31)}, ""},
		{"a pinned page stays", 20, []func(*pages){put("a", 10), pin("a"), put("b", 10), put("c", 10)}, "ca"},
		{"a pin comes before its page", 20, []func(*pages){pin("a"), put("a", 10), put("b", 10), put("c", 10)}, "ca"},
		{"a page for which pinned ones leave no room evicts nothing", 30, []func(*pages){put("a", 20), pin("a"), put("b", 5), put("c", 11)}, "ba"},
		{"pinned pages may go over the limit", 20, []func(*pages){pin("a"), pin("b"), put("a", 15), put("b", 15)}, "ba"},
		{"what is unpinned over the limit leaves", 20, []func(*pages){pin("a"), pin("b"), put("a", 15), put("b", 15), unpin("b")}, "a"},
		{"pins are counted", 10, []func(*pages){put("a", 10), pin("a"), pin("a"), unpin("a"), put("b", 10)}, "a"},
		{"unpinning what is not pinned does nothing", 10, []func(*pages){put("a", 10), unpin("a"), pin("a"), put("b", 10)}, "a"},
		{"empty pages count", 2, []func(*pages){put("a", 0), put("b", 0), put("c", 0)}, "cb"},
		{"without a limit above 0 nothing is kept", 0, []func(*pages){put("a", 0), pin("b"), put("b", 1)}, ""},
		{"a limit below 0 is 0", -1, []func(*pages){put("a", 0)}, ""},
		{"a pinned page can be dropped", 20, []func(*pages){put("a", 10), pin("a"), put("b", 5), func(p *pages) { p.Drop(key("a")) }}, "b"},
		{"dropping what is not there does nothing", 20, []func(*pages){put("a", 10), func(p *pages) { p.Drop(key("b")) }}, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := artifact.NewPages[[]byte](tt.limit)
			for _, step := range tt.steps {
				step(p)
			}
			if got := ids(p); got != tt.want {
				t.Errorf("resident %q, want %q", got, tt.want)
			}
		})
	}
}

// A page is dirty when its version is not the store's. It is dropped, so that
// nobody can be served it.
func TestPagesGetChecksTheVersion(t *testing.T) {
	p := artifact.NewPages[[]byte](100)
	p.Put(key("a"), page(2, 10))
	for _, version := range []int64{1, 2} {
		if pg, ok := p.Get(key("a"), version); ok {
			t.Errorf("Get at version %d = %v, true, want a fault", version, pg)
		}
	}
	want := artifact.Stats{Faults: 2, Limit: 100}
	if diff := cmp.Diff(want, p.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestPagesKeepScopesApart(t *testing.T) {
	p := artifact.NewPages[[]byte](100)
	a, b := artifact.Key{Scope: "a", ID: "x"}, artifact.Key{Scope: "b", ID: "x"}
	p.Put(a, page(1, 10))
	if _, ok := p.Get(b, 1); ok {
		t.Errorf("Get(%v) is a hit on %v", b, a)
	}
	p.Put(b, page(1, 20))
	p.DropScope("a")
	if diff := cmp.Diff([]artifact.Key{b}, p.Keys()); diff != "" {
		t.Errorf("keys after DropScope (-want +got):\n%s", diff)
	}
	if got := p.Stats().Bytes; got != 20 {
		t.Errorf("%d bytes after DropScope, want 20", got)
	}
}

// model is the same set, naively.
type model struct {
	limit int64
	pages []modelPage // most recently used first
	pins  map[artifact.Key]int
	stats artifact.Stats
}

type modelPage struct {
	key     artifact.Key
	version int64
	size    int64
}

func (m *model) find(k artifact.Key) int {
	return slices.IndexFunc(m.pages, func(p modelPage) bool { return p.key == k })
}

func (m *model) drop(k artifact.Key) {
	m.pages = slices.DeleteFunc(m.pages, func(p modelPage) bool { return p.key == k })
}

func (m *model) bytes(pinnedOnly bool) (n int64) {
	for _, p := range m.pages {
		if !pinnedOnly || m.pins[p.key] > 0 {
			n += p.size
		}
	}
	return n
}

// shrink evicts until a page of that size fits.
func (m *model) shrink(size int64) {
	for m.bytes(false)+size > m.limit {
		last := -1
		for i, p := range m.pages {
			if m.pins[p.key] == 0 {
				last = i
			}
		}
		if last < 0 {
			return
		}
		m.pages = slices.Delete(m.pages, last, last+1)
		m.stats.Evictions++
	}
}

func (m *model) put(k artifact.Key, version, size int64) {
	m.drop(k)
	if size > m.limit || m.pins[k] == 0 && m.bytes(true)+size > m.limit {
		return
	}
	m.shrink(size)
	m.pages = slices.Insert(m.pages, 0, modelPage{k, version, size})
}

func (m *model) get(k artifact.Key, version int64) bool {
	i := m.find(k)
	if i < 0 || m.pages[i].version != version {
		m.drop(k)
		m.stats.Faults++
		return false
	}
	p := m.pages[i]
	m.drop(k)
	m.pages = slices.Insert(m.pages, 0, p)
	m.stats.Hits++
	return true
}

// The set does what the model does, and holds more than its limit only by what
// is pinned.
func TestPagesAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(0, 40).Draw(t, "limit")
		p := artifact.NewPages[[]byte](limit)
		m := &model{limit: limit, pins: make(map[artifact.Key]int)}
		anyKey := rapid.Custom(func(t *rapid.T) artifact.Key {
			return artifact.Key{
				Scope: rapid.SampledFrom([]governance.Scope{"a", "b"}).Draw(t, "scope"),
				ID:    rapid.SampledFrom([]string{"1", "2", "3", "4"}).Draw(t, "id"),
			}
		})
		version := rapid.Int64Range(1, 2)
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, v, size := anyKey.Draw(t, "key"), version.Draw(t, "version"), rapid.IntRange(1, 20).Draw(t, "size")
				p.Put(k, page(v, size))
				m.put(k, v, int64(size))
			},
			"get": func(t *rapid.T) {
				k, v := anyKey.Draw(t, "key"), version.Draw(t, "version")
				pg, got := p.Get(k, v)
				if want := m.get(k, v); got != want {
					t.Fatalf("Get(%v, %d) = %t, want %t", k, v, got, want)
				}
				if got && (pg.Version != v || int64(len(pg.Value)) != m.pages[0].size) {
					t.Fatalf("Get(%v, %d) = version %d of %d bytes, want %+v", k, v, pg.Version, len(pg.Value), m.pages[0])
				}
			},
			"pin": func(t *rapid.T) {
				k := anyKey.Draw(t, "key")
				p.Pin(k)
				m.pins[k]++
			},
			"unpin": func(t *rapid.T) {
				k := anyKey.Draw(t, "key")
				p.Unpin(k)
				if m.pins[k]--; m.pins[k] <= 0 {
					delete(m.pins, k)
				}
				m.shrink(0)
			},
			"drop": func(t *rapid.T) {
				k := anyKey.Draw(t, "key")
				p.Drop(k)
				m.drop(k)
			},
			"drop a scope": func(*rapid.T) {
				p.DropScope("a")
				m.pages = slices.DeleteFunc(m.pages, func(p modelPage) bool { return p.key.Scope == "a" })
			},
			"": func(t *rapid.T) {
				var keys []artifact.Key
				pinned := 0
				for _, pg := range m.pages {
					keys = append(keys, pg.key)
					if m.pins[pg.key] > 0 {
						pinned++
					}
				}
				if diff := cmp.Diff(keys, p.Keys(), cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("keys (-want +got):\n%s", diff)
				}
				want := m.stats
				want.Pages, want.Pinned, want.Bytes, want.Limit = len(keys), pinned, m.bytes(false), limit
				got := p.Stats()
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("stats (-want +got):\n%s", diff)
				}
				if got.Bytes > max(limit, m.bytes(true)) {
					t.Fatalf("%d bytes resident, %d of them pinned, with a limit of %d", got.Bytes, m.bytes(true), limit)
				}
			},
		})
	})
}

func TestPagesConcurrently(t *testing.T) {
	const workers, rounds = 8, 500
	p := artifact.NewPages[[]byte](64)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range rounds {
				k := key(string(rune('a' + (w+i)%10)))
				p.Pin(k)
				if pg, ok := p.Get(k, 1); ok && pg.Value[0] != k.ID[0] {
					t.Errorf("page of %q holds %q", k.ID, pg.Value)
				}
				p.Put(k, artifact.Page[[]byte]{Version: 1, Size: 8, Value: fmt.Appendf(nil, "%s-%06d", k.ID, i)})
				p.Unpin(k)
				if i%50 == 0 {
					p.DropScope(k.Scope)
				}
			}
		})
	}
	wg.Wait()
	s := p.Stats()
	if s.Hits+s.Faults != workers*rounds || s.Pinned != 0 || s.Bytes > s.Limit || s.Bytes != int64(8*s.Pages) {
		t.Errorf("stats %+v: want %d hits and faults together, nothing pinned, 8 bytes a page, within the limit", s, workers*rounds)
	}
}

func ExamplePages() {
	pages := artifact.NewPages[[]byte](20) // bytes
	policy := artifact.Key{Scope: "acme/support", ID: "refunds"}
	pages.Put(policy, artifact.Page[[]byte]{Version: 3, Size: 14, Value: []byte("within 14 days")})

	if page, ok := pages.Get(policy, 3); ok {
		fmt.Printf("hit: %s\n", page.Value)
	}
	// The store has a newer version: the page is dirty, and no hit.
	if _, ok := pages.Get(policy, 4); !ok {
		fmt.Println("fault")
	}
	pages.Put(policy, artifact.Page[[]byte]{Version: 4, Size: 14, Value: []byte("within 30 days")})
	pages.Put(artifact.Key{Scope: "acme/support", ID: "hours"}, artifact.Page[[]byte]{Version: 1, Size: 7, Value: []byte("9 to 17")})

	s := pages.Stats()
	fmt.Printf("%d page of %d bytes, %d hit, %d fault, %d eviction\n", s.Pages, s.Bytes, s.Hits, s.Faults, s.Evictions)
	// Output:
	// hit: within 14 days
	// fault
	// 1 page of 7 bytes, 1 hit, 1 fault, 1 eviction
}

func BenchmarkPages(b *testing.B) {
	p := artifact.NewPages[[]byte](1 << 20)
	keys := make([]artifact.Key, 4096) // twice as many as fit
	for i := range keys {
		keys[i] = key(fmt.Sprint(i))
	}
	pg := page(1, 512)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		k := keys[i*7919%len(keys)]
		if _, ok := p.Get(k, 1); !ok {
			p.Put(k, pg)
		}
	}
}
