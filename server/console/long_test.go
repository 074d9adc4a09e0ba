package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/server/console"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// The sizes of a long store.
const (
	longCalls    = 10_000
	longSessions = 50
	longBlocks   = 2_000 // of each session: 100,000 of all
)

// BenchmarkLongStore measures how long the server takes for each page over a store with 10,000
// calls and 100,000 blocks, in one file of SQLite.
func BenchmarkLongStore(b *testing.B) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "carrel.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	engine, err := carrel.New(s, nil)
	if err != nil {
		b.Fatal(err)
	}
	id, call := fillLong(b, engine)
	grant := governance.Whole("dana")
	st := &stage{grants: map[string]*governance.Grant{"open sesame": grant}}
	pages, err := console.New(&console.Options{
		Verifier: st, Listen: "127.0.0.1:80", Store: s.Info, Engine: func(ctx context.Context) (*carrel.Engine, *governance.Grant, error) { return engine, grant, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	enter := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80"+console.Root+"sign-in?key=open+sesame", nil)
	in := httptest.NewRecorder()
	pages.ServeHTTP(in, enter)
	for _, path := range []string{"", "session/" + id, "session/" + id + "/window", "session/" + id + "/plan", "session/" + id + "/diff", "session/" + id + "/journal", "session/" + id + "/contract", "session/" + id + "/quality", "search?q=pool", "calls", "calls?session=" + id, "call/" + call, "call/42", "contexts", "review", "cost", "health"} {
		b.Run(strings.ReplaceAll(strings.ReplaceAll(path, id, "S"), call, "C"), func(b *testing.B) {
			var took []time.Duration
			size := 0
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:80"+console.Root+path, nil)
				for _, c := range in.Result().Cookies() {
					r.AddCookie(c)
				}
				w := httptest.NewRecorder()
				begun := time.Now()
				pages.ServeHTTP(w, r)
				took = append(took, time.Since(begun))
				if size = w.Body.Len(); w.Code != http.StatusOK {
					b.Fatalf("status %d: %.300s", w.Code, w.Body)
				}
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(size)/1000, "page-kB")
		})
	}
}

// fillLong takes in the sessions and records the calls, and returns one of each.
func fillLong(b *testing.B, engine *carrel.Engine) (session, call string) {
	b.Helper()
	for n := range longSessions {
		messages := make([]map[string]string, 0, longBlocks)
		for i := range longBlocks / 2 {
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
		session = string(in.Session)
		for i := range longCalls / longSessions {
			begun, err := engine.Begin(b.Context(), governance.DefaultScope, &carrel.BeginRequest{Session: in.Session, CallIntent: carrel.CallIntent{Dialect: "anthropic", Model: "claude-opus-4-1", Messages: i + 1, Bytes: 9000, SentBytes: 9000, Reason: "observed"}})
			if err != nil {
				b.Fatal(err)
			}
			call = begun.Call
			end := &carrel.EndRequest{Call: call, State: store.CallDone, CallOutcome: carrel.CallOutcome{Usage: carrel.Usage{CacheRead: 9000, CacheWrite5m: 2000, Output: 10}}}
			if _, err := engine.End(b.Context(), governance.DefaultScope, end); err != nil {
				b.Fatal(err)
			}
		}
	}
	return session, call
}
