package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

type discardArgs struct {
	ShortIDs []string `json:"short_ids" jsonschema:"ids of the messages to take out of the window, from get_messages; all go or none"`
	Session  string   `json:"session,omitempty" jsonschema:"id of the session or the beginning of one; your own by default"`
	Confirm  string   `json:"confirm,omitempty" jsonschema:"the code from an answer that asks for confirmation"`
}

type discardResult struct {
	Session   transcript.SessionID `json:"session"`
	Op        string               `json:"op"`
	Discarded []discarded          `json:"discarded"`
	Thinking  token.Count          `json:"thinking"`       // tokens of thinking in the discarded messages
	Sent      token.Count          `json:"sent,omitempty"` // tokens of the client's newest request; 0 if unknown
	Before    token.Count          `json:"before"`         // tokens of the window that Carrel holds
	After     token.Count          `json:"after"`          // tokens of the window that Carrel holds
	Target    token.Count          `json:"target_tokens"`
	Floor     token.Count          `json:"floor_tokens"`
	Continue  bool                 `json:"continue"`
	Message   string               `json:"message"`
	Note      string               `json:"note"`
}

type discarded struct {
	ShortID string         `json:"short_id"`
	Class   pager.Disposal `json:"class"`
	Tokens  token.Count    `json:"tokens"`
}

// discardMessages is the tool that discards messages by their ids. It asks for a confirmation if
// the discard takes thinking, which does not come back into the window by itself, or more than
// half of the window. It asks the person if the client can. Otherwise it fails with a code, and
// must be called again with that code, which is valid for the same messages in the same window.
func discardMessages() registrar {
	return &toolOf[discardArgs, discardResult]{
		Tool:        Tool{"discard_messages", []*ops.Operation{&ops.Discard.Operation}},
		title:       "Discard messages",
		about:       "Remove messages that are no longer needed from the window that Carrel holds of your session. This makes your requests smaller only if they go through Carrel's proxy, or once the session is exported and resumed; the answer says which. All of them go or none; each can be recalled. The call is refused, with reasons, if a rule keeps one of them or if the window would become smaller than its floor.",
		destructive: true,
		bound: func(p map[string]*jsonschema.Schema) {
			p["short_ids"].MinItems = new(1)
		},
		run: func(ctx context.Context, c *call, in *discardArgs) (*reply[discardResult], error) {
			id, err := c.session(ctx, in.Session)
			if err != nil {
				return nil, err
			}
			req := &carrel.DiscardRequest{Session: id, IDs: in.ShortIDs, DryRun: true}
			plan, err := c.Discard(ctx, c.scope, req)
			if err != nil {
				return nil, c.instead(ctx, id, err)
			}
			if ask, err := c.confirm(plan, in.Confirm); ask != nil || err != nil {
				return &reply[discardResult]{ask: ask}, err
			}
			note, err := c.note(ctx, id, unchanged) // before the write, so that a failure changes nothing
			if err != nil {
				return nil, err
			}
			req.DryRun = false
			res, err := c.Discard(ctx, c.scope, req)
			if err != nil {
				return nil, err
			}
			return discardReply(res, note), nil
		},
	}
}

func discardReply(res *carrel.DiscardResult, note string) *reply[discardResult] {
	out := &discardResult{
		Session: res.Session, Op: res.Op, Discarded: []discarded{}, Thinking: res.Thinking, Sent: res.Sent, Before: res.Before, After: res.After,
		Note: note, Target: res.Target, Floor: res.Floor, Continue: res.Continue, Message: res.Message,
	}
	var ids []string
	for i := range res.Discarded {
		d := &res.Discarded[i]
		ids = append(ids, d.ShortID)
		out.Discarded = append(out.Discarded, discarded{d.ShortID, d.Class, d.Tokens})
	}
	text := fmt.Sprintf("%s  discarded; the window that Carrel holds %d → %d tokens, target %d, floor %d; %s. %s\n%s",
		strings.Join(ids, " "), res.Before, res.After, res.Target, res.Floor, sent(res.Sent), res.Message, note)
	return &reply[discardResult]{text: []string{text}, out: out}
}

// instead returns the error refusal with a hint that names messages of the session id which may be
// discarded. These are the first messages, at most ten, that an automatic discard down to the floor
// would take. If that discard takes none or fails, the hint says that nothing may be discarded. If
// refusal is not the refusal of a discard, or the messages cannot be read, instead returns refusal
// unchanged.
func (c *call) instead(ctx context.Context, id transcript.SessionID, refusal error) error {
	if _, ok := carrel.Refused(refusal); !ok {
		return refusal
	}
	list, err := c.Messages(ctx, c.scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		return refusal
	}
	const most = 10
	var may []string
	plan, err := c.Discard(ctx, c.scope, &carrel.DiscardRequest{Session: id, Auto: true, To: max(list.Floor, 1), DryRun: true})
	if err == nil {
		for i := range plan.Discarded[:min(most, len(plan.Discarded))] {
			d := &plan.Discarded[i]
			may = append(may, fmt.Sprintf("%s (%s, %d tokens)", d.ShortID, d.Class, d.Tokens))
		}
	}
	if len(may) == 0 {
		return &hintedError{refusal, "nothing was discarded, and nothing may be: rules, pins and the floor keep all messages"}
	}
	return &hintedError{refusal, "nothing was discarded; discard these instead: " + strings.Join(may, ", ")}
}

// A question is a question to the person before a tool does something.
type question struct {
	text string
	code string // of the plan that it is about
}

// confirmation is the name of the only question.
const confirmation = "confirm"

func (q *question) result() *sdk.CallToolResult {
	return &sdk.CallToolResult{
		InputRequests: sdk.InputRequestMap{confirmation: &sdk.ElicitParams{
			Mode: "form", Message: q.text, RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
		}},
		RequestState: q.code,
	}
}

// confirm returns the question to ask before a plan is carried out, or an error if the person
// refused or the tool must be called with a code. It returns neither if the plan is confirmed
// or needs no confirmation.
func (c *call) confirm(plan *carrel.DiscardResult, code string) (*question, error) {
	if plan.Thinking == 0 && 2*plan.After >= plan.Before {
		return nil, nil
	}
	q := &question{code: codeOf(plan), text: fmt.Sprintf(
		"Take %d messages out of the window that Carrel holds of session %s? It goes from %d to %d tokens; %d of them are thinking. All of it can be recalled.",
		len(plan.Discarded), plan.Session, plan.Before, plan.After, plan.Thinking)}
	switch answer, ok := c.req.Params.InputResponses[confirmation].(*sdk.ElicitResult); {
	case ok && answer != nil && c.req.Params.RequestState == q.code:
		if answer.Action == "accept" {
			return nil, nil
		}
		return nil, &hintedError{
			fmt.Errorf("%w: the person did not agree", carrel.ErrPolicy),
			"nothing was discarded; name fewer messages, or go on without this",
		}
	case canAsk(c.req.ClientCapabilities()):
		return q, nil
	case code == q.code:
		return nil, nil
	}
	return nil, &hintedError{
		fmt.Errorf("%w: this takes the window that Carrel holds from %d to %d tokens, %d of them thinking, and must be confirmed",
			carrel.ErrPolicy, plan.Before, plan.After, plan.Thinking),
		fmt.Sprintf("nothing was discarded; name fewer messages, or the same ones again with confirm=%q", q.code),
	}
}

// canAsk reports whether a client can ask the person a question with a form.
func canAsk(client *sdk.ClientCapabilities) bool {
	if client == nil || client.Elicitation == nil {
		return false
	}
	// A client that does not say how it can ask can show a form.
	return client.Elicitation.Form != nil || client.Elicitation.URL == nil
}

// codeOf returns the code of a plan. Plans for different messages or for different windows
// have different codes.
func codeOf(plan *carrel.DiscardResult) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %d %d", plan.Session, plan.Before, plan.After, plan.Thinking)
	for i := range plan.Discarded {
		b.WriteString(" " + string(plan.Discarded[i].Block))
	}
	return digest.Of([]byte(b.String())).Short()
}
