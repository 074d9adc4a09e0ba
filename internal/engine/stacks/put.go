package stacks

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/secret"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// SourceStash is the source kind, see [store.Artifact], of content in the stash. Other kinds are
// the schemes of package artifact.
const SourceStash = "stash"

// Note is the content of an artifact's about cell.
type Note struct {
	Title      string             `json:"title,omitempty"`
	Source     string             `json:"source,omitempty"`
	ETag       string             `json:"etag,omitempty"`     // ETag of the source when it was fetched
	Modified   string             `json:"modified,omitempty"` // modification time in the source's own form
	Subject    string             `json:"subject,omitempty"`
	VerifiedBy string             `json:"verified_by,omitempty"`
	TTL        *time.Duration     `json:"ttl,omitempty"`
	From       []store.ArtifactID `json:"from,omitempty"`
	Reason     string             `json:"reason,omitempty"` // a reviewer's reason for a decision
	Redact     bool               `json:"redact,omitempty"` // redact later versions of the source, too

	// Cells of the version before, so that they can be purged with this one.
	OldContent store.CellID `json:"old_content,omitempty"`
	OldAbout   store.CellID `json:"old_about,omitempty"`
}

// PutAll stores artifacts in one update. The function kind returns the source kind of a source.
func (e *Stacks) PutAll(ctx context.Context, scope governance.Scope, list []*api.NewArtifact, kind func(source string) string) ([]api.Artifact, error) {
	return base.Retry(ctx, func() ([]api.Artifact, error) {
		u, out := &store.Update{}, make([]api.Artifact, 0, len(list))
		for i, n := range list {
			if n == nil {
				return nil, &api.FieldError{Field: "artifacts", Text: fmt.Sprintf("element %d is null", i)}
			}
			a, err := e.put(ctx, scope, u, n, kind(n.Source))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", called(i, len(list), n.Title), err)
			}
			out = append(out, *a)
		}
		v, err := e.Update(ctx, scope, u, "put", map[string]any{"artifacts": len(list)})
		for i := range out {
			out[i].Version = v
		}
		return out, err
	})
}

// called returns a name for error texts of the artifact at an index of a list: its title, and its
// place if there are several or it has no title.
func called(i, all int, title string) string {
	place := fmt.Sprintf("artifact %d", i+1)
	switch title = secret.Redact(title); {
	case title == "":
		return place
	case all == 1:
		return title
	}
	return fmt.Sprintf("%s (%s)", place, title)
}

// put adds an artifact with a source kind to an update.
func (e *Stacks) put(ctx context.Context, scope governance.Scope, u *store.Update, req *api.NewArtifact, source string) (*api.Artifact, error) {
	if err := e.CheckPut(req); err != nil {
		return nil, err
	}
	if e.Redacts(req.Redact) {
		r := *req
		r.Content, r.Title, r.Subject = []byte(secret.RedactPersonal(string(req.Content))), secret.RedactPersonal(req.Title), secret.RedactPersonal(req.Subject)
		r.Redact = true
		req = &r
	}
	n := Note{
		Title: req.Title, Source: req.Source, Subject: req.Subject, VerifiedBy: req.VerifiedBy,
		TTL: req.TTL, From: req.From, Redact: req.Redact,
	}
	w := store.Write{Artifact: store.Artifact{
		ID: req.ID, Class: req.Class, Status: store.StatusLive, Pinned: req.Pinned, Created: req.Created,
		Source: source,
	}}
	if req.ID == "" {
		id, err := e.NewID()
		if err != nil {
			return nil, err
		}
		w.ID = store.ArtifactID(id)
	} else if old, err := e.FindArtifact(ctx, scope, string(req.ID), true); err == nil {
		switch before, err := GateStatus(old); {
		case err != nil:
			return nil, err
		case before != store.StatusLive:
			return nil, fmt.Errorf("%w: artifact %s is a memory that is %s: only a review lets it in", api.ErrPolicy, old.ID, before)
		}
		w.At, n.OldContent, n.OldAbout = old.Version, old.Content, old.About
	} else if !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	sources, err := e.contents(ctx, scope, req.From)
	if err != nil {
		return nil, err
	}
	a, err := e.AddArtifact(scope, u, &w, &n, req.Content)
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		u.Edges = append(u.Edges, store.Edge{Derived: w.Content, Source: source, Rel: "from"})
	}
	return a, nil
}

// Redacts reports whether content must be redacted. It must if the options say so or if asked is
// true.
func (e *Stacks) Redacts(asked bool) bool { return asked || e.Opts.Redact }

// CheckPut returns an error if a request is invalid or forbidden.
func (e *Stacks) CheckPut(req *api.NewArtifact) error {
	switch {
	case req.Class.Rank() < 0:
		return fmt.Errorf("%w: class %q: want one of %v", api.ErrRequest, req.Class, provenance.Classes())
	case len(req.Content) == 0:
		return fmt.Errorf("%w: the content is empty", api.ErrRequest)
	case (req.Class == provenance.Verified) != (req.VerifiedBy != ""):
		return fmt.Errorf("%w: the class %q and the name of who verified the artifact go together: give both or neither", api.ErrRequest, provenance.Verified)
	case req.TTL != nil && *req.TTL < 0:
		return fmt.Errorf("%w: a time to live of %v is below 0: want 0 or more", api.ErrRequest, *req.TTL)
	case strings.Trim(string(req.ID), "0123456789abcdefghijklmnopqrstuvwxyz_-") != "" || len(req.ID) > 64:
		return fmt.Errorf("%w: the id %q is invalid: use up to 64 lower-case letters, digits, _ and -", api.ErrRequest, req.ID)
	}
	if req.AllowSecrets {
		return nil
	}
	for _, f := range []struct{ name, text string }{
		{"content", string(req.Content)}, {"title", req.Title}, {"source", req.Source}, {"subject", req.Subject},
	} {
		if found := secret.Scan(f.text); len(found) > 0 {
			return api.About(api.SubjectCredential, fmt.Errorf("%w: the %s looks like a credential (%s, at byte %d)", api.ErrPolicy, f.name, found[0].Kind, found[0].Start))
		}
	}
	return nil
}

// SourceKind returns the scheme of a source that can be fetched again, or "".
func SourceKind(source string) string {
	if ref, err := artifact.ParseRef(source); err == nil && slices.Contains(schemes, ref.Scheme()) {
		return ref.Scheme()
	}
	return ""
}

// schemes are the schemes of sources that can be fetched again. Any other word before a colon is
// no scheme.
var schemes = []string{"file", "http", "https", "mcp", "func"}

// AddArtifact adds an artifact with its cells to an update. It sets the fields of w that follow
// from content and note: content, about, size, tokens, address, expiry and time of the update. It
// keeps the time Created of w, if that is set.
func (e *Stacks) AddArtifact(scope governance.Scope, u *store.Update, w *store.Write, n *Note, content []byte) (*api.Artifact, error) {
	text, err := e.Cell(store.CellText, content)
	if err != nil {
		return nil, err
	}
	about, err := e.JSONCell(store.CellAbout, n)
	if err != nil {
		return nil, err
	}
	now := e.Now()
	w.Content, w.About, w.Bytes, w.Updated = text.ID, about.ID, int64(len(content)), now
	if w.Created.IsZero() {
		w.Created = now
	}
	w.Created = w.Created.UTC().Truncate(time.Millisecond)
	w.Expires = time.Time{}
	if n.TTL != nil {
		w.Expires = w.Created.Add(*n.TTL).Truncate(time.Millisecond)
	}
	w.Address = Address(scope, w.Source, content)
	w.Encoding, w.Tokens = "", 0 // of an earlier content
	p := &Resident{Row: w.Artifact, Note: *n, Text: string(content)}
	counter := e.ArtifactCounter()
	w.Encoding, w.Tokens = counter.Encoding(), p.Tokens(counter)
	u.Cells = append(u.Cells, text, about)
	u.Artifacts = append(u.Artifacts, *w)
	u.Index = append(u.Index, store.ArtifactText{Artifact: w.ID, Text: p.indexed()})
	a := e.DescribeArtifact(&w.Artifact, n)
	return &a, nil
}

// Address returns a digest that is the same for equal contents of a scope. Contents of the stash
// are equal if their bytes are; other texts are equal if they differ only in case and white
// space.
func Address(scope governance.Scope, kind string, content []byte) string {
	text, how := string(content), "stash"
	if kind != SourceStash {
		text, how = assembly.Normalize(text), "text"
	}
	sum := digest.Of([]byte("address/v1\x00" + how + "\x00" + string(scope) + "\x00" + text))
	return hex.EncodeToString(sum[:16])
}

// ArtifactCounter returns the token counter for artifacts, which belong to no model.
func (e *Stacks) ArtifactCounter() token.Counter {
	return cmp.Or(e.Opts.Counter, e.Exact)
}

// NewID returns a new random id, for an artifact or as a part of a manifest's id.
func (e *Stacks) NewID() (string, error) {
	var b [8]byte
	if _, err := io.ReadFull(e.Opts.Rand, b[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(b[:]), nil
}

// A SnapshotError means that an update that erases texts was written, but that an older snapshot
// file cannot be removed.
type SnapshotError struct{ Err error }

func (e *SnapshotError) Error() string {
	return "the purge is done, but an older snapshot file cannot be removed: remove it yourself: " + e.Err.Error()
}

func (e *SnapshotError) Unwrap() error { return e.Err }

// Update writes an update with an entry in the log.
func (e *Stacks) Update(ctx context.Context, scope governance.Scope, u *store.Update, op string, data any) (store.Version, error) {
	id, err := e.NewID()
	if err != nil {
		return 0, err
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return 0, err
	}
	u.Entry = store.Entry{ID: "op_" + id, Op: op, Actor: e.Opts.Actor, Time: e.Now(), Data: raw}
	v, err := e.Store.Update(ctx, scope, u)
	if err == nil && len(u.Purge) > 0 {
		if err := e.forget(scope); err != nil {
			return v, &SnapshotError{err}
		}
	}
	return v, err
}

// FindArtifact returns the artifact with an id. If exact is false, prefix may be the start of the
// id of exactly one artifact.
func (e *Stacks) FindArtifact(ctx context.Context, scope governance.Scope, prefix string, exact bool) (*store.Artifact, error) {
	if prefix == "" {
		return nil, fmt.Errorf("%w: the artifact id is empty", api.ErrRequest)
	}
	for limit := 2; ; limit *= 8 {
		found, err := e.Store.Pick(ctx, scope, &store.Pick{Prefix: prefix}, limit)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(found, func(a store.Artifact) bool { return string(a.ID) == prefix })
		switch {
		case i >= 0:
			return &found[i], nil
		case len(found) == limit:
			continue // the artifact with exactly this id may come after longer ids
		case len(found) == 0 || exact:
			return nil, api.About(api.SubjectArtifact, base.Statef(store.ErrNotFound, "there is no artifact %q in scope %s", prefix, scope))
		case len(found) > 1:
			return nil, api.About(api.SubjectArtifact, base.Statef(api.ErrAmbiguous, "artifact %q is ambiguous: it could be %s or %s", prefix, found[0].ID, found[1].ID))
		}
		return &found[0], nil
	}
}

// contents returns the content cells of artifacts.
func (e *Stacks) contents(ctx context.Context, scope governance.Scope, ids []store.ArtifactID) ([]store.CellID, error) {
	cells := make([]store.CellID, 0, len(ids))
	for _, id := range ids {
		a, err := e.FindArtifact(ctx, scope, string(id), false)
		if err != nil {
			return nil, err
		}
		cells = append(cells, a.Content)
	}
	slices.Sort(cells)
	return slices.Compact(cells), nil
}

// DescribeArtifact describes an artifact from its row and note.
func (e *Stacks) DescribeArtifact(a *store.Artifact, n *Note) api.Artifact {
	return api.Artifact{
		ID: a.ID, Class: a.Class, Status: a.Status, Title: n.Title, Source: n.Source, Subject: n.Subject,
		VerifiedBy: n.VerifiedBy, Pinned: a.Pinned, Stash: a.Source == SourceStash, Bytes: a.Bytes, Tokens: a.Tokens,
		Created: a.Created, Expires: a.Expires, Expired: Expired(a, e.Now()), Version: a.Version, Gate: a.Gate,
	}
}

// Expired reports whether an artifact has expired at the time now. It is expired from the exact
// time Expires on, and never if Expires is zero.
func Expired(a *store.Artifact, now time.Time) bool {
	return !a.Expires.IsZero() && a.Expires.UnixMilli() <= now.UnixMilli()
}
