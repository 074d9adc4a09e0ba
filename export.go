package carrel

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
	"github.com/carrel-dev/carrel/transcript/claudecode"
)

// Export writes what is in the window of a session in a format. An untouched
// session in its own format is what was imported, byte for byte. Every other
// result passes the format's validator; if it does not, the error is an
// [ErrInvalid] and there is no result.
//
// Where a model ties thinking to everything before it, thinking behind the first
// change is left out and listed among the losses. A model that is not known is taken
// for one that does: see [anthropic.BindsThinking].
func (e *Engine) Export(ctx context.Context, scope governance.Scope, req *ExportRequest) (_ *ExportResult, err error) {
	defer during("export session "+string(req.Session), &err)

	h, err := e.load(ctx, scope, req.Session)
	if err != nil {
		return nil, err
	}
	if err := h.conversation(); err != nil {
		return nil, err
	}
	f, err := FormatNamed(cmp.Or(req.To, h.head.Format))
	if err != nil {
		return nil, err
	}
	if err := checkBegin(req, f.Name()); err != nil {
		return nil, err
	}
	m, err := e.meterFor(h.session, h.head.Encoding)
	if err != nil {
		return nil, err
	}
	w := transcript.Whole(h.session)
	if !req.Whole {
		stubs, err := e.stubs(ctx, scope, h.rows)
		if err != nil {
			return nil, err
		}
		w = joined(h.window(h.rows, stubs, h.summary), f.Name())
	}
	w.As = req.As
	dropped := unbind(w, f.Name(), false)
	out, err := f.Encode(w)
	if err != nil {
		return nil, err
	}
	res := &ExportResult{
		Session: out.Session, Format: f.Name(), Data: out.Data, Bytes: len(out.Data),
		Tokens: m.fixed(h.session) + m.entries(w.Entries),
		Intact: f.Name() == h.head.Format && w.Intact(), Losses: append(dropped, out.Losses...), Repairs: out.Repairs,
	}
	if res.Session == "" {
		res.Session = req.Session
	}
	if res.Violations, err = f.Validate(out.Data); err != nil {
		return nil, err
	}
	if len(res.Violations) > 0 && !res.Intact {
		return nil, &InvalidError{Format: f.Name(), Violations: res.Violations}
	}
	return res, nil
}

// begins returns why the export cannot begin the new session that is asked for.
func checkBegin(req *ExportRequest, format string) error {
	switch {
	case req.As == "":
		return nil
	case format != "claudecode":
		return fmt.Errorf("%w: as: a new session needs the format claudecode, not %s", ErrRequest, format)
	case !claudecode.IsSessionID(string(req.As)):
		return fmt.Errorf("%w: as: %q is no UUID in lower case", ErrRequest, req.As)
	case req.As == req.Session:
		return fmt.Errorf("%w: as: %s is the session itself, which an export does not change", ErrRequest, req.As)
	}
	return nil
}

// unbind takes thinking out of a window behind its first change, if the model may
// bind thinking to what stands before it, and says what went. All of it goes where
// the beginning changes: in another format, which has system text and tools
// otherwise or not at all, and where prefixed says that other text stands before
// the window.
func unbind(w *transcript.Window, format string, prefixed bool) []transcript.Loss {
	if format == "openai" || !anthropic.BindsThinking(w.Session.Model) {
		return nil
	}
	first := 0
	for !prefixed && format == w.Session.Format && first < len(w.Entries) && !w.Entries[first].Changed() &&
		w.Entries[first].Source == &w.Session.Messages[first] {
		first++
	}
	var losses []transcript.Loss
	for i := first; i < len(w.Entries); i++ {
		e := &w.Entries[i]
		count, size := 0, 0
		for _, p := range e.Parts {
			if t, ok := p.(transcript.Thinking); ok {
				count++
				size += len(t.Text)
			}
		}
		if count > 0 {
			losses = append(losses, transcript.Loss{Message: i, What: "thinking bound to the unchanged prefix", Count: count, Bytes: size})
			*e = e.WithoutThinking()
		}
	}
	w.Entries = slices.DeleteFunc(w.Entries, func(e transcript.Entry) bool { return e.Bare && len(e.Parts) == 0 })
	return losses
}
