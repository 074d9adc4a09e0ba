package contexts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/store"
)

// Bind sets the fields of a verdict that say what it is about: the text, the scope and the policy
// in use.
func (e *Contexts) Bind(v *assembly.Verdict, scope governance.Scope, text string) {
	v.Content, v.Scope, v.Policy = digest.Of([]byte(text)), string(scope), e.PolicyName
}

// Commit passes the outcome of a context, and a memory proposed from it, through the gate.
func (e *Contexts) Commit(ctx context.Context, scope governance.Scope, req *api.CommitRequest) (_ *api.CommitResult, err error) {
	defer base.During("commit", &err)

	if req.Manifest == "" && req.Text == "" {
		return nil, fmt.Errorf("%w: give the id of a manifest, a memory, or both", api.ErrRequest)
	}
	return base.Retry(ctx, func() (*api.CommitResult, error) { return e.commit(ctx, scope, req) })
}

func (e *Contexts) commit(ctx context.Context, scope governance.Scope, req *api.CommitRequest) (*api.CommitResult, error) {
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
		Text: req.Text, Actor: string(e.Opts.Actor), Scope: string(scope),
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
		p.Text = prompt.id // the verdict is about the context as a whole
		p.Prompt = nil
	}
	d := assembly.Gate(p, req.Verdict, &assembly.GatePolicy{Name: e.PolicyName, Threshold: e.Opts.Confidence}, e.Now())
	res := &api.CommitResult{
		Outcome: d.Outcome, Reasons: base.List(d.Reasons), Confidence: d.Confidence, Manifest: prompt.id, Review: d.Outcome == assembly.Hold,
	}
	if d.Outcome == assembly.Refuse {
		e.Opts.Logger.WarnContext(ctx, "refused a memory", "scope", scope, "reasons", d.Reasons)
		return res, nil
	}
	g := stacks.GateRecord{Outcome: d.Outcome, Reasons: d.Reasons, Confidence: d.Confidence, Policy: e.PolicyName, Manifest: prompt.id}
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

// kept returns the request with its texts redacted, if redaction is on.
func (e *Contexts) kept(req *api.CommitRequest) *api.CommitRequest {
	if !e.Redacts(req.Redact) {
		return req
	}
	r := *req
	r.Text, r.Title, r.Subject = secret.RedactPersonal(req.Text), secret.RedactPersonal(req.Title), secret.RedactPersonal(req.Subject)
	return &r
}

// remember stores a memory that the gate passed or held.
func (e *Contexts) remember(ctx context.Context, scope governance.Scope, req *api.CommitRequest, res *api.CommitResult, prompt *prompted, g stacks.GateRecord) error {
	u := &store.Update{}
	if req.Text != "" {
		id, err := e.NewID()
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
		n := stacks.Note{Title: req.Title, Subject: req.Subject, TTL: req.TTL, From: prompt.artifacts}
		// A held memory that is proposed again with another verdict is the same memory.
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
		if res.Artifact, err = e.AddArtifact(scope, u, &w, &n, []byte(req.Text)); err != nil {
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
		u.Outcome = &store.ContextOutcome{Manifest: prompt.id, Actor: e.Opts.Actor, Time: e.Now(), Data: raw}
	}
	version, err := e.Update(ctx, scope, u, string(g.Outcome), g)
	if res.Artifact != nil {
		res.Artifact.Version = version
	}
	return err
}

// noteGate notes the decision about a context, or about a memory from it, in the contract of the
// session of the context. The outcome stored with the manifest is the authoritative record. If
// the contract is closed or fails, noteGate only logs a warning.
func (e *Contexts) noteGate(ctx context.Context, scope governance.Scope, manifestID, what string, list contract.List) error {
	if manifestID == "" {
		return nil
	}
	m, _, err := e.manifest(ctx, scope, manifestID)
	if err != nil || m.Session == "" {
		return err
	}
	_, err = base.Retry(ctx, func() (*api.AmendContractResult, error) {
		return e.Amend(ctx, scope, &api.AmendContractRequest{Session: m.Session}, &record.GateNote{ID: what, List: list}, nil)
	})
	if errors.Is(err, api.ErrPolicy) || errors.Is(err, store.ErrNotFound) || errors.Is(err, api.ErrGone) || errors.Is(err, store.ErrConflict) {
		e.Opts.Logger.WarnContext(ctx, "the contract has no note of what the gate said", "session", m.Session, "of", what, "reason", err)
		return nil
	}
	return err
}

// prompted holds the sources that a memory may come from: the context that was assembled, and
// artifacts named beside it.
type prompted struct {
	id        string // id of the manifest
	texts     []string
	memories  []string // the elements of texts that come from memories
	artifacts []store.ArtifactID
	cells     []store.CellID // sorted
}

// prompted reads the context of a manifest.
func (e *Contexts) prompted(ctx context.Context, scope governance.Scope, id string) (*prompted, error) {
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
		if s.Class != "" {
			p.artifacts = append(p.artifacts, store.ArtifactID(s.Ref))
		}
		c, err := e.ReadCell(ctx, scope, store.CellID(s.Cell))
		if errors.Is(err, store.ErrGone) {
			continue // a memory cannot repeat a text that is gone
		}
		if err != nil {
			return nil, err
		}
		text := string(c.Body)
		if m.Format != api.FormatText {
			text = unescape(text)
		}
		p.texts, p.cells = append(p.texts, text), append(p.cells, c.ID)
		if isMemory(s.Class) {
			p.memories = append(p.memories, unfence(text))
		}
	}
	slices.Sort(p.cells)
	p.cells = slices.Compact(p.cells)
	return p, nil
}

// addFrom adds to p the artifacts with the given ids, which need not have been in the context.
func (e *Contexts) addFrom(ctx context.Context, scope governance.Scope, p *prompted, ids []store.ArtifactID) error {
	for _, id := range ids {
		a, err := e.FindArtifact(ctx, scope, string(id), false)
		if err != nil {
			return err
		}
		page, err := e.Resident(ctx, scope, a)
		if err != nil {
			return err
		}
		p.texts = append(p.texts, page.Text)
		if isMemory(a.Class) {
			p.memories = append(p.memories, page.Text)
		}
		p.artifacts, p.cells = append(p.artifacts, a.ID), append(p.cells, a.Content)
	}
	slices.Sort(p.cells)
	p.cells = slices.Compact(p.cells)
	return nil
}

// unescape replaces the escapes in JSON strings by the characters that they stand for, or by
// blanks.
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

// unfence returns the text between the first and the last line of a fence.
func unfence(text string) string {
	if _, rest, ok := strings.Cut(text, ">"); ok {
		text = rest
	}
	if i := strings.LastIndex(text, "</artifact"); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}

// remembered reports whether a live memory has the given text, ignoring case and white space.
func (e *Contexts) remembered(ctx context.Context, scope governance.Scope, text string) (bool, error) {
	now := e.Now()
	a, err := e.sameText(ctx, scope, text, func(a store.Artifact) bool {
		return a.Status == store.StatusLive && !stacks.Expired(&a, now) && isMemory(a.Class)
	})
	return a != nil, err
}

// isMemory reports whether the artifacts of a class are memories.
func isMemory(c provenance.Class) bool { return c == provenance.Memory || c == provenance.Verified }

// waiting returns the memory that has the given text and waits for a review, or nil.
func (e *Contexts) waiting(ctx context.Context, scope governance.Scope, text string) (*store.Artifact, error) {
	return e.sameText(ctx, scope, text, func(a store.Artifact) bool { return a.Status == store.StatusHeld })
}

// sameText returns an artifact that has the given text, ignoring case and white space, and for
// which the function holds returns true. It returns nil if there is none.
func (e *Contexts) sameText(ctx context.Context, scope governance.Scope, text string, holds func(store.Artifact) bool) (*store.Artifact, error) {
	found, err := e.Store.Pick(ctx, scope, &store.Pick{Address: stacks.Address(scope, "", []byte(text))}, 100)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(found, holds); i >= 0 {
		return &found[i], nil
	}
	return nil, nil
}
