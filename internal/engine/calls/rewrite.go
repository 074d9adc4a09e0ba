package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A rewriteEntry is the journal data of a rewrite.
type rewriteEntry struct {
	Chain    digest.Digest        `json:"chain"`
	Kind     store.RewriteKind    `json:"kind"`
	Epoch    int                  `json:"epoch"`
	Messages int                  `json:"messages"`
	Cell     store.CellID         `json:"cell"`
	Bytes    int                  `json:"bytes"`
	Blocks   []transcript.BlockID `json:"blocks,omitempty"` // blocks from which the bytes were made

	Pass   string      `json:"pass,omitempty"` // journal entry of the compression that made the head
	Before token.Count `json:"before,omitempty"`
	After  token.Count `json:"after,omitempty"`
}

// Rewrites returns the bytes that were sent in place of a client's.
func (e *Calls) Rewrites(ctx context.Context, scope governance.Scope, req *api.SessionRequest) (_ *api.RewritesResult, err error) {
	defer base.During("rewrites", &err, "of session "+string(req.Session))

	if _, err := e.Head(ctx, scope, req.Session); err != nil {
		return nil, err
	}
	res := &api.RewritesResult{Rewrites: []api.Rewrite{}}
	var cells []store.CellID
	for r, err := range e.Store.Rewrites(ctx, scope, req.Session) {
		if err != nil {
			return nil, err
		}
		res.Rewrites = append(res.Rewrites, api.Rewrite{Chain: r.Chain, Kind: r.Kind, Epoch: r.Epoch, Messages: r.Messages})
		cells = append(cells, r.Cell)
	}
	bodies, err := e.Bodies(ctx, scope, cells)
	if err != nil {
		return nil, err
	}
	for i := range res.Rewrites {
		res.Rewrites[i].Data = bodies[i]
	}
	return res, nil
}

// KeepRewrite stores bytes that are about to be sent in place of a client's.
func (e *Calls) KeepRewrite(ctx context.Context, scope governance.Scope, req *api.KeepRewriteRequest) (_ *api.KeepRewriteResult, err error) {
	defer base.During("keep what is sent", &err, "in session "+string(req.Session))

	if err := checkRewrite(req); err != nil {
		return nil, err
	}
	op, err := e.keep(ctx, scope, req, &rewriteEntry{})
	if err != nil {
		return nil, err
	}
	return &api.KeepRewriteResult{Op: op}, nil
}

func checkRewrite(req *api.KeepRewriteRequest) error {
	switch {
	case req.Session == "":
		return &api.FieldError{Field: "session", Text: "is missing"}
	case req.Chain == digest.Digest{}:
		return &api.FieldError{Field: "chain", Text: "is missing"}
	case req.Kind != store.RewriteHead && req.Kind != store.RewriteMessage:
		return &api.FieldError{Field: "kind", Text: fmt.Sprintf("is %q: it is head or message", req.Kind)}
	case req.Epoch < 0 || req.Messages < 1:
		return &api.FieldError{Field: "messages", Text: "wants at least one message, and an epoch of 0 or more"}
	case !json.Valid(req.Data):
		return &api.FieldError{Field: "data", Text: "is not JSON"}
	}
	return nil
}

// keep stores the rewrite in req: the bytes that are sent in place of a client's. It begins the
// session if the store does not have it. It also adds a journal entry, with the data in entry and
// the fields of req, and returns the id of that entry.
func (e *Calls) keep(ctx context.Context, scope governance.Scope, req *api.KeepRewriteRequest, entry *rewriteEntry) (string, error) {
	return base.Retry(ctx, func() (string, error) {
		head, err := e.Head(ctx, scope, req.Session)
		if errors.Is(err, store.ErrNotFound) {
			head, err = &store.Head{ID: req.Session}, nil
		}
		if err != nil {
			return "", err
		}
		c := &store.Change{Head: *head}
		c.Head.Updated = e.Now()
		if head.Revision == 0 {
			if err := e.BeginSession(c); err != nil {
				return "", err
			}
		}
		cell, err := e.Cell(store.CellSent, req.Data)
		if err != nil {
			return "", err
		}
		if err := e.addSources(ctx, scope, c, req, cell.ID); err != nil {
			return "", err
		}
		c.Cells = append(c.Cells, cell)
		c.Rewrites = []store.Rewrite{{Chain: req.Chain, Kind: req.Kind, Epoch: req.Epoch, Messages: req.Messages, Cell: cell.ID}}
		data := *entry
		data.Chain, data.Kind, data.Epoch, data.Messages = req.Chain, req.Kind, req.Epoch, req.Messages
		data.Cell, data.Bytes, data.Blocks = cell.ID, len(req.Data), req.Blocks
		return e.Apply(ctx, scope, head, c, hold.OpRewrite, data)
	})
}

// addSources adds to a change edges from a cell to the cells of the blocks from which it was
// made.
func (e *Calls) addSources(ctx context.Context, scope governance.Scope, c *store.Change, req *api.KeepRewriteRequest, cell store.CellID) error {
	seen := make(map[store.CellID]bool)
	for _, id := range req.Blocks {
		b, err := e.Store.Block(ctx, scope, store.BlockRef{Session: req.Session, Block: id})
		if err != nil {
			return api.About(api.SubjectBlock, err)
		}
		for _, source := range b.Cells {
			if !seen[source] {
				seen[source] = true
				c.Edges = append(c.Edges, store.Edge{Derived: cell, Source: source, Rel: "sent"})
			}
		}
	}
	return nil
}

// NewEpoch compresses the window of a conversation, and stores the bytes that are sent in place
// of its messages from then on.
func (e *Calls) NewEpoch(ctx context.Context, scope governance.Scope, req *api.NewEpochRequest) (_ *api.NewEpochResult, err error) {
	defer base.During(fmt.Sprintf("begin epoch %d of %s", req.Epoch, req.Name), &err)

	switch {
	case req.Epoch < 1:
		return nil, &api.FieldError{Field: "epoch", Text: "is below 1: the first head begins epoch 1"}
	case req.Chain == digest.Digest{}:
		return nil, &api.FieldError{Field: "chain", Text: "is missing"}
	}
	came, err := readBody(req.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: read the messages in data: %w", api.ErrRequest, err)
	}
	in, err := e.Import(ctx, scope, &api.ImportRequest{Name: req.Name, Format: req.Format, Data: req.Data, Rewind: true, Compaction: req.Compaction})
	if err != nil {
		return nil, err
	}
	pass, err := e.Compress(ctx, scope, &api.CompressRequest{
		Session: in.Session, Target: req.Target, Window: req.Window, Strategy: api.StrategyAccount,
	})
	if err != nil {
		return nil, err
	}
	out, err := e.Export(ctx, scope, &api.ExportRequest{Session: in.Session})
	if err != nil {
		return nil, err
	}
	goes, err := readBody(out.Data)
	if err == nil && (goes.key != came.key || goes.around != came.around) {
		err = errors.New("the window cannot be sent as messages alone: the request has changed outside the messages")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", api.ErrPolicy, err)
	}
	keep := &api.KeepRewriteRequest{Session: in.Session, Rewrite: api.Rewrite{
		Chain: req.Chain, Kind: store.RewriteHead, Epoch: req.Epoch, Messages: came.messages, Data: goes.list,
	}}
	op, err := e.keep(ctx, scope, keep, &rewriteEntry{Pass: pass.Op, Before: pass.Before, After: pass.After})
	if err != nil {
		return nil, err
	}
	return &api.NewEpochResult{
		Session: in.Session, Head: goes.list, Messages: came.messages, Before: pass.Before, After: pass.After, Pass: pass.Op, Op: op,
	}, nil
}

// A body is the part of a request body that a head needs.
type body struct {
	key      string        // JSON key of the messages
	list     []byte        // the messages, a part of the body
	messages int           // number of messages
	around   digest.Digest // digest of all members except the messages, in order
}

// readBody reads the body of a request to a model.
func readBody(data []byte) (*body, error) {
	var doc rawjson.Document
	if err := doc.Read(data); err != nil {
		return nil, err
	}
	b := &body{}
	var around []byte
	for member := range doc.Children(rawjson.Root) {
		key := string(doc.Key(member))
		list := key == "messages" || key == "input"
		if !list {
			around = fmt.Appendf(around, "%q:%s,", key, doc.Raw(member))
			continue
		}
		if b.key != "" || doc.Kind(member) != rawjson.Array {
			return nil, fmt.Errorf("want one list of messages, but %s is another list or no list", key)
		}
		b.key, b.list = key, doc.Raw(member)
		for range doc.Children(member) {
			b.messages++
		}
	}
	if b.messages == 0 {
		return nil, errors.New("the body has no messages")
	}
	b.around = digest.Of(around)
	return b, nil
}
