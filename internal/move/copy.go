package move

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

const (
	// The most cells, edges and bytes that are copied with one write.
	cellsAtOnce = 500
	edgesAtOnce = 1000
	bytesAtOnce = 4 << 20

	// journals is the number of sessions whose journals are copied at a time.
	journals = 8
)

// copy copies what the target lacks of a scope.
func (m *mover) copy(ctx context.Context, p *plan) error {
	erased, err := m.erased(ctx, p)
	if err != nil {
		return err
	}
	if err := m.copyText(ctx, p); err != nil {
		return err
	}
	for _, part := range []func(context.Context, *plan) error{m.copyJournals, m.copySessions} {
		if err := part(ctx, p); err != nil {
			return err
		}
	}
	if err := m.copyLog(ctx, p, erased); err != nil {
		return err
	}
	if err := m.copyCalls(ctx, p); err != nil {
		return err
	}
	if err := m.copyRequests(ctx, p); err != nil {
		return err
	}
	return m.copyJobs(ctx, p)
}

// copyJobs makes the jobs of a scope those of the source. No process has them in the copy, so that
// the process that opens it finishes them.
func (m *mover) copyJobs(ctx context.Context, p *plan) error {
	all, err := m.from.AllJobs(ctx, p.scope)
	if err != nil {
		return source(err)
	}
	there, err := m.to.AllJobs(ctx, p.scope)
	if err != nil {
		return err
	}
	for i := range there {
		if err := m.to.EndJob(ctx, &there[i]); err != nil {
			return err
		}
	}
	for i := range all {
		if _, err := m.to.BeginJob(ctx, &all[i], 0); err != nil {
			return err
		}
	}
	return nil
}

// erased returns the cells that were purged in the source since they were copied.
func (m *mover) erased(ctx context.Context, p *plan) (ids []store.CellID, err error) {
	there, err := m.to.AllCells(ctx, p.scope)
	if err != nil {
		return nil, err
	}
	there = slices.DeleteFunc(there, func(id store.CellID) bool { return !p.survey.gone[id] })
	err = cellsOf(ctx, m.to, p.scope, there, func(c *store.Cell) error {
		if !c.Gone {
			ids = append(ids, c.ID)
		}
		return nil
	})
	return ids, err
}

// copyText copies the cells, and then the edges, that the target lacks.
func (m *mover) copyText(ctx context.Context, p *plan) error {
	want, have, err := m.text(ctx, p.scope)
	if err != nil {
		return err
	}
	cells, edges := without(want.cells, have.cells), without(want.edges, have.edges)
	var some []store.Cell
	done, size := 0, 0
	add := func() error {
		err := m.to.AddCells(ctx, p.scope, some, nil)
		done += len(some)
		m.o.Progress("copy: cell", done, len(cells))
		some, size = some[:0], 0
		return err
	}
	err = cellsOf(ctx, m.from, p.scope, cells, func(c *store.Cell) error {
		some = append(some, *c)
		if size += len(c.Body); len(some) < cellsAtOnce && size < bytesAtOnce {
			return nil
		}
		return add()
	})
	if err == nil && len(some) > 0 {
		err = add()
	}
	if err != nil {
		return err
	}
	for some := range slices.Chunk(edges, edgesAtOnce) {
		if err := m.to.AddCells(ctx, p.scope, nil, some); err != nil {
			return err
		}
	}
	return nil
}

// copyJournals copies all missing entries of the sessions except the last of each. Several sessions
// at a time share the waits for the disk.
func (m *mover) copyJournals(ctx context.Context, p *plan) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(journals)
	for i := range p.sessions {
		s := &p.sessions[i]
		if s.want-s.have > 1 {
			g.Go(func() error {
				if err := m.copyJournal(ctx, p, s); err != nil {
					return fmt.Errorf("copy session %s: %w", s.id, err)
				}
				return nil
			})
		}
	}
	return g.Wait()
}

func (m *mover) copyJournal(ctx context.Context, p *plan, s *sessionPlan) error {
	h, err := m.from.Head(ctx, p.scope, s.id)
	if err != nil {
		return source(err)
	}
	// The head of a copy has the figures of the blocks that the copy has.
	head := store.Head{Format: h.Format, Model: h.Model, Encoding: h.Encoding, Created: h.Created, Updated: h.Updated}
	erase := false
	if s.have > 0 {
		if h, err = m.to.Head(ctx, p.scope, s.id); err != nil {
			return err
		}
		head = *h
		if erase, err = m.outdated(ctx, p, s.id); err != nil {
			return err
		}
	}
	for e, err := range m.from.Entries(ctx, p.scope, s.id, s.have) {
		if err != nil {
			return source(err)
		}
		if e.Revision >= s.want {
			break
		}
		c := &store.Change{Head: head, Entry: *e}
		if erase {
			c.Head.Status, c.Erase, erase = store.StatusPurged, true, false
		}
		if s.have, err = m.to.Apply(ctx, p.scope, s.id, s.have, c); err != nil {
			return err
		}
	}
	return nil
}

// copySessions copies the last journal entry of each session, together with everything that the
// session has now.
func (m *mover) copySessions(ctx context.Context, p *plan) error {
	todo := slices.DeleteFunc(slices.Clone(p.sessions), func(s sessionPlan) bool { return s.have == s.want })
	done := 0
	for some := range inBatches(todo, func(s sessionPlan) int { return s.blocks }) {
		var ids []transcript.SessionID
		for i := range some {
			ids = append(ids, some[i].id)
		}
		words, err := m.from.BlockWords(ctx, p.scope, ids)
		if err != nil {
			return source(err)
		}
		have, err := m.to.BlockWords(ctx, p.scope, ids)
		if err != nil {
			return err
		}
		for i := range some {
			s := &some[i]
			if err := m.copySession(ctx, p, s, words[s.id], have[s.id]); err != nil {
				return fmt.Errorf("copy session %s: %w", s.id, err)
			}
			done++
			m.o.Progress("copy: session", done, len(todo))
		}
	}
	return nil
}
