package carrel_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/server/auth"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/transcript"
)

// tamperCount is how many stores are tampered with.
func tamperCount(t *testing.T) int { return fromEnv(t, "CARREL_TEST_TAMPER", 50) }

// A specimen is a small store with something of everything, and what it answers.
type specimen struct {
	file       []byte
	key        *auth.Key
	credential string
	answers    map[string]answer

	blocks    []transcript.BlockID
	sessions  []transcript.SessionID
	artifacts []store.ArtifactID
	manifests []string
}

// An answer is what a job returns, or its error.
type answer struct {
	text string
	err  error
}

// newSpecimen makes a store and asks it everything.
func newSpecimen(t *testing.T) *specimen {
	t.Helper()
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "store.db")
	s, err := sqlite.Open(ctx, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	sp := &specimen{}
	if sp.key, err = auth.LoadKey(filepath.Join(t.TempDir(), "key")); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, s, carrel.Options{Counter: quarter{}})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, data := range [][]byte{podTalk(t, 4), bytes.ReplaceAll(podTalk(t, 3), []byte("billing"), []byte("refunds"))} {
		b.turn(func() { b.now = b.now.Add(time.Minute) })
		in := imported(t, b.Engine, data)
		strategy := []carrel.Strategy{carrel.StrategyAnchored, carrel.StrategyImportance}[i]
		_, err := b.Compress(ctx, scope, &carrel.CompressRequest{
			Session: in.Session, Target: carrel.Target{Share: ratio.One / 2}, Strategy: strategy, ProbeMin: new(ratio.Ratio),
		})
		must(err)
		sp.sessions = append(sp.sessions, in.Session)
	}
	amend(t, b.Engine, &carrel.AmendContractRequest{Session: sp.sessions[0], Init: true, Payload: &contract.Payload{}})
	amend(t, b.Engine, &carrel.AmendContractRequest{Session: sp.sessions[0], Decisions: []string{"db is postgres"}})
	list := b.put(t, chunk("The pool has four workers."), chunk("Deploys of billing run at noon."),
		&carrel.NewArtifact{Class: provenance.Document, Content: []byte("House rule: never deploy on Fridays."), Pinned: true},
		chunk("This one is erased."))
	for i := range list {
		sp.artifacts = append(sp.artifacts, list[i].ID)
	}
	r := b.assemble(t, &carrel.AssembleRequest{Session: sp.sessions[0], Query: "how many workers?", Format: "openai", Budget: 20_000})
	sp.manifests = append(sp.manifests, r.Manifest)
	b.commit(t, r.Manifest, "The pool shall have six workers.", 0.5)
	b.commit(t, r.Manifest, "Two of the workers are spare ones.", 0.9)
	sp.manifests = append(sp.manifests, b.assemble(t, &carrel.AssembleRequest{Query: "when do deploys run?"}).Manifest)
	_, err = b.Purge(ctx, scope, &carrel.IDsRequest{IDs: []string{string(list[3].ID)}})
	must(err)
	for _, id := range sp.sessions {
		m, err := b.Messages(ctx, scope, &carrel.MessagesRequest{Session: id})
		must(err)
		for i := range m.Messages {
			sp.blocks = append(sp.blocks, m.Messages[i].ID)
		}
	}
	_, err = b.Pin(ctx, scope, &carrel.PinRequest{Blocks: []string{string(sp.blocks[3])}})
	must(err)
	for i, id := range []transcript.SessionID{sp.sessions[0], "", sp.sessions[0]} {
		b.turn(func() { b.now = b.now.Add(time.Minute) })
		begun, err := b.Begin(ctx, scope, &carrel.BeginRequest{Session: id, CallIntent: carrel.CallIntent{Model: "m", Bytes: i}})
		must(err)
		if i == 0 {
			_, err = b.End(ctx, scope, &carrel.EndRequest{Call: begun.Call, State: store.CallDone, CallOutcome: carrel.CallOutcome{Status: 200}})
			must(err)
		}
		_, err = b.KeepRewrite(ctx, scope, &carrel.KeepRewriteRequest{Session: sp.sessions[0], Rewrite: carrel.Rewrite{
			Chain: digest.Of([]byte{byte(i)}), Kind: store.RewriteMessage, Epoch: i, Messages: i + 1, Data: []byte("{}"),
		}})
		must(err)
	}
	a := auth.NewAuthority(s, sp.key, &auth.AuthorityOptions{Now: func() time.Time { return b.now }})
	for _, actor := range []governance.Actor{"ci", "other"} {
		sp.credential, _, err = a.Mint(ctx, &auth.MintRequest{
			Actor: actor, Scopes: []governance.ScopePattern{"acme/*"}, Permissions: []governance.Permission{governance.Read}, Lifetime: time.Hour,
		})
		must(err)
	}
	problems, err := b.Check(ctx)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Check of the store as it was written = %q, %v", problems, err)
	}
	must(s.Close())
	if sp.file, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	s, err = sqlite.Open(ctx, path, nil)
	must(err)
	sp.answers = sp.ask(t, s)
	must(s.Close())
	for what, a := range sp.answers {
		if a.err != nil && !errors.Is(a.err, store.ErrGone) {
			t.Fatalf("%s: %v", what, a.err)
		}
	}
	return sp
}

// ask returns what a store answers to everything.
func (sp *specimen) ask(t *testing.T, s store.Database) map[string]answer {
	b := newBench(t, s, carrel.Options{Counter: quarter{}})
	ctx, e := t.Context(), b.Engine
	answers := make(map[string]answer)
	note := func(what string, value any, err error) {
		if err != nil {
			answers[what] = answer{err: err}
			return
		}
		text, err := json.Marshal(value)
		answers[what] = answer{string(text), err}
	}
	keep := func(what string) func(value any, err error) {
		return func(value any, err error) { note(what, value, err) }
	}
	keep("sessions")(orAny(carrel.Items(e.Sessions(ctx, scope, &carrel.SessionsRequest{}))))
	for i, id := range sp.sessions {
		of := fmt.Sprintf(" of session %d", i)
		keep("messages" + of)(orAny(e.Messages(ctx, scope, &carrel.MessagesRequest{Session: id})))
		keep("context" + of)(orAny(e.Context(ctx, scope, &carrel.ContextRequest{Session: id})))
		keep("export" + of)(orAny(e.Export(ctx, scope, &carrel.ExportRequest{Session: id})))
		keep("whole" + of)(orAny(e.Export(ctx, scope, &carrel.ExportRequest{Session: id, Whole: true})))
		keep("contract" + of)(orAny(e.Contract(ctx, scope, &carrel.SessionRequest{Session: id})))
		keep("stats" + of)(orAny(e.Stats(ctx, scope, &carrel.SessionRequest{Session: id})))
		keep("state" + of)(orAny(e.State(ctx, scope, &carrel.SessionRequest{Session: id})))
	}
	keep("last session")(orAny(e.FindSession(ctx, scope, &carrel.WordRequest{Word: "@last"})))
	keep("summary")(orAny(e.Summary(ctx, scope, &carrel.SessionRequest{Session: sp.sessions[0]})))
	keep("summary by recall")(orAny(e.Recall(ctx, scope, &carrel.RecallRequest{Block: "sum_"})))
	for i, id := range sp.blocks {
		keep(fmt.Sprintf("recall of block %d", i))(orAny(e.Recall(ctx, scope, &carrel.RecallRequest{Block: string(id)})))
		if i%5 == 3 {
			keep(fmt.Sprintf("text of block %d", i))(orAny(e.Recall(ctx, scope, &carrel.RecallRequest{Block: string(id), Text: true})))
			keep(fmt.Sprintf("why of block %d", i))(orAny(e.Why(ctx, scope, &carrel.BlockRequest{Block: string(id)})))
		}
	}
	for _, query := range []string{"pod-2", "deploy billing"} {
		keep("search for " + query)(orAny(carrel.Items(e.Search(ctx, scope, &carrel.SearchRequest{Query: query}))))
	}
	keep("artifacts")(orAny(carrel.Items(e.Artifacts(ctx, scope, &carrel.ArtifactsRequest{All: true}))))
	for i, id := range sp.artifacts {
		keep(fmt.Sprintf("artifact %d", i))(orAny(e.Get(ctx, scope, &carrel.GetRequest{ID: string(id)})))
	}
	keep("calls")(orAny(carrel.Items(e.Calls(ctx, scope, &carrel.CallsRequest{}))))
	keep("calls of session 0")(orAny(carrel.Items(e.Calls(ctx, scope, &carrel.CallsRequest{Session: sp.sessions[0]}))))
	keep("latest call")(orAny(carrel.Items(e.Calls(ctx, scope, &carrel.CallsRequest{Cursor: carrel.Cursor{Limit: 1}}))))
	keep("report")(orAny(e.Report(ctx, scope, &carrel.ReportRequest{Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})))
	keep("rewrites")(orAny(e.Rewrites(ctx, scope, &carrel.SessionRequest{Session: sp.sessions[0]})))
	keep("triage")(orAny(e.Triage(ctx, scope, &carrel.TriageRequest{Query: "how many workers?"})))
	keep("reviews")(orAny(carrel.Items(e.Reviews(ctx, scope, &carrel.None{}))))
	keep("log")(orAny(carrel.Items(e.Log(ctx, scope, &carrel.LogRequest{}))))
	keep("manifests")(orAny(carrel.Items(e.Manifests(ctx, scope, &carrel.ManifestsRequest{}))))
	keep("manifests of session 0")(orAny(carrel.Items(e.Manifests(ctx, scope, &carrel.ManifestsRequest{Session: sp.sessions[0]}))))
	for i, id := range sp.manifests {
		m, err := e.Manifest(ctx, scope, &carrel.IDRequest{ID: id})
		var sealed *manifest.Sealed
		if err == nil {
			sealed, err = m.Sealed()
		}
		note(fmt.Sprintf("manifest %d", i), []any{m, sealed}, err)
		keep(fmt.Sprintf("verify manifest %d", i))(orAny(e.VerifyManifest(ctx, scope, &carrel.IDRequest{ID: id})))
		keep(fmt.Sprintf("replay manifest %d", i))(orAny(e.Replay(ctx, scope, &carrel.IDRequest{ID: id})))
	}
	a := auth.NewAuthority(s, sp.key, &auth.AuthorityOptions{Now: func() time.Time { return b.now }})
	keep("credentials")(orAny(a.Credentials(ctx)))
	keep("credential")(orAny(a.Verify(ctx, sp.credential)))
	return answers
}

func orAny[T any](value T, err error) (any, error) { return value, err }

// A row of a table, and how to change it.
type row struct {
	table   string
	columns []string
	values  []any
}

// rows returns all rows of all tables of a store but those that are made of others,
// in order.
func (sp *specimen) rows(t *testing.T) (all []row) {
	t.Helper()
	db := sp.open(t, filepath.Join(t.TempDir(), "store.db"))
	names := strings.SplitSeq(text(t, db, `
		SELECT group_concat(name) FROM (SELECT name FROM pragma_table_list
		WHERE schema = 'main' AND type IN ('table', 'shadow') AND name NOT LIKE 'sqlite%' ORDER BY name)`), ",")
	for name := range names {
		all = append(all, rowsOf(t, db, name)...)
	}
	return all
}

// rowsOf returns all rows of a table, in order.
func rowsOf(t *testing.T, db *sql.DB, name string) (all []row) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+name+" ORDER BY 1, 2")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // Err tells
	columns, err := rows.Columns()
	for err == nil && rows.Next() {
		r := row{name, columns, make([]any, len(columns))}
		into := make([]any, len(columns))
		for i := range into {
			into[i] = &r.values[i]
		}
		err = rows.Scan(into...)
		all = append(all, r)
	}
	if err := errors.Join(err, rows.Err()); err != nil {
		t.Fatal(err)
	}
	return all
}

// open writes the store to a file and opens it, for one who knows no rules.
func (sp *specimen) open(t *testing.T, path string) *sql.DB {
	t.Helper()
	if err := os.WriteFile(path, sp.file, 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=foreign_keys(OFF)&_pragma=ignore_check_constraints(ON)&_pragma=synchronous(OFF)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(1)
	return db
}

func text(t *testing.T, db *sql.DB, query string) (s string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

// where returns the condition that only the row meets.
func (r *row) where() string {
	var parts []string
	for i, c := range r.columns {
		parts = append(parts, fmt.Sprintf("%q IS ?%d", c, i+1))
	}
	return strings.Join(parts, " AND ")
}

// tamper changes one row of a store in a way that a seed decides, and returns what it
// did. Changes that the structure of the table forbids it draws again.
func tamper(ctx context.Context, db *sql.DB, all []row, rnd *rand.Rand) (table, what string) {
	tables := slices.Compact(slices.Collect(func(yield func(string) bool) {
		for i := range all {
			if !yield(all[i].table) {
				return
			}
		}
	}))
	for {
		table := tables[rnd.IntN(len(tables))] // each as often as others, however many rows it has
		var of []row
		for i := range all {
			if all[i].table == table {
				of = append(of, all[i])
			}
		}
		r, other := of[rnd.IntN(len(of))], of[rnd.IntN(len(of))]
		statement, args, what := change(&r, &other, rnd)
		res, err := db.ExecContext(ctx, statement, args...)
		if err != nil {
			continue
		}
		if n, err := res.RowsAffected(); err == nil && n > 0 {
			return table, fmt.Sprintf("%s (%s, %v)", what, statement, args)
		}
	}
}

// change returns a statement that changes a row, given another of the table.
func change(r, other *row, rnd *rand.Rand) (statement string, args []any, what string) {
	c := rnd.IntN(len(r.columns))
	next := len(r.columns) + 1
	set := func(value any, what string) (string, []any, string) {
		return fmt.Sprintf("UPDATE %q SET %q = ?%d WHERE %s AND %q IS NOT ?%d", r.table, r.columns[c], next, r.where(), r.columns[c], next),
			append(slices.Clone(r.values), value), what + " " + r.columns[c]
	}
	switch rnd.IntN(9) {
	case 0, 1:
		return fmt.Sprintf("DELETE FROM %q WHERE %s", r.table, r.where()), r.values, "delete"
	case 2:
		return set(nil, "NULL in")
	case 3, 4:
		return set(other.values[c], "another's")
	case 5: // all but the first column, which is of the key, are those of another row
		var sets []string
		args := slices.Clone(r.values)
		for i := 1; i < len(r.columns); i++ {
			args = append(args, other.values[i])
			sets = append(sets, fmt.Sprintf("%q = ?%d", r.columns[i], len(args)))
		}
		if len(sets) == 0 {
			return set(other.values[c], "another's")
		}
		args = append(args, other.values[len(r.columns)-1])
		return fmt.Sprintf("UPDATE %q SET %s WHERE %s AND %q IS NOT ?%d", r.table, strings.Join(sets, ", "), r.where(), r.columns[len(r.columns)-1], len(args)),
			args, "all of another row"
	case 6:
		columns, values := make([]string, len(r.columns)), slices.Clone(r.values)
		for i := range columns {
			columns[i] = fmt.Sprintf("?%d", i+1)
		}
		values[c] = bend(values[c], rnd)
		return fmt.Sprintf("INSERT INTO %q VALUES (%s)", r.table, strings.Join(columns, ", ")), values, "duplicate with another " + r.columns[c]
	default:
		return set(bend(r.values[c], rnd), "edit")
	}
}

// bend returns another value of the same type.
func bend(value any, rnd *rand.Rand) any {
	switch v := value.(type) {
	case int64:
		return []int64{v + 1, v - 1, 0, v * 2, -v}[rnd.IntN(5)]
	case string:
		if v == "" {
			return "x"
		}
		at := rnd.IntN(len(v))
		return []string{v[:at], v[:at] + "~" + v[at+1:], v + " ", ""}[rnd.IntN(4)]
	case []byte:
		if len(v) == 0 {
			return []byte("x")
		}
		b := slices.Clone(v)
		at := rnd.IntN(len(b))
		b[at] ^= 1 << rnd.IntN(8)
		return [][]byte{v[:at], b, {}, append(slices.Clone(v), 0)}[rnd.IntN(4)]
	}
	return []any{int64(1), "x", []byte("x")}[rnd.IntN(3)]
}

// A row that somebody changed behind the store's back changes no answer: what has to do
// with it fails with an error that says so, and everything else is as before. Check
// finds each change after which anything is not as before. The tables of the index of
// words can hide a hit of a search, which Check finds, too; they cannot make one.
func TestTampered(t *testing.T) {
	t.Parallel()
	sp := newSpecimen(t)
	all := sp.rows(t)
	n := tamperCount(t)
	var mu sync.Mutex
	felt := make(map[string][2]int) // by table: changes that were felt, of all
	const lanes = 8
	var wait sync.WaitGroup
	for lane := range lanes {
		dir := t.TempDir()
		wait.Go(func() {
			for seed := lane; seed < n; seed += lanes {
				path := filepath.Join(dir, fmt.Sprintf("%d.db", seed))
				db := sp.open(t, path)
				table, what := tamper(t.Context(), db, all, rand.New(rand.NewPCG(1, uint64(seed))))
				if err := db.Close(); err != nil {
					t.Errorf("case %d: %v", seed, err)
				}
				found := sp.examine(t, path, fmt.Sprintf("case %d: table %s: %s", seed, table, what), strings.Contains(table, "words"))
				mu.Lock()
				counts := felt[table]
				if counts[1]++; found {
					counts[0]++
				}
				felt[table] = counts
				mu.Unlock()
				if err := os.Remove(path); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	t.Logf("changes that were felt, of all, by table: %v", felt)
}

// examine asks a store that was tampered with, and reports whether anything is other
// than it was.
func (sp *specimen) examine(t *testing.T, path, what string, index bool) (felt bool) {
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		if _, newer := errors.AsType[*store.SchemaError](err); !newer && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: open: %v, want ErrCorrupt", what, err)
		}
		return true
	}
	defer func() {
		if err := s.Close(); err != nil && !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("%s: close: %v", what, err)
		}
	}()
	var differs []string
	for job, got := range sp.ask(t, s) {
		want := sp.answers[job]
		switch {
		case got.err != nil && want.err == nil:
			differs = append(differs, fmt.Sprintf("%s: %v", job, got.err))
			if api.KindOf(got.err) == api.Unexpected {
				t.Errorf("%s\n%s fails with %v, which is no error of the store", what, job, got.err)
			}
		case got.text != want.text:
			differs = append(differs, job)
			if hidden := index && (strings.HasPrefix(job, "search") || job == "triage"); !hidden {
				t.Errorf("%s\n%s succeeds with another answer:\n%s\nwant\n%s", what, job, got.text, want.text)
			}
		}
	}
	b := newBench(t, s, carrel.Options{Counter: quarter{}})
	problems, err := b.Check(t.Context())
	if err != nil {
		t.Errorf("%s\nCheck: %v", what, err)
	}
	if len(differs) > 0 && len(problems) == 0 {
		t.Errorf("%s\nCheck finds nothing, and this is not as it was:\n%s", what, strings.Join(differs, "\n"))
	}
	return len(differs) > 0 || len(problems) > 0
}

// A block that is not as it was written is not recalled; those beside it are.
func TestRecallBesideDamage(t *testing.T) {
	t.Parallel()
	sp := newSpecimen(t)
	path := filepath.Join(t.TempDir(), "store.db")
	db := sp.open(t, path)
	_, err := db.ExecContext(t.Context(), "DELETE FROM block_cell WHERE block_id = ?1", string(sp.blocks[2]))
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for job, got := range sp.ask(t, s) {
		if !strings.HasPrefix(job, "recall of block") {
			continue
		}
		if job == "recall of block 2" {
			if !errors.Is(got.err, store.ErrCorrupt) {
				t.Errorf("%s: %q, %v; want ErrCorrupt", job, got.text, got.err)
			}
		} else if got.err != nil || got.text != sp.answers[job].text {
			t.Errorf("%s: %q, %v; want what it was", job, got.text, got.err)
		}
	}
}
