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
	// ErrUnreachable means that there was no reply, or not all of it. A write may
	// have been made all the same.
	ErrUnreachable = errors.New("server cannot be reached")

	// ErrReply means that a reply is nothing that a server of Carrel would say, or is
	// too large.
	ErrReply = errors.New("reply cannot be used")

	errNoJSON = errors.New("is not JSON")
)

// An Error is what a server says about a job that it did not do. It wraps what the
// engine's error is, as far as it can be told from the problem: the sentinel, and
// those of [*pager.FloorError], [*pager.DiscardError], [*carrel.InvalidError],
// [*carrel.ProbesError], [*contract.ConflictError], [*contract.RunError] and
// [*transcript.SyntaxError] that there are figures of.
type Error struct {
	// Problem is what the server said, see RFC 9457.
	Problem api.Problem

	causes []error
}

// Error returns what the engine's error says.
func (e *Error) Error() string {
	if e.Problem.Detail != "" {
		return e.Problem.Detail
	}
	return e.Problem.Title
}

// Unwrap returns what the error is.
func (e *Error) Unwrap() []error { return e.causes }

// errorOf returns the error of a reply.
func errorOf(resp *http.Response, body io.Reader) error {
	if resp.StatusCode/100 == 3 {
		return fmt.Errorf("%w: status %d, and redirects are not followed", ErrReply, resp.StatusCode)
	}
	const most = 4 << 20
	data, err := io.ReadAll(io.LimitReader(body, most))
	var p api.Problem
	if err != nil || json.Unmarshal(data, &p) != nil || p.Status != resp.StatusCode {
		// It is not by a server of Carrel, and what it says may be anything.
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

// sentinel returns what errors.Is is to find, or nil for input, which has errors of its
// own: see figures.
func sentinel(p *api.Problem) error {
	slug, _ := strings.CutPrefix(p.Type, api.TypePrefix)
	for _, k := range api.Kinds() {
		if k.Slug == slug && k.Status == p.Status {
			return k.Is
		}
	}
	return nil
}

// figures returns the engine's errors that have the figures of a problem.
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

// reportOf returns the report of the last attempt, with the results that a problem
// has: those of the probes that were not answered.
func reportOf(p *api.Problem) *probe.Report {
	last := p.Attempts[len(p.Attempts)-1]
	return &probe.Report{Tally: probe.Tally{Total: last.Probes, Passed: last.Passed}, Score: last.Score, Results: p.Probes}
}

func conflictOf(c *api.Contradiction) error {
	e := &contract.ConflictError{Decision: c.Decision}
	for _, o := range c.Others {
		e.Conflicts = append(e.Conflicts, contract.Conflict{Decision: o.Decision, List: o.List, Stem: o.About, Value: o.Value})
	}
	return e
}
