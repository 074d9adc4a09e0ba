package carrel_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// million is a conversation of about a million tokens (o200k): 1 000 tool calls
// with some 40 lines of output each.
func million(t require) []byte {
	msgs := []message{{Role: "system", Content: "You fix things."}, {Role: "user", Content: "Find why the pool hangs and fix it."}}
	for i := range 1000 {
		id := fmt.Sprintf("call_%d", i)
		var out strings.Builder
		for k := range 42 {
			fmt.Fprintf(&out, "%04d internal/pool/worker%d.go: settled batch b-%05d in %d ms\n", k, (i+k)%97, i*40+k, k*i%911)
		}
		msgs = append(msgs,
			message{Role: "assistant", Calls: []call{newCall(id, "Bash", fmt.Sprintf(`{"command":"go test ./internal/p%d"}`, i%50))}},
			message{Role: "tool", CallID: id, Content: out.String()})
	}
	msgs = append(msgs, message{Role: "user", Content: "Now open a pull request for the pool."}, message{Role: "assistant", Content: "It is open."})
	return body(t, msgs)
}

// BenchmarkImport counts, groups and stores a conversation of a million tokens.
func BenchmarkImport(b *testing.B) {
	data := million(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		e, err := carrel.New(stores.New(b), nil)
		if err != nil {
			b.Fatal(err)
		}
		in, err := e.Import(b.Context(), scope, &carrel.ImportRequest{Name: "m.json", Data: data})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(in.Tokens), "tokens")
	}
}

// BenchmarkPlan chooses the lines that are likely to be needed, of sessions whose
// texts are scanned and whose lines are counted. What it takes for 100,000 tokens is
// the same for both sizes if it is linear.
func BenchmarkPlan(b *testing.B) {
	for _, test := range []struct {
		strategy carrel.Strategy
		steps    int
	}{{carrel.StrategyAccount, 100}, {carrel.StrategyAccount, 1000}, {carrel.StrategyImportance, 100}, {carrel.StrategyImportance, 1000}} {
		b.Run(fmt.Sprintf("%s/%dsteps", test.strategy, test.steps), func(b *testing.B) {
			e := newEngine(b, stores.New(b))
			in, err := e.Import(b.Context(), scope, &carrel.ImportRequest{Name: "m.json", Data: working(b, test.steps)})
			if err != nil {
				b.Fatal(err)
			}
			plan, err := carrel.Planning(b.Context(), e, scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(10, 100)}, Strategy: test.strategy})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := plan(); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, err := plan(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)*1e5/float64(in.Tokens), "µs/100ktok")
		})
	}
}

// working is a conversation in which an agent reads, edits and tests files, in steps
// of about 800 tokens by a quarter of the bytes.
func working(t require, steps int) []byte {
	msgs := []message{{Role: "system", Content: "You write Go."}, {Role: "user", Content: "The ledger loses entries. Fix internal/ledger and add a test."}}
	rng := rand.New(rand.NewPCG(1, 2))                                                                          //nolint:gosec // the same each time
	name := func(prefix string) string { return fmt.Sprintf("%s%c%d", prefix, 'A'+rng.IntN(26), rng.IntN(50)) } // some 4,000 names, as many as sessions of this size have
	for i := range steps {
		id, path := fmt.Sprintf("call_%d", i), fmt.Sprintf("internal/ledger/part%d.go", rng.IntN(40))
		var out strings.Builder
		for k := range 60 {
			fmt.Fprintf(&out, "%d→\tif err := s.%s(ctx, %s, opts.%s); err != nil {\n", k+1, name("apply"), name("entry"), name("limit"))
		}
		tool, args := "Read", fmt.Sprintf(`{"file_path":%q}`, path)
		switch i % 4 {
		case 1:
			tool, args = "Edit", fmt.Sprintf(`{"file_path":%q,"old_string":"return %s(ctx)","new_string":"return %s(ctx, %s)"}`, path, name("apply"), name("apply"), name("entry"))
		case 2:
			tool, args = "Bash", fmt.Sprintf(`{"command":"go test ./internal/ledger -run %s"}`, name("Test"))
		}
		msgs = append(msgs,
			message{Role: "assistant", Content: "Next is " + name("apply") + ".", Calls: []call{newCall(id, tool, args)}},
			message{Role: "tool", CallID: id, Content: out.String()})
	}
	return body(t, msgs)
}

// BenchmarkCompress plans and checks a pass over a conversation of a million
// tokens that is stored and counted. It includes reading and decoding it, and, of
// the anchored strategy, extraction, merge, probes and their grade.
func BenchmarkCompress(b *testing.B) {
	for _, tt := range []struct {
		strategy carrel.Strategy
		percent  int
	}{
		{carrel.StrategyImportance, 50},
		{carrel.StrategyImportance, 10},
		{carrel.StrategyAnchored, 50},
		{carrel.StrategyAnchored, 30},
	} {
		percent := tt.percent
		b.Run(fmt.Sprintf("%s/%d%%", tt.strategy, percent), func(b *testing.B) {
			e, err := carrel.New(stores.New(b), &carrel.Options{Strategy: tt.strategy})
			if err != nil {
				b.Fatal(err)
			}
			in, err := e.Import(b.Context(), scope, &carrel.ImportRequest{Name: "m.json", Data: million(b)})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				_, err := e.Compress(b.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(percent, 100)}, DryRun: true})
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAssemble assembles 40,000 tokens from the artifacts of one scope, on
// SQLite, or PostgreSQL if CARREL_TEST_STORE says so, warm, and reports the 99th percentile. A million artifacts take
// minutes to put in, and so are left out unless CARREL_BENCH_MILLION is set.
func BenchmarkAssemble(b *testing.B) {
	sizes := []int{1000, 100_000}
	if os.Getenv("CARREL_BENCH_MILLION") != "" {
		sizes = append(sizes, 1_000_000)
	}
	for _, n := range sizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			e := fillBench(b, n)
			var took []time.Duration
			queries := []string{
				"why does the deploy of service 12 fail with exit 137", "refund limit for duplicate charges",
				"rotate the certificate of node 7", "which tests of the parser are slow",
			}
			assemble := func(i int) {
				r, err := e.Assemble(b.Context(), scope, &carrel.AssembleRequest{Query: queries[i%len(queries)], Budget: 40_000})
				if err != nil {
					b.Fatal(err)
				}
				if i == 0 {
					b.Logf("%d candidates, %d used, %d tokens, tier %s", r.Candidates, len(r.Used), r.TokenCount, r.Tier)
				}
			}
			for i := range 8 {
				assemble(i)
			}
			i := 0
			for b.Loop() {
				began := time.Now()
				assemble(i)
				took = append(took, time.Since(began))
				i++
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

// fillBench returns an engine on SQLite with so many artifacts of one scope. The
// newest 2,000 are large, so that a context has some 30,000 tokens; the others
// are a line. With CARREL_BENCH_DIR the database is kept there for the next run.
func fillBench(b *testing.B, n int) *carrel.Engine {
	b.Helper()
	db, filled := openBench(b, n)
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	if !filled {
		// A rough counter, because counting takes longer than all else. What a
		// context uses is counted exactly when it is first used.
		e, err := carrel.New(db, &carrel.Options{Now: clock, Counter: quarter{}})
		if err != nil {
			b.Fatal(err)
		}
		fillScope(b, e, now, n)
	}
	e, err := carrel.New(db, &carrel.Options{Now: clock})
	if err != nil {
		b.Fatal(err)
	}
	return e
}

// openBench opens the store of fillBench, and reports whether it has the artifacts. On PostgreSQL, if
// CARREL_TEST_STORE says so, it never has.
func openBench(b *testing.B, n int) (db store.Store, filled bool) {
	b.Helper()
	if os.Getenv("CARREL_TEST_STORE") == "postgres" {
		return stores.New(b), false
	}
	dir := os.Getenv("CARREL_BENCH_DIR")
	if dir == "" {
		dir = b.TempDir()
	}
	path := fmt.Sprintf("%s/artifacts-%d.db", dir, n)
	_, missing := os.Stat(path)
	db, err := sqlite.Open(b.Context(), path, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db, missing == nil
}

func fillScope(b *testing.B, e *carrel.Engine, now time.Time, n int) {
	words := strings.Fields(`deploy service fails exit node refund limit charge duplicate certificate rotate parser tests slow
cache index queue worker memory disk network policy review budget window token manifest gate session block stub page`)
	rng := rand.New(rand.NewPCG(1, 2))
	text := func(i, size int) []byte {
		var t bytes.Buffer
		fmt.Fprintf(&t, "case %d of service %d\n", i, i%97)
		for k := range size {
			if rng.IntN(3) == 0 {
				fmt.Fprintf(&t, "w%d ", rng.IntN(50_000)) // the long tail of a vocabulary
			} else {
				t.WriteString(words[min(rng.IntN(len(words)), rng.IntN(len(words)))] + " ")
			}
			if k%12 == 11 {
				t.WriteString("\n")
			}
		}
		return t.Bytes()
	}
	classes := provenance.Classes()[1:]
	var reqs []*carrel.NewArtifact
	for i := range n {
		size, age := 20, 48+rng.IntN(90*24)
		if i >= n-2000 {
			size, age = 800, rng.IntN(48)
		}
		req := &carrel.NewArtifact{
			Class: classes[i%len(classes)], Title: fmt.Sprintf("case %d", i), Content: text(i, size),
			Created: now.Add(-time.Duration(age) * time.Hour), AllowSecrets: true,
		}
		if i%3 == 0 {
			req.TTL = new(time.Duration(rng.IntN(90*24)) * time.Hour)
		}
		if reqs = append(reqs, req); len(reqs) == 1000 || i == n-1 {
			if _, err := carrel.Items(e.Put(b.Context(), scope, &carrel.PutRequest{Artifacts: reqs})); err != nil {
				b.Fatal(err)
			}
			reqs = reqs[:0]
		}
	}
}
