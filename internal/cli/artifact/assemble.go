package artifact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/triage"
)

// assembleFlags are the flags of assemble that need parsing before they fill the request.
type assembleFlags struct {
	query, queryFile, system, systemFile string
	budget, reserve, session, tier       string
	out                                  job.Output
	trace                                bool
}

func newAssemble(j *job.Job) *cobra.Command {
	req := &carrel.AssembleRequest{}
	fl := &assembleFlags{}
	cmd := &cobra.Command{
		Use:   "assemble [--query Q] [--budget N] [--session S] [--format F] [-o FILE]",
		Short: "Make a context that fits a budget",
		Long: `Assemble makes a context for a query: a system text, pinned artifacts, the window of
a session, the selected artifacts, and the query, in this order. It is never over the budget. The
size before any cut decides the tier: see "carrel help tiers". With --tiers soft a context that is
too large keeps whole artifacts while they fit: those that a person verified first, then the best.

The context goes to standard output, and a report of its parts and of the artifacts left out, with
reasons, to standard error. The full account is stored as a sealed manifest: see "carrel manifest
show @last". If the required parts are over the budget, the exit code is 5.

Without --budget it is that of the settings ("carrel help config"), or half of the context window.`,
		Example: `  carrel assemble --query "why does the deploy fail" --budget 40000
  carrel assemble --session @last --budget 100000 --format anthropic \
    -o request.json
  carrel assemble --query-file question.txt --budget 8000 --trace --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return fl.run(cmd.Context(), j, req) },
	}
	f := cmd.Flags()
	f.StringVar(&fl.query, "query", "", "query of the context, in `words`; it stands at the end")
	f.StringVar(&fl.queryFile, "query-file", "", "take the query from `file`; - is standard input")
	f.StringVar(&fl.budget, "budget", "", "`tokens` that the context may take, with the reserve")
	f.StringVar(&fl.reserve, "reserve", "0", "`tokens` of the budget to keep free for the reply")
	f.StringVar(&fl.session, "session", "", "`session` whose window goes in")
	f.StringVar(&fl.system, "system", "", "system `text` to begin with")
	f.StringVar(&fl.systemFile, "system-file", "", "take the system text from `file`")
	f.StringVar(&req.Format, "format", carrel.FormatText, "`form` of the context: text, openai, anthropic or responses")
	f.StringVar(&req.Model, "model", "", "count the tokens of `model`; the session's by default")
	f.StringVar(&fl.tier, "tier", "", "force a `tier`: full, summarized, core or minimal, or its number from 1")
	f.StringVar(&req.Tiers, "tiers", carrel.TiersArticle, "`ladder` of tiers: article, or soft")
	f.BoolVar(&fl.trace, "trace", false, "list the scores of everything that was looked at closely")
	job.TakesOutput(cmd, &fl.out, "write the context to `file`; - is standard output")
	j.OfferSessions(cmd, "session")
	job.Offer(cmd, "format", carrel.FormatText, "openai", "anthropic", "responses")
	job.Offer(cmd, "tier", tierWords()...)
	job.Offer(cmd, "tiers", carrel.TiersArticle, carrel.TiersSoft)
	job.Writes(cmd, &req.DryRun)
	return cmd
}

// run makes a context and prints it, with a report of its parts.
func (fl *assembleFlags) run(ctx context.Context, j *job.Job, req *carrel.AssembleRequest) error {
	if err := fl.fill(j, req); err != nil {
		return err
	}
	return j.With(ctx, !req.DryRun, func(a *job.Access) (err error) {
		if fl.session != "" {
			if req.Session, err = a.SessionID(ctx, fl.session); err != nil {
				return err
			}
		}
		if fl.budget == "" {
			req.Budget = budgetOf(a, req.Model)
		}
		res, err := a.Assemble(ctx, a.Scope, req)
		if errors.Is(err, carrel.ErrBudget) {
			return out.Hinted(err, budgetHint(err, req))
		}
		if err != nil {
			return err
		}
		made := newAssembled(res, fl.out.File)
		if fl.trace {
			if made.Scored, err = traced(ctx, a, res.Manifest); err != nil {
				return err
			}
		}
		if !req.DryRun && (fl.out.File != "" || j.JSON == "") {
			if err := j.Write(fl.out, res.Data); err != nil {
				return err
			}
			res.Data = nil
		}
		if j.JSON != "" {
			return j.Result("assemble", made, nil)
		}
		p := j.Report()
		printAssembled(p, a, made, fl, req)
		j.NotePage(p)
		return nil
	})
}

// fill parses the flags into a request.
func (fl *assembleFlags) fill(j *job.Job, req *carrel.AssembleRequest) (err error) {
	switch {
	case fl.out.File == "-" && j.JSON != "":
		return out.Usagef("-o - and --json: only one can go to standard output")
	case fl.trace && req.DryRun:
		return out.Usagef("--trace and -n: a dry run leaves no manifest to read the scores from; carrel triage prints the scores")
	}
	if err := out.OneOf("--format", req.Format, carrel.FormatText, "openai", "anthropic", "responses"); err != nil {
		return err
	}
	if err := out.OneOf("--tiers", req.Tiers, carrel.TiersArticle, carrel.TiersSoft); err != nil {
		return err
	}
	if fl.tier != "" && req.Tiers == carrel.TiersSoft {
		return out.Usagef("--tier and --tiers soft: use only one, because the soft ladder has no tier to force")
	}
	if req.Query, err = j.FlagOrFile("--query", fl.query, "--query-file", fl.queryFile); err != nil {
		return err
	}
	if req.System, err = j.FlagOrFile("--system", fl.system, "--system-file", fl.systemFile); err != nil {
		return err
	}
	if req.Reserve, err = job.ParseTokens("--reserve", fl.reserve); err != nil {
		return err
	}
	if fl.budget != "" {
		if req.Budget, err = job.ParseTokens("--budget", fl.budget); err != nil {
			return err
		}
	}
	req.Tier, err = parseTier(fl.tier)
	return err
}

// parseTier parses a tier: its name, or its number from 1.
func parseTier(s string) (tier.Tier, error) {
	for i, t := range tier.Tiers() {
		if s == string(t) || s == fmt.Sprint(i+1) {
			return t, nil
		}
	}
	if s == "" {
		return "", nil
	}
	return "", out.OneOf("--tier", s, tierWords()...)
}

func tierWords() []string {
	var words []string
	for _, t := range tier.Tiers() {
		words = append(words, string(t))
	}
	return words
}

// budgetOf returns the default budget of a context, in tokens. It is the target of compressions in
// the settings; a target that is a share counts as a share of the context window.
func budgetOf(a *job.Access, model string) token.Count {
	var r carrel.CompressRequest
	a.Settings.Request(&r)
	if r.Target.Tokens > 0 {
		return r.Target.Tokens
	}
	window := cmp.Or(a.Settings.Window(), token.ContextWindow(model))
	return token.Count(cmp.Or(r.Target.Share, ratio.One/2).Scale(int64(window)))
}

// budgetHint returns the hint for a context that cannot fit its budget.
func budgetHint(err error, req *carrel.AssembleRequest) string {
	var need, pins token.Count
	if e, ok := errors.AsType[*assembly.FloorError](err); ok {
		need, pins = e.Need, e.Pins
	} else if e, ok := carrel.Floor(err); ok {
		need = e.Need
	}
	hint := fmt.Sprintf("--budget %d would hold it", need+req.Reserve)
	if req.Session != "" {
		hint += ", or leave --session out"
	}
	if pins > 0 {
		hint += ", or fewer pinned artifacts"
	}
	return hint
}

// An assembled is the result of assemble as it is printed.
type assembled struct {
	*carrel.AssembleResult
	Summaries []brief      `json:"summaries"`        // artifacts that are in the context in brief form
	Scored    []scoredLine `json:"scored,omitempty"` // with --trace
	File      string       `json:"file,omitempty"`   // file with the context, in place of Data
}

// A brief is the brief form of an artifact in a context.
type brief struct {
	ID     string           `json:"id"`
	Class  provenance.Class `json:"class"`
	Tokens token.Count      `json:"tokens"`
	Whole  token.Count      `json:"whole"` // tokens of the whole artifact
}

// A scoredLine is an artifact with its score and whether it is in the context.
type scoredLine struct {
	ID         string           `json:"id"`
	Class      provenance.Class `json:"class"`
	Tag        manifest.Tag     `json:"tag"`
	Score      ratio.Ratio      `json:"score"`
	Recency    ratio.Ratio      `json:"recency"`
	Provenance ratio.Ratio      `json:"provenance"`
	Semantic   ratio.Ratio      `json:"semantics"`
	First      ratio.Ratio      `json:"first"`
	Reason     manifest.Reason  `json:"reason"` // why it is in the context, or why not
}

func newAssembled(res *carrel.AssembleResult, file string) *assembled {
	out := &assembled{AssembleResult: res, Summaries: []brief{}, File: file}
	for i := range res.Used {
		if u := &res.Used[i]; u.Form == manifest.FormBrief {
			out.Summaries = append(out.Summaries, brief{string(u.ID), u.Class, u.InContext, u.Tokens})
		}
	}
	return out
}

// traced returns the artifacts that a manifest lists with a tag, best first, and then those that
// were dead, such as expired ones. It leaves out artifacts that were only looked at in the first
// pass.
func traced(ctx context.Context, a *job.Access, id string) ([]scoredLine, error) {
	sealed, err := carrel.SealedOf(a.Manifest(ctx, a.Scope, &carrel.IDRequest{ID: id}))
	if err != nil {
		return nil, err
	}
	list := []scoredLine{}
	add := func(ref string, class provenance.Class, s *manifest.Score, why manifest.Reason) {
		if s != nil && s.Tag != "" {
			list = append(list, scoredLine{ref, class, s.Tag, s.Total, s.Recency, s.Provenance, s.Semantic, s.First, why})
		}
	}
	for _, it := range sealed.Manifest().Items {
		switch it := it.(type) {
		case *manifest.Segment:
			add(it.Ref, it.Class, it.Score, it.Reason)
		case *manifest.Omission:
			add(it.Ref, it.Class, it.Score, it.Reason)
			if it.Reason.Dead() {
				list = append(list, scoredLine{ID: it.Ref, Class: it.Class, Tag: manifest.TagBlack, Reason: it.Reason})
			}
		}
	}
	dead := func(l scoredLine) int {
		if l.Tag == manifest.TagBlack {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(x, y scoredLine) int { return cmp.Or(dead(x)-dead(y), cmp.Compare(y.Score, x.Score)) })
	return list, nil
}

// printAssembled prints the report of a context.
func printAssembled(p *out.Page, a *job.Access, r *assembled, fl *assembleFlags, req *carrel.AssembleRequest) {
	p.Line("scope %s   %s%s", out.Visible(string(a.Scope)), out.Count(r.Candidates, "candidate"), leftWords(r.Left, a.Opts.Triage))
	p.Line("tags  %s", tagWords(r.Tags))
	t := &out.Table{Head: []string{"", "tag", "score", "class", "tok", "id", "title", ""}}
	for i := range r.Used {
		u := &r.Used[i]
		score := out.Milli(u.Score)
		if u.Tag == "" {
			score = ""
		}
		t.Add("", string(u.Tag), score, string(u.Class), u.InContext, out.ShortRef(string(u.ID)), out.Cut(out.Visible(u.Title), min(max(p.Width-62, 16), 40)), usedWords(u))
	}
	if len(t.Rows) > 0 {
		p.Table(t)
	}
	if fl.trace {
		printTraced(p, r.Scored)
	}
	took := out.Thousands(r.TokenCount)
	if r.Reserve > 0 {
		took += " + " + out.Thousands(r.Reserve) + " reserved"
	}
	line := fmt.Sprintf("%s / %s tok (%s)   tier %s", took, out.Thousands(r.Budget), out.Percent(r.TokenCount+r.Reserve, r.Budget), r.Tier)
	if r.Manifest != "" {
		line += fmt.Sprintf("   manifest %s sealed %.8s", out.ShortRef(r.Manifest), r.Seal)
	} else {
		line += "   dry run: nothing was written"
	}
	p.Line("%s", line)
	for _, l := range r.Losses {
		p.Line("lost: %s of %s: %s", out.Visible(l.What), out.MessageWords(l.Message), out.Count(l.Count, "part"))
	}
	if r.Warning != "" {
		p.Line("warning: %s", out.Visible(r.Warning))
	}
	if r.Review {
		printScarce(p, r, req, a.Opts.Ladder)
	}
}

// tagWords returns in words how many artifacts have each tag.
func tagWords(t triage.Tags) string {
	return fmt.Sprintf("%s red · %s yellow · %s green · %s black",
		out.Thousands(t.Red), out.Thousands(t.Yellow), out.Thousands(t.Green), out.Thousands(t.Black))
}

// leftWords returns in words how many artifacts were left out for each reason.
func leftWords(left map[manifest.Reason]int, policy *triage.Policy) string {
	var b strings.Builder
	for _, reason := range manifest.Excluded() {
		if n := left[reason]; n > 0 {
			words := leftWord(reason)
			if reason == manifest.ReasonDistrusted {
				words = distrusted(policy)
			}
			fmt.Fprintf(&b, " · −%s %s", out.Thousands(n), words)
		}
	}
	return b.String()
}

// distrusted returns in words the classes that a policy excludes.
func distrusted(policy *triage.Policy) string {
	var names []string
	for _, c := range provenance.Classes() {
		if policy.Classes[c].Rank < policy.Trust {
			names = append(names, string(c))
		}
	}
	return cmp.Or(strings.Join(names, " or "), leftWord(manifest.ReasonDistrusted))
}

// leftWord returns the words for a reason to leave out an artifact.
func leftWord(r manifest.Reason) string {
	switch r { //nolint:exhaustive // the others are their own words
	case manifest.ReasonSourceGone:
		return "source gone"
	case manifest.ReasonSourceForbidden:
		return "source not allowed"
	case manifest.ReasonSourceUnavailable:
		return "source not reached"
	case manifest.ReasonTier:
		return "not in this tier"
	}
	return strings.ReplaceAll(string(r), "_", " ")
}

// usedWords returns remarks about an artifact in a context.
func usedWords(u *carrel.UsedEntry) string {
	var words []string
	if u.Pinned {
		words = append(words, "pinned")
	}
	if u.Class == provenance.Verified {
		words = append(words, "human-verified")
	}
	if u.Fetched {
		words = append(words, "refetched")
	}
	if u.Form == manifest.FormBrief {
		words = append(words, fmt.Sprintf("brief, of %s", out.Thousands(u.Tokens)))
	}
	if u.Neutralized > 0 {
		words = append(words, out.Count(u.Neutralized, "character")+" made visible")
	}
	return out.Visible(strings.Join(words, ", "))
}

func printTraced(p *out.Page, list []scoredLine) {
	scored := slices.DeleteFunc(slices.Clone(list), func(l scoredLine) bool { return l.Tag == manifest.TagBlack })
	p.Line("scored closely: %d", len(scored))
	t := &out.Table{Head: []string{"", "tag", "score", "R", "P", "S", "class", "id", "became"}}
	for i := range list {
		s := &list[i]
		if s.Tag == manifest.TagBlack {
			t.Add("", string(s.Tag), "", "", "", "", string(s.Class), out.ShortRef(s.ID), leftWord(s.Reason))
			continue
		}
		t.Add("", string(s.Tag), out.Milli(s.Score), out.Milli(s.Recency), out.Milli(s.Provenance), out.Milli(s.Semantic), string(s.Class), out.ShortRef(s.ID), leftWord(s.Reason))
	}
	if len(list) > 0 {
		p.Table(t)
	}
}

// printScarce warns that a context has few of the artifacts found, and says what would help.
func printScarce(p *out.Page, r *assembled, req *carrel.AssembleRequest, ladder tier.Ladder) {
	if r.Tier == tier.Minimal || len(r.Used) == 0 {
		p.Line("warning: tier %s: no artifact that was found is in this context. A person should review the answer.", r.Tier)
	} else {
		p.Line("warning: too few of the artifacts that were found are in this context. A person should review the answer.")
	}
	if req.Tiers == carrel.TiersSoft {
		p.Line("hint: everything would take %s tok, which --budget %d holds", out.Thousands(r.Demand), r.Demand+r.Reserve)
		return
	}
	if req.Tier != "" {
		p.Line("hint: leave --tier %s out", req.Tier)
		return
	}
	hint := fmt.Sprintf("hint: --tiers soft keeps whole artifacts while they fit; everything would take %s tok; --budget %d gives tier summarized, --budget %d full",
		out.Thousands(r.Demand), enough(r.Demand, ladder.Core)+r.Reserve, enough(r.Demand, ladder.Summarized)+r.Reserve)
	if req.Session != "" {
		hint += "; or carrel compress the session first"
	}
	p.Line("%s", hint)
}

// enough returns the smallest budget such that the demand is less than the given share of it. The
// share is in percent.
func enough(demand token.Count, share int) token.Count {
	return 100*demand/token.Count(max(share, 1)) + 1
}
