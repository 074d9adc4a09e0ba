package carrel

import (
	"context"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store/memory"
)

// A Trimmed is a conversation that fits a budget.
type Trimmed struct {
	// Data is the conversation in its original format, valid for its provider. The
	// caller owns it: it shares no memory with the argument of Trim.
	Data []byte

	// Result describes the compression.
	Result *CompressResult

	engine *Engine
}

// Trim makes a conversation, or a request to a provider, fit a budget, in
// memory and without a store. It detects the format of data and ignores
// req.Session and req.DryRun. opts may be nil. [Trimmed.Recall] returns any block by an id
// that appears in Data or in the decisions of the result. The caller must not change data as
// long as it uses the Trimmed, because Recall may read it.
//
// A conversation that fits is returned byte for byte. Trim fails like
// [Engine.Import], [Engine.Compress] and [Engine.Export].
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
	r.Session, r.DryRun = in.Session, false
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

// Recall returns the whole text of a block, in the window or not, by its id or a prefix of it:
// messages, calls and results as a model reads them. It fails like [Engine.Recall].
func (t *Trimmed) Recall(ctx context.Context, id string) ([]byte, error) {
	res, err := t.engine.Recall(ctx, governance.DefaultScope, &RecallRequest{Block: id, Text: true})
	if err != nil {
		return nil, err
	}
	return res.Data, nil
}
