package console_test

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/server/console"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// call records a call of the session with which an epoch begins.
func (s *stage) call(epoch int, u carrel.Usage) {
	s.t.Helper()
	begun, err := s.engine.Begin(s.t.Context(), governance.DefaultScope, &carrel.BeginRequest{
		Session: transcript.SessionID(s.session), CallIntent: carrel.CallIntent{Dialect: "anthropic", Model: "claude-opus-4-1", Messages: 3, Bytes: 200, SentBytes: 100, Epoch: epoch, Reason: api.ReasonEpoch + "budget"},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.engine.End(s.t.Context(), governance.DefaultScope, &carrel.EndRequest{Call: begun.Call, State: store.CallDone, CallOutcome: carrel.CallOutcome{Usage: u}}); err != nil {
		s.t.Fatal(err)
	}
}

// page returns a page that is there.
func (s *stage) page(path string) string {
	s.t.Helper()
	status, _, body := s.ask("GET", console.Root+path, nil)
	if status != http.StatusOK {
		s.t.Fatalf("%s: status %d: %.300s", path, status, body)
	}
	return body
}

// wants reports what a page does not say.
func (s *stage) wants(path string, wants ...string) {
	s.t.Helper()
	body := s.page(path)
	for _, w := range wants {
		if !strings.Contains(body, w) {
			s.t.Errorf("%s: nothing says %q", path, w)
		}
	}
}

// The page of a session warns before a compaction, by the size of the last prompt, and draws the
// prompts with the epochs.
func TestWarning(t *testing.T) {
	s := newStage(t)
	s.signIn()
	path := "session/" + s.session
	if body := s.page(path); strings.Contains(body, `class="warning"`) {
		t.Error("a warning about a small window")
	}
	list, err := s.engine.Context(t.Context(), governance.DefaultScope, &carrel.ContextRequest{Session: transcript.SessionID(s.session)})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"A compaction is near", "A compaction is due", "A compaction cannot wait"} {
		f := list.Figures
		n := []token.Count{f.Warn, f.Compress, f.Critical}[i]
		s.call(i+1, carrel.Usage{CacheRead: 1000, CacheWrite5m: n - 1000})
		s.wants(path, want, `class="warning"`, fmt.Sprintf("call %d: ", len(s.calls)+i+1), fmt.Sprintf("epoch %d begins", i+1))
	}
	s.wants(path, "1,000 from the cache", "The same as a table", "a pass is due")
}

// The page of cost sums by day, and covers a week unless more is asked for.
func TestCostByDay(t *testing.T) {
	s := newStage(t, func(o *console.Options) { o.Now = nil })
	s.signIn()
	day := time.Now().UTC().Format(time.DateOnly)
	s.wants("cost", "in the last 7 days", "<th scope=\"row\">"+day[:4], "/console/cost?days=30", "carrel cost --since 7d")
	s.wants("cost?days=90", "in the last 90 days", "carrel cost --since 90d")
	s.wants("cost?days=1", "in the last 24 hours")
	s.wants("cost?days=-3", "in the last 7 days")
	if _, err := s.engine.Import(t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: "silent.json", Data: []byte(`{"messages":[{"role":"user","content":"Who counts this?"}]}`)}); err != nil {
		t.Fatal(err)
	}
	s.wants("cost", "Not counted: 1 session whose format records no usage")
	if body := s.page("cost?format=json"); !strings.Contains(body, `"days":[{"day":"`) {
		t.Error("the JSON of the page has no days")
	}
}

// The page of health tells of the server and of its limits.
func TestHealthOfTheServer(t *testing.T) {
	node := &console.ServerState{Surfaces: []string{"http", "mcp"}, Running: 2, Waiting: 3, Limits: []console.Limit{{Name: "jobs at once", Value: "64"}}}
	s := newStage(t, func(o *console.Options) { o.Node = func(context.Context) *console.ServerState { return node } })
	s.signIn()
	s.now = s.now.Add(90 * time.Minute)
	s.wants("health", "1 h 30 min ago", "ready: it answers", "http, mcp", "2 running, 3 waiting", "jobs at once", "64")
	for _, state := range []store.CallState{"", store.CallUnknown, store.CallFailed, store.CallFailed} {
		begun, err := s.engine.Begin(t.Context(), governance.DefaultScope, &carrel.BeginRequest{Session: transcript.SessionID(s.session), CallIntent: carrel.CallIntent{Dialect: "anthropic", Model: "m"}})
		if err != nil {
			t.Fatal(err)
		}
		if state == "" {
			continue
		}
		if _, err := s.engine.End(t.Context(), governance.DefaultScope, &carrel.EndRequest{Call: begun.Call, State: state}); err != nil {
			t.Fatal(err)
		}
	}
	s.wants("health", "7 looked at: 2 failed, 1 not answered yet, 1 with an unknown outcome")
	node.Problem = "the store is read-only <b>"
	s.wants("health", "It takes no requests: the store is read-only &lt;b&gt;", "not ready")
	s = newStage(t, func(o *console.Options) { o.Store = nil })
	s.signIn()
	if body := s.page("health?format=json"); strings.Contains(body, `"store"`) {
		t.Errorf("health without a store: %s", body)
	}
}

// The page of a block leads from each unit of its account to the place in the original.
func TestUnitsLeadToBytes(t *testing.T) {
	s := newStage(t)
	s.signIn()
	body := s.page("block/" + s.block)
	leads := regexp.MustCompile(`<a href="#(u[0-9]+)">([0-9,]+)</a>`).FindAllStringSubmatch(body, -1)
	if len(leads) == 0 {
		t.Fatal("no unit leads to a byte")
	}
	for _, l := range leads {
		if !strings.Contains(body, `<span id="`+l[1]+`">`) {
			t.Errorf("%s is not marked in the original", l[1])
		}
	}
}

// The page of a context shows how its candidates became those in it, and its tier.
func TestFunnel(t *testing.T) {
	s := newStage(t)
	s.signIn()
	var put []*carrel.NewArtifact
	for i := range 12 {
		put = append(put, &carrel.NewArtifact{Class: provenance.Classes()[1], Title: fmt.Sprint("note ", i), Content: []byte(fmt.Sprintf("Note %d about the pool that hangs. %s", i, strings.Repeat("It waits and waits. ", 40+i)))})
	}
	if _, err := s.engine.Put(t.Context(), governance.DefaultScope, &carrel.PutRequest{Artifacts: put}); err != nil {
		t.Fatal(err)
	}
	made, err := s.engine.Assemble(t.Context(), governance.DefaultScope, &carrel.AssembleRequest{Query: "why does the pool hang", Budget: 1000})
	if err != nil {
		t.Fatal(err)
	}
	s.wants("manifest/"+made.Manifest, "How 12 candidates became", "% of the budget: tier "+string(made.Tier), "in the context")
}

// The pages of a large session read its blocks only when that is asked for.
func TestLargeSessionsAreReadOnDemand(t *testing.T) {
	s := newStage(t)
	s.signIn()
	var messages []string
	for i := range 5000 {
		messages = append(messages, fmt.Sprintf(`{"role":%q,"content":"line %d."}`, []string{"user", "assistant"}[i%2], i))
	}
	in, err := s.engine.Import(t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: "long.json", Data: []byte(`{"model":"gpt-4o","messages":[` + strings.Join(messages, ",") + `]}`)})
	if err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{"": "line 1.", "/window": "line 1.", "/diff": "Compare"} {
		path = "session/" + string(in.Session) + path
		if body := s.page(path); strings.Contains(body, says) || !strings.Contains(body, `href="/console/`+path+`?all=1"`) {
			t.Errorf("%s reads all blocks unasked", path)
		}
		s.wants(path+"?all=1", says)
	}
	s.wants("session/"+string(in.Session)+"?after=", "All 5,000 blocks must be read")
}

// The page of quality tells how the last pass did on its probes.
func TestQualityOfThePasses(t *testing.T) {
	s := newStage(t)
	s.signIn()
	id := transcript.SessionID(s.session)
	info, err := s.engine.Session(t.Context(), governance.DefaultScope, &carrel.SessionRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	target := api.Target{Tokens: info.Tokens / 6}
	if _, err := s.engine.Compress(t.Context(), governance.DefaultScope, &carrel.CompressRequest{Session: id, Strategy: carrel.StrategyAnchored, Target: target}); err != nil {
		t.Fatal(err)
	}
	path := "session/" + s.session + "/quality"
	s.wants(path, "After the last pass that asked probes the window answered")
	if strings.Contains(s.page(path), "[") {
		t.Error("a list stands in place of a figure")
	}
	if _, err := s.engine.Undo(t.Context(), governance.DefaultScope, &carrel.UndoRequest{Session: id}); err != nil {
		t.Fatal(err)
	}
	s.wants(path, "No pass of this session has asked probes", ", undone")
}

// The command of a page does what the page shows. A number in the field for tokens is no
// percentage.
func TestCommandsOfPages(t *testing.T) {
	s := newStage(t)
	s.signIn()
	plan, compress := "session/"+s.session+"/plan", "<code>carrel compress "+s.session+" --target "
	s.wants(plan, compress+"25% --dry-run")
	s.wants(plan+"?target=40&tokens=", compress+"40% --dry-run", "40 %")
	s.wants(plan+"?target=40&tokens=30000", compress+"30000 --dry-run", "A pass to 30,000 tokens")
	s.wants(plan+"?target=40&tokens=100", compress+"100 --dry-run")
	if body := s.page(plan + "?target=40&tokens=100"); strings.Contains(body, "100 %") {
		t.Error("100 tokens are planned as 100 %")
	}
	s.wants("session/"+s.session+"/quality", "carrel probe report "+s.session)
	s.wants("session/"+s.session+"/quality?ask=1", "carrel probe run "+s.session)
}

// The page of a contract counts the guards in handlers: the four of Carrel, and the rule of a person.
func TestGuardsOfAContract(t *testing.T) {
	s := newStage(t)
	s.signIn()
	path := "session/" + s.session + "/contract"
	s.wants(path, "none of them is a guard")
	rule := &carrel.AmendContractRequest{Session: transcript.SessionID(s.session), Rules: []string{`forbid evicted-blocks includes "block-65e388088ea57bc9" because "the report quotes it"`}}
	if _, err := s.engine.AmendContract(t.Context(), governance.DefaultScope, rule); err != nil {
		t.Fatal(err)
	}
	s.wants(path, "and 5 guards hold", "<td>guard, holds</td>")
	rule.Rules = []string{`forbid evicted-blocks includes "block-7feb8e32fdcb9b6b" because "the report quotes it, too"`} // behind the decisions
	for i := range 500 {
		rule.Decisions = append(rule.Decisions, fmt.Sprintf("Choice %d stands.", i))
	}
	if _, err := s.engine.AmendContract(t.Context(), governance.DefaultScope, rule); err != nil {
		t.Fatal(err)
	}
	s.wants(path, "and 6 guards hold")
	body := s.page(path)
	for from := 501; from <= 1001; from += 500 {
		if !strings.Contains(body, fmt.Sprintf(`line=%d"`, from)) || strings.Count(body, `<th scope="row"`) != 500 {
			t.Errorf("the page before line %d: %.3000s", from, body)
		}
		body = s.page(fmt.Sprint(path, "?line=", from))
	}
	if strings.Contains(body, "The next page") {
		t.Errorf("the last page is %.3000s", body)
	}
}

// A page has room for so much: each row has a session, its page and what stands there.
func TestRoomOfPages(t *testing.T) {
	s := newStage(t)
	s.signIn()
	lines := func(n int, line string) transcript.SessionID {
		t.Helper()
		var messages []string
		for i := range n {
			messages = append(messages, fmt.Sprintf(`{"role":%q,"content":%q}`, []string{"user", "assistant"}[i%2], line))
		}
		in, err := s.engine.Import(t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: "x.json", Data: []byte(`{"model":"gpt-4o","messages":[` + strings.Join(messages, ",") + `]}`)})
		if err != nil {
			t.Fatal(err)
		}
		return in.Session
	}
	for n, want := range map[int]bool{1000: true, 1001: false} {
		if got := strings.Contains(s.page(fmt.Sprintf("session/%s/plan?format=json", lines(n, fmt.Sprint("Go to ", n, ".")))), `"plan":`); got != want {
			t.Errorf("the plan of %d blocks is made unasked: %v", n, got)
		}
	}
	s.wants(fmt.Sprintf("session/%s/journal", lines(1, "One.")), "The last operation on this session was import")
	for n, want := range map[int]string{256<<10 - 1: `x\n","size":262144}`, 256 << 10: `x","size":262145,"cut":true}`} { // a line end is added
		list, err := s.engine.Messages(t.Context(), governance.DefaultScope, &carrel.MessagesRequest{Session: lines(1, strings.Repeat("x", n))})
		if err != nil {
			t.Fatal(err)
		}
		body := s.page(fmt.Sprintf("block/%s?format=json", list.Messages[0].ID))
		if !strings.Contains(body, `"original":"`+strings.Repeat("x", n-1)+want) {
			t.Errorf("a block of %d bytes is shown as %.300s … %s", n, body, body[len(body)-100:])
		}
	}
	for n, want := range map[int]bool{30: true, 31: false} {
		parts := make([]carrel.CallSegment, n)
		for i := range parts {
			parts[i] = carrel.CallSegment{Kind: "message", Bytes: 1, Commit: digest.Of([]byte{byte(i)}), Chain: digest.Of([]byte{byte(i), 1})}
		}
		begun, err := s.engine.Begin(t.Context(), governance.DefaultScope, &carrel.BeginRequest{
			Session: transcript.SessionID(s.session), Sealed: &carrel.CallAccount{Segments: parts},
			CallIntent: carrel.CallIntent{Dialect: "anthropic", Model: "m", Messages: n, Bytes: n, SentBytes: n, Managed: true, Sent: parts[n-1].Chain},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(s.page("call/"+begun.Call), `class="budget named"`); got != want {
			t.Errorf("%d parts are numbered: %v", n, got)
		}
	}
}

// The page of costs has the sessions that cost most, and counts the others.
func TestCostOfManySessions(t *testing.T) {
	s := newStage(t)
	s.signIn()
	own := s.session
	for i := range 100 {
		in, err := s.engine.Import(t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: "x.json", Data: []byte(fmt.Sprintf(`{"messages":[{"role":"user","content":"Job %d."}]}`, i))})
		if err != nil {
			t.Fatal(err)
		}
		s.session = string(in.Session)
		s.call(1, carrel.Usage{Input: 1})
		if i == 98 {
			if body := s.page("cost?format=json&days=3650"); strings.Contains(body, `"more"`) || strings.Count(body, `"session":"`) != 100 {
				t.Errorf("100 sessions: %.3000s", body)
			}
		}
	}
	if body := s.page("cost?format=json&days=3650"); !strings.Contains(body, `"more":1`) || !strings.Contains(body, `"session":"`+own) || strings.Count(body, `"session":"`) != 100 {
		t.Errorf("101 sessions: %.3000s", body)
	}
}
