package llm

import "context"

// A Generator writes text. Generators are safe for concurrent use.
type Generator interface {
	// Generate returns the model's reply to a prompt. A reply that was cut off or
	// broken off is no error: its Stop says so. There is no reply if there is an
	// error.
	Generate(ctx context.Context, p *Prompt) (*Reply, error)

	// Name returns the name and origin of the model. It is recorded with the
	// generated text.
	Name() string

	// Window returns how many tokens prompt and reply may have together, or 0 if
	// that is not known.
	Window() int
}

// A Prompt is the input of a generator.
type Prompt struct {
	System    string
	Text      string
	MaxTokens int // of the reply; 0 for the generator's default
}

// A Reply is the output of a generator.
type Reply struct {
	Text  string // valid UTF-8; with StopEnd it is not blank
	Model string // as the server calls it; empty if it does not say
	Stop  Stop
	Usage Usage
}

// A Stop says why a reply ends. It is stored as its text.
type Stop string

// The reasons for which replies end.
const (
	StopEnd     Stop = "end"     // the model was done
	StopLength  Stop = "length"  // cut off
	StopRefusal Stop = "refusal" // the model or a filter would not go on
)

// Usage is the number of tokens of a reply, as the server reports it, or else
// an upper bound.
type Usage struct {
	Input  int64
	Output int64
}

// Most returns the most that a reply to p can have cost, since no token has less
// than a byte, and MaxTokens is heeded.
func (p *Prompt) Most() Usage {
	return Usage{Input: int64(len(p.System) + len(p.Text) + framing), Output: int64(p.MaxTokens)}
}

// framing is what a request has beside its texts, in tokens, and more.
const framing = 64

// Or returns u with its zero fields taken from v.
func (u Usage) Or(v Usage) Usage {
	if u.Input > 0 {
		v.Input = u.Input
	}
	if u.Output > 0 {
		v.Output = u.Output
	}
	return v
}

// Add returns the sum of two usages.
func (u Usage) Add(v Usage) Usage { return Usage{u.Input + v.Input, u.Output + v.Output} }

// Bound returns a number of tokens that a text hardly exceeds, whatever the
// model: half as many as it has bytes. English has about a quarter.
func Bound(text string) int { return (len(text) + 1) / 2 }
