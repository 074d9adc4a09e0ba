package mcp

import (
	"context"
	"fmt"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

type statusArgs struct {
	Session string `json:"session,omitempty" jsonschema:"id of the session or the beginning of one; your own by default"`
}

type statusResult struct {
	Session   transcript.SessionID `json:"session"`
	Title     string               `json:"title,omitempty"`
	Model     string               `json:"model,omitempty"`
	Level     string               `json:"level"`          // "ok", "warn", "compress" or "critical"
	Sent      token.Count          `json:"sent,omitempty"` // tokens of the client's newest request; 0 if unknown
	Used      token.Count          `json:"used"`           // tokens in the window that Carrel holds
	Capacity  token.Count          `json:"capacity"`       // of the model's window
	Effective token.Count          `json:"effective"`      // of the capacity
	Figures   pager.Figures        `json:"figures"`
	Free      token.Count          `json:"free"`
	Reserved  token.Count          `json:"reserved"` // for the reply
	Fixed     share                `json:"fixed"`
	System    share                `json:"system"`
	Pinned    share                `json:"pinned"`
	Summary   share                `json:"summary"`
	Live      share                `json:"live"`
	Stubs     share                `json:"stubs"`
	Cold      share                `json:"cold"`
	Due       bool                 `json:"due"` // a compression is due
	Action    pager.Action         `json:"action"`
	Reasons   []string             `json:"reasons"`
	Target    token.Count          `json:"target"` // of a compression
	Note      string               `json:"note"`

	Proxy *carrel.ProxyState `json:"proxy,omitempty"` // state of the client's conversation in Carrel's proxy, or nil
}

type share struct {
	Blocks int         `json:"blocks"`
	Tokens token.Count `json:"tokens"`    // in the window
	Stands token.Count `json:"stand_for"` // tokens of the originals
}

func status() registrar {
	return &toolOf[statusArgs, statusResult]{
		Tool:  Tool{"status", []*ops.Operation{&ops.Context.Operation, &ops.Trigger.Operation}},
		title: "Status of the window",
		about: "Report how many tokens you send with a request, how full the window that Carrel holds of your session is, and with what, and whether a compression is due.",
		run: func(ctx context.Context, c *call, in *statusArgs) (*reply[statusResult], error) {
			id, err := c.session(ctx, in.Session)
			if err != nil {
				return nil, err
			}
			window, err := c.Context(ctx, c.scope, &carrel.ContextRequest{Session: id})
			if err != nil {
				return nil, err
			}
			due, err := c.Trigger(ctx, c.scope, &carrel.TriggerRequest{Session: id})
			if err != nil {
				return nil, err
			}
			note, err := c.note(ctx, window.Session, held)
			if err != nil {
				return nil, err
			}
			return statusReply(window, due, note), nil
		},
	}
}

// measured returns a sentence that gives n as a share of the effective window, and the default
// target of a compression. The text in what is the sentence's name for the size n.
func measured(what string, n token.Count, f *pager.Figures) string {
	return fmt.Sprintf("%s is %s of the %d tokens of the effective window, which is %s of all %d; compress cuts to %d by default",
		what, ratio.Of(n, f.Effective).Percent(), f.Effective, ratio.Of(f.Effective, f.Window).Percent(), f.Window, f.Target)
}

func statusReply(w *carrel.ContextResult, due *carrel.TriggerResult, note string) *reply[statusResult] {
	out := &statusResult{
		Session: w.Session, Title: w.Title, Model: w.Model, Level: w.Level, Sent: w.Sent, Used: w.Used, Capacity: w.Capacity,
		Effective: w.Effective, Figures: w.Figures, Free: w.Free, Reserved: w.Reserved,
		Fixed: share(w.Fixed), System: share(w.System), Pinned: share(w.Pinned), Summary: share(w.Summary),
		Live: share(w.Live), Stubs: share(w.Stubs), Cold: share(w.Cold),
		Due: due.Due, Action: due.Action, Reasons: append([]string{}, due.Reasons...), Target: due.Target,
		Note: note, Proxy: w.Proxy,
	}
	text := fmt.Sprintf("session %s: %s; Carrel holds a window of %d of %d tokens, level %s; %d live blocks, %d stubs in place of %d tokens, %d blocks out of the window; %d tokens free",
		w.Session, sent(w.Sent), w.Used, w.Capacity, w.Level, w.Live.Blocks, w.Stubs.Blocks, w.Stubs.Stands, w.Cold.Blocks, w.Free)
	text += "\n" + measured("the window", w.Used, &w.Figures)
	if p := w.Proxy; p != nil {
		text += fmt.Sprintf("\nthe newest request came to the proxy with %d bytes and was sent with %d, in epoch %d", p.Bytes, p.SentBytes, p.Epoch)
	}
	if due.Due {
		text += fmt.Sprintf("\na compression of it is due (%s); next: discard_messages or compress, to about %d tokens", strings.Join(due.Reasons, "; "), due.Target)
	}
	return &reply[statusResult]{text: []string{text + "\n" + note}, out: out}
}
