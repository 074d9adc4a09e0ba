package out

import "testing"

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
	for expression, says := range map[string]string{".a[": "--jq: ", ".a.b": "--jq: ", "error(\"x\")": "--jq: "} {
		if got, err := query(expression, []byte(`{"a":1}`)); KindOf(err) != KindUsage || err.Error()[:len(says)] != says {
			t.Errorf("%s: %q, %v", expression, got, err)
		}
	}
}

func TestTemplatesGetWholeNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"{{.a}} {{index .c 1}}": "12345678901234567 1.5\n", `{{printf "%d" .a}}`: "12345678901234567\n", "{{.d.e}}": "3\n", "{{.b}}": "x\n",
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
