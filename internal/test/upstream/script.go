package upstream

import "math"

// A Step is a part of a script: a reply that is used once or several times.
//
// A server answers a request with the first step of its script that may still be used and
// whose When returns true. If no step has a When, the script is one conversation, and the
// steps are its replies in order.
type Step struct {
	Name string // shown in [Request.Step]

	// When reports whether the step is for a request. The default is [Main]: requests of the
	// conversation itself, not the client's side calls. It must not call the server.
	When func(*Request) bool

	Times int // how often it is used; the default is once
	Reply Reply

	// Make, if it is set, makes the reply from the request, in place of Reply.
	Make func(*Request) Reply
}

// Always is the [Step.Times] of a step that is never used up.
const Always = math.MaxInt

// Main reports whether a request belongs to the conversation itself.
func Main(r *Request) bool { return r.Kind == KindMain }

// OfKind returns a function that reports whether a request is of a kind.
func OfKind(k Kind) func(*Request) bool {
	return func(r *Request) bool { return r.Kind == k }
}

// A Reply is the answer to a request.
type Reply struct {
	Blocks []Block

	// Stop is the reason why the reply ends. The default is tool_use if it calls a tool, and
	// end_turn otherwise.
	Stop string

	// InputTokens is the reported length of the request, without cached tokens. The default is
	// the server's count, with its cached part.
	InputTokens int

	// Failure, if it is set, is sent instead of a message, although the request is valid.
	Failure *Refusal

	// Fault, if it is set, occurs while the answer is sent.
	Fault *Fault
}

// Say returns a reply that consists of the given texts and calls.
func Say(blocks ...Block) Reply { return Reply{Blocks: blocks} }

// A Block is a part of a reply: [Text], [Thinking], [Redacted], [Call] or [Compaction].
type Block interface{ isBlock() }

// Text is text of the model.
type Text string

// Thinking is the model's thinking. It is signed. It is left out if the request does not ask
// for thinking, and empty if the request does not want to see it.
type Thinking string

// Redacted is thinking whose text the client does not get.
type Redacted struct{}

// A Call is a tool call.
type Call struct {
	ID   string // made up if it is empty
	Name string

	// Namespace is the group that the tool is in, for Responses.
	Namespace string

	Input any // encodes as a JSON object; a string is the input of a custom tool, for Responses
}

// A Compaction replaces everything before it, and only the provider can read it. Here only the
// Responses API has it.
type Compaction struct{}

func (Text) isBlock()       {}
func (Thinking) isBlock()   {}
func (Redacted) isBlock()   {}
func (Call) isBlock()       {}
func (Compaction) isBlock() {}

// A script is the steps of a server, and how often each may still be used.
type script struct {
	steps []Step
	left  []int
}

func newScript(steps []Step) *script {
	s := &script{steps: steps}
	for _, step := range steps {
		s.left = append(s.left, max(step.Times, 1))
	}
	return s
}

// next returns the first step for the request r that is not used up, and counts its use. It
// returns false if there is none.
func (s *script) next(r *Request) (Step, bool) {
	for i, step := range s.steps {
		when := step.When
		if when == nil {
			when = Main
		}
		if s.left[i] > 0 && when(r) {
			s.left[i]--
			return step, true
		}
	}
	return Step{}, false
}

// defaultReply answers a request for which the script has no step.
func defaultReply(r *Request) Reply {
	switch r.Kind {
	case KindCompaction:
		if r.inline {
			return Say(Compaction{})
		}
		return Say(Text("<analysis>Nothing to analyze.</analysis>\n<summary>Nothing to summarize.</summary>"))
	case KindTitle:
		return Say(Text(`{"title": "A scripted session"}`))
	case KindMain, KindProbe, KindCount, KindSide:
	}
	return Say(Text("Done."))
}
