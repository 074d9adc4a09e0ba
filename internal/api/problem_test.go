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
