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
