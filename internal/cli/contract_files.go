package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/transcript"
)

// errConsent means that somebody has to consent first, and that this was said.
var errConsent = errors.New("consent is needed")

// contracts returns the folder for contracts.
func (g *globals) contracts() (*config.Contracts, error) {
	src, err := g.sources()
	if err != nil {
		return nil, err
	}
	return config.ContractsDir(g.env.Getenv, src.Dir)
}

// contractText returns the contract of a session as its file has it.
func contractText(ctx context.Context, a *access, id transcript.SessionID) ([]byte, error) {
	lines, err := a.Contract(ctx, a.scope, &carrel.SessionRequest{Session: id})
	if err != nil || len(lines.Statements) == 0 {
		return nil, err
	}
	return []byte(strings.Join(lines.Statements, "\n") + "\n"), nil
}

// mirror writes the contract of a session, which the store has, into its file and
// returns the path of that.
func (g *globals) mirror(ctx context.Context, a *access, id transcript.SessionID) (string, error) {
	text, err := contractText(ctx, a, id)
	if err != nil {
		return "", err
	}
	folder, err := g.contracts()
	if err != nil {
		return "", err
	}
	return folder.Path(a.scope, id), folder.Write(a.scope, id, text)
}

func newContractPath(g *globals) *cobra.Command {
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "path [SESSION]",
		Short: "Print where the file of a contract is",
		Long: `Path prints the path of the file for the contract of a conversation, and makes the
folder of it: $LIMINATE_CONTRACTS_DIR, else $XDG_DATA_HOME/liminate/contracts,
else ~/.liminate/contracts. A folder in a git work tree, or one that others can
look into, is refused.

The store has the contract and the file is a copy, which init, add, close and
save write. If it is not there, or the contract went on since, a line on
standard error says so.`,
		Example:           `  carrel limn run "$(carrel contract path)"`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.on(ctx, g, "", args, func(a *access, id transcript.SessionID) error {
				folder, err := g.contracts()
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
				}{Session: id, File: folder.Path(a.scope, id)}
				is, err := os.ReadFile(value.File)
				if value.Current = err == nil && bytes.Equal(is, text); !value.Current {
					g.note("the file does not have the contract as it is now: carrel contract save %s", id)
				}
				return g.result(document{name: "contract-path", value: value}, func(p *page) { p.text(value.File) })
			})
		},
	}
	s = takesSession(cmd)
	return cmd
}

// A savedContract says where a contract was saved and what is to be known of it.
type savedContract struct {
	Session    transcript.SessionID `json:"session"`
	File       string               `json:"file"`
	Statements int                  `json:"statements"`
	Uploaded   bool                 `json:"uploaded"` // never
	Sensitive  []sensitiveLine      `json:"sensitive"`
}

// A sensitiveLine is a line that may say something that is not for others.
type sensitiveLine struct {
	Line   int    `json:"line"`
	Marker string `json:"marker"`
}

func newContractSave(g *globals) *cobra.Command {
	var attended, consent bool
	var s *sessionArg
	cmd := &cobra.Command{
		Use:   "save [SESSION] [--attended] [--consent]",
		Short: "Write the contract of a conversation into its file",
		Long: `Save writes the contract of a conversation into its file, see "carrel contract
path", and warns of lines with words such as "password" or "api key". The file
stays on this machine: Carrel uploads nothing, and has no part that could.

A program that does upload contracts asks here first: with --attended, which says
that a person is there, the exit code is 10 unless --consent says that the person
consents. The file is written in any case, and nothing is ever asked.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: g.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return s.on(ctx, g, "", args, func(a *access, id transcript.SessionID) error {
				value, err := g.saveContract(ctx, a, id)
				if err != nil {
					return err
				}
				for _, l := range value.Sensitive {
					g.note("warning: line %d has the word %q: look at it before anybody else gets the contract", l.Line, l.Marker)
				}
				err = g.result(document{name: "contract-saved", value: value}, func(p *page) {
					p.fields([]any{"session", value.Session}, []any{"file", value.File}, []any{"statements", value.Statements},
						[]any{"uploaded", "no"}, []any{"sensitive", len(value.Sensitive)})
				})
				if err == nil && attended && !consent {
					g.note("carrel: the file is written; to give the contract away, the person must consent: --consent")
					return errConsent
				}
				return err
			})
		},
	}
	s = takesSession(cmd)
	cmd.Flags().BoolVar(&attended, "attended", false, "a person is there who could be asked")
	cmd.Flags().BoolVar(&consent, "consent", false, "the person consents that the contract is given away")
	return cmd
}

// saveContract writes the file of a contract and looks for what is sensitive.
func (g *globals) saveContract(ctx context.Context, a *access, id transcript.SessionID) (*savedContract, error) {
	value := &savedContract{Session: id, Sensitive: []sensitiveLine{}}
	lines, err := a.Contract(ctx, a.scope, &carrel.SessionRequest{Session: id})
	if err != nil {
		return nil, err
	}
	if value.File, err = g.mirror(ctx, a, id); err != nil {
		return nil, err
	}
	value.Statements = len(lines.Statements)
	for _, l := range contract.FindSensitive(slices.Values(lines.Statements)) {
		value.Sensitive = append(value.Sensitive, sensitiveLine{l.Line, l.Marker})
	}
	return value, nil
}
