package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/store"
)

func newGet(env *Env, g *globals) *cobra.Command {
	req := &carrel.GetRequest{}
	var meta bool
	var out output
	cmd := &cobra.Command{
		Use:   "get ID [--refetch] [--meta] [-o FILE]",
		Short: "Print the content of an artifact",
		Long: `Get prints the bytes of an artifact. If it has a source that can be asked, that is
asked first: what has changed there is fetched, and what is gone there is not
served. A terminal gets a line about the artifact on standard error, and escapes for
what could command it; with --raw it gets the bytes. With --json or --meta get prints
what is known of the artifact in place of its bytes.`,
		Example: `  carrel get a41c09de
  carrel get a41c09de --refetch --meta`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: g.completeArtifact(1, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			req.ID = args[0]
			if out.file != "" && (meta || g.json != "") {
				return usagef("-o: --meta and --json print no content")
			}
			ctx := cmd.Context()
			return g.with(ctx, false, func(a *access) error {
				res, err := a.Get(ctx, a.scope, req)
				if err != nil {
					return err
				}
				if meta || g.json != "" {
					res.Content = nil
					return g.result(document{name: "artifact", value: res}, func(p *page) { printArtifact(p, res) })
				}
				if env.StderrTerminal {
					g.note("%s · %s · %s tok · %s bytes · %s", shortRef(string(res.ID)), res.Class, thousands(int64(res.Tokens)),
						thousands(res.Bytes), state(&res.Artifact))
				}
				return g.write(out, res.Content)
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&req.Refetch, "refetch", false, "fetch the content from its source, also if it has expired")
	f.BoolVar(&meta, "meta", false, "print what is known of the artifact, not its content")
	takesOutput(cmd, &out, "write to `file`; - is standard output")
	return cmd
}

// state returns in a word how an artifact is.
func state(a *carrel.Artifact) string {
	if a.Status == store.StatusLive && a.Expired {
		return "expired"
	}
	return string(a.Status)
}

func printArtifact(p *page, res *carrel.GetResult) {
	pinned := ""
	if res.Pinned {
		pinned = "yes"
	}
	var expires any = ""
	if !res.Expires.IsZero() {
		expires = res.Expires
	}
	t := &table{whole: true}
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
		{"tokens", p.number(int64(res.Tokens))},
		{"bytes", p.number(res.Bytes)},
		{"created", res.Created},
		{"expires", expires},
		{"version", fmt.Sprint(res.Version)},
	} {
		if row[1] != "" {
			t.add(row...)
		}
	}
	p.table(t)
}

// statuses returns what --status may be.
func statuses() []string {
	var names []string
	for _, s := range [...]store.Status{
		store.StatusLive, store.StatusHeld, store.StatusRejected, store.StatusRefuted, store.StatusTombstoned, store.StatusPurged,
	} {
		names = append(names, string(s))
	}
	return names
}

func newList(_ *Env, g *globals) *cobra.Command {
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
					return usagef("--all and --status: give one of them")
				}
				if err := oneOf("--status", status, statuses()...); err != nil {
					return err
				}
				req.Status = store.Status(status)
			}
			if req.Limit < 0 {
				return usagef("--limit: %d is below 0", req.Limit)
			}
			return g.listArtifacts(cmd.Context(), req)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&class, "type", "t", "", "only of this `type`")
	f.StringVar(&status, "status", "", "only with this `status`: "+strings.Join(statuses(), ", "))
	f.BoolVarP(&req.All, "all", "a", false, "whatever the status")
	f.StringVar(&req.Subject, "subject", "", "only about this `subject`")
	f.StringVar(&req.Source, "source", "", "only from this `source`")
	f.BoolVar(&req.Expired, "expired", false, "only what has expired")
	f.IntVar(&req.Limit, "limit", 0, "the newest `n`; 0 for all")
	offer(cmd, "type", classNames()...)
	offer(cmd, "status", statuses()...)
	return cmd
}

// listArtifacts prints the artifacts that a request asks for.
func (g *globals) listArtifacts(ctx context.Context, req *carrel.ArtifactsRequest) error {
	return g.with(ctx, false, func(a *access) error {
		list, err := carrel.Items(a.Artifacts(ctx, a.scope, req))
		if err != nil {
			return err
		}
		value := struct {
			Artifacts []carrel.Artifact `json:"artifacts"`
		}{append([]carrel.Artifact{}, list...)}
		return g.result(document{"artifacts", value, "artifacts"}, func(p *page) {
			if len(list) > 0 {
				p.table(g.artifactTable(p, list))
			}
		})
	})
}

// artifactTable lists artifacts. A terminal sees how old they are, and what is
// not live only if there is any.
func (g *globals) artifactTable(p *page, list []carrel.Artifact) *table {
	t := &table{head: []string{"id", "type", "status", "tokens", "age", "expires", "title"}}
	now := g.clock()()
	for i := range list {
		a := &list[i]
		if !p.tty {
			t.add(a.ID, string(a.Class), state(a), a.Tokens, stamp(a.Created), stamp(a.Expires), titleOr(a))
			continue
		}
		expires := "-"
		if !a.Expires.IsZero() {
			expires = a.Expires.Format("2006-01-02 15:04")
		}
		t.add(a.ID, string(a.Class), state(a), a.Tokens, p.when(a.Created, now), expires, titleOr(a))
	}
	return t
}

// titleOr returns the title of an artifact, or else where it comes from.
func titleOr(a *carrel.Artifact) string {
	if a.Title == "" {
		return a.Source
	}
	return a.Title
}

// A removal says what was done to artifacts.
type removal struct {
	Op string `json:"op"` // remove, restore, refute or purge
	*carrel.RemovalResult
	DryRun bool `json:"dry_run"`
}

// removing opens the store, does something to artifacts, or to none in a dry
// run, and prints what.
func (g *globals) removing(ctx context.Context, op string, dry bool, do func(a *access, e *carrel.Engine) (*carrel.RemovalResult, error)) error {
	return g.with(ctx, false, func(a *access) error {
		e := a.Engine
		if dry {
			var err error
			if e, err = a.rehearse(nil); err != nil {
				return err
			}
		}
		res, err := do(a, e)
		if err != nil {
			return err
		}
		return g.printRemoval(&removal{op, res, dry})
	})
}

// pastOf are the operations on artifacts, once done.
var pastOf = map[string]string{"remove": "removed", "restore": "restored", "refute": "refuted", "purge": "purged"}

func (g *globals) printRemoval(r *removal) error {
	r.Artifacts = append([]store.ArtifactID{}, r.Artifacts...)
	r.Manifests = append([]string{}, r.Manifests...)
	return g.result(document{name: "removal", value: r}, func(p *page) {
		done := pastOf[r.Op]
		named := len(r.Artifacts) - r.Derived
		if p.tty {
			line := done + " " + count(len(r.Artifacts), "artifact")
			if r.Derived > 0 {
				line += fmt.Sprintf(", %s of them made from the others", thousands(int64(r.Derived)))
			}
			if r.Cells > 0 {
				line += ", " + count(r.Cells, "cell") + " erased"
			}
			p.line("%s", line)
		}
		t := &table{whole: true}
		for i, id := range r.Artifacts {
			what := done
			if i >= named {
				what = done + " too"
			}
			t.add(what, id)
		}
		for _, id := range r.Manifests {
			t.add("used by", p.id(id))
		}
		if !p.tty && r.Cells > 0 {
			t.add("cells", r.Cells)
		}
		p.table(t)
		if p.tty && r.DryRun {
			p.line("dry run: nothing was written")
		}
	})
}

func newRemove(_ *Env, g *globals) *cobra.Command {
	var undo, dry bool
	cmd := &cobra.Command{
		Use:   "rm ID... [--undo]",
		Short: "Take artifacts out of every context to come",
		Long: `Rm marks artifacts as removed: no context takes them any more. Their content is
kept, and --undo brings them back, as it does what was refuted. It lists the
contexts that had used them. To erase content, see purge.`,
		Example: `  carrel rm a41c09de
  carrel rm --undo a41c09de`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: g.completeArtifact(0, true),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if undo {
				return g.removing(ctx, "restore", dry, func(a *access, e *carrel.Engine) (*carrel.RemovalResult, error) {
					return e.Restore(ctx, a.scope, &carrel.IDsRequest{IDs: args})
				})
			}
			return g.removing(ctx, "remove", dry, func(a *access, e *carrel.Engine) (*carrel.RemovalResult, error) {
				return e.Remove(ctx, a.scope, &carrel.IDsRequest{IDs: args})
			})
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "bring back what was removed or refuted")
	writes(cmd, &dry)
	return cmd
}

func newPurge(env *Env, g *globals) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "purge ID... [-y]",
		Short: "Erase the content of artifacts for good",
		Long: `Purge erases artifacts: their content, what is said about them, every version of
it, and whatever was made from it. What stays are ids, commitments and the log,
so that manifests still verify. Nothing brings the content back. It lists the
contexts that had used it. On a terminal it asks first, unless -y says yes.`,
		Example: `  carrel purge -n a41c09de
  carrel purge -y a41c09de 77e0b1c2`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: g.completeArtifact(0, true),
		RunE: func(cmd *cobra.Command, args []string) error {
			yes, err := cmd.Flags().GetBool("yes")
			if err != nil {
				return err
			}
			ctx := cmd.Context()
			return g.removing(ctx, "purge", dry, func(a *access, e *carrel.Engine) (*carrel.RemovalResult, error) {
				if env.StdinTerminal && env.StderrTerminal && !yes && !dry {
					trial, err := a.rehearse(nil)
					if err != nil {
						return nil, err
					}
					res, err := trial.Purge(ctx, a.scope, &carrel.IDsRequest{IDs: args})
					if err != nil {
						return nil, err
					}
					if !g.ask(fmt.Sprintf("erase %s for good", count(len(res.Artifacts), "artifact"))) {
						g.note("nothing was erased")
						return nil, errNo
					}
				}
				return e.Purge(ctx, a.scope, &carrel.IDsRequest{IDs: args})
			})
		},
	}
	writes(cmd, &dry)
	return cmd
}

func newRefute(_ *Env, g *globals) *cobra.Command {
	req := &carrel.RefuteRequest{}
	var dry bool
	cmd := &cobra.Command{
		Use:   "refute ID... | --source S",
		Short: "Recall what turned out to be wrong, with all that was made from it",
		Long: `Refute marks artifacts as wrong: those named, or all that came from a source, and
whatever was made from them. No context takes them any more. It lists the
contexts that had used them, whose answers may be wrong, too. "carrel rm --undo"
takes it back.`,
		Example: `  carrel refute a41c09de
  carrel refute --source handbook`,
		ValidArgsFunction: g.completeArtifact(0, false),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && req.Source == "" {
				return usagef("name artifacts, or a --source")
			}
			req.IDs = args
			ctx := cmd.Context()
			return g.removing(ctx, "refute", dry, func(a *access, e *carrel.Engine) (*carrel.RemovalResult, error) {
				return e.Refute(ctx, a.scope, req)
			})
		},
	}
	cmd.Flags().StringVar(&req.Source, "source", "", "all that came from this `source`")
	writes(cmd, &dry)
	return cmd
}

// completeArtifact offers artifacts for the first n arguments, or for all if n
// is 0: the live ones, or with what was removed.
func (g *globals) completeArtifact(n int, all bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if n > 0 && len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return g.offerArtifacts(cmd, &carrel.ArtifactsRequest{All: all}, args), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeArtifactFlag offers live artifacts for a flag.
func (g *globals) completeArtifactFlag(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return g.offerArtifacts(cmd, &carrel.ArtifactsRequest{}, nil), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// offerArtifacts returns artifacts with their titles, apart from those that are
// named already.
func (g *globals) offerArtifacts(cmd *cobra.Command, req *carrel.ArtifactsRequest, named []string) []cobra.Completion {
	var offers []cobra.Completion
	req.Limit = 50
	_ = g.with(cmd.Context(), false, func(a *access) error { // a shell wants no errors
		list, err := carrel.Items(a.Artifacts(cmd.Context(), a.scope, req))
		for i := range list {
			art := &list[i]
			if slices.Contains(named, string(art.ID)) || art.Status == store.StatusPurged {
				continue
			}
			desc := fmt.Sprintf("%s, %s tok, %s", art.Class, thousands(int64(art.Tokens)), cut(visible(titleOr(art)), 50))
			offers = append(offers, cobra.CompletionWithDesc(string(art.ID), desc))
		}
		return err
	})
	return offers
}
