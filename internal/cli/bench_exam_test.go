package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// madeExam is a made-up exam, with its conversations beside it.
const madeExam = "../exam/testdata/made.json"

// examDocuments returns the JSON documents of an exam that is held by hand.
func examDocuments(t *testing.T, document func(want int, args ...string) []byte) [][]byte {
	t.Helper()
	file, err := filepath.Abs(madeExam)
	if err != nil {
		t.Fatal(err)
	}
	run := filepath.Join(t.TempDir(), "run")
	docs := [][]byte{
		document(0, "bench", "exam", file, "--share", "40", "--methods", "window,simple-names"),
		document(0, "bench", "exam", "prepare", file, "--share", "40", "--methods", "window", "--out", run),
	}
	for path, text := range map[string]string{
		"answers/window/harbor.json": `{"answers":{"h1":"x"},"next":["commit"],"rating":3}`,
		"answers/window/bakery.json": `{"answers":{}}`,
		"answers/window/dome.json":   `{"answers":{}}`,
		"grades/harbor.json":         `{"grades":{"h1":{"A":-0.5}},"next":{"A":1}}`,
	} {
		path = filepath.Join(run, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return append(docs, document(0, "bench", "exam", "ask", run), document(0, "bench", "exam", "grade", run, "--sheets"), document(0, "bench", "exam", "grade", run))
}

// A reader is a fake model that answers papers and grades sheets. It knows the strings of the
// made-up exam. It answers with those that are in the window, or "unknown", and gives a wrong
// answer to the first question of a session.
type reader struct {
	t       *testing.T
	musts   map[string][]string // by the id of the question
	answers map[string]string
	papers  int
}

func newReader(t *testing.T) *reader {
	t.Helper()
	data, err := os.ReadFile(madeExam)
	if err != nil {
		t.Fatal(err)
	}
	var e struct {
		Sessions []struct {
			Questions []struct {
				ID, Answer string
				MustHave   []string `json:"must_have"`
			}
		}
	}
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	r := &reader{t: t, musts: make(map[string][]string), answers: make(map[string]string)}
	for _, s := range e.Sessions {
		for _, q := range s.Questions {
			r.musts[q.ID], r.answers[q.ID] = q.MustHave, q.Answer
		}
	}
	return r
}

func (r *reader) reply(prompt string) string {
	var sheet struct {
		Questions []struct {
			ID, Right string
			Answers   []struct{ As, Says string }
		}
		Next struct {
			Steps []struct{ As, Says string }
		}
	}
	if json.Unmarshal([]byte(prompt), &sheet) == nil {
		grades, next := map[string]map[string]float64{}, map[string]int{}
		for _, q := range sheet.Questions {
			grades[q.ID] = map[string]float64{}
			for _, a := range q.Answers {
				grades[q.ID][a.As] = map[bool]float64{true: 1, false: -.5}[a.Says == q.Right]
			}
		}
		for _, s := range sheet.Next.Steps {
			next[s.As] = 2
		}
		return toJSON(map[string]any{"grades": grades, "next": next})
	}
	r.papers++
	window, questions, found := strings.Cut(prompt, "\n</window>\n")
	if !found {
		r.t.Errorf("a reader is given this: %s", prompt)
	}
	plain := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	window = plain(window)
	lacks := func(must string) bool { return !strings.Contains(window, plain(must)) }
	answers := map[string]string{}
	for line := range strings.Lines(questions) {
		id, _, isQuestion := strings.Cut(line, ": ")
		if !isQuestion {
			continue
		}
		switch {
		case !slices.ContainsFunc(r.musts[id], lacks):
			answers[id] = r.answers[id]
		case strings.HasSuffix(id, "1"):
			answers[id] = "Something else."
		default:
			answers[id] = "unknown"
		}
	}
	return "```json\n" + toJSON(map[string]any{"answers": answers, "next": []string{"go on"}, "rating": 4, "helped": "a", "confused": "b"}) + "\n```"
}

// anthropic starts a server with the Messages API for the reader, and returns its URL.
func (r *reader) anthropic() string {
	server := upstream.New(&upstream.Options{Script: []upstream.Step{{
		When: func(*upstream.Request) bool { return true }, Times: upstream.Always,
		Make: func(q *upstream.Request) upstream.Reply {
			return upstream.Say(upstream.Text(r.reply(q.Prompt())))
		},
	}}})
	base, stop, err := server.Start()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		stop()
		for _, q := range server.Refused() {
			r.t.Errorf("refused: %+v", q.Refusal)
		}
	})
	return base
}

// openAI starts a server with the Chat Completions API for the reader, and returns its URL.
func (r *reader) openAI() string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var body struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(req.Body).Decode(&body); err != nil || len(body.Messages) != 2 || body.Messages[0].Role != "system" {
			r.t.Errorf("%v: %+v", err, body)
		}
		fmt.Fprint(w, toJSON(map[string]any{
			"choices": []any{map[string]any{"message": map[string]string{"content": r.reply(body.Messages[1].Content)}, "finish_reason": "stop"}},
			"usage":   map[string]int{"prompt_tokens": 10, "completion_tokens": 2},
		}))
	}))
	r.t.Cleanup(server.Close)
	return server.URL
}

// settings writes settings whose model is the reader.
func (r *reader) settings(env *job.Env, api, url string) {
	r.t.Helper()
	path := filepath.Join(env.Dir, ".config", "carrel", "config.toml")
	text := fmt.Sprintf("[generate]\napi = %q\nurl = %q\nmodel = \"claude-sonnet-4-5\"\nceiling = 1_000_000\n[profile.grader]\ngenerate.model = \"claude-opus-4-5\"\n", api, url)
	getenv := env.Getenv
	env.Getenv = func(name string) string {
		if name == "CARREL_GENERATE_KEY" {
			return "a-key"
		}
		return getenv(name)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		r.t.Fatal(err)
	}
}

// The steps of doc/guide/exam.md work as described, with models of both APIs.
func TestExamIsHeldByReaders(t *testing.T) {
	for _, api := range []string{"anthropic", "openai"} {
		t.Run(api, func(t *testing.T) {
			env, stdout, stderr := clitest.Env(t)
			if err := os.CopyFS(filepath.Join(env.Dir, "my-exam"), os.DirFS(filepath.Dir(madeExam))); err != nil {
				t.Fatal(err)
			}
			r := newReader(t)
			url := r.openAI
			if api == "anthropic" {
				url = r.anthropic
			}
			r.settings(env, api, url())
			run := func(line string) string {
				t.Helper()
				stdout.Reset()
				stderr.Reset()
				if got := Main(t.Context(), env, strings.Fields(line)); got != 0 {
					t.Fatalf("carrel %s: status %d: %s", line, got, stderr)
				}
				return stdout.String()
			}
			commands := guideCommands(t)
			for _, line := range commands {
				run(strings.Replace(line, "my-exam.json", "my-exam/made.json", 1))
			}
			if r.papers != 6 {
				t.Errorf("%d papers were answered, want 6: %q", r.papers, commands)
			}

			// The answers are complete, so nothing is asked again.
			run("bench exam prepare my-exam/made.json --methods whole,simple-names --share 30 --out other")
			if got := run("bench exam ask other --json=asked,kept"); !strings.Contains(got, `"asked":6,"kept":0`) {
				t.Error(got)
			}
			if got := run("bench exam ask other --json=asked,kept"); !strings.Contains(got, `"asked":0,"kept":6`) {
				t.Error(got)
			}
			if got, want := run(`bench exam grade other --jq .rows[]|[.method,.score.mean,.right,.unknown,.wrong,.next,.rating]`), "[\"whole\",1,10,0,0,2,4]\n"; !strings.HasPrefix(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
			got := run("bench exam grade other --jq .rows[1]|.score.mean<0.3,.wrong>0,.unknown>0,.score.low<.score.mean")
			if got != "true\ntrue\ntrue\ntrue\n" {
				t.Errorf("a bag of names: %s", run("bench exam grade other --json"))
			}
			env.StdoutTerminal = true
			if got := run("bench exam grade other --color never"); !strings.Contains(got, "at 30%        score  ") || !strings.Contains(got, "\nwhole         1.00   [1.00–1.00]      10     0        0      0  2.00  4.00") {
				t.Error(got)
			}
			if got := run("bench exam my-exam/made.json --share 40 --methods window,whole --each --color never"); !strings.Contains(got, "3 sessions, 10 questions, 13 strings, of 17,055 bytes\n\nat 40% ") || !strings.Contains(got, "\n  dome    3/3 ") {
				t.Error(got)
			}
		})
	}
}

// guideCommands returns the arguments of the commands in the guide.
func guideCommands(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../../doc/guide/exam.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		if line, found := strings.CutPrefix(line, "carrel "); found {
			line, _, _ = strings.Cut(line, " #")
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	for _, job := range []string{"bench exam my-exam.json", "bench exam prepare", "bench exam ask", "bench exam grade"} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, job) }) {
			t.Errorf("the guide has no carrel %s: %q", job, lines)
		}
	}
	return lines
}

// A reply that cannot be parsed is stored, and the command fails.
func TestAskSaysWhatItCannotRead(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	r := newReader(t)
	server := upstream.New(&upstream.Options{Otherwise: func(*upstream.Request) upstream.Reply {
		return upstream.Say(upstream.Text("I would rather not."))
	}})
	base, stop, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	r.settings(env, "anthropic", base)
	file, err := filepath.Abs(madeExam)
	if err != nil {
		t.Fatal(err)
	}
	run := func(want int, args ...string) {
		t.Helper()
		stdout.Reset()
		stderr.Reset()
		if got := Main(t.Context(), env, append([]string{"bench", "exam"}, args...)); got != want {
			t.Fatalf("carrel bench exam %q: status %d, want %d: %s", args, got, want, stderr)
		}
	}
	run(0, "prepare", file, "--methods", "window", "--share", "40", "--out", "run")
	run(exitInput, "grade", "run")
	if !strings.Contains(stderr.String(), "hint: carrel bench exam ask run") {
		t.Error(stderr)
	}
	run(exitInput, "ask", "run")
	if !strings.Contains(stdout.String(), "3 papers asked about") || !strings.Contains(stderr.String(), filepath.Join("answers", "window", "dome.json")+": the reply cannot be read") || !strings.Contains(stderr.String(), "3 of 3 files failed") {
		t.Errorf("%s%s", stdout, stderr)
	}
	data, err := os.ReadFile(filepath.Join(env.Dir, "run", "answers", "window", "dome.json"))
	if err != nil || !strings.Contains(string(data), `"raw": "I would rather not."`) || !strings.Contains(string(data), `"problem": "there is no JSON object in the reply"`) {
		t.Errorf("%s, %v", data, err)
	}
	run(exitUsage, "ask", "run", "--offline")
	if !strings.Contains(stderr.String(), "offline: is on, so no model can be asked") {
		t.Error(stderr)
	}
	stop()
	run(exitNetwork, "ask", "run")
}

// A long command reports its steps: here each look at the clock takes a second.
func TestStepsAreReported(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	now, looks := env.Now(), new(atomic.Int64)
	env.Now = func() time.Time { return now.Add(time.Duration(looks.Add(1)) * time.Second) }
	if err := os.CopyFS(filepath.Join(env.Dir, "my-exam"), os.DirFS(filepath.Dir(madeExam))); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		clitest.WriteFile(t, env, fmt.Sprintf("work/%d.json", i), string(workSession(i, 12)))
		clitest.WriteFile(t, env, fmt.Sprintf("%d.md", i), fmt.Sprintf("Text %d.", i))
	}
	clitest.WriteFile(t, env, "lines", "{\"text\":\"a\"}\n{\"text\":\"b\"}\n{\"text\":\"c\"}\n")
	run := runner(t, env, stdout, stderr)
	for _, tt := range []struct{ line, want string }{
		{"import work", "import 1 of 3\nimport 2 of 3\n"},
		{"put 0.md 1.md 2.md --type doc", "read 1 of 3\nread 2 of 3\n"},
		{"put --lines lines --type doc", "check 2 of 3\ncheck 3 of 3\n"},
		{"bench retention work --min 1000 --budgets 10%,20% --strategy window,pager", "read file 1 of 3\nread file 2 of 3\n…measure case 1 of 9\n…measure case 9 of 9\n"},
		{"bench exam my-exam/made.json --share 40 --methods window", "read session 1 of 3\nread session 2 of 3\nmake window 2 of 3\nmake window 3 of 3\n"},
		{"bench exam prepare my-exam/made.json --share 40 --methods window --out run", "read session 1 of 3\nread session 2 of 3\nmake window 2 of 3\nmake window 3 of 3\n"},
	} {
		run(0, strings.Fields(tt.line)...)
		for want := range strings.SplitSeq(tt.want, "…") {
			if got := stderr.String(); !strings.Contains(got, want) {
				t.Errorf("carrel %s reports\n%s\nwant\n%s", tt.line, got, want)
			}
		}
	}
}
