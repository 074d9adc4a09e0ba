package contract

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

func newContractInit(j *job.Job) *cobra.Command {
	req := &carrel.AmendContractRequest{Init: true}
	var payload, parent string
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "init [SESSION] [--from FILE|-] [--inherit SESSION]",
		Short: "Begin a contract",
		Long: `Init begins the contract of a conversation: its states, lists and guards, and the
contents of a payload. SESSION may be an id that is not stored yet, for a conversation that is
still to come; without SESSION, init makes a new id. If any part of the payload is refused,
nothing is written.

The payload is JSON with any of these keys:

  {"sources": [{"name": "readme", "text": "..."}], "decisions": ["..."],
   "open_questions": ["..."], "resume_state": "..."}

--inherit copies the decisions, corrections, open questions and verified claims of an earlier
session.

The contract is in the store, and a copy of it in a file: "carrel contract path".`,
		Example: `  carrel contract init
  carrel contract init @last --from payload.json --inherit 5f0c2a7e`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if payload != "" {
				data, err := j.Read(payload)
				if err != nil {
					return err
				}
				if req.Payload, err = contract.ParsePayload(data); err != nil {
					return out.InFile(payload, err)
				}
			}
			ctx := cmd.Context()
			return j.With(ctx, !req.DryRun, func(a *job.Access) (err error) {
				if req.Session, err = namedSession(ctx, s, a, args); err != nil {
					return err
				}
				if parent != "" {
					if req.Parent, err = a.SessionID(ctx, parent); err != nil {
						return err
					}
				}
				return amend(ctx, j, a, req)
			})
		},
	}
	s = job.TakesSession(cmd)
	cmd.Flags().StringVar(&payload, "from", "", "JSON `file` with the session's initial data; - is standard input")
	cmd.Flags().StringVar(&parent, "inherit", "", "`session` to take decisions, corrections, questions and verified claims over from")
	j.OfferSessions(cmd, "inherit")
	job.Writes(cmd, &req.DryRun)
	return cmd
}

// namedSession returns the id of the session that the arguments name, even if that session is not
// stored. It returns "" if they name none.
func namedSession(ctx context.Context, s *job.SessionArg, a *job.Access, args []string) (transcript.SessionID, error) {
	if len(args) == 0 && s.Word == "" {
		return "", nil
	}
	id, err := s.Find(ctx, a, args)
	if errors.Is(err, store.ErrNotFound) && len(args) > 0 && !strings.HasPrefix(args[0], "@") {
		return transcript.SessionID(args[0]), nil
	}
	return id, err
}

// additions are the flags of "contract add".
type additions struct {
	req      *carrel.AmendContractRequest
	conflict string
	basis    string
	sources  string
}

func newContractAdd(j *job.Job) *cobra.Command {
	f := &additions{req: &carrel.AmendContractRequest{}}
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "add [SESSION] --decision T | --correction T | --rule R | ...",
		Short: "Add decisions, questions, corrections and rules to a contract",
		Long: `Add appends statements to the contract of a conversation: all of them, or none.
Carrel runs the contract with the new statements first; if it does not hold, the exit code is 9
and nothing is added.

A decision that begins with use-, pin-, set-, choose-, prefer- or select- assigns the words that
follow: pin-go-1.26 and pin-go-1.25 contradict each other. --on-conflict decides about a new
decision that contradicts an older one: refuse it, override (the new one replaces the old one, and
the contract records that), defer (the new one becomes an open question) or comply (the new one is
dropped).

A correction is a name that "carrel contract corrections" lists, or other words. The blocks in
--block record it, and never leave the window. --from names the source that contains the text of a
--verified claim.

A --rule is a requirement in the Liminate language: from now on no pass may bring the window into
a state in which the requirement fails. A --statement is a line of the language that is evaluated
at its place in the contract.`,
		Example: `  carrel contract add --decision pin-go-1.26 --question "Which driver?"
  carrel contract add --correction keep-it-short --block 4f0c
  carrel contract add --source readme=@README.md --verified "needs Go 1.26" \
    --from readme
  carrel contract add \
    --rule 'require evicted-blocks not includes "block-4f0c21aa0b1c2d3e"'`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !f.given(cmd.Flags()) {
				return out.Usagef("contract add: there is nothing to add: give a flag such as --decision")
			}
			return f.run(cmd.Context(), j, s, args)
		},
	}
	s = job.TakesSession(cmd)
	f.register(cmd, j)
	return cmd
}

// given reports whether the command line has a flag that adds something to the contract.
func (f *additions) given(flags *pflag.FlagSet) bool {
	given := false
	flags.Visit(func(flag *pflag.Flag) {
		_, ok := flag.Annotations["adds"]
		given = given || ok
	})
	return given
}

func (f *additions) register(cmd *cobra.Command, j *job.Job) {
	flags, r := cmd.Flags(), f.req
	flags.SortFlags = false
	flags.StringArrayVar(&r.Decisions, "decision", nil, "something that was decided, in a `text`; may be repeated, as may most that follow")
	flags.StringArrayVar(&r.Questions, "question", nil, "`text` of an open question")
	flags.StringArrayVar(&r.Answered, "answered", nil, "`text` of a question that is open no more")
	flags.Func("correction", "`name` of a correction, or the user's words", func(text string) error {
		r.Corrections = append(r.Corrections, carrel.ContractCorrection{Text: text})
		return nil
	})
	flags.Func("block", "`id` of a block that records the correction before", func(id string) error {
		if len(r.Corrections) == 0 {
			return errors.New("needs a --correction before it")
		}
		last := &r.Corrections[len(r.Corrections)-1]
		last.Blocks = append(last.Blocks, id)
		return nil
	})
	flags.Func("source", "a source, as `name=text` or name=@file", sourceInto(&r.Sources))
	flags.Func("claim", "a claim, as `name=text` or name=@file", sourceInto(&r.Claims))
	flags.Func("verified", "`text` of a claim that was found to be so", func(text string) error {
		r.Verified = append(r.Verified, carrel.ContractClaim{Text: text})
		return nil
	})
	flags.Func("from", "`name` of the source in which the claim before stands", func(name string) error {
		if len(r.Verified) == 0 {
			return errors.New("needs a --verified before it")
		}
		r.Verified[len(r.Verified)-1].Source = name
		return nil
	})
	flags.StringArrayVar(&r.Checked, "checked", nil, "`text` that describes a check before a commit")
	flags.StringVar(&f.sources, "source-state", "", "how far the sources were read: `state` unscanned, scanned or verified")
	flags.StringVar(&f.basis, "claim-basis", "", "`basis` of the claims: none, inference, document or verified")
	flags.StringVar(&r.ResumeState, "resume", "", "`text` on where the session is to be resumed")
	flags.StringArrayVar(&r.Rules, "rule", nil, "`requirement` that must hold from now on")
	flags.StringArrayVar(&r.Statements, "statement", nil, "`line` of the language")
	for _, name := range [...]string{
		"decision", "question", "answered", "correction", "source", "claim", "verified", "checked", "source-state", "claim-basis", "resume", "rule", "statement",
	} {
		_ = flags.SetAnnotation(name, "adds", nil) // fails only for an unknown flag
	}
	f.registerConflict(cmd)
	names := make([]string, 0, len(contract.Corrections()))
	for _, c := range contract.Corrections() {
		names = append(names, c.Name)
	}
	job.Offer(cmd, "correction", names...)
	job.Offer(cmd, "source-state", sourceStates...)
	job.Offer(cmd, "claim-basis", claimBases...)
	_ = cmd.RegisterFlagCompletionFunc("block", j.CompleteBlock)
}

func (f *additions) registerConflict(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.conflict, "on-conflict", resolutions[0], "`treatment` of a decision that contradicts another: refuse, override, defer or comply")
	job.Offer(cmd, "on-conflict", resolutions...)
	job.Writes(cmd, &f.req.DryRun)
}

// Words that flags take.
var (
	resolutions  = []string{"refuse", string(contract.Override), string(contract.Defer), string(contract.Comply)}
	sourceStates = []string{string(contract.Unscanned), string(contract.Scanned), string(contract.Verified)}
	claimBases   = []string{string(contract.BasisNone), string(contract.BasisInference), string(contract.BasisDocument), string(contract.BasisVerified)}
)

// sourceInto returns a function that parses the value of a flag for a source and appends it to
// list. The text of a source in a file is @ with the name of the file, until [readSources] reads it.
func sourceInto(list *[]contract.PayloadSource) func(string) error {
	return func(value string) error {
		name, text, ok := strings.Cut(value, "=")
		if !ok || name == "" {
			return fmt.Errorf("%q is not name=text or name=@file", value)
		}
		*list = append(*list, contract.PayloadSource{Name: name, Text: text})
		return nil
	}
}

// readSources reads the sources that are in files. It runs after all flags are parsed, because -C
// says where the files are.
func readSources(j *job.Job, list []contract.PayloadSource) error {
	for i := range list {
		file, ok := strings.CutPrefix(list[i].Text, "@")
		if !ok {
			continue
		}
		data, err := j.Read(file)
		if err != nil {
			return err
		}
		list[i].Text = string(data)
	}
	return nil
}

// run adds the values of the flags to the contract of the session that the arguments name.
func (f *additions) run(ctx context.Context, j *job.Job, s *job.SessionArg, args []string) error {
	if err := out.OneOf("--on-conflict", f.conflict, resolutions...); err != nil {
		return err
	}
	if f.conflict != resolutions[0] {
		f.req.Resolution = contract.Resolution(f.conflict)
	}
	if f.sources != "" {
		if err := out.OneOf("--source-state", f.sources, sourceStates...); err != nil {
			return err
		}
	}
	if f.basis != "" {
		if err := out.OneOf("--claim-basis", f.basis, claimBases...); err != nil {
			return err
		}
	}
	for _, list := range [...][]contract.PayloadSource{f.req.Sources, f.req.Claims} {
		if err := readSources(j, list); err != nil {
			return err
		}
	}
	f.req.SourceState, f.req.ClaimBasis = contract.SourceState(f.sources), contract.ClaimBasis(f.basis)
	return s.On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
		f.req.Session = id
		return amend(ctx, j, a, f.req)
	})
}

func newContractDecide(j *job.Job) *cobra.Command {
	f := &additions{req: &carrel.AmendContractRequest{}}
	s := &job.SessionArg{}
	cmd := &cobra.Command{
		Use:     "add-decision DECISION... [--session S] [--on-conflict WHAT]",
		Short:   "Add decisions to a contract",
		Long:    `Add-decision is "carrel contract add" with a --decision for each argument.`,
		Example: `  carrel contract add-decision pin-go-1.26 --on-conflict override`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.req.Decisions = args
			return f.run(cmd.Context(), j, s, nil)
		},
	}
	cmd.Flags().StringVar(&s.Word, "session", "", "`session` that it is of (the last one by default)")
	j.OfferSessions(cmd, "session")
	f.registerConflict(cmd)
	return cmd
}

func newContractClose(j *job.Job) *cobra.Command {
	req := &carrel.AmendContractRequest{Close: true}
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "close [SESSION]",
		Short: "End a contract, so that nothing can be added to it",
		Long: `Close ends the contract of a conversation. Nothing can be added to a closed
contract, so the window cannot change any more either. The conversation can still be read,
exported and handed over, and other contracts can inherit from this one.`,
		Example:           `  carrel contract close @last`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
				req.Session = id
				return amend(ctx, j, a, req)
			})
		},
	}
	s = job.TakesSession(cmd)
	job.Writes(cmd, &req.DryRun)
	return cmd
}

// An amendment is the result of adding to a contract.
type amendment struct {
	*carrel.AmendContractResult
	File string `json:"file,omitempty"` // file that also has the contract
}

// amend adds to a contract, and then writes the file of the contract.
func amend(ctx context.Context, j *job.Job, a *job.Access, req *carrel.AmendContractRequest) error {
	res, err := a.AmendContract(ctx, a.Scope, req)
	if err != nil {
		return err
	}
	value := &amendment{AmendContractResult: res}
	if !req.DryRun {
		if value.File, err = writeContractFile(ctx, j, a, res.Session); err != nil {
			j.Note("warning: the store has the contract, its file was not written: %v", err)
			if e, ok := errors.AsType[*config.ContractsError](err); ok {
				j.Note("hint: %s", e.Hint)
			}
		}
	}
	if j.JSON == "" {
		for _, line := range res.Said {
			j.Note("contract: %s", line)
		}
	}
	return j.Result("contract-added", value, func(p *out.Page) { value.print(p, req) })
}

func (m *amendment) print(p *out.Page, req *carrel.AmendContractRequest) {
	rows := [][]any{{"session", m.Session}}
	if m.File != "" {
		rows = append(rows, []any{"file", m.File})
	}
	rows = append(rows, []any{"added", len(m.Added)}, []any{"statements", m.Total})
	if m.Closed {
		rows = append(rows, []any{"closed", "nothing can be added"})
	}
	p.Fields(rows...)
	if req.DryRun {
		p.Text(strings.Join(m.Added, "\n"))
		if p.TTY {
			p.Line("dry run: nothing was written")
		}
	}
}
