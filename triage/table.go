package triage

import (
	"time"

	"github.com/carrel-dev/carrel/provenance"
)

// A Row has the fields of an artifact that the first pass uses.
type Row struct {
	Class   provenance.Class
	Created time.Time // a row created after the time of the pass has age 0
	Expires time.Time // dead from this time on; zero means never
	Flags   Flags
}

// Flags are known facts about an artifact.
type Flags uint8

// The flags.
const (
	Refuted  Flags = 1 << iota // dead, whatever its age
	Absent                     // may not enter: removed, purged, held or rejected
	Promoted                   // pinned or promoted: may be admitted even if its class ranks below Policy.Trust
)

// A Table holds rows as columns, 18 bytes a row, so that a pass over a
// million rows reads only the columns that it needs. Rows are numbered from
// 0. The zero value is empty and ready to use.
//
// All properties but the times are bits in groups of 64 rows, so that a pass
// tests 64 rows at a time (the bit-sliced indexes of O'Neil and Quass,
// Improved query performance with variant indexes, SIGMOD 1997).
type Table struct {
	rows    int
	created []int64 // by row: milliseconds since 1970; 64 elements for each group
	expires []int64 // by row: milliseconds since 1970, or never; as long as created
	groups  []group // of 64 rows each
}

// never is the time of expiry of rows that do not expire.
const never = 1 << 61

// groupSize is the number of rows of a group: a word has a bit for each.
const groupSize = 64

// A group has the properties of 64 rows: bits for their kinds, and bounds of their times.
// After rows are replaced the bounds may be wider than necessary; they are never wrong.
type group struct {
	planes  [numPlanes]uint64 // bit i of plane p is bit p of the kind of row i
	rows    uint64            // a bit for each row that exists
	newest  [noClass]int64    // by class: no row was created later
	soonest int64             // no row expires earlier
	latest  int64             // every row that expires does so at this time or before
}

// newGroup is a group without rows.
var newGroup = func() group {
	g := group{soonest: never, latest: -horizon}
	for c := range g.newest {
		g.newest[c] = -horizon
	}
	return g
}()

// The planes above the three of the class.
const (
	planeRefuted = classBits + iota
	planeAbsent
	planePromoted
	planeEnds // the row has a time of expiry
	numPlanes
)

// classes returns the rows of each class, by its rank.
func (g *group) classes() (of [1 << classBits]uint64) {
	p, q, r := g.planes[0], g.planes[1], g.planes[2]
	for i, rows := range [...]uint64{^r & ^q, ^r & q, r & ^q, r & q} {
		of[2*i], of[2*i+1] = rows&^p, rows&p
	}
	return of
}

// horizon is the largest absolute value of a time other than never: 36 million
// years before or after 1970. The difference of two times does not overflow.
const horizon = 1 << 60

// millis returns t in milliseconds since 1970.
func millis(t time.Time) int64 { return min(max(t.UnixMilli(), -horizon), horizon) }

// A kind has 7 bits: the class in the lowest three, then the flags, then whether
// the row expires.
const (
	classBits = 3
	noClass   = 1<<classBits - 1 // the code of an unknown class
)

func kindOf(r Row) uint8 {
	class := r.Class.Rank()
	if class < 0 {
		class = noClass
	}
	kind := uint8(class) | uint8(r.Flags&(Refuted|Absent|Promoted))<<classBits
	if !r.Expires.IsZero() {
		kind |= 1 << planeEnds
	}
	return kind
}

// kind returns the kind of row i.
func (t *Table) kind(i int) (kind uint8) {
	for p, plane := range t.groups[i/groupSize].planes {
		kind |= uint8(plane>>(i%groupSize)&1) << p
	}
	return kind
}

// Len returns the number of rows.
func (t *Table) Len() int { return t.rows }

// Append adds a row and returns its number. A row with an unknown class is
// never admitted.
func (t *Table) Append(r Row) int {
	i := t.rows
	if i%groupSize == 0 {
		t.groups = append(t.groups, newGroup)
		t.created = append(t.created, make([]int64, groupSize)...)
		t.expires = append(t.expires, make([]int64, groupSize)...)
	}
	t.rows++
	t.groups[i/groupSize].rows |= 1 << (i % groupSize)
	t.Set(i, r)
	return i
}

// Set replaces row i. It panics if there is none.
func (t *Table) Set(i int, r Row) {
	_ = t.created[:t.rows][i]
	t.created[i], t.expires[i] = millis(r.Created), never
	g := &t.groups[i/groupSize]
	if !r.Expires.IsZero() {
		t.expires[i] = millis(r.Expires)
		g.latest = max(g.latest, t.expires[i])
	}
	g.soonest = min(g.soonest, t.expires[i])
	kind := kindOf(r)
	if class := kind & noClass; class != noClass {
		g.newest[class] = max(g.newest[class], t.created[i])
	}
	for p := range g.planes {
		g.planes[p] = g.planes[p]&^(1<<(i%groupSize)) | uint64(kind>>p&1)<<(i%groupSize)
	}
}

// Row returns row i, with its times in UTC and cut to milliseconds. It panics
// if there is none.
func (t *Table) Row(i int) Row {
	created, kind := t.created[:t.rows][i], t.kind(i)
	r := Row{
		Created: time.UnixMilli(created).UTC(),
		Flags:   Flags(kind>>classBits) & (Refuted | Absent | Promoted),
	}
	if class := kind & noClass; class != noClass {
		r.Class = classes[class]
	}
	if t.expires[i] != never {
		r.Expires = time.UnixMilli(t.expires[i]).UTC()
	}
	return r
}

// classes has the classes of artifacts, each at the index of its rank.
var classes = provenance.Classes()
