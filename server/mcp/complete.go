package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/ops"
)

// maxCompletions is the most values of a completion that the protocol allows.
const maxCompletions = 100

// complete returns the ids of sessions or manifests that begin with the typed text. It returns
// none for other arguments.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	ids, err := s.ids(ctx, req.Params)
	if err != nil {
		return nil, s.broken(ctx, "completion/complete", err)
	}
	values := []string{}
	for _, id := range ids {
		if strings.HasPrefix(id, req.Params.Argument.Value) {
			values = append(values, id)
		}
	}
	shown := min(len(values), maxCompletions)
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{
		Values: values[:shown], Total: len(values), HasMore: shown < len(values),
	}}, nil
}

func (s *Server) ids(ctx context.Context, p *sdk.CompleteParams) ([]string, error) {
	switch {
	case p.Ref.URI == manifestURI+"{id}" && p.Argument.Name == "id":
		return s.manifestIDs(ctx)
	case p.Ref.URI == sessionURI+"{id}" && p.Argument.Name == "id", p.Ref.Name != "" && p.Argument.Name == "session":
		return s.sessionIDs(ctx)
	}
	return nil, nil
}

func (s *Server) sessionIDs(ctx context.Context) ([]string, error) {
	c, err := s.begin(ctx, &ops.Sessions.Operation)
	if err != nil {
		return nil, err
	}
	all, err := carrel.Items(c.Sessions(ctx, c.scope, &carrel.SessionsRequest{}))
	ids := make([]string, 0, len(all))
	for i := range all {
		ids = append(ids, string(all[i].Session))
	}
	return ids, err
}

func (s *Server) manifestIDs(ctx context.Context) ([]string, error) {
	c, err := s.begin(ctx, &ops.Manifests.Operation)
	if err != nil {
		return nil, err
	}
	all, err := carrel.Items(c.Manifests(ctx, c.scope, &carrel.ManifestsRequest{}))
	ids := make([]string, 0, len(all))
	for i := range all {
		ids = append(ids, all[i].ID)
	}
	return ids, err
}
