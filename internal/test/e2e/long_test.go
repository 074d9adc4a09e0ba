package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/upstream"
)

// What a long session is: so many notes are read, one by one, of which every fifth is larger
// than the others, and together they are more than three windows.
const (
	notes       = 45
	noteBytes   = 23_000
	largeBytes  = 29_000
	smallWindow = 100_000 // tokens, as the upstream counts them
)

// What must be in every request of a long session: what its user said, and what the model
// decided and pinned, once it did.
const (
	userCanary   = "The frozen directory is called migrations-heron."
	pinnedCanary = "The symbol table of the kestrel build stays at version 41."
)

// A mode is what stands between an agent and its provider.
type mode string

const (
	alone    mode = "alone"
	observed mode = "observed"
	managed  mode = "managed"
)

// note returns a text in which no line is like another, of this note or of others.
func note(n int) string {
	places := []string{"the northern gate", "the old mill", "the upper lock", "the ferry", "the quarry", "the weir", "the second bridge"}
	states := []string{"steady since the morning", "higher than the day before", "as low as in the dry years", "not to be read for the ice", "falling by the hour"}
	size := noteBytes
	if n%5 == 0 {
		size = largeBytes
	}
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "Day %d, page %d: the water at %s stands at %d, and the keeper writes that it is %s.\n",
			n, i, places[(i*5+n)%len(places)], i*i%977+n, states[(i*3+n*n)%len(states)])
	}
	return b.String()
}

// A marathon is the model of a long session. It reads one note after the other, and recalls
// some of those that it is shown a stub of.
type marathon struct {
	c        client
	mode     mode
	read     int
	decided  bool
	pinned   bool
	asked    map[string]bool // ids that were recalled
	pending  bool            // the newest result is recalled
	recalled []string        // what came back
}

// pointers are how what was replaced is spoken of: a result that was stashed before it was
// sent, and a block that was paged.
var pointers = regexp.MustCompile(`\[carrel: stashed \d+ bytes, \d+ lines as ([0-9a-f]+)|\[carrel ([0-9a-f]{8,}): paged`)

// pin is the command that pins the message in which the model decided.
const pin = `carrel pin --yes $(carrel search 'symbol table kestrel version' --jq '[.items[] | select(.excerpt | startswith("The symbol table"))][0].block' | tr -d '"')`

// proxyTool is the tool of the proxy. It is in all requests or in none: the scripts of Codex
// call tools that stand in the input, so that there is no list to add one to.
const proxyTool = "carrel_recall"

// next returns the reply to a request.
func (m *marathon) next(r *upstream.Request) upstream.Reply {
	reply := m.decide(r)
	if m.mode != managed {
		reply.InputTokens = 1000 // or the agent would compact
	}
	return reply
}

func (m *marathon) decide(r *upstream.Request) upstream.Reply {
	if m.pending {
		m.pending = false
		for _, res := range r.Results() {
			m.recalled = append(m.recalled, res.Text)
		}
	}
	switch {
	case m.read == notes:
		return upstream.Say(upstream.Text("All is read."))
	case m.mode == managed && m.read == 6 && !m.decided:
		m.decided = true
		return upstream.Say(upstream.Text(pinnedCanary), m.c.run("ls"))
	case m.mode == managed && m.read == 7 && !m.pinned:
		m.pinned = true
		return upstream.Say(upstream.Text("I pin what I decided."), m.c.run(pin))
	case m.mode == managed && m.read > 10 && len(m.asked) < m.read/10:
		if id := m.pointer(r); id != "" {
			m.asked[id], m.pending = true, true
			if len(m.asked)%2 == 1 && slices.Contains(r.Tools(), proxyTool) { // by the tool of the proxy, which the agent knows nothing of
				return upstream.Say(upstream.Thinking("What was it?"), upstream.Text("I look again."), upstream.Call{Name: proxyTool, Input: map[string]any{"id": id}})
			}
			return upstream.Say(upstream.Text("I look again."), m.c.run("carrel recall "+id+" --text"))
		}
	}
	m.read++
	return upstream.Say(
		upstream.Thinking(fmt.Sprintf("Note %d is next.", m.read)), upstream.Text("On to the next."),
		m.c.run(fmt.Sprintf("cat notes/%02d.txt", m.read)))
}

// pointer returns an id that stands for something in a request and was not recalled yet.
func (m *marathon) pointer(r *upstream.Request) string {
	for _, text := range r.Texts() {
		for _, found := range pointers.FindAllStringSubmatch(text, -1) {
			if id := found[1] + found[2]; !m.asked[id] {
				return id
			}
		}
	}
	return ""
}

// A client finishes a session whose history is longer than three small windows. Observed, and
// alone where CARREL_TEST_ALONE asks for that, it sends all of it, and each request goes on
// from the one before. Managed, what is sent stays within a small window, has what must not
// be lost, and leaves what was sent before as it was except where it becomes much shorter;
// what is recalled comes back as it was.
func long(t *testing.T, c client) {
	modes := []mode{observed, managed}
	if os.Getenv("CARREL_TEST_ALONE") != "" {
		modes = slices.Insert(modes, 0, alone)
	}
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			m := &marathon{c: c, mode: mode, asked: make(map[string]bool)}
			o := &upstream.Options{Window: 1_000_000, Script: []upstream.Step{{Name: "on", Times: upstream.Always, Make: m.next}}}
			if mode == managed {
				o.Window = smallWindow
			}
			a := c.agent(t, o)
			for n := range notes {
				a.write(filepath.Join(a.work, "notes", fmt.Sprintf("%02d.txt", n+1)), []byte(note(n+1)))
			}
			said := a.behind(mode, c, "Read all notes, one after the other. "+userCanary)
			if !strings.Contains(said, "All is read.") || m.read != notes {
				t.Errorf("%d notes were read, and the agent said:\n%.2000s", m.read, said)
			}
			if mode != alone && a.longest() < 2*notes {
				t.Errorf("the longest session that carrel has is of %d messages", a.longest())
			}
			a.nothingRefused()
			requests := a.fake.OfKind(upstream.KindMain)
			for i, r := range requests {
				if !r.Contains(userCanary) || len(r.Dropped) > 0 {
					t.Errorf("request %d has what the user said: %v; the model is not shown %v of it", i, r.Contains(userCanary), r.Dropped)
				}
			}
			if mode == managed {
				checkManaged(t, m, requests)
				return
			}
			for i, r := range requests {
				if r.Prefix.Broke != "" {
					t.Errorf("request %d breaks what was sent before: %+v", i, r.Prefix)
				}
			}
			if n := requests[len(requests)-1].Tokens; n < 3*smallWindow {
				t.Errorf("the session is of %d tokens, which is less than three windows", n)
			}
		})
	}
}

// checkManaged checks what was sent of a session that is managed.
func checkManaged(t *testing.T, m *marathon, requests []*upstream.Request) {
	t.Helper()
	decided := false
	for i, r := range requests {
		if got, want := slices.Contains(r.Tools(), proxyTool), !m.c.scripts; got != want {
			t.Errorf("request %d has the tool of the proxy: %v, want %v", i, got, want)
		}
		decided = decided || r.Contains(pinnedCanary)
		switch {
		case decided && !r.Contains(pinnedCanary):
			t.Errorf("request %d lacks what was pinned", i)
		case r.Prefix.Broke == "":
		case strings.HasPrefix(r.Prefix.Broke, "tools"), strings.HasPrefix(r.Prefix.Broke, "system"):
			t.Errorf("request %d breaks %+v", i, r.Prefix)
		case r.Tokens > requests[i-1].Tokens*4/5:
			t.Errorf("request %d breaks %+v, and is of %d tokens, the one before of %d", i, r.Prefix, r.Tokens, requests[i-1].Tokens)
		}
	}
	if !decided || len(m.recalled) == 0 {
		t.Errorf("pinned: %v, recalled: %d", decided, len(m.recalled))
	}
	for _, text := range m.recalled {
		found := 0
		for n := range notes {
			if strings.Contains(text, strings.TrimSpace(note(n+1))) { // agents cut the end of a line
				found++
			}
		}
		if found != 1 {
			t.Errorf("what was recalled has %d notes in it as they were: %.300q", found, text)
		}
	}
}

// longest returns how many messages the longest session has that carrel knows.
func (a *agent) longest() (n int) {
	a.t.Helper()
	for line := range strings.Lines(a.call(carrelProgram, "sessions", "--ndjson")) {
		var s struct{ Messages int }
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			a.t.Fatalf("%v in %s", err, line)
		}
		n = max(n, s.Messages)
	}
	return n
}

// behind has an agent answer a prompt with something between it and its provider.
func (a *agent) behind(mode mode, c client, prompt string) string {
	a.t.Helper()
	args := append(c.args, prompt)
	if mode == alone {
		return a.call(a.program, args...)
	}
	a.write(filepath.Join(a.home, ".config", "carrel", "config.toml"), fmt.Appendf(nil, "[proxy]\nbudget = %d\nrecall = true\n", smallWindow*5/6))
	flag := "--manage"
	if mode == observed {
		flag = "--observe"
	}
	return a.call(carrelProgram, append([]string{"run", flag, "--", a.program}, args...)...)
}

func TestClaudeCodeFinishesALongSession(t *testing.T) { long(t, claudeCode) }
func TestCodexFinishesALongSession(t *testing.T)      { long(t, codex) }
func TestCodexScriptsFinishALongSession(t *testing.T) { long(t, codexScripts) }
func TestOpenCodeFinishesALongSession(t *testing.T)   { long(t, openCode) }
