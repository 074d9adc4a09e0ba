package admin

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/transcript"
)

func newValidate(j *job.Job) *cobra.Command {
	var provider string
	cmd := &cobra.Command{
		Use:   "validate FILE|- [--provider P]",
		Short: "Tell whether a provider would refuse a conversation",
		Long: `Validate checks a file by the rules of its provider and lists the violations, with
the id of each rule. If there are any, the exit code is 1.`,
		Example: `  carrel validate request.json --provider anthropic`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := j.Read(args[0])
			if err != nil {
				return err
			}
			format, violations, err := carrel.Validate(provider, data)
			if err != nil {
				return fmt.Errorf("validate %s: %w", args[0], err)
			}
			value := struct {
				File       string                 `json:"file"`
				Format     string                 `json:"format"`
				OK         bool                   `json:"ok"`
				Violations []transcript.Violation `json:"violations"`
			}{args[0], format, len(violations) == 0, append([]transcript.Violation{}, violations...)}
			err = j.Result("validate", value, func(p *out.Page) {
				t := &out.Table{Head: []string{"rule", "message", "field", "problem"}}
				for _, v := range violations {
					t.Add(v.Rule, fmt.Sprint(v.Message), v.Field, v.Text)
				}
				if len(violations) > 0 {
					p.Table(t)
				} else {
					p.Line("%s ok", format)
				}
			})
			if err == nil && len(violations) > 0 {
				return out.ErrNo
			}
			return err
		},
	}
	cmd.Flags().StringVar(&provider, "provider", "", "`format` whose rules apply; by default that of the file")
	job.OfferFormats(cmd, "provider")
	return cmd
}
