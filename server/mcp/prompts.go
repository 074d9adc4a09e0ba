package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/internal/text"
)

func (s *Server) addPrompts() {
	session := &sdk.PromptArgument{Name: "session", Description: "id of the session or the beginning of one; your own by default"}
	s.addPrompt(&sdk.Prompt{
		Name: "compress", Title: "Tidy the window",
		Description: "Guide the agent in making the window that Carrel holds smaller.",
		Arguments:   []*sdk.PromptArgument{session},
	}, &ops.Messages.Operation, compressPrompt)
	s.addPrompt(&sdk.Prompt{
		Name: "handoff", Title: "Hand over",
		Description: "Hand a session over to another agent: facts, decisions, open questions and next steps.",
		Arguments: []*sdk.PromptArgument{
			session,
			{Name: "for", Description: "agent or person who continues"},
			{Name: "next", Description: "recommended next action"},
			{Name: "notes", Description: "notes for the agent or person who continues"},
		},
	}, &ops.Handoff.Operation, handoffPrompt)
}

// addPrompt adds a prompt that is one message of the user.
func (s *Server) addPrompt(
	p *sdk.Prompt, operation *ops.Operation, write func(ctx context.Context, c *call, args map[string]string) (string, error),
) {
	known := make(map[string]bool)
	for _, a := range p.Arguments {
		known[a.Name] = true
	}
	s.sdk.AddPrompt(p, func(ctx context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		c, err := s.begin(ctx, operation)
		if err != nil {
			return nil, s.broken(ctx, "prompts/get", err)
		}
		ctx, release, err := s.turn(ctx, c, []*ops.Operation{operation})
		if err != nil {
			return nil, s.broken(ctx, "prompts/get", err)
		}
		defer release()
		for name, value := range req.Params.Arguments {
			if !known[name] || len(value) > maxText {
				return nil, s.broken(ctx, "prompts/get", fmt.Errorf("%w: argument %q is unknown or has more than %d bytes", carrel.ErrRequest, text.Clip(name, maxWord), maxText))
			}
		}
		t, err := write(ctx, c, req.Params.Arguments)
		if err != nil {
			return nil, s.broken(ctx, "prompts/get", err)
		}
		return &sdk.GetPromptResult{
			Description: p.Description,
			Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: t}}},
		}, nil
	})
}

// tidying is the text of the prompt compress. It names the messages in the order in which an
// automatic discard takes them.
const tidying = `The window that Carrel holds of session %[1]s has about %[2]d tokens. %[5]s

Bring the window near its target of %[3]d tokens, and not below its floor of %[4]d.

1. Call get_messages with session %[1]q, page by page, and read the previews.
2. Choose single messages, not groups, in this order, and stop near the target:
   outputs that showed you files which you have examined, or that were changed or read again since;
   outputs of commands with a one-time purpose, such as find, rg, tree or a test run;
   quick checks of code; calls that only name the conversation;
   older messages of the user that were fully answered.
3. Leave alone: the newest message of the user and its answer, code edits, even finished ones, plans and conclusions, corrections, the first task. Rules keep these in any case, and a set in which there is one of them is refused as a whole, with reasons.
4. If you will need some of it word for word, pin it. If you may need it later, let it go: recall brings it back by its id.
5. Call discard_messages with the short_ids you chose. If it asks for a confirmation, look at the figures again before you give it.
6. If the window is still above its target, call compress, and then go on with your task.
`

func compressPrompt(ctx context.Context, c *call, args map[string]string) (string, error) {
	id, err := c.session(ctx, args["session"])
	if err != nil {
		return "", err
	}
	res, err := c.Messages(ctx, c.scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		return "", err
	}
	if res.Total <= res.Target {
		return fmt.Sprintf("The window that Carrel holds of session %s has about %d tokens, which is within its target of %d: nothing has to go. Go on with your task.",
			id, res.Total, res.Target), nil
	}
	note, err := c.note(ctx, id, held)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(tidying, id, res.Total, res.Target, res.Floor, note), nil
}

func handoffPrompt(ctx context.Context, c *call, args map[string]string) (string, error) {
	id, err := c.session(ctx, args["session"])
	if err != nil {
		return "", err
	}
	res, err := c.Handoff(ctx, c.scope, &carrel.HandoffRequest{Session: id, For: args["for"], Next: args["next"], Notes: args["notes"]})
	if err != nil {
		return "", err
	}
	return "Go on with the work that this packet hands over. Take as known only what it calls verified, hold to the decisions and corrections in it, and do not claim what it says must not be claimed. Ids in it are for the recall tool.\n\n" +
		res.Packet.Markdown(), nil
}
