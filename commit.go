package carrel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/store"
)

// gated is what is kept of the gate's decision. It holds no text.
type gated struct {
	Outcome    assembly.Outcome  `json:"outcome"`
	Reasons    []assembly.Reason `json:"reasons,omitempty"`
	Evaluator  string            `json:"evaluator,omitempty"`
	Confidence ratio.Ratio       `json:"confidence"`
	Policy     string            `json:"policy,omitempty"`
	Manifest   string            `json:"manifest,omitempty"`
	Artifact   store.ArtifactID  `json:"artifact,omitempty"`
	Decided    string            `json:"decided,omitempty"` // by a person: approved, edited or rejected
	By         governance.Actor  `json:"by,omitempty"`
}

// decidedRejected is what a person decided about a memory that stays out.
const decidedRejected = "rejected"

// Policy names everything that decides about contexts and memories: the policy
// of triage, the ladder, and the threshold of the gate. Manifests and verdicts
// are bound to it.
func (e *Engine) Policy() string { return e.policyName }

// Bind binds a verdict to a text, a scope and the policy of now. It is for those
// who judge the very text that they commit; an evaluator elsewhere binds its
// own verdicts.
func (e *Engine) Bind(v *assembly.Verdict, scope governance.Scope, text string) {
	v.Content, v.Scope, v.Policy = digest.Of([]byte(text)), string(scope), e.policyName
}

// Commit passes the outcome of a context, and the memory that is proposed from
// it, through the gate. The confidence comes from outside, always: Carrel
// computes none. What passes is committed: the memory is stored, with its
// lineage, and may enter contexts. What the gate holds is stored apart until a
// person decides, see [Engine.Review], or until it comes again with a verdict
// that passes. What it refuses is not stored, and
// changes nothing at all.
//
// Without a text, only the outcome of the context is recorded, beside its
// manifest.
func (e *Engine) Commit(ctx context.Context, scope governance.Scope, req *CommitRequest) (_ *CommitResult, err error) {
	defer during("commit", &err)

	if req.Manifest == "" && req.Text == "" {
		return nil, fmt.Errorf("%w: neither a manifest nor a memory is given", ErrRequest)
	}
	var res *CommitResult
	err = retry(ctx, func() error {
		res, err = e.commit(ctx, scope, req)
		return err
	})
	return res, err
}

func (e *Engine) commit(ctx context.Context, scope governance.Scope, req *CommitRequest) (*CommitResult, error) {
	var prompt *prompted
	var err error
	if req.Manifest != "" {
		if prompt, err = e.prompted(ctx, scope, req.Manifest); err != nil {
			return nil, err
		}
	} else {
		prompt = &prompted{}
	}
	if err := e.addFrom(ctx, scope, prompt, req.From); err != nil {
		return nil, err
	}
	p := &assembly.Proposal{
		Text: req.Text, Actor: string(e.opts.Actor), Scope: string(scope),
		Prompt: prompt.texts, Lineage: prompt.memories,
	}
	if req.Text != "" {
		for _, text := range []string{req.Text, req.Title, req.Subject} {
			for _, f := range secret.Scan(text) {
				p.Secrets = append(p.Secrets, string(f.Kind))
			}
		}
		if p.Duplicate, err = e.remembered(ctx, scope, e.kept(req).Text); err != nil {
			return nil, err
		}
	} else {
		p.Text = prompt.id // the verdict is on the context as a whole
		p.Prompt = nil
	}
	d := assembly.Gate(p, req.Verdict, &assembly.GatePolicy{Name: e.policyName, Threshold: e.opts.Confidence}, e.now())
	res := &CommitResult{
		Outcome: d.Outcome, Reasons: d.Reasons, Confidence: d.Confidence, Manifest: prompt.id, Review: d.Outcome == assembly.Hold,
	}
	if d.Outcome == assembly.Refuse {
		e.opts.Logger.WarnContext(ctx, "refused a memory", "scope", scope, "reasons", d.Reasons)
		return res, nil
	}
	g := gated{Outcome: d.Outcome, Reasons: d.Reasons, Confidence: d.Confidence, Policy: e.policyName, Manifest: prompt.id}
	if req.Verdict != nil {
		g.Evaluator = req.Verdict.Evaluator
	}
	if err := e.remember(ctx, scope, e.kept(req), res, prompt, g); err != nil {
		return nil, err
	}
	what := prompt.id
	if res.Artifact != nil {
		what = string(res.Artifact.ID)
	}
	list := contract.GateCommitted
	if g.Outcome == assembly.Hold {
		list = contract.GateHeld
	}
	return res, e.noteGate(ctx, scope, prompt.id, what, list)
}

// kept returns a request with what is kept of its texts.
func (e *Engine) kept(req *CommitRequest) *CommitRequest {
	if !e.redacts(req.Redact) {
		return req
	}
	r := *req
	r.Text, r.Title, r.Subject = secret.RedactPersonal(req.Text), secret.RedactPersonal(req.Title), secret.RedactPersonal(req.Subject)
	return &r
}

// remember writes what the gate let through, or holds.
func (e *Engine) remember(ctx context.Context, scope governance.Scope, req *CommitRequest, res *CommitResult, prompt *prompted, g gated) error {
	u := &store.Update{}
	if req.Text != "" {
		id, err := e.newID()
		if err != nil {
			return err
		}
		g.Artifact = store.ArtifactID(id)
		raw, err := json.Marshal(g)
		if err != nil {
			return err
		}
		w := store.Write{Artifact: store.Artifact{
			ID: g.Artifact, Class: provenance.Memory, Status: store.StatusLive, Gate: raw,
		}}
		if g.Outcome == assembly.Hold {
			w.Status = store.StatusHeld
		}
		n := note{Title: req.Title, Subject: req.Subject, TTL: req.TTL, From: prompt.artifacts}
		// What was held and comes again with another verdict is the same memory.
		held, err := e.waiting(ctx, scope, req.Text)
		if err != nil {
			return err
		}
		if held != nil {
			w.ID, w.At, n.OldContent, n.OldAbout = held.ID, held.Version, held.Content, held.About
			g.Artifact = held.ID
			if w.Gate, err = json.Marshal(g); err != nil {
				return err
			}
		}
		if res.Artifact, err = e.write(scope, u, &w, &n, []byte(req.Text)); err != nil {
			return err
		}
		if held != nil {
			u.Edges = append(u.Edges, store.Edge{Derived: w.Content, Source: held.Content, Rel: "review"})
		}
		for _, source := range prompt.cells {
			u.Edges = append(u.Edges, store.Edge{Derived: w.Content, Source: source, Rel: "memory"})
		}
	}
	raw, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if prompt.id != "" {
		u.Outcome = &store.Outcome{Manifest: prompt.id, Actor: e.opts.Actor, Time: e.now(), Data: raw}
	}
	version, err := e.update(ctx, scope, u, string(g.Outcome), g)
	if res.Artifact != nil {
		res.Artifact.Version = version
	}
	return err
}

// noteGate notes in the contract of the session that a context was made with, if
// there is one, what the gate or a person said of the context or of a memory from
// it. The outcome beside the manifest is the record: a contract that is closed, or
// that does not hold, has no note of it, and the log says so.
func (e *Engine) noteGate(ctx context.Context, scope governance.Scope, manifestID, what string, list contract.List) error {
	if manifestID == "" {
		return nil
	}
	m, _, err := e.manifest(ctx, scope, manifestID)
	if err != nil || m.Session == "" {
		return err
	}
	err = retry(ctx, func() error {
		_, err := e.amend(ctx, scope, &AmendContractRequest{Session: m.Session}, &gateNote{what, list}, nil)
		return err
	})
	if errors.Is(err, ErrPolicy) || errors.Is(err, store.ErrNotFound) {
		e.opts.Logger.WarnContext(ctx, "the contract has no note of what the gate said", "session", m.Session, "of", what, "reason", err)
		return nil
	}
	return err
}

// prompted is what a memory may have come from.
type prompted struct {
	id        string // of the manifest
	texts     []string
	memories  []string // texts of the memories among them
	artifacts []store.ArtifactID
	cells     []store.CellID // sorted
}

// prompted reads the context of a manifest.
func (e *Engine) prompted(ctx context.Context, scope governance.Scope, id string) (*prompted, error) {
	m, sealed, err := e.manifest(ctx, scope, id)
	if err != nil {
		return nil, err
	}
	p := &prompted{id: m.ID}
	for _, it := range sealed.Manifest().Items {
		s, ok := it.(*manifest.Segment)
		if !ok {
			continue
		}
		for c, err := range e.store.Cells(ctx, scope, []store.CellID{store.CellID(s.Cell)}) {
			if errors.Is(err, store.ErrGone) {
				break // nothing can be echoed from it any more
			}
			if err != nil {
				return nil, err
			}
			text := string(c.Body)
			if m.Format != FormatText {
				text = unescape(text)
			}
			p.texts, p.cells = append(p.texts, text), append(p.cells, c.ID)
			if s.Class == provenance.Memory || s.Class == provenance.Verified {
				p.memories = append(p.memories, unfence(text))
			}
		}
		if s.Class != "" {
			p.artifacts = append(p.artifacts, store.ArtifactID(s.Ref))
		}
	}
	slices.Sort(p.cells)
	p.cells = slices.Compact(p.cells)
	return p, nil
}

// addFrom adds artifacts that were not in the context.
func (e *Engine) addFrom(ctx context.Context, scope governance.Scope, p *prompted, ids []store.ArtifactID) error {
	for _, id := range ids {
		a, err := e.find(ctx, scope, string(id), false)
		if err != nil {
			return err
		}
		page, err := e.pageOf(ctx, scope, a)
		if err != nil {
			return err
		}
		p.texts = append(p.texts, page.text)
		if a.Class == provenance.Memory || a.Class == provenance.Verified {
			p.memories = append(p.memories, page.text)
		}
		p.artifacts, p.cells = append(p.artifacts, a.ID), append(p.cells, a.Content)
	}
	slices.Sort(p.cells)
	p.cells = slices.Compact(p.cells)
	return nil
}

// unescape makes a piece of JSON readable: what is escaped in its strings
// becomes what it stands for, or a blank.
func unescape(s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		switch s[i+1] {
		case '"', '\\', '/':
			b.WriteByte(s[i+1])
		case 'u':
			b.WriteByte(' ')
			s = s[min(i+6, len(s)):]
			continue
		default:
			b.WriteByte(' ')
		}
		s = s[i+2:]
	}
}

// unfence returns what stands between the first and the last line.
func unfence(text string) string {
	if _, rest, ok := strings.Cut(text, ">"); ok {
		text = rest
	}
	if i := strings.LastIndex(text, "</artifact"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// remembered reports whether a live memory has the same text, but for case and
// white space.
func (e *Engine) remembered(ctx context.Context, scope governance.Scope, text string) (bool, error) {
	found, err := e.store.Pick(ctx, scope, &store.Pick{Address: address(scope, "", []byte(text))}, 100)
	if err != nil {
		return false, err
	}
	now := e.now()
	return slices.ContainsFunc(found, func(a store.Artifact) bool {
		return a.Status == store.StatusLive && !expired(&a, now) && (a.Class == provenance.Memory || a.Class == provenance.Verified)
	}), nil
}

// waiting returns the memory with the same text that waits for a person, or nil.
func (e *Engine) waiting(ctx context.Context, scope governance.Scope, text string) (*store.Artifact, error) {
	found, err := e.store.Pick(ctx, scope, &store.Pick{Address: address(scope, "", []byte(text))}, 100)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(found, func(a store.Artifact) bool { return a.Status == store.StatusHeld })
	if i < 0 {
		return nil, nil
	}
	return &found[i], nil
}

// Reviews returns the memories that wait for a person, oldest first.
func (e *Engine) Reviews(ctx context.Context, scope governance.Scope, _ *None) (_ *List[ReviewEntry], err error) {
	defer during("list reviews", &err)

	rows, err := e.store.Pick(ctx, scope, &store.Pick{Status: store.StatusHeld}, maxReviews)
	if err != nil {
		return nil, err
	}
	list := make([]ReviewEntry, 0, len(rows))
	for i := range rows {
		r, err := e.review(ctx, scope, &rows[i])
		if err != nil {
			return nil, err
		}
		list = append(list, *r)
	}
	return &List[ReviewEntry]{Items: list}, nil
}

// maxReviews is how many memories are listed for review at a time.
const maxReviews = 10_000

// Review returns a memory that was through the gate, whatever became of it.
func (e *Engine) Review(ctx context.Context, scope governance.Scope, req *IDRequest) (_ *ReviewEntry, err error) {
	id := req.ID
	defer during("show review "+id, &err)

	a, err := e.find(ctx, scope, id, false)
	if err != nil {
		return nil, err
	}
	return e.review(ctx, scope, a)
}

func (e *Engine) review(ctx context.Context, scope governance.Scope, a *store.Artifact) (*ReviewEntry, error) {
	if len(a.Gate) == 0 {
		return nil, fmt.Errorf("%w: artifact %s was never at the gate", ErrRequest, a.ID)
	}
	var g gated
	if err := json.Unmarshal(a.Gate, &g); err != nil {
		return nil, fmt.Errorf("%w: gate of artifact %s: %w", store.ErrCorrupt, a.ID, err)
	}
	p, err := e.pageOf(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	r := &ReviewEntry{
		Artifact: e.describeArtifact(a, &p.note), Text: p.text, Reason: p.note.Reason, Reasons: g.Reasons, Evaluator: g.Evaluator,
		Confidence: g.Confidence, Manifest: g.Manifest,
	}
	for _, id := range p.note.From {
		source, err := e.find(ctx, scope, string(id), true)
		if err != nil {
			return nil, err
		}
		n, err := e.noteOf(ctx, scope, source)
		if err != nil {
			return nil, err
		}
		r.From = append(r.From, e.describeArtifact(source, n))
	}
	return r, nil
}

// Decide ends a review. An approved memory counts as verified by the person who
// approved it. A text in place of the one proposed must not hold a credential.
// Two people cannot decide the same: for the second it is an [ErrRequest].
func (e *Engine) Decide(ctx context.Context, scope governance.Scope, d *DecideRequest) (_ *Artifact, err error) {
	defer during("decide review "+d.ID, &err)

	var out *Artifact
	err = retry(ctx, func() error {
		out, err = e.decide(ctx, scope, d)
		return err
	})
	return out, err
}

func (e *Engine) decide(ctx context.Context, scope governance.Scope, d *DecideRequest) (*Artifact, error) {
	a, err := e.find(ctx, scope, d.ID, false)
	if err != nil {
		return nil, err
	}
	if a.Status != store.StatusHeld {
		return nil, fmt.Errorf("%w: artifact %s is %s and does not wait for a decision", ErrRequest, a.ID, a.Status)
	}
	p, err := e.pageOf(ctx, scope, a)
	if err != nil {
		return nil, err
	}
	var g gated
	if err := json.Unmarshal(a.Gate, &g); err != nil {
		return nil, fmt.Errorf("%w: gate of artifact %s: %w", store.ErrCorrupt, a.ID, err)
	}
	by := cmp.Or(d.By, string(e.opts.Actor))
	g.By, g.Decided = governance.Actor(by), decidedRejected
	w := store.Write{Artifact: *a, At: a.Version}
	n, u := p.note, &store.Update{}
	text := p.text
	if d.Approve {
		g.Decided = "approved"
		w.Status, w.Class, n.VerifiedBy = store.StatusLive, provenance.Verified, by
		if d.Text != "" && d.Text != p.text {
			g.Decided, text = "edited", d.Text
		}
		if e.redacts(false) {
			text = secret.RedactPersonal(text)
		}
		if found := secret.Scan(text); len(found) > 0 {
			return nil, fmt.Errorf("%w: it looks as if it held a credential (%s, at byte %d)", ErrPolicy, found[0].Kind, found[0].Start)
		}
		if known, err := e.remembered(ctx, scope, text); err != nil || known {
			return nil, cmp.Or(err, fmt.Errorf("%w: the same is remembered already", ErrPolicy))
		}
	} else {
		w.Status = store.StatusRejected
	}
	if w.Gate, err = json.Marshal(g); err != nil {
		return nil, err
	}
	n.Reason, n.OldContent, n.OldAbout = d.Reason, a.Content, a.About
	out, err := e.write(scope, u, &w, &n, []byte(text))
	if err != nil {
		return nil, err
	}
	// What the first version was made from, this one is, too.
	u.Edges = append(u.Edges, store.Edge{Derived: u.Artifacts[0].Content, Source: a.Content, Rel: "review"})
	if g.Manifest != "" {
		u.Outcome = &store.Outcome{Manifest: g.Manifest, Actor: g.By, Time: e.now(), Data: w.Gate}
	}
	version, err := e.update(ctx, scope, u, "review", g)
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
