package artifact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// commitFlags are the flags of commit that need parsing before they fill the request.
type commitFlags struct {
	text, file, ttl                string
	from                           []string
	confidence, evaluator, verdict string
}

func newCommit(j *job.Job) *cobra.Command {
	req := &carrel.CommitRequest{}
	fl := &commitFlags{}
	cmd := &cobra.Command{
		Use:   "commit [MANIFEST] [--text T|--file F] --confidence X --evaluator NAME",
		Short: "Propose a memory from a context to the gate",
		Long: `Commit proposes a memory to the gate: --text, or the content of --file, from the
context of MANIFEST. With only a manifest it records how good the context was.

The confidence always comes from an external evaluator: a test, a person, a model that judges.
From the threshold on, 0.7 unless the settings say otherwise, the gate accepts the memory: it is
stored and may enter contexts. Below it, without a confidence, or if the text gives orders or
hides something, the gate holds the memory for a person: see "carrel review". A memory that holds
a credential or repeats a known one is refused and not stored. Unless the memory is accepted, the
exit code is 9. See "carrel help gate".

An external evaluator writes a --verdict, a JSON object with "evaluator" and "confidence", and the
values that bind it: "content", the SHA-256 of the text (of the manifest's id if there is no
text), "scope" and "policy", as "carrel manifest show" prints them; "expires", a time, is
optional. If these values do not match, the gate holds the memory.`,
		Example: `  carrel commit @last --text "The staging VPN is profile B." \
    --confidence 0.88 --evaluator rules
  carrel commit @last --confidence 0.9 --evaluator deploy-test
  carrel commit m_3fa91c --file note.txt --verdict verdict.json`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: job.AtMost(1, completeManifest(j)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				req.Manifest = args[0]
			}
			if err := fl.fill(j, req); err != nil {
				return err
			}
			if req.Manifest == "" && req.Text == "" {
				return out.Usagef("commit: name a manifest such as @last, or a memory with --text or --file")
			}
			ctx := cmd.Context()
			return j.With(ctx, true, func(a *job.Access) error {
				about := req.Text
				if req.Manifest != "" {
					m, err := a.Manifest(ctx, a.Scope, &carrel.IDRequest{ID: req.Manifest})
					if err != nil {
						return err
					}
					if req.Manifest = m.ID; about == "" {
						about = m.ID
					}
				}
				if req.Verdict != nil && fl.verdict == "" {
					a.Bind(req.Verdict, a.Scope, about)
				}
				res, err := a.Commit(ctx, a.Scope, req)
				if err != nil {
					return err
				}
				j.Wrote = true
				return printCommit(j, a, fl, req, res)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&fl.text, "text", "", "`text` to remember")
	f.StringVar(&fl.file, "file", "", "take the text to remember from `file`; - is standard input")
	f.StringVar(&req.Title, "title", "", "`title` of the memory")
	f.StringVar(&req.Subject, "subject", "", "subject of the memory, in `words`")
	f.BoolVar(&req.Redact, "redact", false, "take out addresses of e-mail and numbers of telephones")
	f.StringVar(&fl.ttl, "ttl", "", "`duration` after which the memory expires, such as 90d")
	f.StringArrayVar(&fl.from, "from", nil, "`id` of an artifact that the memory was made from, in addition to those of the context")
	f.StringVar(&fl.confidence, "confidence", "", "how sure the evaluator is, a `number` from 0 to 1")
	f.StringVar(&fl.evaluator, "evaluator", "", "`name` of the evaluator")
	f.StringVar(&fl.verdict, "verdict", "", "take the verdict from a JSON `file`")
	return cmd
}

// fill parses the flags into a request.
func (fl *commitFlags) fill(j *job.Job, req *carrel.CommitRequest) (err error) {
	switch {
	case fl.verdict != "" && (fl.confidence != "" || fl.evaluator != ""):
		return out.Usagef("--verdict: the file has the evaluator and the confidence: leave out --evaluator and --confidence")
	case fl.evaluator != "" && fl.confidence == "":
		return out.Usagef("--evaluator: needs --confidence")
	}
	if req.Text, err = j.FlagOrFile("--text", fl.text, "--file", fl.file); err != nil {
		return err
	}
	if fl.ttl != "" {
		if req.TTL, err = job.ParseTTL(fl.ttl); err != nil {
			return out.Usagef("--ttl: %w", err)
		}
	}
	for _, id := range fl.from {
		req.From = append(req.From, store.ArtifactID(id))
	}
	switch {
	case fl.verdict != "":
		req.Verdict, err = readVerdict(j, fl.verdict)
	case fl.confidence != "":
		// The gate holds a memory whose confidence is invalid, such as NaN or 1.5.
		c, err := strconv.ParseFloat(fl.confidence, 64)
		if err != nil {
			return out.Usagef("--confidence: %q is not a number: give one from 0 to 1, such as 0.9", fl.confidence)
		}
		req.Verdict = &assembly.Verdict{Evaluator: fl.evaluator, Confidence: c}
	}
	return err
}

// readVerdict reads the verdict of an evaluator from a file.
func readVerdict(j *job.Job, file string) (*assembly.Verdict, error) {
	data, err := j.Read(file)
	if err != nil {
		return nil, err
	}
	var v struct {
		Evaluator  string        `json:"evaluator"`
		Confidence *float64      `json:"confidence"`
		Content    digest.Digest `json:"content"`
		Scope      string        `json:"scope"`
		Policy     string        `json:"policy"`
		Expires    time.Time     `json:"expires"`
	}
	if err := readStrictly(file, data, &v, "carrel commit --help says what a verdict has"); err != nil {
		return nil, err
	}
	if v.Confidence == nil {
		return nil, &transcript.SyntaxError{Name: file, Field: "confidence", Text: "the field is missing", Hint: "carrel commit --help says what a verdict has"}
	}
	return &assembly.Verdict{
		Evaluator: v.Evaluator, Confidence: *v.Confidence, Content: v.Content, Scope: v.Scope, Policy: v.Policy, Expires: v.Expires,
	}, nil
}

// printCommit prints the decision of the gate. It returns an error unless the gate committed.
func printCommit(j *job.Job, a *job.Access, fl *commitFlags, req *carrel.CommitRequest, res *carrel.CommitResult) error {
	err := j.Result("commit", res, func(p *out.Page) {
		var what, size string
		switch {
		case res.Artifact != nil:
			what, size = p.ID(string(res.Artifact.ID)), p.Number(int64(res.Artifact.Tokens))+" tok"
		case res.Outcome != assembly.Refuse:
			what = p.ID(res.Manifest)
		}
		words := reasonWords(res, a.Opts.Confidence)
		t := &out.Table{Whole: true}
		switch res.Outcome {
		case assembly.Commit:
			t.Add("committed", what, size, fmt.Sprintf("confidence %s by %s", fine(res.Confidence), req.Verdict.Evaluator))
		case assembly.Hold:
			t.Add("held", what, size, words)
		case assembly.Refuse:
			t.Add("refused", words)
		}
		p.Table(t)
	})
	if err != nil || res.Outcome == assembly.Commit {
		return err
	}
	what := "recorded, but not accepted"
	switch {
	case res.Outcome == assembly.Refuse:
		what = "nothing was stored"
	case res.Artifact != nil:
		what = "held for review"
	}
	var causes []string
	for _, r := range res.Reasons {
		causes = append(causes, fl.cause(r, res.Confidence, a, req.Verdict))
	}
	j.Note("carrel: commit: %s: %s", what, strings.Join(causes, "; "))
	if hint := fl.afterGate(res); hint != "" {
		j.Note("hint: %s", hint)
	}
	return errGate
}

// cause returns a sentence that says why the gate did not commit.
func (fl *commitFlags) cause(r assembly.Reason, confidence ratio.Ratio, a *job.Access, v *assembly.Verdict) string {
	if v == nil {
		v = &assembly.Verdict{}
	}
	verdict := "--verdict " + fl.verdict
	switch r {
	case assembly.ReasonEmpty:
		return "the text has no letter or digit"
	case assembly.ReasonSecret:
		return "the text looks like a credential"
	case assembly.ReasonDuplicate:
		return "the text is already remembered"
	case assembly.ReasonEcho:
		return "the text only repeats the context"
	case assembly.ReasonLoop:
		return "the text only repeats a memory of the context"
	case assembly.ReasonNoVerdict:
		return "confidence must come from an evaluator"
	case assembly.ReasonUnnamed:
		return "the evaluator has no name"
	case assembly.ReasonSelf:
		return fmt.Sprintf("the evaluator %q may not judge its own proposal", v.Evaluator)
	case assembly.ReasonConfidence:
		return fmt.Sprintf("the confidence %v is not a number from 0 to 1", v.Confidence)
	case assembly.ReasonBelow:
		return fmt.Sprintf("the confidence %s is below %s", fine(confidence), fine(a.Opts.Confidence))
	case assembly.ReasonExpired:
		return fmt.Sprintf("%s expired at %s", verdict, v.Expires.UTC().Format(time.RFC3339))
	case assembly.ReasonOtherContent:
		return verdict + " is about other content"
	case assembly.ReasonOtherScope:
		return fmt.Sprintf("%s is for scope %q, not for %q", verdict, v.Scope, a.Scope)
	case assembly.ReasonOtherPolicy:
		return verdict + " was made under another policy"
	case assembly.ReasonInstruction:
		return "the text gives orders to an assistant"
	case assembly.ReasonHiddenControls:
		return "the text has invisible characters"
	case assembly.ReasonNoRoom: // no reason of the gate
	}
	return string(r)
}

// afterGate returns what to do about a decision of the gate, or "".
func (fl *commitFlags) afterGate(res *carrel.CommitResult) string {
	var hints []string
	has := func(r assembly.Reason) bool { return slices.Contains(res.Reasons, r) }
	switch {
	case has(assembly.ReasonDuplicate):
		hints = append(hints, "carrel ls --type memory lists the memories")
	case has(assembly.ReasonSecret):
		hints = append(hints, "take the credential out")
	case has(assembly.ReasonNoVerdict):
		hints = append(hints, "pass --confidence with --evaluator, or --verdict")
	case has(assembly.ReasonUnnamed) && fl.verdict == "":
		hints = append(hints, "name the evaluator with --evaluator")
	case has(assembly.ReasonUnnamed), has(assembly.ReasonSelf):
		hints = append(hints, "name another evaluator")
	case has(assembly.ReasonOtherScope):
		hints = append(hints, "name the scope of the verdict with --scope, or have the evaluator judge it for this one (carrel help gate)")
	case has(assembly.ReasonOtherContent), has(assembly.ReasonOtherPolicy), has(assembly.ReasonExpired):
		hints = append(hints, "have the evaluator judge it under the current policy, and repeat the command with the new verdict (carrel help gate)")
	}
	switch {
	case res.Outcome != assembly.Hold:
	case res.Artifact != nil:
		hints = append(hints, fmt.Sprintf("carrel review show %s shows it, and carrel review approve, edit or reject decides", out.ShortRef(string(res.Artifact.ID))))
	default:
		hints = append(hints, fmt.Sprintf("commit it again once the evaluator is sure enough; carrel manifest show %s shows the record", res.Manifest))
	}
	return strings.Join(hints, "; ")
}

// fine formats a confidence without trailing zeros.
func fine(r ratio.Ratio) string {
	return strings.TrimSuffix(strings.TrimRight(r.String(), "0"), ".")
}

// reasonWords returns in words why the gate did not commit.
func reasonWords(res *carrel.CommitResult, threshold ratio.Ratio) string {
	return gateWords(res.Reasons, res.Confidence, threshold)
}

// gateWords returns in words why the gate holds or refuses a memory.
func gateWords(reasons []assembly.Reason, confidence, threshold ratio.Ratio) string {
	var words []string
	for _, r := range reasons {
		switch r { //nolint:exhaustive // the others are their own words
		case assembly.ReasonBelow:
			words = append(words, fmt.Sprintf("confidence %s < %s", fine(confidence), fine(threshold)))
		case assembly.ReasonSecret:
			words = append(words, "secret shape: it looks as if it held a credential")
		case assembly.ReasonDuplicate:
			words = append(words, "duplicate: it is remembered already")
		case assembly.ReasonEcho:
			words = append(words, "echo: it repeats the context")
		case assembly.ReasonLoop:
			words = append(words, "loop: it repeats a memory of the context")
		case assembly.ReasonInstruction:
			words = append(words, "instruction: it gives orders to an assistant")
		default:
			words = append(words, string(r))
		}
	}
	return strings.Join(words, "; ")
}
