package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// across returns an error as it is on the other side of a connection.
func across(t *testing.T, err error) error {
	t.Helper()
	raw, bad := json.Marshal(api.NewProblem(err))
	if bad != nil {
		t.Fatal(bad)
	}
	return problemOf(raw)
}

func TestEveryKindOfErrorIsWhatItWas(t *testing.T) {
	for _, k := range api.Kinds() {
		was := fmt.Errorf("compress session s: %w: of a test", k.Is)
		got := across(t, was)
		if !errors.Is(got, k.Is) {
			t.Errorf("%v is not %v", got, k.Is)
		}
		want := was.Error()
		if slices.Contains([]string{"usage", "refused", "not-found", "format"}, k.Slug) {
			want = "compress session s: of a test" // the title of the problem says the rest
		}
		if got.Error() != want {
			t.Errorf("it says %q, want %q", got, want)
		}
		for _, other := range api.Kinds() {
			if !errors.Is(was, other.Is) && errors.Is(got, other.Is) {
				t.Errorf("%v is %v as well", got, other.Is)
			}
		}
	}
}

func TestFiguresOfErrorsGetAcross(t *testing.T) {
	held := []pager.Holding{{Block: "b1", Rule: pager.RulePin, Tokens: 70}, {Block: "b2", Rule: pager.RulePin, Tokens: 20}}
	for _, was := range []error{
		&pager.FloorError{Budget: 50, Need: 100, Fixed: 10, Held: held},
		fmt.Errorf("%w: %w", api.ErrPolicy, &pager.DiscardError{Refused: []pager.Refusal{{Block: "b1", Rule: pager.RulePin, Reason: "pinned"}}, Named: 1}),
		&api.InvalidError{Violations: []transcript.Violation{{Rule: "A1", Text: "first"}}},
		&api.ProbesError{
			Attempts: []api.Attempt{{Strategy: api.StrategyAnchored, Passed: 3, Probes: 4, Score: ratio.Of(3, 4), Reasons: []string{"one was lost"}}},
			Report: &probe.Report{
				Tally: probe.Tally{Total: 4, Passed: 3}, Score: ratio.Of(3, 4),
				Results: []probe.Result{{Probe: probe.Probe{ID: "p1", Question: "which file?"}}},
			},
		},
		fmt.Errorf("%w: %w", api.ErrPolicy, &contract.ConflictError{Decision: "a", Conflicts: []contract.Conflict{{Decision: "b", List: contract.TrackedDecisions, Stem: "s", Value: "v"}}}),
		fmt.Errorf("%w: %w", api.ErrPolicy, &contract.RunError{Failures: []contract.Failure{{Line: 3, Kind: contract.FailedPin, Text: "out"}}}),
		&api.ShorterError{Session: "s", Known: 9, Has: 4, KnownBytes: 900, Bytes: 400},
		store.ErrNotFound,
	} {
		got := across(t, fmt.Errorf("job: %w", was))
		// What an error says as a problem is all that there is to know of it.
		if diff := cmp.Diff(api.NewProblem(fmt.Errorf("job: %w", was)), api.NewProblem(got)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", was, diff)
		}
	}
	floor, ok := api.FloorOf(across(t, &pager.FloorError{Budget: 50, Need: 100, Fixed: 10, Held: held}))
	if !ok || floor.Need != 100 || len(floor.Held) != 2 {
		t.Errorf("floor is %+v", floor)
	}
}

func TestWhereInputIsWrongGetsAcross(t *testing.T) {
	for _, was := range []*transcript.SyntaxError{
		{Name: "a.json", Line: 3, Field: "messages.1.role", Text: "is missing"},
		{Name: "a.json", Text: "is empty"},
		{Line: 3, Text: "ends too early"},
		{Field: "messages", Text: "is missing"},
	} {
		got := across(t, fmt.Errorf("import: %w", was))
		e, ok := errors.AsType[*transcript.SyntaxError](got)
		if !ok || e.Name != was.Name || e.Line != was.Line || e.Field != was.Field {
			t.Errorf("%+v, want %+v", e, was)
		}
		if errors.Is(got, api.ErrFormat) {
			t.Error("a format was recognized")
		}
	}
	for _, p := range []*api.Problem{
		{Type: api.TypePrefix + api.Input.Slug, Status: api.Input.Status, Detail: "odd"},
		{Type: api.TypePrefix + api.Busy.Slug, Status: api.Busy.Status, Detail: "store is busy", File: "x.db", Line: 1, Field: "f"},
	} {
		if e, ok := errors.AsType[*transcript.SyntaxError](newError(p)); ok {
			t.Errorf("%+v is %+v, want no error of syntax: it names no place in the input", p, e)
		}
	}
}

// A problem is of a kind by its slug and its status together: a server that says
// another status means something else.
func TestTheStatusIsAPartOfTheKind(t *testing.T) {
	for _, k := range api.Kinds() {
		p := &api.Problem{Type: api.TypePrefix + k.Slug, Status: 599, Detail: k.Is.Error()}
		if err := newError(p); len(err.Unwrap()) > 0 {
			t.Errorf("%+v is %v", p, err.Unwrap())
		}
		p = &api.Problem{Type: api.TypePrefix + "another", Status: k.Status, Detail: k.Is.Error()}
		if err := newError(p); len(err.Unwrap()) > 0 {
			t.Errorf("%+v is %v", p, err.Unwrap())
		}
	}
}

// If reading a problem fails, the error tells the status, and not what the part that was read says.
func TestProblemsThatAreCutOff(t *testing.T) {
	body := io.MultiReader(strings.NewReader(`{"type":"carrel:problem/busy","status":503,"detail":"store is busy"}`), iotest.ErrReader(errors.New("reset")))
	if err := errorOf(&http.Response{StatusCode: http.StatusServiceUnavailable}, body); errors.Is(err, store.ErrBusy) || !strings.Contains(err.Error(), "the server answers with status 503") {
		t.Error(err)
	}
}

// Fields of requests are where the operation has them, under their names in JSON.
func TestFieldsOfRequests(t *testing.T) {
	type inner struct{ A int }
	type request struct {
		Data    []byte `json:"data"`
		ID      string
		Tags    []string  `json:"tags,omitempty"`
		None    []string  `json:"none,omitempty"`
		When    time.Time `json:"when"`
		Secret  string    `json:"-"`
		private int
	}
	req := &request{Data: []byte("x"), ID: "a b", Tags: []string{"1", "2"}, Secret: "s", private: 1}
	m, err := newMessage(&ops.Operation{Method: http.MethodPost, Path: "/x/{ID}", Raw: "data"}, req)
	if want := "/x/a%20b?tags=1&tags=2&when=0001-01-01T00%3A00%3A00Z"; err != nil || m.path != want || string(m.body) != "x" || m.kind != "application/octet-stream" {
		t.Errorf("%+v, %v, want the path %s", m, err, want)
	}
	m, err = newMessage(&ops.Operation{Method: http.MethodPost, Path: "/x"}, &struct {
		inner
		Own inner `json:"own"`
	}{inner{1}, inner{2}})
	if want := `{"A":1,"own":{"A":2}}`; err != nil || string(m.body) != want {
		t.Errorf("%+v, %v, want the body %s", m, err, want)
	}
}

// Whatever a server says, there is an error with a text, and nothing panics.
func FuzzProblem(f *testing.F) {
	f.Add([]byte(`{"type":"carrel:problem/busy","status":503,"detail":"store is busy"}`))
	f.Add([]byte(`{"type":"carrel:problem/probes","status":422,"attempts":[{}],"probes":[{}],"violations":[{}],"failures":[{}],"conflict":{}}`))
	f.Add([]byte(`{"floor":{"held":[{}]},"refused":[{}],"file":"x","conflict":{"conflicts_with":[{}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		err := problemOf(data)
		if err == nil {
			t.Fatal("no error")
		}
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return
		}
		for _, cause := range e.causes {
			if cause.Error() == "" && e.Problem.Detail != "" {
				t.Errorf("%T says nothing", cause)
			}
		}
		api.NewProblem(err)
	})
}
