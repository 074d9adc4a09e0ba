package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/memory"
)

// langchaingo loads a conversation into a token buffer, which drops the oldest messages until the
// rest is within its limit. The buffer counts by its own estimate. So the limit is the budget,
// converted by the ratio of the two counts of the conversation, and then corrected by the function
// fit.
func langchaingo(msgs []message, budget int) ([]kept, time.Duration, error) {
	history := make([]llms.ChatMessage, len(msgs))
	costs := make([]int, len(msgs)+1) // cost of the messages from each index on
	theirs := 0
	for i := len(msgs) - 1; i >= 0; i-- {
		history[i] = langchaingoMessage(&msgs[i])
		costs[i] = costs[i+1] + msgs[i].cost(msgs[i].Text)
		theirs += llms.CountTokens("", history[i].GetContent())
	}
	guess := float64(budget) * float64(theirs) / float64(max(costs[0], 1))
	best, err := fit(budget, guess, func(limit int) (attempt, error) {
		from, took, err := buffered(history, limit)
		return attempt{from, costs[from], took}, err
	})
	keep := []kept{}
	for i := best.from; i < len(msgs); i++ {
		keep = append(keep, kept{Source: i})
	}
	return keep, best.took, err
}

// An attempt is the result of a buffer with one limit: the index of the first message that stays,
// and the cost of all that stay.
type attempt struct {
	from, cost int
	took       time.Duration
}

// better reports whether attempt a uses the budget better than attempt b. If b is over the budget,
// a must cost less; otherwise a must cost more and not be over the budget.
func (a attempt) better(b attempt, budget int) bool {
	if b.cost > budget {
		return a.cost < b.cost
	}
	return a.cost <= budget && a.cost > b.cost
}

// fit tries up to eight limits, the first of them a guess, and returns the fullest
// result that is not over the budget.
func fit(budget int, guess float64, try func(limit int) (attempt, error)) (attempt, error) {
	var best attempt
	low, high, limit := 0.0, 0.0, guess
	for i := range 8 {
		a, err := try(int(limit))
		if err != nil {
			return a, err
		}
		if i == 0 || a.better(best, budget) {
			best = a
		}
		over := a.cost > budget
		switch {
		case over:
			high = limit
		case a.cost*100 >= budget*97:
			return best, nil
		default:
			low = limit
		}
		switch {
		case low > 0 && high > 0:
			limit = (low + high) / 2
		case over:
			limit *= 0.9 * float64(budget) / float64(a.cost)
		default:
			limit *= 1.1
		}
	}
	return best, nil
}

// buffered returns the first message that a buffer keeps. A buffer prunes when an exchange is
// saved, so an empty exchange is saved.
func buffered(history []llms.ChatMessage, limit int) (int, time.Duration, error) {
	ctx := context.Background()
	chat := memory.NewChatMessageHistory(memory.WithPreviousMessages(slices.Clone(history)))
	start := time.Now()
	buffer := memory.NewConversationTokenBuffer(nil, limit, memory.WithChatHistory(chat))
	if err := buffer.SaveContext(ctx, map[string]any{"in": ""}, map[string]any{"out": ""}); err != nil {
		return 0, 0, err
	}
	took := time.Since(start)
	left, err := chat.Messages(ctx)
	return len(history) - max(0, len(left)-2), took, err
}

// langchaingoMessage returns a message of langchaingo with the calls written into its
// content, because the buffer counts only the content.
func langchaingoMessage(m *message) llms.ChatMessage {
	switch m.Role {
	case "system":
		return llms.SystemChatMessage{Content: m.Text}
	case "user":
		return llms.HumanChatMessage{Content: m.Text}
	case "tool":
		return llms.ToolChatMessage{ID: m.CallID, Content: m.Text}
	}
	var text strings.Builder
	text.WriteString(m.Text)
	for _, c := range m.Calls {
		text.WriteString("\n" + c.Name + " " + c.Args)
	}
	return llms.AIChatMessage{Content: text.String()}
}
