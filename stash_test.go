package carrel_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// requests are lines of a log that differ in figures alone, with one other in the
// middle.
func requests(n int, other string) string {
	var b strings.Builder
	for i := range n {
		if i == n/2 {
			b.WriteString(other + "\n")
		}
		fmt.Fprintf(&b, "2026-01-02 03:04:%02d INFO worker %d served /v1/items/%d in %dms\n", i%60, i%8, i*7919%100_000, i%97)
	}
	return b.String()
}

func TestPointerShowsWhatStandsOut(t *testing.T) {
	var named strings.Builder // of lines that differ in names alone
	for i := range 1500 {
		if i == 700 {
			named.WriteString("gave up on the gear wheel\n")
		}
		fmt.Fprintf(&named, "looked at modules/%c%c%c/handler.go\n", 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
	}
	const fault = "2026-01-02 03:28:20 ERROR worker 3 cannot write /var/lib/desk/ledger.db: disk I/O error"
	for _, c := range []struct{ name, output, line string }{
		{"the one error of a log", requests(2000, fault), fmt.Sprintf("\n%d: %s\n", 1001, fault)},
		{
			"the one failure among tests without names",
			strings.Repeat("ok  package one\n", 4000) + "FAIL package two\n" + strings.Repeat("ok  package three\n", 4000),
			"\n4001: FAIL package two\n",
		},
		{"the one line without the name of a file", named.String(), "\n701: gave up on the gear wheel\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, stores.New(t), carrel.Options{})
			res, err := b.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(c.output)})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(res.Pointer, c.line) {
				t.Errorf("pointer has no line %q:\n%s", c.line, res.Pointer)
			}
			if res.Tokens > carrel.StashTokens {
				t.Errorf("pointer of %d tokens, want at most %d", res.Tokens, carrel.StashTokens)
			}
			first, _, _ := strings.Cut(res.Pointer, "\n")
			for _, want := range []string{
				"stashed", fmt.Sprintf("%d bytes", len(c.output)), fmt.Sprintf("%d lines", strings.Count(c.output, "\n")),
				"recall tool of the carrel server, id " + string(res.ID), "carrel stash get " + string(res.ID),
			} {
				if !strings.Contains(first, want) {
					t.Errorf("first line %q does not say %q", first, want)
				}
			}
		})
	}
}

// Of a text of one line the pointer has the beginning and the end.
func TestPointerToOneLine(t *testing.T) {
	var b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&b, "%d green boats and ", i)
	}
	text := "The first words. " + b.String() + "the last words."
	res, err := newBench(t, stores.New(t), carrel.Options{}).Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(res.Pointer, "\nThe first words. 0 green boats and 1") || !strings.HasSuffix(res.Pointer, "3999 green boats and the last words.") {
		t.Errorf("the pointer is\n%s", res.Pointer)
	}
}

// A name counts wherever in its line it stands.
func TestPointerKnowsNamesAtTheEndsOfLines(t *testing.T) {
	for _, format := range []string{"modules/part%04d/handler.go calls renderPage with an outdated argument\n", "an outdated argument of renderPage in modules/part%04d/handler.go\n"} {
		var b strings.Builder
		for i := range 1500 {
			fmt.Fprintf(&b, format, i)
		}
		e := newBench(t, stores.New(t), carrel.Options{})
		in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "c.json", Data: []byte(`{"messages":[
			{"role":"user","content":"Fix modules/part0731/handler.go, it breaks the build."},
			{"role":"assistant","content":"I will look at modules/part0731/handler.go and at its callers."}]}`)})
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(b.String()), Session: in.Session, Tool: "Bash", Input: []byte(`{"command":"make lint"}`)})
		if err != nil {
			t.Fatal(err)
		}
		if want := "\n732: " + fmt.Sprintf(format, 731); !strings.Contains(res.Pointer, want) {
			t.Errorf("the pointer does not have %q:\n%s", want, res.Pointer)
		}
	}
}

// The history says which of many equal lines matter: those about what the session
// works on.
func TestPointerKnowsTheSession(t *testing.T) {
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "modules/part%04d/handler.go:%d: calls renderPage with an outdated argument\n", i, i+10)
	}
	output := b.String()
	e := newBench(t, stores.New(t), carrel.Options{})
	in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "c.json", Data: []byte(`{"messages":[
		{"role":"user","content":"Fix modules/part0731/handler.go, it breaks the build."},
		{"role":"assistant","content":"I will look at modules/part0731/handler.go and at its callers."}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	const line = "\n732: modules/part0731/handler.go:741: calls renderPage"
	with, err := e.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(output), Session: in.Session, Tool: "Bash", Input: []byte(`{"command":"make lint"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(with.Pointer, line) {
		t.Errorf("the line of the session's file is not there:\n%s", with.Pointer)
	}
	again, err := e.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(output), Session: in.Session, Tool: "Bash", Input: []byte(`{"command":"make lint"}`)})
	if err != nil || again.Pointer != with.Pointer || !again.Known {
		t.Errorf("the same again: known %v, %v, the same pointer %v", again.Known, err, again.Pointer == with.Pointer)
	}
}

// Of a line too long for a pointer, the parts with what the session works on stand in
// one line, in their order, with an ellipsis where something between them is left out.
func TestPointerShowsPartsOfALongLine(t *testing.T) {
	var b strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&b, "{\"file\":\"modules/part%04d/handler.go\",\"found\":\"an outdated argument of renderPage\"},", i)
	}
	line := b.String()
	e := newBench(t, stores.New(t), carrel.Options{})
	in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "c.json", Data: []byte(`{"messages":[
		{"role":"user","content":"Fix modules/part0431/handler.go and modules/part0931/handler.go, they break the build."},
		{"role":"assistant","content":"I will look at modules/part0431/handler.go and at modules/part0931/handler.go."}]}`)})
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Stash(t.Context(), scope, &carrel.StashRequest{
		Content: []byte(strings.Repeat("begin\n", 40) + line + "\n" + strings.Repeat("end\n", 40)), Session: in.Session, Tool: "Bash", Input: []byte(`{"command":"make lint"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(res.Pointer, "\n41: ")
	shown, _, _ = strings.Cut(shown, "\n")
	at := 0
	for part := range strings.SplitSeq(shown, " … ") {
		i := strings.Index(line[at:], part)
		if i < 0 {
			t.Fatalf("%q is not in the line behind what stands before it:\n%s", part, res.Pointer)
		}
		at += i + len(part)
	}
	first, second := strings.Index(shown, "part0431"), strings.Index(shown, "part0931")
	if first < 0 || second < first || !strings.Contains(shown[first:second], " … ") {
		t.Errorf("the parts with the session's files are not there:\n%s", res.Pointer)
	}
}

// A context carries the beginning and the end of what is in the stash, in whole lines
// where lines are short.
func TestStashInAContext(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		has           []string
	}{
		{"short lines", strings.Repeat("harbor lights are lit\n", 400), []string{"harbor lights are lit\n[carrel: ", " left out here]\nharbor lights"}},
		{"long lines", "harbor " + strings.Repeat("a", 2000) + "\n" + strings.Repeat("z", 2000) + "\n" + strings.Repeat("w", 200), []string{
			"harbor " + strings.Repeat("a", 593) + "\n[carrel: ", " left out here]\n" + strings.Repeat("z", 399) + "\nw",
		}},
		{"a little more than both ends", strings.Repeat("harbor\n", 172), []string{"harbor\n[carrel: 14 bytes left out here]\nharbor\n"}},
		{"all of it", "harbor\n" + strings.Repeat("z", 1193), []string{"harbor\n" + strings.Repeat("z", 1193)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, stores.New(t), carrel.Options{})
			if _, err := b.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(tt.content), Title: "the harbor"}); err != nil {
				t.Fatal(err)
			}
			r := b.assemble(t, &carrel.AssembleRequest{Query: "what of the harbor?"})
			for _, want := range tt.has {
				if !strings.Contains(string(r.Data), want) {
					t.Errorf("the context has no %q:\n%s", want, r.Data)
				}
			}
		})
	}
}

func TestStashRefuses(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	for _, c := range []struct {
		name string
		req  carrel.StashRequest
		want error
	}{
		{"a pointer that has no room for its own words", carrel.StashRequest{Content: []byte("x"), Tokens: carrel.LeastStashTokens - 1}, carrel.ErrRequest},
		{"a pointer below nothing", carrel.StashRequest{Content: []byte("x"), Tokens: -1}, carrel.ErrRequest},
		{"a first line below the first", carrel.StashRequest{Content: []byte("x"), FirstLine: -1}, carrel.ErrRequest},
		{"a session that is not there", carrel.StashRequest{Content: []byte("x"), Session: "nobody"}, store.ErrNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := b.Stash(t.Context(), scope, &c.req); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if list, err := carrel.Items(b.Artifacts(t.Context(), scope, &carrel.ArtifactsRequest{Stash: true, All: true})); err != nil || len(list) != 0 {
				t.Errorf("%d artifacts were kept, %v", len(list), err)
			}
		})
	}
}

// Each line of a part of a file that a pointer shows has its number in the file in
// front, whether it stands in the head, in the tail or between them.
func TestPointerNumbersLines(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines int
		first int
		short bool // all of it fits
	}{
		{"a whole file", 3479, 1, false},
		{"a part of one", 3479, 1001, false},
		{"a part that fits", 20, 77, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines := make([]string, c.lines)
			for i := range lines {
				lines[i] = fmt.Sprintf("func F%d() error { return check(%d) }", i, i*i)
			}
			lines[c.lines/2] = "\tpanic(\"the symbol table is damaged\")"
			text := strings.Join(lines, "\n") + "\n"
			b := newBench(t, stores.New(t), carrel.Options{})
			res, err := b.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(text), FirstLine: c.first})
			if err != nil {
				t.Fatal(err)
			}
			shown := make(map[int]bool)
			for line := range strings.Lines(res.Pointer) {
				line = strings.TrimSuffix(line, "\n")
				if strings.HasPrefix(line, "[carrel: ") {
					continue
				}
				digits, said, _ := strings.Cut(line, "\t")
				n, err := strconv.Atoi(digits)
				if err != nil || n < c.first || n >= c.first+c.lines || lines[n-c.first] != said {
					t.Fatalf("the pointer shows %q, which is no line with its number", line)
				}
				shown[n] = true
			}
			for _, i := range []int{0, c.lines / 2, c.lines - 1} {
				if !shown[c.first+i] {
					t.Errorf("the pointer does not show line %d", c.first+i)
				}
			}
			if whole := len(shown) == c.lines; whole != c.short {
				t.Errorf("the pointer shows %d lines of %d", len(shown), c.lines)
			}
			var bytes, from, to int
			_, left, some := strings.Cut(res.Pointer, "\n[carrel: ")
			if _, err := fmt.Sscanf(left, "%d bytes of lines %d to %d are left out here", &bytes, &from, &to); (err == nil) == c.short {
				t.Errorf("something is left out: %t, %q, %v", some, left[:min(len(left), 80)], err)
			} else if !c.short && !shown[from-1] {
				t.Errorf("lines %d to %d are left out, and the one before them is not shown", from, to)
			}
			if _, tail, ok := strings.Cut(res.Pointer, "the end of it]\n"); ok && !strings.HasPrefix(tail, fmt.Sprintf("%d\t", to+1)) {
				t.Errorf("lines %d to %d are left out, and the end begins with %q", from, to, tail[:min(len(tail), 40)])
			}
		})
	}
}

// Whatever a tool prints, the pointer is no larger than asked for, is text, and
// either has all of it or says how much it has not.
func TestPointerProperties(t *testing.T) {
	t.Parallel()
	counter, err := token.Encoding("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.OneOf(
			rapid.SampledFrom([]string{"", "ok", "--- FAIL: TestTable (0.02s)", "\tat /srv/app/table.js:14:3", "}", `{"id": "a1b2c3d4e5", "n": 12345}`}),
			rapid.String(),
			rapid.Custom(func(rt *rapid.T) string {
				return strings.Repeat(rapid.SampledFrom([]string{"x", "é", "lib/a.go ", "12345,"}).Draw(rt, "unit"), rapid.IntRange(1, 3000).Draw(rt, "times"))
			}),
		)
		text := strings.Join(rapid.SliceOfN(line, 1, 400).Draw(rt, "lines"), "\n")
		if text == "" {
			return
		}
		limit := token.Count(rapid.IntRange(int(carrel.LeastStashTokens), 2500).Draw(rt, "tokens"))
		first := rapid.SampledFrom([]int{0, 1, 99_998}).Draw(rt, "first line")
		b := newBench(t, stores.New(t), carrel.Options{})
		res, err := b.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(text), Tokens: limit, FirstLine: first, AllowSecrets: true})
		if err != nil {
			rt.Fatal(err)
		}
		if n := counter.Count(res.Pointer); n > limit || n != res.Tokens {
			rt.Fatalf("pointer of %d tokens, said to be %d, want at most %d", n, res.Tokens, limit)
		}
		if !utf8.ValidString(res.Pointer) {
			rt.Fatalf("pointer is not text: %q", res.Pointer)
		}
		_, rest, _ := strings.Cut(res.Pointer, "\n")
		if rest != numbered(text, first) && !strings.Contains(rest, "[carrel: ") {
			rt.Fatalf("pointer leaves out something and does not say so:\n%s", res.Pointer)
		}
	})
}

// numbered returns a text with the number of each line in front of it, or as it is if
// the first has none.
func numbered(text string, first int) string {
	if first == 0 {
		return text
	}
	var b strings.Builder
	for i, line := range strings.SplitAfter(text, "\n") {
		if line != "" {
			fmt.Fprintf(&b, "%d\t%s", first+i, line)
		}
	}
	return b.String()
}

// An output that is in the stash is found again while it lives, and collected once when it has expired.
func TestStashKnowsWhatLives(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	stash := func() *carrel.StashResult {
		t.Helper()
		res, err := b.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(requests(100, "x"))})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	first := stash()
	b.turn(func() { b.now = b.now.Add(carrel.StashTTL + time.Second) })
	if second := stash(); second.Known || second.ID == first.ID || !stash().Known || stash().ID != second.ID {
		t.Errorf("behind the expired output %s the stash knows %+v", first.ID, second.Artifact)
	}
	for _, want := range []int{1, 0} {
		if res, err := b.CollectStash(t.Context(), scope, &carrel.CollectRequest{}); err != nil || len(res.Artifacts) != want {
			t.Errorf("%d outputs are collected, %v, want %d", len(res.Artifacts), err, want)
		}
	}
	if _, err := b.Remove(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(stash().ID)}}); err != nil {
		t.Fatal(err)
	}
	if stash().Known {
		t.Error("an output that was removed is known")
	}
}
