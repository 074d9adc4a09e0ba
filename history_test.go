package carrel_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/transcript"
)

// A life is a session whose file grows, is rewound, compacted, cut and copied, beside
// what must hold of it.
type life struct {
	bench *bench
	diary *diary
	ends  []string // rows at which a person may go on
	id    transcript.SessionID

	names  map[string]transcript.BlockID // of whole blocks, by their bytes
	pinned map[transcript.BlockID]bool
}

// grow adds something to the file.
func (l *life) grow(rt *rapid.T) {
	d := l.diary
	n := len(d.rows)
	switch rapid.IntRange(0, 9).Draw(rt, "event") {
	case 0, 1:
		d.asks(fmt.Sprintf("Order %d.", n))
	case 2, 3, 4:
		d.runs(fmt.Sprintf("make part%d", n), fmt.Sprintf("part%d is made", n), n%3 == 0)
	case 5, 6:
		d.says(fmt.Sprintf("Part %d is done.", n))
	case 7:
		d.last = rapid.SampledFrom(l.ends).Draw(rt, "rewound to")
		d.asks(fmt.Sprintf("Rather %d.", n))
	case 8:
		d.compacts(fmt.Sprintf("Summary of %d rows.", n))
		d.asks("Go on.")
	case 9:
		d.keeps(rapid.IntRange(1, 3).Draw(rt, "kept"))
	}
	l.ends = append(l.ends, d.last)
}

// keeps compacts the conversation, over which the agent keeps its last rows.
func (d *diary) keeps(n int) {
	chain := d.chain()
	var kept []string
	for _, id := range chain[max(len(chain)-n, 0):] {
		kept = append(kept, fmt.Sprintf("%q", id))
	}
	anchor := fmt.Sprintf("00000000-0000-4000-8000-%012d", len(d.rows)+2)
	d.compacts("What there was.")
	mark := &d.rows[len(d.rows)-2]
	*mark = strings.Replace(*mark, `{"trigger":"manual"}`,
		fmt.Sprintf(`{"trigger":"auto","preservedMessages":{"anchorUuid":%q,"uuids":[%s]}}`, anchor, strings.Join(kept, ",")), 1)
	d.last = chain[len(chain)-1]
	d.asks("And on.")
}

// chain returns the rows from the last compaction to the last row.
func (d *diary) chain() []string {
	parent := make(map[string]string)
	for _, row := range d.rows {
		parent[field(row, "uuid")] = field(row, "parentUuid")
	}
	var ids []string
	for id := d.last; id != ""; id = parent[id] {
		if !strings.Contains(d.rows[rowOf(id)], "compact_boundary") {
			ids = append(ids, id)
		}
	}
	slices.Reverse(ids)
	return ids
}

func rowOf(id string) int {
	var n int
	if _, err := fmt.Sscanf(id[len(id)-12:], "%d", &n); err != nil {
		panic(err)
	}
	return n - 1
}

// field returns a string of a row, or nothing if it is null.
func field(row, name string) string {
	_, rest, ok := strings.Cut(row, fmt.Sprintf("%q:\"", name))
	if !ok {
		return ""
	}
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// check holds the session against the file: every row that somebody said is in one
// block at most, all bytes are recalled, and no block has changed its name or lost its
// pin.
func (l *life) check(rt *rapid.T, t *testing.T, file []byte) {
	list, err := l.bench.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: l.id})
	if err != nil {
		rt.Fatal(err)
	}
	rows := make(map[string]transcript.BlockID)
	for i := range list.Messages {
		info := &list.Messages[i]
		got, err := l.bench.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(info.ID)})
		if err != nil || len(got.Data) == 0 {
			rt.Fatalf("recall %s: %v", info.ID, err)
		}
		for row := range bytes.Lines(got.Data) {
			if other, ok := rows[string(row)]; ok {
				rt.Fatalf("row %s is in %s and %s", row, other, info.ID)
			}
			if !bytes.Contains(file, row) {
				rt.Fatalf("row %s is not of the file", row)
			}
			rows[string(row)] = info.ID
		}
		if was, ok := l.names[string(got.Data)]; ok && was != info.ID {
			rt.Fatalf("block %s is %s now", was, info.ID)
		}
		l.names[string(got.Data)] = info.ID
		if l.pinned[info.ID] != info.Pinned {
			rt.Fatalf("block %s: pinned %t, want %t", info.ID, info.Pinned, l.pinned[info.ID])
		}
		if (info.Earlier > 0) != (i < list.Earlier) || info.Earlier > 0 && (info.State != "cold" || info.Window != 0) {
			rt.Fatalf("block %d: %+v", i, info)
		}
	}
	for raw, id := range l.names {
		got, err := l.bench.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(id)})
		if err != nil {
			rt.Fatalf("recall %s: %v", id, err)
		}
		if !bytes.HasPrefix(got.Data, []byte(raw)) { // it may have grown
			rt.Fatalf("recall %s:\n%s\nwant\n%s", id, got.Data, raw)
		}
	}
	if out, err := l.bench.Export(t.Context(), scope, &carrel.ExportRequest{Session: l.id, Whole: true}); err != nil || !bytes.Equal(out.Data, file) {
		rt.Fatalf("the file is not what was imported: %v", err)
	}
}

// However a file grows, and whichever copies of it come in between: a message is always
// the same block, no byte is lost, no pin, and a copy that is only shorter is refused.
func TestBlocksKeepTheirNames(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		l := &life{
			bench: newBench(t, stores.New(t), carrel.Options{}), diary: &diary{},
			names: make(map[string]transcript.BlockID), pinned: make(map[transcript.BlockID]bool),
		}
		l.diary.asks("Build it.")
		l.ends = []string{l.diary.last}
		l.id = l.bench.imports(t, l.diary)
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			for range rapid.IntRange(1, 4).Draw(rt, "events") {
				l.grow(rt)
			}
			l.bench.imports(t, l.diary)
			file := l.diary.file()
			l.check(rt, t, file)
			lines := slices.Collect(bytes.Lines(file))
			short := bytes.Join(lines[:rapid.IntRange(1, len(lines)-1).Draw(rt, "cut")], nil)
			req := &carrel.ImportRequest{Name: "s.jsonl", Data: short}
			if _, err := l.bench.Import(t.Context(), scope, req); !errors.Is(err, carrel.ErrShorter) {
				rt.Fatalf("a shorter copy: %v", err)
			}
			l.check(rt, t, file)
			if req.Rewind = rapid.Bool().Draw(rt, "rewind"); req.Rewind {
				if _, err := l.bench.Import(t.Context(), scope, req); err != nil {
					rt.Fatal(err)
				}
				if l.bench.imports(t, l.diary); rapid.Bool().Draw(rt, "look") {
					l.check(rt, t, file)
				}
			}
			l.pin(rt, t)
		}
	})
}

// pin pins a block, or lets one go.
func (l *life) pin(rt *rapid.T, t *testing.T) {
	list, err := l.bench.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: l.id})
	if err != nil {
		rt.Fatal(err)
	}
	info := rapid.SampledFrom(list.Messages).Draw(rt, "pin")
	if _, err := l.bench.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{string(info.ID)}, Unpin: info.Pinned}); err != nil {
		rt.Fatal(err)
	}
	l.pinned[info.ID] = !info.Pinned
}
