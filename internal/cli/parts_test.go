package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/triage"
)

// A line of a file of artifacts lays what it says over what the flags say.
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
		`{"text":"x"}`: "there is no class",
		`{"text":"x","class":"doc","type":"doc"}`:    "class and type say the same",
		`{"text":"x","type":"poem"}`:                 "poem",
		`{"text":"x","type":"doc","ttl":"soon"}`:     "ttl: ",
		`{"text":"x","type":"doc","created":"soon"}`: "created: ",
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
	env, _, _ := newEnv(t)
	g := &globals{env: env}
	read := func(text, query string) (*candidates, error) {
		return g.readCandidates(writeFile(t, env, "c.json", text), query)
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
		`[{"id":"a","class":"doc","text":"x"}]`:                                                                         "candidates.0.age: give one of",
		`[{"id":"a","class":"doc","age":"1h","created":"2026-01-01T00:00:00Z","text":"x"}]`:                             "candidates.0.age: give one of",
		`[{"id":"a","class":"doc","age":"soon","text":"x"}]`:                                                            "candidates.0.age: ",
		`[{"id":"a","class":"doc","age":"1h","ttl":"soon","text":"x"}]`:                                                 "candidates.0.ttl: ",
		`[{"id":"a","class":"poem","age":"1h","text":"x"}]`:                                                             "candidates.0.class: ",
		`[{"class":"doc","age":"1h","text":"x"}]`:                                                                       `candidates.0.id: "" is empty or was there before`,
		`[{"id":"a","class":"doc","age":"1h"},{"id":"b","class":"doc","age":"1h"},{"id":"a","class":"doc","age":"1h"}]`: `candidates.2.id: "a" is empty or was there before`,
		"[\n{\"id\":1}]":       ":2: id: ",
		"[\n\n{\"weight\":1}]": ":3: ",
		"[]\n[]":               ":1: there is something behind the end",
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
		"get": "is no line such as", "get a 1 2": "is no line such as", "pin a 2": "is no line such as", "unpin a 2": "is no line such as", "drop a": "drop",
		"get a 0": `"0" is no size from 1`, "get a -1": `"-1" is no size from 1`, "get a much": `"much" is no size from 1`,
	} {
		if _, err := replayTrace("t", "get x\n"+line+"\n", 3); err == nil || !strings.Contains(err.Error(), "t:2: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q in line 2", line, err, says)
		}
	}
}

// A page of the manual has each flag that is no secret, with its short form and its
// argument, and no text in it is taken for a command of roff.
func TestManualHasFlags(t *testing.T) {
	flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
	flags.StringP("output", "o", "", "write to `file`")
	flags.Bool("all", false, "all of them")
	flags.Bool("secret", false, "nothing")
	flags.Lookup("secret").Hidden = true
	var b bytes.Buffer
	options(&b, "OPTIONS", flags)
	if want := ".SH OPTIONS\n.TP\n.B \\-\\-all\nall of them\n.TP\n.B \\-o, \\-\\-output file\nwrite to file\n"; b.String() != want {
		t.Errorf("got %q, want %q", &b, want)
	}
	b.Reset()
	options(&b, "OPTIONS", pflag.NewFlagSet("x", pflag.ContinueOnError))
	if b.Len() > 0 {
		t.Errorf("no flags: %q", &b)
	}
	if got, want := escape(".a\n'b\nc\\d-e"), "\\&.a\n\\&'b\nc\\ed\\-e"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// How wide a text is on a terminal, and where it is cut.
func TestColumns(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "\u02ff": 1, "\u200d": 0, "\u10ff": 1, "\u1100": 2, "\u115f": 2, "\u1160": 1, "日本": 4, "\ud7a3": 2, "\ud7a4": 1, "\U0001f600": 2, "\U0003fffd": 2, "\U0003fffe": 1,
	} {
		if got := columns(s); got != want {
			t.Errorf("columns(%q) = %d, want %d", s, got, want)
		}
	}
	for _, tt := range []struct {
		s    string
		n    int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"日本語", 5, "日本…"}, {"日本語", 4, "日…"}, {"日本語", 6, "日本語"}, {"abc", 1, "…"}} {
		if got := cut(tt.s, tt.n); got != tt.want {
			t.Errorf("cut(%q, %d) = %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
	for code, want := range map[string]string{"\x1f": `\x1f`, "\x00": `\x00`, "\xff": `\xff`, "\u202e": `\u202e`, "\U000e0041": `\udb40\udc41`, " ": `\u0020`, "\uffff": `\uffff`} {
		if got := escaped(code); got != want {
			t.Errorf("escaped(%q) = %q, want %q", code, got, want)
		}
	}
}

// A table for a terminal has its head, its numbers to the right, and its last column cut.
func TestTablesAreAligned(t *testing.T) {
	long := strings.Repeat("w", 40)
	for _, tt := range []printing{
		{"words and numbers", func(p *page) {
			p.width = 30
			tb := &table{head: []string{"name", "n", "text"}}
			tb.add("a", 1200, long)
			tb.add("bcdef", 5, "x")
			p.table(tb)
		}, "a\t1200\t" + long + "\nbcdef\t5\tx\n", "name       n  text\na      1,200  " + strings.Repeat("w", 15) + "…\nbcdef      5  x\n"},
		{"a narrow terminal", func(p *page) {
			p.width = 10
			tb := &table{}
			tb.add("abcdefgh", long)
			p.table(tb)
		}, "", "abcdefgh  " + strings.Repeat("w", 11) + "…\n"},
		{"a number at the end", func(p *page) {
			tb := &table{}
			tb.add("a", 5)
			tb.add("b", 1234)
			p.table(tb)
		}, "a\t5\nb\t1234\n", "a      5\nb  1,234\n"},
		{"values of many kinds", func(p *page) {
			p.width = 20
			p.fields([]any{"n", 5}, []any{"text", long})
		}, "n\t5\ntext\t" + long + "\n", "n     5\ntext  " + long + "\n"},
	} {
		tt.test(t)
	}
	env, _, _ := newEnv(t)
	for width, want := range map[int]int{0: 80, -1: 80, 1: 1, 120: 120} {
		env.Width = func() int { return width }
		if got := (&globals{env: env}).newPage().width; got != want {
			t.Errorf("a terminal of %d columns: %d, want %d", width, got, want)
		}
	}
}

// What the environment and the flags say of colors, and of JSON.
func TestColorsAndJSONAreAskedFor(t *testing.T) {
	for _, tt := range []struct {
		flag string
		vars map[string]string
		tty  bool
		want bool
	}{
		{"auto", nil, true, true},
		{"auto", nil, false, false},
		{"always", map[string]string{"NO_COLOR": "1"}, false, true},
		{"never", map[string]string{"CLICOLOR_FORCE": "1"}, true, false},
		{"auto", map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, true, false},
		{"auto", map[string]string{"CLICOLOR_FORCE": "1"}, false, true},
		{"auto", map[string]string{"CLICOLOR_FORCE": "0"}, false, false},
		{"auto", map[string]string{"TERM": "dumb"}, true, false},
		{"auto", map[string]string{"TERM": "xterm"}, true, true},
	} {
		env, _, _ := newEnv(t)
		env.StdoutTerminal, env.Getenv = tt.tty, func(name string) string { return tt.vars[name] }
		if got := (&globals{env: env, color: tt.flag}).colored(); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	for _, tt := range []struct {
		args []string
		json string // of the environment
		want bool
	}{
		{nil, "", false},
		{nil, "1", true},
		{nil, "0", false},
		{nil, "false", false},
		{[]string{"--json"}, "", true},
		{[]string{"--ndjson"}, "", true},
		{[]string{"--jq", "."}, "", true},
		{[]string{"--template", "{{.schema}}"}, "", false},
	} {
		env, stdout, stderr := newEnv(t)
		home := env.Dir
		env.Getenv = func(name string) string { return map[string]string{"HOME": home, "CARREL_JSON": tt.json}[name] }
		if got := Main(t.Context(), env, append([]string{"ps"}, tt.args...)); got != exitDone {
			t.Errorf("%+v: status %d: %s", tt, got, stderr)
		}
		if got := json.Valid(stdout.Bytes()) && stdout.Len() > 0 || slices.Contains(tt.args, "--ndjson"); got != tt.want {
			t.Errorf("%+v: printed %q", tt, stdout)
		}
	}
}

func TestTokensHaveWords(t *testing.T) {
	if got, want := joined([]string{"a", "b", "c"}, ", "), "a, b, c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := joined([]string{}, ", "); got != "" {
		t.Errorf("%q", got)
	}
	if got, want := until(&store.Token{}), "without end"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := until(&store.Token{Expires: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}), "until 2026-01-02T03:04:05Z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A template that prints something ends its line, and only once.
func TestTemplatesEndTheirLine(t *testing.T) {
	for text, want := range map[string]string{"{{.a}}": "1\n", "{{.a}}\n": "1\n", "": "", "{{if .b}}x{{end}}": ""} {
		got, err := fill(text, []byte(`{"a":1}`))
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}
