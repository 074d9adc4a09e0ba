package sessions

import (
	"bytes"
	"cmp"
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/transcript"
)

// Export encodes the window of a session in a format.
func (e *Sessions) Export(ctx context.Context, scope governance.Scope, req *api.ExportRequest) (_ *api.ExportResult, err error) {
	defer base.During("export", &err, "session "+string(req.Session))

	if req.As != "" {
		made, err := e.encode(ctx, scope, req)
		return made.Value, err
	}
	head, err := e.Head(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	kept, err := hold.View(&e.Views, scope, head, fmt.Sprint("export ", req.To, req.Whole), func() (hold.Viewed[*api.ExportResult], error) { return e.encode(ctx, scope, req) })
	if err != nil {
		return nil, err
	}
	res := new(*kept)
	res.Data = bytes.Clone(res.Data) // the caller owns it
	return res, nil
}

// encode encodes the window of a session.
func (e *Sessions) encode(ctx context.Context, scope governance.Scope, req *api.ExportRequest) (made hold.Viewed[*api.ExportResult], err error) {
	h, err := e.Load(ctx, scope, req.Session)
	if err != nil {
		return made, err
	}
	if err := h.CheckConversation(); err != nil {
		return made, err
	}
	f, err := hold.FormatNamed(cmp.Or(req.To, h.Head.Format))
	if err != nil {
		return made, err
	}
	if err := checkBegin(req, f); err != nil {
		return made, err
	}
	m, err := e.MeterFor(h.Session, h.Head.Encoding)
	if err != nil {
		return made, err
	}
	w := transcript.Whole(h.Session)
	if !req.Whole {
		stubs, err := e.Stubs(ctx, scope, h.Rows)
		if err != nil {
			return made, err
		}
		w = hold.JoinStubs(h.Window(h.Rows, stubs, h.Summary), f.Name())
	}
	w.As = req.As
	dropped := hold.DropBoundThinking(w, f.Name(), false)
	out, err := f.Encode(w)
	if err != nil {
		return made, err
	}
	res := &api.ExportResult{
		Session: out.Session, Format: f.Name(), Data: out.Data, Bytes: len(out.Data),
		Tokens: m.Fixed(h.Session) + m.Entries(w.Entries),
		Intact: f.Name() == h.Head.Format && w.Intact(), Losses: base.List(append(dropped, out.Losses...)), Repairs: base.List(out.Repairs),
	}
	res.Session = cmp.Or(res.Session, req.Session)
	if res.Violations, err = f.Validate(out.Data); err != nil {
		return made, err
	}
	if standing := hold.RemainingViolations(res.Violations); len(standing) > 0 && !res.Intact {
		return made, &api.InvalidError{Format: f.Name(), Violations: standing}
	}
	res.Violations = base.List(res.Violations)
	return hold.Viewed[*api.ExportResult]{Value: res, Head: h.Head, Bytes: len(res.Data)}, nil
}

// checkBegin returns an error if the export cannot start the new session that the request asks
// for.
func checkBegin(req *api.ExportRequest, f transcript.Format) error {
	if req.As == "" {
		return nil
	}
	resumed, ok := f.(transcript.Resumed)
	switch {
	case !ok:
		return fmt.Errorf("%w: as: no agent resumes a session of the format %s", api.ErrRequest, f.Name())
	case !resumed.IsSessionID(req.As):
		return fmt.Errorf("%w: as: %q is no id of a session in the format %s", api.ErrRequest, req.As, f.Name())
	case req.As == req.Session:
		return fmt.Errorf("%w: as: %s is the session itself, which an export does not change", api.ErrRequest, req.As)
	}
	return nil
}
