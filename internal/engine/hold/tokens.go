package hold

import (
	"context"
	"runtime"
	"sync/atomic"

	"github.com/carrel-dev/carrel/internal/engine/base"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Meter counts the tokens of messages: those of their texts, and those that the provider adds
// for roles, calls and results.
type Meter struct {
	Counter token.Counter
	Framing token.Framing
}

// FramingOf returns the framing by which the messages of a format are counted: that of OpenAI for
// its formats, and that of Anthropic for all others.
func FramingOf(format string) token.Framing { return token.FramingOf(providerOf(format)) }

// providerOf returns the provider whose framing counts for a format: "openai" for the formats of
// OpenAI, and "anthropic" for all others, those of Google included.
func providerOf(format string) string {
	switch format {
	case "openai", "responses", "codex":
		return "openai"
	}
	return "anthropic"
}

// MeterFor returns the meter for a session. If the session was counted before, the meter uses the
// given encoding, so that figures stay comparable. Otherwise it uses the counter of the options or,
// if there is none, that of the session's model. It fails if no counter has the given encoding.
func (e *Desk) MeterFor(s *transcript.Session, encoding string) (Meter, error) {
	provider := providerOf(s.Format)
	m := Meter{Framing: token.FramingOf(provider)}
	switch {
	case encoding != "" && (e.Opts.Counter == nil || e.Opts.Counter.Encoding() != encoding):
		c, err := token.Encoding(encoding)
		if err != nil {
			return Meter{}, err
		}
		m.Counter = c
	case e.Opts.Counter != nil:
		m.Counter = e.Opts.Counter
	case s.Model == "" && provider == "openai":
		c, err := token.Encoding("o200k_base")
		if err != nil {
			return Meter{}, err
		}
		m.Counter = c
	default:
		m.Counter = token.ForModel(s.Model)
	}
	return m, nil
}

// Fixed returns the tokens that every window of s has before its first message: those of the tools
// and of the framing.
func (m Meter) Fixed(s *transcript.Session) token.Count {
	n := m.Framing.Request
	if len(s.Tools) > 0 {
		n += m.Framing.Tools + m.Counter.Count(string(s.Tools))
	}
	return n
}

// block returns the tokens of the messages of a block.
func (m Meter) block(msgs []transcript.Message, b *transcript.Block) token.Count {
	var n token.Count
	for _, i := range b.Messages {
		n += m.Framing.Message + m.Parts(msgs[i].Parts)
	}
	return n
}

// Entries returns the tokens of entries of a window.
func (m Meter) Entries(entries []transcript.Entry) token.Count {
	var n token.Count
	for i := range entries {
		n += m.Framing.Message + m.Parts(entries[i].Parts)
	}
	return n
}

// Thinking returns the tokens that a block loses if its thinking is removed. These are the tokens
// of the thinking, and the framing of messages that have nothing else.
func (m Meter) Thinking(msgs []transcript.Message, b *transcript.Block) token.Count {
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
			n += m.Framing.Message
		}
	}
	return n
}

// Parts returns the tokens of the parts of a message.
func (m Meter) Parts(parts []transcript.Part) token.Count {
	var n token.Count
	for _, p := range parts {
		n += m.part(p)
	}
	return n
}

func (m Meter) part(p transcript.Part) token.Count {
	switch p := p.(type) {
	case transcript.Text:
		return m.Counter.Count(string(p))
	case transcript.Thinking:
		if p.Redacted {
			return token.Count(len(p.Signature) / 4)
		}
		return m.Counter.Count(p.Text)
	case transcript.ToolCall:
		return m.Framing.Call + m.Counter.Count(p.Name) + m.Counter.Count(string(p.Input))
	case transcript.ToolResult:
		return m.Framing.Result + m.Parts(p.Content)
	case transcript.Media:
		if p.Kind == "image" {
			return token.ImageBound
		}
		return max(token.ImageBound, token.Count(len(p.Data)/16))
	case transcript.Opaque:
		return m.Counter.Count(string(p.Raw))
	}
	return 0
}

// CountBlocks returns the tokens of each block. It counts on all processors at once.
func (e *Desk) CountBlocks(ctx context.Context, m Meter, msgs []transcript.Message, blocks []transcript.Block) []token.Count {
	counts := make([]token.Count, len(blocks))
	tell := e.Progress(ctx)
	var next, done atomic.Int64
	var crew base.Workers
	for range min(runtime.GOMAXPROCS(0), len(blocks)) {
		crew.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(blocks)); i = next.Add(1) - 1 {
				counts[i] = m.block(msgs, &blocks[i])
				if n := done.Add(1); n%64 == 0 {
					tell("count", int(n), len(blocks))
				}
			}
		})
	}
	crew.Wait()
	return counts
}
