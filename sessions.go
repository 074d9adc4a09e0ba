package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// Append adds messages to the end of a session, or begins one. It is an import of
// the conversation as it is then: what was there stays byte for byte, and so does
// what became of it. It fails with [store.ErrConflict] if the session does not have as
// many messages as the request says, with [ErrPolicy] if the session is a file of
// another program, which is imported as a whole, and with a
// [*transcript.SyntaxError] if the messages are not what the format calls messages.
func (e *Engine) Append(ctx context.Context, scope governance.Scope, req *AppendRequest) (*ImportResult, error) {
	return e.sessions.Append(ctx, scope, req)
}

// RemoveSession takes a session out of use: it is not listed or found any more, and
// nothing reads or continues it, until [Engine.RestoreSession] brings it back. Its text
// is kept.
func (e *Engine) RemoveSession(ctx context.Context, scope governance.Scope, req *SessionRequest) (*SessionRemoval, error) {
	return e.sessions.RemoveSession(ctx, scope, req)
}

// RestoreSession brings back a session that was removed, as it was.
func (e *Engine) RestoreSession(ctx context.Context, scope governance.Scope, req *SessionRequest) (*SessionRemoval, error) {
	return e.sessions.RestoreSession(ctx, scope, req)
}

// PurgeSession erases a session, whether or not it was removed before: its
// conversation, with what earlier imports had of it, summaries, stubs, its contract,
// and what it is found by; and what was made from it: what of it is in contexts, the
// memories that came of these, and the sessions that began with a packet of it. What
// stays are ids, figures, commitments and the journal, whose last entry is the receipt.
// Whoever recalls something of it is told that it is [ErrGone], and so is who imports it
// again, unless [ImportRequest.Anew] says so. Nothing brings it back.
//
// A session that inherited from its contract keeps what it inherited, and is named.
func (e *Engine) PurgeSession(ctx context.Context, scope governance.Scope, req *SessionRequest) (*SessionRemoval, error) {
	return e.sessions.PurgeSession(ctx, scope, req)
}

// RemovedSessions returns the sessions that were removed or purged, last updated first.
// Of one that was purged there are ids and figures.
func (e *Engine) RemovedSessions(ctx context.Context, scope governance.Scope, req *None) (*List[SessionInfo], error) {
	return e.sessions.RemovedSessions(ctx, scope, req)
}

// Export writes what is in the window of a session in a format. An untouched
// session in its own format is what was imported, byte for byte. Every other
// result passes the format's validator; if it does not, the error is an
// [ErrInvalid] and there is no result.
//
// Where a model ties thinking to everything before it, thinking behind the first
// change is left out and listed among the losses. A model that is not known is taken
// for one that does: see [anthropic.BindsThinking] and [responses.BindsReasoning].
func (e *Engine) Export(ctx context.Context, scope governance.Scope, req *ExportRequest) (*ExportResult, error) {
	return e.sessions.Export(ctx, scope, req)
}

// Follow stores what is new in a file, exactly as an [Engine.Import] of the whole file
// would, and with the same errors. Of a file that has only grown at its end it reads a
// piece of its beginning, its last block as it was stored and what is behind that: so
// the cost does not grow with the file. It reads all of a file that is not known, goes
// back to an older message, was compacted, or has a last line that has not ended; and of
// one whose first bytes or last block are not as they were. What was rewritten in between
// without a change of length is noticed by the next import of all of it.
//
// Where it read no more than the end, the result lists the branches of that alone.
func (e *Engine) Follow(ctx context.Context, scope governance.Scope, req *FollowRequest) (*ImportResult, error) {
	return e.sessions.Follow(ctx, scope, req)
}

// Import stores a conversation, or what is new in one that is stored already.
// Blocks that are the same as before keep their ids, their pins and their places in
// the window; blocks that are no longer in the conversation stay recallable, and are
// the same when they come back. What the client itself compacted is stored, too: such
// blocks are cold, and of an earlier window. Importing the same bytes again changes
// nothing.
//
// It fails with a [*transcript.SyntaxError] or an [ErrFormat] if the file cannot be
// read, and with a [*ShorterError] if it is only a shorter copy of what is known and no
// rewind is meant. Then nothing is stored.
func (e *Engine) Import(ctx context.Context, scope governance.Scope, req *ImportRequest) (*ImportResult, error) {
	return e.sessions.Import(ctx, scope, req)
}

// Sessions returns the sessions of a scope, last updated first, limit at most;
// 0 means all. Those that were removed or purged are not among them: see
// [Engine.RemovedSessions].
func (e *Engine) Sessions(ctx context.Context, scope governance.Scope, req *SessionsRequest) (*List[SessionInfo], error) {
	return e.sessions.Sessions(ctx, scope, req)
}

// Session returns what is known of one session, also if it was removed. One that was
// purged is [ErrGone].
func (e *Engine) Session(ctx context.Context, scope governance.Scope, req *SessionRequest) (*SessionInfo, error) {
	return e.sessions.Session(ctx, scope, req)
}

// Journal returns what happened to a session after a revision, in order. What the
// entries hold, [Engine.Why] says of one block; none holds text of the
// conversation.
func (e *Engine) Journal(ctx context.Context, scope governance.Scope, req *JournalRequest) (*List[store.Entry], error) {
	return e.sessions.Journal(ctx, scope, req)
}

// Recall returns the bytes that a block was imported in, or what it says. It
// does so whatever the state of the block, until the bytes are erased, and
// changes nothing. Of an artifact it returns the whole text, as long as the
// artifact is live; what was removed, refuted or held is an [ErrPolicy]. It fails
// with [store.ErrNotFound], [ErrAmbiguous] or [ErrGone]. Of a summary it returns
// the whole, with what the window has no room for, as Markdown.
func (e *Engine) Recall(ctx context.Context, scope governance.Scope, req *RecallRequest) (*RecallResult, error) {
	return e.sessions.Recall(ctx, scope, req)
}

// FindSession returns the session that a word names: an id or the beginning of
// one, or "@last", "@prev" or "-2" for the one updated last, before that, or
// two before that. One that was removed or purged is found by its id alone.
func (e *Engine) FindSession(ctx context.Context, scope governance.Scope, req *WordRequest) (*SessionResult, error) {
	return e.sessions.FindSession(ctx, scope, req)
}

// Search returns blocks that have words of a query in any form, best first by BM25 over
// all blocks of the scope: see [retrieval.FindBest]. Blocks are found
// whatever their state, as long as they are in the conversation or in a window
// before it: what a later import no longer had is recalled by its id alone.
func (e *Engine) Search(ctx context.Context, scope governance.Scope, req *SearchRequest) (*List[Found], error) {
	return e.sessions.Search(ctx, scope, req)
}

// Check verifies the store, of all scopes, and returns what is wrong with it; problems
// are no error. Besides what the store can tell by itself, it reads every session as a
// job would, and compares each block with the bytes of the conversation and with what
// the journal says became of it; it runs through every contract, and verifies every
// manifest and the text of every artifact.
func (e *Engine) Check(ctx context.Context) (problems []string, err error) {
	return e.audit.Check(ctx)
}
