package main

import (
	"slices"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/token"
)

// A way makes windows smaller.
type way struct {
	name string

	// fit makes what is sent with a call smaller, if it wants to.
	fit func(r *replay, k *call)

	// take returns what is sent of a new message, which has an index. nil takes it as it is.
	take func(r *replay, at int) retention.Message
}

// A replay sends a conversation, call by call.
type replay struct {
	*conversation
	law    *law
	window token.Count
	long   bool // breakpoints are for an hour

	cache *economy.Cache
	sent  []retention.Message
	links []economy.Link // of sent, with the frame in front
	size  token.Count    // of links
	last  time.Time      // of the call before
	made  token.Count    // the size when the window was made smaller last, or 0
	added token.Count    // to the window since the call before, as it came
	edits int            // before the call before
	calls int            // so far
	res   result

	papers int // that were judged
}

// A result is what a way cost.
type result struct {
	cost    economy.Money
	largest token.Count // prompt
	edits   int         // how often the window was made smaller
	over    int         // calls whose prompt was larger than the window
	ground  float64     // mean over the cases, or -1 if there is none
	bill    bill

	strings, all int // of the exams: that the windows have, and that there are
}

// A bill is what a way cost, by what for.
type bill struct {
	fresh  economy.Money // sending what is new for the first time, system text and tools included
	cold   economy.Money // sending again what the provider has forgotten
	edit   economy.Money // sending again what stands behind an edit
	read   economy.Money
	output economy.Money
	asked  economy.Money // calls that wrote a summary
}

// play replays a conversation in a way.
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

// rulesOf returns the rules of the cache of a conversation's first model. One that keeps
// nothing for an hour does so whatever is asked.
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

// replace has other messages in the window, of which some are as they were.
func (r *replay) replace(msgs []retention.Message) {
	r.sent = msgs
	r.links, r.size = r.links[:1:1], r.frame
	for i := range msgs {
		r.push(link(&msgs[i]))
	}
	r.made = r.size
	r.res.edits++
}

// send sends the window, with what else is asked there. The frame is marked, the last message,
// and one 20 messages before: so what was sent with the call before is found unless very much
// came at once.
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

// charge adds what a call cost. Of what it sent anew as much is new as was added since the
// call before; the rest was sent before.
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

// warm reports whether the provider still keeps what the call before sent.
func (r *replay) warm(k *call) bool {
	return !r.last.IsZero() && k.tariff.Warm(r.last, k.time, r.long)
}
