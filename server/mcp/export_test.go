package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Connect connects a server with one transport, for tests.
func (s *Server) Connect(ctx context.Context, t sdk.Transport) error {
	_, err := s.sdk.Connect(ctx, t, nil)
	return err
}
