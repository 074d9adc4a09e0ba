package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2/unstable"
)

var update = flag.Bool("update", false, "write doc/reference/settings.md")

// doc/reference/settings.md is the table of settings. Run with -update to write it.
func TestReferenceOfSettings(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Settings

Every setting, in the order of ` + "`carrel config show`" + `. Files are TOML:
[what each means, with examples](../topic/config.md). A flag wins over a variable, and that over
files. **Own** settings have no place in the file of a project, which comes with the project.
` + "`*`" + ` stands for a name that you give. This page is written by
` + "`go test ./internal/config -run Reference -update`" + `.

| key | default | how it is written | flag, variable | own |
|---|---|---|---|---|
`)
	for i := range known {
		k := &known[i]
		given := strings.TrimPrefix(k.flag+", "+k.variable, ", ")
		own := ""
		if k.own || k.secret {
			own = "own"
		}
		form := formOf(k)
		if form == "" {
			t.Errorf("%s: no form is known", k.name)
		}
		v := Value{Value: k.builtIn, otherwise: k.otherwise}
		otherwise := v.String()
		if otherwise == "" {
			otherwise = "none"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.name, otherwise, strings.ReplaceAll(form, "|", `\|`), strings.TrimSuffix(given, ", "), own)
	}
	const name = "../../doc/reference/settings.md"
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil { //nolint:gosec // it is a document
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s is stale: go test ./internal/config -run Reference -update (-want +got):\n%s", name, diff)
	}
}

// formOf returns the form of a setting's value, taken from the error for an invalid value.
func formOf(k *key) string {
	if k.secret {
		return "a text, in the environment alone"
	}
	for _, wrong := range []literal{{kind: unstable.Bool, text: "?"}, {kind: unstable.Array, items: []literal{{kind: unstable.Bool}}}} {
		_, err := k.read(wrong)
		if err == nil {
			continue
		}
		form, ok := strings.CutPrefix(err.Error(), "wants ")
		if !ok {
			form, ok = strings.CutPrefix(err.Error(), `"?" is none of `)
			form = "one of " + form
		}
		if ok {
			return form
		}
	}
	return ""
}
