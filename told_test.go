package carrel_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/llm"
	"github.com/carrel-dev/carrel/llm/llmtest"
	"github.com/carrel-dev/carrel/llm/remote"
	"github.com/carrel-dev/carrel/ratio"
)

// told compresses a conversation to a share of it, by an account, with a model or without.
func told(t *testing.T, model llm.Generator, data []byte, percent int) (*carrel.Engine, *carrel.CompressResult, []byte) {
	t.Helper()
	e, _ := summarizing(t, carrel.Options{Generator: model, Strategy: carrel.StrategyAccount})
	in := load(t, e, data)
	res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(percent, 100)}, KeepLast: -1})
	if err != nil {
		t.Fatal(err)
	}
	return e, res, export(t, e, in.Session)
}

// What a model of a provider writes, and what passes the checks, stands in an account in
// place of the agent's sentences. The words of the user, changes and outcomes stay.
func TestModelTellsInAnAccount(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/summaries/01-go-pool-leak.txtar")
	if err != nil {
		t.Fatal(err)
	}
	written := string(file(t, archive, "good/state.json"))
	up := upstream.New(&upstream.Options{Otherwise: func(*upstream.Request) upstream.Reply { return upstream.Say(upstream.Text(written)) }})
	base, stop, err := up.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	g, err := remote.NewAnthropic(base, "claude-opus-4-5", &remote.GeneratorOptions{Options: remote.Options{Key: llm.NewSecret("made-up")}, Window: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	data := leak(t)
	_, _, without := told(t, nil, data, 60)
	e, res, with := told(t, g, data, 60)
	if len(up.Requests()) != 1 || res.Strategy != carrel.StrategyAccount || res.Summary == nil || res.Summary.Model == "" || len(res.Attempts) != 1 || res.Attempts[0].Judged == nil {
		t.Fatalf("%d requests; %+v, attempts %+v", len(up.Requests()), res.Summary, res.Attempts)
	}
	sum, err := e.Summary(t.Context(), scope, &carrel.SessionRequest{Session: res.Session})
	if err != nil || !strings.Contains(sum.Text, "Committed as 4f2a9c1") || !bytes.Contains(with, []byte("Committed as 4f2a9c1")) {
		t.Errorf("the window does not have what the model wrote: %+v, %v", sum, err)
	}
	for text, want := range map[string]bool{
		"The accessor does not exist yet.": false, "No, don't change the signature of Acquire.": true, "p.stats.InUse undefined": true, "inUse   atomic.Int64": true,
	} {
		if !bytes.Contains(without, []byte(text)) {
			t.Fatalf("%q is not in an account without a model:\n%s", text, without)
		}
		if got := bytes.Contains(with, []byte(text)); got != want {
			t.Errorf("%q is in the window: %v, want %v:\n%s", text, got, want, with)
		}
	}
}

// A model is told its room and shown the whole conversation. An entry that it invented goes, with a
// warning; its notes need to answer only half of the probes, and the agent's last reply stays.
func TestModelsTextBesideAnAccount(t *testing.T) {
	const notes = `{"session_intent": "Fix the leak of upstream connections in internal/pool. Never change the signature of Acquire.",
"files_modified": {"internal/pool/pool.go": ["Acquire releases its slot in a deferred function if dial fails"], "internal/pool/stats.go": ["counters are atomic.Int64"]},
"decisions_made": [{"decision": "Use a deferred release instead of a finalizer", "rationale": "finalizers run late"}, %s {"decision": "Listen on 8443 by default", "rationale": "not stated"}],
"current_state": "Committed as 4f2a9c1; go test -race ./... passes with 23 tests.", "blockers": ["Tag v1.8.3 before or after the gateway freeze? Ilona has to be asked"],
"next_steps": ["Run the soak test for 2 hours"], "technical_context": ["MaxConns 42"], "errors_encountered": ["p.stats.InUse undefined"]}`
	made := func(names ...string) (list string) {
		for _, name := range names {
			list += `{"decision": "` + name + ` in src/nowhere.go", "rationale": "it is faster"},`
		}
		return list
	}
	for _, tt := range []struct {
		name, invented string
		accepted       bool
		warning        string
	}{
		{"as it is", "", true, ""},
		{"an invented entry", made("Redis"), true, `texts of the model's draft that broke a rule were left out; problems: 1, the first: decisions_made: Redis in src/nowhere.go: the source has no "src/nowhere.go"`},
		{"many invented entries", made("Redis", "Valkey", "Kafka", "Nomad", "Consul"), false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			model := &llmtest.Script{Steps: []llmtest.Step{llmtest.Say(fmt.Sprintf(notes, tt.invented))}, Repeat: true, Tokens: 64_000}
			e, _ := summarizing(t, carrel.Options{Generator: model, Strategy: carrel.StrategyAccount})
			in := load(t, e, leak(t))
			res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(40, 100)}})
			if err != nil {
				t.Fatal(err)
			}
			first := res.Attempts[0]
			if first.Accepted != tt.accepted || tt.accepted && (first.Judged == nil || first.Judged.Passed == first.Judged.Probes) || strings.Join(res.Warnings, "") != tt.warning {
				t.Errorf("attempt %+v, judged %+v, warnings %q, want accepted %v and %q", first, first.Judged, res.Warnings, tt.accepted, tt.warning)
			}
			p := model.Prompts()[0]
			if !strings.Contains(p.System, " words in all") || !strings.Contains(p.Text, "Run the soak test for 2 hours against staging.") {
				t.Errorf("the prompt has no room, or not the last reply:\n%s", p.Text)
			}
			if window := export(t, e, in.Session); !bytes.Contains(window, []byte("Run the soak test for 2 hours against staging.")) || bytes.Contains(window, []byte("nowhere")) {
				t.Errorf("the window lacks the last reply, or has what was invented:\n%s", window)
			}
		})
	}
}

// A model that fails, or whose text does not pass the checks, changes no byte of an account.
func TestAccountIsTheSameWithoutItsModel(t *testing.T) {
	data := leak(t)
	_, _, want := told(t, nil, data, 30)
	for name, step := range map[string]llmtest.Step{
		"unavailable": llmtest.Fail(fmt.Errorf("status 529: %w", llm.ErrUnavailable)),
		"invented":    llmtest.Say(madeUp),
		"no summary":  llmtest.Say("All is well."),
	} {
		t.Run(name, func(t *testing.T) {
			_, res, got := told(t, &llmtest.Script{Steps: []llmtest.Step{step}, Repeat: true, Tokens: 16_000}, data, 30)
			if !bytes.Equal(got, want) || res.Summary != nil {
				t.Errorf("the window is another one:\n%s", got)
			}
			if len(res.Attempts) != 2 || res.Attempts[0].Accepted || len(res.Attempts[0].Reasons) == 0 || res.Attempts[1].Model != "" {
				t.Errorf("attempts %+v, want the model's to be refused, with a reason", res.Attempts)
			}
		})
	}
}

// Anchored writes an account with the id of the summary, whose sections one recall brings.
// Where that does not answer the probes, the sections are in the window, as far as they fit.
func TestAnchoredIsAnAccount(t *testing.T) {
	told, sections := 0, 0
	archive, err := txtar.ParseFile("testdata/summaries/06-rust-segment-cache.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []int{80, 70, 60, 50, 45, 40, 30} {
		e, _ := summarizing(t, carrel.Options{})
		in := load(t, e, file(t, archive, "conversation.json"))
		res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(share, 100)}})
		if errors.Is(err, carrel.ErrProbes) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !res.Attempts[0].Account || res.Attempts[0].Detail != 0 {
			t.Fatalf("%d %%: it first tried %+v", share, res.Attempts[0])
		}
		last := res.Attempts[len(res.Attempts)-1]
		if res.Probes == nil || last.Strategy != carrel.StrategyAnchored {
			continue
		}
		sum, err := e.Summary(t.Context(), scope, &carrel.SessionRequest{Session: in.Session})
		if err != nil {
			t.Fatal(err)
		}
		whole, err := e.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(sum.ID)})
		if err != nil || !bytes.Contains(whole.Data, []byte("## Decisions Made")) {
			t.Errorf("%d %%: the summary is recalled as %.100q, %v", share, whole.Data, err)
		}
		window := export(t, e, in.Session)
		if !bytes.Contains(window, []byte(sum.ID)) || bytes.Contains(window, []byte("## Session Intent")) == last.Account || bytes.Contains(window, []byte("computed by Carrel")) != last.Account {
			t.Errorf("%d %%, account %v:\n%s", share, last.Account, window)
		}
		if last.Account {
			told++
		} else {
			sections++
		}
	}
	if told == 0 || sections == 0 {
		t.Errorf("%d accounts, %d windows with sections, want some of both", told, sections)
	}
}

// A window in which there is no room for the state says how to recall what was cut, and no
// more.
func TestTheSmallestAccountHasNoState(t *testing.T) {
	for _, tt := range []struct {
		req   carrel.CompressRequest
		state bool
	}{
		{carrel.CompressRequest{Smallest: true}, false},
		{carrel.CompressRequest{Target: carrel.Target{Share: ratio.Of(1, 2)}}, true},
	} {
		e := newEngine(t, stores.New(t))
		in := load(t, e, leak(t))
		tt.req.Session, tt.req.Strategy = in.Session, carrel.StrategyAccount
		if _, err := e.Compress(t.Context(), scope, &tt.req); err != nil {
			t.Fatal(err)
		}
		window := export(t, e, in.Session)
		if bytes.Contains(window, []byte("computed by Carrel")) != tt.state || !bytes.Contains(window, []byte("recall with an id in brackets")) {
			t.Errorf("smallest %v:\n%s", tt.req.Smallest, window)
		}
	}
}
