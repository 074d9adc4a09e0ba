package enginetest

import (
	"bytes"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
)

var contexts = []check{
	{"A context fits, and its manifest accounts for it", assembled},
	{"A context of a conversation has its window", windowInContext},
	{"What is purged is gone from a context, and the account stays", purgedFromContext},
	{"The gate holds what a person must decide", gated},
}

const question = "How do deploys to staging work, and which VPN profile do they need?"

// facts stores four artifacts: the answer to the query [question], another fact, a note, and a
// document that has expired. It returns them.
func (w *world) facts() []carrel.Artifact {
	w.Helper()
	return try(carrel.Items(w.Put(
		w.ctx(), w.in, &carrel.PutRequest{Artifacts: []*carrel.NewArtifact{
			text("Deploys to staging need VPN profile B and the ticket of the day."),
			text("The staging database listens on port 8443 of the internal host."),
			{Class: provenance.Scratchpad, Content: []byte("deploys VPN staging, ask somebody")},
			{Class: provenance.Document, Title: "old", Content: []byte("Deploys need VPN profile A."), TTL: new(time.Duration(0))},
		}}))).must(w)
}

func assembled(w *world) {
	list := w.facts()
	scored := try(w.Triage(w.ctx(), w.in, &carrel.TriageRequest{Query: question})).must(w)
	w.holds(scored.Candidates == 4 && len(scored.Scored) > 0 && scored.Scored[0].ID == list[0].ID, "%+v", scored)

	for _, format := range []string{carrel.FormatText, "openai", "responses", "anthropic"} {
		req := &carrel.AssembleRequest{Query: question, Budget: 2000, Reserve: 500, System: "Answer <briefly> & well.", Format: format}
		r := try(w.Assemble(w.ctx(), w.in, req)).must(w)
		w.holds(r.TokenCount <= r.Budget-r.Reserve && r.Format == format && bytes.Contains(r.Data, []byte("profile B")), "%s: %+v", format, r)
		w.holds(!bytes.Contains(r.Data, []byte("profile A")) && r.Left[manifest.ReasonExpired] == 1, "%s: what has expired is in: %v", format, r.Left)
		w.same("replay", try(w.Replay(w.ctx(), w.in, &carrel.IDRequest{ID: r.Manifest})).must(w).Data, r.Data)
		v := try(w.VerifyManifest(w.ctx(), w.in, &carrel.IDRequest{ID: r.Manifest})).must(w)
		w.holds(v.Output && v.Seal == r.Seal && v.Segments > 0 && v.Erased == 0, "%s: %+v", format, v)

		m := try(w.Manifest(w.ctx(), w.in, &carrel.IDRequest{ID: r.Manifest})).must(w)
		sealed, err := m.Sealed()
		if err != nil {
			w.Fatal(err)
		}
		h := sealed.Manifest().Header
		w.holds(m.ID == r.Manifest && bytes.Equal(m.Document, sealed.Bytes()) && sealed.Verify() == nil, "%s: %+v", format, m)
		w.holds(h.Total == r.TokenCount && h.Actor == string(Actor) && h.Scope == string(w.in) && h.Created.Equal(m.Created), "%s: %+v", format, h)
	}
	all := try(carrel.Items(w.Manifests(w.ctx(), w.in, &carrel.ManifestsRequest{}))).must(w)
	w.holds(len(all) == 4 && all[0].Format == "anthropic" && all[0].Body == nil, "%+v", all)
	w.same("the newest", try(carrel.Items(w.Manifests(w.ctx(), w.in, &carrel.ManifestsRequest{Session: "", Cursor: carrel.Cursor{Limit: 1}}))).must(w), all[:1])
	last, err := w.Manifest(w.ctx(), w.in, &carrel.IDRequest{ID: "@last"})
	w.holds(err == nil && last.ID == all[0].ID, "@last is %+v, %v", last, err)

	trial := try(w.Assemble(w.ctx(), w.in, &carrel.AssembleRequest{Query: question, Budget: 2000, DryRun: true})).must(w)
	w.holds(trial.Manifest == "" && len(trial.Data) == 0 && trial.TokenCount > 0, "%+v", trial)
	_, err = w.Assemble(w.ctx(), w.in, &carrel.AssembleRequest{Query: question, Budget: 10})
	w.fails("a budget that the question does not fit", err, carrel.ErrBudget)

	w.put(text("Deploys to staging are frozen on Fridays."))
	more := try(w.Assemble(w.ctx(), w.in, &carrel.AssembleRequest{Query: question, Budget: 2000, Format: "anthropic"})).must(w)
	delta := try(w.DiffManifests(w.ctx(), w.in, &carrel.DiffRequest{ID: all[0].ID, Other: more.Manifest})).must(w)
	w.holds(delta.From == all[0].ID && delta.To == more.Manifest && len(delta.Added) > 0 && !delta.Partial, "%+v", delta)
}

func windowInContext(w *world) {
	in := w.imported()
	r := try(w.Assemble(w.ctx(), w.in, &carrel.AssembleRequest{Session: in.Session, Budget: 2 * in.Tokens, Format: "openai"})).must(w)
	w.holds(bytes.Contains(r.Data, []byte("POOL-4711")) && r.Window > 0, "the window is not in the context: %+v", r)
	of := try(carrel.Items(w.Manifests(w.ctx(), w.in, &carrel.ManifestsRequest{Session: in.Session}))).must(w)
	w.holds(len(of) == 1 && of[0].ID == r.Manifest && of[0].Session == in.Session, "%+v", of)
	none := try(carrel.Items(w.Manifests(w.ctx(), w.in, &carrel.ManifestsRequest{Session: "another"}))).must(w)
	w.holds(len(none) == 0, "%+v", none)
}

func purgedFromContext(w *world) {
	list := w.facts()
	r := try(w.Assemble(w.ctx(), w.in, &carrel.AssembleRequest{Query: question, Budget: 2000})).must(w)
	try(w.Purge(w.ctx(), w.in, &carrel.IDsRequest{IDs: []string{string(list[0].ID)}})).must(w)
	_, err := w.Replay(w.ctx(), w.in, &carrel.IDRequest{ID: r.Manifest})
	w.fails("replay of a context of which a part was purged", err, carrel.ErrGone)
	v := try(w.VerifyManifest(w.ctx(), w.in, &carrel.IDRequest{ID: r.Manifest})).must(w)
	w.holds(v.Erased > 0 && !v.Output, "%+v", v)
}

// propose proposes a text as a memory, on the basis of the manifest whose id is the
// argument of. Its verdict has the given confidence, and was given under the given
// policy.
func (w *world) propose(policy, of, text string, confidence float64) *carrel.CommitResult {
	w.Helper()
	return try(w.Commit(w.ctx(), w.in, &carrel.CommitRequest{Manifest: of, Text: text, Title: "<memory>", Verdict: &assembly.Verdict{
		Evaluator: "rules", Confidence: confidence, Content: digest.Of([]byte(text)), Scope: string(w.in), Policy: policy,
	}})).must(w)
}

func gated(w *world) {
	w.facts()
	r := try(w.Assemble(w.ctx(), w.in, &carrel.AssembleRequest{Query: question, Budget: 2000})).must(w)
	sealed, err := carrel.SealedOf(w.Manifest(w.ctx(), w.in, &carrel.IDRequest{ID: r.Manifest}))
	if err != nil {
		w.Fatal(err)
	}
	policy := sealed.Manifest().Header.Policy

	good := w.propose(policy, r.Manifest, "Deploys to production go through host db-7 since January.", 0.88)
	w.holds(good.Outcome == assembly.Commit && good.Artifact != nil && good.Manifest == r.Manifest, "%+v", good)
	bad := w.propose(policy, r.Manifest, "The token of the bot is ghp"+"_"+"abcdefghijklmnopqrstuvwxyz0123456789", 0.99)
	w.holds(bad.Outcome == assembly.Refuse && len(bad.Reasons) > 0 && bad.Artifact == nil, "%+v", bad)
	unbound := w.propose("another policy", r.Manifest, "The lift is out of order on the third floor.", 0.99)
	w.holds(unbound.Outcome != assembly.Commit, "%+v", unbound)

	held := w.propose(policy, r.Manifest, "People on this team seem to prefer dark themes.", 0.4)
	w.holds(held.Outcome == assembly.Hold && held.Review && held.Artifact != nil, "%+v", held)
	waiting := try(carrel.Items(w.Reviews(w.ctx(), w.in, &carrel.None{}))).must(w)
	var texts []string
	for _, e := range waiting {
		texts = append(texts, e.Text)
	}
	w.holds(len(waiting) > 0 && texts[len(texts)-1] == "People on this team seem to prefer dark themes.", "%q wait", texts)
	one := try(w.Review(w.ctx(), w.in, &carrel.IDRequest{ID: string(held.Artifact.ID)})).must(w)
	w.holds(one.Status == store.StatusHeld && one.Evaluator == "rules" && len(one.From) > 0, "%+v", one)

	decision := &carrel.DecideRequest{ID: string(held.Artifact.ID), Approve: true, Reason: "asked around"}
	approved := try(w.Decide(w.ctx(), w.in, decision)).must(w)
	w.holds(approved.Status == store.StatusLive && approved.Class == provenance.Verified && approved.VerifiedBy == string(Actor), "%+v", approved)
	_, err = w.Decide(w.ctx(), w.in, decision)
	w.fails("a second decision", err, carrel.ErrRequest)
	after := try(w.Review(w.ctx(), w.in, &carrel.IDRequest{ID: string(held.Artifact.ID)})).must(w)
	w.holds(after.Reason == "asked around", "%+v", after)
}
