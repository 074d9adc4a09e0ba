package stacks

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Resident is an artifact in memory, also called its page. It has values that are computed once:
// the text for a context, its tokens, its words. All of them follow from row, note and text, so a
// page can be shared and dropped at any time.
type Resident struct {
	Row  store.Artifact
	Note Note
	Text string
	cell store.Cell // the content, without its body

	mu          sync.Mutex
	rendered    string
	neutralized int
	counts      map[string]token.Count // tokens of rendered, by encoding
	words       *retrieval.Analysis    // of text
}

// ContextText returns the text of the artifact for a context: escaped, so that no line looks like
// a mark of Carrel, or a pointer if the artifact is in the stash.
func (p *Resident) ContextText() string {
	if p.Row.Source != SourceStash {
		return transcript.Escape(p.Text)
	}
	return pager.ShortPointer(string(p.Row.ID), p.Text)
}

// indexed returns the stems of the artifact's words, for the index of the store, so that a query
// matches every form of a word.
func (p *Resident) indexed() string {
	if p.Row.Status != store.StatusLive {
		return ""
	}
	return strings.Join(retrieval.Stems(p.Note.Title+"\n"+p.Note.Subject+"\n"+p.Text), " ")
}

// IndexText returns the text by which the store finds an artifact, given the bodies of its cells
// About and Content.
func IndexText(a *store.Artifact, about, content []byte) (string, error) {
	p := &Resident{Row: *a, Text: string(content)}
	if err := json.Unmarshal(about, &p.Note); err != nil {
		return "", fmt.Errorf("%w: decode the metadata of artifact %s: %w", store.ErrCorrupt, a.ID, err)
	}
	return p.indexed(), nil
}

// Render returns the artifact as a context carries it: in a fence, with invisible characters made
// visible. It also returns the number of these characters.
func (p *Resident) Render() (string, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.renderLocked()
}

func (p *Resident) renderLocked() (string, int) {
	if p.rendered == "" {
		p.rendered, p.neutralized = p.fence(p.ContextText())
	}
	return p.rendered, p.neutralized
}

// fence returns text in the fence of the artifact, with its invisible characters made visible, and
// the number of these characters.
func (p *Resident) fence(text string) (string, int) {
	text, n := assembly.Neutralize(text)
	return assembly.Fence(p.FenceSource(), text), n
}

// FenceSource returns what the fence says of the artifact, such as its class and source.
func (p *Resident) FenceSource() assembly.Origin {
	return assembly.Origin{
		ID: string(p.Row.ID), Class: p.Row.Class, Origin: cmp.Or(p.Note.Source, p.Note.Title),
		Created: p.Row.Created.Format("2006-01-02"),
	}
}

// Tokens returns the tokens of the rendered artifact.
func (p *Resident) Tokens(c token.Counter) token.Count {
	if p.Row.Encoding == c.Encoding() {
		return p.Row.Tokens
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	n, ok := p.counts[c.Encoding()]
	if !ok {
		text, _ := p.renderLocked()
		n = c.Count(text)
		if p.counts == nil {
			p.counts = make(map[string]token.Count, 1)
		}
		p.counts[c.Encoding()] = n
	}
	return n
}

// Words returns the words of the artifact for ranking.
func (p *Resident) Words() *retrieval.Analysis {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.words == nil {
		p.words = retrieval.Analyze(p.Note.Title + "\n" + p.Text)
	}
	return p.words
}

// A Location is the place of an artifact in the catalog: its row, id and version.
type Location struct {
	row     int
	ID      store.ArtifactID
	version store.Version
}

// Fault returns the pages at some locations, from memory or from the store. A page is nil if its
// text is purged or its version is no longer current, because it was written or purged since the
// catalog was read.
func (e *Stacks) Fault(ctx context.Context, scope governance.Scope, spots []Location) ([]*Resident, error) {
	pages := make([]*Resident, len(spots))
	var missing []int
	for i, s := range spots {
		if pg, ok := e.Pages.Get(artifact.Key{Scope: scope, ID: string(s.ID)}, int64(s.version)); ok {
			pages[i] = pg.Value
		} else {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return pages, nil
	}
	pick := &store.Pick{}
	for _, i := range missing {
		pick.Seqs = append(pick.Seqs, int64(spots[i].row)+1)
	}
	rows, err := e.Store.Pick(ctx, scope, pick, len(missing))
	if err != nil {
		return nil, err
	}
	bySeq := make(map[int64]*store.Artifact, len(rows))
	for i := range rows {
		bySeq[rows[i].Seq] = &rows[i]
	}
	for _, i := range missing {
		row := bySeq[int64(spots[i].row)+1]
		if row == nil || row.Version != spots[i].version {
			continue
		}
		if pages[i], err = e.ReadResident(ctx, scope, row); err != nil && !errors.Is(err, store.ErrGone) {
			return nil, err
		}
	}
	return pages, nil
}

// ReadResident reads the cells of an artifact, and adds the page to the cache. It fails with
// [store.ErrGone] if they were purged.
func (e *Stacks) ReadResident(ctx context.Context, scope governance.Scope, row *store.Artifact) (*Resident, error) {
	p := &Resident{Row: *row}
	for c, err := range e.Store.Cells(ctx, scope, []store.CellID{row.Content, row.About}) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("read artifact %s: %w", row.ID, err)
		case c.ID == row.Content:
			p.Text, p.cell = string(c.Body), *c
			p.cell.Body = nil
		default:
			if err := json.Unmarshal(c.Body, &p.Note); err != nil {
				return nil, fmt.Errorf("%w: decode the metadata of artifact %s: %w", store.ErrCorrupt, row.ID, err)
			}
		}
	}
	// The rendered form and the words each take about as much memory as the text itself.
	e.Pages.Put(artifact.Key{Scope: scope, ID: string(row.ID)}, artifact.Page[*Resident]{
		Version: int64(row.Version), Size: 3*row.Bytes + 4096, Value: p,
	})
	return p, nil
}

// holds reports whether content equals the content of the artifact. It compares digests with the
// commitment of the stored cell, and does not need the text.
func (p *Resident) holds(content []byte) bool {
	return int64(len(content)) == p.Row.Bytes && digest.Commit(p.cell.Salt, string(p.cell.Kind), content).Equal(p.cell.Commit)
}

// A Fetch is the result of an attempt to fetch an artifact again.
type Fetch struct {
	Outcome manifest.FetchOutcome
	From    store.Version
	To      store.Version // version after the attempt; 0 if the artifact cannot be used
	Err     error         // why the artifact cannot be used, or nil
}

// fetchers is the most sources that are fetched at a time.
const fetchers = 8

// CheckSources asks the sources of pages whether they have changed. It is called whenever
// artifacts are about to be used. It fetches and writes what has changed before any of it is
// served, and replaces the pages of changed artifacts. A page whose source cannot be fetched or
// is gone stays in pages, but its fetch has an error and the page must not be used.
//
// Pages without a source have no fetch.
func (e *Stacks) CheckSources(ctx context.Context, scope governance.Scope, pages []*Resident) ([]*Fetch, error) {
	fetches := make([]*Fetch, len(pages))
	got := make([]*artifact.Fetched, len(pages))
	limit := make(chan struct{}, fetchers)
	var crew base.Workers
	for i, p := range pages {
		if p == nil || p.Row.Source == "" || p.Row.Source == SourceStash {
			continue
		}
		crew.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			fetches[i], got[i] = e.ask(ctx, p)
		})
	}
	crew.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	u := &store.Update{}
	for i, f := range got {
		if f == nil {
			continue
		}
		if err := e.Renew(scope, u, pages[i], f); err != nil {
			return nil, err
		}
	}
	if len(u.Artifacts) == 0 {
		return fetches, nil
	}
	version, err := e.Update(ctx, scope, u, "refetch", map[string]any{"artifacts": len(u.Artifacts)})
	if err != nil {
		return nil, err
	}
	at := 0
	for i, f := range got {
		if f == nil {
			continue
		}
		w := u.Artifacts[at].Artifact
		at++
		w.Seq, w.Version = pages[i].Row.Seq, version
		if pages[i], err = e.ReadResident(ctx, scope, &w); err != nil {
			return nil, err
		}
		fetches[i].To = version
	}
	return fetches, nil
}

// ask asks the source of a page whether the content has changed. It returns the new content, or nil
// if there is none.
func (e *Stacks) ask(ctx context.Context, p *Resident) (*Fetch, *artifact.Fetched) {
	f := &Fetch{Outcome: manifest.OutcomeUnchanged, From: p.Row.Version, To: p.Row.Version}
	if e.Opts.Sources == nil {
		f.Outcome, f.To, f.Err = manifest.OutcomeForbidden, 0, fmt.Errorf("%w: no sources are configured, so none can be asked", artifact.ErrForbidden)
		return f, nil
	}
	kept := func(content []byte) []byte {
		if e.Redacts(p.Note.Redact) {
			return []byte(secret.RedactPersonal(string(content)))
		}
		return content
	}
	got, err := e.Opts.Sources.Fetch(ctx, artifact.Ref(p.Note.Source), &artifact.Have{
		ETag: p.Note.ETag, Modified: p.Note.Modified, Same: func(content []byte) bool { return p.holds(kept(content)) },
	})
	if err == nil {
		got.Content = kept(got.Content)
	}
	switch {
	case err == nil && (got.Unchanged || p.holds(got.Content)):
		return f, nil
	case err == nil && len(bytes.TrimSpace(got.Content)) == 0:
		f.Outcome, f.To, f.Err = manifest.OutcomeGone, 0, fmt.Errorf("%w: the source is empty", artifact.ErrGone)
	case err == nil:
		f.Outcome = manifest.OutcomeChanged
		return f, got
	case errors.Is(err, artifact.ErrGone):
		f.Outcome, f.To, f.Err = manifest.OutcomeGone, 0, err
	case errors.Is(err, artifact.ErrForbidden):
		f.Outcome, f.To, f.Err = manifest.OutcomeForbidden, 0, err
	default:
		f.Outcome, f.To, f.Err = manifest.OutcomeUnavailable, 0, err
	}
	return f, nil
}

// Renew adds to an update a new version of the artifact with the content fetched from its source.
func (e *Stacks) Renew(scope governance.Scope, u *store.Update, p *Resident, got *artifact.Fetched) error {
	n := p.Note
	n.ETag, n.Modified = got.ETag, got.Modified
	n.OldContent, n.OldAbout = p.Row.Content, p.Row.About
	w := store.Write{Artifact: p.Row, At: p.Row.Version}
	w.Created = e.Now() // the content was confirmed now
	_, err := e.AddArtifact(scope, u, &w, &n, slices.Clone(got.Content))
	return err
}
