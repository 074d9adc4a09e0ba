package triage

import (
	"math"
	"time"

	"github.com/carrel-dev/carrel/provenance"
)

// A Row is what pass one has to know of an artifact.
type Row struct {
	Class   provenance.Class
	Created time.Time
	Expires time.Time // dead from this time on; zero means never
	Flags   Flags
}

// Flags are what is known of an artifact for certain.
type Flags uint8

// The flags.
const (
	Refuted  Flags = 1 << iota // dead, whatever its age
	Absent                     // no candidate at all: tombstoned, purged, held or rejected
	Promoted                   // pinned or promoted: enters whatever the rank of its class
)

// A Table holds rows by columns, 17 bytes a row, so that a pass over a million
// of them reads nothing that it does not need. Rows are numbered from 0. The
// zero value is empty and ready to use.
type Table struct {
	created []int64 // milliseconds since 1970
	expires []int64 // likewise, or never
	kinds   []uint8 // class and flags, see kindOf
}

// never is the time at which rows that do not expire do.
const never = math.MaxInt64

// horizon bounds all other times, 36 million years from 1970: differences of
// two do not overflow.
const horizon = 1 << 60

// millis returns t in milliseconds since 1970.
func millis(t time.Time) int64 { return min(max(t.UnixMilli(), -horizon), horizon) }

// A kind is a class and flags in 6 bits: the rank of the class in the lower
// three, the flags above them.
const (
	classBits = 3
	noClass   = 1<<classBits - 1 // stands for classes that do not exist
	kindBits  = classBits + 3
)

func kindOf(r Row) uint8 {
	class := r.Class.Rank()
	if class < 0 {
		class = noClass
	}
	return uint8(class) | uint8(r.Flags&(Refuted|Absent|Promoted))<<classBits
}

// Len returns the number of rows.
func (t *Table) Len() int { return len(t.kinds) }

// Append adds a row and returns its number. A row whose class does not exist is
// never admitted.
func (t *Table) Append(r Row) int {
	t.created = append(t.created, 0)
	t.expires = append(t.expires, 0)
	t.kinds = append(t.kinds, 0)
	t.Set(t.Len()-1, r)
	return t.Len() - 1
}

// Set replaces row i. It panics if there is none.
func (t *Table) Set(i int, r Row) {
	t.kinds[i] = kindOf(r)
	t.created[i] = millis(r.Created)
	t.expires[i] = never
	if !r.Expires.IsZero() {
		t.expires[i] = millis(r.Expires)
	}
}

// Row returns row i, with its times in UTC and cut to milliseconds. It panics
// if there is none.
func (t *Table) Row(i int) Row {
	r := Row{
		Created: time.UnixMilli(t.created[i]).UTC(),
		Flags:   Flags(t.kinds[i] >> classBits),
	}
	if class := t.kinds[i] & noClass; class != noClass {
		r.Class = classes[class]
	}
	if t.expires[i] != never {
		r.Expires = time.UnixMilli(t.expires[i]).UTC()
	}
	return r
}

// classes are the classes by rank.
var classes = provenance.Classes()
