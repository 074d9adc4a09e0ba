package contexts

import (
	"context"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/engine/hold"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A source holds the inputs of a context: the format, the meter and the session.
type source struct {
	scope  governance.Scope
	req    *api.AssembleRequest
	format transcript.Format // nil for text
	meter  hold.Meter
	held   *hold.Snapshot // nil without a session
	opened opened         // the window of the session
	query  string         // steers triage: the query of the request, or else the intent of the session
}

// An opened is the window of a session as it goes into a context.
type opened struct {
	window *transcript.Window
	losses []transcript.Loss
}

// prepare sets up the format, the meter and the session of a request.
func (e *Contexts) prepare(ctx context.Context, scope governance.Scope, req *api.AssembleRequest) (*source, error) {
	src := &source{
		scope: scope, req: req, query: req.Query, meter: hold.Meter{Counter: e.ArtifactCounter()},
		opened: opened{window: &transcript.Window{Session: &transcript.Session{}}},
	}
	switch req.Format {
	case "", api.FormatText:
	case "openai", "anthropic", "responses":
		var err error
		if src.format, err = hold.FormatNamed(req.Format); err != nil {
			return nil, err
		}
		src.meter.Framing = hold.FramingOf(src.format.Name())
	default:
		return nil, fmt.Errorf("%w: a context is written as openai, anthropic, responses or text, not %q", api.ErrFormat, req.Format)
	}
	if req.Session != "" {
		if err := e.openSession(ctx, src); err != nil {
			return nil, err
		}
	}
	if req.Model != "" {
		src.meter.Counter = token.ForModel(req.Model)
	}
	return src, nil
}

// openSession reads the session of a request.
func (e *Contexts) openSession(ctx context.Context, src *source) error {
	h, err := e.Load(ctx, src.scope, src.req.Session)
	if err != nil {
		return err
	}
	m, err := e.MeterFor(h.Session, h.Head.Encoding)
	if err != nil {
		return err
	}
	src.held, src.meter.Counter = h, m.Counter
	stubs, err := e.Stubs(ctx, src.scope, h.Rows)
	if err != nil {
		return err
	}
	src.opened = src.open(h.Rows, stubs)
	if src.req.Query == "" {
		src.query = strings.Join(hold.IntentOf(h, nil), " ")
	}
	return waiting(src.opened.window)
}

// open returns the window that goes into the context.
func (src *source) open(rows []store.Block, stubs map[transcript.BlockID]pager.Stub) opened {
	return src.shown(src.held.Window(rows, stubs, src.held.Summary))
}

// shown returns w as the context shows it. Like carrel.Engine.Export, it removes thinking that is
// valid only behind the text that preceded it, because the context may have other text before it.
// It may change w.
func (src *source) shown(w *transcript.Window) opened {
	o := opened{window: w}
	if src.format != nil {
		o.losses = hold.DropBoundThinking(o.window, src.format.Name(), true)
		o.window = hold.CloseQuotes(o.window, src.format.Name())
	}
	return o
}

// waiting returns an error if the last reply in the window has calls without results. The context
// could then not end with the query, because no message can stand between a call and its result.
func waiting(w *transcript.Window) error {
	open := make(map[string]bool)
	for i := range w.Entries {
		for _, c := range w.Entries[i].Calls() {
			open[c.ID] = true
		}
		for _, r := range w.Entries[i].Results() {
			delete(open, r.CallID)
		}
	}
	if len(open) > 0 && len(w.Entries[len(w.Entries)-1].Calls()) > 0 {
		return fmt.Errorf("%w: the last reply of session %s waits for the results of its tools: import them first", api.ErrRequest, w.Session.ID)
	}
	return nil
}

// formatName returns the name of the format.
func (src *source) formatName() string {
	if src.format == nil {
		return api.FormatText
	}
	return src.format.Name()
}

// trusted returns a text of the caller, in a tag with the given name if the format is text. A
// blank text gets the tag in every format, because providers refuse blank messages.
func (src *source) trusted(name, text string) string {
	if src.format == nil || strings.TrimSpace(text) == "" {
		return assembly.Tagged(name, text)
	}
	return text
}

// message returns the tokens of a message with one text.
func (src *source) message(text string) token.Count {
	if text == "" {
		return 0
	}
	return src.meter.Framing.Message + src.meter.Counter.Count(text)
}

// entry returns the tokens of a message of the session.
func (src *source) entry(e *transcript.Entry) token.Count {
	if src.format == nil {
		return src.meter.Counter.Count(assembly.Plain(e))
	}
	return src.meter.Entries([]transcript.Entry{*e})
}

// windowTokens returns the tokens of the window of the session.
func (src *source) windowTokens(w *transcript.Window) token.Count {
	var n token.Count
	for i := range w.Entries {
		n += src.entry(&w.Entries[i])
	}
	return n
}

// shownTokens returns the most tokens that entries of the session have in the context, whatever
// entries come before and after them. It may change the entries.
func (src *source) shownTokens(entries []transcript.Entry) token.Count {
	return src.windowTokens(src.shown(&transcript.Window{Session: src.held.Session, Entries: entries}).window)
}

// count counts the tokens of a text.
func (src *source) count(text string) token.Count { return src.meter.Counter.Count(text) }
