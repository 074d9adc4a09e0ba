package ops

import (
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/governance"
)

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
