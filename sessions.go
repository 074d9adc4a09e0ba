package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// Append adds messages to the end of a session or begins a session. It
// imports the longer conversation: earlier blocks keep their bytes and their
// states. It fails with [store.ErrConflict] if the session does not have the
// number of messages that req states, with [ErrPolicy] if the session was
// imported from another program's file, and with a [*transcript.SyntaxError]
// if a message cannot be read.
func (e *Engine) Append(ctx context.Context, scope governance.Scope, req *AppendRequest) (*ImportResult, error) {
	return e.sessions.Append(ctx, scope, req)
}

// RemoveSession takes a session out of use until [Engine.RestoreSession]: [Engine.Sessions] and
// [Engine.Search] leave it out, and jobs that read or continue its conversation fail with
// [ErrPolicy]. [Engine.Session], [Engine.FindSession], [Engine.Journal] and [Engine.PurgeSession]
// accept it. Its text is kept.
func (e *Engine) RemoveSession(ctx context.Context, scope governance.Scope, req *SessionRequest) (*SessionRemoval, error) {
	return e.sessions.RemoveSession(ctx, scope, req)
}

// RestoreSession brings back a removed session. Only its time of update is new.
func (e *Engine) RestoreSession(ctx context.Context, scope governance.Scope, req *SessionRequest) (*SessionRemoval, error) {
	return e.sessions.RestoreSession(ctx, scope, req)
}

// PurgeSession erases a session for good, removed or not: its conversation in
// every imported version, summaries, stubs, contract and search index; and
// everything derived from it: its parts of contexts, memories from those
// contexts, and sessions that began with a packet of it. IDs, figures,
// commitments and the journal stay; the last journal entry is the receipt.
// Afterwards a recall or an import of the conversation fails with [ErrGone];
// [ImportRequest.Anew] allows the import.
//
// Sessions whose contract inherited from the purged session's contract keep
// what they inherited; the result names them.
func (e *Engine) PurgeSession(ctx context.Context, scope governance.Scope, req *SessionRequest) (*SessionRemoval, error) {
	return e.sessions.PurgeSession(ctx, scope, req)
}

// RemovedSessions returns removed and purged sessions, last updated first. A
// purged session has only ids and figures.
func (e *Engine) RemovedSessions(ctx context.Context, scope governance.Scope, req *None) (*List[SessionInfo], error) {
	return e.sessions.RemovedSessions(ctx, scope, req)
}

// Export writes the window of a session in a format. An untouched session in
// its own format is byte for byte as imported. Every other result is
// validated; if the format's provider would refuse it, the error is an
// [ErrInvalid] and there is no result.
//
// Some models sign thinking together with everything before it. For them and for unknown models,
// Export leaves out the thinking that follows the first change, and lists it as a loss; see
// [anthropic.BindsThinking] and [responses.BindsReasoning].
func (e *Engine) Export(ctx context.Context, scope governance.Scope, req *ExportRequest) (*ExportResult, error) {
	return e.sessions.Export(ctx, scope, req)
}

// Follow imports a growing file with the same result and the same errors as
// [Engine.Import] of the whole file. If the file only grew, Follow reads its
// first bytes, its last stored block and the new part, so the cost does not
// depend on the size of the file. It reads the whole file if the file is new,
// went back to an older message, was compacted, ends in an incomplete line,
// or differs in its first bytes or its last stored block. A change elsewhere
// that keeps the length is noticed only by the next full import.
//
// If it read only the end, Branches of the result has only the branches that begin there.
func (e *Engine) Follow(ctx context.Context, scope governance.Scope, req *FollowRequest) (*ImportResult, error) {
	return e.sessions.Follow(ctx, scope, req)
}

// Import stores a conversation, or the new part of a stored one. Blocks that
// are unchanged keep their ids, pins and places in the window. Blocks that
// are no longer in the conversation stay recallable, and keep their ids if
// they come back. Blocks that the client compacted are stored as cold blocks
// of an earlier window. Importing the same bytes again changes nothing.
//
// It fails with a [*transcript.SyntaxError] or an [ErrFormat] if the file cannot be read, and
// with a [*ShorterError] if the file is a shorter copy of the stored conversation and req does
// not ask for a rewind. If the session was purged, it fails with [ErrGone], unless req has Anew.
// An import that fails stores nothing.
func (e *Engine) Import(ctx context.Context, scope governance.Scope, req *ImportRequest) (*ImportResult, error) {
	return e.sessions.Import(ctx, scope, req)
}

// Sessions returns the sessions of a scope, last updated first. Removed and
// purged sessions are not listed; see [Engine.RemovedSessions].
func (e *Engine) Sessions(ctx context.Context, scope governance.Scope, req *SessionsRequest) (*List[SessionInfo], error) {
	return e.sessions.Sessions(ctx, scope, req)
}

// Session returns the record of a session, also if it was removed. It fails
// with [ErrGone] if the session was purged.
func (e *Engine) Session(ctx context.Context, scope governance.Scope, req *SessionRequest) (*SessionInfo, error) {
	return e.sessions.Session(ctx, scope, req)
}

// Journal returns the journal entries of a session after a revision, in
// order. Entries hold no text of the conversation; [Engine.Why] explains them
// for one block.
func (e *Engine) Journal(ctx context.Context, scope governance.Scope, req *JournalRequest) (*List[store.Entry], error) {
	return e.sessions.Journal(ctx, scope, req)
}

// Recall returns the imported bytes of a block, or its text. The state of the block does not
// matter, and nothing changes. Of an artifact it returns the whole text; for one that is removed,
// refuted or held it fails with [ErrPolicy]. Of a summary it returns the whole summary as
// Markdown, with the parts that the window has no room for. It fails with [store.ErrNotFound],
// [ErrAmbiguous], or [ErrGone] if the bytes were erased.
func (e *Engine) Recall(ctx context.Context, scope governance.Scope, req *RecallRequest) (*RecallResult, error) {
	return e.sessions.Recall(ctx, scope, req)
}

// FindSession returns the session that a word names: an id or a prefix of one, "@last" or "" for
// the last updated session, "@prev" or "-1" for the one before it, or "-2" to "-9" for older
// ones. A prefix names a removed or purged session only if it names none in use.
func (e *Engine) FindSession(ctx context.Context, scope governance.Scope, req *WordRequest) (*SessionResult, error) {
	return e.sessions.FindSession(ctx, scope, req)
}

// Search returns the blocks that contain words of a query, in any inflection,
// ranked by BM25 over all blocks of the scope; see [retrieval.FindBest]. It
// finds blocks in every state, also of earlier windows, but no blocks that a
// later import dropped; those are recalled by id.
func (e *Engine) Search(ctx context.Context, scope governance.Scope, req *SearchRequest) (*List[Found], error) {
	return e.sessions.Search(ctx, scope, req)
}

// Check verifies the store with all scopes and returns the problems found.
// err is set only if the check could not run. Beyond the store's own checks,
// it loads every session, compares each block with the conversation's bytes
// and with the journal, runs every contract, and verifies every manifest and
// artifact text.
func (e *Engine) Check(ctx context.Context) (problems []string, err error) {
	return e.audit.Check(ctx)
}
