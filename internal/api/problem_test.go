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
