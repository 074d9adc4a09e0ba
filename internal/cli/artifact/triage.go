package artifact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/retrieval"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/triage"
)

func newTriage(j *job.Job) *cobra.Command {
	var file string
	cmd := &cobra.Command{
		Use:   "triage QUERY | --file FILE",
		Short: "Score artifacts for a query",
		Long: `Triage scores the artifacts of a scope for a query as assemble does, best first, and
assembles nothing. A first pass looks at all of them: expired and refuted ones are dead,
scratchpads are not trusted, and of the others those go on that are recent, of a good class, or
share words with the query. A second pass scores the best of these, 20 at most:

    score = wR × recency + wP × provenance + wS × similarity

with weights and half-lives by class. Red and yellow enter a context, green does not. A count of
all goes to standard error. If nothing is left, the exit code is 1.

With --file it needs no store: it scores the candidates of a JSON file, an object such as

    {"now": "2026-01-01T00:00:00Z", "query": "refund limit", "candidates": [
      {"id": "a", "class": "retrieved", "age": "36h", "ttl": "90d",
       "text": "…"}]}

or its list of candidates alone. Instead of "age" one may have "created", a time; "ttl" and
"refuted" may be left out. A QUERY wins over the file's.`,
		Example: `  carrel triage why does the deploy fail
  carrel triage --file candidates.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			words := strings.Join(args, " ")
			switch {
			case file != "":
				in, err := readCandidates(j, file, words)
				if err != nil {
					return err
				}
				opts, err := j.EngineOptions()
				if err != nil {
					return err
				}
				return printTriage(j, in.score(opts.Triage))
			case words == "":
				return out.Usagef("triage: name a query, or a file with --file")
			}
			ctx := cmd.Context()
			return j.With(ctx, false, func(a *job.Access) error {
				res, err := a.Triage(ctx, a.Scope, &carrel.TriageRequest{Query: words})
				if err != nil {
					return err
				}
				return printTriage(j, res)
			})
		},
	}
	cmd.Flags().StringVar(&file, "file", "", "score the candidates of a JSON `file`; - is standard input")
	return cmd
}

func printTriage(j *job.Job, r *carrel.TriageResult) error {
	err := j.List("triage", r, "scored", func(p *out.Page) {
		t := &out.Table{Head: []string{"tag", "score", "R", "P", "S", "class", "tok", "id", "title"}}
		for i := range r.Scored {
			s := &r.Scored[i]
			title := out.Visible(s.Title)
			if s.Problem != "" {
				title += " (" + out.Visible(s.Problem) + ")"
			}
			t.Add(string(s.Tag), out.Milli(s.Score), out.Milli(s.Recency), out.Milli(s.Provenance), out.Milli(s.Semantics), string(s.Class), s.Tokens, p.ID(string(s.ID)), title)
		}
		if len(t.Rows) > 0 {
			p.Table(t)
		}
	})
	if err != nil {
		return err
	}
	if j.JSON == "" {
		y := &r.Tally
		j.Note("%s · %d pinned · %d scored · %d not scored · %d crowded · %d not trusted · %d expired · %d refuted", out.Count(r.Candidates, "candidate"),
			r.Pinned, len(r.Scored), y.NotScored, y.Crowded, y.Distrusted, y.Expired, y.Refuted)
		j.Note("tags: %s", tagWords(r.Tags))
		if r.Warning != "" {
			j.Note("warning: %s", r.Warning)
		}
	}
	if len(r.Scored) == 0 {
		return out.ErrNo
	}
	return nil
}

// candidates is a file with artifacts to score.
type candidates struct {
	Now        time.Time   `json:"now"`
	Query      string      `json:"query"`
	Candidates []candidate `json:"candidates"`

	rows []triage.Row
}

// A candidate is an artifact in the file.
type candidate struct {
	ID      string    `json:"id"`
	Class   string    `json:"class"`
	Created time.Time `json:"created"`
	Age     string    `json:"age"`
	TTL     string    `json:"ttl"`
	Refuted bool      `json:"refuted"`
	Text    string    `json:"text"`
}

// readCandidates reads a file of candidates.
func readCandidates(j *job.Job, file, query string) (*candidates, error) {
	data, err := j.Read(file)
	if err != nil {
		return nil, err
	}
	in := &candidates{}
	var to any = in
	if bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		to = &in.Candidates
	}
	if err := readStrictly(file, data, to, "carrel triage --help shows the fields of a file"); err != nil {
		return nil, err
	}
	if in.Now.IsZero() {
		in.Now = j.Clock()()
	}
	if query != "" {
		in.Query = query
	}
	seen := make(map[string]bool)
	for i := range in.Candidates {
		c := &in.Candidates[i]
		row, field, err := c.row(in.Now)
		if err == nil && (c.ID == "" || seen[c.ID]) {
			field, err = "id", fmt.Errorf("want an id that no other candidate has, not %q", c.ID)
		}
		if err != nil {
			return nil, &transcript.SyntaxError{Name: file, Field: fmt.Sprintf("candidates.%d.%s", i, field), Text: err.Error(), Hint: "carrel triage --help"}
		}
		seen[c.ID] = true
		in.rows = append(in.rows, row)
	}
	return in, nil
}

// row returns the row of a candidate for the first pass, or the name of an invalid field and an
// error.
func (c *candidate) row(now time.Time) (triage.Row, string, error) {
	class, err := provenance.ParseClass(c.Class)
	if err != nil {
		return triage.Row{}, "class", err
	}
	r := triage.Row{Class: class, Created: c.Created}
	switch {
	case (c.Age == "") == c.Created.IsZero():
		return triage.Row{}, "age", errors.New(`give either "age" or "created", not both`)
	case c.Age != "":
		age, err := config.ParseDuration(c.Age)
		if err != nil {
			return triage.Row{}, "age", err
		}
		r.Created = now.Add(-age)
	}
	if c.TTL != "" {
		ttl, err := config.ParseDuration(c.TTL)
		if err != nil {
			return triage.Row{}, "ttl", err
		}
		r.Expires = r.Created.Add(ttl)
	}
	if c.Refuted {
		r.Flags |= triage.Refuted
	}
	return r, "", nil
}

// score runs both passes of triage over the candidates. Candidates with words of the query count
// as lexical hits, best first.
func (in *candidates) score(policy *triage.Policy) *carrel.TriageResult {
	var t triage.Table
	texts := make([]*retrieval.Analysis, len(in.Candidates))
	docs := make([]retrieval.Document, len(in.Candidates))
	for i := range in.Candidates {
		t.Append(in.rows[i])
		texts[i] = retrieval.Analyze(in.Candidates[i].Text)
		docs[i] = retrieval.Document{ID: in.Candidates[i].ID, Text: in.Candidates[i].Text}
	}
	var hits []int
	for _, h := range retrieval.Rank(in.Query, docs) {
		hits = append(hits, h.Index)
	}
	out := &carrel.TriageResult{Candidates: len(in.Candidates), Semantic: "lexical/1", Scored: []carrel.ScoredEntry{}}
	first := policy.First(&t, in.Now, hits, nil)
	out.Tally = first.Tally
	scored, err := policy.Second(first, func(rows []int) ([]ratio.Ratio, error) {
		out.SemanticCalls = len(rows)
		short := make([]*retrieval.Analysis, len(rows))
		for i, row := range rows {
			short[i] = texts[row]
		}
		return retrieval.Similar(in.Query, short), nil
	})
	if err != nil {
		out.Warning = err.Error()
	}
	out.Tags.Add(manifest.TagBlack, first.Tally.Expired+first.Tally.Refuted)
	for _, s := range scored {
		out.Tags.Add(s.Tag, 1)
		c := &in.Candidates[s.Row]
		out.Scored = append(out.Scored, carrel.ScoredEntry{
			Artifact: carrel.Artifact{
				ID: store.ArtifactID(c.ID), Class: s.Class, Status: store.StatusLive, Title: headOf(c.Text), Bytes: int64(len(c.Text)),
				Tokens: token.Estimate(c.Text, token.KindProse), Created: in.rows[s.Row].Created, Expires: in.rows[s.Row].Expires,
			},
			Tag: s.Tag, Score: s.Score, Recency: s.Recency, Provenance: s.Provenance, Semantics: s.Semantic, First: s.First, Hit: s.Hit,
		})
	}
	return out
}

// headOf returns the start of the first line of a text.
func headOf(s string) string {
	return out.Cut(text.FirstLine(s), 60)
}

// keysOnce returns an error if an object in JSON has a key twice: a decoder takes the last one and
// drops the other without a word.
func keysOnce(data []byte) *rawjson.Error {
	e, ok := errors.AsType[*rawjson.Error](new(rawjson.Document).Read(data))
	if ok && e.Rule == rawjson.RuleTwice {
		return e
	}
	return nil
}

// readStrictly decodes JSON and refuses unknown keys and keys that come twice. The hint is that of
// its error.
func readStrictly(file string, data []byte, to any, hint string) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	err := dec.Decode(to)
	at := dec.InputOffset()
	if err == nil {
		twice, rest := keysOnce(data), bytes.TrimSpace(data[at:])
		switch {
		case twice != nil:
			at, err = int64(twice.Offset), errors.New(twice.Text+": keep one of them")
		case len(rest) == 0:
			return nil
		default:
			err = errors.New("there is text behind the JSON value: remove it")
		}
	}
	bad := &transcript.SyntaxError{Name: file, Text: strings.TrimPrefix(err.Error(), "json: "), Hint: hint}
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at, bad.Text = e.Offset, "the file is not valid JSON: "+bad.Text
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at, bad.Field = e.Offset, e.Field
	}
	bad.Line = 1 + bytes.Count(data[:min(at, int64(len(data)))], []byte("\n"))
	return bad
}
