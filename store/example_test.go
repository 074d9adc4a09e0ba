package store_test

import (
	"context"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/transcript"
)

// A session with one block is written, and the text of the block is read.
func Example() {
	ctx, db, scope := context.Background(), memory.New(), governance.Scope("acme/site")
	now := time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)
	cell := store.Cell{
		ID: "c1", Kind: store.CellItem, // rand.Text() in place of "c1"
		Salt: digest.Salt{1}, // random, too
		Body: []byte("Fix the build."),
	}
	cell.Commit = digest.Commit(cell.Salt, string(cell.Kind), cell.Body)
	revision, err := db.Apply(ctx, scope, "s1", 0, &store.Change{
		Head:   store.Head{Blocks: 1, Tokens: 4, Created: now, Updated: now},
		Cells:  []store.Cell{cell},
		Items:  []store.CellID{cell.ID},
		Blocks: []store.Block{{ID: "b1", Turn: 1, Kind: transcript.KindUser, Tokens: 4, State: store.StateLive, Cells: []store.CellID{cell.ID}}},
		Entry:  store.Entry{ID: "op_1", Op: "import", Actor: governance.ActorUser, Time: now},
	})
	fmt.Println(revision, err)

	for b, err := range db.Blocks(ctx, scope, "s1") {
		if err != nil {
			fmt.Println(err)
			return
		}
		for c, err := range db.Cells(ctx, scope, b.Cells) {
			if err != nil {
				fmt.Println(err)
				return
			}
			fmt.Printf("%s: %s\n", b.ID, c.Body)
		}
	}
	// Output:
	// 1 <nil>
	// b1: Fix the build.
}
