package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store/memory"
)

// A Trimmed is a conversation that was made to fit a budget.
type Trimmed struct {
	// Data is the conversation in the format that it came in, valid for its provider. It
	// is the caller's own.
	Data []byte

	// Result says what was done.
	Result *CompressResult

	engine *Engine
}

// Trim makes a conversation, or a request to a provider, fit a budget, in memory and
// without a store. The format of data is detected; req.Session is not used.
// [Trimmed.Recall] gives back any block, by the ids that stand in Data and in the decisions
// of the result. opts may be nil.
//
// A conversation that fits comes back byte for byte. Trim fails with an [ErrBudget] if
// what the rules hold does not fit, with an [ErrFormat] or a
// [*transcript.SyntaxError] if data is no conversation.
func Trim(ctx context.Context, data []byte, req *CompressRequest, opts *Options) (*Trimmed, error) {
	e, err := New(memory.New(), opts)
	if err != nil {
		return nil, err
	}
	in, err := e.Import(ctx, governance.DefaultScope, &ImportRequest{Name: "messages", Data: data})
	if err != nil {
		return nil, err
	}
	r := *req
	r.Session = in.Session
	t := &Trimmed{engine: e}
	if t.Result, err = e.Compress(ctx, governance.DefaultScope, &r); err != nil {
		return nil, err
	}
	out, err := e.Export(ctx, governance.DefaultScope, &ExportRequest{Session: in.Session})
	if err != nil {
		return nil, err
	}
	t.Data = out.Data
	return t, nil
}

// Recall returns a block that left the window as a model reads it: what was said, called
// and returned, whole.
func (t *Trimmed) Recall(ctx context.Context, id string) ([]byte, error) {
	res, err := t.engine.Recall(ctx, governance.DefaultScope, &RecallRequest{Block: id, Text: true})
	if err != nil {
		return nil, err
	}
	return res.Data, nil
}
