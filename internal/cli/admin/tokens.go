package admin

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/token"
)

func newTokens(j *job.Job) *cobra.Command {
	var model, encoding, kind string
	cmd := &cobra.Command{
		Use:   "tokens [FILE|-] [--model M] [--encoding E] [--kind K]",
		Short: "Count the tokens of a text",
		Long: `Tokens counts the tokens of a file or of standard input, for a model or in an
encoding: o200k_base and cl100k_base are exact, and "o200k_base*1.35" is a bound. Without either
it takes the bound for models that are not known. With --kind it makes a guess from the length
alone.`,
		Example: `  carrel debug tokens notes.md --model claude-sonnet-4-5`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "-"
			if len(args) > 0 {
				name = args[0]
			} else if j.StdinTerminal {
				return out.Usagef("name a file, or - for standard input")
			}
			if given := out.Given(cmd, "model", "encoding", "kind"); len(given) > 1 {
				return out.Usagef("%s: use only one", out.WordList(given))
			}
			counter := token.ForModel(model)
			if encoding != "" {
				c, err := token.Encoding(encoding)
				if err != nil {
					return err
				}
				counter = c
			}
			data, err := j.Read(name)
			if err != nil {
				return err
			}
			res := struct {
				Tokens   token.Count `json:"tokens"`
				Encoding string      `json:"encoding"`
				Bytes    int         `json:"bytes"`
			}{Encoding: counter.Encoding(), Bytes: len(data)}
			if kind != "" {
				if err := out.OneOf("--kind", kind, string(token.KindProse), string(token.KindCode), string(token.KindJSON)); err != nil {
					return err
				}
				res.Tokens, res.Encoding = token.Estimate(string(data), token.Kind(kind)), "estimate "+kind
			} else {
				res.Tokens = counter.Count(string(data))
			}
			return j.Result("tokens", res, func(p *out.Page) {
				t := &out.Table{}
				t.Add(res.Tokens, res.Encoding)
				p.Table(t)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&model, "model", "", "count for a `model`")
	f.StringVar(&encoding, "encoding", "", "count in an `encoding`")
	f.StringVar(&kind, "kind", "", "guess by the length, for a `kind` of text: prose, code or json")
	job.Offer(cmd, "kind", "prose", "code", "json")
	return cmd
}
