package config

import (
	stdcmp "cmp"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name string
		text string
		want map[string]any // values, with the profile before their keys
	}{
		{"nothing", "", map[string]any{}},
		{"tables", "store = 'a.db'\nscope = 'acme/web'\n[budget]\nwindow = 200_000\n[keep]\nlast = 0\n", map[string]any{
			"store": "a.db", "scope": governance.Scope("acme/web"), "budget.window": token.Count(200_000), "keep.last": 0,
		}},
		{"dotted keys and inline tables", "keep.last = 7\nbudget = {window = 0x10}\n[output]\ncolor = \"never\"", map[string]any{
			"keep.last": 7, "budget.window": token.Count(16), "output.color": "never",
		}},
		{"a target in tokens", "[budget]\ntarget = 40_000", map[string]any{"budget.target": token.Count(40_000)}},
		{"a target of one token", "[budget]\ntarget = 1", map[string]any{"budget.target": token.Count(1)}},
		{"a share", "[budget]\ntarget = 0.50", map[string]any{"budget.target": ratio.Ratio(500_000)}},
		{"a whole share", "[budget]\ntarget = 1.0", map[string]any{"budget.target": ratio.One}},
		{"a share in percent", "[budget]\ntarget = '33.3%'", map[string]any{"budget.target": ratio.Ratio(333_000)}},
		{"digits become millionths", "[retention]\nalpha = 0.7\nbeta = 3e-1\nretain = 0.123_456\nevict = 0", map[string]any{
			"retention.alpha": ratio.Ratio(700_000), "retention.beta": ratio.Ratio(300_000),
			"retention.retain": ratio.Ratio(123_456), "retention.evict": ratio.Ratio(0),
		}},
		{"profiles in each form", "[profile.a]\n[profile.b]\nstore = 'b'\nkeep.last = 1\n[profile.b.budget]\nwindow = 1\n[profile]\nc = {keep = {last = 2}}", map[string]any{
			"b store": "b", "b keep.last": 1, "b budget.window": token.Count(1), "c keep.last": 2, "a": nil,
		}},
		{"a profile with a dot", "[profile.'a.b']\nkeep.last = 1", map[string]any{"a.b keep.last": 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := parse("f", []byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			got := make(map[string]any)
			for name, e := range d.base {
				got[name] = e.value
			}
			for profile, section := range d.profiles {
				if len(section) == 0 {
					got[profile] = nil
				}
				for name, e := range section {
					got[profile+" "+name] = e.value
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a key that there is not", "[budget]\n  size = 1", "f:2:3: budget.size: unknown key"},
		{"a key at the top", "\n\nwindow = 1", "f:3:1: window: unknown key"},
		{"a key in a profile", "[profile.a]\nkeep.first = 1", "f:2:1: profile.a.keep.first: unknown key"},
		{"a profile in a profile", "[profile.a.profile.b]", "f:1:2: profile.a.profile.b: unknown key"},
		{"a table that there is not", "[probing]", "f:1:2: probing: unknown key"},
		{"a key with a dot in quotes", "'budget.window' = 1", `f:1:1: "budget.window": unknown key`},
		{"a key below a key", "budget.window.first = 1", "f:1:1: budget.window.first: unknown key"},
		{"a value for a table", "budget = 1", "f:1:1: budget: is a table of keys, not a value"},
		{"a value for a profile", "[profile]\na = 1", "f:2:1: profile.a: is a table of keys, not a value"},
		{"a server without a name", "[sources.mcp.'']\nurl = 'https://example.org/mcp'", "f:1:2: sources.mcp.\"\": unknown key"},
		{"a list of tables", "[[keep]]\nlast = 1", "f:1:3: keep: is one table, not a list: write [...]"},
		{"the profile that is built in", "[profile.default.keep]", "f:1:2: profile.default.keep: is the built-in profile: give the profile another name"},
		{"the same in one key", "profile.default.keep.last = 1", "f:1:1: profile.default: is the built-in profile: give the profile another name"},
		{"the same in the shortest key", "profile.default.offline = true", "f:1:1: profile.default: is the built-in profile: give the profile another name"},
		{"a time for an address", "[server]\nlisten = 07:32:00", "f:2:1: server.listen: wants a host and a port"},
		{"JSON", "\n {\"budget\": {}}", "f:2:2: the settings are not TOML; they look like JSON"},
		{"no TOML", "[budget\nwindow = 1", "f:1:8: "},
		{"a key twice", "store = 'a'\nstore = 'b'", "f:2:1: "},
		{"a text for a number", "[budget]\nwindow = '1'", "f:2:1: budget.window: wants a number of tokens, such as 200_000"},
		{"no tokens", "[budget]\nwindow = 0", "f:2:1: budget.window: wants a number of tokens"},
		{"a fraction of tokens", "[budget]\nwindow = 1.5", "f:2:1: budget.window: wants a number of tokens"},
		{"more tokens than there can be", "[budget]\nwindow = 9_000_000_000_000_000_000", "f:2:1: budget.window: wants a number of tokens"},
		{"a share of nothing", "[budget]\ntarget = 0.0", "f:2:1: budget.target: wants a number of tokens, such as 40_000, or a share"},
		{"a share above all", "[budget]\ntarget = '101%'", "f:2:1: budget.target: wants"},
		{"a share without a sign", "[budget]\ntarget = '0.5'", "f:2:1: budget.target: wants"},
		{"blocks below 0", "[keep]\nlast = -1", "f:2:1: keep.last: wants a number of blocks, 0 for none"},
		{"a weight above 1", "[retention]\nalpha = 1.1", "f:2:1: retention.alpha: wants a number from 0 to 1, such as 0.55"},
		{"a weight below 0", "[retention]\nalpha = -0.1", "f:2:1: retention.alpha: wants"},
		{"a weight that is no number", "[retention]\nalpha = nan", "f:2:1: retention.alpha: wants"},
		{"a weight without an end", "[retention]\nalpha = inf", "f:2:1: retention.alpha: wants"},
		{"a weight in quotes", "[retention]\nalpha = '0.7'", "f:2:1: retention.alpha: wants"},
		{"a list", "[keep]\nlast = [1]", "f:2:1: keep.last: wants"},
		{"a table for a value", "[keep]\nlast = {n = 1}", "f:2:1: keep.last: wants"},
		{"another color", "[output]\ncolor = 'red'", `f:2:1: output.color: "red" is none of auto, always, never`},
		{"a scope with a blank", "scope = 'a b'", "f:1:1: scope: "},
		{"an empty path", "store = ''", "f:1:1: store: wants a text in quotes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parse("f", []byte(tt.text))
			e, ok := errors.AsType[*FileError](err)
			if !ok || !strings.HasPrefix(e.Error(), tt.want) {
				t.Fatalf("parse(%q): %v, want %s", tt.text, err, tt.want)
			}
			if hinted := e.Hint != ""; hinted != errors.Is(e, errUnknown) {
				t.Errorf("hint of %v is %q", e, e.Hint)
			}
		})
	}
}

// The hint for a key that does not exist names those that may be meant.
func TestUnknownKeysHaveNear(t *testing.T) {
	for _, tt := range []struct{ text, want, without string }{
		{"[budget]\nsize = 1", "the keys of this table are budget.window, ", "server"},
		{"[profile.a]\nkeep.first = 1", "the keys of this table are keep.last", "budget"},
		{"window = 1", "did you mean budget.window or generate.window?", "keep"},
		{"acme.email = 'a'", "did you mean server.acme.email?", "keep"},
		{"[probing]\nx = 1", "settings begin with store, scope, budget, ", "budget.window"},
	} {
		_, err := parse("f", []byte(tt.text))
		e, ok := errors.AsType[*FileError](err)
		if !ok || !strings.HasPrefix(e.Hint, tt.want) || strings.Contains(e.Hint, tt.without) {
			t.Errorf("parse(%q): the hint of %v is not %s", tt.text, err, tt.want)
		}
	}
}

// For any content of a file, parse succeeds or its error names the position.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "store = 'a'", "[budget]\ntarget = '50%'", "[profile.a]\nkeep = {last = 1}", "[[x]]", "a.'b.c'.\"\" = [1]", "=", "\xff",
		"profile = {}", "[profile]", "{}", "[profile.a.budget]\nwindow = 1979-05-27",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := parse("f", []byte(text))
		if err != nil {
			if e, ok := errors.AsType[*FileError](err); !ok || e.Line < 1 {
				t.Fatalf("parse(%q): %v, want a place", text, err)
			}
			return
		}
		for _, section := range append(slices.Collect(maps.Values(d.profiles)), d.base) {
			for name, e := range section {
				if e.value == nil || e.line < 1 || !slices.ContainsFunc(known, func(k key) bool { return k.name == e.key.name }) {
					t.Fatalf("parse(%q) has %s = %v at line %d", text, name, e.value, e.line)
				}
			}
		}
	})
}

// A world is a set of folders with settings files.
type world struct {
	dir  string // working directory, in a project
	vars map[string]string
}

func newWorld(t *testing.T, named, project, user string) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{filepath.Join(root, "project", "deep"), map[string]string{
		"HOME": filepath.Join(root, "home"), "XDG_CONFIG_HOME": filepath.Join(root, "etc"),
	}}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(w.dir, "named.toml"):                        named,
		filepath.Join(root, "project", ProjectDir, "config.toml"): project,
		filepath.Join(root, "etc", "carrel", "config.toml"):       user,
	} {
		if text == "" {
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) sources(flags map[string]string) *Sources {
	return &Sources{Getenv: environ(w.vars), Dir: w.dir, Flags: flags}
}

// The test removes the sources one by one, the strongest first; each time the next source
// applies.
func TestPrecedence(t *testing.T) {
	w := newWorld(t,
		"output.color = 'always'\n[profile.p]\noutput.color = 'never'",
		"# the project's\noutput.color = 'always'\n[profile.p]\noutput.color = 'never'",
		"output.color = 'always'\n[profile.p]\noutput.color = 'never'")
	flags := map[string]string{"--color": "never", "--config": "named.toml", "--profile": "p"}
	w.vars["CARREL_COLOR"], w.vars["NO_COLOR"], w.vars["CLICOLOR_FORCE"] = "always", "1", "1"
	for _, tt := range []struct {
		want   string
		remove func()
	}{
		{"never flag --color", func() { delete(flags, "--color") }},
		{"always environment CARREL_COLOR", func() { delete(w.vars, "CARREL_COLOR") }},
		{"never environment NO_COLOR", func() { delete(w.vars, "NO_COLOR") }},
		{"always environment CLICOLOR_FORCE", func() { delete(w.vars, "CLICOLOR_FORCE") }},
		{"never named.toml:3, profile p", func() { delete(flags, "--profile") }},
		{"always named.toml:1", func() { flags["--config"], flags["--profile"] = "", "p" }},
		{"never config.toml:4, profile p", func() { delete(flags, "--profile") }},
		{"always config.toml:2", func() { w.dir, flags["--profile"] = filepath.Dir(filepath.Dir(w.dir)), "p" }},
		{"never config.toml:3, profile p", func() { delete(flags, "--profile") }},
		{"always config.toml:1", func() { w.vars["XDG_CONFIG_HOME"] = "" }},
		{"auto built-in", func() {}},
	} {
		s, err := Load(w.sources(flags))
		if err != nil {
			t.Fatal(err)
		}
		v := s.value("output.color")
		from := v.Origin
		if from.Kind == "file" {
			from.Name = filepath.Base(from.Name)
		}
		if got := v.String() + " " + from.String(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
		tt.remove()
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, tt := range []struct {
		name  string
		text  string // of the project's file
		flags map[string]string
		want  string // in the error
	}{
		{"a profile that there is not", "[profile.b]\n[profile.a]", map[string]string{"--profile": "c"}, `--profile: "c" is none of default, a, b`},
		{"a file that there is not", "", map[string]string{"--config": "absent.toml"}, "--config: open "},
		{"a folder for a file", "", map[string]string{"--config": "."}, "--config: read "},
		{"cuts in the wrong order", "retention.retain = 0.5\nretention.evict = 0.6", nil, "config.toml:2: retention.evict: 0.6 is above retention.retain, 0.5"},
		{"a cut below the one that is built in", "retention.retain = 0.1", nil, "config.toml:1: retention.retain: 0.1 is below retention.evict, 0.2"},
		{"a cut below every score", "retention = {retain = 0, evict = 0.0}", nil, "config.toml:1: retention.retain: is 0"},
		{"weights of nothing", "[retention]\nalpha = 0\nbeta = 0", nil, "config.toml:2: retention.alpha: is 0, and so is retention.beta"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(newWorld(t, "", tt.text+"\n", "").sources(tt.flags))
			if err == nil || !strings.Contains(err.Error(), tt.want) || !is[*Error](err) && !is[*FileError](err) {
				t.Errorf("Load(): %v, want %s", err, tt.want)
			}
		})
	}
}

// The path of a store is relative to the file that names it, and a project's store overrides the
// user's file.
func TestStoreOfFiles(t *testing.T) {
	for _, tt := range []struct {
		name          string
		project, user string
		want          []string // below the root
	}{
		{"a project's file", "store = 'x/a.db'", "", []string{"project", ProjectDir, "x", "a.db"}},
		{"a project's folder", "keep.last = 1", "store = 'u.db'", []string{"project", ProjectDir, "carrel.db"}},
		{"the user's file", "", "store = 'u.db'", []string{"etc", "carrel", "u.db"}},
		{"the user's home", "", "store = '~/u.db'", []string{"home", "u.db"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "", tt.project, tt.user)
			s, err := Load(w.sources(nil))
			if err != nil {
				t.Fatal(err)
			}
			want := filepath.Join(append([]string{filepath.Dir(w.vars["HOME"])}, tt.want...)...)
			if got, err := s.Store(); err != nil || got != want {
				t.Errorf("the store is %q, %v, want %q", got, err, want)
			}
		})
	}
}

// Without settings the engine uses its defaults; with settings, it uses these.
func TestEngineAndRequest(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		req        carrel.CompressRequest
		opts       carrel.Options
		want       carrel.CompressRequest
	}{
		{
			name: "nothing is set",
			opts: carrel.Options{Weights: pager.DefaultWeights, Cuts: pager.DefaultCuts, KeepLast: 5},
		},
		{
			name: "all is set",
			text: "keep.last = 0\n[retention]\nalpha = 0.5\nbeta = 0.4\nretain = 0.6\nevict = 0\n[budget]\nwindow = 9\ntarget = 0.25",
			opts: carrel.Options{
				Weights: pager.Weights{Relevance: 500_000, Recency: 400_000}, Cuts: pager.Cuts{Retain: 600_000}, KeepLast: -1,
				Window: 9,
			},
			want: carrel.CompressRequest{Target: carrel.Target{Share: 250_000}},
		},
		{
			name: "one weight is 0",
			text: "[retention]\nalpha = 1\nbeta = 0",
			opts: carrel.Options{Weights: pager.Weights{Relevance: ratio.One}, Cuts: pager.DefaultCuts, KeepLast: 5},
		},
		{
			name: "the other weight is 0",
			text: "[retention]\nalpha = 0\nbeta = 1",
			opts: carrel.Options{Weights: pager.Weights{Recency: ratio.One}, Cuts: pager.DefaultCuts, KeepLast: 5},
		},
		{
			name: "a target in tokens",
			text: "budget.target = 7",
			opts: carrel.Options{Weights: pager.DefaultWeights, Cuts: pager.DefaultCuts, KeepLast: 5},
			want: carrel.CompressRequest{Target: carrel.Target{Tokens: 7}},
		},
		{
			name: "a strategy and a share of the probes",
			text: "compress.strategy = 'hybrid'\nprobes.accept = 0.95",
			opts: carrel.Options{Weights: pager.DefaultWeights, Cuts: pager.DefaultCuts, KeepLast: 5, Strategy: carrel.StrategyHybrid},
			want: carrel.CompressRequest{ProbeMin: new(ratio.Ratio(950_000))},
		},
		{
			name: "a strategy that is not probed",
			text: "compress.strategy = 'window'\nprobes.accept = 0.95",
			opts: carrel.Options{Weights: pager.DefaultWeights, Cuts: pager.DefaultCuts, KeepLast: 5, Strategy: carrel.StrategyWindow},
		},
		{
			name: "the built-in strategy, which is not probed",
			text: "probes.accept = 0.95",
			opts: carrel.Options{Weights: pager.DefaultWeights, Cuts: pager.DefaultCuts, KeepLast: 5, Strategy: carrel.StrategyAccount},
		},
		{
			name: "the pager's formula, which is not probed",
			text: "compress.strategy = 'pager'\nprobes.accept = 0.95",
			opts: carrel.Options{Weights: pager.DefaultWeights, Cuts: pager.DefaultCuts, KeepLast: 5, Strategy: carrel.StrategyPager},
		},
		{
			name: "a request with its own share of the probes",
			text: "probes.accept = 0.95",
			req:  carrel.CompressRequest{ProbeMin: new(ratio.Ratio(0))},
			opts: carrel.Options{Weights: pager.DefaultWeights, Cuts: pager.DefaultCuts, KeepLast: 5},
			want: carrel.CompressRequest{ProbeMin: new(ratio.Ratio(0))},
		},
		{
			name: "a request with its own share",
			text: "budget.target = 7",
			req:  carrel.CompressRequest{Target: carrel.Target{Share: 2}},
			opts: carrel.Options{Weights: pager.DefaultWeights, Cuts: pager.DefaultCuts, KeepLast: 5},
			want: carrel.CompressRequest{Target: carrel.Target{Share: 2}},
		},
		{
			name: "a cut of nothing between the others",
			text: "[retention]\nretain = 0.5\nevict = 0.5",
			opts: carrel.Options{Weights: pager.DefaultWeights, Cuts: pager.Cuts{Retain: 500_000, Evict: 500_000}, KeepLast: 5},
		},
		{
			name: "a request that says everything",
			text: "[budget]\nwindow = 9\ntarget = 0.25",
			req:  carrel.CompressRequest{Window: 3, Target: carrel.Target{Tokens: 2}},
			opts: carrel.Options{Weights: pager.DefaultWeights, Cuts: pager.DefaultCuts, KeepLast: 5, Window: 9},
			want: carrel.CompressRequest{Window: 3, Target: carrel.Target{Tokens: 2}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Load(newWorld(t, "", tt.text+"\n", "").sources(nil))
			if err != nil {
				t.Fatal(err)
			}
			var opts carrel.Options
			release, err := s.Engine(&opts)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := release(); err != nil {
					t.Error(err)
				}
			}()
			if opts.Weights != tt.opts.Weights || opts.Cuts != tt.opts.Cuts || opts.KeepLast != tt.opts.KeepLast || opts.Window != tt.opts.Window ||
				opts.Strategy != stdcmp.Or(tt.opts.Strategy, carrel.StrategyAccount) {
				t.Errorf("options are %+v, want %+v", opts, tt.opts)
			}
			s.Request(&tt.req)
			if diff := cmp.Diff(tt.want, tt.req); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// A request for a summary uses the strategy of the settings if that makes a summary, else
// anchored. A strategy in the request stays.
func TestSummarize(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		strategy   carrel.Strategy
		want       carrel.Strategy
	}{
		{"the built-in strategy makes none", "", "", carrel.StrategyAnchored},
		{"a strategy of the settings makes none", "compress.strategy = 'pager'", "", carrel.StrategyAnchored},
		{"a strategy of the settings makes one", "compress.strategy = 'hybrid'", "", ""},
		{"a strategy is named", "", carrel.StrategyWindow, carrel.StrategyWindow},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Load(newWorld(t, "", tt.text+"\n", "").sources(nil))
			if err != nil {
				t.Fatal(err)
			}
			req := carrel.CompressRequest{Strategy: tt.strategy}
			s.Summarize(&req)
			if req.Strategy != tt.want {
				t.Errorf("strategy %q, want %q", req.Strategy, tt.want)
			}
		})
	}
}

// What lacks on the machine is an error of its own, also in a project's file.
func TestSettingsOfABrokenMachine(t *testing.T) {
	w := newWorld(t, "", "embed.static = '~/model'\n", "")
	w.vars["HOME"] = ""
	if _, err := Load(w.sources(nil)); err == nil || !strings.Contains(err.Error(), "HOME: is not set") {
		t.Errorf("without a home: %v", err)
	}
	w = newWorld(t, "", "", "")
	path := filepath.Join(w.vars["XDG_CONFIG_HOME"], "carrel", "config.toml")
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Load(w.sources(nil))
	if e, ok := errors.AsType[*FileError](err); !ok || e.File != path {
		t.Errorf("a folder for the user's file: %v", err)
	}
}

// CLICOLOR_FORCE forces colors unless it is a word for no.
func TestForcedColors(t *testing.T) {
	for v, want := range map[string]string{"": "auto", "0": "auto", "false": "auto", "1": "always"} {
		s, err := withVariables(t, map[string]string{"CLICOLOR_FORCE": v})
		if err != nil || s.Color() != want {
			t.Errorf("%q: %v, %v, want %s", v, s, err, want)
		}
	}
}

// With NoFiles, settings files and their errors do not matter.
func TestNoFiles(t *testing.T) {
	src := newWorld(t, "", "broken", "").sources(map[string]string{"--profile": "absent", "--progress": "none"})
	src.NoFiles = true
	s, err := Load(src)
	if err != nil || s.Progress() != "none" {
		t.Errorf("Load() = %+v, %v", s, err)
	}
}
