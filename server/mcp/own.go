package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// this is the word for the client's session. It is for arguments in which an empty word means
// all sessions or none.
const this = "@this"

// session returns the session that a word names. An empty word and @this mean the client's session.
func (c *call) session(ctx context.Context, word string) (transcript.SessionID, error) {
	if word != "" && word != this {
		found, err := c.FindSession(ctx, c.scope, &carrel.WordRequest{Word: word})
		if err != nil {
			return "", err
		}
		return found.Session, nil
	}
	id, err := c.own(ctx, c.meta())
	if errors.Is(err, ErrUnbound) {
		return "", c.candidates(ctx, err)
	}
	if err != nil {
		return "", err
	}
	// FindSession also matches the beginning of an id, so the found id may be another one.
	found, err := c.FindSession(ctx, c.scope, &carrel.WordRequest{Word: string(id)})
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, carrel.ErrAmbiguous) || err == nil && found.Session != id {
		return "", &hintedError{
			fmt.Errorf("your session %s: %w: nothing of it is stored yet", text.Clip(string(id), maxWord), store.ErrNotFound),
			"it is stored with its first reply; go on, and try again later",
		}
	}
	return id, err
}

// meta returns the metadata of the call, or nil.
func (c *call) meta() map[string]any {
	if c.req == nil || c.req.Params == nil {
		return nil
	}
	return c.req.Params.Meta
}

// mostCandidates is the number of sessions that an error lists, and mostFirst the number of bytes
// of the first words of each.
const (
	mostCandidates = 10
	mostFirst      = 80
)

// candidates adds to a refusal the sessions of the scope, at most [mostCandidates], the last used
// first, each with a unique id. If they cannot be read, it returns that error instead.
func (c *call) candidates(ctx context.Context, refusal error) error {
	all, err := carrel.Items(c.Sessions(ctx, c.scope, &carrel.SessionsRequest{}))
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return &hintedError{refusal, "no conversation is stored, either; the person can import one, with carrel import"}
	}
	lines := []string{"nothing was done; pass the id of your session in the argument session, or ask the person which of these it is:"}
	for i := range all[:min(len(all), mostCandidates)] {
		s := &all[i]
		line := fmt.Sprintf("%s  last used %s", shortest(all, i), s.Updated.UTC().Format("2006-01-02 15:04:05 MST"))
		if s.Project != "" {
			line += "  " + text.Clip(s.Project, maxWord)
		}
		lines = append(lines, fmt.Sprintf("%s  %q", line, text.Clip(s.Title, mostFirst)))
	}
	if more := len(all) - mostCandidates; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return &hintedError{refusal, strings.Join(lines, "\n")}
}

// shortest returns the first eight characters of a session's id if no other id begins with them,
// or the whole id.
func shortest(all []carrel.SessionInfo, i int) string {
	id := string(all[i].Session)
	short := id[:min(len(id), 8)]
	for k := range all {
		if k != i && strings.HasPrefix(string(all[k].Session), short) {
			return id
		}
	}
	return short
}
