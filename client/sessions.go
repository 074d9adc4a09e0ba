package client

import (
	"context"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/api"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// Sessions does [carrel.Engine.Sessions] on the server.
func (c *Client) Sessions(ctx context.Context, scope governance.Scope, limit int) ([]carrel.SessionInfo, error) {
	return pages(limit, func(at api.Cursor) (*api.Page[carrel.SessionInfo], error) {
		return do(ctx, c, scope, &api.Sessions, &api.SessionsRequest{Cursor: at})
	})
}

// FindSession does [carrel.Engine.FindSession] on the server.
func (c *Client) FindSession(ctx context.Context, scope governance.Scope, word string) (transcript.SessionID, error) {
	res, err := do(ctx, c, scope, &api.FindSession, &api.WordRequest{Word: word})
	if err != nil {
		return "", err
	}
	return res.Session, nil
}

// Session does [carrel.Engine.Session] on the server.
func (c *Client) Session(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*carrel.SessionInfo, error) {
	return do(ctx, c, scope, &api.Session, &api.SessionRequest{Session: id})
}

// RemovedSessions does [carrel.Engine.RemovedSessions] on the server.
func (c *Client) RemovedSessions(ctx context.Context, scope governance.Scope) ([]carrel.SessionInfo, error) {
	res, err := do(ctx, c, scope, &api.RemovedSessions, &api.None{})
	if err != nil {
		return nil, err
	}
	return res.Items, nil
}

// RemoveSession does [carrel.Engine.RemoveSession] on the server.
func (c *Client) RemoveSession(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*carrel.SessionRemoval, error) {
	return do(ctx, c, scope, &api.RemoveSession, &api.SessionRequest{Session: id})
}

// RestoreSession does [carrel.Engine.RestoreSession] on the server.
func (c *Client) RestoreSession(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*carrel.SessionRemoval, error) {
	return do(ctx, c, scope, &api.RestoreSession, &api.SessionRequest{Session: id})
}

// PurgeSession does [carrel.Engine.PurgeSession] on the server.
func (c *Client) PurgeSession(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*carrel.SessionRemoval, error) {
	return do(ctx, c, scope, &api.PurgeSession, &api.SessionRequest{Session: id})
}

// Import does [carrel.Engine.Import] on the server.
func (c *Client) Import(ctx context.Context, scope governance.Scope, req *carrel.ImportRequest) (*carrel.ImportResult, error) {
	return do(ctx, c, scope, &api.Import, req)
}

// Append does [carrel.Engine.Append] on the server.
func (c *Client) Append(ctx context.Context, scope governance.Scope, req *carrel.AppendRequest) (*carrel.ImportResult, error) {
	return do(ctx, c, scope, &api.Append, req)
}

// Messages does [carrel.Engine.Messages] on the server. If the session changes while
// its pages are read, they are read again, three times at most.
func (c *Client) Messages(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*carrel.MessagesResult, error) {
	for range 3 {
		if res, err := c.messages(ctx, scope, id); res != nil || err != nil {
			return res, err
		}
	}
	return nil, store.ErrConflict
}

// messages reads the pages of a session, or returns nil if they are of several
// revisions.
func (c *Client) messages(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*carrel.MessagesResult, error) {
	var res *carrel.MessagesResult
	changed := false
	list, err := pages(0, func(at api.Cursor) (*api.Page[carrel.BlockInfo], error) {
		r, err := do(ctx, c, scope, &api.Messages, &api.MessagesRequest{Session: id, Cursor: at})
		if err != nil {
			return nil, err
		}
		if res == nil {
			res = &r.MessagesResult
			res.Messages = r.Count
		}
		changed = changed || r.Revision != res.Revision
		return &api.Page[carrel.BlockInfo]{Items: r.Blocks, Next: r.Next}, nil
	})
	if err != nil || changed {
		return nil, err
	}
	res.Blocks = list
	return res, nil
}

// Context does [carrel.Engine.Context] on the server.
func (c *Client) Context(ctx context.Context, scope governance.Scope, id transcript.SessionID, capacity token.Count) (*carrel.ContextResult, error) {
	return do(ctx, c, scope, &api.Context, &api.ContextRequest{Session: id, Window: capacity})
}

// Trigger does [carrel.Engine.Trigger] on the server.
func (c *Client) Trigger(ctx context.Context, scope governance.Scope, req *carrel.TriggerRequest) (*carrel.TriggerResult, error) {
	return do(ctx, c, scope, &api.Trigger, req)
}

// Compress does [carrel.Engine.Compress] on the server.
func (c *Client) Compress(ctx context.Context, scope governance.Scope, req *carrel.CompressRequest) (*carrel.CompressResult, error) {
	return do(ctx, c, scope, &api.Compress, req)
}

// Discard does [carrel.Engine.Discard] on the server.
func (c *Client) Discard(ctx context.Context, scope governance.Scope, req *carrel.DiscardRequest) (*carrel.DiscardResult, error) {
	return do(ctx, c, scope, &api.Discard, req)
}

// Page does [carrel.Engine.Page] on the server.
func (c *Client) Page(ctx context.Context, scope governance.Scope, req *carrel.PageRequest) (*carrel.PageResult, error) {
	return do(ctx, c, scope, &api.PageBlocks, req)
}

// Pin does [carrel.Engine.Pin] on the server.
func (c *Client) Pin(ctx context.Context, scope governance.Scope, req *carrel.PinRequest) (*carrel.PinResult, error) {
	return do(ctx, c, scope, &api.Pin, req)
}

// Undo does [carrel.Engine.Undo] on the server.
func (c *Client) Undo(ctx context.Context, scope governance.Scope, req *carrel.UndoRequest) (*carrel.UndoResult, error) {
	return do(ctx, c, scope, &api.Undo, req)
}

// Mark does [carrel.Engine.Mark] on the server.
func (c *Client) Mark(ctx context.Context, scope governance.Scope, req *carrel.MarkRequest) (*carrel.MarkResult, error) {
	return do(ctx, c, scope, &api.Mark, req)
}

// Export does [carrel.Engine.Export] on the server.
func (c *Client) Export(ctx context.Context, scope governance.Scope, req *carrel.ExportRequest) (*carrel.ExportResult, error) {
	return do(ctx, c, scope, &api.Export, req)
}

// Recall does [carrel.Engine.Recall] on the server.
func (c *Client) Recall(ctx context.Context, scope governance.Scope, req *carrel.RecallRequest) (*carrel.RecallResult, error) {
	return do(ctx, c, scope, &api.Recall, req)
}

// Why does [carrel.Engine.Why] on the server.
func (c *Client) Why(ctx context.Context, scope governance.Scope, block string) (*carrel.WhyResult, error) {
	return do(ctx, c, scope, &api.Why, &api.BlockRequest{Block: block})
}

// Search does [carrel.Engine.Search] on the server.
func (c *Client) Search(ctx context.Context, scope governance.Scope, req *carrel.SearchRequest) ([]carrel.Found, error) {
	return items(do(ctx, c, scope, &api.Search, req))
}

// Stats does [carrel.Engine.Stats] on the server.
func (c *Client) Stats(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*carrel.StatsResult, error) {
	return do(ctx, c, scope, &api.Stats, &api.SessionRequest{Session: id})
}

// State does [carrel.Engine.State] on the server.
func (c *Client) State(ctx context.Context, scope governance.Scope, id transcript.SessionID) (*carrel.State, error) {
	return do(ctx, c, scope, &api.State, &api.SessionRequest{Session: id})
}

// Journal does [carrel.Engine.Journal] on the server.
func (c *Client) Journal(ctx context.Context, scope governance.Scope, id transcript.SessionID, after store.Revision) ([]store.Entry, error) {
	return pages(0, func(at api.Cursor) (*api.Page[store.Entry], error) {
		return do(ctx, c, scope, &api.Journal, &api.JournalRequest{Session: id, Since: after, Cursor: at})
	})
}
