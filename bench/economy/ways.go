package main

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A law has the parameters of the way "managed", which is Carrel's.
type law struct {
	full, target int // percent of the window
	large        int // bytes above which a result is shortened
	payback      int // percent of the expected calls within which an edit must pay
}

// othersFull is the percent of the window at which the alternatives make it smaller.
const othersFull = 80

// Assumptions about summaries, and the limits of prune.
const (
	summaryTokens token.Count = 2_500
	summaryAsked  token.Count = 500
	pruned        token.Count = 20_000
)

// The ways that are compared. The first changes nothing, the last is Carrel's.
var ways = []way{
	{name: "none"},
	{name: "mask", fit: mask},
	{name: "summarize", fit: summarize},
	{name: "prune", fit: prune},
	{name: "managed", fit: manage, take: shorten},
}

// bare sends only the new messages of the conversation, with the reply before them. It is a
// lower bound, not a way to work: no way that sends those messages and the frame costs less.
var bare = way{name: "bare", fit: func(r *replay, _ *call) {
	if from := max(r.fresh()-1, 0); from > 0 {
		r.replace(r.sent[from:])
	}
}}

// percent returns n percent of the window in tokens.
func (r *replay) percent(n int) token.Count { return r.window * token.Count(n) / 100 }

// isFull reports whether the prompt must be made smaller because it exceeds a percentage of the
// window. It is false if the prompt was just made smaller, so that doing it again would change
// nothing.
func (r *replay) isFull(percent int) bool {
	return r.size > r.percent(percent) && r.size-r.made > r.window/50
}

// fresh returns the index in the window of the first message behind the last reply.
func (r *replay) fresh() int {
	for i := len(r.sent); i > 0; i-- {
		if r.sent[i-1].Role == transcript.RoleAssistant {
			return i
		}
	}
	return 0
}

func mask(r *replay, k *call) {
	if !r.isFull(othersFull) {
		return
	}
	for _, keep := range []int{10, 3, 0} {
		fresh := r.fresh()
		msgs := append(retention.Masked(r.sent[:fresh:fresh], keep), r.sent[fresh:]...)
		if size := r.frame + token.Count(retention.Cost(msgs)); size <= r.percent(othersFull) {
			r.replace(msgs)
			return
		}
	}
	summarize(r, k)
}

// summarize replaces all messages but the last reply and its results, which the client sends
// next, by a summary.
func summarize(r *replay, k *call) {
	from := max(r.fresh()-1, 0)
	if !r.isFull(othersFull) || from == 0 {
		return
	}
	ask := economy.Link{Digest: digest.Of([]byte("summarize")), Tokens: summaryAsked}
	r.send(k, summaryTokens, &ask)
	tail := r.sent[from:]
	r.replace(append(r.account(k.at-len(tail), int(summaryTokens)), tail...))
}

// prune clears results before the newest quarter of the window, once they have 20,000 tokens.
func prune(r *replay, k *call) {
	quarter, behind, sum := r.window/4, token.Count(0), token.Count(0)
	msgs := append([]retention.Message(nil), r.sent...)
	cleared := retention.Masked(r.sent, 0)
	for i := len(msgs) - 1; i >= 0; i-- {
		cost := token.Count(msgs[i].Cost())
		if behind > quarter && msgs[i].Role == transcript.RoleTool {
			sum += cost - token.Count(cleared[i].Cost())
			msgs[i] = cleared[i]
		}
		behind += cost
	}
	if sum >= pruned {
		r.replace(msgs)
	}
	summarize(r, k)
}

// shorten replaces a large result by a pointer to the stash.
func shorten(r *replay, at int) retention.Message {
	m := r.Messages[at]
	if m.Role != transcript.RoleTool || r.law.large == 0 || len(m.Text) <= r.law.large {
		return m
	}
	e, err := carrel.New(memory.New(), &carrel.Options{Rand: rand.NewChaCha8([32]byte{})}) // an id in a pointer has a fixed size
	if err != nil {
		return m
	}
	res, err := e.Stash(context.Background(), governance.DefaultScope, &carrel.StashRequest{Content: []byte(m.Text), Source: m.Tool, Tool: m.Tool, AllowSecrets: true})
	if err == nil && len(res.Pointer) < len(m.Text) {
		m.Text = res.Pointer
	}
	return m
}

// manage makes the window smaller under the same conditions as package internal/epoch. It does so
// if the window is full, unless it was just made smaller and would not shrink. It also does so if
// the gain is large enough and the cache has expired or the edit pays.
func manage(r *replay, k *call) {
	target, grown := r.percent(r.law.target), r.size-r.made
	gain, least := r.size-max(target, r.frame), r.window/10
	if !r.isFull(r.law.full) {
		if gain < least || r.made > 0 && grown < least {
			return
		}
		edit := economy.Edit{Removed: gain, Behind: max(target-r.frame, least), Warm: r.warm(k), Long: r.long}
		if edit.Warm && (r.law.payback == 0 || k.tariff.Payback(edit) > economy.Remaining(r.calls, nil)*r.law.payback/100) {
			return
		}
	}
	fresh := r.fresh()
	tail := r.sent[fresh:]
	room := int(target-r.frame) - retention.Cost(tail)
	head := r.account(k.at-len(tail), max(room, int(least)))
	if r.frame+token.Count(retention.Cost(head)+retention.Cost(tail)) < r.size {
		r.replace(append(head, tail...))
	} else {
		r.made = r.size // there is nothing to gain yet
	}
}

// A pack is the key of an account: the message up to which it was made, and its budget.
type pack struct{ upTo, budget int }

// account returns the account of the conversation up to a message within a budget. For a very
// long conversation, it uses only the newest messages.
func (c *conversation) account(upTo, budget int) []retention.Message {
	at := pack{upTo, budget}
	made, known := c.packs[at]
	if !known {
		from, cost := upTo, 0
		for from > 0 && cost < c.prefix {
			from--
			cost += c.Messages[from].Cost()
		}
		for from < upTo && c.Messages[from].Role != transcript.RoleUser { // it begins with a user message
			from++
		}
		made = retention.Strategies(nil, carrel.StrategyAccount)[0].Pack(c.Messages[from:upTo:upTo], budget)
		c.packs[at] = made
	}
	return slices.Clip(made)
}
