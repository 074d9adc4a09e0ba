package carrel

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A meter counts what messages cost: their texts by a counter, and what the
// provider adds for roles, calls and results.
type meter struct {
	counter token.Counter
	framing token.Framing
}

// meterFor returns the meter for a session: by the given encoding if it has
// been counted before, so that figures stay comparable, or by its model.
func (e *Engine) meterFor(s *transcript.Session, encoding string) (meter, error) {
	provider := "anthropic"
	if s.Format == "openai" {
		provider = "openai"
	}
	m := meter{framing: token.FramingOf(provider)}
	switch {
	case encoding != "" && (e.opts.Counter == nil || e.opts.Counter.Encoding() != encoding):
		c, err := token.Encoding(encoding)
		if err != nil {
			return meter{}, err
		}
		m.counter = c
	case e.opts.Counter != nil:
		m.counter = e.opts.Counter
	case s.Model == "" && s.Format == "openai":
		c, err := token.Encoding("o200k_base")
		if err != nil {
			return meter{}, err
		}
		m.counter = c
	default:
		m.counter = token.ForModel(s.Model)
	}
	return m, nil
}

// fixed returns what every window of s costs before its first message.
func (m meter) fixed(s *transcript.Session) token.Count {
	n := m.framing.Request
	if len(s.Tools) > 0 {
		n += m.framing.Tools + m.counter.Count(string(s.Tools))
	}
	return n
}

// block returns what the messages of a block cost.
func (m meter) block(msgs []transcript.Message, b *transcript.Block) token.Count {
	var n token.Count
	for _, i := range b.Messages {
		n += m.framing.Message + m.parts(msgs[i].Parts)
	}
	return n
}

// entries returns what entries of a window cost.
func (m meter) entries(entries []transcript.Entry) token.Count {
	var n token.Count
	for i := range entries {
		n += m.framing.Message + m.parts(entries[i].Parts)
	}
	return n
}

// thinking returns what of a block goes with its thinking: the thinking, and
// the framing of messages that have nothing else.
func (m meter) thinking(msgs []transcript.Message, b *transcript.Block) token.Count {
	var n token.Count
	for _, i := range b.Messages {
		others := false
		for _, p := range msgs[i].Parts {
			if t, ok := p.(transcript.Thinking); ok {
				n += m.part(t)
			} else {
				others = true
			}
		}
		if !others && len(msgs[i].Parts) > 0 {
			n += m.framing.Message
		}
	}
	return n
}

func (m meter) parts(parts []transcript.Part) token.Count {
	var n token.Count
	for _, p := range parts {
		n += m.part(p)
	}
	return n
}

func (m meter) part(p transcript.Part) token.Count {
	switch p := p.(type) {
	case transcript.Text:
		return m.counter.Count(string(p))
	case transcript.Thinking:
		if p.Redacted {
			return token.Count(len(p.Signature) / 4)
		}
		return m.counter.Count(p.Text)
	case transcript.ToolCall:
		return m.framing.Call + m.counter.Count(p.Name) + m.counter.Count(string(p.Input))
	case transcript.ToolResult:
		return m.framing.Result + m.parts(p.Content)
	case transcript.Media:
		if p.Kind == "image" {
			return token.ImageBound
		}
		return max(token.ImageBound, token.Count(len(p.Data)/16))
	case transcript.Opaque:
		return m.counter.Count(string(p.Raw))
	}
	return 0
}

// countBlocks counts all blocks, on all processors.
func (e *Engine) countBlocks(ctx context.Context, m meter, msgs []transcript.Message, blocks []transcript.Block) []token.Count {
	counts := make([]token.Count, len(blocks))
	tell := e.progress(ctx)
	var next, done atomic.Int64
	var crew crew
	for range min(runtime.GOMAXPROCS(0), len(blocks)) {
		crew.hire(func() {
			for i := next.Add(1) - 1; i < int64(len(blocks)); i = next.Add(1) - 1 {
				counts[i] = m.block(msgs, &blocks[i])
				if n := done.Add(1); n%64 == 0 {
					tell("count", int(n), len(blocks))
				}
			}
		})
	}
	crew.finish()
	return counts
}
