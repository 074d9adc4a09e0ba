package api

import (
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

// A Strategy is a way to make a window smaller. It is stored as its text.
type Strategy string

// A CompressRequest asks for a smaller window of a session.
type CompressRequest struct {
	Session transcript.SessionID `json:"session"`

	// Target is the requested size of the window. The default is the Target of
	// [pager.Figures], two fifths of the context window unless Options.Trigger
	// changes it; with [StrategyOpaque], a twentieth of the imported tokens.
	Target Target `json:"target,omitzero"`

	// Smallest requests the smallest window that the strategy can make, in place of
	// Target. A target that is too small fails with that size as Need of a
	// [pager.FloorError]. Strategies with a summary do not support Smallest.
	Smallest bool `json:"smallest,omitempty"`

	// Strategy is the strategy to use. The default is that of the engine's
	// options.
	Strategy Strategy `json:"strategy,omitempty"`

	// ProbeMin is the share of probes that the result must answer, besides
	// all critical ones; 0 accepts every result. The default for strategies
	// with a summary is that of [probe.DefaultPolicy]; other strategies ask
	// probes only if ProbeMin is set.
	ProbeMin *ratio.Ratio `json:"probe_min,omitempty"`

	// Window is the capacity of the context window. The default is Options.Window of
	// the engine, or else the capacity of the session's model.
	Window token.Count `json:"window,omitempty"`

	// Auto marks a pass that no person asked for: it does not go below the
	// Floor of [pager.Figures].
	Auto bool `json:"auto,omitempty"`

	// Intent describes the agent's next step, which makes blocks with its words score higher. Each
	// entry is a text, or an intent as JSON (see package intent), whose keywords are used.
	// The default is the keywords of the user's last message that are rarest in the session.
	Intent []string `json:"intent,omitempty"`

	// Todos is a list of tasks as [summary.ParseTodos] reads it. A task that a new summary reports
	// as done is completed in CompressResult.TodoList and listed among the summary's decisions.
	Todos json.RawMessage `json:"todos,omitempty"`

	// KeepLast is the number of newest blocks that never leave the window. 0 means Options.KeepLast
	// of the engine, and a negative number means none.
	KeepLast int `json:"keep_last,omitempty"`

	DryRun bool `json:"dry_run,omitempty"` // plan and check, but write nothing
}

// A CompressResult describes a pass that was done or, in a dry run, planned.
type CompressResult struct {
	Session   transcript.SessionID  `json:"session"`
	Op        string                `json:"op,omitempty"` // empty if nothing was written
	Strategy  Strategy              `json:"strategy"`     // that was accepted
	Budget    token.Count           `json:"budget"`
	Share     ratio.Ratio           `json:"share,omitempty"`  // with a share as target: the budget is this share of Leaves, plus Stays
	Leaves    token.Count           `json:"leaves,omitempty"` // tokens of the imported conversation
	Stays     token.Count           `json:"stays,omitempty"`  // tokens of system text, tools and framing
	Figures   pager.Figures         `json:"figures"`          // thresholds of the window
	Imported  token.Count           `json:"imported"`         // imported tokens of all blocks
	Before    token.Count           `json:"before"`           // tokens of the window before
	After     token.Count           `json:"after"`            // tokens of the window after
	Sent      token.Count           `json:"sent,omitempty"`   // see [ContextResult]; a pass does not change it
	Ratio     ratio.Ratio           `json:"ratio"`            // 1 − after/before
	Intent    []string              `json:"intent"`
	Blocks    Tally                 `json:"blocks"`             // number of blocks by state, after the pass
	Tokens    Tally                 `json:"tokens"`             // imported tokens by state, after the pass; they sum to Imported
	Changed   int                   `json:"changed"`            // number of blocks whose form changed
	Provider  string                `json:"provider"`           // provider whose rules the result was checked by
	Summary   *SummaryInfo          `json:"summary,omitempty"`  // the summary in the window
	Probes    *probe.Report         `json:"probes,omitempty"`   // of the accepted result
	Attempts  []Attempt             `json:"attempts,omitempty"` // in order; the last was accepted
	Warnings  []string              `json:"warnings,omitempty"`
	Todos     []Todo                `json:"todos,omitempty"`     // the request's tasks with their new statuses
	TodoList  []byte                `json:"todo_list,omitempty"` // the request's list; only statuses differ
	Decisions []pager.BlockDecision `json:"decisions"`
}

// A Todo is an entry of a to-do list.
type Todo struct {
	Content   string `json:"content"`
	Status    string `json:"status"`
	Completed bool   `json:"completed,omitempty"` // completed by this compression
}

// An Attempt is one attempt of a compression.
type Attempt struct {
	Strategy Strategy    `json:"strategy"`
	Model    string      `json:"model,omitempty"`     // model that wrote the summary; empty for a program
	Account  bool        `json:"account,omitempty"`   // the window has an account, by the strategy anchored; if Detail is 0, it has only the id of the summary
	Detail   ratio.Ratio `json:"detail,omitempty"`    // share of the budget for the summary
	KeepLast int         `json:"keep_last"`           // number of newest blocks that no summary covers
	Summary  token.Count `json:"summary,omitempty"`   // tokens of the summary
	After    token.Count `json:"after,omitempty"`     // tokens of the window
	Passed   int         `json:"passed"`              // number of answered probes
	Probes   int         `json:"probes"`              // number of probes
	Score    ratio.Ratio `json:"score"`               // Passed / Probes
	Accepted bool        `json:"accepted"`            // the result is this window
	Reasons  []string    `json:"reasons,omitempty"`   // why the attempt was rejected
	RedFlags []string    `json:"red_flags,omitempty"` // as in [probe.Acceptance]; only an opaque summary is accepted with one

	// Judged is the judgment of the new summary alone; nil if the attempt made
	// none. An attempt whose summary is not accepted is not accepted either. A model's text beside an
	// account is accepted if it answers half of the probes.
	Judged *Judged `json:"judged,omitempty"`
}

// Judged is a short form of [Judgement].
type Judged struct {
	Passed   int               `json:"passed"` // number of answered probes
	Probes   int               `json:"probes"`
	Score    ratio.Ratio       `json:"score"`    // Passed / Probes
	Problems int               `json:"problems"` // number of problems of the summary
	Verdict  *probe.Acceptance `json:"verdict"`
}

// A ProbesError is an [ErrProbes] with all attempts and the probe report of
// the best, see [ProbesError.Best].
type ProbesError struct {
	Attempts []Attempt
	Report   *probe.Report
}

// Best returns the attempt with the highest score, and the first of several.
// It panics if there is no attempt.
func (e *ProbesError) Best() *Attempt {
	best := &e.Attempts[0]
	for i := range e.Attempts {
		// Without probes, nothing was made that could answer.
		if a := &e.Attempts[i]; a.Score > best.Score || best.Probes == 0 && a.Probes > 0 {
			best = a
		}
	}
	return best
}

func (e *ProbesError) Error() string {
	best := e.Best()
	reason := fmt.Sprintf("%d of %d probes passed", best.Passed, best.Probes)
	if all := slices.Concat(best.Reasons, best.RedFlags); len(all) > 0 {
		reason = all[0] // it has the figures
	}
	if len(e.Attempts) == 1 {
		return fmt.Sprintf("%v: %s", ErrProbes, reason)
	}
	return fmt.Sprintf("%v: in the best of %d attempts, %s", ErrProbes, len(e.Attempts), reason)
}

// Is makes errors.Is(e, ErrProbes) true.
func (e *ProbesError) Is(target error) bool { return target == ErrProbes }

// The strategies. The first four replace older blocks by a summary; see
// carrel.Engine.Compress.
const (
	StrategyAnchored     Strategy = "anchored"     // an account, and a merged summary that is recalled by id
	StrategyHybrid       Strategy = "hybrid"       // a merged summary and the newest blocks
	StrategyRegenerative Strategy = "regenerative" // a summary of all older blocks, written anew, and the newest blocks
	StrategyOpaque       Strategy = "opaque"       // one dense line of names and the last few blocks
	StrategyWindow       Strategy = "window"       // the newest blocks, no summary
	StrategyImportance   Strategy = "importance"   // the lines that are most likely needed again, no summary
	StrategyAccount      Strategy = "account"      // an account of the conversation, no summary
	StrategyPager        Strategy = "pager"        // blocks by rule and retention score, no summary
)

// Strategies returns all strategies, the default first.
func Strategies() []Strategy {
	return []Strategy{StrategyAccount, StrategyImportance, StrategyAnchored, StrategyHybrid, StrategyRegenerative, StrategyOpaque, StrategyWindow, StrategyPager}
}

// ErrProbes means that a compression made no window that answers enough of the
// probes; the session is unchanged. The error is a [*ProbesError].
var ErrProbes = errors.New("the result does not answer the probes")
