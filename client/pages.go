package client

import (
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
)

// A paging is a request for a list with pages.
type paging[Req any] interface {
	*Req
	Paging() *api.Cursor
}

// listAll reads all pages of a list, or up to the limit of the request.
func listAll[Req any, T any, P paging[Req]](ctx context.Context, c *Client, scope governance.Scope, op *ops.Op[Req, api.List[T]], req P) (*api.List[T], error) {
	return pages(*req.Paging(), func(at api.Cursor) (*api.List[T], error) {
		page := *req
		*P(&page).Paging() = at
		return do(ctx, c, scope, op, &page)
	})
}

// messages reads all pages of a session, or returns nil if the session
// changed between pages.
func (c *Client) messages(ctx context.Context, scope governance.Scope, req *api.MessagesRequest) (*api.MessagesResult, error) {
	var res *api.MessagesResult
	changed := false
	all, err := pages(req.Cursor, func(at api.Cursor) (*api.List[api.BlockInfo], error) {
		r, err := do(ctx, c, scope, &ops.Messages, &api.MessagesRequest{Session: req.Session, Cursor: at})
		if err != nil {
			return nil, err
		}
		if res == nil {
			res = r
		}
		changed = changed || r.Revision != res.Revision
		return &api.List[api.BlockInfo]{Items: r.Messages, Next: r.Next}, nil
	})
	if err != nil || changed {
		return nil, err
	}
	res.Messages, res.Next = all.Items, all.Next
	return res, nil
}

// pages reads the pages of a list with the function read. It begins after the
// position of the cursor, and ends at the end of the list or at the limit of
// the cursor.
func pages[T any](at api.Cursor, read func(at api.Cursor) (*api.List[T], error)) (*api.List[T], error) {
	all := &api.List[T]{Items: []T{}}
	limit := at.Limit
	for {
		at.Limit = api.MaxLimit
		if limit != 0 { // the server refuses one below 0
			at.Limit = min(at.Limit, limit-len(all.Items))
		}
		page, err := read(at)
		if err != nil {
			return nil, err
		}
		all.Items, all.Next = append(all.Items, page.Items...), page.Next
		switch {
		case limit > 0 && len(all.Items) >= limit:
			all.Items = all.Items[:limit]
			return all, nil
		case page.Next == "":
			return all, nil
		case page.Next == at.After:
			return nil, fmt.Errorf("%w: the page after %q names itself as the next page", ErrReply, at.After)
		}
		at.After = page.Next
	}
}
