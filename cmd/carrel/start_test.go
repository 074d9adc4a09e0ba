package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asCarrel is the variable with which the program of these tests is Carrel: it has
// all that Carrel has in it, so that its start is Carrel's.
const asCarrel = "CARREL_TEST_START"

func TestMain(m *testing.M) {
	if os.Getenv(asCarrel) != "" {
		main()
	}
	os.Exit(m.Run())
}

// What packages do before main runs is done at every start, and agents start
// Carrel at every tool call. The Go runtime counts it: time would depend on the
// machine, allocations do not.
const (
	ownBytes, ownAllocs = 24 << 10, 160    // of a package of this module
	sumBytes, sumAllocs = 64 << 10, 600    // of all packages of this module
	allBytes, allAllocs = 1 << 20, 8 << 10 // of all packages, those of others as well
)

func TestPackagesDoLittleBeforeMain(t *testing.T) {
	cmd := command(t, "version")
	cmd.Env = append(cmd.Env, "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	cmd.Stderr = &trace
	if out, err := cmd.Output(); err != nil || !strings.HasPrefix(string(out), "carrel ") {
		t.Fatalf("version: %v\n%s%s", err, out, trace.String())
	}
	all, sum := initWork{name: "all packages"}, initWork{name: "all packages of this module"}
	for _, w := range readTrace(t, &trace) {
		all.add(w)
		if strings.HasPrefix(w.name, "github.com/carrel-dev/") {
			w.check(t, ownBytes, ownAllocs)
			sum.add(w)
		}
	}
	if all.allocs == 0 {
		t.Fatalf("nothing was traced:\n%s", trace.String())
	}
	sum.check(t, sumBytes, sumAllocs)
	all.check(t, allBytes, allAllocs)
}

// An initWork is what a package does before main runs.
type initWork struct {
	name          string
	bytes, allocs int
}

func (w *initWork) add(more initWork) {
	w.bytes += more.bytes
	w.allocs += more.allocs
}

func (w *initWork) check(t *testing.T, maxBytes, maxAllocs int) {
	t.Helper()
	if w.bytes > maxBytes || w.allocs > maxAllocs {
		t.Errorf("%s: %d bytes in %d allocations before main runs, more than %d in %d: make it at its first use, see internal/lazy",
			w.name, w.bytes, w.allocs, maxBytes, maxAllocs)
	}
}

// readTrace reads what the runtime writes of initialization, one package a line.
func readTrace(t *testing.T, trace *bytes.Buffer) []initWork {
	t.Helper()
	var list []initWork
	for s := bufio.NewScanner(bytes.NewReader(trace.Bytes())); s.Scan(); {
		var (
			w         initWork
			at, clock string
		)
		if !strings.HasPrefix(s.Text(), "init ") {
			continue
		}
		if _, err := fmt.Sscanf(s.Text(), "init %s @%s ms, %s ms clock, %d bytes, %d allocs", &w.name, &at, &clock, &w.bytes, &w.allocs); err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		list = append(list, w)
	}
	return list
}

// BenchmarkStart measures a command that does next to nothing, from the start of
// the process to its end:
//
//	go test -run '^$' -bench Start -benchtime 50x -count 6 ./cmd/carrel
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		if err := command(b, "version").Run(); err != nil {
			b.Fatal(err)
		}
	}
}

// command returns a command line of Carrel.
func command(tb testing.TB, args ...string) *exec.Cmd {
	tb.Helper()
	program, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	cmd := exec.CommandContext(tb.Context(), program, args...)
	cmd.Env = append(os.Environ(), asCarrel+"=1")
	return cmd
}
