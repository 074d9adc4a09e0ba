package upstream

import "math"

// A Step is a part of a script: one reply, or one that comes again.
//
// A request is answered by the first step, in the order of the script, that has
// not been used up and is about such requests. A script that leaves When out is so
// the course of one conversation, reply by reply.
type Step struct {
	Name string // shown in [Request.Step]

	// When tells whether a request is one of those the step is about. The default
	// is [Main]: the conversation itself, and none of the client's side calls. It
	// must not ask the server anything.
	When func(*Request) bool

	Times int // how often it is played; the default is once
	Reply Reply

	// Make, if it is set, makes the reply from the request, in place of Reply.
	Make func(*Request) Reply
}

// Always is the [Step.Times] of a step that is never used up.
const Always = math.MaxInt

// Main reports whether a request belongs to the conversation itself.
func Main(r *Request) bool { return r.Kind == KindMain }

// OfKind returns what tells whether a request is of a kind.
func OfKind(k Kind) func(*Request) bool {
	return func(r *Request) bool { return r.Kind == k }
}

// A Reply is what a request gets.
type Reply struct {
	Blocks []Block

	// Stop is why the reply ends. The default is tool_use if it calls a tool, and
	// end_turn otherwise.
	Stop string

	// InputTokens is how long the request is said to be, with nothing of it in a cache.
	// The default is how long the server finds it, and what the cache has of it.
	InputTokens int

	// Failure, if it is set, is what the request gets in place of a message, though
	// nothing is wrong with it.
	Failure *Refusal

	// Fault, if it is set, is what goes wrong while the answer is sent.
	Fault *Fault
}

// Say returns a reply of texts and calls.
func Say(blocks ...Block) Reply { return Reply{Blocks: blocks} }

// A Block is a part of a reply: [Text], [Thinking], [Redacted], [Call] or [Compaction].
type Block interface{ isBlock() }

// Text is what the model says.
type Text string

// Thinking is what it thinks. It is signed, left out where the request does not
// have the model think, and empty where the request does not want to see it.
type Thinking string

// Redacted is thinking that nobody is shown.
type Redacted struct{}

// A Call is a tool call.
type Call struct {
	ID   string // made up if it is empty
	Name string

	// Namespace is the group that the tool is in, for Responses.
	Namespace string

	Input any // encodes as a JSON object; a string is the input of a custom tool, for Responses
}

// A Compaction stands for all that stood before it, and only the provider can read it. Only
// the Responses API has it here.
type Compaction struct{}

func (Text) isBlock()       {}
func (Thinking) isBlock()   {}
func (Redacted) isBlock()   {}
func (Call) isBlock()       {}
func (Compaction) isBlock() {}

// A script is the steps of a server and how often each may still be played.
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

// next uses up the step that answers a request, if there is one.
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
