package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want Kind
	}{
		{store.ErrNotFound, NotFound},
		{&store.GoneError{}, Gone},
		{store.ErrConflict, Conflict},
		{fmt.Errorf("%w: %w", store.ErrCorrupt, store.ErrNotFound), Corrupt},
		{&governance.DeniedError{}, Denied},
		{ErrUnauthenticated, Unauthenticated},
		{&pager.FloorError{}, Budget},
		{&transcript.SyntaxError{}, Input},
		{context.Canceled, Canceled},
		{errors.New("x"), Unexpected},
	} {
		if got := KindOf(fmt.Errorf("job: %w", tt.err)); got != tt.want {
			t.Errorf("%v is of kind %+v, want %+v", tt.err, got, tt.want)
		}
	}
}

func TestFloorIsSummedByRule(t *testing.T) {
	p := NewProblem(&pager.FloorError{Budget: 10, Need: 60, Fixed: 5, Held: []pager.Holding{
		{Block: "a", Rule: pager.RuleEdit, Tokens: 30},
		{Block: "b", Rule: pager.RuleSystem, Tokens: 15},
		{Block: "c", Rule: pager.RuleEdit, Tokens: 10},
	}})
	want := []RuleSum{{pager.RuleEdit, 2, 40}, {pager.RuleSystem, 1, 15}}
	if diff := cmp.Diff(want, p.Floor.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// Every operation has a name, a route and a permission of its own, and every field in
// its path is a string of its request.
func TestTableIsSound(t *testing.T) {
	names, routes := make(map[string]bool), make(map[string]bool)
	for i, o := range Operations() {
		route := o.Method + " " + parameter.ReplaceAllString(o.Path, "{}")
		if names[o.Name] || routes[route] {
			t.Errorf("%s, %s: is there twice", o.Name, route)
		}
		names[o.Name], routes[route] = true, true
		if _, err := governance.ParsePermission(string(o.Permission)); err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
		if o.Summary == "" || strings.HasSuffix(o.Summary, ".") {
			t.Errorf("%s: the summary is %q", o.Name, o.Summary)
		}
		if (o.Method == http.MethodGet) && o.Writes() {
			t.Errorf("%s writes by GET", o.Name)
		}
		also := reflect.ValueOf(table[i]).Elem().FieldByName("Also")
		fields := jsonFields(also.Type().In(0).Elem())
		for _, m := range parameter.FindAllStringSubmatch(o.Path, -1) {
			if !slices.Contains(fields, m[1]) {
				t.Errorf("%s: the request has no string %q: %v", o.Name, m[1], fields)
			}
		}
	}
}

// jsonFields returns the names of the strings of a struct, as JSON has them.
func jsonFields(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Type.Kind() == reflect.String && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Who is refused is told what to do.
func TestProblemsNameTheNextStep(t *testing.T) {
	for _, err := range []error{ErrUnauthenticated, governance.ErrDenied, carrel.ErrRequest, carrel.ErrAmbiguous, carrel.ErrBudget, store.ErrConflict, store.ErrBusy} {
		if p := NewProblem(err); p.Hint == "" {
			t.Errorf("%v: nothing to try next", err)
		}
	}
}

// What a person decides, and what takes something away, is written, too.
func TestOperationsNeedWhatTheyDo(t *testing.T) {
	for _, o := range Operations() {
		needs := o.Needs()
		if !slices.Contains(needs, o.Permission) || o.Writes() != slices.Contains(needs, governance.Write) {
			t.Errorf("%s is for %s and needs %v", o.Name, o.Permission, needs)
		}
		if (o.Permission == governance.Erase || o.Permission == governance.Review) && len(needs) != 2 {
			t.Errorf("%s is for %s and needs only %v", o.Name, o.Permission, needs)
		}
	}
	if len(Whoami.Needs()) != 0 || Whoami.Writes() {
		t.Errorf("to be told who one is needs %v", Whoami.Needs())
	}
}

// Who asked for a compression that fails its probes is told what was tried, and by which
// probes the best of it failed; there may have been none.
func TestProbesProblem(t *testing.T) {
	attempts := []carrel.Attempt{{Strategy: "window", Passed: 1, Probes: 2}}
	failed := probe.Result{Probe: probe.Probe{ID: "p2"}, Place: probe.Lost}
	report := &probe.Report{Results: []probe.Result{{Probe: probe.Probe{ID: "p1"}, Place: probe.Window}, failed}}
	for _, tt := range []struct {
		name   string
		report *probe.Report
		want   []probe.Result
	}{
		{"with a report", report, []probe.Result{failed}},
		{"without one", nil, nil},
	} {
		p := NewProblem(fmt.Errorf("compress: %w", &carrel.ProbesError{Attempts: attempts, Report: tt.report}))
		if diff := cmp.Diff(tt.want, p.Probes); diff != "" {
			t.Errorf("%s: probes (-want +got):\n%s", tt.name, diff)
		}
		if diff := cmp.Diff(attempts, p.Attempts); diff != "" {
			t.Errorf("%s: attempts (-want +got):\n%s", tt.name, diff)
		}
	}
}

// The scope of a request is the one that it names, or the one that its token is for.
func TestScopeOf(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given []string
		grant []governance.ScopePattern
		want  governance.Scope
		says  string
	}{
		{"named", []string{"acme/web"}, nil, "acme/web", ""},
		{"named, of a token for one", []string{"acme/web"}, []governance.ScopePattern{"acme/api"}, "acme/web", ""},
		{"not named, of a token for one", nil, []governance.ScopePattern{"acme/api"}, "acme/api", ""},
		{"not named, of a token for one and for all below another", nil, []governance.ScopePattern{"rival/*", "acme/api"}, "acme/api", ""},
		{"not named, of a token for two", nil, []governance.ScopePattern{"acme/web", "acme/api"}, "", "is missing, and the token is not for one scope alone"},
		{"not named, of a token for all", nil, []governance.ScopePattern{"*"}, "", "is missing, and the token is not for one scope alone"},
		{"not named, of a token for all below one", nil, []governance.ScopePattern{"acme/*"}, "", "is missing, and the token is not for one scope alone"},
		{"not named, of a token for nothing", nil, nil, "", "is missing, and the token is not for one scope alone"},
		{"named twice", []string{"acme/web", "acme/web"}, []governance.ScopePattern{"acme/web"}, "", "comes twice"},
		{"named badly", []string{"acme/*"}, []governance.ScopePattern{"acme/web"}, "", "is no scope"},
		{"named with nothing", []string{""}, []governance.ScopePattern{"acme/web"}, "", "is no scope"},
	} {
		h := http.Header{}
		for _, s := range tt.given {
			h.Add(HeaderScope, s)
		}
		got, err := ScopeOf(h, &governance.Grant{Scopes: tt.grant})
		if got != tt.want || (err != nil) != (tt.says != "") {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
		if err == nil {
			continue
		}
		if e, ok := errors.AsType[*FieldError](err); !ok || e.Field != HeaderScope || e.Text != tt.says {
			t.Errorf("%s: %v, want that %s %s", tt.name, err, HeaderScope, tt.says)
		}
		if !errors.Is(err, carrel.ErrRequest) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v is another error than that of a bad request", tt.name, err)
		}
	}
}

// What reads or writes a whole conversation is bounded, and what asks for a line is not.
func TestLarge(t *testing.T) {
	for o, want := range map[*Operation]bool{
		&Import.Operation: true, &Compress.Operation: true, &Assemble.Operation: true,
		&Whoami.Operation: false, &Recall.Operation: false, &Why.Operation: false,
	} {
		if got := o.Large(); got != want {
			t.Errorf("%s is large: %t, want %t", o.Name, got, want)
		}
	}
}
