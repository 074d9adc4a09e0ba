package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/token"
)

var plainLaw = &law{full: 80, target: 50, large: 25_000, payback: 100}

// made returns a conversation of so many calls, with a pause of an hour after each tenth.
func made(t *testing.T, calls, lines int) *conversation {
	t.Helper()
	c, why := read("mill.jsonl", fakesession.Metered(1, calls, lines))
	if c == nil {
		t.Fatal(why)
	}
	c.prefix = 200_000
	return c
}

func played(c *conversation, window token.Count, long bool) map[string]result {
	all := make(map[string]result)
	for i := range ways {
		all[ways[i].name] = play(c, &ways[i], plainLaw, window, long)
	}
	return all
}

// The first nine calls come within the lifetime: each reads what the one before sent, and
// writes what is new. The tenth comes after an hour and writes all.
func TestReplayCosts(t *testing.T) {
	c := made(t, 10, 40)
	row, _ := economy.Published().Find("claude-sonnet-4-5")
	var want economy.Money
	before, size, done := token.Count(0), c.frame, 0
	for i, k := range c.calls {
		for ; done < k.at; done++ {
			size += c.linked[done].Tokens
		}
		if i == 9 {
			before = 0
		}
		want += row.Charge(economy.Spend{Read: before, Write5m: size - before, Output: k.output}).Total()
		before = size
	}
	got := play(c, &ways[0], plainLaw, 1_000_000, false)
	if got.cost != want || got.largest != size || got.edits != 0 || got.over != 0 {
		t.Errorf("10 calls: %+v, want a cost of %v and a largest prompt of %d", got, want, size)
	}
	if n := len(c.calls); n != 10 || c.frame < 8500 {
		t.Errorf("%d calls with a frame of %d tokens, want 10 and what the first prompt had beyond its message", n, c.frame)
	}
}

// Where nothing has to leave, no way costs more than another.
func TestWaysLeaveWhatFits(t *testing.T) {
	for name, r := range played(made(t, 25, 20), 1_000_000, false) {
		if want := play(made(t, 25, 20), &ways[0], plainLaw, 1_000_000, false); r != want {
			t.Errorf("%s: %+v, want %+v", name, r, want)
		}
	}
}

func TestWaysFit(t *testing.T) {
	c := made(t, 24, 60)
	const window = 32_000
	for _, long := range []bool{false, true} {
		all := played(c, window, long)
		if all["none"].over == 0 {
			t.Fatalf("none: %+v, want prompts above the window", all["none"])
		}
		for _, name := range []string{"mask", "summarize", "prune", "managed"} {
			if r := all[name]; r.over > 0 || r.edits == 0 {
				t.Errorf("%s, long %t: %+v, want prompts within %d", name, long, r, window)
			}
		}
	}
}

// A cold cache makes an epoch end that nothing forces.
func TestManageUsesColdCaches(t *testing.T) {
	c := made(t, 14, 60)
	l := *plainLaw
	l.payback, l.full = 0, 100
	window := play(c, &ways[0], &l, 1_000_000, false).largest + 1
	managed := &ways[len(ways)-1]
	if r := play(c, managed, &l, window, false); r.edits == 0 || r.over > 0 {
		t.Errorf("with a cache of 5 minutes: %+v, want epochs that end when it is cold", r)
	}
	steady := made(t, 9, 60)
	window = play(steady, &ways[0], &l, 1_000_000, false).largest + 1
	if r := play(steady, managed, &l, window, false); r.edits != 0 {
		t.Errorf("without a pause: %+v, want no epoch", r)
	}
}

func TestBench(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"mill-1.jsonl": fakesession.Metered(1, 40, 60), "mill-2.jsonl": fakesession.Metered(2, 8, 10),
		"chat-1.json": fakesession.Chat(3, 4), "broken-1.json": []byte("{"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := &bench{windows: "24000", law: *plainLaw, prefix: 200_000, each: true}
	var out, again bytes.Buffer
	met, err := b.run(&out, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	if text := out.String(); met == strings.Contains(text, "MISSED") {
		t.Errorf("the goals are met: %t, and the output is\n%s", met, text)
	}
	for _, want := range []string{"3 conversations\n", "window 24000, cache of 5 minutes", "window 24000, cache of 1 hour", "they fit: n=", "they do not fit: n=1\n", "\n    managed "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	if _, err := b.run(&again, []string{dir}); err != nil || again.String() != out.String() {
		t.Errorf("a second run prints\n%s\nwant\n%s", again.String(), out.String())
	}
	if _, err := (&bench{windows: "many"}).run(&out, []string{dir}); err == nil {
		t.Error("a window of no size is taken")
	}
	if _, err := b.run(&out, []string{t.TempDir()}); err == nil {
		t.Error("a folder without conversations is taken")
	}
}
