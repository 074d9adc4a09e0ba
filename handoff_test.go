package carrel_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/handoff"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/transcript"
)

// packetOf makes the packet of a session, of which the rules have nothing to say.
func packetOf(t testing.TB, e *carrel.Engine, id transcript.SessionID) *handoff.Packet {
	t.Helper()
	res, err := e.Handoff(t.Context(), scope, &carrel.HandoffRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Findings) > 0 {
		t.Errorf("findings: %v", res.Findings)
	}
	return res.Packet
}

// accept begins a session with a packet.
func accept(t testing.TB, e *carrel.Engine, packet string) *carrel.AcceptResult {
	t.Helper()
	res, err := e.Accept(t.Context(), scope, &carrel.AcceptRequest{Name: "packet.md", Data: []byte(packet)})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// worked returns an engine with a session that has all that a packet tells of.
func worked(t *testing.T) (*carrel.Engine, transcript.SessionID) {
	t.Helper()
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	amend(t, e, &carrel.AmendContractRequest{
		Session: in.Session, Init: true, Decisions: []string{"pin-go-1.26", `call it "pool"`}, Questions: []string{`Who reviews "it"?`},
		Corrections: []carrel.ContractCorrection{{Text: "keep-it-short"}, {Text: "Never rebase; merge."}},
		Sources:     []contract.PayloadSource{{Name: "readme", Text: "It needs Go 1.26."}},
		Claims:      []contract.PayloadSource{{Name: "speed", Text: "It is twice as fast."}},
		Verified:    []carrel.ContractClaim{{Text: "needs Go 1.26", Source: "readme"}, {Text: "The port is 8443."}},
		ResumeState: "the review",
	})
	if _, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 25)}}); err != nil {
		t.Fatal(err)
	}
	return e, in.Session
}

// header are the fields that say who hands what to whom.
var header = cmpopts.IgnoreFields(handoff.Packet{}, "Filename", "CreatedFor", "CreatedBy", "Date", "Session")

// A session that is handed over, accepted elsewhere and handed over again, however
// often, says the same.
func TestHandoffLosesNothing(t *testing.T) {
	e, id := worked(t)
	first := packetOf(t, e, id)
	packet, title := first, ""
	for round := range 3 {
		text := packet.Markdown()
		if round == 1 {
			raw, err := packet.JSON()
			if err != nil {
				t.Fatal(err)
			}
			text = string(raw)
		}
		there := newEngine(t, stores.New(t))
		res := accept(t, there, text)
		packet = packetOf(t, there, res.Session)
		if diff := cmp.Diff(first, packet, header); diff != "" {
			t.Errorf("round %d (-first +now):\n%s", round, diff)
		}
		agreed(t, there, res.Session)
		list, err := there.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: res.Session})
		if err != nil {
			t.Fatal(err)
		}
		if title == "" {
			title = list.Title
		}
		if list.Title != title || !strings.Contains(title, string(id)) {
			t.Errorf("round %d has title %q, the first %q", round, list.Title, title)
		}
	}
}

// What the contract of an accepted session has is what the packet says.
func TestAcceptInherits(t *testing.T) {
	e, id := worked(t)
	there := newEngine(t, stores.New(t))
	s := agreed(t, there, accept(t, there, packetOf(t, e, id).Markdown()).Session)
	for l, want := range map[contract.List][]string{
		contract.InheritedDecisions:  {"pin-go-1.26", "call it 'pool'"},
		contract.UnresolvedQuestions: {"Who reviews 'it'?"},
		contract.ActiveCorrections:   {"No, don't touch the public API.", "keep-it-short", "Never rebase; merge."},
	} {
		if got := s.Texts(l); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", l, got, want)
		}
	}
	claims := strings.Join(s.Texts(contract.VerifiedClaims), "\n")
	if !strings.Contains(claims, "needs Go 1.26") || !strings.Contains(claims, "The port is 8443.") {
		t.Errorf("claims are %q", claims)
	}
}

// What was said after a packet was accepted is in the next packet, beside what that
// had, and answers come first.
func TestHandoffGoesOn(t *testing.T) {
	e, id := worked(t)
	first := packetOf(t, e, id)
	there := newEngine(t, stores.New(t))
	res := accept(t, there, first.Markdown())
	more, err := json.Marshal([]message{
		{Role: "assistant", Calls: []call{newCall("1", "Edit", `{"file_path":"pool/lock.go","old_string":"a","new_string":"b"}`)}},
		{Role: "tool", CallID: "1", Content: "updated"},
		{Role: "user", Content: "No, don't lock in the loop."},
		{Role: "assistant", Content: "Understood."},
	})
	if err != nil {
		t.Fatal(err)
	}
	raw := bytes.Replace(export(t, there, res.Session), []byte("]}"), append([]byte(","), append(more[1:len(more):len(more)], '}')...), 1)
	in, err := there.Import(t.Context(), scope, &carrel.ImportRequest{Name: res.File, Data: raw})
	if err != nil || in.Session != res.Session {
		t.Fatalf("the longer conversation is session %q, not %q: %v", in.Session, res.Session, err)
	}
	next := packetOf(t, there, res.Session)
	if n := len(first.Corrections); len(next.Corrections) != n+1 || next.Corrections[n].Correction != "No, don't lock in the loop." {
		t.Errorf("corrections are %q", next.Corrections)
	}
	if n := len(first.Artifacts); len(next.Artifacts) != n+1 || next.Artifacts[n].Path != "pool/lock.go" {
		t.Errorf("artifacts are %v", next.Artifacts)
	}
	if next.Goal != first.Goal || !slices.Contains(next.Decisions, first.Decisions[0]) {
		t.Errorf("goal %q, decisions %q", next.Goal, next.Decisions)
	}
}

// However many there are, and whatever is left of the window, each correction is in
// the packet in the user's words.
func TestCorrectionsAreNeverOmitted(t *testing.T) {
	const n = 90
	msgs := []message{{Role: "user", Content: "Mend the pool."}}
	var want []string
	for i := range n {
		want = append(want, fmt.Sprintf("No, don't touch file %d.\nI mean it: | # <b> %d", i, i))
		msgs = append(msgs, message{Role: "user", Content: want[i]}, message{Role: "assistant", Content: strings.Repeat("Understood. ", 40)})
	}
	e := newEngine(t, stores.New(t))
	in := load(t, e, body(t, msgs))
	check := func() {
		t.Helper()
		packet := packetOf(t, e, in.Session)
		parsed, err := handoff.Parse("", []byte(packet.Markdown()))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range parsed.Corrections {
			got = append(got, c.Correction)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("corrections (-want +got):\n%s", diff)
		}
	}
	check()
	if _, err := half(t, e, in.Session); err != nil {
		t.Fatal(err)
	}
	check()
}

// A packet that says more than is on record, or less, is found out.
func TestCheckHandoffComparesWithTheRecord(t *testing.T) {
	e, id := worked(t)
	for _, tt := range []struct {
		name   string
		change func(p *handoff.Packet)
		want   handoff.HonestyRule // empty if nothing is wrong
	}{
		{"as it was made", func(*handoff.Packet) {}, ""},
		{"a correction is left out", func(p *handoff.Packet) { p.Corrections = p.Corrections[1:] }, handoff.RuleCorrections},
		{"a correction is softened", func(p *handoff.Packet) { p.Corrections[0].Correction = "Prefer not to touch the API." }, handoff.RuleCorrections},
		{"a decision that nobody took", func(p *handoff.Packet) {
			p.Decisions = append(p.Decisions, handoff.Decision{Text: "Drop the cache.", Basis: "the user said so"})
		}, handoff.RuleDecided},
		{"work that nobody did", func(p *handoff.Packet) { p.Done = append(p.Done, "Deployed it.") }, handoff.RuleDone},
		{"a source that nobody read", func(p *handoff.Packet) {
			p.Sources = append(p.Sources, handoff.Source{Source: "doc/api.md", Type: "file", State: handoff.Verified, What: "it says so"})
		}, handoff.RuleRead},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := packetOf(t, e, id)
			tt.change(p)
			res, err := e.CheckHandoff(t.Context(), scope, &carrel.CheckHandoffRequest{Data: []byte(p.Markdown()), Session: id})
			if err != nil {
				t.Fatal(err)
			}
			found := slices.ContainsFunc(res.Findings, func(f handoff.Finding) bool { return f.Error && f.Rule == tt.want })
			if found != (tt.want != "") || tt.want == "" && len(res.Findings) > 0 {
				t.Errorf("findings are %v, want an error of %q", res.Findings, tt.want)
			}
		})
	}
}

func TestAcceptTwiceAndDry(t *testing.T) {
	e, id := worked(t)
	text := packetOf(t, e, id).Markdown()
	there := newEngine(t, stores.New(t))
	dry, err := there.Accept(t.Context(), scope, &carrel.AcceptRequest{Name: "p.md", Data: []byte(text), DryRun: true})
	if err != nil || dry.Op != "" {
		t.Errorf("a dry run: %+v, %v", dry, err)
	}
	if all, err := carrel.Items(there.Sessions(t.Context(), scope, &carrel.SessionsRequest{})); err != nil || len(all) != 0 {
		t.Errorf("a dry run leaves %v, %v", all, err)
	}
	one := accept(t, there, text)
	if one.Session != dry.Session || one.Contract != dry.Contract {
		t.Errorf("accepted %s with %d statements, planned %s with %d", one.Session, one.Contract, dry.Session, dry.Contract)
	}
	before := snapshot(t, there, one.Session)
	two := accept(t, there, text)
	if two.Session != one.Session || before != snapshot(t, there, one.Session) {
		t.Error("accepting the packet again changed something")
	}
	_, err = there.Accept(t.Context(), scope, &carrel.AcceptRequest{Name: "p.md", Data: []byte("# Something else\n")})
	if bad, ok := errors.AsType[*transcript.SyntaxError](err); !ok || bad.Name != "p.md" {
		t.Errorf("what is no packet: %v, want a SyntaxError with the file", err)
	}
}

// The packet stays in a window that has room for it, and while the user wants earlier sessions
// consulted it is worth more.
func TestPacketsStayAndCountMore(t *testing.T) {
	for _, on := range []bool{false, true} {
		e, id := worked(t)
		if on {
			amend(t, e, &carrel.AmendContractRequest{Session: id, Corrections: []carrel.ContractCorrection{{Text: "consult-prior-context"}}})
		}
		there := newEngine(t, stores.New(t))
		res := accept(t, there, packetOf(t, e, id).Markdown())
		d := plan(t, there, res.Session).Decisions[0]
		if d.Signals.Prior != on || !d.Rule.Hard() || d.To != pager.Whole {
			t.Errorf("with the correction %t: %+v", on, d)
		}
	}
}

// What an agent's own compaction left carries facts of an earlier session, too.
func TestSummariesCarryFactsOfEarlierSessions(t *testing.T) {
	line := func(uuid, parent, role, text, more string) string {
		return fmt.Sprintf(`{"parentUuid":%s,"isSidechain":false,"type":%q,"uuid":%q,"sessionId":"5d1b0a52-6a44-4b6e-9f3f-0c1d2e3f4a5b","timestamp":"2026-01-02T03:04:05Z","message":{"role":%q,"content":%q}%s}`+"\n",
			parent, role, uuid, role, text, more)
	}
	data := line("a1", "null", "user", "This session is continued: the pool hangs in Drain.", `,"isCompactSummary":true`) +
		line("a2", `"a1"`, "user", "Mend the pool.", "") +
		line("a3", `"a2"`, "assistant", "It is mended.", "")
	for _, on := range []bool{false, true} {
		e := newEngine(t, stores.New(t))
		in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "s.jsonl", Data: []byte(data)})
		if err != nil {
			t.Fatal(err)
		}
		req := &carrel.AmendContractRequest{Session: in.Session, Init: true}
		if on {
			req.Corrections = []carrel.ContractCorrection{{Text: "consult-prior-context"}}
		}
		amend(t, e, req)
		var got []bool
		for _, d := range plan(t, e, in.Session).Decisions {
			got = append(got, d.Signals.Prior)
		}
		if want := []bool{on, false, false}; !slices.Equal(got, want) {
			t.Errorf("with the correction %t: %v, want %v", on, got, want)
		}
	}
}
