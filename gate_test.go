package carrel_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/store"
)

// What the gate found stands in the memory, beside the manifest, in the log and in the
// contract of the session; so does what a person decides.
func TestGateIsOnRecord(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Actor: "agent"})
	in := load(t, b.Engine, conversation(t))
	doc := b.put(t, &carrel.NewArtifact{ID: "doc", Class: provenance.Document, Title: "Ports", Content: []byte("The staging database listens on port 8443.")})[0]
	more := b.put(t, &carrel.NewArtifact{ID: "more", Class: provenance.Document, Content: []byte("It was moved to another host.")})[0]
	used := b.assemble(t, &carrel.AssembleRequest{Query: "where does the staging database listen?", Session: in.Session, Budget: 100_000})
	propose := func(text string, confidence float64, from ...store.ArtifactID) *carrel.CommitResult {
		t.Helper()
		v := &assembly.Verdict{Evaluator: "rules", Confidence: confidence}
		b.Bind(v, scope, text)
		r, err := b.Commit(t.Context(), scope, &carrel.CommitRequest{Manifest: used.Manifest, Text: text, Title: "T", Subject: "S", Verdict: v, From: from})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	good := propose("Deploys to staging go through host db-7 since January.", 0.88)
	if good.Review || good.Manifest != used.Manifest || good.Confidence != 880_000 || good.Artifact.Title != "T" || good.Artifact.Subject != "S" || good.Artifact.Class != provenance.Memory {
		t.Errorf("committed: %+v", good)
	}
	held := propose("People on this team seem to prefer dark themes.", 0.5, "more")
	rejected := propose("The lift is out of order on the third floor.", 0.4)
	edited := propose("The canteen opens at noon, they say.", 0.3)
	if !held.Review || held.Artifact.Status != store.StatusHeld || len(held.Reasons) == 0 {
		t.Errorf("held: %+v", held)
	}
	r, err := b.Review(t.Context(), scope, &carrel.IDRequest{ID: string(held.Artifact.ID)[:9]})
	if err != nil {
		t.Fatal(err)
	}
	want := &carrel.ReviewEntry{
		Artifact: *held.Artifact, Text: "People on this team seem to prefer dark themes.", Reasons: held.Reasons,
		Evaluator: "rules", Confidence: 500_000, Manifest: used.Manifest, From: []carrel.Artifact{doc, more},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("review (-want +got):\n%s", diff)
	}
	waiting, err := carrel.Items(b.Reviews(t.Context(), scope, &carrel.None{}))
	if err != nil || len(waiting) != 3 || waiting[0].ID != held.Artifact.ID || waiting[2].ID != edited.Artifact.ID {
		t.Errorf("waiting: %+v, %v", waiting, err)
	}
	if _, err := b.Review(t.Context(), scope, &carrel.IDRequest{ID: "doc"}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("review of what was never at the gate: %v", err)
	}

	lists := func(want map[contract.List][]string) {
		t.Helper()
		state := agreed(t, b.Engine, in.Session)
		for list, want := range want {
			if diff := cmp.Diff(want, state.Texts(list), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", list, diff)
			}
		}
	}
	lists(map[contract.List][]string{
		contract.GateCommitted: {string(good.Artifact.ID)},
		contract.GateHeld:      {string(held.Artifact.ID), string(rejected.Artifact.ID), string(edited.Artifact.ID)},
		contract.GateRejected:  nil,
	})
	b.turn(func() { b.now = b.now.Add(time.Minute) })
	decide := func(d *carrel.DecideRequest) *carrel.Artifact {
		t.Helper()
		a, err := b.Decide(t.Context(), scope, d)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, tt := range []struct {
		of      *carrel.CommitResult
		d       carrel.DecideRequest
		decided string
		status  store.Status
		by      string
		text    string
	}{
		{held, carrel.DecideRequest{Approve: true, By: "dana", Reason: "asked them", Text: "People on this team seem to prefer dark themes."}, "approved", store.StatusLive, "dana", "People on this team seem to prefer dark themes."},
		{rejected, carrel.DecideRequest{Reason: "it works"}, "rejected", store.StatusRejected, "agent", "The lift is out of order on the third floor."},
		{edited, carrel.DecideRequest{Approve: true, Text: "The canteen opens at 11:30."}, "edited", store.StatusLive, "agent", "The canteen opens at 11:30."},
	} {
		tt.d.ID = string(tt.of.Artifact.ID)
		a := decide(&tt.d)
		class, verifiedBy := provenance.Memory, ""
		if tt.d.Approve {
			class, verifiedBy = provenance.Verified, tt.by
		}
		if a.ID != tt.of.Artifact.ID || a.Status != tt.status || a.Class != class || a.VerifiedBy != verifiedBy || a.Version <= tt.of.Artifact.Version || !a.Created.Equal(tt.of.Artifact.Created) {
			t.Errorf("%s: %+v", tt.decided, a)
		}
		var gate struct {
			By, Decided, Outcome string
			Artifact             store.ArtifactID
		}
		if err := json.Unmarshal(a.Gate, &gate); err != nil || gate.By != tt.by || gate.Decided != tt.decided || gate.Outcome != string(assembly.Hold) || gate.Artifact != a.ID {
			t.Errorf("%s: the gate says %+v, %v", tt.decided, gate, err)
		}
		r, err := b.Review(t.Context(), scope, &carrel.IDRequest{ID: tt.d.ID})
		if err != nil || r.Text != tt.text || r.Reason != tt.d.Reason || r.Evaluator != "rules" {
			t.Errorf("%s: review is %+v, %v", tt.decided, r, err)
		}
		m, err := b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: used.Manifest})
		if err != nil {
			t.Fatal(err)
		}
		last := m.Made[len(m.Made)-1]
		if last.Actor != governance.Actor(tt.by) || !last.Time.Equal(b.now) || !jsonEqual(last.Data, a.Gate) || last.Version != a.Version {
			t.Errorf("%s: beside the manifest stands %+v", tt.decided, last)
		}
	}
	log, err := carrel.Items(b.Log(t.Context(), scope, &carrel.LogRequest{Since: 3}))
	var ops []string
	for _, entry := range log {
		ops = append(ops, entry.Op)
	}
	if diff := cmp.Diff([]string{"commit", "hold", "hold", "hold", "review", "review", "review"}, ops); diff != "" || err != nil {
		t.Errorf("the log, %v (-want +got):\n%s", err, diff)
	}
	lists(map[contract.List][]string{
		contract.GateCommitted: {string(good.Artifact.ID), string(held.Artifact.ID), string(edited.Artifact.ID)},
		contract.GateHeld:      nil, // any more
		contract.GateRejected:  {string(rejected.Artifact.ID)},
	})
	// What the first version was made from, the one that a person approved is, too.
	res, err := b.Refute(t.Context(), scope, &carrel.RefuteRequest{IDs: []string{"more"}})
	if err != nil || res.Derived != 1 || res.Artifacts[1] != held.Artifact.ID {
		t.Errorf("refuted with what it was made from: %+v, %v", res, err)
	}
}

func jsonEqual(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && cmp.Equal(x, y)
}

// A decision that would let in a credential, or what is known already, is none.
func TestDecideRefuses(t *testing.T) {
	const person = "dana@example.com"
	b := newBench(t, stores.New(t), carrel.Options{})
	b.put(t, &carrel.NewArtifact{Class: provenance.Memory, Content: []byte("The build takes nine minutes.")})
	b.put(t, &carrel.NewArtifact{Class: provenance.Document, Content: []byte("The canteen opens at noon.")}) // which is no memory
	b.put(t, &carrel.NewArtifact{Class: provenance.Memory, Content: []byte("The lift works again."), TTL: new(time.Second)})
	b.turn(func() { b.now = b.now.Add(time.Minute) }) // by which that has expired
	held := b.commit(t, "", "Ask "+person+" about the roof.", 0.2)
	id := string(held.Artifact.ID)
	other := string(b.put(t, chunk("x"))[0].ID)
	before := b.fingerprint(t)
	key := "AK" + "IA" + strings.ToUpper(noise(16))
	for name, tt := range map[string]struct {
		d    carrel.DecideRequest
		want error
	}{
		"a credential":      {carrel.DecideRequest{ID: id, Approve: true, Text: "The key is " + key}, carrel.ErrPolicy},
		"what is known":     {carrel.DecideRequest{ID: id, Approve: true, Text: "the build takes  nine minutes."}, carrel.ErrPolicy},
		"nothing":           {carrel.DecideRequest{Approve: true}, carrel.ErrRequest},
		"what is not there": {carrel.DecideRequest{ID: "zzz", Approve: true}, store.ErrNotFound},
		"what was not held": {carrel.DecideRequest{ID: other, Approve: true}, carrel.ErrRequest},
	} {
		if a, err := b.Decide(t.Context(), scope, &tt.d); !errors.Is(err, tt.want) || a != nil || err != nil && strings.Contains(err.Error(), key) {
			t.Errorf("%s: %+v, %v, want %v", name, a, err, tt.want)
		}
	}
	if b.fingerprint(t) != before {
		t.Error("what was refused has changed something")
	}
	for _, text := range []string{"The canteen opens at noon.", "The lift works again."} {
		other := b.commit(t, "", "They say that "+strings.ToLower(text), 0.2)
		if _, err := b.Decide(t.Context(), scope, &carrel.DecideRequest{ID: string(other.Artifact.ID), Approve: true, Text: text}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	redacting := newBench(t, stores.New(t), carrel.Options{Redact: true})
	a := redacting.commit(t, "", "Ask the office about the roof.", 0.2)
	if _, err := redacting.Decide(t.Context(), scope, &carrel.DecideRequest{ID: string(a.Artifact.ID), Approve: true, Text: "Ask " + person + " about the roof."}); err != nil {
		t.Fatal(err)
	}
	got, err := redacting.Get(t.Context(), scope, &carrel.GetRequest{ID: string(a.Artifact.ID)})
	if err != nil || string(got.Content) != "Ask "+secret.RedactPersonal(person)+" about the roof." {
		t.Errorf("kept is %q, %v", got.Content, err)
	}
}

// A memory must not say again what it was made from: not what a person named, and not what
// is escaped in a context.
func TestEchoesOfSources(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	b.put(t, &carrel.NewArtifact{ID: "doc", Class: provenance.Document, Content: []byte("The nightly build takes nine minutes on two cores of the old machine.")},
		&carrel.NewArtifact{ID: "mem", Class: provenance.Memory, Content: []byte("Releases are made on the first Monday of a month by two people.")},
		&carrel.NewArtifact{ID: "quoted", Class: provenance.Document, Content: []byte("The sign says \"no\tentry\" on\nthe door\\gate of the <yard> behind the mill.")})
	for _, tt := range []struct {
		name, text string
		from       []store.ArtifactID
		want       assembly.GateOutcome
	}{
		{"another text", "The mill was built in 1901.", []store.ArtifactID{"doc", "mem"}, assembly.Commit},
		{"what the document says", "The nightly build takes nine minutes on two cores of the old machine.", []store.ArtifactID{"doc"}, assembly.Refuse},
		{"what a memory says, and more", "Remember: Releases are made on the first Monday of a month by two people. That is all.", []store.ArtifactID{"mem"}, assembly.Refuse},
	} {
		v := &assembly.Verdict{Evaluator: "rules", Confidence: 0.9}
		b.Bind(v, scope, tt.text)
		r, err := b.Commit(t.Context(), scope, &carrel.CommitRequest{Text: tt.text, From: tt.from, Verdict: v})
		if err != nil || r.Outcome != tt.want {
			t.Errorf("%s: %+v, %v, want %s", tt.name, r, err, tt.want)
		}
	}
	if _, err := b.Commit(t.Context(), scope, &carrel.CommitRequest{Text: "x", From: []store.ArtifactID{"none"}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("from nothing: %v", err)
	}
	if _, err := b.Commit(t.Context(), scope, &carrel.CommitRequest{}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("nothing at all: %v", err)
	}
	for _, format := range []string{"openai", "anthropic", carrel.FormatText} {
		used := b.assemble(t, &carrel.AssembleRequest{Query: "what does the sign on the door behind the mill say?", Format: format})
		got := b.commit(t, used.Manifest, "The sign says \"no entry\" on the door\\gate of the <yard> behind the mill.", 0.9)
		if got.Outcome != assembly.Refuse {
			t.Errorf("an echo of a context as %s: %+v", format, got)
		}
	}
}

// Of each outcome of a context the verdict is bound to the manifest alone, and the manifest
// explains what came in.
func TestManifestExplains(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	pinned := b.put(t, &carrel.NewArtifact{ID: "pin", Class: provenance.Document, Pinned: true, Content: []byte("Always be brief.")})[0]
	found := b.put(t, chunk("Water boils at 100 degrees."))[0]
	r := b.assemble(t, &carrel.AssembleRequest{Query: "when does water boil?", System: "You are a cook."})
	for a, want := range map[*carrel.Artifact]manifest.Reason{&pinned: manifest.ReasonPinned, &found: manifest.ReasonFits} {
		if got := b.explain(t, r.Manifest, *a); got != want {
			t.Errorf("%s is there because of %s, want %s", a.ID, got, want)
		}
	}
	m, err := b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: r.Manifest})
	var sealed *manifest.Sealed
	if err == nil {
		sealed, err = m.Sealed()
	}
	if err != nil {
		t.Fatal(err)
	}
	h := sealed.Manifest().Header
	if h.Query == "" || h.Budget != 4000 || h.Total != r.TokenCount || h.Demand != r.Demand || h.Tier != r.Tier || h.Session != "" || m.Total != r.TokenCount {
		t.Errorf("the header is %+v", h)
	}
	none := b.assemble(t, &carrel.AssembleRequest{System: "You are a cook."})
	if sealed, err = carrel.SealedOf(b.Manifest(t.Context(), scope, &carrel.IDRequest{ID: none.Manifest})); err != nil || sealed.Manifest().Header.Query != "" {
		t.Errorf("without a question the header is %+v, %v", sealed.Manifest().Header, err)
	}
}
