package artifact

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
)

// putFlags are the flags of put.
type putFlags struct {
	class, title, source, subject string
	ttl, created, verifiedBy, id  string
	from                          []string
	lines                         string // file with one artifact per line
	live, pin, allow, redact, dry bool
}

func newPut(j *job.Job) *cobra.Command {
	f := &putFlags{}
	cmd := &cobra.Command{
		Use:   "put [FILE|URL|-]... --type TYPE [--title T] [--source S] [--subject X] [--ttl D]",
		Short: "Take pieces of context in: memories, chunks, documents",
		Long: `Put stores a file, the content of a URL, or standard input as an artifact, from
which assemble makes contexts. Content that looks as if it held a credential is refused.

TYPE decides how far the artifact is trusted and how fast it ages: verified, retrieved (rag),
document (doc), memory, transcript, tool or scratchpad. A memory is verified if --verified-by
names a person.

A source that begins with file:, http:, https: or mcp: is asked again whenever the artifact is
used, so that stale content is never served; a URL is such a source, and --live makes a file one.
The settings list the permitted sources: see sources in "carrel help config".

With --lines every line of a file is an artifact: an object with "text" and optionally class,
title, source, subject, ttl, created, verified_by, pinned, from, id and allow_secrets; flags are
the defaults of missing fields. If a line is invalid, nothing is stored.`,
		Example: `  carrel put policy.md --type doc --ttl 90d
  carrel put docs/policy.md --type doc --live
  echo "Deploys need profile B." | carrel put --type memory --verified-by ada
  carrel put https://docs.example.org/limits --type rag
  carrel put --lines chunks.ndjson --type rag`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.lines == "" && len(args) == 0 && j.StdinTerminal {
				return out.Usagef("name a file or a URL, or - for standard input")
			}
			template, err := f.request()
			if err != nil {
				return err
			}
			if err := f.check(args); err != nil {
				return err
			}
			ctx := cmd.Context()
			return j.With(ctx, !f.dry, func(a *job.Access) error {
				reqs, err := putRequests(ctx, j, a, f, template, args)
				if err != nil {
					return err
				}
				res := &putResult{DryRun: f.dry}
				res.Items, err = putAll(ctx, j, a, reqs, f.dry)
				if err != nil && len(res.Items) == 0 {
					return err
				}
				if printed := j.List("put", res, "items", res.print); printed != nil {
					return printed
				}
				return err
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.class, "type", "t", "", "`type` of the content, see above")
	flags.StringVar(&f.title, "title", "", "`title`; the name of the file by default")
	flags.StringVar(&f.source, "source", "", "where the content comes from: a `text`, or a source to ask again")
	flags.StringVar(&f.subject, "subject", "", "`subject`, a person or a thing")
	flags.StringVar(&f.ttl, "ttl", "", "how long it lives: a `duration` such as 36h, 7d or 2w")
	flags.StringVar(&f.verifiedBy, "verified-by", "", "`person` who verified the memory")
	flags.BoolVar(&f.pin, "pin", false, "put it into every context")
	flags.StringSliceVar(&f.from, "from", nil, "artifacts that it was made from, by `id`")
	flags.StringVar(&f.id, "id", "", "`id`, which replaces the artifact that has it")
	flags.StringVar(&f.created, "created", "", "`time` since which the content is true; now by default")
	flags.BoolVar(&f.live, "live", false, "look whether the file has changed whenever the artifact is used")
	flags.StringVar(&f.lines, "lines", "", "take the artifacts in a `file` of JSON, one a line")
	flags.BoolVar(&f.allow, "allow-secret", false, "accept content that looks as if it held a credential")
	flags.BoolVar(&f.redact, "redact", false, "take out addresses of e-mail and numbers of telephones")
	job.Offer(cmd, "type", classNames()...)
	_ = cmd.RegisterFlagCompletionFunc("from", j.CompleteArtifacts(carrel.ArtifactsRequest{})) // fails only for an unknown flag
	job.Writes(cmd, &f.dry)
	return cmd
}

// classNames returns the values of --type.
func classNames() []string {
	var names []string
	for _, c := range provenance.Classes() {
		names = append(names, string(c))
	}
	return append(names, "rag", "doc")
}

// parseClass parses the value of --type.
func parseClass(name string) (provenance.Class, error) {
	c, err := provenance.ParseClass(name)
	if err != nil {
		return "", out.Usagef("--type: %q is none of %s", name, strings.Join(classNames(), ", "))
	}
	return c, nil
}

// check returns an error if flags and arguments do not fit together.
func (f *putFlags) check(args []string) error {
	several := len(args) > 1 || f.lines != ""
	switch {
	case f.lines != "" && len(args) > 0:
		return out.Usagef("--lines: the artifacts are in %s, so name no other file", f.lines)
	case f.class == "" && f.lines == "":
		return out.Usagef("--type: the flag is missing: give one of %s", strings.Join(classNames(), ", "))
	case f.lines == "" && f.verifiedBy != "" && f.class != string(provenance.Memory) && f.class != string(provenance.Verified):
		return out.Usagef("--verified-by: only a memory is verified: give --type memory, or leave it out")
	case f.lines == "" && f.verifiedBy == "" && f.class == string(provenance.Verified):
		return out.Usagef("--type verified: say with --verified-by who verified it")
	case several && f.id != "":
		return out.Usagef("--id: needs one artifact, and several are given")
	case several && f.title != "" && f.lines == "":
		return out.Usagef("--title: needs one artifact, and several are given")
	case f.live && f.source != "":
		return out.Usagef("--live and --source: use only one")
	case f.live && (f.lines != "" || len(args) == 0 || slices.Contains(args, "-")):
		return out.Usagef("--live: needs the name of a file")
	}
	return nil
}

// request returns a request with the values of the flags, as the template of every artifact.
func (f *putFlags) request() (*carrel.NewArtifact, error) {
	req := &carrel.NewArtifact{
		ID: store.ArtifactID(f.id), Title: f.title, Source: f.source, Subject: f.subject, VerifiedBy: f.verifiedBy,
		Pinned: f.pin, AllowSecrets: f.allow, Redact: f.redact,
	}
	for _, id := range f.from {
		req.From = append(req.From, store.ArtifactID(id))
	}
	var err error
	if f.class != "" {
		if req.Class, err = parseClass(f.class); err != nil {
			return nil, err
		}
	}
	if f.ttl != "" {
		if req.TTL, err = job.ParseTTL(f.ttl); err != nil {
			return nil, out.Usagef("--ttl: %w", err)
		}
	}
	if f.created != "" {
		if req.Created, err = config.ParseTime(f.created); err != nil {
			return nil, out.Usagef("--created: %w", err)
		}
	}
	verify(req)
	return req, nil
}

// verify changes the class of a memory to verified if the request names who verified it.
func verify(req *carrel.NewArtifact) {
	if req.VerifiedBy != "" && req.Class == provenance.Memory {
		req.Class = provenance.Verified
	}
}

// putRequests returns the requests for all artifacts to put.
func putRequests(ctx context.Context, j *job.Job, a *job.Access, f *putFlags, template *carrel.NewArtifact, args []string) ([]*carrel.NewArtifact, error) {
	if f.lines != "" {
		return readLines(ctx, j, a, f.lines, template)
	}
	if len(args) == 0 {
		args = []string{"-"}
	}
	reqs := make([]*carrel.NewArtifact, 0, len(args))
	for i, name := range args {
		j.Reporter.Outer("read", i, len(args))
		req := *template
		if err := readInto(ctx, j, a, &req, name, f.live); err != nil {
			return nil, err
		}
		reqs = append(reqs, &req)
	}
	return reqs, nil
}

// readInto reads the content of a file or source into a request.
func readInto(ctx context.Context, j *job.Job, a *job.Access, req *carrel.NewArtifact, name string, live bool) (err error) {
	ref, isRef := refOf(name)
	switch {
	case isRef && req.Source != "":
		return out.Usagef("--source: leave it out, as the source is %s", name)
	case live && !isRef:
		file, err := filepath.Abs(j.Path(name))
		if err != nil {
			return err
		}
		if _, err := os.Stat(file); err != nil {
			return err
		}
		ref, isRef = artifact.Ref("file:"+file), true
	}
	if req.Title == "" && name != "-" {
		req.Title = titleOf(name)
	}
	if !isRef {
		req.Content, err = j.Read(name)
		return err
	}
	got, err := a.Opts.Sources.Fetch(ctx, ref, nil)
	if err != nil {
		return fmt.Errorf("put %s: %w", titleOf(name), err)
	}
	req.Source, req.Content = string(ref), got.Content
	return nil
}

// refOf returns the source that an argument names, or false if it names a file.
func refOf(name string) (artifact.Ref, bool) {
	ref, err := artifact.ParseRef(name)
	return ref, err == nil && slices.Contains([]string{"file", "http", "https", "mcp"}, ref.Scheme())
}

// titleOf returns the last element of a path or URL.
func titleOf(name string) string {
	if _, ok := refOf(name); ok {
		name, _, _ = strings.Cut(name, "?")
		name, _, _ = strings.Cut(name, "#")
		return path.Base(name)
	}
	return filepath.Base(name)
}

// batch is how many artifacts are stored in one update.
const batch = 1000

// putAll stores artifacts, or in a dry run only checks them. With an error it returns the artifacts
// that were stored before.
func putAll(ctx context.Context, j *job.Job, a *job.Access, reqs []*carrel.NewArtifact, dry bool) ([]carrel.Artifact, error) {
	e := a.Engine
	if dry {
		var err error
		if e, err = a.DryRun(nil); err != nil {
			return nil, err
		}
	}
	list := make([]carrel.Artifact, 0, len(reqs))
	for some := range slices.Chunk(reqs, batch) {
		j.Reporter.Outer("put", len(list), len(reqs))
		put, err := carrel.Items(e.Put(ctx, a.Scope, &carrel.PutRequest{Artifacts: some}))
		switch {
		case err != nil && dry:
			return nil, err
		case err != nil:
			return list, err
		}
		list = append(list, put...)
	}
	for i := range list {
		if dry && reqs[i].ID == "" {
			list[i].ID = "" // the real id will be another one
		}
	}
	return list, nil
}

// A putResult is the result of put.
type putResult struct {
	carrel.List[carrel.Artifact]
	DryRun bool `json:"dry_run"`
}

func (r *putResult) print(p *out.Page) {
	t := &out.Table{}
	for i := range r.Items {
		a := &r.Items[i]
		if p.TTY {
			expires := "no end"
			if !a.Expires.IsZero() {
				expires = "expires " + a.Expires.Format("2006-01-02 15:04")
			}
			t.Add(a.ID, string(a.Class), out.Thousands(a.Tokens)+" tok", expires, a.Title)
		} else {
			t.Add(a.ID, string(a.Class), a.Tokens, stamp(a.Expires), a.Title)
		}
	}
	p.Table(t)
	if p.TTY && r.DryRun {
		p.Line("dry run: nothing was written")
	}
}

// stamp formats a time for a pipe. For a zero time it returns "".
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// without removes the name of the operation and the number of the request from an error of the
// engine. It is for a command that made only one request.
func without(err error) error {
	if inner := errors.Unwrap(errors.Unwrap(err)); inner != nil {
		return inner
	}
	return err
}
