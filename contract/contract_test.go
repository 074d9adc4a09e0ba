package contract

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var at = time.Date(2026, 5, 17, 5, 8, 12, 0, time.FixedZone("", 2*60*60))

const declarations = `remember a list called retained-blocks
remember a list called paged-blocks
remember a list called evicted-blocks
`

func TestPass(t *testing.T) {
	s := new(Contract)
	for _, tt := range []struct {
		name      string
		decisions []Move
		want      string
	}{
		{
			"the first pass declares the lists",
			[]Move{{"block-0x07", Evicted}, {"block-0x04", Paged}, {"block-0x01", Retained}},
			declarations + `add "block-0x07" to evicted-blocks
add "block-0x04" to paged-blocks
add "block-0x01" to retained-blocks
remember a string called last-pager-pass with "2026-05-17T03:08:12+00:00"
`,
		},
		{
			"a move removes first, and what stays is not mentioned",
			[]Move{{"block-0x04", Evicted}, {"block-0x01", Retained}, {"größer als 1", Paged}},
			`remove "block-0x04" from paged-blocks
add "block-0x04" to evicted-blocks
add "größer als 1" to paged-blocks
remember a string called last-pager-pass with "2026-05-17T03:08:12+00:00"
`,
		},
		{"a pass that changes nothing", nil, "remember a string called last-pager-pass with \"2026-05-17T03:08:12+00:00\"\n"},
	} {
		lines, err := s.Pass(tt.decisions, at)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, strings.Join(lines, "\n")+"\n"); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if diff := cmp.Diff([]string{"block-0x04", "block-0x07"}, s.Blocks(Evicted)); diff != "" {
		t.Errorf("Blocks(Evicted) (-want +got):\n%s", diff)
	}
	if s.Count(Evicted) != 2 || s.Count(Paged) != 1 || s.Count(Retained) != 1 || !s.last.Equal(at) {
		t.Errorf("counts %d, %d, %d and time %v, want 2, 1, 1 and %v", s.Count(Evicted), s.Count(Paged), s.Count(Retained), s.last, at)
	}
}

func TestLegacy(t *testing.T) {
	got, err := Legacy([]Move{{"block-0x07", Evicted}, {"block-é", Paged}, {"block-0x01", Retained}}, at)
	if err != nil {
		t.Fatal(err)
	}
	want := `add "block-0x07" to evicted-blocks
add "block-é" to paged-blocks
add "block-0x01" to retained-blocks
set last-pager-pass to 2026-05-17T03:08:12+00:00
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, ds := range [][]Move{
		{{"b", Paged}},
		{{"block-1 x", Paged}},
		{{"block-1", Paged}, {"block-1", Paged}},
	} {
		var e *IDError
		if text, err := Legacy(ds, at); !errors.As(err, &e) || text != "" {
			t.Errorf("Legacy(%v) = %q, %v, want an error about an id", ds, text, err)
		}
	}
}

// The gate of the original takes ids word by word.
func TestLegacyIDs(t *testing.T) {
	for id, want := range map[string]bool{
		"block-1":                     true,
		"block-":                      true,
		"retain block-1 from block-2": true,
		"2026-05-17T03:08:12":         true,
		"2026-05-17t":                 true,
		"٢٠٢٦-٠٥-١٧T":                 true,
		"2026-05-17":                  false,
		"2026-05-17X":                 false,
		"2026-05/17T":                 false,
		"2026/05-17T":                 false,
		"x026-05-17T":                 false,
		"2026-05-1xT":                 false,
		"2026-05-17-":                 false,
		"20260-5-17T":                 false,
		"Retain":                      false,
		"blocks":                      false,
		"block-1 other":               false,
		"other block-1":               false,
		"none":                        false,
		"":                            false,
	} {
		var e *IDError
		if err := CheckLegacyID(id); (err == nil) != want || err != nil && !errors.As(err, &e) {
			t.Errorf("CheckLegacyID(%q) = %v, want that it passes: %v", id, err, want)
		}
	}
}

func TestBefore(t *testing.T) {
	ids := []string{"", "a", "b", "aa", "ab", "ba", "aaa"}
	for i, a := range ids {
		for k, b := range ids {
			if got := Before(a, b); got != (i < k) {
				t.Errorf("Before(%q, %q) = %v", a, b, got)
			}
		}
	}
}

// Nearly all lines of a contract are read without the language, and to the same.
func TestMovesAreReadWithoutTheLanguage(t *testing.T) {
	s := new(Contract)
	write := must(t)
	lines := write(s.Pass([]Move{{"a", Paged}, {"b", Retained}}, at))
	lines = append(lines, write(s.Pass([]Move{{"a", Evicted}}, at))...)
	lines = append(lines, write(s.Pin([]string{"b"}))...)
	lines = append(lines, write(s.Pin(nil))...)
	moves := 0
	for _, line := range lines {
		st, ok := readMove(line)
		if !ok {
			continue
		}
		moves++
		slow, err := s.readText(line)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slow, st, cmp.AllowUnexported(statement{})); diff != "" {
			t.Errorf("%s (-by the language +by us):\n%s", line, diff)
		}
	}
	if moves != 6 {
		t.Errorf("%d moves in\n%s\nwant 6", moves, strings.Join(lines, "\n"))
	}
}

// Ids that break out of the quotation marks, or out of the line, are refused
// wherever they would be written.
func TestIDsThatCannotBeWritten(t *testing.T) {
	for id, want := range map[string]string{
		"":     "is empty",
		"none": "is the language's word for an empty list",
		"block-1\" to retained-blocks\nadd \"block-9": "has a quotation mark at byte 7",
		"block-\n":      "has the line-breaking character U+000A at byte 6",
		"block-\r":      "has the line-breaking character U+000D at byte 6",
		"block-\v":      "has the line-breaking character U+000B at byte 6",
		"block-\f":      "has the line-breaking character U+000C at byte 6",
		"block-\x1c":    "has the line-breaking character U+001C at byte 6",
		"block-\x1d":    "has the line-breaking character U+001D at byte 6",
		"block-\x1e":    "has the line-breaking character U+001E at byte 6",
		"block-\u0085":  "has the line-breaking character U+0085 at byte 6",
		"block-é\u2028": "has the line-breaking character U+2028 at byte 8",
		"block-\u2029":  "has the line-breaking character U+2029 at byte 6",
		"block-\t":      "has the control character U+0009 at byte 6",
		"block-\x00":    "has the control character U+0000 at byte 6",
		"block-\x7f":    "has the control character U+007F at byte 6",
		"block-\u009f":  "has the control character U+009F at byte 6",
		"block-\xff":    "is not UTF-8 at byte 6",
	} {
		var e *IDError
		if err := checkID(id); !errors.As(err, &e) || e.ID != id || e.Text != want {
			t.Errorf("CheckID(%q): got %v, want %s", id, err, want)
		}
		s := new(Contract)
		if lines, err := s.Pass([]Move{{"block-0", Paged}, {id, Paged}}, at); !errors.As(err, &e) || lines != nil {
			t.Errorf("Pass(%q) = %q, %v, want an error", id, lines, err)
		}
		if s.declared[Paged.index()] || s.Count(Paged) != 0 || !s.last.IsZero() {
			t.Errorf("Pass(%q) changed the state, want it as it was", id)
		}
	}
	for _, id := range []string{"block-0x07", "größe", "a b", "None", "-- no comment", "\uFFFD", "日本"} {
		if err := checkID(id); err != nil {
			t.Errorf("CheckID(%q): %v", id, err)
		}
	}
}

func TestPassErrors(t *testing.T) {
	for _, tt := range []struct {
		name      string
		decisions []Move
		at        time.Time
		want      string
	}{
		{"two decisions on one block", []Move{{"b", Paged}, {"a", Paged}, {"b", Paged}}, at, `block id "b" is decided twice in one pass`},
		{"no list", []Move{{"b", "kept-blocks"}}, at, `block id "b" belongs into "kept-blocks", which is no list of a contract`},
		{"a year of five digits", nil, time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), "a pass in the year 10000 cannot be written: want a year from 0 to 9999"},
	} {
		s := new(Contract)
		if lines, err := s.Pass(tt.decisions, tt.at); err == nil || err.Error() != tt.want || lines != nil {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func TestReplayToleratesWhatOnlyReads(t *testing.T) {
	text := declarations + `-- a comment that says: add "x" to paged-blocks

about "a contract"
remember a string called source with "add x to paged-blocks"
remember a number called total from count the retained-blocks
show paged-blocks.
require retained-blocks includes "block-1" because "it is the task"
each paged-blocks add each to seen
forbid evicted-blocks includes "block-1" and paged-blocks includes "block-1"
when total is above 10:
  show "too many"
Add "Block-1" to the Retained-Blocks.
   compare paged-blocks to evicted-blocks
remember the string called last-pager-pass with "2026-05-17T03:08:12+00:00"
add "x" to seen
nonsense that is no statement at all
`
	s, err := Replay(Lines(text))
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := s.Bucket("Block-1"); b != Retained || !ok || s.Count(Retained) != 1 {
		t.Errorf("Bucket = %q, %v, want retained-blocks", b, ok)
	}
	if b, ok := s.Bucket("block-2"); b != "" || ok {
		t.Errorf("Bucket of a block that is nowhere = %q, %v, want none", b, ok)
	}
}

func TestReplayErrors(t *testing.T) {
	for _, tt := range []struct {
		line, want string
	}{
		{`remember a list called paged-blocks`, "column 24: paged-blocks is declared already, and a second declaration would empty it"},
		{`add "block-1" to paged-blocks`, `column 18: block "block-1" is in retained-blocks already`},
		{`add "block-1" to retained-blocks`, `column 18: block "block-1" is in retained-blocks already`},
		{`remove "block-1" from paged-blocks`, `column 23: block "block-1" is not in paged-blocks`},
		{`remove "block-9" from paged-blocks`, `column 23: block "block-9" is not in paged-blocks`},
		{`add block-2 to paged-blocks`, "column 16: paged-blocks is changed in another way"},
		{`add "block-2" to paged-blocks because "old"`, "column 18: paged-blocks is changed in another way"},
		{`add "block-2" to seen and add "block-2" to Paged-Blocks!`, "column 44: paged-blocks is changed in another way"},
		{`  add "block-2" to paged-blocks`, "column 20: a statement about our lists is indented, so that it may belong to a handler"},
		{"add\x1f\"block-2\" to paged-blocks because \"old\"", "column 18: paged-blocks is changed in another way"},
		{`remember a list called paged-blocks with "a" and "b"`, "column 24: paged-blocks is changed in another way"},
		{`remember how to tidy: filter the paged-blocks where each is "a"`, "column 34: paged-blocks is changed in another way"},
		{`assign paged-blocks to "a"`, "column 8: paged-blocks is changed in another way"},
		{`sort the paged-blocks by name`, "column 10: paged-blocks is changed in another way"},
		{`transform paged-blocks by "x"`, "column 11: paged-blocks is changed in another way"},
		{`define evicted-blocks: each is "a"`, "column 8: evicted-blocks is changed in another way"},
		{`add "block-2" to paged-blocks and show paged-blocks`, "column 18: paged-blocks is changed in another way"},
		{`remove "block-1" from retained-blocks then show "x"`, "column 23: retained-blocks is changed in another way"},
		{`inherited add "block-2" to paged-blocks`, "column 28: paged-blocks is changed in another way"},
		{`starting "2026-01-01" add "block-2" to paged-blocks`, "column 40: paged-blocks is changed in another way"},
		{`until "2026-01-01" add "block-2" to paged-blocks`, "column 37: paged-blocks is changed in another way"},
		{`remember a list called paged-blocks because "x"`, "column 24: paged-blocks is changed in another way"},
		{`remember a long list called paged-blocks`, "column 29: paged-blocks is changed in another way"},
		{`remember a list called paged-blocks from retained-blocks`, "column 24: paged-blocks is changed in another way"},
		{`remember a list called paged-blocks with name as "a"`, "column 24: paged-blocks is changed in another way"},
		{`remember a string called last-pager-pass with "2026-05-17T03:08:12+00:00" because "x"`, "column 26: last-pager-pass is changed in another way"},
		{`remember a moment called last-pager-pass with "2026-05-17T03:08:12+00:00"`, "column 26: last-pager-pass is changed in another way"},
		{`remember a string called last-pager-pass with "2026-05-17T03:08:12+00:00" and "x"`, "column 26: last-pager-pass is changed in another way"},
		{`remember a string called last-pager-pass from "2026-05-17T03:08:12+00:00"`, "column 26: last-pager-pass is changed in another way"},
		{`remember a string called last-pager-pass with 2026-05-17`, "column 26: last-pager-pass is changed in another way"},
		{`remember a value called paged-blocks from filter the retained-blocks where each is "a"`, "column 25: paged-blocks is changed in another way"},
		{`remember how to paged-blocks: show "x"`, "column 17: paged-blocks is changed in another way"},
		{`remember how to go from paged-blocks: show "x"`, "column 25: paged-blocks is changed in another way"},
		{`choose if x is 1: add "a" to paged-blocks`, "column 30: paged-blocks is changed in another way"},
		{`inherited overwrite paged-blocks`, "column 21: paged-blocks is changed in another way"},
		{`set "paged-blocks" of x: PAGED-blocks, now`, "column 26: paged-blocks is changed in another way"},
		{`set last-pager-pass to 2026-05-17T03:08:12+00:00`, "column 5: last-pager-pass is changed in another way"},
		{`remember a string called last-pager-pass with "yesterday"`, `column 47: "yesterday" is no time of a pass`},
		{`remember a number called last-pager-pass with 5`, "column 26: last-pager-pass is changed in another way"},
		{`add "none" to paged-blocks`, `column 5: block id "none" is the language's word for an empty list`},
		{"\x1fadd \"block-2\" to paged-blocks", "column 19: a statement about our lists is indented, so that it may belong to a handler"},
		{` add "block-2" to paged-blocks`, "column 19: a statement about our lists is indented, so that it may belong to a handler"},
		{`add "block-2"paged-blocks`, "column 14: paged-blocks is changed in another way"},
		{"overwrite\x1fpaged-blocks", "column 11: paged-blocks is changed in another way"},
		{`add "block-2`, "column 5: a quotation mark is not closed"},
		{"\u2028show x", "column 1: there is a line break in the line"},
		{"show x\u2028add \"block-2\" to paged-blocks", "column 7: there is a line break in the line"},
	} {
		lines := slices.Collect(Lines(declarations + "add \"block-1\" to retained-blocks\n"))
		s, err := Replay(slices.Values(append(lines, tt.line)))
		var e *SyntaxError
		if !errors.As(err, &e) || s != nil {
			t.Errorf("%s: got %v, want a syntax error", tt.line, err)
			continue
		}
		if want := "line 5, " + tt.want + ", in the statement: " + tt.line; err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	legacy, err := Legacy([]Move{{"block-1", Paged}}, at)
	if err != nil {
		t.Fatal(err)
	}
	var e *SyntaxError
	if _, err := Replay(Lines(legacy)); !errors.As(err, &e) || e.Line != 1 || e.Hint == "" {
		t.Errorf("the original's contract: got %v, want an error in line 1 with a hint", err)
	}
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"a", []string{"a"}},
		{"a\n", []string{"a"}},
		{"a\r\nb\rc\n\nd", []string{"a", "b", "c", "", "d"}},
		{"a\vb\fc\x1cd\x1de\x1ef\u0085g\u2028h\u2029i", []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}},
		{"é\u2028\n", []string{"é", ""}},
		{"é\u2028", []string{"é"}},
		{"\xff\t\n", []string{"\xff\t"}},
	} {
		if diff := cmp.Diff(tt.want, slices.Collect(Lines(tt.text))); diff != "" {
			t.Errorf("Lines(%q) (-want +got):\n%s", tt.text, diff)
		}
		for range Lines(tt.text) {
			break // stopping early must not panic
		}
	}
}

// However the decisions fall, replaying all statements gives the state that the
// passes left, and each block is in the list that was decided last.
func TestPassesReplay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := new(Contract)
		want := make(map[string]Bucket)
		var all []string
		for n := range rapid.IntRange(1, 5).Draw(rt, "passes") {
			ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "block-1", "block-é", "x y", "to", "paged-blocks", "--"}), 0, 9, rapid.ID[string]).Draw(rt, "ids")
			var ds []Move
			for _, id := range ids {
				d := Move{id, rapid.SampledFrom(buckets[:]).Draw(rt, "bucket")}
				ds = append(ds, d)
				want[id] = d.Bucket
			}
			lines, err := s.Pass(ds, at.AddDate(0, n, 0))
			if err != nil {
				rt.Fatal(err)
			}
			again, err := s.Clone().Pass(ds, at)
			if err != nil || len(again) != 1 {
				rt.Fatalf("the same pass again: %q, %v, want the marker alone", again, err)
			}
			all = append(all, lines...)
		}
		replayed, err := Replay(Lines(strings.Join(all, "\n")))
		if err != nil {
			rt.Fatal(err)
		}
		if replayed.last != s.last || replayed.declared != s.declared || replayed.counts != s.counts {
			rt.Fatalf("replayed to %+v, want %+v", replayed, s)
		}
		total := 0
		for _, b := range buckets {
			total += len(replayed.Blocks(b))
		}
		if total != len(want) {
			rt.Fatalf("%d blocks in the lists, want %d", total, len(want))
		}
		for id, b := range want {
			if got, _ := replayed.Bucket(id); got != b {
				rt.Fatalf("%q is in %q, want %q", id, got, b)
			}
		}
	})
}

// A block's text must never become a statement: what a pass over any id writes
// is replayed to exactly that id, or is refused.
func FuzzQuote(f *testing.F) {
	f.Add("block-1")
	f.Add("block-1\" to retained-blocks\nadd \"block-9")
	f.Add("\u2028")
	f.Fuzz(func(t *testing.T, id string) {
		lines, err := new(Contract).Pass([]Move{{id, Paged}}, at)
		if err != nil {
			return
		}
		if len(lines) != len(buckets)+2 {
			t.Fatalf("%q gives %d lines, want %d", id, len(lines), len(buckets)+2)
		}
		text := strings.Join(lines, "\n")
		s, err := Replay(Lines(text))
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := s.Bucket(id); b != Paged || s.Count(Paged) != 1 {
			t.Fatalf("%q is in %q, want paged-blocks", id, b)
		}
	})
}

// No text makes Replay panic, and what it accepts can be continued.
func FuzzReplay(f *testing.F) {
	f.Add(declarations + "add \"a\" to paged-blocks\nremove \"a\" from paged-blocks\n")
	f.Add("remember the list called Paged-Blocks, \u2028 show \"x\": paged-blocks")
	f.Add("remember a list called open-questions with \"none\"\nassign claim-basis to document\nreplace open-questions")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Replay(Lines(text))
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 {
				t.Fatalf("error %v, want a syntax error with line and column", err)
			}
			return
		}
		lines, err := s.Pass([]Move{{"block-1", Paged}}, at)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Replay(Lines(text + "\n" + strings.Join(lines, "\n"))); err != nil {
			t.Fatalf("%q cannot be continued: %v", text, err)
		}
	})
}

func benchmarkDecisions(n int) []Move {
	r := rand.New(rand.NewPCG(1, 2))
	ds := make([]Move, n)
	for i := range ds {
		ds[i] = Move{fmt.Sprintf("block-%06x", i), buckets[r.IntN(len(buckets))]}
	}
	return ds
}

func BenchmarkPass100k(b *testing.B) {
	ds := benchmarkDecisions(100_000)
	for b.Loop() {
		if _, err := new(Contract).Pass(ds, at); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReplay100k(b *testing.B) {
	lines, err := new(Contract).Pass(benchmarkDecisions(100_000), at)
	if err != nil {
		b.Fatal(err)
	}
	text := strings.Join(lines, "\n")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Replay(Lines(text)); err != nil {
			b.Fatal(err)
		}
	}
}
