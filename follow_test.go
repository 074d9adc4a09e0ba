package carrel_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/claudecode"
)

// A counted file counts the bytes that are read of it.
type counted struct {
	*bytes.Reader

	read int64
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(p, at)
	c.read += int64(n)
	return n, err
}

// follow follows a file and returns how many bytes of it were read.
func follow(t testing.TB, e *carrel.Engine, id transcript.SessionID, file []byte) (*carrel.ImportResult, int64, error) {
	c := &counted{Reader: bytes.NewReader(file)}
	in, err := e.Follow(t.Context(), scope, &carrel.FollowRequest{
		Name: string(id) + ".jsonl", Format: "claudecode", File: c, Size: int64(len(file)),
	})
	return in, c.read, err
}

// sessionOf returns the session that a file is of.
func sessionOf(t require, file []byte) transcript.SessionID {
	s, err := claudecode.Format.Decode("", file)
	if err != nil {
		t.Fatal(err)
	}
	return s.ID
}

// A stored session is all of it that does not depend on chance: the ids of cells and
// entries do.
type stored struct {
	Head     store.Head
	Listed   *carrel.MessagesResult
	Input    string
	Blocks   []string // with the texts of their cells
	Journal  []string
	Exported string
	Found    []store.BlockRef
}

func look(t *testing.T, s store.Store, e *carrel.Engine, id transcript.SessionID) *stored {
	t.Helper()
	ctx := t.Context()
	bodies := func(cells []store.CellID) (texts []string) {
		for c, err := range s.Cells(ctx, scope, cells) {
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(c.Body))
		}
		return texts
	}
	head, err := s.Head(ctx, scope, id)
	if err != nil {
		t.Fatal(err)
	}
	got := &stored{Head: *head}
	got.Head.About, got.Head.Summary = "", ""
	items, err := s.Items(ctx, scope, id)
	if err != nil {
		t.Fatal(err)
	}
	got.Input = strings.Join(bodies(items), "")
	for b, err := range s.Blocks(ctx, scope, id) {
		if err != nil {
			t.Fatal(err)
		}
		texts := bodies(b.Cells)
		b.Cells, b.Stub = nil, ""
		got.Blocks = append(got.Blocks, fmt.Sprintf("%+v %q", *b, texts))
	}
	for entry, err := range s.Entries(ctx, scope, id, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if entry.Op == "import" {
			got.Journal = append(got.Journal, string(entry.Data))
		} else {
			got.Journal = append(got.Journal, entry.Op)
		}
	}
	if got.Listed, err = e.Messages(ctx, scope, &carrel.MessagesRequest{Session: id}); err != nil {
		t.Fatal(err)
	}
	got.Exported = string(export(t, e, id))
	if got.Found, err = storetest.Containing(ctx, s, scope, "wheel", "must", "part", "order", "done"); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got.Found, func(a, b store.BlockRef) int { return strings.Compare(string(a.Block), string(b.Block)) })
	return got
}

// pass does something to a session, the same to each of two.
func pass(rt *rapid.T, t *testing.T, id transcript.SessionID, engines ...*carrel.Engine) {
	kind := rapid.SampledFrom([]string{"none", "none", "compress", "pin", "undo", "mark"}).Draw(rt, "pass")
	share := rapid.SampledFrom([]ratio.Ratio{ratio.Of(1, 4), ratio.Of(1, 2), ratio.Of(3, 4)}).Draw(rt, "share")
	strategy := rapid.SampledFrom([]carrel.Strategy{carrel.StrategyImportance, carrel.StrategyWindow, carrel.StrategyPager}).Draw(rt, "strategy")
	which := rapid.IntRange(0, 1000).Draw(rt, "block")
	var said []string
	for _, e := range engines {
		var err error
		switch kind {
		case "compress":
			_, err = e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Share: share}, Strategy: strategy})
		case "undo":
			_, err = e.Undo(t.Context(), scope, &carrel.UndoRequest{Session: id})
		case "mark":
			_, err = e.Mark(t.Context(), scope, &carrel.MarkRequest{Session: id, Critical: which%2 == 0})
		case "pin":
			list, _ := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
			info := &list.Messages[len(list.Messages)-1-which%len(list.Messages)]
			_, err = e.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{string(info.ID)}, Unpin: info.Pinned})
		}
		said = append(said, kind+": "+fmt.Sprint(err != nil))
	}
	if len(slices.Compact(said)) > 1 {
		rt.Fatalf("the two sessions are not alike: %v", said)
	}
}

// However a file grows, is rewound, compacted and torn, whatever passes come in between:
// to follow it leaves the same as to import all of it each time.
func TestFollowIsImport(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var file []byte
		if rapid.Bool().Draw(rt, "made up") {
			file = fakesession.ClaudeCode(rapid.Uint64Range(0, 1<<20).Draw(rt, "seed"), 3)
		} else {
			l := &life{diary: &diary{}}
			l.diary.asks("Build it.")
			l.ends = []string{l.diary.last}
			for range rapid.IntRange(2, 16).Draw(rt, "events") {
				l.grow(rt)
			}
			file = l.diary.file()
		}
		id := sessionOf(rt, file)
		plain, other := stores.New(t), stores.New(t)
		follower, importer := newEngine(t, plain), newEngine(t, other)
		lines := slices.Collect(bytes.Lines(file))
		for at, was := 0, 0; at < len(lines); {
			at = min(len(lines), at+rapid.IntRange(1, 9).Draw(rt, "rows"))
			if at > 2 && rapid.IntRange(0, 9).Draw(rt, "taken out") == 0 {
				k := rapid.IntRange(0, at-1).Draw(rt, "row")
				lines = slices.Delete(lines, k, k+1)
				at--
			}
			if was > 0 && was < at && rapid.IntRange(0, 5).Draw(rt, "rewritten") == 0 { // the last row that is stored
				lines[was-1] = []byte(strings.NewReplacer("Part", "Trap", "Order", "Redro", "the", "eht", "gear", "raeg").Replace(string(lines[was-1])))
			}
			was = at
			data := bytes.Join(lines[:at], nil)
			if torn := rapid.IntRange(0, 5).Draw(rt, "torn") == 0; torn && at < len(lines) {
				data = append(data, lines[at][:rapid.IntRange(1, len(lines[at])-1).Draw(rt, "torn at")]...)
			}
			got, _, err := follow(t, follower, id, data)
			want, wantErr := importer.Import(t.Context(), scope, &carrel.ImportRequest{Name: string(id) + ".jsonl", Format: "claudecode", Data: data})
			if (err == nil) != (wantErr == nil) || errors.Is(err, carrel.ErrShorter) != errors.Is(wantErr, carrel.ErrShorter) {
				rt.Fatalf("to follow: %v; to import: %v", err, wantErr)
			}
			if err != nil {
				continue
			}
			got.Branches, got.Warnings, got.Op = want.Branches, want.Warnings, want.Op // of the end alone; by chance
			if diff := cmp.Diff(want, got); diff != "" {
				rt.Fatalf("result of rows 1 to %d (-import +follow):\n%s", at, diff)
			}
			if at == len(lines) || rapid.IntRange(0, 3).Draw(rt, "look") == 0 {
				if diff := cmp.Diff(look(t, other, importer, id), look(t, plain, follower, id)); diff != "" {
					rt.Fatalf("after rows 1 to %d (-import +follow):\n%s", at, diff)
				}
			}
			pass(rt, t, id, follower, importer)
		}
		for _, e := range []*carrel.Engine{importer, follower} {
			if problems, err := e.Check(t.Context()); len(problems) > 0 || err != nil {
				rt.Fatalf("check: %q, %v", problems, err)
			}
		}
	})
}

// exchange returns the rows of an order and what the agent did about it, as the client
// writes them when the file has n rows.
func exchange(d *diary, size int) {
	n := len(d.rows)
	d.asks(fmt.Sprintf("Order %d.", n))
	d.runs(fmt.Sprintf("make part%d", n), strings.Repeat("x", size), false)
	d.says(fmt.Sprintf("Part %d is done.", n))
}

// To follow a file costs the same whether it is short or long: its first bytes, its last
// block and what is new are read.
func TestFollowReadsTheEnd(t *testing.T) {
	for _, driver := range []string{"memory", "sqlite"} {
		var reads []int64
		for _, exchanges := range []int{30, 300} {
			var s store.Store = stores.New(t)
			if driver == "sqlite" {
				db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "s.db"), nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = db.Close() })
				s = db
			}
			d := &diary{}
			for range exchanges {
				exchange(d, 3000)
			}
			e := newEngine(t, s)
			id := sessionOf(t, d.file())
			if _, read, err := follow(t, e, id, d.file()); err != nil || read < int64(len(d.file())) {
				t.Fatalf("at first %d bytes are read, %v", read, err)
			}
			before := len(d.file())
			for k := range 12 {
				exchange(d, 100)
				if k == 6 { // a pass does not change where the file ends
					if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Share: ratio.Of(3, 4)}}); err != nil {
						t.Fatal(err)
					}
				}
				in, read, err := follow(t, newEngine(t, s), id, d.file())
				if err != nil || in.Added != 3 || in.Messages != 4*(exchanges+k+1) {
					t.Fatalf("%s, step %d: %+v, %v", driver, k, in, err)
				}
				if most := int64(4<<10 + 4000); read > most {
					t.Errorf("%s, step %d: of %d bytes, %d of them new, %d are read; want at most %d", driver, k, len(d.file()), len(d.file())-before, read, most)
				}
				before = len(d.file())
				reads = append(reads, read)
			}
			in, read, err := follow(t, e, id, d.file())
			if err != nil || in.Changed || in.Messages != 4*(exchanges+12) || read > 8<<10 {
				t.Errorf("%s: with nothing new %d bytes are read: %+v, %v", driver, read, in, err)
			}
			if out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: id}); err != nil || len(out.Data) == 0 {
				t.Errorf("%s: %v", driver, err)
			}
			problems, err := e.Check(t.Context())
			if err != nil || len(problems) > 0 {
				t.Errorf("%s: %q, %v", driver, problems, err)
			}
		}
		if short, long := slices.Max(reads[:12]), slices.Max(reads[12:]); long > short+100 { // numbers have more digits
			t.Errorf("%s: %d bytes are read of a short file, and %d of a long one", driver, short, long)
		}
	}
}

// A result that a call waits for is read without what is before the call.
func TestFollowBetweenACallAndItsResult(t *testing.T) {
	d := &diary{}
	for range 50 {
		exchange(d, 3000)
	}
	e := newEngine(t, stores.New(t))
	id := sessionOf(t, d.file())
	d.runs("make all", "made", false)
	result := d.rows[len(d.rows)-1]
	d.rows = d.rows[:len(d.rows)-1]
	if _, _, err := follow(t, e, id, d.file()); err != nil {
		t.Fatal(err)
	}
	d.rows = append(d.rows, result)
	in, read, err := follow(t, e, id, d.file())
	if err != nil || in.Added != 0 || !in.Changed || in.Messages != 4*50+2 || read > 8<<10 {
		t.Errorf("%d of %d bytes are read: %+v, %v", read, len(d.file()), in, err)
	}
	if got := export(t, e, id); !bytes.Equal(got, d.file()) {
		t.Errorf("exported are %d bytes, the file has %d", len(got), len(d.file()))
	}
}

// goesOn returns a change of a file: one more row of the reply that its row n is of.
func goesOn(n int) func(d *diary, file []byte) []byte {
	return func(d *diary, file []byte) []byte {
		before := len(d.rows)
		d.add("assistant", "", fmt.Sprintf(`{"id":"msg_%d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"More."}]}`, n))
		return append(file, d.rows[before]+"\n"...)
	}
}

// What is no file that only grew is read as a whole.
func TestFollowReadsAllOfAnotherFile(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(d *diary, file []byte) []byte
	}{
		{"other bytes at the beginning", func(_ *diary, file []byte) []byte {
			return bytes.Replace(file, []byte("Order 0."), []byte("Order 9."), 1)
		}},
		{"other bytes in the last block", func(_ *diary, file []byte) []byte {
			at := bytes.LastIndex(file, []byte("is done"))
			return slices.Concat(file[:at], []byte("IS DONE"), file[at+7:])
		}},
		{"a row is gone", func(_ *diary, file []byte) []byte {
			lines := slices.Collect(bytes.Lines(file))
			return bytes.Join(slices.Delete(lines, 5, 6), nil)
		}},
		{"the person goes back", func(d *diary, file []byte) []byte {
			d.last = "00000000-0000-4000-8000-000000000004"
			n := len(d.rows)
			d.asks("Rather not.")
			return append(file, d.rows[n]+"\n"...)
		}},
		{"an early reply goes on", goesOn(3)},
		{"a reply in between goes on", goesOn(39)},
		{"a reply near the end goes on", goesOn(67)},
		{"the client compacts", func(d *diary, file []byte) []byte {
			n := len(d.rows)
			d.compacts("What there was.")
			return append(file, strings.Join(d.rows[n:], "\n")+"\n"...)
		}},
		{"a line has not ended", func(_ *diary, file []byte) []byte { return append(file, `{"type":"user","uuid":"x"`...) }},
	} {
		d := &diary{}
		exchange(d, 1000)
		id := sessionOf(t, d.file())
		s := stores.New(t)
		e := newEngine(t, s)
		for n := range 12 { // in pieces of different lengths
			for range n % 4 {
				exchange(d, 1000)
			}
			if _, _, err := follow(t, e, id, d.file()); err != nil {
				t.Fatal(err)
			}
		}
		file := tt.change(d, d.file())
		_, read, err := follow(t, e, id, file)
		if err != nil || read < int64(len(file)) {
			t.Errorf("%s: of %d bytes %d are read, %v", tt.name, len(file), read, err)
		}
		var input []byte
		items, err := s.Items(t.Context(), scope, id)
		for c, err := range s.Cells(t.Context(), scope, items) {
			if err != nil {
				t.Fatal(err)
			}
			input = append(input, c.Body...)
		}
		if err != nil || !bytes.Equal(input, file) {
			t.Errorf("%s: %d bytes are stored, the file has %d, %v", tt.name, len(input), len(file), err)
		}
		if file[len(file)-1] != '\n' {
			continue
		}
		n := len(d.rows) // what is added then is understood as if all were read
		d.last = fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		exchange(d, 100)
		file = append(file, strings.Join(d.rows[n:], "\n")+"\n"...)
		if _, _, err := follow(t, e, id, file); err != nil {
			t.Fatal(err)
		}
		other := newEngine(t, stores.New(t))
		in, err := other.Import(t.Context(), scope, &carrel.ImportRequest{Name: string(id) + ".jsonl", Data: file})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := export(t, e, id), export(t, other, in.Session); !bytes.Equal(got, want) {
			t.Errorf("%s: followed to its end, the file is exported as %d bytes, imported as %d", tt.name, len(got), len(want))
		}
		got, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
		if want, wantErr := other.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session}); err != nil || wantErr != nil || len(got.Messages) != len(want.Messages) {
			t.Errorf("%s: followed to its end, the file has %d blocks, imported %d, %v, %v", tt.name, len(got.Messages), len(want.Messages), err, wantErr)
		}
	}
}

// What is remembered of a file is erased with the session.
func TestPurgeErasesHowFarAFileWasRead(t *testing.T) {
	s := stores.New(t)
	e := newEngine(t, s)
	d := &diary{}
	exchange(d, 100)
	id := sessionOf(t, d.file())
	for range 3 {
		if _, _, err := follow(t, e, id, d.file()); err != nil {
			t.Fatal(err)
		}
		exchange(d, 100)
	}
	cells, err := s.Brought(t.Context(), scope, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: id}); err != nil {
		t.Fatal(err)
	}
	for _, cell := range cells {
		for _, err := range s.Cells(t.Context(), scope, []store.CellID{cell}) {
			if !errors.Is(err, store.ErrGone) {
				t.Errorf("cell %s is there: %v", cell, err)
			}
		}
	}
	if _, _, err := follow(t, e, id, d.file()); err == nil {
		t.Error("a session that was purged is followed")
	}
}

// A file that is none is refused.
func TestFollowNothing(t *testing.T) {
	e := newEngine(t, stores.New(t))
	if _, err := e.Follow(t.Context(), scope, &carrel.FollowRequest{Name: "s.jsonl", Format: "claudecode"}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("without a file: %v", err)
	}
	for _, req := range []carrel.FollowRequest{
		{Name: "s.jsonl", Format: "claudecode", File: strings.NewReader(""), Size: -1},
		{Name: "s.jsonl", Format: "none", File: strings.NewReader("{}"), Size: 2},
		{Name: "s.jsonl", Format: "claudecode", File: strings.NewReader(""), Size: 0},
		{Name: "s.jsonl", Format: "claudecode", File: io.NewSectionReader(strings.NewReader("{}\n"), 0, 3), Size: 1 << 40},
	} {
		if in, err := e.Follow(t.Context(), scope, &req); err == nil {
			t.Errorf("Follow(%+v) = %+v", req, in)
		}
	}
}

// A reply whose first row has text alone is a reply; with a call in its next row it is one
// that uses a tool, and its block says so.
func TestAReplyThatGoesOnWithACall(t *testing.T) {
	d := newDiary()
	d.says("I look at it.")
	e := newEngine(t, stores.New(t))
	id := sessionOf(t, d.file())
	for range 2 {
		if _, _, err := follow(t, e, id, d.file()); err != nil {
			t.Fatal(err)
		}
		if problems, err := e.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Fatalf("check: %q, %v", problems, err)
		}
		reply := field(d.rows[len(d.rows)-1], "id")
		d.add("assistant", "", fmt.Sprintf(`{"id":%q,"role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"toolu_x","name":"Bash","input":{"command":"ls"}}]}`, reply))
	}
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	if last := list.Messages[len(list.Messages)-1]; last.Kind != transcript.KindTool || !slices.Equal(last.Tools, []string{"Bash"}) {
		t.Errorf("the reply is %+v", last)
	}
}
