package contexts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/store"
)

// Reviews returns the memories that wait for a review, oldest first, at most maxReviews of them.
func (e *Contexts) Reviews(ctx context.Context, scope governance.Scope, _ *api.None) (_ *api.List[api.ReviewEntry], err error) {
	defer base.During("list reviews", &err)

	rows, err := e.Store.Pick(ctx, scope, &store.Pick{Status: store.StatusHeld}, maxReviews)
	if err != nil {
		return nil, err
	}
	list := make([]api.ReviewEntry, 0, len(rows))
	for i := range rows {
		r, err := e.review(ctx, scope, &rows[i])
		if err != nil {
			return nil, err
		}
		list = append(list, *r)
	}
	return &api.List[api.ReviewEntry]{Items: list}, nil
}

// maxReviews is the most memories that one list of reviews has.
const maxReviews = 10_000

// Review returns a memory that the gate decided about, whatever its present status. It fails with
// [api.ErrGone] if the memory was purged.
func (e *Contexts) Review(ctx context.Context, scope governance.Scope, req *api.IDRequest) (_ *api.ReviewEntry, err error) {
	id := req.ID
	defer base.During("show", &err, "review "+id)

	a, err := e.findMemory(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	return e.review(ctx, scope, a)
}

// findMemory returns the artifact that a review is about.
func (e *Contexts) findMemory(ctx context.Context, scope governance.Scope, id string) (*store.Artifact, error) {
	a, err := e.FindArtifact(ctx, scope, id, false)
	if errors.Is(err, store.ErrNotFound) {
		err = api.About(api.SubjectArtifact, base.Statef(store.ErrNotFound, "there is no memory %q in scope %s", id, scope))
	}
	return a, err
}

func (e *Contexts) review(ctx context.Context, scope governance.Scope, a *store.Artifact) (*api.ReviewEntry, error) {
	if len(a.Gate) == 0 {
		return nil, fmt.Errorf("%w: artifact %s never went through the gate, so it has no review", api.ErrRequest, a.ID)
	}
	g, err := stacks.ReadGate(a)
	if err != nil {
		return nil, err
	}
	p, err := e.Resident(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	r := &api.ReviewEntry{
		Artifact: e.DescribeArtifact(a, &p.Note), Text: p.Text, Reason: p.Note.Reason, Reasons: g.Reasons, Evaluator: g.Evaluator,
		Confidence: g.Confidence, Manifest: g.Manifest,
	}
	for _, id := range p.Note.From {
		source, err := e.FindArtifact(ctx, scope, string(id), true)
		if err != nil {
			return nil, err
		}
		n, err := e.NoteOf(ctx, scope, source)
		if err != nil {
			return nil, err
		}
		r.From = append(r.From, e.DescribeArtifact(source, n))
	}
	return r, nil
}

// Decide records a reviewer's decision and ends the review.
func (e *Contexts) Decide(ctx context.Context, scope governance.Scope, d *api.DecideRequest) (_ *api.Artifact, err error) {
	defer base.During("decide", &err, "review "+d.ID)

	return base.Retry(ctx, func() (*api.Artifact, error) { return e.decide(ctx, scope, d) })
}

func (e *Contexts) decide(ctx context.Context, scope governance.Scope, d *api.DecideRequest) (*api.Artifact, error) {
	a, err := e.findMemory(ctx, scope, d.ID)
	if err != nil {
		return nil, err
	}
	if a.Status != store.StatusHeld {
		return nil, fmt.Errorf("%w: it does not wait for a decision: its status is %s", api.ErrRequest, a.Status)
	}
	p, err := e.Resident(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	g, err := stacks.ReadGate(a)
	if err != nil {
		return nil, err
	}
	by := cmp.Or(d.By, string(e.Opts.Actor))
	g.By, g.Decided = governance.Actor(by), stacks.DecidedRejected
	w := store.Write{Artifact: *a, At: a.Version}
	n, u := p.Note, &store.Update{}
	text := p.Text
	if d.Approve {
		g.Decided = "approved"
		w.Status, w.Class, n.VerifiedBy = store.StatusLive, provenance.Verified, by
		if d.Text != "" && d.Text != p.Text {
			g.Decided, text = "edited", d.Text
		}
		if e.Redacts(false) {
			text = secret.RedactPersonal(text)
		}
		if found := secret.Scan(text); len(found) > 0 {
			return nil, api.About(api.SubjectCredential, fmt.Errorf("%w: the content looks like a credential (%s, at byte %d): edit the text", api.ErrPolicy, found[0].Kind, found[0].Start))
		}
		if known, err := e.remembered(ctx, scope, text); err != nil || known {
			return nil, cmp.Or(err, fmt.Errorf("%w: a live memory already has the same text: reject this one", api.ErrPolicy))
		}
	} else {
		w.Status = store.StatusRejected
	}
	if w.Gate, err = json.Marshal(g); err != nil {
		return nil, err
	}
	n.Reason, n.OldContent, n.OldAbout = d.Reason, a.Content, a.About
	out, err := e.AddArtifact(scope, u, &w, &n, []byte(text))
	if err != nil {
		return nil, err
	}
	// The new version derives from the sources of the first one, too.
	u.Edges = append(u.Edges, store.Edge{Derived: u.Artifacts[0].Content, Source: a.Content, Rel: "review"})
	if g.Manifest != "" {
		u.Outcome = &store.ContextOutcome{Manifest: g.Manifest, Actor: g.By, Time: e.Now(), Data: w.Gate}
	}
	version, err := e.Update(ctx, scope, u, "review", g)
	if err != nil {
		return nil, err
	}
	out.Version = version
	list := contract.GateRejected
	if d.Approve {
		list = contract.GateCommitted
	}
	return out, e.noteGate(ctx, scope, g.Manifest, string(a.ID), list)
}
