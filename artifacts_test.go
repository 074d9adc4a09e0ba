package carrel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/storetest"
)

// A bench is an engine with a clock and sources that a test can turn.
type bench struct {
	*carrel.Engine
	store store.Store

	mu      sync.Mutex
	now     time.Time
	sources map[artifact.Ref]any // content as a string, or an error
	asked   int
}

// newBench returns an engine over s. Equal seeds give equal ids and salts.
func newBench(t testing.TB, s store.Store, opts carrel.Options) *bench {
	t.Helper()
	b := &bench{store: s, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), sources: make(map[artifact.Ref]any)}
	opts.Now = func() time.Time { b.mu.Lock(); defer b.mu.Unlock(); return b.now }
	opts.Rand = rand.NewChaCha8([32]byte{1})
	opts.Sources = artifact.SourceFunc(b.fetch)
	var err error
	if b.Engine, err = carrel.New(s, &opts); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) fetch(_ context.Context, ref artifact.Ref, have *artifact.Have) (*artifact.Fetched, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	switch v := b.sources[ref].(type) {
	case string:
		if have.Holds([]byte(v)) {
			return &artifact.Fetched{Unchanged: true}, nil
		}
		return &artifact.Fetched{Content: []byte(v)}, nil
	case error:
		return nil, v
	}
	return nil, fmt.Errorf("%s: %w", ref, artifact.ErrGone)
}

// turn changes what the clock or a source says.
func (b *bench) turn(f func()) { b.mu.Lock(); defer b.mu.Unlock(); f() }

func (b *bench) put(t testing.TB, reqs ...*carrel.NewArtifact) []carrel.Artifact {
	t.Helper()
	list, err := carrel.Items(b.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: reqs}))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func (b *bench) assemble(t testing.TB, req *carrel.AssembleRequest) *carrel.AssembleResult {
	t.Helper()
	if req.Budget == 0 {
		req.Budget = 4000
	}
	r, err := b.Assemble(t.Context(), scope, req)
	if err != nil {
		t.Fatal(err)
	}
	if r.TokenCount > req.Budget-req.Reserve {
		t.Fatalf("%d tokens of %d less %d", r.TokenCount, req.Budget, req.Reserve)
	}
	return r
}

// commit proposes a memory with a verdict that is bound to it.
func (b *bench) commit(t testing.TB, manifest, text string, confidence float64) *carrel.CommitResult {
	t.Helper()
	v := &assembly.Verdict{Evaluator: "rules", Confidence: confidence}
	b.Bind(v, scope, text)
	r, err := b.Commit(t.Context(), scope, &carrel.CommitRequest{Manifest: manifest, Text: text, Verdict: v})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (b *bench) fingerprint(t testing.TB) digest.Digest {
	t.Helper()
	d, err := storetest.Fingerprint(t.Context(), b.store, scope)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// explain returns why an artifact is in a context, or is not.
func (b *bench) explain(t testing.TB, id string, a carrel.Artifact) manifest.Reason {
	t.Helper()
	sealed, err := carrel.SealedOf(b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: id}))
	if err != nil {
		t.Fatal(err)
	}
	_, reason, ok := sealed.Manifest().Explain(string(a.ID), 0)
	if !ok {
		t.Fatalf("manifest %s does not mention %s", id, a.ID)
	}
	return reason
}

// noise returns letters and digits without an order, as a credential has them.
func noise(n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	rng := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[rng.IntN(len(letters))]
	}
	return string(b)
}

func chunk(text string) *carrel.NewArtifact {
	return &carrel.NewArtifact{Class: provenance.Retrieved, Content: []byte(text)}
}

func TestPutAndGet(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	in := "The deploy needs VPN profile B.\n\x00 and \xff are kept.\n"
	a := b.put(t, &carrel.NewArtifact{Class: provenance.Verified, VerifiedBy: "dana", Title: "VPN", Content: []byte(in), Subject: "deploys"})[0]
	got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(a.ID)[:6]})
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Content) != in {
		t.Errorf("content is %q, want %q", got.Content, in)
	}
	if diff := cmp.Diff(a, got.Artifact); diff != "" {
		t.Errorf("artifact as it was put and as it is got (-put +got):\n%s", diff)
	}
	again := b.put(t, &carrel.NewArtifact{ID: a.ID, Class: provenance.Document, Content: []byte("profile C")})[0]
	if again.ID != a.ID || again.Version <= a.Version {
		t.Errorf("put with the id of %s at %d made %s at %d", a.ID, a.Version, again.ID, again.Version)
	}
	if got, err = b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(a.ID)}); err != nil || string(got.Content) != "profile C" {
		t.Errorf("after the replacement: %q, %v", got.Content, err)
	}
}

// What a context had a part of can be recalled whole, by the id in its fence;
// what may not enter a context cannot.
func TestRecallOfAnArtifact(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	a := b.put(t, chunk("all of the text"))[0]
	req := &carrel.RecallRequest{Block: string(a.ID)}
	got, err := b.Recall(t.Context(), scope, req)
	if err != nil || string(got.Data) != "all of the text" || got.Artifact != a.ID {
		t.Errorf("recall: %+v, %v", got, err)
	}
	if got, err = b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(a.ID), From: 4, To: 6}); err != nil || string(got.Data) != "of" {
		t.Errorf("recall of a range: %+v, %v", got, err)
	}
	for _, job := range []struct {
		do   func() error
		want error
	}{
		{func() error {
			_, err := b.Remove(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(a.ID)}})
			return err
		}, carrel.ErrPolicy},
		{func() error {
			_, err := b.Purge(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(a.ID)}})
			return err
		}, carrel.ErrGone},
	} {
		if err := job.do(); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Recall(t.Context(), scope, req); !errors.Is(err, job.want) {
			t.Errorf("recall: %v, want %v", err, job.want)
		}
	}
	if _, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: "0123"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("recall of nothing: %v, want %v", err, store.ErrNotFound)
	}
}

func TestPutRefuses(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	b.put(t, chunk("something"))
	before := b.fingerprint(t)
	key := "AK" + "IA" + strings.ToUpper(noise(16))
	for name, tt := range map[string]struct {
		req  *carrel.NewArtifact
		want error
	}{
		"no content":                        {&carrel.NewArtifact{Class: provenance.Tool}, carrel.ErrRequest},
		"no class":                          {&carrel.NewArtifact{Content: []byte("x")}, carrel.ErrRequest},
		"a verified memory without a name":  {&carrel.NewArtifact{Class: provenance.Verified, Content: []byte("x")}, carrel.ErrRequest},
		"a name on what is no memory":       {&carrel.NewArtifact{Class: provenance.Tool, VerifiedBy: "dana", Content: []byte("x")}, carrel.ErrRequest},
		"a time to live below 0":            {&carrel.NewArtifact{Class: provenance.Tool, Content: []byte("x"), TTL: new(time.Duration(-1))}, carrel.ErrRequest},
		"an id that is no id":               {&carrel.NewArtifact{Class: provenance.Tool, Content: []byte("x"), ID: "a b"}, carrel.ErrRequest},
		"a credential in the content":       {&carrel.NewArtifact{Class: provenance.Tool, Content: []byte("key: " + key)}, carrel.ErrPolicy},
		"a credential in the title":         {&carrel.NewArtifact{Class: provenance.Tool, Content: []byte("x"), Title: key}, carrel.ErrPolicy},
		"a source that does not exist":      {&carrel.NewArtifact{Class: provenance.Tool, Content: []byte("x"), From: []store.ArtifactID{"none"}}, store.ErrNotFound},
		"good ones before and behind a bad": {&carrel.NewArtifact{Class: provenance.Tool}, carrel.ErrRequest},
	} {
		_, err := carrel.Items(b.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{chunk("good"), tt.req, chunk("good, too")}}))
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: error %v, want %v", name, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error repeats the credential: %v", name, err)
		}
	}
	if after := b.fingerprint(t); after != before {
		t.Error("a refused put changed the store")
	}
	if _, err := carrel.Items(b.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: provenance.Tool, Content: []byte(key), AllowSecrets: true}}})); err != nil {
		t.Errorf("an allowed credential: %v", err)
	}
}

// The dirty bit: what has changed is fetched before anything is served, and
// what cannot be fetched is left out, with the reason.
func TestSourceIsAskedOnAccess(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	b.sources["func:policy"] = "refunds up to $200"
	req := chunk("refunds up to $200")
	req.Source, req.TTL = "func:policy", new(time.Hour)
	a := b.put(t, req)[0]

	ask := func() (*carrel.AssembleResult, string) {
		r := b.assemble(t, &carrel.AssembleRequest{Query: "how much are refunds?"})
		return r, string(r.Data)
	}
	first, text := ask()
	if !strings.Contains(text, "$200") || first.Fetched != 0 {
		t.Errorf("unchanged: %d fetched\n%s", first.Fetched, text)
	}
	b.turn(func() { b.sources["func:policy"] = "refunds up to $400"; b.now = b.now.Add(30 * time.Minute) })
	r, text := ask()
	if strings.Contains(text, "$200") || !strings.Contains(text, "$400") || r.Fetched != 1 {
		t.Errorf("changed: %d fetched\n%s", r.Fetched, text)
	}
	got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(a.ID)})
	if err != nil || string(got.Content) != "refunds up to $400" {
		t.Errorf("get after the change: %q, %v", got.Content, err)
	}
	if want := b.now.Add(time.Hour); !got.Expires.Equal(want) {
		t.Errorf("expires %v, want %v: its time begins when it is fetched", got.Expires, want)
	}
	for _, tt := range []struct {
		err  error
		want manifest.Reason
	}{
		{artifact.ErrGone, manifest.ReasonSourceGone},
		{artifact.ErrForbidden, manifest.ReasonSourceForbidden},
		{artifact.ErrUnavailable, manifest.ReasonSourceUnavailable},
	} {
		b.turn(func() { b.sources["func:policy"] = fmt.Errorf("test: %w", tt.err) })
		r, text := ask()
		if strings.Contains(text, "$400") {
			t.Errorf("%v: the text was served all the same", tt.err)
		}
		if got := b.explain(t, r.Manifest, a); got != tt.want {
			t.Errorf("%v: reason %s, want %s", tt.err, got, tt.want)
		}
		if _, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(a.ID)}); !errors.Is(err, tt.err) {
			t.Errorf("get: %v, want %v", err, tt.err)
		}
	}
	// What was served before is still on record.
	if data, err := b.Replay(t.Context(), scope, &carrel.IDRequest{ID: first.Manifest}); err != nil || !strings.Contains(string(data.Data), "$200") {
		t.Errorf("replay of the first context: %v\n%s", err, data.Data)
	}
}

func TestExpiry(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	req := func(d time.Duration) *carrel.NewArtifact {
		r := chunk(fmt.Sprintf("the answer lives %v", d))
		r.TTL = new(d)
		return r
	}
	list := b.put(t, req(0), req(time.Second), req(time.Hour), chunk("the answer lives for ever"))
	states := func() string {
		r := b.assemble(t, &carrel.AssembleRequest{Query: "how long does the answer live?"})
		s := ""
		for _, a := range list {
			s += string(b.explain(t, r.Manifest, a)) + " "
		}
		return s
	}
	for _, tt := range []struct {
		after time.Duration
		want  string
	}{
		{0, "expired fits fits fits "},
		{time.Second - time.Millisecond, "expired fits fits fits "},
		{time.Millisecond, "expired expired fits fits "},
		{time.Hour, "expired expired expired fits "},
	} {
		b.turn(func() { b.now = b.now.Add(tt.after) })
		if got := states(); got != tt.want {
			t.Errorf("after %v more: %s, want %s", tt.after, got, tt.want)
		}
	}
}

// Nothing but a review lets in what the gate held: not that it was removed or refuted and
// restored, and not that something is put in its place.
func TestOnlyAReviewLetsIn(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	held := b.commit(t, "", "People on this team seem to prefer dark themes.", 0.5)
	id := held.Artifact.ID
	over := &carrel.NewArtifact{ID: id, Class: provenance.Memory, Content: []byte("People prefer dark themes.")}
	is := func(want store.Status, after string) {
		t.Helper()
		got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(id)})
		if err != nil || got.Status != want {
			t.Fatalf("%s it is %v, %v, want %s", after, got, err, want)
		}
	}
	there := func(want store.Status) {
		t.Helper()
		for _, out := range []func() error{
			func() error {
				_, err := b.Remove(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(id)}})
				return err
			},
			func() error {
				_, err := b.Refute(t.Context(), scope, &carrel.RefuteRequest{IDs: []string{string(id)}})
				return err
			},
		} {
			if err := out(); err != nil {
				t.Fatal(err)
			}
			if _, err := carrel.Items(b.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{over}})); !errors.Is(err, carrel.ErrPolicy) {
				t.Errorf("something is put in its place while it is out: %v", err)
			}
			if _, err := b.Restore(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(id)}}); err != nil {
				t.Fatal(err)
			}
			is(want, "there and back")
		}
		if _, err := carrel.Items(b.Put(t.Context(), scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{over}})); !errors.Is(err, carrel.ErrPolicy) {
			t.Errorf("something is put in its place: %v", err)
		}
	}
	there(store.StatusHeld)
	if _, err := b.Decide(t.Context(), scope, &carrel.DecideRequest{ID: string(id)}); err != nil {
		t.Fatal(err)
	}
	is(store.StatusRejected, "rejected")
	there(store.StatusRejected)

	approved := b.commit(t, "", "Builds seem to run on the host db-9.", 0.5)
	id = approved.Artifact.ID
	if _, err := b.Decide(t.Context(), scope, &carrel.DecideRequest{ID: string(id), Approve: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Remove(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(id)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Restore(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(id)}}); err != nil {
		t.Fatal(err)
	}
	is(store.StatusLive, "approved, there and back")
}

// Who names nothing is told so, and not that nothing was found.
func TestNothingIsNamed(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	if _, err := b.Purge(t.Context(), scope, &carrel.IDsRequest{}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("purge: %v", err)
	}
	if _, err := b.Refute(t.Context(), scope, &carrel.RefuteRequest{}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("refute: %v", err)
	}
}

func TestGateAndReview(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	b.put(t, chunk("The staging database listens on port 8443 of the internal host."))
	r := b.assemble(t, &carrel.AssembleRequest{Query: "where does the staging database listen?"})

	good := b.commit(t, r.Manifest, "Deploys to staging go through host db-7 since January.", 0.88)
	if good.Outcome != assembly.Commit || good.Artifact == nil {
		t.Fatalf("confidence 0.88: %+v", good)
	}
	if r := b.commit(t, "", "Deploys to production go through host db-8.", 0.7); r.Outcome != assembly.Commit {
		t.Errorf("confidence 0.7: %+v", r)
	}

	held := b.commit(t, r.Manifest, "People on this team seem to prefer dark themes.", 0.69)
	if held.Outcome != assembly.Hold || held.Artifact == nil || held.Artifact.Status != store.StatusHeld {
		t.Fatalf("confidence 0.69: %+v", held)
	}
	dark := func() bool {
		return strings.Contains(string(b.assemble(t, &carrel.AssembleRequest{Query: "which themes do people prefer?"}).Data), "dark themes")
	}
	if dark() {
		t.Error("a memory that is held is in a context")
	}
	waiting, err := carrel.Items(b.Reviews(t.Context(), scope, &carrel.None{}))
	if err != nil || len(waiting) != 1 || waiting[0].ID != held.Artifact.ID || waiting[0].Text == "" || len(waiting[0].From) != 1 {
		t.Fatalf("reviews: %+v, %v", waiting, err)
	}
	id := string(held.Artifact.ID)
	approved, err := b.Decide(t.Context(), scope, &carrel.DecideRequest{ID: id, Approve: true, By: "dana"})
	if err != nil || approved.Class != provenance.Verified || approved.VerifiedBy != "dana" || approved.Status != store.StatusLive {
		t.Fatalf("approved: %+v, %v", approved, err)
	}
	if !dark() {
		t.Error("an approved memory is in no context")
	}
	if _, err := b.Decide(t.Context(), scope, &carrel.DecideRequest{ID: id}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("a second decision: %v, want %v", err, carrel.ErrRequest)
	}

	again := b.commit(t, r.Manifest, "The lift is out of order on the third floor.", 0.4)
	better := b.commit(t, r.Manifest, "the lift is out of order on the third floor.", 0.9)
	if better.Outcome != assembly.Commit || better.Artifact.ID != again.Artifact.ID {
		t.Errorf("what was held and comes again: %+v, want it as %s", better, again.Artifact.ID)
	}
	if waiting, err := carrel.Items(b.Reviews(t.Context(), scope, &carrel.None{})); err != nil || len(waiting) != 0 {
		t.Errorf("%d memories wait after a better verdict, %v", len(waiting), err)
	}

	other := b.commit(t, r.Manifest, "The office cat is called Query by everybody.", 0.2)
	if _, err := b.Decide(t.Context(), scope, &carrel.DecideRequest{ID: string(other.Artifact.ID)}); err != nil {
		t.Fatal(err)
	}
	if got := b.assemble(t, &carrel.AssembleRequest{Query: "what is the office cat called?"}); strings.Contains(string(got.Data), "everybody") {
		t.Error("a rejected memory is in a context")
	}
	edited := b.commit(t, r.Manifest, "The canteen opens at noon, they say.", 0.2)
	if _, err := b.Decide(t.Context(), scope, &carrel.DecideRequest{ID: string(edited.Artifact.ID), Approve: true, Text: "The canteen opens at 11:30."}); err != nil {
		t.Fatal(err)
	}
	if got := string(b.assemble(t, &carrel.AssembleRequest{Query: "when does the canteen open?"}).Data); !strings.Contains(got, "11:30") || strings.Contains(got, "they say") {
		t.Errorf("an edited memory:\n%s", got)
	}
}

// What the gate refuses changes nothing, and what it holds is no memory.
func TestRefusalChangesNothing(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	known := "The build runs on two cores and takes nine minutes at night."
	b.put(t, &carrel.NewArtifact{Class: provenance.Memory, Content: []byte(known)})
	r := b.assemble(t, &carrel.AssembleRequest{
		Query: "How long does the nightly build take and how many cores does it have for that?", Format: "openai",
	})
	before := b.fingerprint(t)
	for name, text := range map[string]string{
		"a credential": "The token of the bot is ghp" + "_" + noise(36),
		"an echo":      "how long does the nightly build take and how many cores does it have for that",
		"a duplicate":  "the build  runs on two cores and takes\nnine minutes at night.",
		"a loop":       "Remember: " + known,
		"nothing":      " \n.",
	} {
		got := b.commit(t, r.Manifest, text, 0.99)
		if got.Outcome != assembly.Refuse || len(got.Reasons) == 0 {
			t.Errorf("%s: %s %v", name, got.Outcome, got.Reasons)
		}
		if after := b.fingerprint(t); after != before {
			t.Errorf("%s: the refusal changed the store", name)
		}
	}
}

// Confidence below the threshold, missing, no number, late, or bound to
// something else: nothing of it enters a context.
func TestVerdicts(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	zero := 0.0
	for name, change := range map[string]func(v *assembly.Verdict){
		"below the threshold":   func(v *assembly.Verdict) { v.Confidence = 0.6999999 },
		"not a number":          func(v *assembly.Verdict) { v.Confidence = zero / zero },
		"above 1":               func(v *assembly.Verdict) { v.Confidence = 1.0000001 },
		"late":                  func(v *assembly.Verdict) { v.Expires = b.now },
		"on another text":       func(v *assembly.Verdict) { v.Content = digest.Of([]byte("other")) },
		"for another scope":     func(v *assembly.Verdict) { v.Scope = "other" },
		"under another policy":  func(v *assembly.Verdict) { v.Policy = "other" },
		"by nobody":             func(v *assembly.Verdict) { v.Evaluator = "" },
		"by the agent itself":   func(v *assembly.Verdict) { v.Evaluator = "assistant" },
		"missing, as a nil one": nil,
	} {
		text := "The fact of the case " + name + " is harmless."
		v := &assembly.Verdict{Evaluator: "rules", Confidence: 0.95}
		b.Bind(v, scope, text)
		if change == nil {
			v = nil
		} else {
			change(v)
		}
		r, err := b.Commit(t.Context(), scope, &carrel.CommitRequest{Text: text, Verdict: v})
		if err != nil || r.Outcome != assembly.Hold {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	r := b.assemble(t, &carrel.AssembleRequest{Query: "the fact of the case is harmless"})
	if len(r.Used) > 0 {
		t.Errorf("%d memories that were held are in a context", len(r.Used))
	}
}

// What came of a context is a second record beside its manifest.
func TestOutcomeOfAContext(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	b.put(t, chunk("water boils at 100 degrees"))
	r := b.assemble(t, &carrel.AssembleRequest{Query: "when does water boil?"})
	for _, confidence := range []float64{0.69, 0.88} {
		v := &assembly.Verdict{Evaluator: "rules", Confidence: confidence}
		b.Bind(v, scope, r.Manifest)
		got, err := b.Commit(t.Context(), scope, &carrel.CommitRequest{Manifest: r.Manifest, Verdict: v})
		if err != nil {
			t.Fatal(err)
		}
		if want := confidence < 0.7; got.Review != want {
			t.Errorf("confidence %v: review is %v", confidence, got.Review)
		}
	}
	m, err := b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: r.Manifest})
	if err != nil || len(m.Made) != 2 || m.Seal.String() != r.Seal {
		t.Errorf("manifest has %d outcomes and seal %v: %v", len(m.Made), m.Seal, err)
	}
}

// A bad source is recalled with everything made from it, at any depth, and the
// contexts that used any of it are listed.
func TestRefute(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	bad := chunk("The cache may be deleted at any time.")
	bad.Source = "a wiki page"
	a := b.put(t, bad, chunk("The cache holds nothing but thumbnails."))
	first := b.assemble(t, &carrel.AssembleRequest{Query: "may the cache be deleted?"})
	memo := b.commit(t, first.Manifest, "Cleaning scripts are free to drop caches on Mondays.", 0.9)
	second := b.assemble(t, &carrel.AssembleRequest{Query: "are cleaning scripts free to drop caches?"})
	child := b.put(t, &carrel.NewArtifact{Class: provenance.Document, Content: []byte("Runbook: drop caches on Mondays."), From: []store.ArtifactID{memo.Artifact.ID}})

	res, err := b.Refute(t.Context(), scope, &carrel.RefuteRequest{Source: "a wiki page"})
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Clone(res.Artifacts)
	slices.Sort(got)
	want := []store.ArtifactID{a[0].ID, memo.Artifact.ID, child[0].ID}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refuted (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{first.Manifest, second.Manifest}, res.Manifests); diff != "" {
		t.Errorf("contexts that used them (-want +got):\n%s", diff)
	}
	r := b.assemble(t, &carrel.AssembleRequest{Query: "may scripts drop caches on Mondays? may the cache be deleted?"})
	for _, x := range []carrel.Artifact{a[0], *memo.Artifact, child[0]} {
		if got := b.explain(t, r.Manifest, x); got != manifest.ReasonRefuted {
			t.Errorf("%s: %s, want refuted", x.ID, got)
		}
	}
	if strings.Contains(string(r.Data), "Mondays.") || strings.Contains(string(r.Data), "any time") {
		t.Errorf("refuted text is in a context:\n%s", r.Data)
	}
	if _, err := b.Restore(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(a[0].ID)}}); err != nil {
		t.Fatal(err)
	}
	if r := b.assemble(t, &carrel.AssembleRequest{Query: "may the cache be deleted?"}); b.explain(t, r.Manifest, a[0]) != manifest.ReasonFits {
		t.Error("what was restored is in no context")
	}
}

func TestRemoveAndPurge(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	b.sources["func:x"] = "the second text of the secret plan"
	req := chunk("the first text of the secret plan")
	req.Source = "func:x"
	a := b.put(t, req)[0]
	r := b.assemble(t, &carrel.AssembleRequest{Query: "what is the secret plan?", Format: "anthropic"})
	memo := b.commit(t, r.Manifest, "Plans are kept in the drawer of the desk.", 0.9)

	if _, err := b.Remove(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(a.ID)}}); err != nil {
		t.Fatal(err)
	}
	if got := b.assemble(t, &carrel.AssembleRequest{Query: "what is the secret plan?"}); strings.Contains(string(got.Data), "second text") {
		t.Error("what was removed is in a context")
	}
	if got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(a.ID)}); err != nil || got.Status != store.StatusTombstoned {
		t.Errorf("get of what was removed: %v, %v", got, err)
	}
	if data, err := b.Replay(t.Context(), scope, &carrel.IDRequest{ID: r.Manifest}); err != nil || string(data.Data) != string(r.Data) {
		t.Errorf("replay after the removal: %v", err)
	}

	res, err := b.Purge(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(a.ID)}})
	if err != nil {
		t.Fatal(err)
	}
	if res.Derived != 1 || len(res.Artifacts) != 2 || res.Artifacts[1] != memo.Artifact.ID || len(res.Manifests) == 0 {
		t.Errorf("purged: %+v", res)
	}
	for _, id := range []store.ArtifactID{a.ID, memo.Artifact.ID} {
		if _, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(id)}); !errors.Is(err, carrel.ErrGone) {
			t.Errorf("get of what was purged: %v, want %v", err, carrel.ErrGone)
		}
	}
	if _, err := b.Replay(t.Context(), scope, &carrel.IDRequest{ID: r.Manifest}); !errors.Is(err, carrel.ErrGone) {
		t.Errorf("replay after the purge: %v, want %v", err, carrel.ErrGone)
	}
	v, err := b.VerifyManifest(t.Context(), scope, &carrel.IDRequest{ID: r.Manifest})
	if err != nil || v.Erased != 1 || v.Segments == 0 || v.Output {
		t.Errorf("verify after the purge: %+v, %v", v, err)
	}
	if _, err := b.Restore(t.Context(), scope, &carrel.IDsRequest{IDs: []string{string(a.ID)}}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("restore of what was purged: %v, want %v", err, carrel.ErrRequest)
	}
	// No version of the text is anywhere: not in a cell, not behind an index.
	for _, term := range []string{"secret", "plan", "drawer", "desk"} {
		if hits, err := b.store.Hits(t.Context(), scope, []string{term}, 10); err != nil || len(hits) > 0 {
			t.Errorf("%q is found: %v, %v", term, hits, err)
		}
	}
}

func TestStash(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	output := strings.Repeat("ok  package one\n", 400) + "FAIL package two\n" + strings.Repeat("ok  package three\n", 400)
	first, err := b.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(output), Title: "go test ./..."})
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte(output)})
	if err != nil || !again.Known || again.ID != first.ID || again.Pointer != first.Pointer {
		t.Errorf("the same output again: %+v, %v", again, err)
	}
	other, err := b.Stash(t.Context(), "other", &carrel.StashRequest{Content: []byte(output)})
	if err != nil || other.Known {
		t.Errorf("the same output in another scope: known %v, %v", other.Known, err)
	}
	if len(first.Pointer) > 6000 || !strings.Contains(first.Pointer, string(first.ID)) || !strings.Contains(first.Pointer, "package one") || !strings.HasSuffix(first.Pointer, "ok  package three\n") {
		t.Errorf("pointer of %d bytes:\n%s", len(first.Pointer), first.Pointer)
	}
	got, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(first.ID)})
	if err != nil || string(got.Content) != output {
		t.Errorf("the output comes back as %d bytes of %d: %v", len(got.Content), len(output), err)
	}
	r := b.assemble(t, &carrel.AssembleRequest{Query: "which package fails in the go test?"})
	if text := string(r.Data); !strings.Contains(text, "carrel stash get "+string(first.ID)) || len(text) > 4000 {
		t.Errorf("the stash is in a context as %d bytes", len(text))
	}
	if _, err := b.Stash(t.Context(), scope, &carrel.StashRequest{Content: []byte("-----BEGIN RSA PRIV" + "ATE KEY-----\n" + noise(64) + "\n-----END RSA PRIV" + "ATE KEY-----\n")}); !errors.Is(err, carrel.ErrPolicy) {
		t.Errorf("a key: %v, want %v", err, carrel.ErrPolicy)
	}
	if res, err := b.CollectStash(t.Context(), scope, &carrel.CollectRequest{}); err != nil || len(res.Artifacts) != 0 {
		t.Errorf("collected too early: %+v, %v", res, err)
	}
	b.turn(func() { b.now = b.now.Add(carrel.StashTTL) })
	if res, err := b.CollectStash(t.Context(), scope, &carrel.CollectRequest{}); err != nil || len(res.Artifacts) != 1 {
		t.Errorf("collected: %+v, %v", res, err)
	}
	if _, err := b.Get(t.Context(), scope, &carrel.GetRequest{ID: string(first.ID)}); !errors.Is(err, carrel.ErrGone) {
		t.Errorf("after the collection: %v, want %v", err, carrel.ErrGone)
	}
}

// Nothing of another scope is in any output, error or count.
func TestScopesAreIsolated(t *testing.T) {
	s := stores.New(t)
	b := newBench(t, s, carrel.Options{})
	const theirs governance.Scope = "other/tenant"
	canary := "canary-7731"
	b.sources["func:theirs"] = "the " + canary + " sings at dawn and reports revenue"
	list, err := carrel.Items(b.Put(t.Context(), theirs, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{
		{Class: provenance.Verified, VerifiedBy: canary, Title: canary, Content: []byte(canary + " is secret revenue"), Pinned: true},
		{Class: provenance.Retrieved, Content: []byte("old"), Source: "func:theirs", Subject: canary},
	}}))
	if err != nil {
		t.Fatal(err)
	}
	used, err := b.Assemble(t.Context(), theirs, &carrel.AssembleRequest{Query: "what about revenue and the " + canary, Budget: 4000})
	if err != nil {
		t.Fatal(err)
	}
	held, err := b.Commit(t.Context(), theirs, &carrel.CommitRequest{Text: canary + " was proposed."})
	if err != nil {
		t.Fatal(err)
	}
	b.put(t, chunk("our own revenue report sings, too"))
	ids := []string{string(list[0].ID), string(list[1].ID), string(held.Artifact.ID), used.Manifest, string(list[0].ID)[:4], "m_", "@last"}
	absent := []string{"0123456789abcdef", "fedcba9876543210", "00112233aabbccdd", "m_0123456789abcdef", "0123", "m_zz", "@none"}

	ctx := t.Context()
	probes := []func(id string) (any, error){
		func(id string) (any, error) { return b.Get(ctx, scope, &carrel.GetRequest{ID: id}) },
		func(id string) (any, error) { return b.Get(ctx, scope, &carrel.GetRequest{ID: id, Refetch: true}) },
		func(id string) (any, error) { return b.Remove(ctx, scope, &carrel.IDsRequest{IDs: []string{id}}) },
		func(id string) (any, error) { return b.Purge(ctx, scope, &carrel.IDsRequest{IDs: []string{id}}) },
		func(id string) (any, error) { return b.Restore(ctx, scope, &carrel.IDsRequest{IDs: []string{id}}) },
		func(id string) (any, error) {
			return b.PinArtifact(ctx, scope, &carrel.PinArtifactRequest{ID: id, Pinned: true})
		},
		func(id string) (any, error) { return b.Refute(ctx, scope, &carrel.RefuteRequest{IDs: []string{id}}) },
		func(id string) (any, error) { return b.Review(ctx, scope, &carrel.IDRequest{ID: id}) },
		func(id string) (any, error) {
			return b.Decide(ctx, scope, &carrel.DecideRequest{ID: id, Approve: true})
		},
		func(id string) (any, error) {
			return carrel.Items(b.Put(ctx, scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{{Class: provenance.Tool, Content: []byte("x"), From: []store.ArtifactID{store.ArtifactID(id)}}}}))
		},
		func(id string) (any, error) { return b.Recall(ctx, scope, &carrel.RecallRequest{Block: id}) },
		func(id string) (any, error) { return b.Replay(ctx, scope, &carrel.IDRequest{ID: id}) },
		func(id string) (any, error) { return b.VerifyManifest(ctx, scope, &carrel.IDRequest{ID: id}) },
		func(id string) (any, error) {
			return b.DiffManifests(ctx, scope, &carrel.DiffRequest{ID: id, Other: id})
		},
		func(id string) (any, error) {
			return b.Commit(ctx, scope, &carrel.CommitRequest{Manifest: id, Text: "from a context of theirs"})
		},
	}
	lists := []func(word string) (any, error){
		func(w string) (any, error) { return b.Refute(ctx, scope, &carrel.RefuteRequest{Source: w}) },
		func(w string) (any, error) {
			return carrel.Items(b.Artifacts(ctx, scope, &carrel.ArtifactsRequest{All: true, Subject: w}))
		},
		func(string) (any, error) {
			return carrel.Items(b.Artifacts(ctx, scope, &carrel.ArtifactsRequest{All: true}))
		},
		func(w string) (any, error) { return b.Triage(ctx, scope, &carrel.TriageRequest{Query: w}) },
		func(w string) (any, error) {
			r, err := b.Assemble(ctx, scope, &carrel.AssembleRequest{Query: w, Budget: 4000, DryRun: true})
			if err == nil && r.Candidates != 1 {
				err = fmt.Errorf("%d candidates", r.Candidates)
			}
			return r, err
		},
		func(string) (any, error) { return carrel.Items(b.Reviews(ctx, scope, &carrel.None{})) },
		func(string) (any, error) { return carrel.Items(b.Manifests(ctx, scope, &carrel.ManifestsRequest{})) },
		func(string) (any, error) { return carrel.Items(b.Log(ctx, scope, &carrel.LogRequest{})) },
		func(string) (any, error) { return b.CollectStash(ctx, scope, &carrel.CollectRequest{DryRun: true}) },
	}
	words := []string{"revenue", "secret dawn", "report", "sings", ""}
	rng := rand.New(rand.NewPCG(7, 31))
	asked := b.asked
	for range probeCount(t) {
		if rng.IntN(3) == 0 {
			w := words[rng.IntN(len(words))]
			out, err := lists[rng.IntN(len(lists))](w)
			check(t, canary, out, err)
			continue
		}
		probe, k := probes[rng.IntN(len(probes))], rng.IntN(len(ids))
		out, err := probe(ids[k])
		check(t, canary, out, err)
		if err == nil {
			t.Fatalf("a probe for %s succeeded: %+v", ids[k], out)
		}
		_, none := probe(absent[k])
		if got, want := strings.ReplaceAll(err.Error(), ids[k], "X"), strings.ReplaceAll(none.Error(), absent[k], "X"); got != want {
			t.Fatalf("what is theirs is told from what is not there:\n%s\n%s", got, want)
		}
	}
	if b.asked != asked {
		t.Error("a source of theirs was asked")
	}
}

// check fails if a canary is in an output or an error.
func check(t *testing.T, canary string, out any, err error) {
	t.Helper()
	raw, _ := json.Marshal(out)
	if strings.Contains(string(raw), canary) || err != nil && strings.Contains(err.Error(), canary) {
		t.Fatalf("the canary is in %s, %v", raw, err)
	}
}

// Whatever was made from what: refuting and purging reach exactly the
// descendants, and no context has any of them afterwards.
func TestLineage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stores.New(t)
		e, err := carrel.New(s, &carrel.Options{Counter: quarter{}})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		n := rapid.IntRange(1, 12).Draw(t, "artifacts")
		from := make([][]int, n)
		id := func(i int) store.ArtifactID { return store.ArtifactID(fmt.Sprintf("a%02d", i)) }
		for i := range n {
			req := &carrel.NewArtifact{ID: id(i), Class: provenance.Memory, Content: fmt.Appendf(nil, "word number%dx", i)}
			for k := range i {
				if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
					from[i] = append(from[i], k)
					req.From = append(req.From, id(k))
				}
			}
			if _, err := carrel.Items(e.Put(ctx, scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{req}})); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 4).Draw(t, "again") == 0 { // a second version, from the same
				req.Content = fmt.Appendf(nil, "word number%dx, again", i)
				if _, err := carrel.Items(e.Put(ctx, scope, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{req}})); err != nil {
					t.Fatal(err)
				}
			}
		}
		bad := rapid.IntRange(0, n-1).Draw(t, "bad")
		want := map[int]bool{bad: true}
		for i := bad + 1; i < n; i++ {
			for _, k := range from[i] {
				if want[k] {
					want[i] = true
				}
			}
		}
		purge := rapid.Bool().Draw(t, "purge")
		status := store.StatusRefuted
		if purge {
			status = store.StatusPurged
			_, err = e.Purge(ctx, scope, &carrel.IDsRequest{IDs: []string{string(id(bad))}})
		} else {
			_, err = e.Refute(ctx, scope, &carrel.RefuteRequest{IDs: []string{string(id(bad))}})
		}
		if err != nil {
			t.Fatal(err)
		}
		list, err := carrel.Items(e.Artifacts(ctx, scope, &carrel.ArtifactsRequest{All: true}))
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			var i int
			if _, err := fmt.Sscanf(string(a.ID), "a%d", &i); err != nil {
				t.Fatal(err)
			}
			if got := a.Status == status; got != want[i] {
				t.Fatalf("artifact %s is %s; it was made from %v, and %d was bad", a.ID, a.Status, from[i], bad)
			}
		}
		r, err := e.Assemble(ctx, scope, &carrel.AssembleRequest{Query: "word", Budget: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if strings.Contains(string(r.Data), fmt.Sprintf("number%dx", i)) {
				t.Fatalf("artifact %d is in a context, and %d was bad", i, bad)
			}
		}
	})
}
