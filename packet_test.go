package carrel_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/transcript"
)

// calls adds a call of a tool and what came back.
func (d *diary) calls(tool, input, output string, fails bool) {
	n := len(d.rows)
	d.add("assistant", "", fmt.Sprintf(`{"id":"msg_%d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"toolu_%d","name":%q,"input":%s}]}`, n, n, tool, input))
	d.add("user", "", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","is_error":%v,"content":%q}]}`, n, fails, output))
}

// blockOf returns the id of the first block whose beginning has some words, in any window.
func blockOf(t testing.TB, e *carrel.Engine, id transcript.SessionID, words string) string {
	t.Helper()
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list.Messages {
		if strings.Contains(b.Preview, words) {
			return b.ID.Short()
		}
	}
	t.Fatalf("no block says %q", words)
	return ""
}

// longCorrection is one of the user's of which a packet has the beginning.
var longCorrection = "No, don't touch the API. " + strings.Repeat("It is used by others. ", 250)

// longLine is what the agent says before the user says yes.
var longLine = "Shall I take two locks, " + strings.Repeat("one for each é, ", 30) + "or none?"

// project returns a session that has something of all that a packet tells of: a window
// that the client compacted, and what came then.
func project() *diary {
	d := &diary{}
	d.asks("Fix the pool in pool.go.")
	d.calls("Read", `{"file_path":"/srv/lamp/pool.go"}`, "package pool", false)
	d.asks("No, don't rename anything.")
	d.says("It waits for jobs that were rejected.")
	d.compacts("The user wants the pool fixed.")
	d.calls("Read", `{"file_path":"/srv/lamp/gone.go"}`, "File does not exist.", true)
	d.calls("Read", `{"file_path":"/srv/lamp/pool.go"}`, "package pool", false)
	d.calls("Grep", `{"pattern":"wait(s|ed) for"}`, "pool.go:3", false)
	d.calls("WebFetch", `{"url":"https://example.com/locks","prompt":"how"}`, "Locks are explained.", false)
	d.runs("make lamp", "built lamp 1.4.2", false)
	d.runs("make dist", "", false)
	d.runs("make check", "check.sh: line 3: lampctl: not found", true)
	d.calls("TodoWrite", `{"todos":[{"content":"Fix the pool","status":"completed"},{"content":"Write the test","status":"pending"},{"content":"Ship it","status":"in_progress"}]}`, "ok", false)
	d.calls("Edit", `{"file_path":"/srv/lamp/pool.go","old_string":"wait()","new_string":"take()"}`, "updated", false)
	d.calls("Edit", `{"file_path":"/srv/lamp/pool.go","old_string":"take()","new_string":"poll()"}`, "updated", false)
	d.calls("Write", `{"file_path":"/tmp/notes","content":"nothing"}`, "created", false)
	d.runs("git commit -m pool", "[main 1a2b3c4] pool", false)
	d.calls("Edit", `{"file_path":"/srv/lamp/lock.go","old_string":"two()","new_string":"one()"}`, "updated", false)
	d.says("I decided to use a mutex because channels block here.\n\nWe're going with port 8443. This avoids a clash. See https://example.com/ports too.")
	d.says("The pool is fixed now.\n\n" + longLine + "\n--")
	d.asks("yes")
	d.asks(longCorrection)
	d.says("Understood. The pool was the cause. Which port is free?")
	d.says("I can't push until the token is renewed.")
	d.asks("Compare the two pools, then explain them.")
	return d
}

// What is on record is in a packet: read apart from run, what failed apart from what did
// not, what was only mentioned apart from both, and each with the block that has it.
func TestPacketSaysWhatIsOnRecord(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	id := b.imports(t, project())
	at := func(words string) string { return blockOf(t, b.Engine, id, words) }
	for _, words := range []string{"It waits for jobs", "make lamp"} {
		if _, err := b.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{at(words)}}); err != nil {
			t.Fatal(err)
		}
	}
	amend(t, b.Engine, &carrel.AmendContractRequest{
		Session: id, Init: true, Decisions: []string{"one pool for all"}, Questions: []string{"who reviews it"},
		Corrections: []carrel.ContractCorrection{{Text: "keep-it-short"}},
		Sources:     []contract.PayloadSource{{Name: "readme", Text: "It needs Go 1.26."}},
		Claims:      []contract.PayloadSource{{Name: "speed", Text: "It is twice as fast."}},
		Verified:    []carrel.ContractClaim{{Text: "needs Go 1.26", Source: "readme"}},
		ResumeState: "the review",
	})
	p := packetOf(t, b.Engine, id)
	in := func(words string) string { return "block " + at(words) }
	out := func(words, preview string) handoff.Context {
		return handoff.Context{Context: "Block " + at(words) + ": " + preview, Why: "It is out of the window; recall it before relying on it."}
	}
	contractOf := "contract of session " + string(id)
	want := &handoff.Packet{
		State: "I can't push until the token is renewed. To-dos: 1 of 3 completed, in progress: Ship it. Last command: committed [main 1a2b3c4] pool.\nTo be resumed: the review",
		Intent: handoff.Aim{
			Primary: "analyze", Secondary: "explain", Target: "the two pools", Status: "asked; whether it is done, sections 10 and 11 say",
			Basis: "the prompt compiler's reading of the user's words in " + in("Compare the two") + ", with confidence high",
		},
		Sources: []handoff.Source{
			{Source: contractOf, Type: "contract", State: handoff.Verified, What: "needs Go 1.26"},
			{Source: "git commit -m pool", Type: "command", State: handoff.Verified, What: "it ran without an error in " + in("git commit") + ": [main 1a2b3c4] pool"},
			{Source: "make dist", Type: "command", State: handoff.Verified, What: "it ran without an error in " + in("make dist")},
			{Source: "make lamp", Type: "command", State: handoff.Verified, What: "it ran without an error in " + in("make lamp") + ": built lamp 1.4.2"},
			{Source: "https://example.com/locks", Type: "page", State: handoff.Scanned, What: "read in " + in("WebFetch")},
			{Source: "pool.go", Type: "file", State: handoff.Scanned, What: "read in " + nth(t, b.Engine, id, "Read: /srv/lamp/pool.go", 1)},
			{Source: "readme", Type: "source of the contract", State: handoff.Scanned, What: "the contract has its text"},
			{Source: "wait(s|ed) for", Type: "query", State: handoff.Scanned, What: "read in " + in("Grep")},
			{Source: "https://example.com/ports", Type: "page", State: handoff.Referenced, What: "Nothing: it was only linked or mentioned."},
			{Source: "gone.go", Type: "file", State: handoff.Unavailable, What: "Nothing: it could not be read in " + in("gone.go")},
		},
		Inferred: []handoff.Claim{
			{Text: "It is twice as fast.", Basis: "the contract has it as the claim speed"},
			{Text: "It waits for jobs that were rejected.", Basis: "the agent said so in " + in("It waits for")},
			{Text: "I decided to use a mutex because channels block here.", Basis: "the agent decided it in " + in("I decided") + "; no word of the user's on it is on record; its reason: channels block here."},
			{Text: "We're going with port 8443.", Basis: "the agent decided it in " + in("I decided") + "; no word of the user's on it is on record; its reason: This avoids a clash."},
			{Text: "The pool is fixed now.", Basis: "the agent said so in " + in("The pool is fixed")},
			{Text: "I can't push until the token is renewed.", Basis: "the agent said so in " + in("I can't push")},
		},
		Decisions: []handoff.Decision{
			{Text: "yes (to the agent's words: …" + longLine[len(longLine)-299:] + ")", Basis: "the user said so in " + in("yes")},
			{Text: "one pool for all", Basis: "the contract has it in tracked-decisions"},
		},
		Questions: []handoff.Question{
			{Question: "How is this error resolved: make check: check.sh: line 3: lampctl: not found", Why: "it is on record in " + in("make check") + ", and nothing that resolved it"},
			{Question: "I can't push until the token is renewed.", Why: "nobody answered it since " + in("I can't push")},
			{Question: "who reviews it", Why: "the contract has it in open-questions"},
		},
		Corrections: []handoff.Correction{
			{Correction: "No, don't rename anything.", Meaning: "It stands until the user says otherwise. It is " + in("No, don't rename") + ", which the agent's own compaction took out of the window."},
			{Correction: longCorrection[:4000], Meaning: "It stands until the user says otherwise. It is " + in("No, don't touch") + ", which never leaves the window. These are its first words; carrel recall " + at("No, don't touch") + " has all."},
			{Correction: "keep-it-short", Meaning: "Say it in as few words as it needs, and stop."},
		},
		Context: []handoff.Context{
			{Context: "Block " + at("It waits for") + ": It waits for jobs that were rejected.", Why: "somebody pinned it, before the agent's own compaction took it out of the window"},
			{Context: "Block " + at("make lamp") + ": Bash: make lamp", Why: "somebody pinned it: it never leaves the window"},
			out("Fix the pool in", "Fix the pool in pool.go."),
			out("Read: /srv/lamp/pool.go", "Read: /srv/lamp/pool.go"),
			out("No, don't rename", "No, don't rename anything."),
		},
		Done:      []string{"Fix the pool", "pool.go: modified: take() → poll() (the last of 2 changes)", "/tmp/notes: created: nothing", "lock.go: modified: two() → one()"},
		Remaining: []string{"Write the test", "Ship it"},
		Next:      "Write the test",
		Artifacts: []handoff.Deliverable{
			{Artifact: "pool.go", Type: "go file", Path: "pool.go", Status: handoff.Delivered},
			{Artifact: "notes", Type: "file", Path: "/tmp/notes", Status: handoff.Intermediate},
			{Artifact: "lock.go", Type: "go file", Path: "lock.go", Status: handoff.Draft},
		},
	}
	if diff := cmp.Diff(want, p, header, cmpopts.IgnoreFields(handoff.Packet{}, "Goal", "Boundaries", "Notes")); diff != "" {
		t.Errorf("packet (-want +got):\n%s", diff)
	}
	if want := string(id) + " (Fix the pool in pool.go.)"; p.Session != want {
		t.Errorf("the session is %q, want %q", p.Session, want)
	}
	if !strings.HasPrefix(p.Goal, "Fix the pool in pool.go.") || !strings.HasSuffix(p.Goal, "Compare the two pools, then explain them.") {
		t.Errorf("the goal is %q", p.Goal)
	}
}

// nth returns the name of the nth block whose beginning has some words, counted from 0.
func nth(t testing.TB, e *carrel.Engine, id transcript.SessionID, words string, n int) string {
	t.Helper()
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list.Messages {
		if strings.Contains(b.Preview, words) {
			if n == 0 {
				return "block " + b.ID.Short()
			}
			n--
		}
	}
	t.Fatalf("too few blocks say %q", words)
	return ""
}

// What left the window is in a packet, with how many blocks are stubs, and of long lists
// the newest are, with how many more there are.
func TestPacketSaysWhatIsElsewhere(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	d := &diary{}
	d.asks("Read all the files.")
	for i := range 62 {
		d.calls("Read", fmt.Sprintf(`{"file_path":"/srv/lamp/f%02d.go"}`, i), strings.Repeat("package lamp // and more\n", 30), false)
	}
	d.asks("Go on.")
	id := b.imports(t, d)
	list, err := b.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	stubs := []string{string(list.Messages[1].ID), string(list.Messages[2].ID)}
	if _, err := b.Page(t.Context(), scope, &carrel.PageRequest{Blocks: stubs}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Discard(t.Context(), scope, &carrel.DiscardRequest{IDs: []string{string(list.Messages[3].ID)}, Trigger: &pager.Trigger{Floor: 1}}); err != nil {
		t.Fatal(err)
	}
	p := packetOf(t, b.Engine, id)
	want := []handoff.Context{
		{Context: "There are 2 more sources, older than those listed here: carrel messages and carrel search have them", Why: "this packet lists the newest"},
		{Context: "2 blocks are stubs in the window; carrel recall ID has each of them whole", Why: "what a stub does not say is not lost"},
		{Context: "Block " + list.Messages[3].ID.Short() + ": Read: /srv/lamp/f02.go", Why: "It is out of the window; recall it before relying on it."},
	}
	if diff := cmp.Diff(want, p.Context); diff != "" {
		t.Errorf("context (-want +got):\n%s", diff)
	}
	if n := len(p.Sources); n != 60 || p.Sources[0].Source != "f02.go" || p.Sources[n-1].Source != "f61.go" {
		t.Errorf("%d sources, from %s to %s", n, p.Sources[0].Source, p.Sources[n-1].Source)
	}
}

// A brief says in sections what must survive, each thing once, the newest first, and
// where it is.
func TestBriefSaysWhatIsOnRecord(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{})
	id := b.imports(t, project())
	at := func(words string) string { return " [" + blockOf(t, b.Engine, id, words) + "]" }
	if _, err := b.Pin(t.Context(), scope, &carrel.PinRequest{Blocks: []string{blockOf(t, b.Engine, id, "It waits for"), blockOf(t, b.Engine, id, "make lamp")}}); err != nil {
		t.Fatal(err)
	}
	amend(t, b.Engine, &carrel.AmendContractRequest{
		Session: id, Init: true, Decisions: []string{"one pool for all", "two locks"}, Questions: []string{"who reviews it"},
		Corrections: []carrel.ContractCorrection{{Text: "keep-it-short"}, {Text: "Never rebase; merge."}},
		Sources:     []contract.PayloadSource{{Name: "readme", Text: "It needs Go 1.26."}},
		Verified:    []carrel.ContractClaim{{Text: "needs Go 1.26", Source: "readme"}},
	})
	res, err := b.Brief(t.Context(), scope, &carrel.BriefRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(res.Text, "\n")
	got = regexp.MustCompile(`(?m)^(- No, don't touch the API\. It is|- The pool is fixed now\. Shall I take two locks, one for).*(\[[0-9a-f]+\])$`).ReplaceAllString(got, "$1 … $2")
	want := strings.Join([]string{
		"Wanted:",
		"- Compare the two pools, then explain them." + at("Compare the two"),
		"- Fix the pool in pool.go." + at("Fix the pool in"),
		"- No, don't touch the API. It is …" + at("No, don't touch"),
		"Corrected or ordered by the user:",
		"- No, don't touch the API." + at("No, don't touch"),
		"- No, don't rename anything." + at("No, don't rename"),
		"- keep-it-short: Say it in as few words as it needs, and stop.",
		"- Never rebase; merge.",
		"Pinned:",
		`- Bash {"command":"make lamp"} built lamp 1.4.2` + at("make lamp"),
		"- It waits for jobs that were rejected." + at("It waits for"),
		"State:",
		"- git: branch main, last commit 1a2b3c4 pool, not pushed",
		"- changed, not committed: lock.go",
		"Decided:",
		"- two locks",
		"- one pool for all",
		"- yes" + at("yes"),
		"- We're going with port 8443. (This avoids a clash.)" + at("I decided"),
		"- I decided to use a mutex because channels block here." + at("I decided"),
		"Open:",
		"- error: check.sh: line 3: lampctl: not found (make check)" + at("make check"),
		"- question: who reviews it",
		"- question: I can't push until the token is renewed.",
		"- to do: Write the test",
		"- to do: Ship it",
		"Said by the agent:",
		"- Understood. The pool was the cause. Which port is free?" + at("Understood."),
		"- The pool is fixed now. Shall I take two locks, one for …" + at("The pool is fixed"),
		"- I decided to use a mutex because channels block here. We're going with port 8443. This avoids a clash. See https://example.com/ports too." + at("I decided"),
		"Files:",
		"- lock.go: modified, two() → one()" + at("lock.go"),
		"- /tmp/notes: created, nothing" + at("/tmp/notes"),
		"- pool.go: modified, take() → poll()" + strings.Replace(nth(t, b.Engine, id, "Edit: /srv/lamp/pool.go", 1), "block ", " [", 1) + "]",
		"Commands:",
		"- git commit -m pool: ok, [main 1a2b3c4] pool" + at("git commit"),
		"- make check: failed, check.sh: line 3: lampctl: not found" + at("make check"),
		"- make dist: ok" + at("make dist"),
		"- make lamp: ok, built lamp 1.4.2" + at("make lamp"),
		"Verified:",
		"- needs Go 1.26",
		"Names and figures:",
		"- https://example.com/ports: See https://example.com/ports too." + at("I decided"),
		"- 8443: We're going with port 8443." + at("I decided"),
		"",
	}, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("brief (-want +got):\n%s", diff)
	}
}

// A file is delivered by a commit that came behind its last change and succeeded, and by
// nothing else.
func TestPacketKnowsWhatIsCommitted(t *testing.T) {
	edit := `{"file_path":"/srv/lamp/pool.go","old_string":"wait()","new_string":"take()"}`
	for _, tt := range []struct {
		name string
		do   func(d *diary)
		want handoff.Status
	}{
		{"no commit", func(d *diary) { d.runs("make all", "built", false) }, handoff.Draft},
		{"a commit that failed", func(d *diary) { d.runs("git commit -m x", "nothing to commit", true) }, handoff.Draft},
		{"a commit", func(d *diary) { d.runs("git commit -m x", "[main 1a2b3c4] x", false) }, handoff.Delivered},
		{"a commit, and a change", func(d *diary) {
			d.runs("git commit -m x", "[main 1a2b3c4] x", false)
			d.calls("Edit", edit, "updated", false)
		}, handoff.Draft},
	} {
		b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
		d := &diary{}
		d.asks("Fix the pool in pool.go.")
		d.calls("Edit", edit, "updated", false)
		tt.do(d)
		d.says("It is done.")
		if p := packetOf(t, b.Engine, b.imports(t, d)); len(p.Artifacts) != 1 || p.Artifacts[0].Status != tt.want {
			t.Errorf("%s: %+v, want it %s", tt.name, p.Artifacts, tt.want)
		}
	}
}

// An error of an earlier window is open until the command succeeds or the file is changed;
// that the command fails again in another way resolves nothing.
func TestBriefKnowsWhatIsSettled(t *testing.T) {
	const first, second = "check.sh: line 3: lampctl: not found", "check.sh: line 9: beamctl: not found"
	for _, tt := range []struct {
		name string
		do   func(d *diary)
		want []string // the errors that are open
	}{
		{"nothing more", func(d *diary) { d.says("I look.") }, []string{first}},
		{"it succeeds", func(d *diary) { d.runs("make check", "ok", false) }, nil},
		{"it fails in another way", func(d *diary) { d.runs("make check", second, true) }, []string{second, first}},
		{"another command succeeds", func(d *diary) { d.runs("make all", "ok", false) }, []string{first}},
	} {
		b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
		d := &diary{}
		d.asks("Fix the check.")
		d.runs("make check", first, true)
		d.compacts("The user wants the check fixed.")
		d.asks("Go on.")
		tt.do(d)
		res, err := b.Brief(t.Context(), scope, &carrel.BriefRequest{Session: b.imports(t, d)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range regexp.MustCompile(`(?m)^- error: (.*?) \(`).FindAllStringSubmatch(res.Text, -1) {
			got = append(got, m[1])
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: open (-want +got):\n%s\n%s", tt.name, diff, res.Text)
		}
	}
}

// What is wanted comes the newest first, then what was wanted first of all; and what is done
// by Carrel's own tools is none of the work.
func TestBriefOrdersWhatIsWanted(t *testing.T) {
	b := newBench(t, stores.New(t), carrel.Options{Counter: quarter{}})
	d := &diary{}
	for _, text := range []string{"Fix the pool.", "Mend the lamp.", "Explain the beam."} {
		d.asks(text)
		d.says("I look.")
	}
	d.calls("mcp__plugin_carrel_carrel__bash", `{"command":"make own"}`, "own", false)
	d.calls("mcp__other__bash", `{"command":"make other"}`, "other", false)
	d.calls("carrel_bash", `{"command":"make plain"}`, "plain", false)
	res, err := b.Brief(t.Context(), scope, &carrel.BriefRequest{Session: b.imports(t, d)})
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, want := range []string{"- Explain the beam.", "- Fix the pool.", "- Mend the lamp.", "- make other: ok"} {
		i := strings.Index(res.Text, want)
		if i <= at {
			t.Errorf("%q is at %d, behind %d:\n%s", want, i, at, res.Text)
		}
		at = i
	}
	if strings.Contains(res.Text, "make own") {
		t.Errorf("the brief tells of Carrel's own tools:\n%s", res.Text)
	}
}
