package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
)

// Connect connects a server with one transport, for tests.
func (s *Server) Connect(ctx context.Context, t sdk.Transport) error {
	_, err := s.sdk.Connect(ctx, t, nil)
	return err
}

// AddImport adds a tool that imports a conversation, for tests: a job with many steps.
func (s *Server) AddImport(data []byte) {
	t := &toolOf[struct{}, struct{}]{
		Tool: Tool{Name: "import"},
		run: func(ctx context.Context, c *call, _ *struct{}) (*reply[struct{}], error) {
			_, err := c.Import(ctx, c.scope, &carrel.ImportRequest{Name: "long.json", Data: data})
			return &reply[struct{}]{text: []string{"imported"}, out: &struct{}{}}, err
		},
	}
	s.order[t.Name] = len(s.order)
	t.register(s)
}

// Steps returns what a client is told of steps of jobs, one after the other.
func Steps(jobs []string, done, total []int) []float64 {
	var p steps
	var told []float64
	for i := range jobs {
		if at, ok := p.step(jobs[i], done[i], total[i]); ok {
			told = append(told, at)
		}
	}
	return told
}
