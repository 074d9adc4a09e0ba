package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/server/rest"
)

// A twin is a job as a command line and as an HTTP request.
type twin struct {
	job  string // operation
	want int    // exit code
	args []string
	path string            // after /v1; words in capitals are replaced
	body any               // body of a request other than GET
	adds []string          // fields that only the command has
	less map[string]string // fields of the reply that the command leaves out, and why
	keys bool              // a write: only the keys are compared
	at   string            // where in the document the result is, as a query of jq
}

// notTwins are the operations that are not compared, with the reason.
var notTwins = map[string]string{
	"append":         "no command does it",
	"find-session":   "every command that takes a session does it, and none prints it",
	"repair":         "the command asks no server",
	"whoami":         "it is about a credential",
	"events":         "it is a stream",
	"handoff":        "the document is the packet, in a form of others'",
	"remove-session": "it is compared as restore-session", "purge-session": "it is compared as restore-session",
	"restore": "it is compared as remove", "refute": "it is compared as remove", "purge": "it is compared as remove",
}

// The JSON of a command equals the HTTP response for the same job on the same store, except for
// fields that the command adds.
func TestDocumentsAreReplies(t *testing.T) {
	env, stdout, stderr := clitest.Env(t)
	run := runner(t, env, stdout, stderr)
	clitest.WriteFile(t, env, ".config/carrel/config.toml", "budget.floor = 100\n")
	note := clitest.WriteFile(t, env, "note.md", strings.Repeat("Mind the lamp at the door. ", 30))
	other := clitest.WriteFile(t, env, "other.md", "The lamp is red.")
	packet, draft := env.Dir+"/packet.json", clitest.WriteFile(t, env, "draft.md", "# Anchored Summary\n\n## Session Intent\nFix the lamp\n")
	const session = "5f0c2a7e-91d4-4b36-8a51-0d6f3e9b1c20"
	conversation := read(t, sample(t, "openai.json"))
	for _, args := range [][]string{
		{"import", sample(t, "claude.jsonl")},
		{"put", note, "--type", "doc", "--id", "note"},
		{"put", other, "--type", "doc", "--id", "other"},
		{"put", other, "--type", "doc", "--id", "gone"},
		{"put", other, "--type", "rag", "--id", "stale", "--ttl", "1h", "--created", "2020-01-01"},
		{"compress", session, "--strategy", "anchored", "--target", "5000"},
		{"contract", "add", session, "--decision", "pin-go-1.26"},
		{"handoff", session, "--json", "-o", packet},
		{"assemble", "--query", "lamp", "--budget", "9000"},
		{"put", clitest.WriteFile(t, env, "late.md", "The lamp is green by now."), "--type", "tool", "--id", "late"},
		{"assemble", "--query", "lamp", "--budget", "9000"},
	} {
		run(0, args...)
	}
	run(exitPolicy, "commit", "@last", "--text", "Nobody needs the other lamp.")
	run(exitPolicy, "commit", "@last", "--text", "Somebody oils the door.")
	recordCalls(t, env, session, "word")
	value := func(args ...string) string { return strings.TrimSpace(run(0, args...)) }
	words := strings.NewReplacer(
		"SESSION", session,
		"BLOCK", value("messages", session, "--jq", ".messages[5].id"),
		"LATER", value("manifest", "list", "--jq", ".items[0].id"), "EARLIER", value("manifest", "list", "--jq", ".items[1].id"),
		"HELD", value("review", "--jq", ".items[0].id"), "WAITS", value("review", "--jq", ".items[1].id"),
	)
	block, held := words.Replace("BLOCK"), words.Replace("HELD")
	idle := value("messages", session, "--jq", "[.messages[] | select(.discardable)][0].id")
	handed := read(t, packet)
	type fields = map[string]any
	tests := []twin{
		{job: "sessions", args: []string{"sessions"}, path: "/sessions"},
		{job: "removed-sessions", args: []string{"sessions", "--removed"}, path: "/removed/sessions"},
		{job: "session", args: []string{"sessions", "show", session}, path: "/sessions/SESSION"},
		{job: "messages", args: []string{"messages", session}, path: "/sessions/SESSION/messages"},
		{job: "context", args: []string{"context", session}, path: "/sessions/SESSION/context"},
		{job: "trigger", want: exitNo, args: []string{"trigger", session}, path: "/sessions/SESSION/trigger", body: fields{}},
		{job: "trigger", args: []string{"level", session}, path: "/sessions/SESSION/trigger", body: fields{}},
		{job: "export", args: []string{"export", session, "-n"}, path: "/sessions/SESSION/export", less: map[string]string{"data": "it is in a file"}},
		{job: "recall", args: []string{"recall", block}, path: "/items/BLOCK"},
		{job: "why", args: []string{"why", block}, path: "/items/BLOCK/why"},
		{job: "search", args: []string{"search", "mutex"}, path: "/search?query=mutex"},
		{job: "stats", args: []string{"stats", session}, path: "/sessions/SESSION/stats"},
		{job: "cost", args: []string{"cost", session}, path: "/cost?session=SESSION"},
		{job: "cost", args: []string{"cost", "--since", "2026-01-05T10:00:00Z"}, path: "/cost?since=2026-01-05T10:00:00Z"},
		{job: "state", args: []string{"state", session}, path: "/sessions/SESSION/state"},
		{job: "journal", args: []string{"log", "--session", session}, path: "/sessions/SESSION/journal"},
		{job: "brief", args: []string{"brief", session}, path: "/sessions/SESSION/brief"},
		{job: "summary", args: []string{"summary", "show", session}, path: "/sessions/SESSION/summary"},
		{job: "check-summary", want: exitNo, args: []string{"summary", "accept", draft, "--session", session}, path: "/sessions/SESSION/summary/check", body: fields{"data": read(t, draft)}},
		{job: "check-summary", want: exitNo, args: []string{"summary", "check", draft, "--session", session}, path: "/sessions/SESSION/summary/check", body: fields{"data": read(t, draft)}, adds: []string{"file", "ok"}},
		{job: "probes", args: []string{"probe", "gen", session}, path: "/sessions/SESSION/probes"},
		{job: "run-probes", args: []string{"probe", "run", session}, path: "/probes/run", body: fields{"session": session}},
		{job: "probe-report", args: []string{"probe", "report", session}, path: "/sessions/SESSION/probes/report"},
		{job: "contract", args: []string{"contract", "show", session}, path: "/sessions/SESSION/contract", adds: []string{"session"}},
		{job: "check-contract", args: []string{"contract", "check", session}, path: "/sessions/SESSION/contract/check", at: ".contracts[0]", adds: []string{"contract", "ok", "closed", "rules"}},
		{job: "check-handoff", args: []string{"handoff", "check", packet, "--session", session}, path: "/handoffs/check", body: fields{"name": packet, "data": handed, "session": session}, adds: []string{"file", "ok"}},
		{job: "artifacts", args: []string{"ls"}, path: "/artifacts"},
		{job: "artifacts", args: []string{"stash", "ls"}, path: "/artifacts?stash=true"},
		{job: "get", args: []string{"get", "note"}, path: "/artifacts/note", less: map[string]string{"content": "get without --json prints it"}},
		{job: "triage", args: []string{"triage", "lamp"}, path: "/triage", body: fields{"query": "lamp"}},
		{job: "manifests", args: []string{"manifest", "list"}, path: "/manifests"},
		{job: "manifest", args: []string{"manifest", "show", "@last"}, path: "/manifests/LATER"},
		{job: "diff-manifests", want: exitNo, args: []string{"manifest", "diff", words.Replace("EARLIER"), "@last"}, path: "/manifests/EARLIER/diff?other=LATER"},
		{job: "diff-manifests", args: []string{"manifest", "diff", "@last", "@last"}, path: "/manifests/LATER/diff?other=LATER"},
		{job: "verify-manifest", args: []string{"manifest", "verify", "@last"}, path: "/manifests/LATER/verify"},
		{job: "replay", args: []string{"manifest", "replay", "@last"}, path: "/manifests/LATER/replay"},
		{job: "reviews", args: []string{"review"}, path: "/reviews"},
		{job: "review", args: []string{"review", "show", held}, path: "/reviews/HELD"},
		{job: "log", args: []string{"log"}, path: "/log"},
		{job: "calls", args: []string{"calls", session, "--since", "2026-01-01"}, path: "/calls?session=SESSION&since=2026-01-01T00:00:00Z"},
		{job: "call", args: []string{"calls", "show", "1"}, path: "/calls/1"},
		{job: "diff-session", args: []string{"context", "diff", session, "start"}, path: "/sessions/SESSION/diff?from=start"},
		{job: "report", args: []string{"report"}, path: "/report"},

		// Dry runs of writes tell what they would do.
		{job: "import", args: []string{"import", sample(t, "openai.json"), "-n"}, path: "/sessions?dry_run=true&name=" + url.QueryEscape(sample(t, "openai.json")), body: conversation, at: ".files[0]", adds: []string{"file"}},
		{job: "compress", args: []string{"compress", session, "--target", "3000", "-n"}, path: "/sessions/SESSION/compress", body: fields{"target": 3000, "dry_run": true}},
		{job: "discard", args: []string{"discard", idle, "-n"}, path: "/discard", body: fields{"ids": []string{idle}, "dry_run": true}},
		{job: "page", args: []string{"page", block, "-n"}, path: "/page", body: fields{"blocks": []string{block}, "dry_run": true}},
		{job: "pin", args: []string{"pin", block, "-n"}, path: "/pin", body: fields{"blocks": []string{block}, "dry_run": true}, adds: []string{"artifacts"}},
		{job: "undo", args: []string{"undo", "--session", session, "-n"}, path: "/undo", body: fields{"session": session, "dry_run": true}},
		{job: "mark", args: []string{"sessions", "mark", session, "--critical", "-n"}, path: "/sessions/SESSION/mark", body: fields{"critical": true, "dry_run": true}},
		{job: "amend-contract", args: []string{"contract", "add", session, "--question", "Which lamp?", "-n"}, path: "/contracts", body: fields{"session": session, "questions": []string{"Which lamp?"}, "dry_run": true}},
		{job: "accept", args: []string{"accept", packet, "-n"}, path: "/handoffs/accept", body: fields{"name": packet, "data": handed, "dry_run": true}, adds: []string{"next"}},
		{job: "assemble", args: []string{"assemble", "--query", "lamp", "--budget", "9000", "-n"}, path: "/assemble", body: fields{"query": "lamp", "budget": 9000, "dry_run": true}, adds: []string{"summaries"}},
		{job: "collect-stash", args: []string{"stash", "gc", "-n"}, path: "/stash/collect", body: fields{"dry_run": true}, adds: []string{"op", "dry_run"}},

		// Of writes that are done, the keys.
		{job: "put", args: []string{"put", other, "--type", "doc", "--id", "mine"}, path: "/artifacts", body: fields{"artifacts": []fields{{"class": "document", "id": "twin", "title": "other", "content": read(t, other)}}}, adds: []string{"dry_run"}, keys: true},
		{job: "pin-artifact", args: []string{"pin", "mine"}, path: "/artifacts/twin/pin", body: fields{"pinned": true}, at: ".artifacts[0]", keys: true},
		{job: "stash", args: []string{"stash", "put", note, "--title", "note"}, path: "/stash", body: fields{"content": []byte(strings.Repeat("Another lamp at another door. ", 30)), "title": "note"}, keys: true},
		{job: "assemble", args: []string{"assemble", "--query", "lamp", "--budget", "9000"}, path: "/assemble", body: fields{"query": "lamp", "budget": 9000}, adds: []string{"summaries"}, keys: true},
		{job: "commit", want: exitPolicy, args: []string{"commit", "--text", "Lamps burn."}, path: "/memories", body: fields{"text": "Doors open."}, keys: true},
		{job: "decide", args: []string{"review", "reject", held}, path: "/reviews/WAITS/decision", body: fields{"approve": false}, keys: true},
		{job: "remove", args: []string{"rm", "mine"}, path: "/artifacts/remove", body: fields{"ids": []string{"twin"}}, adds: []string{"op", "dry_run"}, keys: true},
		{job: "restore-session", args: []string{"sessions", "rm", session}, path: "/sessions/SESSION/restore", body: fields{}, keys: true},
	}
	seen := make(map[string]bool)
	for i := range tests {
		tt := &tests[i]
		seen[tt.job] = true
		t.Run(strings.Join(tt.args[:min(2, len(tt.args))], " "), func(t *testing.T) {
			if tt.at == "" {
				tt.at = "."
			}
			var got, want any
			unmarshal(t, []byte(runner(t, env, stdout, stderr)(tt.want, append(tt.args, "--jq", tt.at)...)), &got)
			unmarshal(t, reply(t, env, tt, words), &want)
			document, answer := got.(map[string]any), want.(map[string]any)
			delete(document, "schema")
			for _, name := range tt.adds {
				if _, ok := document[name]; !ok {
					t.Errorf("the document has no %s", name)
				}
				if _, ok := answer[name]; ok {
					t.Errorf("the reply has %s, too", name)
				}
				delete(document, name)
			}
			for name := range tt.less {
				if _, ok := answer[name]; !ok {
					t.Errorf("the reply has no %s", name)
				}
				delete(answer, name)
			}
			if tt.keys {
				var of, to []string
				keys("", document, &of)
				keys("", answer, &to)
				slices.Sort(of)
				slices.Sort(to)
				got, want = slices.Compact(of), slices.Compact(to)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-reply +document):\n%s", diff)
			}
		})
	}
	for _, o := range ops.Operations() {
		if _, ok := notTwins[o.Name]; ok == seen[o.Name] {
			t.Errorf("%s is compared, or there is a reason why it is not: neither or both", o.Name)
		}
	}
}

// reply returns the HTTP response for a job on the store of the command line.
func reply(t *testing.T, env *job.Env, tt *twin, words *strings.Replacer) (body []byte) {
	t.Helper()
	method := http.MethodGet
	for _, o := range ops.Operations() {
		if o.Name == tt.job {
			method = o.Method
		}
	}
	target, err := url.Parse("/v1" + words.Replace(tt.path))
	if err != nil {
		t.Fatal(err)
	}
	var in io.Reader
	if text, ok := tt.body.([]byte); ok { // sent unchanged
		in = bytes.NewReader(text)
	} else if tt.body != nil {
		data, err := json.Marshal(tt.body)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	err = job.New(env).With(t.Context(), false, func(a *job.Access) error {
		handler := rest.New(&rest.Options{Engine: func(context.Context) (*carrel.Engine, *governance.Grant, error) {
			return a.Engine, &governance.Grant{Scopes: []governance.ScopePattern{governance.ScopePattern(a.Scope)}, Permissions: governance.Permissions()}, nil
		}, Now: env.Now})
		r := httptest.NewRequest(method, target.String(), in)
		if in != nil {
			r.Header.Set("Content-Type", "application/json")
		}
		rec := httptest.NewRecorder()
		handler.ServeHTTP(rec, r)
		if body = rec.Body.Bytes(); rec.Code != http.StatusOK {
			t.Fatalf("%s %s: status %d: %s", method, target, rec.Code, body)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func unmarshal(t *testing.T, data []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
