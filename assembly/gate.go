package assembly

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/ratio"
)

// DefaultThreshold is the least confidence at which a memory is committed.
const DefaultThreshold ratio.Ratio = 700_000

// A Proposal is a text that an actor wants remembered, with the facts that the caller knows
// about it.
type Proposal struct {
	Text      string
	Actor     string   // who proposes it
	Scope     string   // where it would be remembered
	Secrets   []string // kinds of credentials found in it
	Duplicate bool     // a live memory of the scope is equal after Normalize
	Prompt    []string // texts of the prompt that led to it, one for each segment
	Lineage   []string // texts of the memories that were recalled for that prompt
}

// A Verdict is the judgment of an evaluator outside of Carrel on a proposal. It is valid only for
// the content, scope and policy that it names; one that lacks any of them is not valid for a
// proposal that has it. carrel.Engine.Bind sets all three.
type Verdict struct {
	Evaluator  string        `json:"evaluator"`         // name of the evaluator
	Confidence float64       `json:"confidence"`        // from 0 to 1
	Content    digest.Digest `json:"content,omitempty"` // [digest.Of] the text that was judged, byte for byte
	Scope      string        `json:"scope,omitempty"`   // scope for which it was judged
	Policy     string        `json:"policy,omitempty"`  // policy under which it was judged
	Expires    time.Time     `json:"expires,omitzero"`  // the verdict is void from this time on; never if zero
}

// A GatePolicy says which verdicts [Gate] accepts. A nil policy is the zero policy.
type GatePolicy struct {
	Name      string      // equal to Verdict.Policy; an empty name accepts only an empty one
	Threshold ratio.Ratio // DefaultThreshold if not positive
}

// A GateOutcome is the result of [Gate] for a proposal. It is stored as its text.
type GateOutcome string

// The outcomes. Refuse outranks Hold, and Hold outranks Commit.
const (
	Commit GateOutcome = "commit"
	Hold   GateOutcome = "hold"   // kept apart until a person decides
	Refuse GateOutcome = "refuse" // not kept
)

// A GateDecision is the decision of [Gate] about a proposal.
type GateDecision struct {
	Outcome    GateOutcome
	Reasons    []Reason    // all that apply, sorted; none for Commit
	Confidence ratio.Ratio // of the verdict, rounded down; 0 if it has no valid one
}

// The reasons for which [Gate] refuses.
const (
	ReasonEmpty     Reason = "empty"     // no letter or digit to remember
	ReasonSecret    Reason = "secret"    // has a credential
	ReasonEcho      Reason = "echo"      // repeats the prompt
	ReasonDuplicate Reason = "duplicate" // is remembered already
	ReasonLoop      Reason = "loop"      // repeats a memory that was recalled for it
)

// The reasons for which [Gate] holds.
const (
	ReasonNoVerdict      Reason = "no verdict"
	ReasonUnnamed        Reason = "unnamed evaluator"
	ReasonSelf           Reason = "self evaluation" // the evaluator is the proposer, or a generic name such as "agent"
	ReasonConfidence     Reason = "not a confidence"
	ReasonBelow          Reason = "below threshold"
	ReasonExpired        Reason = "expired verdict"
	ReasonOtherContent   Reason = "verdict on other content"
	ReasonOtherScope     Reason = "verdict for another scope"
	ReasonOtherPolicy    Reason = "verdict under another policy"
	ReasonInstruction    Reason = "instruction"     // tells the assistant what to do
	ReasonHiddenControls Reason = "hidden controls" // Neutralize would change it
)

// Gate decides whether a proposal may become a memory. A nil v is no verdict: Gate then holds. now
// is compared with Verdict.Expires.
//
// It refuses a text without words, a credential, a duplicate, an echo and a loop. An echo
// repeats a segment of the prompt: the segment contains at least 80 percent of the proposal's
// runs of five words, or the whole proposal in one piece if the proposal has fewer than five
// runs. A loop repeats a memory that was recalled for the prompt: the proposal contains the
// memory, by the same measure. A memory with fewer than five runs counts only if it makes up 80
// percent of the proposal's words.
//
// It holds for review by a person: a proposal without a valid verdict, or with a confidence
// below the threshold, and a text that instructs the assistant or has hidden characters.
// Instructions are found by a list of English phrases: the list catches common ones, not clever
// ones.
//
// A confidence is compared by its shortest decimal form, cut after six digits: 0.7 meets a
// threshold of 0.7, 0.6999999 does not. NaN, infinities, negative zero and numbers outside of 0
// to 1 are not valid confidences.
func Gate(p *Proposal, v *Verdict, g *GatePolicy, now time.Time) GateDecision {
	if g == nil {
		g = &GatePolicy{}
	}
	refused := refusals(p)
	held := append(verdictReasons(v, p, g, now), reviewReasons(p.Text)...)
	d := GateDecision{Outcome: Commit, Reasons: append(refused, held...)}
	switch {
	case len(refused) > 0:
		d.Outcome = Refuse
	case len(held) > 0:
		d.Outcome = Hold
	}
	if v != nil {
		d.Confidence, _ = confidence(v.Confidence)
	}
	slices.Sort(d.Reasons)
	return d
}

// refusals returns the reasons to refuse a proposal.
func refusals(p *Proposal) []Reason {
	var reasons []Reason
	words := wordsOf(p.Text)
	if len(words.ends) == 0 {
		reasons = append(reasons, ReasonEmpty)
	}
	if len(p.Secrets) > 0 {
		reasons = append(reasons, ReasonSecret)
	}
	if p.Duplicate {
		reasons = append(reasons, ReasonDuplicate)
	}
	if slices.ContainsFunc(p.Prompt, func(segment string) bool { return words.within(wordsOf(segment)) }) {
		reasons = append(reasons, ReasonEcho)
	}
	if slices.ContainsFunc(p.Lineage, func(memory string) bool {
		m := wordsOf(memory)
		return (m.long() || 100*len(m.ends) >= 80*len(words.ends)) && m.within(words)
	}) {
		reasons = append(reasons, ReasonLoop)
	}
	return reasons
}

// verdictReasons returns the reasons why a verdict does not suffice to commit a proposal.
func verdictReasons(v *Verdict, p *Proposal, g *GatePolicy, now time.Time) []Reason {
	if v == nil {
		return []Reason{ReasonNoVerdict}
	}
	var reasons []Reason
	add := func(r Reason, applies bool) {
		if applies {
			reasons = append(reasons, r)
		}
	}
	name := Normalize(v.Evaluator)
	add(ReasonUnnamed, name == "")
	add(ReasonSelf, name != "" && (name == Normalize(p.Actor) || slices.Contains(selves, name)))
	threshold := g.Threshold
	if threshold <= 0 {
		threshold = DefaultThreshold
	}
	c, ok := confidence(v.Confidence)
	add(ReasonConfidence, !ok)
	add(ReasonBelow, ok && c < threshold)
	add(ReasonExpired, !v.Expires.IsZero() && !now.Before(v.Expires))
	add(ReasonOtherContent, !v.Content.Equal(digest.Of([]byte(p.Text))))
	add(ReasonOtherScope, v.Scope != p.Scope)
	add(ReasonOtherPolicy, v.Policy != g.Name)
	return reasons
}

// selves are the names of evaluators that mean the agent itself, whose verdict does not count.
var selves = []string{"agent", "assistant", "self", "model"}

// confidence returns a number from 0 to 1 in millionths, rounded down from its
// shortest decimal form, and false for any other number.
func confidence(f float64) (ratio.Ratio, bool) {
	if math.IsNaN(f) || math.Signbit(f) || f > 1 {
		return 0, false
	}
	whole, decimals, _ := strings.Cut(strconv.FormatFloat(f, 'f', -1, 64), ".")
	const places = 6
	n, err := strconv.ParseInt(whole+(decimals + "000000")[:places], 10, 64)
	return ratio.Ratio(n), err == nil
}

// reviewReasons returns why a person should see a text, whatever its verdict.
func reviewReasons(text string) []Reason {
	var reasons []Reason
	if orders.Get().MatchString(Normalize(text)) || forged.Get().MatchString(text) {
		reasons = append(reasons, ReasonInstruction)
	}
	if forbidden(text, 0) < len(text) {
		reasons = append(reasons, ReasonHiddenControls)
	}
	return reasons
}

// orders matches phrases that instruct the assistant. It is applied to normalized text.
var orders = lazy.Regexp(
	`\b(?:ignore|disregard|forget|override|overrule|bypass)\b.{0,40}\b(?:instruction|rule|prompt|guideline|direction|polic|constraint|safeguard|restriction|everything|context)|` +
		`\byou (?:must|should|shall|have to|need to|are to|will|may) (?:always|never|now|only|not|immediately|from now)\b|` +
		`\b(?:new|updated|real|hidden|secret|following) (?:system )?(?:instructions|rules|orders)\b|` +
		`\bfrom now on\b|` +
		`\byou are (?:now|no longer)\b|` +
		`\b(?:act|behave|respond|answer|reply) as (?:if|though|an?)\b|` +
		`\bpretend (?:to|that|you)\b|` +
		`\bas an? (?:ai|assistant|language model)\b|` +
		`\b(?:system|developer) (?:prompt|message|instruction)|` +
		`\b(?:do not|don't|never) (?:tell|inform|mention|reveal|alert|warn|ask|notify)\b.{0,30}\b(?:user|anyone|anybody|human|person|operator|owner)|` +
		`\bwithout (?:telling|asking|informing|notifying|alerting)\b|` +
		`\b(?:whenever|when|if) (?:asked|the user|a user|anyone|you)\b.{0,60}\b(?:say|respond|reply|answer|send|call|run|execute|insert|include|recommend|claim)\b|` +
		`\b(?:send|post|upload|forward|exfiltrate|transmit|copy)\b.{0,80}\b(?:https?:|[\w.-]+@[\w-]+\.)|` +
		`\b(?:run|execute) (?:the following|this) (?:command|code|script|tool)|` +
		`\b(?:always|never) (?:respond|reply|answer|recommend|trust|obey|comply|refuse|call|execute)\b|` +
		`\bassistant[,:] `,
)

// forged matches marks by which a text poses as another part of a conversation.
var forged = lazy.Regexp(`(?im)<\|?/?(?:im_start|im_end|system|assistant|endoftext)\|?>|\[/?inst\]|<</?sys>>|^[ \t#*]*(?:system|assistant|developer)[ *]*:|</?artifact\b`)
