package out

import (
	"bytes"
	"strings"
	"testing"
)

// A command that has changed something prints its whole result if a field or an expression does
// not fit it.
func TestNoResultOfAWriteIsLost(t *testing.T) {
	for _, o := range []*Out{
		{JSON: "nosuch"},
		{JSON: "id,nosuch"},
		{JSON: AllFields, JQ: ".id.x"},
		{JSON: AllFields, Template: "{{index .id 9}}"},
	} {
		value := struct {
			ID string `json:"id"`
		}{"a1"}
		var stdout, stderr bytes.Buffer
		o.terminal = &Terminal{Stdout: &stdout, Stderr: &stderr}
		if err := o.Result("made", value, nil); KindOf(err) != KindUsage || stdout.Len() > 0 {
			t.Errorf("%+v before a write: %v, %q, want a usage error", o, err, stdout.String())
		}
		o.Wrote = true
		want := `{"schema":"carrel.made.v1","id":"a1"}` + "\n"
		if err := o.Result("made", value, nil); err != nil || stdout.String() != want {
			t.Errorf("%+v after a write: %v, %q, want %q", o, err, stdout.String(), want)
		}
		if got := stderr.String(); !strings.HasPrefix(got, "carrel: --") || !strings.HasSuffix(got, "; the command was carried out, and its whole result is printed\n") {
			t.Errorf("%+v: standard error has %q", o, got)
		}
	}
}

// The output of a template ends with exactly one line end.
func TestTemplatesEndTheirLine(t *testing.T) {
	for text, want := range map[string]string{"{{.a}}": "1\n", "{{.a}}\n": "1\n", "": "", "{{if .b}}x{{end}}": ""} {
		got, err := fill(text, []byte(`{"a":1}`))
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// Each result of a query is on a line of its own: texts as they are, others as JSON.
func TestQueriesPrintLines(t *testing.T) {
	for expression, want := range map[string]string{
		".a": "1\n", ".b": "x y\n", ".b, .c": "x y\n[1,\"z\"]\n", ".c[]": "1\nz\n", ".d": "null\n", "empty": "",
	} {
		got, err := query(expression, []byte(`{"a":1,"b":"x y","c":[1,"z"]}`))
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", expression, got, err, want)
		}
	}
	for expression, says := range map[string]string{
		".a[": `--jq: ".a[" is not complete: its end is missing`, ".a]": `--jq: unexpected token "]"`, ".a.b": "--jq: ", "error(\"x\")": "--jq: ",
	} {
		if got, err := query(expression, []byte(`{"a":1}`)); KindOf(err) != KindUsage || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%s: %q, %v", expression, got, err)
		}
	}
}

func TestTemplatesGetWholeNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"{{.a}} {{index .c 1}}": "12345678901234567 1.5\n", `{{printf "%.2f" (index .c 1)}}`: "1.50\n", `{{printf "%d" .a}}`: "12345678901234567\n", "{{.d.e}}": "3\n", "{{.b}}": "x\n",
	} {
		got, err := fill(text, []byte(`{"a":12345678901234567,"b":"x","c":[1,1.5],"d":{"e":3}}`))
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", text, got, err, want)
		}
	}
	if _, err := fill("{{.a", []byte("{}")); KindOf(err) != KindUsage || err.Error()[:len("--template: 1: ")] != "--template: 1: " {
		t.Errorf("a template that is broken: %v", err)
	}
}

// --json chooses keys of an object, or of the entries of a list; a missing one is null.
func TestFieldsAreChosen(t *testing.T) {
	type Inner struct {
		B int `json:"b,omitempty"`
	}
	type entry struct {
		Inner

		A    int `json:"a"`
		Left int `json:"-"`
	}
	entries := []entry{{A: 1}, {A: 2, Inner: Inner{B: 3}}}
	for _, tt := range []struct {
		d            document
		fields, want string
	}{
		{document{name: "x", value: &entries[1]}, "b,a", `{"schema":"carrel.x.v1","b":3,"a":2}`},
		{document{value: entries[0]}, "b", `{"b":null}`},
		{document{name: "x", value: map[string]int{"n": 5}}, "n", `{"schema":"carrel.x.v1","n":5}`},
		{document{"x", map[string]any{"sum": 2, "items": entries}, "items"}, "b", `{"schema":"carrel.x.v1","items":[{"b":null},{"b":3}]}`},
		{document{name: "x", value: entries[0]}, "c", `--json: no field "c"; there are a, b`},
		{document{"x", map[string]any{"items": entries}, "items"}, "a,Left", `--json: no field "Left"; there are a, b`},
		{document{name: "x", value: map[string]int{"n": 5, "m": 6}}, "items", `--json: no field "items"; there are m, n`},
	} {
		for _, ndjson := range []bool{false, tt.d.list == ""} { // without a list it changes nothing, not even on a terminal
			o := &Out{JSON: tt.fields, NDJSON: ndjson, terminal: &Terminal{StdoutTerminal: ndjson}}
			got, err := o.document(tt.d)
			if err != nil {
				got = []byte(err.Error() + "\n")
			}
			if string(got) != tt.want+"\n" {
				t.Errorf("%+v, --json=%s: %q, want %q", tt.d, tt.fields, got, tt.want)
			}
		}
	}
}
