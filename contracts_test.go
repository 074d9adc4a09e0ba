package carrel_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// amend adds to a contract.
func amend(t testing.TB, e *carrel.Engine, req *carrel.AmendContractRequest) *carrel.AmendContractResult {
	t.Helper()
	res, err := e.AmendContract(t.Context(), scope, req)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// agreed returns what the contract of a session leads to. It must hold.
func agreed(t testing.TB, e *carrel.Engine, id transcript.SessionID) *contract.Contract {
	t.Helper()
	r, err := e.CheckContract(t.Context(), scope, &carrel.SessionRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return r.State
}

// snapshot returns all that a refused job must leave as it was.
func snapshot(t testing.TB, e *carrel.Engine, id transcript.SessionID) string {
	t.Helper()
	info, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := e.Contract(t.Context(), scope, &carrel.SessionRequest{Session: id})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines.Statements, "\n") + "\n" + string(export(t, e, id)) + "\n" + info.Updated.String() + string(rune('0'+info.Revision))
}

// half compresses a session to half of what was imported.
func half(t testing.TB, e *carrel.Engine, id transcript.SessionID) (*carrel.CompressResult, error) {
	t.Helper()
	return e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Share: ratio.Of(1, 2)}})
}

func TestContractComesBeforeTheConversation(t *testing.T) {
	e := newEngine(t, stores.New(t))
	data := conversation(t)
	planned, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "pool.json", Data: data, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	begun := amend(t, e, &carrel.AmendContractRequest{
		Session: planned.Session, Init: true, Payload: &contract.Payload{Decisions: []string{"pin-go-1.26"}, ResumeState: "not begun"},
	})
	if begun.Session != planned.Session || begun.Op == "" || begun.Total != len(begun.Added) {
		t.Errorf("the contract began as %+v", begun)
	}
	if _, err := half(t, e, begun.Session); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("compressing no conversation: %v, want ErrRequest", err)
	}
	if in := load(t, e, data); in.Session != begun.Session || !bytes.Equal(export(t, e, in.Session), data) {
		t.Error("the conversation is not what was imported")
	}
	res, err := half(t, e, begun.Session)
	if err != nil {
		t.Fatal(err)
	}
	s := agreed(t, e, begun.Session)
	if got := s.Texts(contract.TrackedDecisions); !slices.Equal(got, []string{"pin-go-1.26"}) || s.ResumeState() != "not begun" {
		t.Errorf("decisions are %q, to be resumed %q", got, s.ResumeState())
	}
	if n := s.Count(contract.Retained) + s.Count(contract.Paged) + s.Count(contract.Evicted); n != len(res.Decisions) {
		t.Errorf("the contract has %d blocks, the conversation %d", n, len(res.Decisions))
	}
}

func TestNewSessionsHaveIDsOfTheirOwn(t *testing.T) {
	e := newEngine(t, stores.New(t))
	one, two := amend(t, e, &carrel.AmendContractRequest{Init: true}), amend(t, e, &carrel.AmendContractRequest{Init: true})
	if one.Session == "" || one.Session == two.Session {
		t.Errorf("sessions are %q and %q", one.Session, two.Session)
	}
	if _, err := e.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{Decisions: []string{"x"}}); !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("adding to no session: %v, want ErrRequest", err)
	}
	if _, err := e.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{Session: "absent", Decisions: []string{"x"}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("adding to a session that is not there: %v, want ErrNotFound", err)
	}
	_, err := e.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{Session: one.Session, Init: true})
	if !errors.Is(err, carrel.ErrPolicy) || !errors.Is(err, contract.ErrInitialized) {
		t.Errorf("beginning twice: %v, want ErrPolicy and ErrInitialized", err)
	}
}

// A rule of the user's holds for every job that changes the window.
func TestUserGuardsBindPasses(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	share := ratio.Of(1, 25)
	free, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: share}, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	moved := slices.IndexFunc(free.Decisions, func(d pager.BlockDecision) bool { return d.To == pager.Gone })
	if moved < 0 {
		t.Fatalf("nothing leaves the window: %+v", free.Decisions)
	}
	id := string(free.Decisions[moved].Block)
	amend(t, e, &carrel.AmendContractRequest{Session: in.Session, Init: true, Rules: []string{
		`require evicted-blocks not includes "block-` + id + `"`,
	}})
	before := snapshot(t, e, in.Session)
	_, err = e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: share}})
	failed, ok := errors.AsType[*contract.RunError](err)
	if !errors.Is(err, carrel.ErrPolicy) || !ok || failed.Failures[0].Kind != contract.FailedGuard || !strings.Contains(failed.Failures[0].Text, id) {
		t.Errorf("the pass: %v, want ErrPolicy with the guard of block %s", err, id)
	}
	if _, err := e.Discard(t.Context(), scope, &carrel.DiscardRequest{Session: in.Session, IDs: []string{id}, Trigger: low}); !errors.Is(err, carrel.ErrPolicy) {
		t.Errorf("the discard: %v, want ErrPolicy", err)
	}
	if diff := cmp.Diff(before, snapshot(t, e, in.Session)); diff != "" {
		t.Errorf("what was refused changed something (-before +after):\n%s", diff)
	}
	if _, err := half(t, e, in.Session); err != nil {
		t.Errorf("a pass that the guard allows: %v", err)
	}
}

// A rule may name the lists of the contract before anything else is in it.
func TestRulesBeginAContract(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	amend(t, e, &carrel.AmendContractRequest{Session: in.Session, Rules: []string{`require evicted-blocks not includes "block-0"`}})
	if _, err := half(t, e, in.Session); err != nil {
		t.Errorf("a pass that the rule allows: %v", err)
	}
}

// A statement that would change what Carrel writes, and one that does not hold
// now, are never added; nor is anything else of the same request.
func TestStatementsMustHold(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		want       error
	}{
		{"a requirement that is not met", `require tracked-decisions includes "never"`, carrel.ErrPolicy},
		{"a block that is added by hand", `add "block-00" to retained-blocks`, nil},
		{"a list that is emptied", "remember a list called evicted-blocks", carrel.ErrRequest},
		{"a marker that is moved", `remember a string called last-pager-pass with "yesterday"`, carrel.ErrRequest},
		{"a line that is two", "show tracked-decisions\nremember a list called paged-blocks", carrel.ErrRequest},
		{"words of no language", "frobnicate the window", carrel.ErrPolicy},
	} {
		for _, as := range []string{"statement", "rule"} {
			t.Run(tt.name+" as a "+as, func(t *testing.T) {
				e := newEngine(t, stores.New(t))
				in := load(t, e, conversation(t))
				amend(t, e, &carrel.AmendContractRequest{Session: in.Session, Init: true})
				if _, err := half(t, e, in.Session); err != nil {
					t.Fatal(err)
				}
				before := snapshot(t, e, in.Session)
				req := &carrel.AmendContractRequest{Session: in.Session, Decisions: []string{"use-sqlite"}}
				if as == "rule" {
					req.Rules = []string{tt.line}
				} else {
					req.Statements = []string{tt.line}
				}
				_, err := e.AmendContract(t.Context(), scope, req)
				if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("%q: %v, want %v", tt.line, err, tt.want)
				}
				if diff := cmp.Diff(before, snapshot(t, e, in.Session)); diff != "" {
					t.Errorf("something was added (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// A contract that somebody wrote into is found, and no pass covers that up.
func TestDoctoredContracts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		doctor func(s *contract.Contract) []string
		replay bool // it cannot even be replayed
	}{
		{"a pinned block is evicted", func(s *contract.Contract) []string {
			id := s.Texts(contract.PinnedBlocks)[0]
			return []string{`remove "` + id + `" from retained-blocks`, `add "` + id + `" to evicted-blocks`}
		}, false},
		{"a block is in two lists", func(s *contract.Contract) []string {
			return []string{`add "` + s.Blocks(contract.Retained)[0] + `" to evicted-blocks`}
		}, true},
		{"a list is declared anew", func(*contract.Contract) []string {
			return []string{"remember a list called evicted-blocks"}
		}, true},
		{"a rule fails", func(*contract.Contract) []string {
			return []string{`require tracked-decisions includes "never"`}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := stores.New(t)
			e := newEngine(t, s)
			in := load(t, e, conversation(t))
			if _, err := half(t, e, in.Session); err != nil {
				t.Fatal(err)
			}
			inject(t, s, in.Session, tt.doctor(agreed(t, e, in.Session)))
			before, err := s.Head(t.Context(), scope, in.Session)
			if err != nil {
				t.Fatal(err)
			}
			want := carrel.ErrPolicy
			if tt.replay {
				want = store.ErrCorrupt
			}
			_, err = e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(1, 5)}})
			if !errors.Is(err, want) {
				t.Errorf("the pass: %v, want %v", err, want)
			}
			after, err := s.Head(t.Context(), scope, in.Session)
			if err != nil || after.Revision != before.Revision {
				t.Errorf("revision %d after %d, %v", after.Revision, before.Revision, err)
			}
			report, err := e.CheckContract(t.Context(), scope, &carrel.SessionRequest{Session: in.Session})
			if _, broken := errors.AsType[*contract.SyntaxError](err); broken != tt.replay || !broken && report.Err() == nil {
				t.Errorf("the check: %+v, %v", report, err)
			}
		})
	}
}

// inject adds statements to a contract behind the engine's back.
func inject(t testing.TB, s store.Store, id transcript.SessionID, lines []string) {
	t.Helper()
	head, err := s.Head(t.Context(), scope, id)
	if err != nil {
		t.Fatal(err)
	}
	c := &store.Change{Head: *head, Statements: lines, Entry: store.Entry{
		ID: "op_doctored", Op: "contract", Actor: "user", Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Data: []byte("{}"),
	}}
	if _, err := s.Apply(t.Context(), scope, id, head.Revision, c); err != nil {
		t.Fatal(err)
	}
}

func TestClosedContractRefusesPasses(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	if res := amend(t, e, &carrel.AmendContractRequest{Session: in.Session, Init: true, Close: true}); !res.Closed {
		t.Errorf("the contract is %+v, want it closed", res)
	}
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, e, in.Session)
	for name, job := range map[string]func() error{
		"compress": func() error { _, err := half(t, e, in.Session); return err },
		"discard": func() error {
			_, err := e.Discard(t.Context(), scope, &carrel.DiscardRequest{Session: in.Session, IDs: []string{string(list.Messages[3].ID)}, Trigger: low})
			return err
		},
		"add": func() error {
			_, err := e.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{Session: in.Session, Questions: []string{"Why?"}})
			return err
		},
	} {
		if err := job(); !errors.Is(err, carrel.ErrPolicy) || !errors.Is(err, contract.ErrClosed) {
			t.Errorf("%s: %v, want ErrPolicy and ErrClosed", name, err)
		}
	}
	if diff := cmp.Diff(before, snapshot(t, e, in.Session)); diff != "" {
		t.Errorf("a closed contract changed (-before +after):\n%s", diff)
	}
	next := amend(t, e, &carrel.AmendContractRequest{Init: true, Parent: in.Session})
	agreed(t, e, next.Session)
}

func TestConflictsOfDecisions(t *testing.T) {
	for _, tt := range []struct {
		resolution                   contract.Resolution
		tracked, inherited, deferred []string
		refused                      bool
	}{
		{contract.Refuse, nil, []string{"pin-version-0.9"}, nil, true},
		{contract.Override, []string{"pin-version-0.10"}, nil, nil, false},
		{contract.Defer, nil, []string{"pin-version-0.9"}, []string{"pin-version-0.10"}, false},
		{contract.Comply, nil, []string{"pin-version-0.9"}, nil, false},
	} {
		t.Run("resolution "+string(tt.resolution), func(t *testing.T) {
			e := newEngine(t, stores.New(t))
			parent := amend(t, e, &carrel.AmendContractRequest{Init: true, Decisions: []string{"pin-version-0.9"}})
			child := amend(t, e, &carrel.AmendContractRequest{Init: true, Parent: parent.Session})
			_, err := e.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{
				Session: child.Session, Decisions: []string{"pin-version-0.10"}, Resolution: tt.resolution,
			})
			conflict, ok := errors.AsType[*contract.ConflictError](err)
			if ok != tt.refused || ok && (!errors.Is(err, carrel.ErrPolicy) || conflict.Conflicts[0].Decision != "pin-version-0.9") {
				t.Errorf("the decision: %v", err)
			}
			s := agreed(t, e, child.Session)
			if got := s.Texts(contract.TrackedDecisions); !slices.Equal(got, tt.tracked) {
				t.Errorf("tracked are %q, want %q", got, tt.tracked)
			}
			if got := s.Texts(contract.InheritedDecisions); !slices.Equal(got, tt.inherited) {
				t.Errorf("inherited are %q, want %q", got, tt.inherited)
			}
			if got := strings.Join(s.Texts(contract.OpenQuestions), " "); tt.deferred != nil && !strings.Contains(got, tt.deferred[0]) {
				t.Errorf("open are %q, want %q among them", got, tt.deferred)
			}
		})
	}
}

func TestInheritance(t *testing.T) {
	e := newEngine(t, stores.New(t))
	parent := amend(t, e, &carrel.AmendContractRequest{
		Init: true, Decisions: []string{"use-sqlite"}, Questions: []string{"Which driver?", "Which port?"}, Answered: []string{"Which port?"},
		Corrections: []carrel.ContractCorrection{{Text: "Keep it short!"}},
		Sources:     []contract.PayloadSource{{Name: "readme", Text: "It needs Go 1.26."}},
		Verified:    []carrel.ContractClaim{{Text: "needs Go 1.26", Source: "readme"}},
	})
	child := amend(t, e, &carrel.AmendContractRequest{Init: true, Parent: parent.Session})
	s := agreed(t, e, child.Session)
	for l, want := range map[contract.List][]string{
		contract.InheritedDecisions:  {"use-sqlite"},
		contract.UnresolvedQuestions: {"Which driver?"},
		contract.ActiveCorrections:   {"keep-it-short"},
		contract.VerifiedClaims:      {"needs Go 1.26"},
	} {
		if got := s.Texts(l); !slices.Equal(got, want) {
			t.Errorf("%s has %q, want %q", l, got, want)
		}
	}
	if _, err := e.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{Init: true, Parent: "absent"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("inheriting from nothing: %v, want ErrNotFound", err)
	}
}

func TestCorrectionBlocksNeverLeave(t *testing.T) {
	e := newEngine(t, stores.New(t))
	in := load(t, e, conversation(t))
	const turn = 4 // a test run, which goes first otherwise
	list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
	if err != nil {
		t.Fatal(err)
	}
	id := list.Messages[turn].ID
	if list.Messages[turn].Rule != "" {
		t.Fatalf("block %d is under rule %q already", turn, list.Messages[turn].Rule)
	}
	amend(t, e, &carrel.AmendContractRequest{Session: in.Session, Init: true, Corrections: []carrel.ContractCorrection{
		{Text: "run-before-claiming", Blocks: []string{id.Short()}},
	}})
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(3, 10)}})
	if err != nil {
		t.Fatal(err)
	}
	if d := res.Decisions[turn]; d.Rule != pager.RuleCorrection || d.To != pager.Whole {
		t.Errorf("the block is %s under rule %q", d.To, d.Rule)
	}
	if !agreed(t, e, in.Session).Pinned("block-" + string(id)) {
		t.Error("the contract does not pin the block")
	}
	other := amend(t, e, &carrel.AmendContractRequest{Init: true})
	_, err = e.AmendContract(t.Context(), scope, &carrel.AmendContractRequest{Session: other.Session, Corrections: []carrel.ContractCorrection{
		{Text: "no-praise", Blocks: []string{id.Short()}},
	}})
	if !errors.Is(err, carrel.ErrRequest) {
		t.Errorf("a block of another session: %v, want ErrRequest", err)
	}
}

// Of equal blocks those that show a source are worth more, while the user wants
// claims checked against sources.
func TestSourcesFirst(t *testing.T) {
	for _, on := range []bool{false, true} {
		e := newEngine(t, stores.New(t))
		in := load(t, e, body(t, []message{
			{Role: "user", Content: "Find why the pool hangs."},
			{Role: "assistant", Calls: []call{newCall("1", "Read", `{"file_path":"pool.go"}`)}},
			{Role: "tool", CallID: "1", Content: "package pool"},
			{Role: "assistant", Calls: []call{newCall("2", "Bash", `{"command":"go test ./..."}`)}},
			{Role: "tool", CallID: "2", Content: "ok"},
			{Role: "user", Content: "And now?"},
			{Role: "assistant", Content: "It is locked."},
		}))
		req := &carrel.AmendContractRequest{Session: in.Session, Init: true}
		if on {
			req.Corrections = []carrel.ContractCorrection{{Text: "verify-against-source-not-memory"}}
		}
		amend(t, e, req)
		var got []bool
		for _, d := range plan(t, e, in.Session).Decisions {
			got = append(got, d.Signals.Source)
			if d.Signals.Prior {
				t.Errorf("turn %d has facts of an earlier session", d.Turn)
			}
		}
		if want := []bool{false, on, false, false, false}; !slices.Equal(got, want) {
			t.Errorf("with the correction %t: sources are %v, want %v", on, got, want)
		}
	}
}

// plan plans a pass.
func plan(t testing.TB, e *carrel.Engine, id transcript.SessionID) *carrel.CompressResult {
	t.Helper()
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: id, Target: carrel.Target{Tokens: 100_000}, DryRun: true})
	if err != nil {
		t.Fatal(err)
	}
	return res
}
