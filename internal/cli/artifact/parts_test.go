package artifact

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/triage"
)

// A demand as a decimal share and the same demand in tokens have the same tier, on both sides of
// every edge.
func TestDemandsAreExact(t *testing.T) {
	l := tier.DefaultLadder
	edge := rapid.Custom(func(t *rapid.T) int64 {
		percent := rapid.SampledFrom([]int{l.Summarized, l.Core, l.Minimal}).Draw(t, "percent")
		return int64(percent)*10_000 + rapid.Int64Range(-2, 2).Draw(t, "off")
	})
	rapid.Check(t, func(t *rapid.T) {
		millionths := rapid.OneOf(rapid.Int64Range(0, 2_000_000), edge).Draw(t, "millionths")
		text := ratio.Ratio(millionths).String()
		demand, of, err := parseDemand(text, 0)
		if err != nil {
			t.Fatalf("parseDemand(%q): %v", text, err)
		}
		got := tier.DefaultLadder.Tier(demand, of)
		if want := tier.DefaultLadder.Tier(millionths, 1_000_000); got != want {
			t.Errorf("tier of %s = %s, want %s", text, got, want)
		}
	})
	for _, bad := range []string{"", ".", "1e3", "-1", "0.1234567", "99.12345%", "1/2", "0,8", "NaN", "1234567"} {
		if n, of, err := parseDemand(bad, 0); err == nil {
			t.Errorf("parseDemand(%q) = %d of %d, want an error", bad, n, of)
		}
	}
}

// The budget in a hint raises the tier of the context; one token less does not.
func TestEnoughIsTheLeast(t *testing.T) {
	l := tier.DefaultLadder
	rapid.Check(t, func(t *rapid.T) {
		demand := token.Count(rapid.IntRange(1, 10_000_000).Draw(t, "demand"))
		for _, edge := range []struct {
			share int
			want  tier.Tier
		}{{l.Summarized, tier.Full}, {l.Core, tier.Summarized}} {
			n := enough(demand, edge.share)
			if got := l.Tier(int64(demand), int64(n)); got != edge.want && got != tier.Full { // of tiny demands, all at once
				t.Errorf("a demand of %d under %d is %s, want %s", demand, n, got, edge.want)
			}
			if n > 1 && l.Tier(int64(demand), int64(n-1)) == edge.want {
				t.Errorf("a demand of %d is %s under %d already", demand, edge.want, n-1)
			}
		}
	})
}

// The fields on a line of a file override the flags.
func TestLinesAreLaidOverFlags(t *testing.T) {
	week, day := 7*24*time.Hour, 24*time.Hour
	flags := carrel.NewArtifact{
		Class: provenance.Tool, Title: "flag", Source: "flag", Subject: "flag", TTL: &week, Pinned: true, AllowSecrets: true, From: []store.ArtifactID{"f"},
	}
	with := func(change func(*carrel.NewArtifact)) carrel.NewArtifact {
		r := flags
		r.ID, r.Content = "a", []byte("text")
		change(&r)
		return r
	}
	for line, want := range map[string]carrel.NewArtifact{
		`{"id":"a","text":"text"}`:                                        with(func(*carrel.NewArtifact) {}),
		`{"id":"a","text":"text","class":"memory"}`:                       with(func(r *carrel.NewArtifact) { r.Class = provenance.Memory }),
		`{"id":"a","text":"text","type":"rag"}`:                           with(func(r *carrel.NewArtifact) { r.Class = provenance.Retrieved }),
		`{"id":"a","text":"text","title":"t","source":"s","subject":"u"}`: with(func(r *carrel.NewArtifact) { r.Title, r.Source, r.Subject = "t", "s", "u" }),
		`{"id":"a","text":"text","verified_by":"ada"}`:                    with(func(r *carrel.NewArtifact) { r.VerifiedBy = "ada" }),
		`{"id":"a","text":"text","type":"memory","verified_by":"ada"}`:    with(func(r *carrel.NewArtifact) { r.Class, r.VerifiedBy = provenance.Verified, "ada" }),
		`{"id":"a","text":"text","ttl":"24h"}`:                            with(func(r *carrel.NewArtifact) { r.TTL = &day }),
		`{"id":"a","text":"text","created":"2026-01-01"}`:                 with(func(r *carrel.NewArtifact) { r.Created = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }),
		`{"id":"a","text":"text","pinned":false,"allow_secrets":false}`:   with(func(r *carrel.NewArtifact) { r.Pinned, r.AllowSecrets = false, false }),
		`{"id":"a","text":"text","from":["g"]}`:                           with(func(r *carrel.NewArtifact) { r.From = []store.ArtifactID{"g"} }),
		`{"id":"a","text":"text","from":[]}`:                              with(func(r *carrel.NewArtifact) { r.From = []store.ArtifactID{} }),
	} {
		got := flags
		err := parseRecord([]byte(line), &got)
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(carrel.NewArtifact{})); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", line, err, diff)
		}
	}
	for line, says := range map[string]string{
		`{"text":"x"}`: "the class is missing",
		`{"text":"x","class":"doc","type":"doc"}`:    "class and type are the same field",
		`{"text":"x","type":"poem"}`:                 "poem",
		`{"text":"x","type":"doc","ttl":"soon"}`:     "ttl: ",
		`{"text":"x","type":"doc","created":"soon"}`: "created: ",
		`{"text":"x","type":"doc","text":"y"}`:       `key "text" comes twice`,
		`{"text":"x","type":"doc"} {}`:               "more than one object",
		`{"text":"x","type":"doc","weight":1}`:       "weight",
		`{`:                                          "unexpected EOF",
	} {
		if err := parseRecord([]byte(line), &carrel.NewArtifact{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", line, err, says)
		}
	}
	r := carrel.NewArtifact{Class: provenance.Tool, VerifiedBy: "ada"}
	if verify(&r); r.Class != provenance.Tool {
		t.Errorf("what is no memory became %s", r.Class)
	}
	r = carrel.NewArtifact{Class: provenance.Memory}
	if verify(&r); r.Class != provenance.Memory {
		t.Errorf("a memory that nobody vouches for became %s", r.Class)
	}
}

func TestCandidatesOfAFile(t *testing.T) {
	env, _, _ := clitest.Env(t)
	j := job.New(env)
	read := func(text, query string) (*candidates, error) {
		return readCandidates(j, clitest.WriteFile(t, env, "c.json", text), query)
	}
	in, err := read(`{"now":"2026-01-10T00:00:00Z","query":"lamp","candidates":[
		{"id":"a","class":"doc","age":"24h","text":"the lamp is red"},
		{"id":"b","class":"tool","created":"2026-01-01T00:00:00Z","ttl":"1d","text":"old"},
		{"id":"c","class":"memory","created":"2026-01-01T00:00:00Z","ttl":"30d","refuted":true,"text":"wrong"}]}`, "")
	if err != nil {
		t.Fatal(err)
	}
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	want := []triage.Row{
		{Class: provenance.Document, Created: day(9)},
		{Class: provenance.Tool, Created: day(1), Expires: day(2)},
		{Class: provenance.Memory, Created: day(1), Expires: day(31), Flags: triage.Refuted},
	}
	if diff := cmp.Diff(want, in.rows); diff != "" || in.Query != "lamp" || !in.Now.Equal(day(10)) {
		t.Errorf("%q at %v (-want +got):\n%s", in.Query, in.Now, diff)
	}
	out := in.score(triage.DefaultPolicy())
	if len(out.Scored) != 1 || out.Scored[0].ID != "a" || out.Scored[0].Hit != 1 || out.Scored[0].Title != "the lamp is red" || out.Tags.Black != 2 || out.Candidates != 3 || out.SemanticCalls != 1 || out.Warning != "" {
		t.Errorf("%+v", out)
	}
	in, err = read(` [{"id":"a","class":"doc","age":"0s","text":"x"}]`, "other")
	if err != nil || len(in.rows) != 1 || in.Query != "other" || in.Now.IsZero() || !in.rows[0].Created.Equal(in.Now) {
		t.Errorf("a list alone: %+v, %v", in, err)
	}
	for text, says := range map[string]string{
		`[{"id":"a","class":"doc","text":"x"}]`:                                                                         "candidates.0.age: give either",
		`[{"id":"a","class":"doc","age":"1h","created":"2026-01-01T00:00:00Z","text":"x"}]`:                             "candidates.0.age: give either",
		`[{"id":"a","class":"doc","age":"soon","text":"x"}]`:                                                            "candidates.0.age: ",
		`[{"id":"a","class":"doc","age":"1h","ttl":"soon","text":"x"}]`:                                                 "candidates.0.ttl: ",
		`[{"id":"a","class":"poem","age":"1h","text":"x"}]`:                                                             "candidates.0.class: ",
		`[{"class":"doc","age":"1h","text":"x"}]`:                                                                       `candidates.0.id: want an id that no other candidate has, not ""`,
		`[{"id":"a","class":"doc","age":"1h"},{"id":"b","class":"doc","age":"1h"},{"id":"a","class":"doc","age":"1h"}]`: `candidates.2.id: want an id that no other candidate has, not "a"`,
		"[\n{\"id\":1}]":       ":2: id: ",
		"[\n\n{\"weight\":1}]": ":3: ",
		"[]\n[]":               ":1: there is text behind the JSON value",
		"[\n{]":                ":2: ",
	} {
		if in, err := read(text, ""); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %+v, %v, want %q", text, in, err, says)
		}
	}
}

func TestTracesAreReplayed(t *testing.T) {
	res, err := replayTrace("t", "# a trace\n\nget a\nget a\nget b 2\nget c\nget d 9\npin c\nget e 3\nunpin c\n", 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []traceStep{
		{"get", "a", "fault", nil},
		{"get", "a", "hit", nil},
		{"get", "b", "fault", nil},
		{"get", "c", "fault", []string{"a"}},
		{"get", "d", "fault, not kept", nil},
		{"pin", "c", "pinned", nil},
		{"get", "e", "fault, not kept", nil},
		{"unpin", "c", "unpinned", nil},
	}
	if diff := cmp.Diff(want, res.Steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c", "b"}, res.Resident); diff != "" || res.Hits != 1 || res.Limit != 3 {
		t.Errorf("%+v (-want +got):\n%s", res, diff)
	}
	for line, says := range map[string]string{
		"get": "is no valid line", "get a 1 2": "is no valid line", "pin a 2": "is no valid line", "unpin a 2": "is no valid line", "drop a": "drop",
		"get a 0": `"0" is no size: want a whole number, 1 or more`, "get a -1": `"-1" is no size: want a whole number, 1 or more`, "get a much": `"much" is no size: want a whole number, 1 or more`,
	} {
		if _, err := replayTrace("t", "get x\n"+line+"\n", 3); err == nil || !strings.Contains(err.Error(), "t:2: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q in line 2", line, err, says)
		}
	}
}

// A file with a key twice is refused, so that no value is dropped without a word.
func TestKeysComeOnce(t *testing.T) {
	var v struct {
		Confidence float64 `json:"confidence"`
	}
	err := readStrictly("verdict.json", []byte("{\"confidence\": 0.1,\n\"Confidence\": 0.9}"), &v, "")
	if want := `verdict.json:2: key "Confidence" comes twice: keep one of them`; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}
