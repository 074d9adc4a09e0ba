package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/guard"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/storetest"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// probeCount returns the number of requests that TestTwoWorlds makes: CARREL_TEST_PROBES, or a
// number small enough for every run.
func probeCount(t *testing.T) int {
	t.Helper()
	s := os.Getenv("CARREL_TEST_PROBES")
	if s == "" {
		return 8000
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("CARREL_TEST_PROBES=%s is no number above 0", s)
	}
	return n
}

// quarter counts a token for every four bytes.
type quarter struct{}

func (quarter) Count(text string) token.Count { return token.Count(len(text)+3) / 4 }
func (quarter) Encoding() string              { return "quarter" }

// A world is a scope with a guarded engine for an actor who works only there.
type world struct {
	*carrel.Engine
	scope  governance.Scope
	canary string // a text that is in all records of the scope, and nowhere else
	ids    []string
	packet []byte // handoff packet of its session
}

// newWorld returns a filled world, with an engine whose caches other worlds share.
func newWorld(t *testing.T, shared *carrel.Engine, s store.Store, scope governance.Scope, canary string) *world {
	t.Helper()
	who := governance.Actor("who-" + canary)
	grant := governance.Whole(who)
	grant.Scopes = []governance.ScopePattern{governance.ScopePattern(scope)}
	w := &world{Engine: shared.As(who, guard.New(s, grant, clock)), scope: scope, canary: canary}
	w.fill(t)
	return w
}

// session is the id of a session that each world has, with the same ids of blocks.
const session transcript.SessionID = "s-shared"

// notes is the id of an artifact that each world has.
const notes store.ArtifactID = "notes"

func (w *world) messages() []json.RawMessage {
	var all []json.RawMessage
	for i := range 6 {
		all = append(all,
			json.RawMessage(fmt.Sprintf(`{"role":"user","content":"task %d: why does the %s report no revenue?"}`, i, w.canary)),
			json.RawMessage(fmt.Sprintf(`{"role":"assistant","content":"I look at the report.","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"Read","arguments":"{\"path\":\"%s.go\"}"}}]}`, i, w.canary)),
			json.RawMessage(fmt.Sprintf(`{"role":"tool","tool_call_id":"call_%d","content":"%s line %d of the revenue report\n%s"}`, i, w.canary, i, strings.Repeat("more of it\\n", 60))),
			json.RawMessage(fmt.Sprintf(`{"role":"assistant","content":"The %s was found: decided to use plan %d."}`, w.canary, i)))
	}
	return all
}

// fill does a job of every kind.
func (w *world) fill(t *testing.T) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	ctx := t.Context()
	_, err := w.Append(ctx, w.scope, &carrel.AppendRequest{Session: session, Messages: w.messages()})
	must(err)
	_, err = w.AmendContract(ctx, w.scope, &carrel.AmendContractRequest{Session: session, Decisions: []string{"use " + w.canary}, Questions: []string{"where is " + w.canary + "?"}})
	must(err)
	_, err = w.Compress(ctx, w.scope, &carrel.CompressRequest{Session: session, Target: carrel.Target{Share: 500_000}})
	must(err)
	list, err := carrel.Items(w.Put(ctx, w.scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{
		{ID: notes, Class: provenance.Document, Title: w.canary, Content: []byte("the " + w.canary + " and its revenue"), Source: w.canary, Subject: "revenue"},
		{Class: provenance.Verified, VerifiedBy: w.canary, Content: []byte(w.canary + " is true"), Pinned: true},
	}}))
	must(err)
	made, err := carrel.Items(w.Put(ctx, w.scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: provenance.Memory, Content: []byte(w.canary + " follows from the report"), From: []store.ArtifactID{notes}}}}))
	must(err)
	stashed, err := w.Stash(ctx, w.scope, &carrel.StashRequest{Content: []byte(strings.Repeat(w.canary+" of a tool\n", 99)), Title: w.canary})
	must(err)
	used, err := w.Assemble(ctx, w.scope, &carrel.AssembleRequest{Query: "revenue of the " + w.canary, Budget: 4000, Session: session})
	must(err)
	held, err := w.Commit(ctx, w.scope, &carrel.CommitRequest{Manifest: used.Manifest, Text: w.canary + " is to be remembered."})
	must(err)
	packet, err := w.Handoff(ctx, w.scope, &carrel.HandoffRequest{Session: session, Next: "look for " + w.canary})
	must(err)
	w.packet = []byte(packet.Packet.Markdown())
	w.ids = []string{string(session), string(notes), string(stashed.ID), used.Manifest, string(held.Artifact.ID)}
	for _, a := range slices.Concat(list, made) {
		w.ids = append(w.ids, string(a.ID))
	}
	begun, err := w.Begin(ctx, w.scope, &carrel.BeginRequest{Session: session, CallIntent: carrel.CallIntent{Model: w.canary, Reason: w.canary}})
	must(err)
	_, err = w.End(ctx, w.scope, &carrel.EndRequest{Call: begun.Call, State: store.CallFailed, CallOutcome: carrel.CallOutcome{Error: w.canary}})
	must(err)
	_, err = w.KeepRewrite(ctx, w.scope, &carrel.KeepRewriteRequest{Session: session, Rewrite: carrel.Rewrite{
		Chain: digest.Of([]byte("chain")), Kind: store.RewriteHead, Epoch: 1, Messages: 1, Data: []byte(`["` + w.canary + `"]`),
	}})
	must(err)
	w.ids = append(w.ids, begun.Call)
	journal, err := carrel.Items(w.Journal(ctx, w.scope, &carrel.JournalRequest{Session: session}))
	must(err)
	for i := range journal {
		w.ids = append(w.ids, journal[i].ID)
	}
	blocks, err := w.Messages(ctx, w.scope, &carrel.MessagesRequest{Session: session})
	must(err)
	for i := range blocks.Messages {
		w.ids = append(w.ids, string(blocks.Messages[i].ID))
	}
}

// jobs returns the names of the methods of an engine that have a scope as an argument.
func jobs() []string {
	var names []string
	for m := range reflect.TypeFor[*carrel.Engine]().Methods() {
		if m.Type.NumIn() > 2 && m.Type.In(1) == reflect.TypeFor[context.Context]() && m.Type.In(2) == reflect.TypeFor[governance.Scope]() {
			names = append(names, m.Name)
		}
	}
	return names
}

// A prober makes random requests.
type prober struct {
	rng   *rand.Rand
	words []string
	ids   []string
	data  [][]byte
}

func pick[T any](p *prober, from []T) T { return from[p.rng.IntN(len(from))] }

// arguments returns random arguments for a job, without the context and the scope.
func (p *prober) arguments(job string) []reflect.Value {
	m, _ := reflect.TypeFor[*carrel.Engine]().MethodByName(job)
	var args []reflect.Value
	for i := 3; i < m.Type.NumIn(); i++ {
		kind := m.Type.In(i)
		if m.Type.IsVariadic() && i == m.Type.NumIn()-1 {
			kind = kind.Elem()
		}
		v := reflect.New(kind).Elem()
		if kind.Kind() == reflect.Pointer {
			v.Set(reflect.New(kind.Elem()))
			p.fields(v.Elem())
		} else {
			p.set(v, "")
		}
		args = append(args, v)
	}
	return args
}

// fields fills in a request with random values: some fields mostly, others sometimes.
func (p *prober) fields(v reflect.Value) {
	for f, field := range v.Fields() {
		if f.Anonymous && field.Kind() == reflect.Struct {
			p.fields(field)
			continue
		}
		switch f.Name {
		case "Content", "Query", "ID", "Class", "Text", "Data", "Messages", "Budget", "Session", "Block", "Blocks", "IDs", "Manifest", "File", "Size", "Chain", "Kind", "Epoch":
			if p.rng.IntN(8) > 0 {
				p.set(field, f.Name)
			}
		default:
			if p.rng.IntN(6) == 0 {
				p.set(field, f.Name)
			}
		}
	}
	if class := v.FieldByName("VerifiedBy"); class.IsValid() && v.FieldByName("Class").String() == string(provenance.Verified) {
		class.SetString("somebody")
	}
}

// set sets v, the value of the field name, to a random value that may be valid there.
func (p *prober) set(v reflect.Value, name string) {
	if !v.CanSet() {
		return
	}
	switch v.Kind() { //nolint:exhaustive // other kinds keep their zero value
	case reflect.String:
		v.SetString(p.text(v.Type(), name))
	case reflect.Bool:
		v.SetBool(p.rng.IntN(2) == 0)
	case reflect.Int, reflect.Int64, reflect.Int32:
		n := int64(p.rng.IntN(4))
		switch name {
		case "Budget", "Target", "Share":
			n = int64(2000 + p.rng.IntN(4000))
		case "Size":
			n = 1 << 20
		}
		v.SetInt(n)
	case reflect.Slice:
		switch {
		case v.Type() == reflect.TypeFor[json.RawMessage]():
			v.SetBytes([]byte(`{"role":"user","content":"more"}`))
		case v.Type().Elem().Kind() == reflect.Uint8:
			v.SetBytes(slices.Clone(pick(p, p.data)))
		default:
			v.Set(reflect.MakeSlice(v.Type(), 1+p.rng.IntN(2), 2))
			for i := range v.Len() {
				p.set(v.Index(i), name)
			}
		}
	case reflect.Interface:
		if v.Type() == reflect.TypeFor[io.ReaderAt]() {
			v.Set(reflect.ValueOf(bytes.NewReader(pick(p, p.data))))
		}
	case reflect.Array:
		for i := range v.Len() {
			p.set(v.Index(i), name)
		}
	case reflect.Uint8:
		v.SetUint(uint64(1 + p.rng.IntN(4))) //nolint:gosec // it is small
	case reflect.Pointer:
		if v.Type().Elem().Kind() != reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
			p.set(v.Elem(), name)
		}
	}
}

func (p *prober) text(kind reflect.Type, name string) string {
	switch {
	case kind == reflect.TypeFor[provenance.Class]():
		return string(pick(p, provenance.Classes()))
	case kind == reflect.TypeFor[store.RewriteKind]():
		return pick(p, []string{"head", "message"})
	case kind == reflect.TypeFor[transcript.SessionID]():
		return pick(p, []string{string(session), string(session), "@last", "s-new", pick(p, p.ids)})
	case kind == reflect.TypeFor[store.ArtifactID](), name == "ID", name == "IDs", name == "Block", name == "Blocks", name == "Op", name == "Manifest", name == "":
		id := pick(p, p.ids)
		return pick(p, []string{id, id, id, id[:1+p.rng.IntN(len(id))], "@last"})
	case name == "Query", name == "Text", name == "Next", name == "Title", name == "Subject", name == "Source":
		return pick(p, p.words)
	case name == "Format", name == "To":
		return pick(p, []string{"openai", "anthropic", "text"})
	}
	return ""
}

// do calls a job in a scope and returns its results and its error.
func (w *world) do(ctx context.Context, job string, in governance.Scope, args []reflect.Value) (results []reflect.Value, err error) {
	all := append([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(in)}, args...)
	out := reflect.ValueOf(w.Engine).MethodByName(job).Call(all)
	err, _ = reflect.TypeAssert[error](out[len(out)-1])
	return out[:len(out)-1], err
}

// holds reports whether a text is anywhere in a value.
func holds(v reflect.Value, text string, depth int) bool {
	switch v.Kind() { //nolint:exhaustive // other kinds have no text
	case reflect.String:
		return strings.Contains(v.String(), text)
	case reflect.Pointer, reflect.Interface:
		return depth > 0 && !v.IsNil() && holds(v.Elem(), text, depth-1)
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
			return strings.Contains(string(v.Bytes()), text)
		}
		for i := range v.Len() {
			if holds(v.Index(i), text, depth) {
				return true
			}
		}
	case reflect.Map:
		for k, e := range v.Seq2() {
			if holds(k, text, depth) || holds(e, text, depth) {
				return true
			}
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			if holds(f, text, depth) {
				return true
			}
		}
	}
	return false
}

// has reports whether a text is in the results or the error of a job.
func has(text string, results []reflect.Value, err error) bool {
	return err != nil && strings.Contains(err.Error(), text) ||
		slices.ContainsFunc(results, func(v reflect.Value) bool { return holds(v, text, 12) })
}

// Two worlds share a store and the caches of an engine, and have sessions, blocks and artifacts
// with the same ids. No random request in either scope returns a text of the other world, and a
// request in the scope of another world gets the same answer as one in a scope that does not exist.
func TestTwoWorlds(t *testing.T) {
	s := memory.New()
	shared, err := carrel.New(s, &carrel.Options{
		Counter: quarter{}, Now: clock, Rand: rand.NewChaCha8([32]byte{7}), Strategy: carrel.StrategyImportance,
	})
	if err != nil {
		t.Fatal(err)
	}
	ours := newWorld(t, shared, s, "acme/web", "canary-4419")
	theirs := newWorld(t, shared, s, "rival/web", "canary-7731")
	const ghost governance.Scope = "ghost/web"
	p := &prober{
		rng: rand.New(rand.NewPCG(7, 31)), words: []string{"revenue", "the report", "true tool", "plan of the report", "x"},
		ids:  slices.Concat(ours.ids, theirs.ids),
		data: [][]byte{[]byte(strings.ReplaceAll(string(ours.packet), ours.canary, "plan 7")), []byte(`{"messages":[{"role":"user","content":"hello"}]}`), []byte("one more note"), []byte("{}")},
	}
	ctx, names := t.Context(), jobs()
	denied, returned := make(map[string]int), make(map[string]int)
	for i := range probeCount(t) {
		job := pick(p, names)
		args := p.arguments(job)
		turn := i % 40
		if job == "Purge" || job == "Remove" || job == "Refute" {
			turn = -1 // in the own world it would erase the records that the test looks for
		}
		switch turn {
		case 0: // a request of the other world in its own scope, which fills the caches
			if out, err := theirs.do(ctx, job, theirs.scope, args); has(ours.canary, out, err) {
				t.Fatalf("%s: the other world got a text of ours", job)
			} else if has(theirs.canary, out, err) {
				returned[job]++
			}
		case 1:
			if out, err := ours.do(ctx, job, ours.scope, args); has(theirs.canary, out, err) {
				t.Fatalf("%s: our world got a text of the other one: %v", job, err)
			} else if has(ours.canary, out, err) {
				returned[job]++
			}
		default:
			out, err := ours.do(ctx, job, theirs.scope, args)
			_, none := ours.do(ctx, job, ghost, args)
			if has(theirs.canary, out, err) {
				t.Fatalf("%s: a request in their scope returns their text: %v", job, err)
			}
			if got, want := errorText(err, theirs.scope), errorText(none, ghost); got != want {
				t.Fatalf("%s answers otherwise in a scope of theirs than in a missing one:\n%s\n%s", job, got, want)
			}
			if errors.Is(err, governance.ErrDenied) {
				denied[job]++
			}
		}
	}
	for _, job := range names {
		if denied[job] == 0 && job != "Repair" { // Repair does not use the store
			t.Errorf("no request of %s has reached the guard", job)
		}
	}
	if len(returned) < 12 {
		t.Errorf("only %d jobs, %v, have returned a text of their own world: the requests prove little", len(returned), slices.Sorted(maps.Keys(returned)))
	}
	for _, problem := range intact(t, theirs, s) {
		t.Error(problem)
	}
}

// errorText returns the text of an error with the name of the scope replaced.
func errorText(err error, scope governance.Scope) string {
	if err == nil {
		return "nothing"
	}
	return strings.ReplaceAll(err.Error(), string(scope), "SCOPE")
}

// intact returns the log entries of a world by other actors, and a problem if the scope ghost/web,
// to which no grant allows writing, has records.
func intact(t *testing.T, w *world, s store.Store) (problems []string) {
	t.Helper()
	entries, err := carrel.Items(w.Log(t.Context(), w.scope, &carrel.LogRequest{}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		if entries[i].Actor != governance.Actor("who-"+w.canary) {
			problems = append(problems, fmt.Sprintf("the log of the other world has an entry of %s", entries[i].Actor))
		}
	}
	empty, err := storetest.Fingerprint(t.Context(), memory.New(), "ghost/web")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := storetest.Fingerprint(t.Context(), s, "ghost/web"); err != nil || !got.Equal(empty) {
		problems = append(problems, fmt.Sprintf("scope ghost/web has records (%v)", err))
	}
	return problems
}

// A control for TestTwoWorlds: without the guard, random requests return the canary.
func TestTwoWorldsBites(t *testing.T) {
	s := memory.New()
	shared, err := carrel.New(s, &carrel.Options{Counter: quarter{}, Now: clock, Strategy: carrel.StrategyImportance})
	if err != nil {
		t.Fatal(err)
	}
	theirs := newWorld(t, shared, s, "rival/web", "canary-7731")
	open := &world{Engine: shared}
	p := &prober{rng: rand.New(rand.NewPCG(7, 31)), words: []string{"revenue"}, ids: theirs.ids, data: [][]byte{[]byte("note")}}
	for _, job := range []string{"Recall", "Get", "Artifacts", "Messages", "Export", "Contract", "Search", "Sessions", "Reviews", "Assemble", "Calls", "Report", "Rewrites"} {
		found := false
		for range 300 {
			out, err := open.do(t.Context(), job, theirs.scope, p.arguments(job))
			found = found || has(theirs.canary, out, err)
		}
		if !found {
			t.Errorf("without a guard, %s does not return the canary", job)
		}
	}
}
