package rest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A numberedEvent is an event with its id. A client that sends the id resumes the stream after the
// event.
type numberedEvent struct {
	api.Event
	id string
}

// A feed is a source of events: next returns the new events since its last call.
type feed interface {
	next(ctx context.Context) ([]numberedEvent, error)
}

// A sessionFeed gives the journal of one session. Its ids are revisions, so a client that resumes
// misses no event and gets none twice.
type sessionFeed struct {
	engine  *carrel.Engine
	scope   governance.Scope
	session transcript.SessionID
	at      store.Revision
}

// newSessionFeed returns a feed that begins after the revision since. If since is empty, the feed
// has only events that are written from now on.
func newSessionFeed(ctx context.Context, e *carrel.Engine, scope governance.Scope, id transcript.SessionID, since string) (*sessionFeed, error) {
	f := &sessionFeed{engine: e, scope: scope, session: id}
	if since != "" {
		at, err := strconv.ParseInt(since, 10, 64)
		if err != nil || at < 0 {
			return nil, bad("since", "is not a revision: give the id of the last event")
		}
		f.at = store.Revision(at)
	}
	all, err := carrel.Items(e.Journal(ctx, scope, &carrel.JournalRequest{Session: id, Since: f.at})) // fails if there is no such session
	if since == "" {
		for i := range all {
			f.at = all[i].Revision
		}
	}
	return f, err
}

func (f *sessionFeed) next(ctx context.Context) ([]numberedEvent, error) {
	entries, err := carrel.Items(f.engine.Journal(ctx, f.scope, &carrel.JournalRequest{Session: f.session, Since: f.at}))
	if err != nil {
		return nil, err
	}
	list := make([]numberedEvent, len(entries))
	for i, e := range entries {
		f.at = e.Revision
		list[i] = numberedEvent{api.Event{Session: f.session, Entry: e}, strconv.FormatInt(int64(e.Revision), 10)}
	}
	return list, nil
}

// A scopeFeed gives the journals of all sessions of a scope, also of removed and purged ones, and
// the log of the scope. The id of an event is the version of the log, "-" and the time of the newest
// event sent, in milliseconds. An entry that is written later may have an earlier time, because it
// has the time at which its job began. Therefore a client that resumes gets the events from
// [Limits.Job] before the time in the id once more, and has to skip the entries whose ids it knows.
type scopeFeed struct {
	engine  *carrel.Engine
	scope   governance.Scope
	version store.Version
	last    time.Time
	from    time.Time // events before this time are left out, because the client has them
	known   map[transcript.SessionID]store.Revision
}

// newScopeFeed returns a feed that begins with the event with the id since, and repeats the events
// of the duration slack before it. If since is empty, the feed has only events that are written
// from now on.
func newScopeFeed(ctx context.Context, e *carrel.Engine, scope governance.Scope, since string, slack time.Duration) (*scopeFeed, error) {
	f := &scopeFeed{engine: e, scope: scope, known: make(map[transcript.SessionID]store.Revision)}
	if since != "" {
		if err := f.resume(since, slack); err != nil {
			return nil, err
		}
	}
	sessions, err := f.sessions(ctx, 0)
	if err != nil {
		return nil, err
	}
	for i := range sessions {
		if s := &sessions[i]; since == "" || s.Updated.Before(f.from) {
			f.known[s.Session] = s.Revision
		}
	}
	if since != "" {
		return f, nil
	}
	log, err := carrel.Items(e.Log(ctx, scope, &carrel.LogRequest{}))
	for i := range log {
		f.version = store.Version(log[i].Revision)
	}
	return f, err
}

func (f *scopeFeed) resume(since string, slack time.Duration) error {
	version, last, _ := strings.Cut(since, "-") // no sign is in front of the version
	v, err1 := strconv.ParseInt(version, 10, 64)
	ms, err2 := strconv.ParseInt(last, 10, 64)
	if err1 != nil || err2 != nil || ms < 0 {
		return bad("since", "is not the id of an event: give the id of the last event")
	}
	f.version, f.last = store.Version(v), time.UnixMilli(ms)
	f.from = f.last.Add(-slack)
	return nil
}

// recent is the number of sessions in use that a feed checks first: those that were updated last. If
// all of these have changed, the feed checks all sessions.
const recent = 256

func (f *scopeFeed) next(ctx context.Context) ([]numberedEvent, error) {
	changed, all, err := f.changed(ctx, recent)
	if all {
		changed, _, err = f.changed(ctx, 0)
	}
	if err != nil {
		return nil, err
	}
	var list []timed
	for _, id := range changed {
		entries, err := carrel.Items(f.engine.Journal(ctx, f.scope, &carrel.JournalRequest{Session: id, Since: f.known[id]}))
		if err != nil {
			return nil, err
		}
		for i := range entries {
			f.known[id] = entries[i].Revision
		}
		entries = slices.DeleteFunc(entries, func(e store.Entry) bool { return e.Time.Before(f.from) })
		list = appendTimed(list, id, entries)
	}
	log, err := carrel.Items(f.engine.Log(ctx, f.scope, &carrel.LogRequest{Since: f.version}))
	if err != nil {
		return nil, err
	}
	return f.number(appendTimed(list, "", log)), nil
}

// changed returns the sessions with a newer revision than the known one, and whether at least limit
// sessions have one. The limit is for [scopeFeed.sessions].
func (f *scopeFeed) changed(ctx context.Context, limit int) (ids []transcript.SessionID, full bool, err error) {
	sessions, err := f.sessions(ctx, limit)
	for i := range sessions {
		if s := &sessions[i]; s.Revision > f.known[s.Session] {
			ids = append(ids, s.Session)
		}
	}
	return ids, len(ids) >= limit, err
}

// sessions returns at most limit sessions in use, those that were updated last, and then all removed
// and purged ones. A limit of 0 means all. A session that is removed meanwhile may occur twice.
func (f *scopeFeed) sessions(ctx context.Context, limit int) ([]carrel.SessionInfo, error) {
	used, err := carrel.Items(f.engine.Sessions(ctx, f.scope, &carrel.SessionsRequest{Cursor: carrel.Cursor{Limit: limit}}))
	if err != nil {
		return nil, err
	}
	removed, err := carrel.Items(f.engine.RemovedSessions(ctx, f.scope, &carrel.None{}))
	return slices.Concat(used, removed), err
}

// A timed is an event with a time for sorting. The time is never before that of an earlier event of
// the same journal, even if the clock was set back between them.
type timed struct {
	api.Event
	at time.Time
}

func appendTimed(list []timed, id transcript.SessionID, entries []store.Entry) []timed {
	var at time.Time
	for _, e := range entries {
		if e.Time.After(at) {
			at = e.Time
		}
		list = append(list, timed{api.Event{Session: id, Entry: e}, at})
	}
	return list
}

// number sorts events by time and gives them ids. The id of an event has the latest time among this
// event and all events sent before it, so the times in ids never go back.
func (f *scopeFeed) number(list []timed) []numberedEvent {
	slices.SortStableFunc(list, func(a, b timed) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.Session, b.Session))
	})
	out := make([]numberedEvent, len(list))
	for i, t := range list {
		if t.at.After(f.last) {
			f.last = t.at
		}
		if t.Session == "" {
			f.version = store.Version(t.Entry.Revision)
		}
		out[i] = numberedEvent{t.Event, fmt.Sprintf("%d-%d", f.version, f.last.UnixMilli())}
	}
	return out
}
