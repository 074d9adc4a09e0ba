package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/spf13/pflag"

	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// A page of the manual lists each visible flag with its short form and argument, and escapes text
// for roff.
func TestManualHasFlags(t *testing.T) {
	flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
	flags.StringP("output", "o", "", "write to `file`")
	flags.Bool("all", false, "all of them")
	flags.Bool("secret", false, "nothing")
	flags.Lookup("secret").Hidden = true
	var b bytes.Buffer
	options(&b, "OPTIONS", flags)
	if want := ".SH OPTIONS\n.TP\n.B \\-\\-all\nall of them\n.TP\n.B \\-o, \\-\\-output file\nwrite to file\n"; b.String() != want {
		t.Errorf("got %q, want %q", &b, want)
	}
	b.Reset()
	options(&b, "OPTIONS", pflag.NewFlagSet("x", pflag.ContinueOnError))
	if b.Len() > 0 {
		t.Errorf("no flags: %q", &b)
	}
	if got, want := escape(".a\n'b\nc\\d-e"), "\\&.a\n\\&'b\nc\\ed\\-e"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// JSON output is requested by the environment or by flags.
func TestJSONIsAskedFor(t *testing.T) {
	for _, tt := range []struct {
		args []string
		json string // of the environment
		want bool
	}{
		{nil, "", false},
		{nil, "1", true},
		{nil, "0", false},
		{nil, "false", false},
		{[]string{"--json"}, "", true},
		{[]string{"--ndjson"}, "", true},
		{[]string{"--jq", "."}, "", true},
		{[]string{"--template", "{{.schema}}"}, "", false},
	} {
		env, stdout, stderr := clitest.Env(t)
		home := env.Dir
		env.Getenv = func(name string) string { return map[string]string{"HOME": home, "CARREL_JSON": tt.json}[name] }
		if got := Main(t.Context(), env, append([]string{"ps"}, tt.args...)); got != exitDone {
			t.Errorf("%+v: status %d: %s", tt, got, stderr)
		}
		if got := json.Valid(stdout.Bytes()) && stdout.Len() > 0 || slices.Contains(tt.args, "--ndjson"); got != tt.want {
			t.Errorf("%+v: printed %q", tt, stdout)
		}
	}
}
