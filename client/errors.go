package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/transcript"
)

var (
	// ErrUnreachable means that no complete reply arrived. The server may
	// have made a write nevertheless.
	ErrUnreachable = errors.New("server cannot be reached")

	// ErrReply means that a reply is too large or not from a Carrel server.
	ErrReply = errors.New("reply cannot be used")

	errNoJSON = errors.New("is not JSON")
)

// An Error is an error reply of the server. It wraps the sentinel of the
// engine's error and, where the problem has their figures, a
// [*pager.FloorError], [*pager.DiscardError], [*carrel.InvalidError],
// [*carrel.ProbesError], [*carrel.ShorterError], [*contract.ConflictError],
// [*contract.RunError] or [*transcript.SyntaxError]. It wraps no other typed
// error of the engine, such as [*assembly.FloorError], only the sentinel.
type Error struct {
	// Problem is the body of the reply, see RFC 9457.
	Problem api.Problem

	causes []error
}

// Error returns the text of the engine's error.
func (e *Error) Error() string {
	if e.Problem.Detail != "" {
		return e.Problem.Detail
	}
	return e.Problem.Title
}

// Unwrap returns the engine's errors.
func (e *Error) Unwrap() []error { return e.causes }

// errorOf returns the error of an error reply.
func errorOf(resp *http.Response, body io.Reader) error {
	if resp.StatusCode/100 == 3 {
		return fmt.Errorf("%w: status %d, and redirects are not followed", ErrReply, resp.StatusCode)
	}
	const most = 4 << 20
	data, err := io.ReadAll(io.LimitReader(body, most))
	var p api.Problem
	if err != nil || json.Unmarshal(data, &p) != nil || p.Status != resp.StatusCode {
		// The reply is not from a Carrel server, and its body may be
		// anything.
		p = api.Problem{Type: "about:blank", Title: strings.ToLower(http.StatusText(resp.StatusCode)), Status: resp.StatusCode}
		p.Detail = strings.TrimSpace(fmt.Sprintf("the server answers with status %d %s", p.Status, p.Title))
	}
	return newError(&p)
}

// problemOf returns the error of a problem document.
func problemOf(data []byte) error {
	var p api.Problem
	if err := json.Unmarshal(data, &p); err != nil {
		return fmt.Errorf("%w: %w", ErrReply, err)
	}
	return newError(&p)
}

func newError(p *api.Problem) *Error {
	e := &Error{Problem: *p}
	if err := sentinel(p); err != nil {
		e.causes = append(e.causes, err)
	}
	if p.About != "" {
		e.causes = append(e.causes, &api.SubjectError{Subject: p.About, Err: errors.New(p.Detail)})
	}
	e.causes = append(e.causes, figures(p)...)
	return e
}

// sentinel returns the sentinel for errors.Is, or nil for input errors, which
// are typed: see figures.
func sentinel(p *api.Problem) error {
	slug, _ := strings.CutPrefix(p.Type, api.TypePrefix)
	for _, k := range api.Kinds() {
		if k.Slug == slug && k.Status == p.Status {
			return k.Is
		}
	}
	return nil
}

// figures returns the typed errors for which a problem has figures.
func figures(p *api.Problem) []error {
	var list []error
	if f := p.Floor; f != nil {
		list = append(list, &pager.FloorError{Budget: f.Budget, Need: f.Need, Fixed: f.Fixed, Held: f.Held})
	}
	if len(p.Refused) > 0 {
		list = append(list, &pager.DiscardError{Refused: p.Refused, Named: len(p.Refused)})
	}
	if len(p.Attempts) > 0 {
		list = append(list, &api.ProbesError{Attempts: p.Attempts, Report: reportOf(p)})
	}
	if len(p.Violations) > 0 {
		list = append(list, &api.InvalidError{Violations: p.Violations})
	}
	if c := p.Conflict; c != nil {
		list = append(list, conflictOf(c))
	}
	if len(p.Failures) > 0 {
		list = append(list, &contract.RunError{Failures: p.Failures})
	}
	if s := p.Shorter; s != nil {
		list = append(list, new(api.ShorterError(*s)))
	}
	if p.Type == api.TypePrefix+api.Input.Slug && (p.File != "" || p.Line != 0 || p.Field != "") {
		list = append(list, &transcript.SyntaxError{Name: p.File, Line: p.Line, Field: p.Field, Text: p.Detail, Hint: p.Hint})
	}
	return list
}

// reportOf returns the report of the best attempt with its unanswered probes.
func reportOf(p *api.Problem) *probe.Report {
	best := (&api.ProbesError{Attempts: p.Attempts}).Best()
	return &probe.Report{Tally: probe.Tally{Total: best.Probes, Passed: best.Passed}, Score: best.Score, Results: p.Probes}
}

func conflictOf(c *api.Contradiction) error {
	e := &contract.ConflictError{Decision: c.Decision}
	for _, o := range c.Others {
		e.Conflicts = append(e.Conflicts, contract.Conflict{Decision: o.Decision, List: o.List, Stem: o.About, Value: o.Value})
	}
	return e
}
