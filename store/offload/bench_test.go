package offload_test

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
)

// What it takes to put a large body and to recall it, with and without blobs, in one run.
func BenchmarkLargeBodies(b *testing.B) {
	drivers := map[string]func(t postgres.T) store.Database{"sqlite": stores.SQLite, "postgres": stores.Postgres}
	for _, size := range []int{1 << 18, 1 << 20, 8 << 20, 64 << 20} {
		for name, open := range drivers {
			for _, blobs := range []bool{false, true} {
				s := open(b)
				if blobs {
					s = stores.Blobs(b, s)
				}
				where := fmt.Sprintf("%d KiB/%s/blobs=%v", size>>10, name, blobs)
				body := make([]byte, size)
				for i := range body {
					body[i] = byte(i * i >> 7)
				}
				puts := 0
				b.Run("put/"+where, func(b *testing.B) {
					b.SetBytes(int64(size))
					for b.Loop() {
						c := newCell(store.CellID(fmt.Sprint("c", puts)), string(body))
						u := &store.Update{Entry: entry(string(c.ID)), Cells: []store.Cell{c}}
						if _, err := s.Update(b.Context(), scope, u); err != nil {
							b.Fatal(err)
						}
						puts++
					}
				})
				b.Run("recall/"+where, func(b *testing.B) {
					b.SetBytes(int64(size))
					n := 0
					for b.Loop() {
						if _, err := bodyOf(b.Context(), s, scope, store.CellID(fmt.Sprint("c", n%puts))); err != nil {
							b.Fatal(err)
						}
						n++
					}
				})
			}
		}
	}
}
