package artifact

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/store"
)

func newGet(j *job.Job) *cobra.Command {
	req := &carrel.GetRequest{}
	var meta bool
	var to job.Output
	cmd := &cobra.Command{
		Use:   "get ID [--refetch] [--meta] [-o FILE]",
		Short: "Print the content of an artifact",
		Long: `Get prints the bytes of an artifact. If it has a source that can be asked, a changed
artifact is fetched again first, and one that is gone at the source is not served. On a terminal,
control characters are escaped and a line about the artifact goes to standard error; --raw prints
the bytes unchanged. With --json or --meta get prints the record of the artifact instead of its
bytes.`,
		Example: `  carrel get a41c09de
  carrel get a41c09de --refetch --meta`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: job.AtMost(1, j.CompleteArtifacts(carrel.ArtifactsRequest{})),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.ID = args[0]
			if to.File != "" && (meta || j.JSON != "") {
				return out.Usagef("-o is for the content, which --meta and --json do not print: leave out -o")
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				res, err := a.Get(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				if meta || j.JSON != "" {
					res.Content = nil
					return j.Result("artifact", res, func(p *out.Page) { printArtifact(p, res) })
				}
				if j.StderrTerminal {
					j.Note("%s · %s · %s tok · %s bytes · %s", out.ShortRef(string(res.ID)), res.Class, out.Thousands(res.Tokens),
						out.Thousands(res.Bytes), state(&res.Artifact))
				}
				return j.Write(to, res.Content)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&req.Refetch, "refetch", false, "fetch the content from its source, also if it has expired")
	f.BoolVar(&meta, "meta", false, "print the record of the artifact, not its content")
	job.TakesOutput(cmd, &to, "write to `file`; - is standard output")
	return cmd
}

// state returns the state of an artifact in one word.
func state(a *carrel.Artifact) string {
	if a.Status == store.StatusLive && a.Expired {
		return "expired"
	}
	return string(a.Status)
}

func printArtifact(p *out.Page, res *carrel.GetResult) {
	pinned := ""
	if res.Pinned {
		pinned = "yes"
	}
	var expires any = ""
	if !res.Expires.IsZero() {
		expires = res.Expires
	}
	t := &out.Table{Whole: true}
	for _, row := range [][]any{
		{"id", res.ID},
		{"class", string(res.Class)},
		{"status", state(&res.Artifact)},
		{"title", res.Title},
		{"source", res.Source},
		{"fetch", string(res.Fetch)},
		{"subject", res.Subject},
		{"verified by", res.VerifiedBy},
		{"pinned", pinned},
		{"tokens", p.Number(int64(res.Tokens))},
		{"bytes", p.Number(res.Bytes)},
		{"created", res.Created},
		{"expires", expires},
		{"version", fmt.Sprint(res.Version)},
	} {
		if row[1] != "" {
			t.Add(row...)
		}
	}
	p.Table(t)
}

// statuses returns the values of --status.
func statuses() []string {
	var names []string
	for _, s := range [...]store.Status{
		store.StatusLive, store.StatusHeld, store.StatusRejected, store.StatusRefuted, store.StatusTombstoned, store.StatusPurged,
	} {
		names = append(names, string(s))
	}
	return names
}

func newList(j *job.Job) *cobra.Command {
	req := &carrel.ArtifactsRequest{}
	var class, status string
	cmd := &cobra.Command{
		Use:   "ls [--type TYPE] [--status S|--all] [--subject X] [--source S]",
		Short: "List artifacts",
		Long: `Ls lists the live artifacts of the scope, the newest first. Those that have expired
are among them and say so; no context takes them.`,
		Example: `  carrel ls --type memory
  carrel ls --all --source handbook
  carrel ls --expired --json=id --ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if class != "" {
				if req.Class, err = parseClass(class); err != nil {
					return err
				}
			}
			if status != "" {
				if req.All {
					return out.Usagef("--all and --status: use only one")
				}
				if err := out.OneOf("--status", status, statuses()...); err != nil {
					return err
				}
				req.Status = store.Status(status)
			}
			if req.Limit < 0 {
				return out.Usagef("--limit: %d is below 0", req.Limit)
			}
			return listArtifacts(cmd.Context(), j, req)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&class, "type", "t", "", "only of this `type`")
	f.StringVar(&status, "status", "", "only with this `status`: "+strings.Join(statuses(), ", "))
	f.BoolVarP(&req.All, "all", "a", false, "artifacts of every status")
	f.StringVar(&req.Subject, "subject", "", "only about this `subject`")
	f.StringVar(&req.Source, "source", "", "only from this `source`")
	f.BoolVar(&req.Expired, "expired", false, "only expired artifacts")
	f.IntVar(&req.Limit, "limit", 0, "the newest `n`; 0 for all")
	job.Offer(cmd, "type", classNames()...)
	job.Offer(cmd, "status", statuses()...)
	return cmd
}

// listArtifacts prints the artifacts that match a request.
func listArtifacts(ctx context.Context, j *job.Job, req *carrel.ArtifactsRequest) error {
	return j.With(ctx, false, func(a *job.Access) error {
		list, err := carrel.Items(a.Artifacts(ctx, a.Scope, req))
		if err != nil {
			return err
		}
		value := &carrel.List[carrel.Artifact]{Items: append([]carrel.Artifact{}, list...)}
		return j.List("artifacts", value, "items", func(p *out.Page) {
			if len(list) > 0 {
				p.Table(artifactTable(j, p, list))
			}
		})
	})
}

// artifactTable lists artifacts. A terminal gets their age, and a pipe the time at which they were
// created.
func artifactTable(j *job.Job, p *out.Page, list []carrel.Artifact) *out.Table {
	t := &out.Table{Head: []string{"id", "type", "status", "tokens", "age", "expires", "title"}}
	now := j.Clock()()
	for i := range list {
		a := &list[i]
		if !p.TTY {
			t.Add(a.ID, string(a.Class), state(a), a.Tokens, stamp(a.Created), stamp(a.Expires), cmp.Or(a.Title, a.Source))
			continue
		}
		expires := "-"
		if !a.Expires.IsZero() {
			expires = a.Expires.Format("2006-01-02 15:04")
		}
		t.Add(a.ID, string(a.Class), state(a), a.Tokens, p.When(a.Created, now), expires, cmp.Or(a.Title, a.Source))
	}
	return t
}

// A removal is the result of an operation that removes, restores, refutes or purges artifacts.
type removal struct {
	Op string `json:"op"` // remove, restore, refute or purge
	*carrel.RemovalResult
	DryRun bool `json:"dry_run"`
}

// removing opens the store, calls the function do to change artifacts, and prints its result. In a
// dry run the engine that do gets writes nothing.
func removing(ctx context.Context, j *job.Job, op string, dry bool, do func(a *job.Access, e *carrel.Engine) (*carrel.RemovalResult, error)) error {
	return j.With(ctx, false, func(a *job.Access) error {
		e := a.Engine
		if dry {
			var err error
			if e, err = a.DryRun(nil); err != nil {
				return err
			}
		}
		res, err := do(a, e)
		if err != nil {
			return err
		}
		return printRemoval(j, &removal{op, res, dry})
	})
}

// pastOf has the past participles of the operations.
var pastOf = lazy.Value[map[string]string]{Make: func() map[string]string {
	return map[string]string{"remove": "removed", "restore": "restored", "refute": "refuted", "purge": "purged"}
}}

func printRemoval(j *job.Job, r *removal) error {
	r.Artifacts = append([]store.ArtifactID{}, r.Artifacts...)
	r.Manifests = append([]string{}, r.Manifests...)
	return j.Result("removal", r, func(p *out.Page) {
		done := pastOf.Get()[r.Op]
		named := len(r.Artifacts) - r.Derived
		if p.TTY {
			line := done + " " + out.Count(len(r.Artifacts), "artifact")
			if r.Derived > 0 {
				line += fmt.Sprintf(", %s of them made from the others", out.Thousands(r.Derived))
			}
			if r.Cells > 0 {
				line += ", " + out.Count(r.Cells, "cell") + " erased"
			}
			p.Line("%s", line)
		}
		t := &out.Table{Whole: true}
		for i, id := range r.Artifacts {
			what := done
			if i >= named {
				what = done + " too"
			}
			t.Add(what, id)
		}
		for _, id := range r.Manifests {
			t.Add("used by", p.ID(id))
		}
		if !p.TTY && r.Cells > 0 {
			t.Add("cells", r.Cells)
		}
		p.Table(t)
		if p.TTY && r.DryRun {
			p.Line("dry run: nothing was written")
		}
	})
}

func newRemove(j *job.Job) *cobra.Command {
	var undo, dry bool
	cmd := &cobra.Command{
		Use:   "rm ID... [--undo]",
		Short: "Take artifacts out of every context to come",
		Long: `Rm marks artifacts as removed: no context includes them. Their content is kept, and
--undo brings removed and refuted artifacts back. It lists the contexts that had used them. To
erase content, see purge.`,
		Example: `  carrel rm a41c09de
  carrel rm --undo a41c09de`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: j.CompleteArtifacts(carrel.ArtifactsRequest{All: true}),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if undo {
				return removing(ctx, j, "restore", dry, func(a *job.Access, e *carrel.Engine) (*carrel.RemovalResult, error) {
					return e.Restore(ctx, a.Scope, &carrel.IDsRequest{IDs: args})
				})
			}
			return removing(ctx, j, "remove", dry, func(a *job.Access, e *carrel.Engine) (*carrel.RemovalResult, error) {
				return e.Remove(ctx, a.Scope, &carrel.IDsRequest{IDs: args})
			})
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "bring back removed or refuted artifacts")
	job.Writes(cmd, &dry)
	return cmd
}

func newPurge(j *job.Job) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "purge ID... [-y]",
		Short: "Erase the content of artifacts for good",
		Long: `Purge erases artifacts for good: their content, metadata and versions, and
everything derived from them. IDs, commitments and the log stay, so that manifests still verify.
It lists the contexts that had used them. On a terminal it asks first, unless -y is given.`,
		Example: `  carrel purge -n a41c09de
  carrel purge -y a41c09de 77e0b1c2`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: j.CompleteArtifacts(carrel.ArtifactsRequest{All: true}),
		RunE: func(cmd *cobra.Command, args []string) error {
			asks, err := j.Asks(cmd)
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			return removing(ctx, j, "purge", dry, func(a *job.Access, e *carrel.Engine) (*carrel.RemovalResult, error) {
				if asks {
					trial, err := a.DryRun(nil)
					if err != nil {
						return nil, err
					}
					res, err := trial.Purge(ctx, a.Scope, &carrel.IDsRequest{IDs: args})
					if err != nil {
						return nil, err
					}
					if !j.Ask(fmt.Sprintf("erase %s for good", out.Count(len(res.Artifacts), "artifact"))) {
						j.Note("nothing was erased")
						return nil, out.ErrNo
					}
				}
				return e.Purge(ctx, a.Scope, &carrel.IDsRequest{IDs: args})
			})
		},
	}
	job.Writes(cmd, &dry)
	return cmd
}

func newRefute(j *job.Job) *cobra.Command {
	req := &carrel.RefuteRequest{}
	var dry bool
	cmd := &cobra.Command{
		Use:   "refute ID... | --source S",
		Short: "Mark artifacts as wrong, with everything derived from them",
		Long: `Refute marks artifacts as wrong: the named ones, or all of a source, and everything
derived from them. No context includes them any longer. It lists the contexts that had used them,
whose answers may be wrong, too. "carrel rm --undo" takes it back.`,
		Example: `  carrel refute a41c09de
  carrel refute --source handbook`,
		ValidArgsFunction: j.CompleteArtifacts(carrel.ArtifactsRequest{}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && req.Source == "" {
				return out.Usagef("refute: name artifacts, or give --source")
			}
			req.IDs = args
			ctx := cmd.Context()
			return removing(ctx, j, "refute", dry, func(a *job.Access, e *carrel.Engine) (*carrel.RemovalResult, error) {
				return e.Refute(ctx, a.Scope, req)
			})
		},
	}
	cmd.Flags().StringVar(&req.Source, "source", "", "all that came from this `source`")
	job.Writes(cmd, &dry)
	return cmd
}
