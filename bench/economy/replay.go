package main

import (
	"slices"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/token"
)

// A way is a way to make windows smaller.
type way struct {
	name string

	// fit makes the window of a call smaller, if necessary.
	fit func(r *replay, k *call)

	// take returns the form in which a new message, given by its index, is sent. If it is nil,
	// messages are sent unchanged.
	take func(r *replay, at int) retention.Message
}

// A replay sends a conversation, call by call.
type replay struct {
	*conversation
	law    *law
	window token.Count
	long   bool // whether breakpoints are for an hour

	cache *economy.Cache
	sent  []retention.Message
	links []economy.Link // links of the window, with the frame in front
	size  token.Count    // tokens of links
	last  time.Time      // time of the previous call
	made  token.Count    // size when the window was last made smaller, or 0
	added token.Count    // original tokens added to the window since the previous call
	edits int            // edits before the previous call
	calls int            // number of calls so far
	res   result

	papers int // number of judged papers
}

// A result is the cost of a way and the quality of its windows.
type result struct {
	cost    economy.Money
	largest token.Count // largest prompt
	edits   int         // number of times that the window was made smaller
	over    int         // calls whose prompt exceeded the window
	ground  float64     // mean over the cases, or -1 if there is none
	bill    bill

	strings, all int // strings of the exams in the windows, and in total
}

// A bill is the cost of a way by purpose.
type bill struct {
	fresh  economy.Money // sending the text added since the previous call
	cold   economy.Money // sending text again because the cache had expired
	edit   economy.Money // sending text again because an edit changed what stands before it
	read   economy.Money
	output economy.Money
	asked  economy.Money // calls that wrote a summary
}

// play replays a conversation with a way.
func play(c *conversation, w *way, l *law, window token.Count, long bool) result {
	r := &replay{conversation: c, law: l, window: window, long: long, cache: economy.NewCache(rulesOf(c))}
	r.push(economy.Link{Digest: digest.Of([]byte("frame")), Tokens: c.frame})
	r.added = c.frame
	done, grounds, judged := 0, 0.0, 0
	for i := range c.calls {
		k := &c.calls[i]
		for ; done < k.at; done++ {
			r.take(w, done)
		}
		if w.fit != nil {
			w.fit(r, k)
		}
		for _, at := range c.cases {
			if at.At == k.at {
				grounds += at.Score(r.sent, int(window))[retention.ScoreGround]
				judged++
			}
		}
		r.examine(k.at)
		r.send(k, k.output, nil)
		r.last = k.time
		r.calls++
	}
	r.finish(w, done)
	r.res.ground = -1
	if judged > 0 {
		r.res.ground = grounds / float64(judged)
	}
	return r.res
}

// rulesOf returns the rules of the cache for a conversation's first model.
func rulesOf(c *conversation) economy.Rules { return c.calls[0].tariff.Rules }

func (r *replay) take(w *way, at int) {
	m, l := r.Messages[at], r.linked[at]
	if w.take != nil {
		if short := w.take(r, at); short.Text != m.Text {
			m, l = short, link(&short)
		}
	}
	r.sent = append(r.sent, m)
	r.push(l)
	r.added += l.Tokens
}

func (r *replay) push(l economy.Link) {
	r.links = append(r.links, l)
	r.size += l.Tokens
}

// replace replaces the messages of the window by msgs, which may have some of them unchanged.
func (r *replay) replace(msgs []retention.Message) {
	r.sent = msgs
	r.links, r.size = r.links[:1:1], r.frame
	for i := range msgs {
		r.push(link(&msgs[i]))
	}
	r.made = r.size
	r.res.edits++
}

// send sends the window, followed by the link in ask, which requests a summary, if that is not nil.
// It sets cache breakpoints behind the frame, the last message, and a message 20 messages before
// that one. So the previous call's prompt is found in the cache unless very many messages were
// added.
func (r *replay) send(k *call, output token.Count, ask *economy.Link) {
	s := &economy.Submission{At: k.time, Model: k.tariff.Name, Links: r.links}
	if ask != nil {
		s.Links = append(slices.Clip(s.Links), *ask)
	}
	for _, at := range []int{0, len(s.Links) - 20, len(s.Links) - 1} {
		s.Marks = append(s.Marks, economy.Breakpoint{After: at, Long: r.long})
	}
	spend := r.cache.Send(s)
	size := spend.Prompt()
	spend.Output = output
	r.charge(k, spend, ask != nil)
	r.res.largest = max(r.res.largest, size)
	if size > r.window {
		r.res.over++
	}
}

// charge adds the cost of a call. Of the text that was not cached, the part added since the
// previous call is new; the rest was sent before. If asked is true, the call only wrote a summary.
func (r *replay) charge(k *call, spend economy.Spend, asked bool) {
	c := k.tariff.Charge(spend)
	b, sent := &r.res.bill, spend.Written()+spend.Uncached
	r.res.cost += c.Total()
	if asked {
		b.asked += c.Total()
		return
	}
	fresh := economy.Money(0)
	if sent > 0 {
		fresh = economy.Money(float64(c.Write+c.Uncached) * min(1, float64(r.added)/float64(sent)))
	}
	again := &b.cold
	if r.edits < r.res.edits && (r.warm(k) || r.last.IsZero()) {
		again = &b.edit
	}
	*again += c.Write + c.Uncached - fresh
	b.fresh, b.read, b.output = b.fresh+fresh, b.read+c.Read, b.output+c.Output
	r.added, r.edits = 0, r.res.edits
}

// warm reports whether the cache still has the prompt of the previous call, which expires with
// time.
func (r *replay) warm(k *call) bool {
	return !r.last.IsZero() && k.tariff.Warm(r.last, k.time, r.long)
}
