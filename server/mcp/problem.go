package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/text"
)

// errBug is what a client gets instead of an unexpected error or a panic. The log has the
// cause.
var errBug = errors.New("internal error of Carrel; the log of the server has the cause")

// A hintedError is an error with a hint what to do next. The hint replaces the one that [hint]
// would give.
type hintedError struct {
	error
	hint string
}

func (e *hintedError) Unwrap() error { return e.error }

// problem returns the problem document for an error. It logs unexpected errors and replaces them
// by errBug.
func (s *Server) problem(ctx context.Context, where string, err error) *api.Problem {
	if api.KindOf(err) == api.Unexpected && !errors.Is(err, errBug) {
		s.log.ErrorContext(ctx, "unexpected error", "where", where, "error", typesOf(err))
		err = errBug
	}
	p := api.NewProblem(err)
	p.Detail, p.Hint = text.Clip(strings.ToValidUTF8(p.Detail, "\ufffd"), maxDetail), hint(err)
	return p
}

// typesOf returns the types of an error and of the errors it wraps. The log must not have their
// text, which may quote content.
func typesOf(err error) string {
	var types []string
	for ; err != nil; err = errors.Unwrap(err) {
		types = append(types, fmt.Sprintf("%T", err))
	}
	return strings.Join(types, " ")
}

// maxDetail is the most bytes of an error text. Longer texts are cut, because they may quote
// the arguments of a call.
const maxDetail = 2000

// failed returns an error as an error result of a tool.
func (s *Server) failed(ctx context.Context, tool string, err error) *sdk.CallToolResult {
	p := s.problem(ctx, tool, err)
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: words(p)}}, StructuredContent: p}
}

// words returns a problem as text: the error, each refused block with the reason, and the hint.
func words(p *api.Problem) string {
	var b strings.Builder
	b.WriteString(p.Detail)
	const most = 50
	for _, r := range p.Refused[:min(most, len(p.Refused))] {
		fmt.Fprintf(&b, "\n%s  %s", text.Clip(r.Block, maxWord), r.Reason)
	}
	if n := len(p.Refused) - most; n > 0 {
		fmt.Fprintf(&b, "\nand %d more", n)
	}
	if p.Hint != "" {
		fmt.Fprintf(&b, "\nnext: %s", p.Hint)
	}
	return b.String()
}

// hint returns a sentence that tells the model how to go on after an error, or
// "" if there is none.
func hint(err error) string {
	if e, ok := errors.AsType[*hintedError](err); ok {
		return e.hint
	}
	if e, ok := carrel.Floor(err); ok {
		return fmt.Sprintf("ask for %d tokens or more, or for the smallest size, or unpin something", e.Need)
	}
	if api.SubjectOf(err) == api.SubjectStore {
		return "no conversation was imported yet; the person can, with carrel import"
	}
	return hints(api.KindOf(err).Slug)
}

func hints(slug string) string {
	switch slug {
	case api.NotFound.Slug:
		return "get_messages lists the ids of a session, search finds blocks by words"
	case api.Ambiguous.Slug:
		return "give more of the id"
	case api.Denied.Slug:
		return "go on without this; your credential does not permit it"
	case api.ProbesFailed.Slug:
		return "nothing was changed; try a larger target, or strategy importance"
	case api.Invalid.Slug:
		return "nothing was changed; go on without this"
	case api.Refused.Slug:
		return "nothing was changed; go on without this, or ask the person"
	case api.Gone.Slug:
		return "the bytes were erased for good; do not ask again"
	case api.Conflict.Slug, api.Busy.Slug, api.Timeout.Slug:
		return "try again"
	case api.Unexpected.Slug:
		return "go on without this"
	}
	return ""
}

// broken returns an error as an error of the protocol, for requests other than tool calls.
func (s *Server) broken(ctx context.Context, where string, err error) error {
	p := s.problem(ctx, where, err)
	wire := &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: words(p)}
	if p.Status >= 500 {
		wire.Code = jsonrpc.CodeInternalError
	}
	if data, err := json.Marshal(p); err == nil {
		wire.Data = data
	}
	return wire
}

// guard wraps the handler of all requests: it turns panics and unexpected errors into answers of
// the protocol.
func (s *Server) guard(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		tool := s.toolOf(req)
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			s.log.ErrorContext(ctx, "panic", "method", method, "tool", tool, "type", fmt.Sprintf("%T", v), "stack", string(debug.Stack()))
			if tool != "" {
				res, err = s.failed(ctx, tool, errBug), nil
			} else {
				res, err = nil, s.broken(ctx, method, errBug)
			}
		}()
		if r, ok := req.(*sdk.ListResourcesRequest); ok {
			return s.listResources(ctx, r)
		}
		res, err = next(ctx, method, req)
		if err != nil && tool != "" {
			return s.failed(ctx, tool, unanswered(err)), nil
		}
		if err != nil && err.Error() == errUnknown.Error() {
			return nil, s.broken(ctx, method, fmt.Errorf("%w: no resource has this URI; want one that resources/list or a template gives", carrel.ErrRequest))
		}
		if err != nil {
			return nil, err
		}
		switch r := res.(type) {
		case *sdk.ListToolsResult:
			slices.SortFunc(r.Tools, func(a, b *sdk.Tool) int { return s.order[a.Name] - s.order[b.Name] })
		case *sdk.CallToolResult:
			if r.IsError && r.StructuredContent == nil {
				// The SDK refused the arguments, which do not match the schema.
				return s.failed(ctx, tool, fmt.Errorf("%w: %s", carrel.ErrRequest, text.Clip(textOf(r), maxDetail/2))), nil
			}
		}
		return res, nil
	}
}

// errUnknown is the SDK's error for a resource that does not exist. It quotes the URI as Go does: if
// that is no JSON, sending the error ends the connection.
var errUnknown = sdk.ResourceNotFoundError("")

// toolOf returns the name of the tool that a request calls, or "".
func (s *Server) toolOf(req sdk.Request) string {
	r, ok := req.(*sdk.CallToolRequest)
	if !ok || r.Params == nil {
		return ""
	}
	if _, known := s.order[r.Params.Name]; !known {
		return ""
	}
	return r.Params.Name
}

// unanswered returns the error of a call that failed outside of its tool. If a tool asks the
// person, the SDK puts the question between two calls of the tool; its errors have no type, only
// a prefix.
func unanswered(err error) error {
	if !strings.HasPrefix(err.Error(), "multi-round-trip") {
		return err
	}
	return &hintedError{
		fmt.Errorf("%w: the person did not answer the request for confirmation", carrel.ErrPolicy),
		"nothing was changed; do less at a time, so that the person need not be asked",
	}
}

func textOf(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}
