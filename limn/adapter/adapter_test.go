package adapter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/limn"
)

func load(t *testing.T, packs ...string) []*limn.Pack {
	t.Helper()
	var loaded []*limn.Pack
	for _, json := range packs {
		p, err := limn.LoadPack([]byte(json))
		if err != nil {
			t.Fatal(err)
		}
		loaded = append(loaded, p)
	}
	return loaded
}

// write puts an update in a line.
func write(u limn.LiveValue) string {
	if u.Err != nil {
		return u.Name + " failed"
	}
	return u.Name + " " + u.Value.String()
}

func collect(ctx context.Context, packs []*limn.Pack, o *Options) []string {
	var got []string
	for u := range Sources(ctx, packs, o) {
		got = append(got, write(u))
	}
	return got
}

func expect(t *testing.T, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("updates (-want +got)\n%s", diff)
	}
}

func TestNothingToWaitFor(t *testing.T) {
	session, err := limn.BuiltinPack("session")
	if err != nil {
		t.Fatal(err)
	}
	if Sources(t.Context(), []*limn.Pack{session}, nil) != nil {
		t.Error("a pack without live names is a source")
	}
}

func TestSequencesComeInOrder(t *testing.T) {
	packs := load(t,
		`{"name": "one", "sequence": [["a1", 1], ["b1", "x"], "[done]"]}`,
		`{"name": "two", "script": [["c1", [1, 2]]]}`)
	expect(t, collect(t.Context(), packs, nil), []string{"a1 1", "b1 x", "c1 1, 2"})
}

func TestTimerCountsToItsLimit(t *testing.T) {
	ticks := make(chan time.Time, 5)
	for range 5 {
		ticks <- time.Time{}
	}
	var interval time.Duration
	stopped := false
	got := collect(t.Context(), load(t, `{"type": "timer", "interval_ms": 200, "max_ticks": 3}`), &Options{
		Ticker: func(d time.Duration) (<-chan time.Time, func()) {
			interval = d
			return ticks, func() { stopped = true }
		},
	})
	expect(t, got, []string{"tick 1", "tick 2", "tick 3"})
	if interval != 200*time.Millisecond || !stopped {
		t.Errorf("the ticker was made for %v, and stopped: %v", interval, stopped)
	}
}

// A timer whose ticks end has ended.
func TestTicksEnd(t *testing.T) {
	ticks := make(chan time.Time)
	close(ticks)
	expect(t, collect(t.Context(), load(t, `{"type": "timer"}`), &Options{Ticker: func(time.Duration) (<-chan time.Time, func()) { return ticks, func() {} }}), nil)
}

// By the clock of the system, which is a pretended one here, a tick comes after
// each interval.
func TestTimerByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		got := collect(t.Context(), load(t, `{"type": "timer", "interval_ms": 250, "max_ticks": 4}`), nil)
		expect(t, got, []string{"tick 1", "tick 2", "tick 3", "tick 4"})
		if d := time.Since(start); d != time.Second {
			t.Errorf("four ticks took %v", d)
		}
	})
}

func TestLines(t *testing.T) {
	for _, tt := range []struct {
		name  string
		input io.Reader
		want  []string
	}{
		{"lines end in LF, CRLF or with the input", strings.NewReader("one\r\n\ntwo\nlast"), []string{"line one", "line ", "line two", "line last"}},
		{"nothing", strings.NewReader(""), nil},
		{"no input", nil, nil},
		{"what is no UTF-8 is replaced", strings.NewReader("a\xffb"), []string{"line a\uFFFDb"}},
		{"a line that is too long", strings.NewReader("short\n" + strings.Repeat("x", 100)), []string{"line short", "line failed"}},
		{
			"lines that are as long as allowed",
			strings.NewReader(strings.Repeat("x", 50) + "\n" + strings.Repeat("y", 50) + "\r\n" + strings.Repeat("z", 50)),
			[]string{"line " + strings.Repeat("x", 50), "line " + strings.Repeat("y", 50), "line " + strings.Repeat("z", 50)},
		},
		{"a line that is a byte too long", strings.NewReader("short\n" + strings.Repeat("x", 51) + "\nshort"), []string{"line short", "line failed"}},
		{"an input that fails", io.MultiReader(strings.NewReader("one\n"), iotest.ErrReader(errors.New("cut"))), []string{"line one", "line failed"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			expect(t, collect(t.Context(), load(t, `{"type": "stdin"}`), &Options{Input: tt.input, MaxBytes: 50}), tt.want)
		})
	}
}

// When the context ends, so does the queue, though nothing comes from the input
// and no limit is set to the timer.
func TestContextEnds(t *testing.T) {
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ticks := make(chan time.Time, 1)
	ticks <- time.Time{}
	o := &Options{Input: r, Ticker: func(time.Duration) (<-chan time.Time, func()) { return ticks, func() {} }}
	var got []string
	for u := range Sources(ctx, load(t, `{"type": "stdin"}`, `{"type": "timer"}`), o) {
		got = append(got, write(u))
		cancel()
	}
	expect(t, got, []string{"tick 1"})
}

// When nobody takes updates any more all sources end.
func TestNobodyTakesUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		packs := load(t, `{"type": "timer"}`, `{"type": "stdin"}`)
		for range Sources(t.Context(), packs, &Options{Input: strings.NewReader("one\ntwo\nthree")}) {
			break
		}
		synctest.Wait() // the test fails if a goroutine is left waiting
	})
}

// Once the context has ended no update comes, though sources have some.
func TestNothingComesBehindTheContext(t *testing.T) {
	packs := load(t, `{"name": "many", "sequence": [["a1", 1], ["a2", 2], ["a3", 3], ["a4", 4]]}`)
	for range 20 { // by chance one is on its way
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for range Sources(ctx, packs, nil) {
			n++
			cancel()
		}
		cancel()
		if n != 1 {
			t.Fatalf("%d updates came, though the context ended with the first", n)
		}
	}
}

// When the iteration is over its sources have let go of what they had.
func TestSourcesHaveEndedWithTheIteration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := false
		o := &Options{Ticker: func(time.Duration) (<-chan time.Time, func()) {
			return time.After(time.Second), func() {
				time.Sleep(time.Second) // of the bubble's clock
				stopped = true
			}
		}}
		for range Sources(t.Context(), load(t, `{"type": "timer"}`), o) {
			break
		}
		if !stopped {
			t.Error("the timer still runs")
		}
	})
}

// A slow input gives a line with each read.
type slow struct{ lines, reads, ends int }

func (s *slow) Read(p []byte) (int, error) {
	if s.reads++; s.reads > s.lines {
		s.ends++
		return 0, io.EOF
	}
	return copy(p, "line\n"), nil
}

// Of several packs that read the input one gets it, and reads no more once nobody takes
// its lines.
func TestOnePackReadsTheInput(t *testing.T) {
	packs := load(t, `{"type": "stdin"}`, `{"type": "stdin"}`)
	input := &slow{lines: 3}
	expect(t, collect(t.Context(), packs, &Options{Input: input}), []string{"line line", "line line", "line line"})
	if input.ends != 1 {
		t.Errorf("%d packs have read the input to its end", input.ends)
	}
	synctest.Test(t, func(t *testing.T) {
		input := &slow{lines: 1000}
		for range Sources(t.Context(), packs, &Options{Input: input}) {
			break
		}
		synctest.Wait()
		if input.reads > 10 {
			t.Errorf("%d lines are read, though one was taken", input.reads)
		}
	})
}

// collectFiles runs a watcher beside a test pack whose updates say when to do what:
// they come once everything is watched, and the next is not waited for before the
// file was reported.
func collectFiles(t *testing.T, path string, limit int, steps ...func()) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	packs := load(t,
		fmt.Sprintf(`{"type": "file-watcher", "path": %q, "max_events": %d}`, path, limit),
		`{"name": "start", "sequence": [["begin", 1]]}`)
	var got []string
	for u := range Sources(ctx, packs, nil) {
		got = append(got, write(u))
		if len(steps) > 0 && (u.Name == "begin" || u.Name == "change-type") {
			steps[0]()
			steps = steps[1:]
		}
	}
	if ctx.Err() != nil {
		t.Fatalf("nothing more came after %q", got)
	}
	return got
}

func TestFilesOfADirectory(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	file := filepath.Join(outside, "note.txt")
	if err := os.WriteFile(file, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	move := func(from, to string) func() {
		return func() {
			if err := os.Rename(from, to); err != nil {
				t.Error(err)
			}
		}
	}
	inside := filepath.Join(dir, "note.txt")
	got := collectFiles(t, dir, 2, move(file, inside), move(inside, file))
	expect(t, got, []string{
		"begin 1",
		"file-content hello", "changed-file note.txt", "change-type created",
		"changed-file note.txt", "change-type deleted",
	})
}

func TestOneFile(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "note.txt"), filepath.Join(dir, "other.txt")
	for _, name := range []string{file, other} {
		if err := os.WriteFile(name, []byte("before"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := collectFiles(t, file, 1, func() {
		for _, name := range []string{other, file} {
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			_, err = f.WriteString(" and after")
			if err := errors.Join(err, f.Close()); err != nil {
				t.Error(err)
			}
		}
	})
	expect(t, got, []string{"begin 1", "file-content before and after", "changed-file note.txt", "change-type modified"})
}

// A directory that does not exist fails for all the names of its pack, and nothing
// else does.
func TestMissingDirectory(t *testing.T) {
	packs := load(t,
		fmt.Sprintf(`{"type": "file-watcher", "path": %q}`, filepath.Join(t.TempDir(), "none", "none")),
		`{"name": "other", "sequence": [["other", 1]]}`)
	got := collect(t.Context(), packs, nil)
	slices.Sort(got)
	expect(t, got, []string{"change-type failed", "changed-file failed", "file-content failed", "other 1"})
}

// A program listens to a timer until it has enough.
func TestListen(t *testing.T) {
	opts := &limn.Options{Packs: load(t, `{"type": "timer", "interval_ms": 1000}`)}
	program := strings.Join([]string{
		"remember a number called urgency with 10",
		"weakens urgency over 10",
		"when urgency is below 8",
		"  show urgency",
		"when tick is above 4",
		"  finish",
	}, "\n")
	synctest.Test(t, func(t *testing.T) {
		m := limn.NewMachine(opts)
		for r := range m.Run(limn.Parse("", program, opts)) {
			if r.Status != limn.StatusSuccess {
				t.Fatalf("%+v", r)
			}
		}
		var got []string
		for r := range m.Listen(Sources(t.Context(), opts.Packs, nil)) {
			got = append(got, strings.Join(append([]string{string(r.Status)}, r.Output...), " "))
		}
		expect(t, got, []string{"listening", "handler_fire 7", "shutdown"})
	})
}
