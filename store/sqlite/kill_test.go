package sqlite_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/transcript"
)

const (
	// killCycles sets the number of cycles of TestKill. The default is small, to be fast.
	killCycles = "CARREL_KILL_CYCLES"

	// Variables that make a run of the test binary a child: the path of the store, the number
	// of the cycle, and whether the store acknowledges too early.
	childPath   = "CARREL_KILL_CHILD_PATH"
	childCycle  = "CARREL_KILL_CHILD_CYCLE"
	childBroken = "CARREL_KILL_CHILD_BROKEN"

	killScope     = governance.Scope("kill/test")
	killWriters   = 6   // writers of sessions
	killAuthors   = 3   // writers of artifacts
	killCallers   = 2   // writers of calls
	killChanges   = 25  // changes of a session before its writer begins the next
	checkEach     = 50  // number of cycles between two runs of Check
	controlCycles = 100 // number of cycles within which the broken store must be caught
)

// An acknowledged change survives the death of the process. A child writes until the test kills it
// at a random moment; then the test compares the store with the changes that were acknowledged to
// the child.
func TestKill(t *testing.T) {
	cycles := 12
	if raceDetector {
		cycles = 1
	}
	if s := os.Getenv(killCycles); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("%s: %v", killCycles, err)
		}
		cycles = n
	}
	k := newKiller(t)
	for n := range cycles {
		if problems := k.cycle(t, n, false); len(problems) > 0 {
			t.Fatalf("cycle %d: %s", n, strings.Join(problems, "\n"))
		}
		if n%checkEach == checkEach-1 || n == cycles-1 {
			k.check(t)
		}
	}
	t.Logf("%d cycles, %d acknowledged changes", cycles, k.total)
	if k.total == 0 {
		t.Error("no change was acknowledged")
	}
}

// A control for TestKill: its method detects a store that acknowledges before it commits.
func TestKillNotices(t *testing.T) {
	if raceDetector {
		t.Skip("the child is too slow to be caught in the act")
	}
	k := newKiller(t)
	for n := range controlCycles {
		if problems := k.cycle(t, n, true); len(problems) > 0 {
			t.Logf("caught in cycle %d: %s", n, problems[0])
			return
		}
	}
	t.Errorf("a store that acknowledges before it commits was not caught in %d cycles, %d changes", controlCycles, k.total)
}

// A killer runs children that write to one store, one after the other.
type killer struct {
	path  string
	rng   *rand.Rand
	total int // number of acknowledged changes
}

func newKiller(t *testing.T) *killer {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return &killer{path: filepath.Join(t.TempDir(), "carrel.db"), rng: rand.New(rand.NewPCG(seed, 0))}
}

// cycle runs a child until it is killed, and returns the problems of the store afterwards.
func (k *killer) cycle(t *testing.T, n int, broken bool) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKillChild$")
	cmd.Env = append(os.Environ(), childPath+"="+k.path, childCycle+"="+strconv.Itoa(n), "GOCOVERDIR="+t.TempDir())
	if broken {
		cmd.Env = append(cmd.Env, childBroken+"=1")
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	moment := time.Duration(k.rng.IntN(2) * k.rng.IntN(2000)) // 0 in half of the cycles
	acked := k.killAfter(stdout, cmd.Process, 1+k.rng.IntN(150), moment*time.Microsecond)
	if err := cmd.Wait(); err == nil || stderr.Len() > 0 || len(acked) == 0 {
		t.Fatalf("cycle %d: the child ended by itself: %v\n%s", n, err, stderr.String())
	}
	return k.verify(t, n, acked)
}

// killAfter reads acknowledgments and kills the child a moment after the given number of them. It
// returns the last acknowledged number by name: the revision of each session, the updates of each
// author and the records of each caller.
func (k *killer) killAfter(acks io.Reader, child *os.Process, count int, moment time.Duration) map[transcript.SessionID]store.Revision {
	acked := make(map[transcript.SessionID]store.Revision)
	lines := bufio.NewScanner(acks)
	for n := 0; lines.Scan(); {
		var id transcript.SessionID
		var revision store.Revision
		if _, err := fmt.Sscanf(lines.Text(), "ack %s %d", &id, &revision); err != nil {
			continue // a line of package testing
		}
		acked[id] = max(acked[id], revision)
		k.total++
		if n++; n < count {
			continue
		}
		// If the child is already dead, Wait returns its error.
		if moment == 0 {
			_ = child.Kill()
		} else if n == count {
			time.AfterFunc(moment, func() { _ = child.Kill() })
		}
	}
	return acked
}

// verify returns the problems in the records that a cycle wrote.
func (k *killer) verify(t *testing.T, cycle int, acked map[transcript.SessionID]store.Revision) (problems []string) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), k.path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	found := make(map[transcript.SessionID]store.Revision)
	for h, err := range s.Heads(t.Context(), killScope) {
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(h.ID), cyclePrefix(cycle)) {
			found[h.ID] = h.Revision
		}
	}
	maps.Copy(found, updates(t, s, cycle))
	maps.Copy(found, records(t, s, cycle))
	for id, revision := range acked {
		// A writer waits for each change, so at most one unacknowledged change may be stored.
		if have := found[id]; have < revision || have > revision+1 {
			problems = append(problems, fmt.Sprintf("session %s is at revision %d, and %d was acknowledged", id, have, revision))
		}
	}
	if len(problems) > 0 {
		return problems
	}
	for id, revision := range found {
		differs := compare
		switch name := string(id); {
		case strings.HasPrefix(name, authorPrefix(cycle)):
			continue
		case strings.HasPrefix(name, callerPrefix(cycle)):
			differs = compareCalls
		}
		if diff := differs(t, s, id, revision); diff != "" {
			problems = append(problems, fmt.Sprintf("session %s at revision %d is not what was written (-want +got):\n%s", id, revision, diff))
		}
	}
	if diff := compareUpdates(t, s, cycle); diff != "" {
		problems = append(problems, "the artifacts are not what was written (-want +got):\n"+diff)
	}
	return problems
}

// updates returns the number of stored updates of each author of a cycle.
func updates(t *testing.T, s store.Store, cycle int) map[transcript.SessionID]store.Revision {
	t.Helper()
	found := make(map[transcript.SessionID]store.Revision)
	for e, err := range s.Log(t.Context(), authorScope(cycle), 0) {
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(e.ID, "-up-")
		found[transcript.SessionID(name)]++
	}
	return found
}

// records returns the number of stored records of each caller of a cycle.
func records(t *testing.T, s store.Store, cycle int) map[transcript.SessionID]store.Revision {
	t.Helper()
	found := make(map[transcript.SessionID]store.Revision)
	for c, err := range s.Calls(t.Context(), killScope, store.CallFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(c.Session), callerPrefix(cycle)) {
			continue // from an earlier cycle
		}
		found[c.Session]++
		if c.State == store.CallDone {
			found[c.Session]++
		}
	}
	return found
}

// compareCalls returns the differences between the stored calls of a caller and those of its first
// records.
func compareCalls(t *testing.T, s store.Store, name transcript.SessionID, count store.Revision) string {
	t.Helper()
	model := memory.New()
	c := &caller{name: string(name)}
	for range count {
		if err := model.Record(t.Context(), killScope, []store.Call{c.next()}); err != nil {
			t.Fatal(err)
		}
	}
	var lists [2][]store.Call
	for i, s := range []store.Store{model, s} {
		for call, err := range s.Calls(t.Context(), killScope, store.CallFilter{Session: name}) {
			if err != nil {
				return err.Error()
			}
			one := *call
			one.Seq = 0 // it counts the calls of all callers, which the model does not know
			lists[i] = append(lists[i], one)
		}
	}
	return storetest.Diff(lists[0], lists[1])
}

// compareUpdates returns the differences between the stored artifacts and those that their authors
// wrote, in the order of the log.
func compareUpdates(t *testing.T, s store.Store, cycle int) string {
	t.Helper()
	got, err := storetest.Read(t.Context(), s, authorScope(cycle))
	if err != nil {
		return err.Error()
	}
	model := memory.New()
	authors := make(map[string]*author)
	for i := range got.Log {
		name, _, _ := strings.Cut(got.Log[i].ID, "-up-")
		if authors[name] == nil {
			authors[name] = &author{name: name}
		}
		u := authors[name].next()
		version, err := model.Update(t.Context(), authorScope(cycle), u)
		if err != nil {
			t.Fatal(err)
		}
		authors[name].made(u, version)
	}
	want, err := storetest.Read(t.Context(), model, authorScope(cycle))
	if err != nil {
		t.Fatal(err)
	}
	return storetest.Diff(want, got)
}

// compare returns the differences between a stored session and the same session in a store in
// memory, to which its script was applied.
func compare(t *testing.T, s store.Store, id transcript.SessionID, revision store.Revision) string {
	t.Helper()
	model := memory.New()
	sc := newScript(id)
	for at := range revision {
		if _, err := model.Apply(t.Context(), killScope, id, at, sc.next()); err != nil {
			t.Fatal(err)
		}
	}
	want, err := storetest.ReadSession(t.Context(), model, killScope, id)
	if err != nil {
		t.Fatal(err)
	}
	got, err := storetest.ReadSession(t.Context(), s, killScope, id)
	if err != nil {
		return err.Error()
	}
	return storetest.Diff(want, got)
}

// check fails the test if Check finds problems in the store.
func (k *killer) check(t *testing.T) {
	t.Helper()
	s := openAt(t, k.path)
	problems, err := s.Check(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("Check = %q, %v", problems, err)
	}
}

func cyclePrefix(n int) string  { return fmt.Sprintf("c%d-", n) }
func authorPrefix(n int) string { return cyclePrefix(n) + "author" }
func callerPrefix(n int) string { return cyclePrefix(n) + "caller" }

// authorScope is the scope of the authors of a cycle.
func authorScope(n int) governance.Scope { return governance.Scope(fmt.Sprintf("kill/authors/%d", n)) }

// TestKillChild is the child: it writes until it is killed.
func TestKillChild(t *testing.T) {
	path := os.Getenv(childPath)
	if path == "" {
		t.Skip("this is the child of TestKill")
	}
	cycle, err := strconv.Atoi(os.Getenv(childCycle))
	if err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		panic(err) // the parent reports it
	}
	if os.Getenv(childBroken) != "" {
		sqlite.AckEarly(s)
	}
	var wg sync.WaitGroup
	for w := range killAuthors {
		wg.Go(func() {
			a := &author{name: fmt.Sprintf("%s%d", authorPrefix(cycle), w)}
			for {
				u := a.next()
				version, err := s.Update(t.Context(), authorScope(cycle), u)
				if err != nil {
					panic(err)
				}
				a.made(u, version)
				fmt.Fprintf(os.Stdout, "ack %s %d\n", a.name, a.done) // as below
			}
		})
	}
	for w := range killCallers {
		wg.Go(func() {
			c := &caller{name: fmt.Sprintf("%s%d", callerPrefix(cycle), w)}
			for {
				if err := s.Record(t.Context(), killScope, []store.Call{c.next()}); err != nil {
					panic(err)
				}
				fmt.Fprintf(os.Stdout, "ack %s %d\n", c.name, c.done) // as below
			}
		})
	}
	for w := range killWriters {
		wg.Go(func() {
			for n := 0; ; n++ {
				id := transcript.SessionID(fmt.Sprintf("%sw%d-%d", cyclePrefix(cycle), w, n))
				sc := newScript(id)
				for at := range store.Revision(killChanges) {
					revision, err := s.Apply(t.Context(), killScope, id, at, sc.next())
					if err != nil {
						panic(err)
					}
					// One write, so that the death of the process cannot cut it.
					fmt.Fprintf(os.Stdout, "ack %s %d\n", id, revision)
				}
			}
		})
	}
	wg.Wait()
}
