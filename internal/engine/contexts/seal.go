package contexts

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/engine/record"
	"github.com/carrel-dev/carrel/internal/engine/stacks"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// seal makes the manifest of a context and stores it with the segments that the store lacks. It
// returns the id of the manifest and its seal.
func (e *Contexts) seal(ctx context.Context, src *source, chosen *selection, f *fitted, data []byte, tiles []stretch) (id, seal string, err error) {
	known, err := e.KnownSegments(ctx, src.scope, chosen.version, src.req.Session, src.formatName())
	if err != nil {
		return "", "", err
	}
	u := &store.Update{}
	segments, salts, err := e.storeSegments(u, known, tiles, data)
	if err != nil {
		return "", "", err
	}
	m := &manifest.Manifest{}
	if m.Header, err = e.header(u, src, chosen, f.plan.Demand); err != nil {
		return "", "", err
	}
	h := &m.Header
	h.Total, h.Tier, h.Review = settle(segments, f.plan.Total), f.plan.Tier, f.plan.Review
	for _, s := range segments {
		m.Items = append(m.Items, s)
	}
	m.Items = append(m.Items, f.left...)
	slices.SortStableFunc(m.Items, func(x, y manifest.Item) int { return cmp.Compare(rank(x), rank(y)) })
	m.Items = append(m.Items, chosen.fetches...)
	m.Items = append(m.Items, &manifest.Output{Bytes: len(data), Commit: manifest.CommitOutput(salts, data)})
	sealed, err := manifest.Seal(m, e.Opts.Rand)
	if err != nil {
		return "", "", fmt.Errorf("internal error, please report it: seal the manifest: %w", err)
	}
	u.Manifest = &store.Manifest{
		ID: h.ID, Session: src.req.Session, Created: h.Created, Format: h.Format, Tier: h.Tier, Budget: h.Budget,
		Total: h.Total, Seal: sealed.Seal(), Body: sealed.Bytes(), Uses: uses(segments),
	}
	made := stacks.ContextEntry{Manifest: h.ID, Session: src.req.Session, Format: h.Format}
	if _, err := e.Update(ctx, src.scope, u, stacks.OpAssemble, made); err != nil {
		return "", "", err
	}
	known.Keep(m, salts)
	return h.ID, sealed.Seal().String(), nil
}

// rank returns a number by which the items of a manifest are sorted by kind.
func rank(it manifest.Item) int {
	switch it.(type) {
	case *manifest.Segment:
		return 0
	case *manifest.Omission:
		return 1
	case *manifest.Set:
		return 2
	}
	return 3
}

// uses returns the artifacts that are in a context.
func uses(segments []*manifest.Segment) []store.ArtifactID {
	var ids []store.ArtifactID
	for _, s := range segments {
		if s.Class != "" {
			ids = append(ids, store.ArtifactID(s.Ref))
		}
	}
	return ids
}

// storeSegments assigns a cell to each stretch: the cell of an earlier context with the same
// bytes of the same source, or a new cell that it adds to u.
func (e *Contexts) storeSegments(u *store.Update, known *stacks.SegmentsKnown, tiles []stretch, data []byte) ([]*manifest.Segment, []digest.Salt, error) {
	segments := make([]*manifest.Segment, len(tiles))
	salts := make([]digest.Salt, len(tiles))
	keys := make(stacks.SegmentKeys)
	for i := range tiles {
		s := &tiles[i]
		body := data[s.Start:s.End]
		seg := s.Of.segment
		has, ok := known.Find(keys.Next(&seg))
		if !ok || !manifest.CommitSegment(has.Salt, body).Equal(has.Commit) {
			c, err := e.Cell(store.CellSegment, bytes.Clone(body))
			if err != nil {
				return nil, nil, err
			}
			u.Cells = append(u.Cells, c)
			for _, source := range s.Of.sources {
				u.Edges = append(u.Edges, store.Edge{Derived: c.ID, Source: source, Rel: "segment"})
			}
			has = stacks.KnownSegment{Cell: c.ID, Salt: c.Salt, Commit: c.Commit}
		}
		seg.Cell, seg.Commit, seg.Start, seg.Bytes = string(has.Cell), has.Commit, s.Start, s.End-s.Start
		segments[i], salts[i] = &seg, has.Salt
	}
	return segments, salts, nil
}

// settle makes the tokens of the segments sum to total, and returns their sum. The difference is
// the overhead of the format. It is added to the first segment, which is the frame if the context
// has a frame. If the sum is above total, settle changes nothing.
func settle(segments []*manifest.Segment, total token.Count) token.Count {
	var sum token.Count
	for _, s := range segments {
		sum += s.Tokens
	}
	if rest := total - sum; len(segments) > 0 && rest > 0 {
		segments[0].Tokens += rest
		return total
	}
	return sum
}

// header returns the header of a manifest, and adds the cell of the query to u. It does not set the
// total, the tier and the review, which the caller takes from the plan.
func (e *Contexts) header(u *store.Update, src *source, chosen *selection, demand token.Count) (manifest.Header, error) {
	id, err := e.NewID()
	if err != nil {
		return manifest.Header{}, err
	}
	h := manifest.Header{
		ID: "m_" + id, Scope: record.NameFor("scope", cmp.Or(string(src.scope), "none")), Actor: record.NameFor("actor", string(e.Opts.Actor)),
		Created: e.Now(), Session: transcript.SessionID(record.NameFor("session", string(src.req.Session))),
		Version: int64(chosen.version), Policy: e.PolicyName, Format: src.formatName(),
		Encoding: record.NameFor("encoding", src.meter.Counter.Encoding()), Budget: src.req.Budget, Reserve: src.req.Reserve,
		Demand: demand, Semantic: chosen.semantic, SemanticCalls: chosen.calls, Candidates: chosen.candidates,
	}
	if src.held != nil {
		h.Revision = int64(src.held.Head.Revision)
	}
	if src.query != "" {
		c, err := e.Cell(store.CellQuery, []byte(src.query))
		if err != nil {
			return manifest.Header{}, err
		}
		u.Cells = append(u.Cells, c)
		h.Query = string(c.ID)
	}
	return h, nil
}
