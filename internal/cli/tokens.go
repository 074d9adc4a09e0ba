package cli

import (
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/token"
)

func newTokens(env *Env, g *globals) *cobra.Command {
	var model, encoding, kind string
	cmd := &cobra.Command{
		Use:   "tokens [FILE|-] [--model M] [--encoding E] [--kind K]",
		Short: "Count the tokens of a text",
		Long: `Tokens counts the tokens of a file or of standard input, for a model or in an
encoding: o200k_base and cl100k_base are exact, and "o200k_base*1.35" is a bound.
Without either it takes the bound for models that are not known. With --kind it
makes a guess from the length alone.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := "-"
			if len(args) > 0 {
				name = args[0]
			} else if env.StdinTerminal {
				return usagef("name a file, or - for what you type")
			}
			if (model != "") && (encoding != "") || kind != "" && (model != "" || encoding != "") {
				return usagef("--model, --encoding and --kind: give one of them")
			}
			counter := token.ForModel(model)
			if encoding != "" {
				c, err := token.Encoding(encoding)
				if err != nil {
					return err
				}
				counter = c
			}
			data, err := g.read(name)
			if err != nil {
				return err
			}
			res := struct {
				Tokens   token.Count `json:"tokens"`
				Encoding string      `json:"encoding"`
				Bytes    int         `json:"bytes"`
			}{Encoding: counter.Encoding(), Bytes: len(data)}
			if kind != "" {
				if err := oneOf("--kind", kind, string(token.KindProse), string(token.KindCode), string(token.KindJSON)); err != nil {
					return err
				}
				res.Tokens, res.Encoding = token.Estimate(string(data), token.Kind(kind)), "estimate "+kind
			} else {
				res.Tokens = counter.Count(string(data))
			}
			return g.result(document{name: "tokens", value: res}, func(p *page) {
				t := &table{}
				t.add(res.Tokens, res.Encoding)
				p.table(t)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&model, "model", "", "count for a `model`")
	f.StringVar(&encoding, "encoding", "", "count in an `encoding`")
	f.StringVar(&kind, "kind", "", "guess by the length, for a `kind` of text: prose, code or json")
	offer(cmd, "kind", "prose", "code", "json")
	return cmd
}
