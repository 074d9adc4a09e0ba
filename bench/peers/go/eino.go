package main

import (
	"context"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/schema"
)

// einoTail clears the tool results before the newest message, and then keeps the newest messages
// that fit into the budget, because eino has no budget for a whole conversation. It makes eino
// clear as many results as possible, because fewer messages fit if results stay uncleared.
func einoTail(msgs []message, budget int) ([]kept, time.Duration, error) {
	list, took, err := einoClear(msgs)
	if err != nil {
		return nil, 0, err
	}
	from := len(list)
	for from > 0 && msgs[from-1].cost(list[from-1].Content) <= budget {
		from--
		budget -= msgs[from].cost(list[from].Content)
	}
	keep := []kept{}
	for i := from; i < len(list); i++ {
		k := kept{Source: i}
		if list[i].Content != msgs[i].Text {
			k.Text = &list[i].Content
		}
		keep = append(keep, k)
	}
	return keep, took, nil
}

// einoTailPairs works like einoTail, but its result never begins with a tool result, whose call
// would be missing.
func einoTailPairs(msgs []message, budget int) ([]kept, time.Duration, error) {
	keep, took, err := einoTail(msgs, budget)
	for len(keep) > 0 && msgs[keep[0].Source].Role == "tool" {
		keep = keep[1:]
	}
	return keep, took, err
}

func einoClear(msgs []message) ([]adk.Message, time.Duration, error) {
	ctx := context.Background()
	state := &adk.ChatModelAgentState{Messages: make([]adk.Message, len(msgs))}
	for i := range msgs {
		state.Messages[i] = einoMessage(&msgs[i])
	}
	start := time.Now()
	m, err := reduction.NewClearToolResult(ctx, &reduction.ClearToolResultConfig{
		ToolResultTokenThreshold: 1, // of 0 it makes its default
		KeepRecentTokens:         1,
		TokenCounter:             einoCost,
	})
	if err != nil {
		return nil, 0, err
	}
	err = m.BeforeChatModel(ctx, state)
	return state.Messages, time.Since(start), err
}

var einoRoles = map[string]schema.RoleType{
	"system": schema.System, "user": schema.User, "assistant": schema.Assistant, "tool": schema.Tool,
}

func einoMessage(m *message) *schema.Message {
	out := &schema.Message{Role: einoRoles[m.Role], Content: m.Text, ToolCallID: m.CallID, ToolName: m.Tool}
	for _, c := range m.Calls {
		out.ToolCalls = append(out.ToolCalls, schema.ToolCall{
			ID: c.ID, Type: "function", Function: schema.FunctionCall{Name: c.Name, Arguments: c.Args},
		})
	}
	return out
}

// einoCost returns the same cost as [message.cost].
func einoCost(m *schema.Message) int {
	n := len(m.Content)
	for i := range m.ToolCalls {
		n += len(m.ToolCalls[i].Function.Name) + len(m.ToolCalls[i].Function.Arguments)
	}
	return 4 + (n+3)/4
}
