package artifact

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

func newManifest(j *job.Job) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "manifest list|show|explain|diff|verify|replay|export",
		Short: "Look into the accounts of assembled contexts",
		Long: `A manifest is the sealed account of one context that "carrel assemble" made. It is
stored before the context is handed out. It records the limits and the policy of the context; for
each segment its position, tokens, score and reason; for each artifact left out the reason; and
the answers of sources.

It holds no text: text stays in the store and can be purged, while the manifest stays unchanged.
Its seal shows that the document is unchanged since the seal was written down: keep the seal
elsewhere to prove later that document and seal were not replaced together.

Name a manifest by its id, a prefix of it, or @last. A call to a model that "carrel proxy" managed
has a manifest, too, of the sent body: name it by the id of the call, see "carrel calls". Its
segments cover the whole body; one of them stands for the part that an earlier call sent already,
with the id of that call.`,
		Example: `  carrel manifest show @last
  carrel manifest diff m_3fa91c m_40bb12
  carrel manifest replay @last | cmp - context.txt`,
		RunE: job.Group("manifest", "list, show, explain, diff, verify, replay, export"),
	}
	cmd.AddCommand(newManifestList(j), newManifestShow(j), newManifestExplain(j), newManifestDiff(j), newManifestVerify(j),
		newManifestReplay(j), newManifestExport(j))
	return cmd
}

func newManifestList(j *job.Job) *cobra.Command {
	var session string
	var limit int
	cmd := &cobra.Command{
		Use:     "list [--session SESSION] [--limit N]",
		Short:   "List manifests, newest first",
		Example: `  carrel manifest list --limit 5`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return out.Usagef("--limit: %d is below 0", limit)
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) (err error) {
				var id transcript.SessionID
				if session != "" {
					if id, err = a.SessionID(ctx, session); err != nil {
						return err
					}
				}
				list, err := carrel.Items(a.Manifests(ctx, a.Scope, &carrel.ManifestsRequest{Session: id, Cursor: carrel.Cursor{Limit: limit}}))
				if err != nil {
					return err
				}
				value := &carrel.List[store.Manifest]{Items: append([]store.Manifest{}, list...)}
				return j.List("manifests", value, "items", func(p *out.Page) {
					t := &out.Table{Head: []string{"id", "created", "format", "tier", "tok", "budget", "seal", "session"}}
					for i := range list {
						m := &list[i]
						seal := m.Seal.String()
						if p.TTY {
							seal = seal[:8]
						}
						t.Add(p.ID(m.ID), m.Created, m.Format, string(m.Tier), m.Total, m.Budget, seal, m.Session)
					}
					if len(list) > 0 {
						p.Table(t)
					}
				})
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&session, "session", "", "only contexts with the window of `session`")
	f.IntVar(&limit, "limit", 0, "only the newest `n`; all by default")
	j.OfferSessions(cmd, "session")
	return cmd
}

func newManifestVerify(j *job.Job) *cobra.Command {
	return &cobra.Command{
		Use:   "verify ID|FILE",
		Short: "Check that a manifest is as it was sealed",
		Long: `Verify checks a manifest of the store: its seal, the commitment of each segment, and
that of the whole context. Purged segments cannot be checked and are counted. The manifest of a
call, whose text is not in the store, is checked against the record of the call and against the
manifest that it refers to. For a FILE that "carrel manifest export" wrote, or - for standard
input, it checks form and seal, without a store. If a check fails, the exit code is 6.`,
		Example: `  carrel manifest verify @last
  carrel manifest verify account.json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: job.AtMost(1, completeManifest(j)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if fi, err := os.Stat(j.Path(args[0])); args[0] == "-" || err == nil && !fi.IsDir() {
				data, err := j.Read(args[0])
				if err != nil {
					return err
				}
				res, err := carrel.VerifyDocument(data)
				if err != nil {
					name := args[0]
					if name == "-" {
						name = "stdin"
					}
					hint := "name a file that carrel manifest export wrote, unchanged, or the id of a manifest"
					if errors.Is(err, manifest.ErrSeal) {
						hint = "the file was changed after it was sealed; carrel manifest export writes the sealed document again"
					}
					return out.Hinted(out.InFile(name, err), hint)
				}
				return printVerified(j, res, true)
			}
			return j.With(ctx, false, func(a *job.Access) error {
				res, err := a.VerifyManifest(ctx, a.Scope, &carrel.IDRequest{ID: args[0]})
				if errors.Is(err, store.ErrNotFound) {
					return &out.Error{Err: err, Text: fmt.Sprintf("manifest verify: %q is neither a file nor a manifest in scope %s", args[0], a.Scope)}
				}
				if err != nil {
					return err
				}
				return printVerified(j, res, false)
			})
		},
	}
}

func printVerified(j *job.Job, r *carrel.VerifyResult, offline bool) error {
	return j.Result("manifest-verified", r, func(p *out.Page) {
		what := fmt.Sprintf("%s, the whole context", out.Count(r.Segments, "segment"))
		switch {
		case offline:
			what = "form and seal"
		case !r.Output:
			what = fmt.Sprintf("%s, not the whole context", out.Count(r.Segments, "segment"))
		}
		rows := [][]any{{"ok", what}, {"manifest", r.Manifest}, {"sealed", r.Seal}}
		if r.Erased > 0 {
			rows = append(rows, []any{"erased", out.Count(r.Erased, "segment")})
		}
		if r.Redacted > 0 {
			rows = append(rows, []any{"redacted", out.Count(r.Redacted, "item")})
		}
		p.Fields(rows...)
	})
}

func newManifestReplay(j *job.Job) *cobra.Command {
	var to job.Output
	cmd := &cobra.Command{
		Use:   "replay ID [-o FILE]",
		Short: "Print the exact bytes of a context again",
		Long: `Replay rebuilds the context of a manifest, checks it, and prints the same bytes that
assemble printed. If any of them were purged, the exit code is 4.`,
		Example:           `  carrel manifest replay @last | cmp - context.txt`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: job.AtMost(1, completeManifest(j)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to.ToFile() && j.JSON != "" {
				return out.Usagef("-o and --json: give one of them; the document of --json has the bytes, too")
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				data, err := a.Replay(ctx, a.Scope, &carrel.IDRequest{ID: args[0]})
				if err != nil {
					if errors.Is(err, carrel.ErrGone) {
						return out.Hinted(err, "what was purged is gone for good, so nothing can replay this manifest; carrel manifest show "+args[0]+" lists its segments")
					}
					return err
				}
				if j.JSON != "" {
					return j.Result("manifest-replayed", data, nil)
				}
				return j.Write(to, data.Data)
			})
		},
	}
	job.TakesOutput(cmd, &to, "write to `file`; - is standard output")
	return cmd
}

func newManifestExport(j *job.Job) *cobra.Command {
	var to job.Output
	cmd := &cobra.Command{
		Use:   "export ID [-o FILE]",
		Short: "Print the sealed document of a manifest",
		Long: `Export prints the sealed document of a manifest: canonical JSON without any text of
a conversation or an artifact. With the document and the seal, anyone can check it with "carrel
manifest verify FILE" or another program.`,
		Example:           `  carrel manifest export @last -o account.json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: job.AtMost(1, completeManifest(j)),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				sealed, err := carrel.SealedOf(a.Manifest(ctx, a.Scope, &carrel.IDRequest{ID: args[0]}))
				if err != nil {
					return err
				}
				data, err := j.Filter(append(bytes.Clone(sealed.Bytes()), '\n'))
				if err != nil {
					return err
				}
				return j.Write(to, data)
			})
		},
	}
	job.TakesOutput(cmd, &to, "write to `file`; - is standard output")
	return cmd
}
