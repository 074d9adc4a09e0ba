package contract

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// contractsFolder returns the folder with the files of contracts.
func contractsFolder(j *job.Job) (*config.Contracts, error) {
	src, err := j.Sources()
	if err != nil {
		return nil, err
	}
	return config.ContractsDir(j.Getenv, src.Dir)
}

// contractText returns the contract of a session as the content of its file.
func contractText(ctx context.Context, a *job.Access, id transcript.SessionID) ([]byte, error) {
	lines, err := a.Contract(ctx, a.Scope, &carrel.SessionRequest{Session: id})
	if err != nil || len(lines.Statements) == 0 {
		return nil, err
	}
	return []byte(strings.Join(lines.Statements, "\n") + "\n"), nil
}

// writeContractFile writes the contract of a session from the store to its file, and returns the
// path of the file.
func writeContractFile(ctx context.Context, j *job.Job, a *job.Access, id transcript.SessionID) (string, error) {
	text, err := contractText(ctx, a, id)
	if err != nil {
		return "", err
	}
	folder, err := contractsFolder(j)
	if err != nil {
		return "", err
	}
	return folder.Path(a.Scope, id), folder.Write(a.Scope, id, text)
}

func newContractPath(j *job.Job) *cobra.Command {
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "path [SESSION]",
		Short: "Print where the file of a contract is",
		Long: `Path prints the path of the file for the contract of a conversation, and makes its
folder: $LIMINATE_CONTRACTS_DIR, else $XDG_DATA_HOME/liminate/contracts, else
~/.liminate/contracts. It refuses a folder that is in a git work tree or that other users can
read.

The contract is in the store. The file is a copy, which init, add, close and save write. If the
file is missing or older than the contract, a line on standard error says so.`,
		Example:           `  carrel limn run "$(carrel contract path)"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
				folder, err := contractsFolder(j)
				if err != nil {
					return err
				}
				text, err := contractText(ctx, a, id)
				if err != nil {
					return err
				}
				value := struct {
					Session transcript.SessionID `json:"session"`
					File    string               `json:"file"`
					Current bool                 `json:"current"` // the file has the whole contract
				}{Session: id, File: folder.Path(a.Scope, id)}
				is, err := os.ReadFile(value.File)
				if value.Current = err == nil && bytes.Equal(is, text); len(text) == 0 {
					j.Note("session %s has no contract yet: carrel contract init %[1]s", id)
				} else if !value.Current {
					j.Note("the file does not have the contract as it is now: carrel contract save %s", id)
				}
				return j.Result("contract-path", value, func(p *out.Page) { p.Text(value.File) })
			})
		},
	}
	s = job.TakesSession(cmd)
	return cmd
}

// A savedContract is the result of saving a contract to its file.
type savedContract struct {
	Session    transcript.SessionID `json:"session"`
	File       string               `json:"file"`
	Statements int                  `json:"statements"`
	Uploaded   bool                 `json:"uploaded"` // always false: nothing is uploaded
	Sensitive  []sensitiveLine      `json:"sensitive"`
}

// A sensitiveLine is a line that may contain private data.
type sensitiveLine struct {
	Line   int    `json:"line"`
	Marker string `json:"marker"`
}

func newContractSave(j *job.Job) *cobra.Command {
	var attended, consent bool
	var s *job.SessionArg
	cmd := &cobra.Command{
		Use:   "save [SESSION] [--attended] [--consent]",
		Short: "Write the contract of a conversation into its file",
		Long: `Save writes the contract of a conversation into its file, see "carrel contract
path", and warns of lines with words such as "password" or "api key". The file stays on this
machine: Carrel uploads nothing. Save refuses to replace a file with statements that are not in
the contract, as when another program has added them.

Another program that uploads contracts can ask save for permission first. With --attended (a
person is present) the exit code is 10, unless --consent says that the person agrees. Save writes
the file also without consent, and asks nothing.`,
		Example:           `  carrel contract save --attended --consent`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: j.CompleteSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.On(ctx, j, "", args, func(a *job.Access, id transcript.SessionID) error {
				value, err := saveContract(ctx, j, a, id)
				if err != nil {
					return err
				}
				for _, l := range value.Sensitive {
					j.Note("warning: line %d has the word %q: check it before you share the contract", l.Line, l.Marker)
				}
				err = j.Result("contract-saved", value, func(p *out.Page) {
					p.Fields([]any{"session", value.Session}, []any{"file", value.File}, []any{"statements", value.Statements},
						[]any{"uploaded", "no"}, []any{"sensitive", len(value.Sensitive)})
				})
				if err == nil && attended && !consent {
					j.Note("carrel: the file is written; to give the contract away, the person must consent: --consent")
					return out.ErrConsent
				}
				return err
			})
		},
	}
	s = job.TakesSession(cmd)
	cmd.Flags().BoolVar(&attended, "attended", false, "a person is present who can be asked")
	cmd.Flags().BoolVar(&consent, "consent", false, "the person agrees that another program uploads the contract")
	return cmd
}

// saveContract writes the file of a contract and looks for sensitive lines.
func saveContract(ctx context.Context, j *job.Job, a *job.Access, id transcript.SessionID) (*savedContract, error) {
	value := &savedContract{Session: id, Sensitive: []sensitiveLine{}}
	lines, err := a.Contract(ctx, a.Scope, &carrel.SessionRequest{Session: id})
	if err != nil {
		return nil, err
	}
	if len(lines.Statements) == 0 {
		return nil, &out.Error{
			Err: store.ErrNotFound, Text: fmt.Sprintf("session %s has no contract", id), Hint: "carrel contract init " + string(id),
		}
	}
	if value.File, err = writeContractFile(ctx, j, a, id); err != nil {
		return nil, err
	}
	value.Statements = len(lines.Statements)
	for _, l := range contract.FindSensitive(slices.Values(lines.Statements)) {
		value.Sensitive = append(value.Sensitive, sensitiveLine{l.Line, l.Marker})
	}
	return value, nil
}
