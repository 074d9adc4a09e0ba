package llm

import "context"

// A Generator writes text. Generators are safe for concurrent use.
type Generator interface {
	// Generate returns the model's reply to a prompt. A reply that was cut off is no error; its
	// Stop says so. With an error, there is no reply.
	Generate(ctx context.Context, p *Prompt) (*Reply, error)

	// Name returns the name and origin of the model. It is recorded with the
	// generated text.
	Name() string

	// Window returns the limit for the tokens of prompt and reply together, or 0 if it is
	// unknown.
	Window() int
}

// A Prompt is the input of a generator.
type Prompt struct {
	System    string // instructions; may be empty
	Text      string // the user's message
	MaxTokens int    // most tokens of the reply; 0 for the generator's default
}

// A Reply is the output of a generator.
type Reply struct {
	Text  string // valid UTF-8; with StopEnd it is not blank
	Model string // name that the server reports, or empty
	Stop  Stop
	Usage Usage
}

// A Stop is the reason why a reply ends. It is stored as its text.
type Stop string

// The reasons.
const (
	StopEnd     Stop = "end"     // the model finished
	StopLength  Stop = "length"  // the limit of tokens cut the reply off
	StopRefusal Stop = "refusal" // the model or a filter refused to go on
)

// Usage is the number of tokens of a call: those that the server reports, or else an upper
// bound.
type Usage struct {
	Input  int64
	Output int64
}

// Most returns an upper bound of the usage of a call with p. It holds because a token has at
// least one byte and the server obeys MaxTokens. If p.MaxTokens is 0, Output is 0 and no bound.
func (p *Prompt) Most() Usage {
	return Usage{Input: int64(len(p.System) + len(p.Text) + framing), Output: int64(p.MaxTokens)}
}

// framing is an upper bound of the tokens that a request has in addition to those of its texts.
const framing = 64

// Or returns u with each field that is 0 replaced by the field of v.
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

// Bound returns a number of tokens that a text rarely exceeds with any model: half its bytes.
// English text has about a quarter.
func Bound(text string) int { return (len(text) + 1) / 2 }
