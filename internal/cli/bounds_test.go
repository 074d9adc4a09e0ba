package cli

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

// A target is tokens above 0, or a share above 0 and up to the whole.
func TestParseTarget(t *testing.T) {
	for _, tt := range []struct {
		in     string
		tokens token.Count
		share  ratio.Ratio
		ok     bool
	}{
		{"", 0, 0, true},
		{"1", 1, 0, true},
		{"0", 0, 0, false},
		{"-1", 0, 0, false},
		{"12,904", 12904, 0, true},
		{"12_904", 12904, 0, true},
		{"100%", 0, ratio.One, true},
		{"0.0001%", 0, 1, true},
		{"0%", 0, 0, false},
		{"-1%", 0, 0, false},
		{"-50%", 0, 0, false},
		{"100.0001%", 0, 0, false},
		{"%", 0, 0, false},
		{"half", 0, 0, false},
	} {
		tokens, share, err := parseTarget(tt.in)
		if tokens != tt.tokens || share != tt.share || (err == nil) != tt.ok {
			t.Errorf("parseTarget(%q) = %d, %v, %v, want %d, %v, %v", tt.in, tokens, share, err, tt.tokens, tt.share, tt.ok)
		}
	}
}

// A share of probes is from 0 to 1, and one that is not given is told from 0.
func TestParseLeast(t *testing.T) {
	if got, err := parseLeast("--probe-min", ""); got != nil || err != nil {
		t.Errorf("got %v, %v for what is not given", got, err)
	}
	for in, want := range map[string]ratio.Ratio{"0": 0, "0.9": ratio.Of(9, 10), "1": ratio.One, "100%": ratio.One} {
		if got, err := parseLeast("--probe-min", in); err != nil || *got != want {
			t.Errorf("parseLeast(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"-0.1", "-1", "-0", "1.000001", "2", "101%", "x", ".", "0.0000001"} {
		if got, err := parseLeast("--probe-min", in); err == nil {
			t.Errorf("parseLeast(%q) = %v, want an error", in, got)
		}
	}
}

func TestParseRange(t *testing.T) {
	for _, tt := range []struct {
		in       string
		from, to int
		ok       bool
	}{
		{"", 0, 0, true},
		{"0:1", 0, 1, true},
		{"5:6", 5, 6, true},
		{"5:", 5, 0, true},
		{":5", 0, 5, true},
		{":", 0, 0, true},
		{"5:5", 0, 0, false},
		{"6:5", 0, 0, false},
		{"-1:5", 0, 0, false},
		{"0:0", 0, 0, false},
		{"5", 0, 0, false},
		{"a:5", 0, 0, false},
		{"5:b", 0, 0, false},
	} {
		from, to, err := parseRange(tt.in)
		if err == nil && (from != tt.from || to != tt.to) || (err == nil) != tt.ok {
			t.Errorf("parseRange(%q) = %d, %d, %v, want %d, %d, %v", tt.in, from, to, err, tt.from, tt.to, tt.ok)
		}
	}
}

// A server that runs is listed, and no longer when it ends; one that has died leaves
// nothing behind.
func TestServersAreListed(t *testing.T) {
	env, _, _ := newEnv(t)
	g := &globals{env: env}
	list := func() string {
		t.Helper()
		servers, err := g.servers()
		if err != nil {
			t.Fatal(err)
		}
		ids := ""
		for i := range servers {
			ids += fmt.Sprintf("%d@%s ", servers[i].PID, servers[i].URL)
		}
		return ids
	}
	if got := list(); got != "" {
		t.Errorf("servers %q, want none", got)
	}
	release := make(map[int]func() error)
	for pid, hour := range map[int]int{7: 2, 8: 1, 9: 2} {
		end, err := g.enlist(&server{PID: pid, URL: "http://127.0.0.1:1", Started: env.Now().AddDate(0, 0, -hour)})
		if err != nil {
			t.Fatal(err)
		}
		release[pid] = end
	}
	const at = "@http://127.0.0.1:1 "
	if got, want := list(), "7"+at+"9"+at+"8"+at; got != want {
		t.Errorf("servers %q, want %q, oldest first", got, want)
	}
	if _, err := g.enlist(&server{PID: 8}); err == nil {
		t.Error("a record that is held was taken")
	}
	if err := release[9](); err != nil {
		t.Fatal(err)
	}
	if got, want := list(), "7"+at+"8"+at; got != want {
		t.Errorf("servers %q, want %q", got, want)
	}
	dead := writeFile(t, env, ".local/share/carrel/run/99.json", `{"pid":99}`)
	if got, want := list(), "7"+at+"8"+at; got != want {
		t.Errorf("servers %q, want %q", got, want)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("the record of a server that died is still there")
	}
}

// Completion offers all there is, not the newest alone.
func TestCompletionOffersAll(t *testing.T) {
	s := newDesk(t)
	s.run(0, "import", sample(t, "openai.json"))
	for _, query := range []string{"lantern", "beam"} {
		s.run(0, "assemble", "--query", query, "--budget", "9000")
	}
	for _, tt := range []struct {
		args []string
		want int
	}{
		{[]string{"manifest", "show", ""}, 1 + 3},
		{[]string{"sessions", "show", ""}, 2 + 2},
		{[]string{"recall", ""}, 4},
	} {
		out := s.run(0, append([]string{cobra.ShellCompRequestCmd}, tt.args...)...)
		lines := bytes.Count([]byte(out), []byte("\t"))
		if lines < tt.want || tt.args[0] != "recall" && lines != tt.want {
			t.Errorf("carrel %q is offered %d, want %d:\n%s", tt.args, lines, tt.want, out)
		}
		if strings.HasPrefix(tt.args[0], "manifest") && strings.Contains(s.run(0, cobra.ShellCompRequestCmd, "manifest", "show", "@last", ""), "\t") {
			t.Error("a second argument is offered where there is one")
		}
	}
}
