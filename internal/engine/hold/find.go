package hold

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// BlockPrefix returns the prefix of a block id that word contains. It removes a leading "#" or
// "block-", which stubs and contracts put before ids.
func BlockPrefix(word string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(word, "#"), "block-"))
}

// FindBlock returns the block whose id begins with prefix. A leading "#" or "block-" is ignored. It
// fails with [store.ErrNotFound] if there is none, with [api.ErrAmbiguous] if there are several,
// and with a [*RetiredError] if the block's session was removed or purged.
func (e *Desk) FindBlock(ctx context.Context, scope governance.Scope, prefix string) (store.BlockRef, *store.Block, error) {
	id := BlockPrefix(prefix)
	if id == "" {
		return store.BlockRef{}, nil, fmt.Errorf("%w: the block id is empty", store.ErrNotFound)
	}
	refs, err := e.Store.Find(ctx, scope, id, 6)
	switch {
	case err != nil:
		return store.BlockRef{}, nil, err
	case len(refs) == 0 && strings.HasPrefix(id, SummaryPrefix):
		return store.BlockRef{}, nil, api.About(api.SubjectSummary, base.Statef(store.ErrNotFound, "%q is the id of a summary, not of a block", prefix))
	case len(refs) == 0:
		return store.BlockRef{}, nil, api.About(api.SubjectBlock, base.Statef(store.ErrNotFound, "there is no block %q", prefix))
	case len(refs) > 1:
		var ids []string
		for _, r := range refs {
			ids = append(ids, string(r.Block))
		}
		return store.BlockRef{}, nil, api.About(api.SubjectBlock, base.Statef(api.ErrAmbiguous, "block %q is ambiguous: it could be %s", prefix, strings.Join(ids, ", ")))
	}
	if _, err := e.Head(ctx, scope, refs[0].Session); err != nil {
		return store.BlockRef{}, nil, err
	}
	b, err := e.Store.Block(ctx, scope, refs[0])
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: block %s is in the index but not stored", store.ErrCorrupt, prefix)
	}
	if err != nil {
		return store.BlockRef{}, nil, err
	}
	return refs[0], b, nil
}

// A RetiredError says that a session was removed or purged. It wraps [api.ErrPolicy] if the
// session was removed and [api.ErrGone] if it was purged.
type RetiredError struct {
	session transcript.SessionID
	Status  store.Status
}

func (e *RetiredError) Error() string {
	if e.Status == store.StatusPurged {
		return fmt.Sprintf("session %s was purged", e.session)
	}
	return fmt.Sprintf("session %s was removed", e.session)
}

// States implements [base.Statement].
func (*RetiredError) States() {}

// Is implements the interface of [errors.Is].
func (e *RetiredError) Is(target error) bool {
	return target == api.ErrGone && e.Status == store.StatusPurged || target == api.ErrPolicy && e.Status == store.StatusTombstoned
}

// CheckInUse returns an error that wraps a [*RetiredError] if a session was removed or purged, or nil.
func CheckInUse(h *store.Head) error {
	if h.Status != "" {
		return api.About(api.SubjectSession, &RetiredError{h.ID, h.Status})
	}
	return nil
}

// AnyHead returns the head of a session, even if the session was removed or purged.
func (e *Desk) AnyHead(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
	head, err := e.Store.Head(ctx, scope, id)
	if errors.Is(err, store.ErrNotFound) {
		err = api.About(api.SubjectSession, base.Statef(store.ErrNotFound, "there is no session %q", id))
	}
	return head, err
}

// Head returns the summary record of the session id. It fails with a [*RetiredError] if the session
// was removed or purged.
func (e *Desk) Head(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*store.Head, error) {
	head, err := e.AnyHead(ctx, scope, id)
	if err == nil {
		err = CheckInUse(head)
	}
	if err != nil {
		return nil, err
	}
	return head, nil
}

// DescribeHead describes a session from its head and body, the bytes of its about cell; see
// [About].
func DescribeHead(h *store.Head, body []byte) (api.SessionInfo, error) {
	a, err := readAbout(h, body)
	if err != nil {
		return api.SessionInfo{}, err
	}
	return SessionInfo(h, a), nil
}

// SessionInfo describes a session from its head and its about cell.
func SessionInfo(h *store.Head, a *About) api.SessionInfo {
	return api.SessionInfo{
		Session: h.ID, Status: h.Status, Title: a.Title, Critical: a.Critical, Project: a.Project, File: a.Name, Format: h.Format, Model: h.Model,
		Encoding: h.Encoding, Messages: h.Messages, Blocks: h.Blocks, Tokens: h.Tokens, Window: h.Window,
		Bytes: h.Bytes, Revision: h.Revision, Created: h.Created, Updated: h.Updated,
	}
}

// LoadInfo loads a session and describes it for lists.
func (e *Desk) LoadInfo(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*Snapshot, api.SessionInfo, error) {
	h, err := e.Load(ctx, scope, id)
	if err != nil {
		return nil, api.SessionInfo{}, err
	}
	info, err := e.Info(ctx, scope, h.Head)
	return h, info, err
}

// Info describes a session from its head. It reads the about cell.
func (e *Desk) Info(ctx context.Context, scope governance.Scope, head *store.Head) (api.SessionInfo, error) {
	bodies, err := e.Bodies(ctx, scope, []store.CellID{head.About})
	if err != nil {
		return api.SessionInfo{}, err
	}
	return DescribeHead(head, bodies[0])
}

// Preview returns a line with the start of a block's text. For a block of calls, the kind of the
// block comes first.
func Preview(msgs []transcript.Message, b *transcript.Block) string {
	what, excerpt := pager.Describe(msgs, b)
	if b.Kind != transcript.KindTool {
		return excerpt
	}
	return what + ": " + excerpt
}
