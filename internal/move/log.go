package move

import (
	"context"
	"fmt"
	"time"

	"github.com/carrel-dev/carrel/store"
)

// A ledger says what each version of a scope wrote, as far as the source still shows it.
type ledger struct {
	artifacts []*store.Artifact // of the source, by position
	first     []store.Version   // version that adds each artifact to a copy
	manifests map[store.Version]string
	outcomes  map[store.Version]store.ContextOutcome
	copied    map[store.ArtifactID]store.Version // versions of the artifacts in the copy
}

// copyLog replays the missing versions of a scope. The first of them also purges cells.
func (m *mover) copyLog(ctx context.Context, p *plan, purge []store.CellID) error {
	if p.have == p.want {
		return nil
	}
	l, err := m.ledger(ctx, p)
	if err != nil {
		return err
	}
	next := make(map[store.Version][]int) // artifacts that a version writes, by position
	for i, a := range l.artifacts {
		if l.copied[a.ID] == 0 {
			next[l.first[i]] = append(next[l.first[i]], i)
		}
		if l.copied[a.ID] != 0 || l.first[i] != a.Version {
			next[a.Version] = append(next[a.Version], i)
		}
	}
	for e, err := range m.from.Log(ctx, p.scope, p.have) {
		if err != nil {
			return source(err)
		}
		v := store.Version(e.Revision)
		if v > p.want {
			break
		}
		u := &store.Update{Entry: *e, Purge: purge}
		purge = nil
		for _, i := range next[v] {
			if err := m.write(ctx, p, l, u, l.artifacts[i], v); err != nil {
				return err
			}
		}
		if id := l.manifests[v]; id != "" {
			if u.Manifest, err = m.from.Manifest(ctx, p.scope, id); err != nil {
				return source(err)
			}
		}
		if o, ok := l.outcomes[v]; ok {
			u.Outcome = &o
		}
		if p.have, err = m.to.Update(ctx, p.scope, u); err != nil {
			return err
		}
		m.o.Progress("copy: version of the artifacts", int(p.have), int(p.want))
	}
	return nil
}

// write adds an artifact in its present state to the update u, which makes version v. If a later
// version wrote the artifact last, the update for that version writes it again.
func (m *mover) write(ctx context.Context, p *plan, l *ledger, u *store.Update, a *store.Artifact, v store.Version) error {
	u.Artifacts = append(u.Artifacts, store.Write{Artifact: *a, At: l.copied[a.ID]})
	l.copied[a.ID] = v
	if a.Version != v {
		return nil
	}
	text := store.ArtifactText{Artifact: a.ID}
	if a.Status == store.StatusLive {
		var about, content []byte
		err := cellsOf(ctx, m.from, p.scope, []store.CellID{a.About, a.Content}, func(c *store.Cell) error {
			if c.ID == a.About {
				about = c.Body
			}
			if c.ID == a.Content {
				content = c.Body
			}
			return nil
		})
		if err == nil {
			text.Text, err = m.o.IndexText(a, about, content)
		}
		if err != nil {
			return source(fmt.Errorf("index artifact %s: %w", a.ID, err))
		}
	}
	u.Index = append(u.Index, text)
	return nil
}

// ledger reads the artifacts and manifests of the source. A store does not say which version has
// added an artifact, only which has written it last. So ledger takes the last version that is
// possible: that of the artifact, of a manifest that uses it, or of an artifact after it.
func (m *mover) ledger(ctx context.Context, p *plan) (*ledger, error) {
	l := &ledger{
		manifests: make(map[store.Version]string), outcomes: make(map[store.Version]store.ContextOutcome),
		copied: make(map[store.ArtifactID]store.Version),
	}
	var err error
	if l.artifacts, err = collect(m.from.Artifacts(ctx, p.scope, 0)); err != nil {
		return nil, source(err)
	}
	used := make(map[store.ArtifactID]store.Version)
	for short, err := range m.from.Manifests(ctx, p.scope, "") { // the newest first
		if err != nil {
			return nil, source(err)
		}
		full, err := m.from.Manifest(ctx, p.scope, short.ID)
		if err != nil {
			return nil, source(err)
		}
		l.manifests[full.Version] = full.ID
		for _, id := range full.Uses {
			used[id] = full.Version
		}
		for _, o := range full.Made {
			l.outcomes[o.Version] = o
		}
	}
	l.first = make([]store.Version, len(l.artifacts))
	limit := p.want
	for i := len(l.artifacts) - 1; i >= 0; i-- {
		a := l.artifacts[i]
		limit = min(limit, a.Version)
		if v, ok := used[a.ID]; ok {
			limit = min(limit, v)
		}
		l.first[i] = limit
	}
	place := 0
	for a, err := range m.to.Artifacts(ctx, p.scope, 0) {
		if err != nil {
			return nil, err
		}
		if place >= len(l.artifacts) || l.artifacts[place].ID != a.ID {
			return nil, &OtherError{p.scope, fmt.Sprintf("artifact %s is another in the source, or is not there", a.ID)}
		}
		place++
		l.copied[a.ID] = a.Version
	}
	return l, nil
}

// copyCalls records the missing calls, and the ends of calls that had none.
func (m *mover) copyCalls(ctx context.Context, p *plan) error {
	for after := int64(0); after < p.lastCall; {
		calls, err := callsAfter(ctx, m.from, p.scope, after)
		if err != nil {
			return source(err)
		}
		there, err := callsAfter(ctx, m.to, p.scope, after)
		if err != nil {
			return err
		}
		if len(calls) == 0 {
			return nil
		}
		var begun, ended []store.Call
		for i, c := range calls {
			if i >= len(there) {
				begin := *c
				begin.State, begin.Outcome = store.CallIntent, nil
				begin.Ended = time.Time{}
				begun = append(begun, begin)
			}
			if c.State != store.CallIntent && (i >= len(there) || !sameEnd(c, there[i])) {
				ended = append(ended, *c)
			}
			after = c.Seq
		}
		for _, some := range [][]store.Call{begun, ended} {
			if len(some) == 0 {
				continue
			}
			if err := m.to.Record(ctx, p.scope, some); err != nil {
				return err
			}
		}
		m.o.Progress("copy: call", int(after), int(p.lastCall))
	}
	return nil
}
