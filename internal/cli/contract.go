package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/transcript"
)

func newContract(_ *Env, g *globals) *cobra.Command {
	show, s := showContract(g)
	cmd := &cobra.Command{
		Use:   "contract [show|init|add|check|close|path|save|corrections]",
		Short: "Keep the contract of a conversation: decisions, corrections, rules",
		Long: `Contract works on the contracts of conversations: programs in the Liminate
language that say what became of each block, and what was decided, asked,
corrected and verified. Each pass over the window appends to it, and is refused
if the contract would not hold afterwards. Without a word of these it prints the
contract. "carrel help contracts" says more.`,
		Example: `  carrel contract init --from payload.json
  carrel contract add --decision pin-go-1.26 --correction keep-it-short
  carrel contract check
  carrel limn run "$(carrel contract path)"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE:              show,
	}
	*s = takesSession(cmd)
	cmd.AddCommand(newContractShow(g), newContractInit(g), newContractAdd(g), newContractDecide(g), newContractCheck(g),
		newContractClose(g), newContractPath(g), newContractSave(g), newContractCorrections(g))
	return cmd
}

func newContractShow(g *globals) *cobra.Command {
	show, s := showContract(g)
	cmd := &cobra.Command{
		Use:   "show [SESSION]",
		Short: "Print the contract of a conversation",
		Long: `Show prints the contract of a conversation as statements of the Liminate language,
a line each: the contents of a .limn file.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE:              show,
	}
	*s = takesSession(cmd)
	return cmd
}

// showContract returns what prints a contract, and where the argument of the
// command is to be put.
func showContract(g *globals) (func(cmd *cobra.Command, args []string) error, **sessionArg) {
	s := new(*sessionArg)
	return func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()
		return (*s).on(ctx, g, "", args, func(a *access, id transcript.SessionID) error {
			lines, err := a.Contract(ctx, a.scope, &carrel.SessionRequest{Session: id})
			if err != nil {
				return err
			}
			value := struct {
				Session    string   `json:"session"`
				Statements []string `json:"statements"`
			}{string(id), append([]string{}, lines.Statements...)}
			return g.result(document{name: "contract", value: value}, func(p *page) {
				if len(lines.Statements) > 0 {
					p.text(strings.Join(lines.Statements, "\n"))
				}
			})
		})
	}, s
}

func newContractCorrections(g *globals) *cobra.Command {
	return &cobra.Command{
		Use:   "corrections",
		Short: "List the corrections that have a name",
		Long: `Corrections lists the ways in which a user may want an agent to work that have a
name, with the category and the meaning of each. "carrel contract add
--correction" takes one of these names, or other words.`,
		Args:        cobra.NoArgs,
		Annotations: withoutFiles(),
		RunE: func(*cobra.Command, []string) error {
			type correction struct {
				Name     string            `json:"name"`
				Category contract.Category `json:"category"`
				Meaning  string            `json:"meaning"`
			}
			var list []correction
			t := &table{head: []string{"name", "category", "meaning"}}
			for _, c := range contract.Corrections() {
				list = append(list, correction{c.Name, c.Category, c.Meaning})
				t.add(c.Name, string(c.Category), c.Meaning)
			}
			return g.result(document{"corrections", map[string]any{"corrections": list}, "corrections"}, func(p *page) { p.table(t) })
		},
	}
}

func newContractCheck(g *globals) *cobra.Command {
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "check [SESSION|FILE.limn|-]...",
		Short: "Tell whether contracts hold",
		Long: `Check runs the contracts of conversations, or those in files, and says of each rule
whether it holds: the statements can be run, the guards of the user are met, no
block that is pinned or records a correction is out of the window, the window is
within its budget, a block is in one list, no two decisions contradict each
other. What fails is listed with its line. If anything does, the exit code is 1.`,
		Example: `  carrel contract check
  carrel contract check session.limn other.limn`,
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			checks, err := g.checkContracts(cmd.Context(), s, args)
			if err != nil {
				return err
			}
			err = g.result(document{"contract-check", map[string]any{"contracts": checks}, "contracts"}, func(p *page) {
				for i := range checks {
					if i > 0 && p.tty {
						p.line("")
					}
					checks[i].show(p)
				}
			})
			if err == nil && slices.ContainsFunc(checks, func(c checkedContract) bool { return !c.OK }) {
				return errNo
			}
			return err
		},
	}
	s = takesSession(cmd)
	return cmd
}

// A checkedContract says what of a contract holds.
type checkedContract struct {
	Contract   string             `json:"contract"` // session or file
	OK         bool               `json:"ok"`
	Closed     bool               `json:"closed"`
	Statements int                `json:"statements"` // executed
	Rules      []contractRule     `json:"rules"`
	Failures   []contract.Failure `json:"failures"`
	Said       []string           `json:"said"` // what it printed
}

// A contractRule is a rule of contracts, or what is wrong with one.
type contractRule struct {
	Rule  string `json:"rule"`
	Holds bool   `json:"holds"`
	Text  string `json:"text"`
}

// checkContracts runs contracts: those of sessions, and those in files.
func (g *globals) checkContracts(ctx context.Context, s *sessionArg, args []string) ([]checkedContract, error) {
	today := g.clock()().Format(time.DateOnly)
	file := func(name string) (*contract.Report, error) {
		data, err := g.read(name)
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
		err := s.on(ctx, g, "", words, func(a *access, id transcript.SessionID) error {
			report, err := a.CheckContract(ctx, a.scope, &carrel.SessionRequest{Session: id})
			checks, err = appendCheck(checks, string(id), report, err)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return checks, nil
}

// appendCheck adds what came of running a contract. That it cannot be replayed is
// an answer, too.
func appendCheck(to []checkedContract, name string, r *contract.Report, err error) ([]checkedContract, error) {
	c := checkedContract{Contract: name, Failures: []contract.Failure{}, Said: []string{}, Rules: []contractRule{}}
	if bad, ok := errors.AsType[*contract.SyntaxError](err); ok {
		text := bad.Text
		if bad.Hint != "" {
			text += ": " + bad.Hint
		}
		c.Failures = append(c.Failures, contract.Failure{Line: bad.Line, Kind: "form", Text: text})
		c.Rules = append(c.Rules, contractRule{"form", false, "the statements cannot be replayed, so nothing else can be said"})
		return append(to, c), nil
	}
	if err != nil {
		return nil, err
	}
	c.OK, c.Closed, c.Statements = len(r.Failures) == 0, r.State.Closed(), r.Statements
	c.Failures, c.Said = append(c.Failures, r.Failures...), append(c.Said, r.Shown...)
	c.Rules = contractRules(r)
	return append(to, c), nil
}

// contractRules says of each rule whether a contract holds it.
func contractRules(r *contract.Report) []contractRule {
	s := r.State
	failed := make(map[contract.FailureKind]int)
	for _, f := range r.Failures {
		failed[f.Kind]++
	}
	rule := func(name string, kind contract.FailureKind, text string) contractRule {
		if n := failed[kind]; n > 0 {
			return contractRule{name, false, count(n, "failure")}
		}
		return contractRule{name, true, text}
	}
	budget := "the window was not measured yet"
	if tokens, limit := s.WindowTokens(); limit > 0 {
		budget = fmt.Sprintf("a window of %s of %s tokens", thousands(tokens), thousands(limit))
	}
	kept := len(s.Texts(contract.PinnedBlocks)) + len(s.Texts(contract.CorrectionBlocks))
	blocks := [...]int{s.Count(contract.Retained), s.Count(contract.Paged), s.Count(contract.Evicted)}
	decided := len(s.Texts(contract.InheritedDecisions)) + len(s.Texts(contract.TrackedDecisions))
	return []contractRule{
		{"form", true, fmt.Sprintf("%s in one list each: %d retained, %d paged, %d evicted",
			count(blocks[0]+blocks[1]+blocks[2], "block"), blocks[0], blocks[1], blocks[2])},
		rule("statements", contract.FailedStatement, thousands(int64(r.Statements))+" executed"),
		rule("guards", contract.FailedGuard, "all met"),
		rule("pins", contract.FailedPin, count(kept, "block")+" to be kept, none evicted"),
		rule("budget", contract.FailedBudget, budget),
		rule("decisions", contract.FailedDecision, count(decided, "decision")+", none contradicts another"),
	}
}

func (c *checkedContract) show(p *page) {
	verdict := "holds"
	if !c.OK {
		verdict = "fails"
	}
	if p.tty {
		p.line("contract of %s: %s", visible(c.Contract), p.paint(map[bool]string{true: green, false: red}[c.OK], verdict))
	} else {
		p.fields([]any{"contract", c.Contract}, []any{"verdict", verdict})
	}
	t := &table{whole: true}
	for _, r := range c.Rules {
		word := "holds"
		if !r.Holds {
			word = "fails"
		}
		t.add(r.Rule, word, r.Text)
	}
	for _, f := range c.Failures {
		t.add(fmt.Sprintf("line %d", f.Line), string(f.Kind), f.Text)
	}
	for _, line := range c.Said {
		t.add("said", "", line)
	}
	p.table(t)
}

// printContract says why a contract was refused: which decisions contradict each
// other and what can be done, or what does not hold.
func (g *globals) printContract(problem *api.Problem) {
	p := g.report()
	if c := problem.Conflict; c != nil {
		t := &table{whole: true}
		t.add("  new", c.Decision, "")
		for _, o := range c.Others {
			t.add("  stands", o.Decision, "in "+string(o.List)+": "+o.About+" is "+o.Value)
		}
		p.table(t)
		p.line("ways on:")
		p.line("  --on-conflict override  the new one takes the place of the other, which is recorded")
		p.line("  --on-conflict defer     the new one becomes an open question")
		p.line("  --on-conflict comply    the new one is dropped")
	}
	for _, f := range problem.Failures {
		p.line("  line %d: %s: %s", f.Line, f.Kind, visible(f.Text))
	}
	_, _ = unguarded(g.env.Stderr).Write(p.buf.Bytes()) // there is nobody left to tell
}

// contractHint returns what to try next after an error about a contract, or "".
func contractHint(err error) string {
	if e, ok := errors.AsType[*config.ContractsError](err); ok {
		return e.Hint
	}
	switch {
	case is[*contract.ConflictError](err):
		return "give --on-conflict, or leave it as it was decided"
	case errors.Is(err, contract.ErrClosed):
		return "carrel contract init --inherit SESSION begins another"
	case errors.Is(err, contract.ErrInitialized):
		return "carrel contract show, or carrel contract add"
	case is[*contract.PayloadError](err):
		return "carrel contract init --help shows a payload"
	case is[*contract.RunError](err):
		return "nothing was changed; carrel contract show has the rules, carrel contract check what holds now"
	}
	return ""
}
