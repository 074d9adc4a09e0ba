package carrel_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/sessions"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

var errDied = errors.New("the process is gone")

// A process is a store as one process has it. It dies before the write with the number at, from 0,
// and writes nothing from then on. Before its first update it does pause, if that is not nil.
type process struct {
	store.Store
	writes, at int
	pause      func()
	job        *store.Job // the last that it began
}

func (p *process) write() error {
	if p.writes++; p.writes > p.at {
		return errDied
	}
	return nil
}

func (p *process) Apply(ctx context.Context, scope governance.Scope, id transcript.SessionID, at store.Revision, c *store.Change) (store.Revision, error) {
	if err := p.write(); err != nil {
		return 0, err
	}
	return p.Store.Apply(ctx, scope, id, at, c)
}

func (p *process) Update(ctx context.Context, scope governance.Scope, u *store.Update) (store.Version, error) {
	if p.pause != nil {
		p.pause()
	}
	if err := p.write(); err != nil {
		return 0, err
	}
	return p.Store.Update(ctx, scope, u)
}

func (p *process) BeginJob(ctx context.Context, j *store.Job, d time.Duration) (*store.Job, error) {
	var err error
	p.job, err = p.Store.BeginJob(ctx, j, d)
	return p.job, err
}

func (p *process) KeepJob(ctx context.Context, j *store.Job, d time.Duration) error {
	if p.writes > p.at {
		return errDied
	}
	return p.Store.KeepJob(ctx, j, d)
}

func (p *process) EndJob(ctx context.Context, j *store.Job) error {
	if err := p.write(); err != nil {
		return err
	}
	return p.Store.EndJob(ctx, j)
}

// expire makes the time end for which the process has its job.
func (p *process) expire(t *testing.T) {
	t.Helper()
	if err := p.Store.KeepJob(t.Context(), p.job, -time.Second); err != nil {
		t.Fatal(err)
	}
}

// A purge of a session and its successor whose process dies before any of its writes is finished by
// another one, which repeats the purge or finishes what it finds begun, for the actor who asked
// for it. Nothing of the sessions is left, and no job.
func TestPurgeAfterADeath(t *testing.T) {
	again := func(b *bench) (string, error) {
		_, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
		return "user", err
	}
	finish := func(b *bench) (string, error) {
		done, err := b.FinishJobs(t.Context(), scope)
		if len(done) != 1 {
			t.Errorf("finished %q, want the purge", done)
		}
		return "eraser", err
	}
	for name, another := range map[string]func(b *bench) (actor string, err error){"repeats": again, "finishes": finish} {
		for at := range 4 { // an update, a change for each of two sessions, and the end
			s := stores.New(t)
			b := newBench(t, s, carrel.Options{})
			l := live(t, b, "s", spoken)
			p := &process{Store: s, at: at}
			first := newEngine(t, s).As("eraser", p)
			if _, err := first.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"}); at < 3 && !errors.Is(err, errDied) {
				t.Fatalf("%s, death %d: %v, want %v", name, at, err, errDied)
			}
			if _, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"}); at < 3 && !errors.Is(err, store.ErrTaken) {
				t.Errorf("%s, death %d: before the time is over: %v, want %v", name, at, err, store.ErrTaken)
			}
			p.expire(t)
			actor, err := another(b)
			if err != nil && (at < 3 || !errors.Is(err, store.ErrGone)) {
				t.Errorf("%s, death %d: %v", name, at, err)
			}
			for _, id := range []transcript.SessionID{"s", l.next} {
				if h, err := s.Head(t.Context(), scope, id); err != nil || h.Status != store.StatusPurged {
					t.Errorf("%s, death %d: session %s is %+v, %v", name, at, id, h, err)
				}
			}
			journal, err := carrel.Items(b.Journal(t.Context(), scope, &carrel.JournalRequest{Session: "s"}))
			if last := journal[len(journal)-1]; err != nil || last.Op != "purge" || at < 3 && string(last.Actor) != actor {
				t.Errorf("%s, death %d: the last entry is %+v, %v; want a purge by %s", name, at, last, err, actor)
			}
			if open, err := s.OpenJobs(t.Context(), scope); err != nil || len(open) != 0 {
				t.Errorf("%s, death %d: open jobs %+v, %v", name, at, open, err)
			}
		}
	}
}

// While a purge is not at its end, a list in pages has all other sessions.
func TestSessionsDuringAPurge(t *testing.T) {
	s := stores.New(t)
	b := newBench(t, s, carrel.Options{})
	for _, id := range []transcript.SessionID{"one", "two", "three", "four"} {
		if _, err := b.Append(t.Context(), scope, &carrel.AppendRequest{Session: id, Messages: talk(string(id), 0, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := newEngine(t, s).As("eraser", &process{Store: s, at: 1}).PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "one"}); !errors.Is(err, errDied) {
		t.Fatalf("error %v, want %v", err, errDied)
	}
	for limit := range 5 {
		var got []string
		for at := (carrel.Cursor{Limit: limit}); ; {
			page, err := b.Sessions(t.Context(), scope, &carrel.SessionsRequest{Cursor: at})
			if err != nil {
				t.Fatal(err)
			}
			for _, info := range page.Items {
				got = append(got, string(info.Session))
			}
			if at.After = page.Next; at.After == "" {
				break
			}
		}
		if slices.Sort(got); !slices.Equal(got, []string{"four", "three", "two"}) {
			t.Errorf("pages of %d have %q", limit, got)
		}
	}
}

// A process that was stopped for longer than it had the job of a purge, which another one has
// finished, writes nothing when it goes on.
func TestPurgeThatWasTaken(t *testing.T) {
	s := stores.New(t)
	b := newBench(t, s, carrel.Options{})
	live(t, b, "s", spoken)
	var after store.Version
	p := &process{Store: s, at: 10}
	p.pause = func() {
		p.expire(t)
		if _, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"}); err != nil {
			t.Fatal(err)
		}
		var err error
		if after, err = s.Version(t.Context(), scope); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := newEngine(t, p).PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"}); !errors.Is(err, store.ErrTaken) {
		t.Errorf("the process that was stopped: %v, want %v", err, store.ErrTaken)
	}
	if got, err := s.Version(t.Context(), scope); err != nil || got != after {
		t.Errorf("version %d, %v, want %d: it wrote after it had lost the job", got, err, after)
	}
}

// A failing store fails each update. If it is late, it makes the update before it fails, as a store
// does that cannot delete the blobs of purged cells.
type failing struct {
	store.Store
	late bool
}

func (f failing) Update(ctx context.Context, scope governance.Scope, u *store.Update) (store.Version, error) {
	if f.late {
		if _, err := f.Store.Update(ctx, scope, u); err != nil {
			return 0, err
		}
	}
	return 0, errDied
}

// An unchanged store fails each change of a session.
type unchanged struct{ store.Store }

func (unchanged) Apply(context.Context, governance.Scope, transcript.SessionID, store.Revision, *store.Change) (store.Revision, error) {
	return 0, errDied
}

// A purge that fails before it has erased anything leaves no job. One that fails after it has erased
// the text is finished by the next, at once and also in the sessions that only its job still names.
func TestPurgeThatFails(t *testing.T) {
	s := stores.New(t)
	l := live(t, newBench(t, s, carrel.Options{}), "s", spoken)
	purge := func(s store.Store) error {
		_, err := newEngine(t, s).PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
		return err
	}
	for _, late := range []bool{false, true} {
		if err := purge(failing{s, late}); !errors.Is(err, errDied) {
			t.Fatalf("late %v: %v, want %v", late, err, errDied)
		}
		open, err := s.OpenJobs(t.Context(), scope)
		if err != nil || (len(open) == 1) != late {
			t.Errorf("late %v: open jobs %+v, %v", late, open, err)
		}
	}
	if err := purge(unchanged{s}); !errors.Is(err, errDied) {
		t.Fatalf("with unchanged sessions: %v, want %v", err, errDied)
	}
	if err := purge(s); err != nil {
		t.Fatal(err)
	}
	for _, id := range []transcript.SessionID{"s", l.next} {
		if h, err := s.Head(t.Context(), scope, id); err != nil || h.Status != store.StatusPurged {
			t.Errorf("session %s is %+v, %v, want it purged", id, h, err)
		}
	}
}

// A purge that was cut off after the text was erased leaves the lists of the scope as they are, and
// nobody gets the text from memory. Its calls still have a cost when it is done.
func TestPurgeThatWasCutOff(t *testing.T) {
	s := stores.New(t)
	p := &process{Store: s, at: 100}
	b := newBench(t, p, carrel.Options{})
	live(t, b, "s", spoken)
	if _, err := b.Append(t.Context(), scope, &carrel.AppendRequest{Session: "other", Messages: talk("heron", 0, 2)}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Export(t.Context(), scope, &carrel.ExportRequest{Session: "s"}); err != nil {
		t.Fatal(err)
	}
	p.at = p.writes + 1 // the text is erased, and no session is marked
	if _, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"}); !errors.Is(err, errDied) {
		t.Fatalf("the purge: %v, want %v", err, errDied)
	}
	if out, err := b.Export(t.Context(), scope, &carrel.ExportRequest{Session: "s"}); err == nil {
		t.Errorf("an export of erased text has %d bytes", len(out.Data))
	}
	list, err := carrel.Items(b.Sessions(t.Context(), scope, &carrel.SessionsRequest{}))
	if err != nil || len(list) != 1 || list[0].Session != "other" {
		t.Errorf("sessions: %+v, %v, want the other one", list, err)
	}
	if _, err := carrel.Items(b.Calls(t.Context(), scope, &carrel.CallsRequest{Logged: true})); err != nil {
		t.Errorf("calls: %v", err)
	}
	if _, err := b.Cost(t.Context(), scope, &carrel.CostRequest{}); err != nil {
		t.Errorf("cost: %v", err)
	}
	if found, err := carrel.Items(b.Search(t.Context(), scope, &carrel.SearchRequest{Query: "heron"})); err != nil || len(found) == 0 {
		t.Errorf("search: %d blocks, %v", len(found), err)
	}
}

// A prefix names a session that is in use, beside others that are not.
func TestAPrefixNamesASessionInUse(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	for _, id := range []transcript.SessionID{"abc1", "abc2", "abc3"} {
		if _, err := b.Append(t.Context(), scope, &carrel.AppendRequest{Session: id, Messages: talk("heron", 0, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "abc1"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.RemoveSession(t.Context(), scope, &carrel.SessionRequest{Session: "abc3"}); err != nil {
		t.Fatal(err)
	}
	if got, err := b.FindSession(t.Context(), scope, &carrel.WordRequest{Word: "abc"}); err != nil || got.Session != "abc2" {
		t.Errorf("abc is %+v, %v, want abc2", got, err)
	}
	if _, err := b.RemoveSession(t.Context(), scope, &carrel.SessionRequest{Session: "abc2"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.FindSession(t.Context(), scope, &carrel.WordRequest{Word: "abc"}); !errors.Is(err, carrel.ErrAmbiguous) {
		t.Errorf("abc of three that are not in use: %v, want %v", err, carrel.ErrAmbiguous)
	}
	if got, err := b.FindSession(t.Context(), scope, &carrel.WordRequest{Word: "abc3"}); err != nil || got.Session != "abc3" {
		t.Errorf("abc3 is %+v, %v, want itself", got, err)
	}
}

// The outcome of a context is kept when the session that it was made for is gone, and so is the
// cost of its calls.
func TestWhatComesAfterAPurge(t *testing.T) {
	b := newBookkeeper(t)
	if _, err := b.Append(t.Context(), scope, &carrel.AppendRequest{Session: "p", Messages: talk("heron", 0, 2)}); err != nil {
		t.Fatal(err)
	}
	b.proxied("p", carrel.CallIntent{Messages: 1}, carrel.CallOutcome{Usage: carrel.Usage{Input: 9000, Output: 100}})
	b.put(t, chunk("the heron lives at the pond"))
	r := b.assemble(t, &carrel.AssembleRequest{Query: "where does the heron live?", Session: "p", Budget: 60_000})
	if _, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "p"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Commit(t.Context(), scope, &carrel.CommitRequest{Manifest: r.Manifest}); err != nil {
		t.Errorf("the outcome: %v", err)
	}
	for _, id := range []transcript.SessionID{"p", ""} {
		if res, err := b.Cost(t.Context(), scope, &carrel.CostRequest{Session: id}); err != nil || res.Total.Calls != 1 {
			t.Errorf("the cost of %q: %+v, %v", id, res, err)
		}
	}
}

// A purge whose snapshot cannot be removed says so, and purges the session all the same.
func TestPurgeWithASnapshotThatStays(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "columns-")
	b := newBench(t, stores.New(t), carrel.Options{Snapshots: prefix})
	live(t, b, "s", spoken)
	held := (&stacks.Stacks{Base: &base.Base{Opts: base.Options{Snapshots: prefix}}}).SnapshotPath(scope)
	if err := os.MkdirAll(filepath.Join(held, "in use"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: "s"})
	if _, ok := errors.AsType[*stacks.SnapshotError](err); !ok || !strings.Contains(err.Error(), held) {
		t.Errorf("error %v, want one that names %s", err, held)
	}
	if info, err := b.Session(t.Context(), scope, &carrel.SessionRequest{Session: "s"}); !errors.Is(err, carrel.ErrGone) {
		t.Errorf("the session is %+v, %v", info, err)
	}
	if open, err := b.store.OpenJobs(t.Context(), scope); err != nil || len(open) > 0 {
		t.Errorf("open jobs %v, %v", open, err)
	}
}

// stalled is a store in which some jobs are open.
type stalled struct {
	store.Store
	jobs []store.Job
}

func (o *stalled) OpenJobs(context.Context, governance.Scope) ([]store.Job, error) {
	return o.jobs, nil
}

// A job of a newer version, and one that fails, keep no other from being finished.
func TestFinishJobsGoesOn(t *testing.T) {
	purge := func(id string) store.Job { return store.Job{Scope: scope, Name: sessions.PurgeJob + id} }
	b := newBench(t, &stalled{stores.New(t), []store.Job{{Scope: scope, Name: "paint it"}, purge("nobody"), purge("s")}}, carrel.Options{})
	live(t, b, "s", spoken)
	done, err := b.FinishJobs(t.Context(), scope)
	if !errors.Is(err, store.ErrNotFound) || !slices.Equal(done, []string{sessions.PurgeJob + "s"}) {
		t.Errorf("finished %q, %v, want the purge of s and an error about nobody", done, err)
	}
}
