package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Strategy says how a window is made smaller. It is stored as its text.
type Strategy string

// A CompressRequest says how small a session's window is to become.
type CompressRequest struct {
	Session transcript.SessionID `json:"session"`

	// Target is the size that is asked for. The default is half of the context window of the
	// session's model, and with [StrategyOpaque] a twentieth of what was imported.
	Target Target `json:"target,omitzero"`

	// Smallest asks for the smallest window that the strategy can make, in place of a
	// target: what [pager.FloorError.Need] says of a target that is too small. A strategy that
	// makes a summary has none.
	Smallest bool `json:"smallest,omitempty"`

	// Strategy is how. The default is that of the engine's options.
	Strategy Strategy `json:"strategy,omitempty"`

	// ProbeMin is the share of probes that the result must answer, besides all
	// critical ones; 0 accepts whatever comes. The default is
	// that of [probe.DefaultPolicy] where a summary is made. With it, results of the other strategies must
	// answer, too.
	ProbeMin *ratio.Ratio `json:"probe_min,omitempty"`

	// Window is the context window, in tokens. The default is that of the
	// engine's options.
	Window token.Count `json:"window,omitempty"`

	// Auto marks a pass that nobody asked for: it goes no lower than the floor,
	// see [pager.Floor].
	Auto bool `json:"auto,omitempty"`

	// Intent has words for what the agent is about to do, or intents as JSON, see
	// [intent.Parse], of which the keywords count. The default is those keywords of
	// what a person asked for last that the session has fewest of.
	Intent []string `json:"intent,omitempty"`

	// Todos is a list of things to do, as [summary.ParseTodos] reads it. What the new
	// summary says is done is completed in it, and is among the summary's decisions.
	Todos json.RawMessage `json:"todos,omitempty"`

	KeepLast int  `json:"keep_last,omitempty"` // as in [Options]
	DryRun   bool `json:"dry_run,omitempty"`   // plan and check, write nothing
}

// A CompressResult says what a pass did, or would do.
type CompressResult struct {
	Session   transcript.SessionID  `json:"session"`
	Op        string                `json:"op,omitempty"` // empty if nothing was written
	Strategy  Strategy              `json:"strategy"`     // that was accepted in the end
	Budget    token.Count           `json:"budget"`
	Share     ratio.Ratio           `json:"share,omitempty"`  // where one was asked for: the budget is this share of Leaves, and Stays
	Leaves    token.Count           `json:"leaves,omitempty"` // tokens of the conversation, as imported
	Stays     token.Count           `json:"stays,omitempty"`  // tokens of system text, tools and framing beside it
	Figures   pager.Figures         `json:"figures"`
	Imported  token.Count           `json:"imported"`       // tokens of all blocks, as they came in
	Before    token.Count           `json:"before"`         // tokens of the window
	After     token.Count           `json:"after"`          // tokens of the window
	Sent      token.Count           `json:"sent,omitempty"` // see [ContextResult]; it stays as it is
	Ratio     ratio.Ratio           `json:"ratio"`          // 1 − after/before
	Intent    []string              `json:"intent"`
	Blocks    Tally                 `json:"blocks"` // by state, after the pass
	Tokens    Tally                 `json:"tokens"` // as imported, by state after the pass; they sum to Imported
	Changed   int                   `json:"changed"`
	Provider  string                `json:"provider"`           // whose rules the result was checked by
	Summary   *SummaryInfo          `json:"summary,omitempty"`  // what stands in the window for older blocks
	Probes    *probe.Report         `json:"probes,omitempty"`   // of what was accepted
	Attempts  []Attempt             `json:"attempts,omitempty"` // in order; the last was accepted
	Warnings  []string              `json:"warnings,omitempty"`
	Todos     []Todo                `json:"todos,omitempty"`     // of the request's list, as they are now
	TodoList  []byte                `json:"todo_list,omitempty"` // that list, byte for byte but for statuses
	Decisions []pager.BlockDecision `json:"decisions"`
}

// A Todo is a thing to do.
type Todo struct {
	Content   string `json:"content"`
	Status    string `json:"status"`
	Completed bool   `json:"completed,omitempty"` // by this compression
}

// An Attempt is one way in which a compression was tried.
type Attempt struct {
	Strategy Strategy    `json:"strategy"`
	Model    string      `json:"model,omitempty"`     // that wrote the summary; empty for a program
	Account  bool        `json:"account,omitempty"`   // of anchored: an account is in the window; without Detail, of the summary only its id
	Detail   ratio.Ratio `json:"detail,omitempty"`    // share of the budget that the summary might take
	KeepLast int         `json:"keep_last"`           // newest blocks that no summary covers
	Summary  token.Count `json:"summary,omitempty"`   // that it took
	After    token.Count `json:"after,omitempty"`     // tokens of the window
	Passed   int         `json:"passed"`              // probes
	Probes   int         `json:"probes"`              // probes
	Score    ratio.Ratio `json:"score"`               // Passed of Probes
	Accepted bool        `json:"accepted"`            //
	Reasons  []string    `json:"reasons,omitempty"`   // why it was not
	RedFlags []string    `json:"red_flags,omitempty"` // of the skill's list

	// Judged is the judgement of the new summary alone; nil if none was made or nothing
	// is asked. It must accept the summary, besides what the window must answer.
	Judged *Judged `json:"judged,omitempty"`
}

// Judged is a [Judgement] in short.
type Judged struct {
	Passed   int               `json:"passed"` // probes
	Probes   int               `json:"probes"`
	Score    ratio.Ratio       `json:"score"`    // Passed of Probes
	Problems int               `json:"problems"` // of the summary
	Verdict  *probe.Acceptance `json:"verdict"`
}

// A ProbesError is an [ErrProbes] with all that was tried, and the report of the
// last.
type ProbesError struct {
	Attempts []Attempt
	Report   *probe.Report
}

func (e *ProbesError) Error() string {
	best := slices.MaxFunc(e.Attempts, func(a, b Attempt) int { return cmp.Compare(a.Score, b.Score) })
	text := fmt.Sprintf("%v: the best of %d attempts, %s, answers %d of %d", ErrProbes, len(e.Attempts), best.Strategy, best.Passed, best.Probes)
	if len(best.Reasons) > 0 {
		text += " (" + best.Reasons[0] + ")"
	}
	return text
}

// Is makes errors.Is(e, ErrProbes) true.
func (e *ProbesError) Is(target error) bool { return target == ErrProbes }

// The strategies. The first four put a summary in place of older blocks; see
// carrel.Engine.Compress.
const (
	StrategyAnchored     Strategy = "anchored"     // a merged summary, one recall away; an account that answers the probes
	StrategyHybrid       Strategy = "hybrid"       // a merged summary; of the blocks, the newest
	StrategyRegenerative Strategy = "regenerative" // a summary written anew; of the blocks, the newest
	StrategyOpaque       Strategy = "opaque"       // a dense line of names; of the blocks, the last few
	StrategyWindow       Strategy = "window"       // no new summary; the newest blocks
	StrategyImportance   Strategy = "importance"   // no new summary; the lines that are most likely needed
	StrategyAccount      Strategy = "account"      // no new summary; an account of what was said and done
	StrategyPager        Strategy = "pager"        // no new summary; blocks by rule and by the pager's score
)

// Strategies returns all strategies, the default first.
func Strategies() []Strategy {
	return []Strategy{StrategyAccount, StrategyImportance, StrategyAnchored, StrategyHybrid, StrategyRegenerative, StrategyOpaque, StrategyWindow, StrategyPager}
}

// ErrProbes means that nothing that was tried answers enough of what the
// original answers. The error is a [*ProbesError].
var ErrProbes = errors.New("the result does not answer the probes")
