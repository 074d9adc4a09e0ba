package carrel_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A diary is a transcript of Claude Code in the making.
type diary struct {
	rows []string
	last string // the row that the next one follows
}

func (d *diary) add(kind, fields, message string) {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", len(d.rows)+1)
	parent := "null"
	if d.last != "" {
		parent = `"` + d.last + `"`
	}
	d.rows = append(d.rows, fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"5e551011-0000-4000-8000-000000000000","cwd":"/srv/lamp","timestamp":"2026-01-02T03:04:05Z"%s,"message":%s}`,
		kind, id, parent, fields, message))
	d.last = id
}

func (d *diary) asks(text string) {
	d.add("user", "", fmt.Sprintf(`{"role":"user","content":%q}`, text))
}

func (d *diary) says(text string) {
	n := len(d.rows)
	d.add("assistant", "", fmt.Sprintf(`{"id":"msg_%d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":%q}]}`, n, text))
}

func (d *diary) runs(command, output string, fails bool) {
	n := len(d.rows)
	d.add("assistant", "", fmt.Sprintf(`{"id":"msg_%d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":%q}}]}`, n, n, command))
	d.add("user", "", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","is_error":%v,"content":%q}]}`, n, fails, output))
}

// compacts begins anew with a summary, as the agent does.
func (d *diary) compacts(summary string) {
	id := fmt.Sprintf("00000000-0000-4000-8000-%012d", len(d.rows)+1)
	d.rows = append(d.rows, fmt.Sprintf(`{"type":"system","subtype":"compact_boundary","uuid":%q,"parentUuid":null,"logicalParentUuid":%q,"sessionId":"5e551011-0000-4000-8000-000000000000","timestamp":"2026-01-02T03:05:05Z","compactMetadata":{"trigger":"manual"}}`, id, d.last))
	d.last = id
	d.add("user", `,"isCompactSummary":true,"isVisibleInTranscriptOnly":true`, fmt.Sprintf(`{"role":"user","content":%q}`, summary))
}

func (d *diary) file() []byte { return []byte(strings.Join(d.rows, "\n") + "\n") }

func (b *bench) imports(t testing.TB, d *diary) transcript.SessionID {
	t.Helper()
	in, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "s.jsonl", Data: d.file()})
	if err != nil {
		t.Fatal(err)
	}
	return in.Session
}

func newDiary() *diary {
	d := &diary{}
	d.asks("The beam test of the lamp fails now and then. Find out why.")
	d.runs("go test ./beam -count 50", "--- FAIL: TestBeam (0.02s)\n    beam_test.go:41: got 3 sweeps, want 4\nFAIL\nexit status 1\n", true)
	d.says("Two goroutines count sweeps without a lock.")
	d.asks("Don't add sleeps to any test. Use a mutex.")
	d.runs("go vet ./beam", "", false)
	d.says("I used a mutex for the sweep count.")
	return d
}

// What was said before the agent compacted the conversation is there with ids that
// bring it back.
func TestBriefSurvivesCompaction(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := newDiary()
	id := b.imports(t, d)
	d.compacts("The user wants the beam test fixed.")
	d.asks("Go on.")
	d.runs("make build", "built lamp 1.4.2\n", false)
	d.says("The change is not committed yet.")
	b.imports(t, d)

	res, err := b.Brief(t.Context(), scope, &carrel.BriefRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	ids := regexp.MustCompile(`\[([0-9a-f]{8,})\]`).FindAllStringSubmatch(res.Text, -1)
	if len(ids) == 0 {
		t.Fatalf("no entry names a block:\n%s", res.Text)
	}
	for _, want := range []string{
		"- Don't add sleeps to any test. [", "- The beam test of the lamp fails now and then. Find out why. [", "go test ./beam -count 50: failed", "make build: ok, built lamp 1.4.2 [",
	} {
		if !strings.Contains(res.Text, want) {
			t.Errorf("the brief does not say %q:\n%s", want, res.Text)
		}
	}
	for _, m := range ids {
		if _, err := b.Recall(t.Context(), scope, &carrel.RecallRequest{Block: m[1]}); err != nil {
			t.Errorf("what the brief names is not there: %v", err)
		}
	}
	if newest, oldest := strings.Index(res.Text, "make build: "), strings.Index(res.Text, "go test ./beam -count 50: "); newest > oldest {
		t.Errorf("the newest command does not come first:\n%s", res.Text)
	}
}

// What the client writes around a summary, and what is said to it with a command of its
// own, is no wish of the person; nor is what the summary retells of their words.
func TestBriefQuotesNoBoilerplate(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := newDiary()
	d.compacts("This session is being continued from a previous conversation that ran out of context. The summary below covers the earlier portion of the conversation.\n\n" +
		"Summary:\n1. Primary Request and Intent:\n   The user wants the beam test fixed.\n\n2. Decisions:\n   - Decided to use a mutex.\n\n" +
		"If you need specific details from before compaction (like exact code snippets), read the full transcript at: /srv/lamp/x.jsonl\n" +
		"Continue the conversation from where it left off without asking the user any further questions. Resume directly — do not acknowledge the summary, do not recap what was happening. Pick up the last task as if the break never happened.")
	d.asks("<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args>We decided to keep it short.</command-args>")
	d.asks("<local-command-stdout>Compacted (ctrl+o to see full summary)</local-command-stdout>")
	d.asks("Now write the release notes.")
	d.runs("make build", "built lamp 1.4.2\n", false)
	id := b.imports(t, d)
	res, err := b.Brief(t.Context(), scope, &carrel.BriefRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	for _, boilerplate := range []string{"acknowledge", "Continue the conversation", "being continued", "read the full transcript", "keep it short", "Compacted", "<command", "wants the beam test fixed"} {
		if strings.Contains(res.Text, boilerplate) {
			t.Errorf("the brief says %q:\n%s", boilerplate, res.Text)
		}
	}
	for _, want := range []string{"- Now write the release notes.", "- The beam test of the lamp fails now and then. Find out why."} {
		if strings.Count(res.Text, want) != 1 {
			t.Errorf("the brief says %q %d times:\n%s", want, strings.Count(res.Text, want), res.Text)
		}
	}
}

// An error is open as long as nothing resolved it, before or after a compaction, and
// each thing is said once, whatever it is at the same time.
func TestBriefNamesWhatIsOpenOnce(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := newDiary() // go test ./beam fails
	d.runs("go vet ./lens", "lens/lens.go:7:2: undefined: focus\n", true)
	d.compacts("Summary:\nThe beam test fails.")
	d.asks("Let's use a mutex for the beam.")
	d.runs("go test ./beam -count 50", "ok  \tlamp/beam\t0.2s\n", false)
	d.runs("sh notes.sh", "error: 0, warnings: 2\nnotes written successfully\n", false)
	id := b.imports(t, d)
	res, err := b.Brief(t.Context(), scope, &carrel.BriefRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	_, open, _ := strings.Cut(res.Text, "Open:\n")
	open, _, _ = strings.Cut(open, "\nCommands:")
	for text, want := range map[string]bool{"undefined: focus": true, "FAIL: TestBeam": false, "error: 0": false} {
		if got := strings.Contains(open, text); got != want {
			t.Errorf("%q is open: %v, want %v:\n%s", text, got, want, res.Text)
		}
	}
	if n := strings.Count(res.Text, "Let's use a mutex for the beam."); n != 1 {
		t.Errorf("one sentence is said %d times:\n%s", n, res.Text)
	}
}

// Whoever begins with the client's own summary is told what that does not say: no words that
// it quotes, no fact that it has, and of what was tried again only how it ended. Whoever
// writes the next summary is told all of it.
func TestBriefSaysWhatTheSummaryDoesNot(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := newDiary()
	d.asks("Paint the lens `green`, too.")
	d.runs("go test ./beam -count 50 2>&1 | tail -3", "ok  \tlamp/beam\t0.2s\n", false)
	d.runs("git commit -qam beam", "[main 1a2b3c4] count sweeps\n 1 file changed\n", false)
	d.says("The beam is steady now, and its count has a lock of its own.")
	d.compacts("Summary:\nThe user said: \"paint the lens green, too.\" I decided to ship release 9.9.1 of https://example.com/lamp first. Then go vet ./beam was run.")
	id := b.imports(t, d)
	said := make(map[carrel.Purpose]string)
	for _, purpose := range []carrel.Purpose{carrel.PurposeRestart, carrel.PurposeCompaction} {
		res, err := b.Brief(t.Context(), scope, &carrel.BriefRequest{Session: id, For: purpose})
		if err != nil {
			t.Fatal(err)
		}
		said[purpose] = res.Text
		for _, want := range []string{
			"State:\n- git: branch main, last commit 1a2b3c4 count sweeps, not pushed\n", "- go test ./beam -count 50 2>&1 | tail -3: ok",
			"- The beam is steady now, and its count has a lock of its own. [", "- Don't add sleeps to any test. [", "Find out why. [",
		} {
			if !strings.Contains(res.Text, want) {
				t.Errorf("the brief for a %s does not say %q:\n%s", purpose, want, res.Text)
			}
		}
		if strings.Contains(res.Text, "- go test ./beam -count 50: failed") {
			t.Errorf("the brief for a %s names an attempt that was made again:\n%s", purpose, res.Text)
		}
	}
	for _, text := range []string{"Paint the lens", "go vet ./beam", "release 9.9.1"} {
		if strings.Contains(said[carrel.PurposeRestart], text) || !strings.Contains(said[carrel.PurposeCompaction], text) {
			t.Errorf("%q belongs into a brief for a compaction, and into no other:\n%s\n%s", text, said[carrel.PurposeRestart], said[carrel.PurposeCompaction])
		}
	}
}

func TestBriefHasPinsAndTheContract(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	id := b.imports(t, newDiary())
	list, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list.Messages, func(i carrel.BlockInfo) bool { return strings.Contains(i.Preview, "Two goroutines") })
	if i < 0 {
		t.Fatalf("no block about goroutines in %+v", list.Messages)
	}
	pinned := list.Messages[i].ID
	if _, err := b.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{string(pinned)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{
		Session: id, Init: true, Decisions: []string{"the sweep count has its own mutex"}, Questions: []string{"which release gets the fix"},
		Rules: []string{"require window-tokens is below 90000"},
	}); err != nil {
		t.Fatal(err)
	}
	for _, purpose := range []carrel.Purpose{carrel.PurposeCompaction, carrel.PurposeRestart} {
		res, err := b.Brief(t.Context(), scope, &carrel.BriefRequest{Session: id, For: purpose})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			"Pinned:\n- Two goroutines count sweeps without a lock. [" + pinned.Short() + "]\n",
			"Decided:\n- the sweep count has its own mutex\n", "question: which release gets the fix\n", "- require window-tokens is below 90000\n",
		} {
			if !strings.Contains(res.Text, want) {
				t.Errorf("the brief for a %s does not say %q:\n%s", purpose, want, res.Text)
			}
		}
		if res.Left != 0 || res.Tokens > carrel.BriefTokens {
			t.Errorf("%d entries left out of %d tokens", res.Left, res.Tokens)
		}
	}
}

// A brief fits, is the same each time, and counts what it leaves out.
func TestBriefFits(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := newDiary()
	for i := range 60 {
		d.asks(fmt.Sprintf("Never touch module %d, and report on module %d. %s", i, i+100, strings.Repeat("It matters. ", i)))
		d.runs(fmt.Sprintf("make module%d", i), "done", false)
	}
	id := b.imports(t, d)
	entries := 0
	for tokens := carrel.LeastBriefTokens; tokens <= 6000; tokens = tokens*5/4 + 1 {
		req := &carrel.BriefRequest{Session: id, Tokens: tokens, For: carrel.PurposeCompaction}
		res, err := b.Brief(t.Context(), scope, req)
		if err != nil {
			t.Fatal(err)
		}
		if res.Tokens > tokens {
			t.Errorf("%d tokens, want at most %d", res.Tokens, tokens)
		}
		entries = res.Entries
		if said := strings.Contains(res.Text, fmt.Sprintf("(%d more are on record", res.Left)); said != (res.Left > 0) {
			t.Errorf("%d entries are left out, which the text says: %v", res.Left, said)
		}
		again, err := b.Brief(t.Context(), scope, req)
		if diff := cmp.Diff(res, again); err != nil || diff != "" {
			t.Errorf("the same brief again: %v (-first +again):\n%s", err, diff)
		}
	}
	if entries < 20 {
		t.Errorf("the largest brief has %d entries", entries)
	}
}

func TestBriefRefuses(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	id := b.imports(t, newDiary())
	for _, c := range []struct {
		name string
		req  carrel.BriefRequest
		want error
	}{
		{"a purpose that there is not", carrel.BriefRequest{Session: id, For: "fun"}, carrel.ErrRequest},
		{"a size without room for its own words", carrel.BriefRequest{Session: id, Tokens: carrel.LeastBriefTokens - 1}, carrel.ErrRequest},
		{"a session that is not there", carrel.BriefRequest{Session: "nobody"}, store.ErrNotFound},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := b.Brief(t.Context(), scope, &c.req); !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
		})
	}
	if _, err := b.Brief(t.Context(), "other", &carrel.BriefRequest{Session: id}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("from another scope: %v, want %v", err, store.ErrNotFound)
	}
}
