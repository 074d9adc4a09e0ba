package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/transcript"
)

func newContract(j *job.Job) *cobra.Command {
	show, s := showContract(j)
	cmd := &cobra.Command{
		Use:   "contract [SESSION|show|init|add|check|close|path|save|corrections]",
		Short: "Keep the contract of a conversation: decisions, corrections, rules",
		Long: `Contract works on the contracts of conversations. A contract is a program in the
Liminate language that records the state of each block and the decisions, questions, corrections
and verified claims of the conversation. Each pass over the window appends to the contract, and is
refused if the contract would not hold afterwards. Without a subcommand it prints the contract.
"carrel help contracts" is the guide.`,
		Example: `  carrel contract init --from payload.json
  carrel contract add --decision pin-go-1.26 --correction keep-it-short
  carrel contract check
  carrel limn run "$(carrel contract path)"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE:              show,
	}
	*s = job.TakesSession(cmd)
	cmd.AddCommand(newContractShow(j), newContractInit(j), newContractAdd(j), newContractDecide(j), newContractCheck(j),
		newContractClose(j), newContractPath(j), newContractSave(j), newContractCorrections(j))
	return cmd
}

func newContractShow(j *job.Job) *cobra.Command {
	show, s := showContract(j)
	cmd := &cobra.Command{
		Use:   "show [SESSION]",
		Short: "Print the contract of a conversation",
		Long: `Show prints the contract of a conversation as statements of the Liminate language, a
line each: the contents of a .limn file.`,
		Example:           `  carrel contract show > session.limn`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE:              show,
	}
	*s = job.TakesSession(cmd)
	return cmd
}

// showContract returns the run function of a command that prints a contract. It also returns a
// pointer at which the caller must put the session argument of that command, before the function is
// called.
func showContract(j *job.Job) (func(cmd *cobra.Command, args []string) error, **job.SessionArg) {
	s := new(*job.SessionArg)
	return func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		return (*s).On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
			lines, err := a.Contract(ctx, a.Scope, &carrel.SessionRequest{Session: id})
			if err != nil {
				return err
			}
			value := struct {
				Session transcript.SessionID `json:"session"` // the session of the contract
				*carrel.ContractResult
			}{id, lines}
			return j.Result("contract", value, func(p *out.Page) {
				if len(lines.Statements) > 0 {
					p.Text(strings.Join(lines.Statements, "\n"))
				}
			})
		})
	}, s
}

func newContractCorrections(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "corrections",
		Short: "List the corrections that have a name",
		Long: `Corrections lists the named corrections: ways in which a user may want an agent to
work, with category and meaning. "carrel contract add --correction" takes one of these names, or
other words.`,
		Example:     `  carrel contract corrections`,
		Args:        cobra.NoArgs,
		Annotations: job.WithoutFiles(),
		RunE: func(*cobra.Command, []string) error {
			type correction struct {
				Name     string            `json:"name"`
				Category contract.Category `json:"category"`
				Meaning  string            `json:"meaning"`
			}
			var list []correction
			t := &out.Table{Head: []string{"name", "category", "meaning"}}
			for _, c := range contract.Corrections() {
				list = append(list, correction{c.Name, c.Category, c.Meaning})
				t.Add(c.Name, string(c.Category), c.Meaning)
			}
			return j.List("corrections", map[string]any{"corrections": list}, "corrections", func(p *out.Page) { p.Table(t) })
		},
	}
}

func newContractCheck(j *job.Job) *cobra.Command {
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "check [SESSION|FILE.limn|-]...",
		Short: "Tell whether contracts hold",
		Long: `Check runs the contracts of conversations, or contracts in files, and prints for
each rule whether it holds: all statements can be run; the guards of the user are met; no block
that is pinned or records a correction is out of the window; the window is within its budget; each
block is in one list only; no two decisions contradict each other. It lists each failure with its
line. If anything fails, the exit code is 1.`,
		Example: `  carrel contract check
  carrel contract check session.limn other.limn`,
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			checks, err := checkContracts(cmd.Context(), j, s, args)
			if err != nil {
				return err
			}
			err = j.List("contract-check", map[string]any{"contracts": checks}, "contracts", func(p *out.Page) {
				for i := range checks {
					if i > 0 && p.TTY {
						p.Line("")
					}
					checks[i].show(p)
				}
			})
			if err == nil && slices.ContainsFunc(checks, func(c checkedContract) bool { return !c.OK }) {
				return out.ErrNo
			}
			return err
		},
	}
	s = job.TakesSession(cmd)
	return cmd
}

// A checkedContract is the result of checking a contract.
type checkedContract struct {
	Contract string `json:"contract"` // id of the session, or name of the file
	OK       bool   `json:"ok"`
	Closed   bool   `json:"closed"`
	*contract.Report
	Rules []contractRule `json:"rules"`
}

// A contractRule is the name of a rule of contracts, whether it holds, and in Text what was found.
type contractRule struct {
	Rule  string `json:"rule"`
	Holds bool   `json:"holds"`
	Text  string `json:"text"`
}

// checkContracts checks the contracts of sessions and files.
func checkContracts(ctx context.Context, j *job.Job, s *job.SessionArg, args []string) ([]checkedContract, error) {
	today := j.Clock()().Format(time.DateOnly)
	file := func(name string) (*contract.Report, error) {
		data, err := j.Read(name)
		if err != nil {
			return nil, err
		}
		return contract.Run(contract.Lines(string(data)), &contract.RunOptions{Today: today})
	}
	if len(args) == 0 {
		args = []string{""}
	}
	var checks []checkedContract
	for _, arg := range args {
		if arg == "-" || strings.HasSuffix(arg, ".limn") {
			if s.Word != "" {
				return nil, out.Usagef("%s: a stored session is named, too: give only one", arg)
			}
			report, err := file(arg)
			if checks, err = appendCheck(checks, arg, report, err); err != nil {
				return nil, err
			}
			continue
		}
		var words []string
		if arg != "" {
			words = []string{arg}
		}
		err := s.On(ctx, j, "", words, func(a *job.Access, id transcript.SessionID) error {
			report, err := a.CheckContract(ctx, a.Scope, &carrel.SessionRequest{Session: id})
			checks, err = appendCheck(checks, string(id), report, err)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return checks, nil
}

// appendCheck appends the result of running a contract. A contract that cannot be run counts as a
// contract that does not hold.
func appendCheck(to []checkedContract, name string, r *contract.Report, err error) ([]checkedContract, error) {
	c := checkedContract{Contract: name, Report: r}
	if bad, ok := errors.AsType[*contract.SyntaxError](err); ok {
		text := bad.Text
		if bad.Hint != "" {
			text += ": " + bad.Hint
		}
		c.Report = &contract.Report{Failures: []contract.Failure{{Line: bad.Line, Kind: "form", Text: text}}, Shown: []string{}}
		c.Rules = []contractRule{{"form", false, "the statements cannot be replayed, so no other rule is checked"}}
		return append(to, c), nil
	}
	if err != nil {
		return nil, err
	}
	c.OK, c.Closed, c.Rules = len(r.Failures) == 0, r.State.Closed(), contractRules(r)
	return append(to, c), nil
}

// contractRules returns whether a contract holds each rule.
func contractRules(r *contract.Report) []contractRule {
	s := r.State
	failed := make(map[contract.FailureKind]int)
	for _, f := range r.Failures {
		failed[f.Kind]++
	}
	rule := func(name string, kind contract.FailureKind, text string) contractRule {
		if n := failed[kind]; n > 0 {
			return contractRule{name, false, out.Count(n, "failure")}
		}
		return contractRule{name, true, text}
	}
	budget := "the window was not measured yet"
	if tokens, limit := s.WindowTokens(); limit > 0 {
		budget = fmt.Sprintf("a window of %s of %s tokens", out.Thousands(tokens), out.Thousands(limit))
	}
	kept := len(s.Texts(contract.PinnedBlocks)) + len(s.Texts(contract.CorrectionBlocks))
	blocks := [...]int{s.Count(contract.Retained), s.Count(contract.Paged), s.Count(contract.Evicted)}
	decided := len(s.Texts(contract.InheritedDecisions)) + len(s.Texts(contract.TrackedDecisions))
	return []contractRule{
		{"form", true, fmt.Sprintf("%s in one list each: %d retained, %d paged, %d evicted",
			out.Count(blocks[0]+blocks[1]+blocks[2], "block"), blocks[0], blocks[1], blocks[2])},
		rule("statements", contract.FailedStatement, out.Thousands(r.Statements)+" executed"),
		rule("guards", contract.FailedGuard, "all met"),
		rule("pins", contract.FailedPin, out.Count(kept, "block")+" to be kept, none evicted"),
		rule("budget", contract.FailedBudget, budget),
		rule("decisions", contract.FailedDecision, out.Count(decided, "decision")+", none contradicts another"),
	}
}

func (c *checkedContract) show(p *out.Page) {
	verdict := "holds"
	if !c.OK {
		verdict = "fails"
	}
	if p.TTY {
		p.Line("contract of %s: %s", out.Visible(c.Contract), p.Paint(map[bool]string{true: out.Green, false: out.Red}[c.OK], verdict))
	} else {
		p.Fields([]any{"contract", c.Contract}, []any{"verdict", verdict})
	}
	t := &out.Table{Whole: true}
	for _, r := range c.Rules {
		word := "holds"
		if !r.Holds {
			word = "fails"
		}
		t.Add(r.Rule, word, r.Text)
	}
	for _, f := range c.Failures {
		t.Add(fmt.Sprintf("line %d", f.Line), string(f.Kind), f.Text)
	}
	for _, line := range c.Shown {
		t.Add("said", "", line)
	}
	p.Table(t)
}
