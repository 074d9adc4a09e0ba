//go:build unix

package console_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/console"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/transcript"
)

// The sizes of a long store.
const (
	longCalls  = 10_000
	longBlocks = 100_000
)

// BenchmarkLongStore measures how long the server takes for each page over stores with 10,000
// calls in 30 days and 100,000 blocks, in one file of SQLite: in 50 sessions, and in one. It
// reports the first request apart from the later ones, and the time of the processors, which other
// programs do not lengthen. With CARREL_BENCH_DIR the files are kept there for the next run, and
// for the measure in a browser.
func BenchmarkLongStore(b *testing.B) {
	for name, sessions := range map[string]int{"many": 50, "one": 1} {
		b.Run(name, func(b *testing.B) {
			ask, id := openConsole(b, "console-"+name+".db", sessions)
			paths := []string{
				"", "session/" + id, "session/" + id + "/window", "session/" + id + "/plan", "session/" + id + "/diff", "session/" + id + "/journal",
				"session/" + id + "/contract", "session/" + id + "/quality", "search?q=pool", "calls", "calls?session=" + id, "call/4242",
				"contexts", "review", "cost", "cost?days=1", "health",
			}
			if sessions == 1 { // whose blocks are read when that is asked for
				paths = append(paths, "session/"+id+"?all=1", "session/"+id+"/window?all=1", "session/"+id+"/diff?all=1")
			}
			for _, path := range paths {
				first := time.Duration(-1)
				b.Run(cmp.Or(strings.ReplaceAll(path, id, "S"), "sessions"), func(b *testing.B) {
					if first < 0 {
						first, _ = ask(b, path)
					}
					var took []time.Duration
					size, before := 0, processorTime(b)
					for b.Loop() {
						t, w := ask(b, path)
						took, size = append(took, t), w.Body.Len()
					}
					b.ReportMetric(milliseconds(processorTime(b)-before)/float64(len(took)), "cpu-ms")
					slices.Sort(took)
					b.ReportMetric(milliseconds(first), "first-ms")
					b.ReportMetric(milliseconds(took[len(took)/2]), "p50-ms")
					b.ReportMetric(milliseconds(took[len(took)*99/100]), "p99-ms")
					b.ReportMetric(float64(size)/1000, "page-kB")
				})
			}
		})
	}
}

// BenchmarkLongPlan measures the page with the plan of a compression of 2,000 blocks.
func BenchmarkLongPlan(b *testing.B) {
	ask, id := openConsole(b, "console-many.db", 50)
	for b.Loop() {
		ask(b, "session/"+id+"/plan?target=25")
	}
}

// openConsole returns a function that asks the console of a long store for a page, and the id of
// a session.
func openConsole(b *testing.B, name string, sessions int) (ask func(b *testing.B, path string) (time.Duration, *httptest.ResponseRecorder), session string) {
	b.Helper()
	s, engine, id := openLong(b, name, sessions)
	grant := governance.Whole("dana")
	st := &stage{grants: map[string]*governance.Grant{"open sesame": grant}}
	pages, err := console.New(&console.Options{
		Verifier: st, Listen: "127.0.0.1:80", Store: s.Info,
		Engine: func(context.Context) (*carrel.Engine, *governance.Grant, error) { return engine, grant, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	in := httptest.NewRecorder()
	pages.ServeHTTP(in, httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80"+console.Root+"sign-in?key=open+sesame", nil))
	return func(b *testing.B, path string) (time.Duration, *httptest.ResponseRecorder) {
		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80"+console.Root+path, nil)
		for _, c := range in.Result().Cookies() {
			r.AddCookie(c)
		}
		w := httptest.NewRecorder()
		begun := time.Now()
		pages.ServeHTTP(w, r)
		took := time.Since(begun)
		if w.Code != http.StatusOK {
			b.Fatalf("%s: status %d: %.300s", path, w.Code, w.Body)
		}
		return took, w
	}, id
}

// processorTime returns the time that this process has had of the processors.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// openLong opens a long store, which it fills unless it is there, and returns a session of it.
func openLong(b *testing.B, name string, sessions int) (store.Store, *carrel.Engine, string) {
	b.Helper()
	path := filepath.Join(cmp.Or(os.Getenv("CARREL_BENCH_DIR"), b.TempDir()), name)
	s, err := sqlite.Open(b.Context(), path, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	begin := time.Now().Add(-30 * 24 * time.Hour)
	clock := begin
	filling, err := carrel.New(s, &carrel.Options{Now: func() time.Time { return clock }})
	if err != nil {
		b.Fatal(err)
	}
	held, err := s.Info(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for n := range sessions {
		if held.Sessions > 0 {
			break
		}
		id := importLong(b, filling, n, longBlocks/sessions)
		for range longCalls / sessions {
			clock = clock.Add(30 * 24 * time.Hour / longCalls)
			callLong(b, filling, id)
		}
	}
	engine, err := carrel.New(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	list, err := engine.Sessions(b.Context(), governance.DefaultScope, &carrel.SessionsRequest{Cursor: carrel.Cursor{Limit: 1}})
	if err != nil {
		b.Fatal(err)
	}
	return s, engine, string(list.Items[0].Session)
}

// importLong takes in a conversation with a number of blocks.
func importLong(b *testing.B, engine *carrel.Engine, n, blocks int) transcript.SessionID {
	b.Helper()
	messages := make([]map[string]string, 0, blocks)
	for i := range blocks / 2 {
		messages = append(messages, map[string]string{"role": "user", "content": fmt.Sprintf("Question %d of %d: why does it hang?", i, n)},
			map[string]string{"role": "assistant", "content": fmt.Sprintf("Answer %d of %d. %s", i, n, strings.Repeat("It waits for the pool. ", 8))})
	}
	data, err := json.Marshal(map[string]any{"model": "claude-opus-4-1", "messages": messages})
	if err != nil {
		b.Fatal(err)
	}
	in, err := engine.Import(b.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: fmt.Sprintf("%d.json", n), Data: data})
	if err != nil {
		b.Fatal(err)
	}
	return in.Session
}

// callLong records a call of a session.
func callLong(b *testing.B, engine *carrel.Engine, session transcript.SessionID) {
	b.Helper()
	begun, err := engine.Begin(b.Context(), governance.DefaultScope, &carrel.BeginRequest{Session: session, CallIntent: carrel.CallIntent{Dialect: "anthropic", Model: "claude-opus-4-1", Messages: 9, Bytes: 9000, SentBytes: 9000, Reason: "observed"}})
	if err != nil {
		b.Fatal(err)
	}
	end := &carrel.EndRequest{Call: begun.Call, State: store.CallDone, CallOutcome: carrel.CallOutcome{Usage: carrel.Usage{CacheRead: 9000, CacheWrite5m: 2000, Output: 10}}}
	if _, err := engine.End(b.Context(), governance.DefaultScope, end); err != nil {
		b.Fatal(err)
	}
}
