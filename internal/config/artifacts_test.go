package config

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/artifact"
	"github.com/carrel-dev/carrel/artifact/origin"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/tier"
	"github.com/carrel-dev/carrel/triage"
)

// british is the other spelling of summarized.
const british = "summari" + "sed"

// loadUser returns the settings for a user's file with the given text.
func loadUser(t *testing.T, text string) (*Settings, error) {
	t.Helper()
	return Load(newWorld(t, "", "", text+"\n").sources(nil))
}

// engine returns the engine options for settings.
func engine(t *testing.T, s *Settings) *carrel.Options {
	t.Helper()
	o := &carrel.Options{}
	release, err := s.Engine(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// Without settings artifacts are judged by the engine's defaults, and nothing is fetched or
// embedded.
func TestArtifactDefaults(t *testing.T) {
	s, err := loadUser(t, "")
	if err != nil {
		t.Fatal(err)
	}
	o := engine(t, s)
	if o.Triage.Version() != triage.DefaultPolicy().Version() || o.Ladder != tier.DefaultLadder || o.Confidence != assembly.DefaultThreshold {
		t.Errorf("triage %s, ladder %+v, confidence %v", o.Triage.Version(), o.Ladder, o.Confidence)
	}
	if o.Resident != 256<<20 || o.Embedder != nil {
		t.Errorf("resident %d, embedder %v", o.Resident, o.Embedder)
	}
	for ref, setting := range map[artifact.Ref]string{
		"file:/etc/hosts": origin.SettingFiles, "https://example.org/": origin.SettingHosts, "mcp:a/b": origin.SettingMCP,
	} {
		_, err := o.Sources.Fetch(t.Context(), ref, nil)
		if !errors.Is(err, artifact.ErrForbidden) || !strings.Contains(err.Error(), setting) {
			t.Errorf("%s: %v, want it forbidden by %s", ref, err, setting)
		}
	}
}

func TestArtifactSettings(t *testing.T) {
	s, err := loadUser(t, "tiers."+british+" = 0.9"+`
tiers.full = 0.5
tiers.core = 1.5
gate.confidence = 0.25
assemble.page = 123
sources.mcp.a = {command = ["x"], url = ""}
resident.bytes = 0
[triage]
admit = 7
deep = 7
trust = 0
red = 0.5
yellow = 0.5
curve = "log"
half_life.tool = "2w"
half_life.scratchpad = "90m"
weights.verified = [0.1, 0.9, 0]`)
	if err != nil {
		t.Fatal(err)
	}
	o := engine(t, s)
	if want := (tier.Ladder{Summarized: 50, Core: 90, Minimal: 150}); o.Ladder != want {
		t.Errorf("ladder is %+v, want %+v", o.Ladder, want)
	}
	if o.Confidence != 250_000 || o.Resident != -1 || o.Page != 123 {
		t.Errorf("confidence %v, resident %d, page %d", o.Confidence, o.Resident, o.Page)
	}
	want := triage.DefaultPolicy()
	want.Admit, want.Deep, want.Trust, want.Red, want.Yellow, want.Curve = 7, 7, 0, 500_000, 500_000, triage.CurveLog
	rule := func(c provenance.Class, change func(*triage.Scoring)) {
		r := want.Classes[c]
		change(&r)
		want.Classes[c] = r
	}
	rule(provenance.Tool, func(r *triage.Scoring) { r.HalfLife = 14 * 24 * time.Hour })
	rule(provenance.Scratchpad, func(r *triage.Scoring) { r.HalfLife = 90 * time.Minute })
	rule(provenance.Verified, func(r *triage.Scoring) { r.Recency, r.Provenance, r.Semantic = 100_000, 900_000, 0 })
	if diff := cmp.Diff(want, o.Triage); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
}

func TestArtifactSettingsRefused(t *testing.T) {
	key := "sk-" + "ant-" + "api03-" + strings.Repeat("Zx9Qw7Lk2", 11) + "AA"
	for _, tt := range []struct{ name, text, want string }{
		{"tiers in the wrong order", "tiers.full = 0.96", "config.toml:1: tiers.full: 0.96 is above tiers.summarized, 0.95"},
		{"a tier below the one that is built in", "\ntiers.core = 0.9", "config.toml:2: tiers.core: 0.9 is below tiers.summarized, 0.95"},
		{"a part of a percent", "tiers.full = 0.805", "tiers.full: wants a share of the budget in whole percent"},
		{"both spellings", "[tiers]\nsummarized = 0.9\n" + british + " = 0.9", "config.toml:3:1: tiers." + british + ": is tiers.summarized, which is set already"},
		{"confidence in nothing", "gate.confidence = 0", "gate.confidence: wants a number above 0"},
		{"more places than rows", "triage.admit = 10", "config.toml:1: triage.admit: 10 is below triage.deep, 20"},
		{"no rows", "triage.deep = 0", "triage.deep: wants a whole number of at least 1"},
		{"yellow above red", "triage.yellow = 0.7", "triage.yellow: 0.7 is above triage.red, 0.6"},
		{"a curve that there is not", "triage.curve = 'flat'", `triage.curve: "flat" is none of half-life, log`},
		{"a class that there is not", "triage.half_life.gossip = '1d'", "config.toml:1:1: triage.half_life.gossip: unknown key"},
		{"no half-life", "triage.half_life.tool = '0s'", "triage.half_life.tool: wants a time span in quotes"},
		{"a half-life without a unit", "triage.half_life.tool = 14", "triage.half_life.tool: wants a time span"},
		{"weights that do not sum to 1", "triage.weights.tool = [0.5, 0.3, 0.3]", "triage.weights.tool: sums to 1.1: want weights that sum to 1"},
		{"two weights", "triage.weights.tool = [0.5, 0.5]", "triage.weights.tool: wants the weights of recency, provenance and semantics"},
		{"weights in quotes", "triage.weights.tool = ['0.5', '0.5', '0']", "triage.weights.tool: wants the weights"},
		{"a weight below 0", "triage.weights.tool = [1.5, -0.5, 0]", "triage.weights.tool: wants the weights"},
		{"semantics alone", "triage.weights.tool = [0, 0, 1]", "triage.weights.tool: gives semantics all the weight"},
		{"a text for a list", "sources.files = 'docs'", `sources.files: wants a list, such as ["docs"]`},
		{"a number in a list", "sources.files = [1]", "sources.files: wants a list of texts in quotes"},
		{"an empty folder", "sources.files = ['']", "sources.files: contains an empty text: remove it"},
		{"an address for a range", "sources.allow = ['10.0.0.1']", `sources.allow: "10.0.0.1" is no range of addresses`},
		{"a word for a switch", "sources.private = 1", "sources.private: wants true or false"},
		{"a size with a wrong unit", "sources.limit = '1 XB'", "sources.limit: wants a number of bytes"},
		{"a limit of nothing", "sources.limit = 0", "sources.limit: wants a number of bytes"},
		{"a size that is too large", "resident.bytes = '99999999999GiB'", "resident.bytes: wants a number of bytes"},
		{"no program", "sources.mcp.a.command = []", "sources.mcp.a.command: names no program"},
		{"a program in one text", "sources.mcp.a.command = 'x y'", "sources.mcp.a.command: wants a list"},
		{"a credential for a program", "sources.mcp.a.command = ['x', '" + key + "']", "sources.mcp.a.command: looks like a credential"},
		{"two ways to a server", "[sources.mcp.a]\ncommand = ['x']\nurl = 'https://example.org'", "config.toml:3: sources.mcp.a.url: sources.mcp.a.command is set, too"},
		{"a server's name with a slash", "sources.mcp.'a/b'.url = 'https://example.org'", "unknown key"},
		{"another key of a server", "sources.mcp.a.args = ['x']", "sources.mcp.a.args: unknown key"},
		{"a value for a server", "sources.mcp.a = 'x'", "sources.mcp.a: is a table of keys, not a value"},
		{"a URL with a password", "embed = {url = 'https://ada:" + "hunter@example.org', model = 'm'}", "embed.url: has a user or a password in it"},
		{"a word for a URL", "embed = {url = 'localhost', model = 'm'}", "embed.url: wants a URL, such as http://localhost:11434"},
		{"a URL without a model", "embed.url = 'http://localhost:1'", "embed.url: wants embed.model, too"},
		{"two embedders", "embed = {url = 'http://localhost:1', model = 'm', static = 'dir'}", "embed.static: embed.url is set, too"},
		{"a model without a name", "generate.url = 'http://localhost:1'", "generate.url: wants generate.model, too"},
		{"an interface that there is not", "generate.api = 'soap'", `generate.api: "soap" is none of openai, anthropic`},
		{"a ceiling below 0", "generate.ceiling = -1", "generate.ceiling: wants a number of tokens, such as 200_000; 0 for none"},
		{"a ceiling in quotes", "generate.ceiling = '1'", "generate.ceiling: wants a number of tokens"},
		{"tries without end", "generate.retries = 11", "generate.retries: wants a whole number from 0, for never, to 10"},
		{"no calls", "generate.calls = 0", "generate.calls: wants a whole number of at least 1"},
		{"a reply that fills the window", "generate.window = 4096", "config.toml:1: generate.window: the tokens of a reply, generate.max_tokens (4096), must be below generate.window (4096)"},
		{"a reply larger than the window", "generate.max_tokens = 9\ngenerate.window = 8", "config.toml:1: generate.max_tokens: the tokens of a reply"},
		{"another key in a file", "generate.key = '" + key + "'", "is a secret, which no settings hold: set CARREL_GENERATE_KEY, or name a file with it in generate.key_file"},
		{"a key in a file", "embed.key = '" + key + "'", "config.toml:1:1: embed.key: is a secret, which no settings hold: set CARREL_EMBED_KEY, or name a file with it in embed.key_file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := loadUser(t, tt.text)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !is[*FileError](err) {
				t.Fatalf("Load(): %v, want %s", err, tt.want)
			}
			if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "hunter") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

// A project's file comes with the project, so it decides nothing outside of the project.
func TestProjectIsNotTheUser(t *testing.T) {
	for _, text := range []string{
		"embed = {url = 'http://localhost:1', model = 'm'}", "embed.key_file = 'key'", "embed.static = '/etc'", "generate = {url = 'http://localhost:1', model = 'm'}", "generate.key_file = 'key'", "credential.key_file = 'key'", "generate.ceiling = 1_000", "generate.model = 'm'", "sources.hosts = ['example.org']", "sources.mcp.kb.url = 'https://example.org/mcp'", "sources.private = true",
		"sources.allow = ['169.254.0.0/16']", "sources.mcp.a.command = ['sh']",
		"sources.files = ['/']", "sources.files = ['docs', '../..']", "sources.files = ['~/x']", "sources.files = ['link']",
	} {
		w := newWorld(t, "", text+"\n", "")
		project := filepath.Dir(w.dir)
		if err := os.Symlink(filepath.Dir(project), filepath.Join(project, "link")); err != nil {
			if os.Getenv("CARREL_CI") != "" {
				t.Fatal(err)
			}
			t.Skip("no links here: ", err)
		}
		if _, err := Load(w.sources(nil)); err == nil || !is[*FileError](err) || !strings.Contains(err.Error(), "config.toml:1: ") {
			t.Errorf("a project's %s: %v, want it refused", text, err)
		}
		if strings.Contains(text, "link") {
			continue
		}
		w = newWorld(t, "", "", text+"\n")
		if _, err := Load(w.sources(nil)); err != nil {
			t.Errorf("the user's %s: %v", text, err)
		}
	}
}

// A project reached by a link may name folders that do not exist yet, but none behind a link that
// leads out of it.
func TestFoldersBehindLinks(t *testing.T) {
	for _, tt := range []struct {
		name string
		ok   bool
	}{
		{"docs", true},
		{"docs/to/come", true},
		{".", true},
		{"out/to/come", false},
		{"../docs", false},
	} {
		w := newWorld(t, "", "sources.files = ['"+tt.name+"']\n", "")
		project := filepath.Dir(w.dir)
		link := filepath.Join(filepath.Dir(project), "link")
		if err := errors.Join(os.Symlink(project, link), os.Symlink(filepath.Dir(project), filepath.Join(project, "out"))); err != nil {
			if os.Getenv("CARREL_CI") != "" {
				t.Fatal(err)
			}
			t.Skip("no links here: ", err)
		}
		for _, dir := range []string{project, link} {
			w.dir = dir
			if _, err := Load(w.sources(nil)); (err == nil) != tt.ok {
				t.Errorf("%s in %s: %v, want it accepted: %t", tt.name, filepath.Base(dir), err, tt.ok)
			}
		}
	}
}

// Relative folders start in the folder of the settings file; in a project's file, in the project.
func TestFolders(t *testing.T) {
	w := newWorld(t, "", "sources.files = ['docs', '.']\nembed.static = 'model'", "sources.files = ['u', '~/h']\n")
	root := filepath.Dir(w.vars["HOME"])
	project := filepath.Join(root, "project")
	s, err := Load(w.sources(nil))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{filepath.Join(project, "docs"), project}, get[[]string](s, "sources.files")); diff != "" {
		t.Errorf("folders of the project (-want +got):\n%s", diff)
	}
	if got, want := get[string](s, "embed.static"), filepath.Join(project, "model"); got != want {
		t.Errorf("embeddings are in %s, want %s", got, want)
	}
	w.dir = root
	if s, err = Load(w.sources(nil)); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(root, "etc", "carrel", "u"), filepath.Join(root, "home", "h")}
	if diff := cmp.Diff(want, get[[]string](s, "sources.files")); diff != "" {
		t.Errorf("folders of the user (-want +got):\n%s", diff)
	}
}

// The router fetches only from configured sources, and offline only from files.
func TestRouter(t *testing.T) {
	w := newWorld(t, "", "", `
sources.files = ["docs"]
sources.hosts = ["localhost:1"]
sources.limit = "1KiB"
sources.timeout = "5s"
sources.private = true
sources.allow = ["10.0.0.0/8"]
[sources.mcp.notes]
command = ["notes"]
[sources.mcp."wi ki"]
url = "https://wiki.example.org/mcp"
`)
	docs := filepath.Join(w.vars["XDG_CONFIG_HOME"], "carrel", "docs")
	if err := errors.Join(os.MkdirAll(docs, 0o700), os.WriteFile(filepath.Join(docs, "a"), []byte("text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	s, err := Load(w.sources(map[string]string{"--offline": "true"}))
	if err != nil {
		t.Fatal(err)
	}
	o := engine(t, s)
	if got, err := o.Sources.Fetch(t.Context(), "file:a", nil); err != nil || string(got.Content) != "text" {
		t.Errorf("file:a is %+v, %v", got, err)
	}
	if _, err := o.Sources.Fetch(t.Context(), "http://localhost:1/", nil); !errors.Is(err, artifact.ErrForbidden) {
		t.Errorf("offline: %v", err)
	}
	want := &origin.Options{
		Hosts: []string{"localhost:1"}, AllowPrivate: true, Limit: 1024, Timeout: 5 * time.Second, Offline: true,
		Servers: map[string]origin.Server{"notes": {Command: []string{"notes"}}, "wi ki": {URL: "https://wiki.example.org/mcp"}},
	}
	got := s.origins()
	if len(got.Allow) != 1 {
		t.Errorf("%d ranges are allowed", len(got.Allow))
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(origin.Options{}, "Files", "Allow")); diff != "" {
		t.Errorf("what may be fetched (-want +got):\n%s", diff)
	}
}

// The key is sent to the embedder only.
func TestEmbedder(t *testing.T) {
	const key = "ourkey"
	var sent string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"data":[{"index":0,"embedding":[1,0]}]}`)) // the client will notice
	}))
	defer server.Close()
	w := newWorld(t, "", "", "[embed]\nurl = '"+server.URL+"'\nmodel = 'm'\nkey_file = 'key'\n")
	file := filepath.Join(w.vars["XDG_CONFIG_HOME"], "carrel", "key")
	load := func() (*Settings, *carrel.Options, error) {
		s, err := Load(w.sources(nil))
		if err != nil {
			t.Fatal(err)
		}
		o := &carrel.Options{}
		_, err = s.Engine(o)
		return s, o, err
	}
	if _, _, err := load(); !is[*FileError](err) || !strings.Contains(err.Error(), "config.toml:4: embed.key_file: open ") {
		t.Errorf("without the file: %v", err)
	}
	if err := os.WriteFile(file, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := load(); !is[*FileError](err) || !strings.Contains(err.Error(), "exactly one line") {
		t.Errorf("with an empty file: %v", err)
	}
	for _, tt := range []struct{ file, variable, want string }{
		{key + "\n", "", "Bearer " + key},
		{"another", key, "Bearer " + key},
	} {
		if err := os.WriteFile(file, []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		w.vars["CARREL_EMBED_KEY"] = tt.variable
		s, o, err := load()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.Embedder.Embed(t.Context(), []string{"x"}); err != nil || sent != tt.want {
			t.Errorf("sent %q, %v, want %q", sent, err, tt.want)
		}
		raw, err := json.Marshal(s.Values)
		if err != nil {
			t.Fatal(err)
		}
		var shown strings.Builder
		for i := range s.Values {
			shown.WriteString(s.Values[i].String())
		}
		if strings.Contains(string(raw)+shown.String(), key) {
			t.Errorf("settings show the key: %s", raw)
		}
	}
	w.vars["CARREL_OFFLINE"] = "1"
	if _, o, err := load(); err != nil || o.Embedder != nil {
		t.Errorf("offline the embedder is %v, %v", o.Embedder, err)
	}
}

// Static embeddings need no network. Load checks that the files exist; their content is read at
// the first use.
func TestStaticEmbedder(t *testing.T) {
	w := newWorld(t, "", "embed.static = 'model'\n", "")
	w.vars["CARREL_OFFLINE"] = "1"
	s, err := Load(w.sources(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Engine(&carrel.Options{}); !is[*FileError](err) || !strings.Contains(err.Error(), "config.toml:1: embed.static: ") {
		t.Errorf("without files: %v", err)
	}
	dir := filepath.Join(filepath.Dir(w.dir), "model")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"model.safetensors", "tokenizer.json"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := engine(t, s)
	if _, err := o.Embedder.Embed(t.Context(), []string{"x"}); err == nil || !strings.Contains(err.Error(), "embed.static: ") {
		t.Errorf("with damaged files: %v", err)
	}
	if got := o.Embedder.Name(); got != "static" {
		t.Errorf("the name of damaged files is %q", got)
	}
}

func TestOffline(t *testing.T) {
	for _, tt := range []struct {
		flag, variable, file string
		want                 bool
	}{
		{"", "", "", false},
		{"", "", "offline = true", true},
		{"", "0", "offline = true", false},
		{"", "1", "", true},
		{"false", "1", "", false},
		{"true", "0", "", true},
	} {
		w := newWorld(t, "", "", tt.file+"\n")
		w.vars["CARREL_OFFLINE"] = tt.variable
		s, err := Load(w.sources(map[string]string{"--offline": tt.flag}))
		if err != nil || s.Offline() != tt.want {
			t.Errorf("%+v: %v, %v", tt, s.Offline(), err)
		}
	}
	w := newWorld(t, "", "", "")
	w.vars["CARREL_OFFLINE"] = "perhaps"
	if _, err := Load(w.sources(nil)); err == nil || err.Error() != "CARREL_OFFLINE: wants true or false" {
		t.Errorf("a word without sense: %v", err)
	}
}

// A profile overrides lists and servers like all other settings.
func TestProfileOfArtifacts(t *testing.T) {
	w := newWorld(t, "", "", "sources.mcp.a.url = 'https://a.example.org'\n[profile.p]\nsources.hosts = ['b']\nsources.mcp.b.url = 'https://b.example.org'\n")
	for profile, want := range map[string]string{"default": "none; sources.mcp.a.url", "p": "b; sources.mcp.a.url sources.mcp.b.url"} {
		s, err := Load(w.sources(map[string]string{"--profile": profile}))
		if err != nil {
			t.Fatal(err)
		}
		names := make([]string, 0, 2)
		for _, v := range s.mcp() {
			names = append(names, v.Key)
		}
		if got := s.value("sources.hosts").String() + "; " + strings.Join(names, " "); got != want {
			t.Errorf("in %s: %s, want %s", profile, got, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for s, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "12h": 12 * time.Hour, "7d": 7 * day, "2w": 14 * day, "0": 0, "0d": 0, "1h30m": 90 * time.Minute, "15250w": 15250 * week,
	} {
		if got, err := ParseDuration(s); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "d", "-1d", "-1s", "1", "1.5d", "1y", "15251w", "7d2h", "+1d"} {
		if got, err := ParseDuration(s); err == nil || got != 0 {
			t.Errorf("ParseDuration(%q) = %v, want it refused", s, got)
		}
	}
}

// The printed form of a value parses to the same value.
func TestUnitsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.Int64Range(0, 1<<62).Draw(t, "duration") / 60e9 * 60e9
		if got, err := ParseDuration(Duration(d).String()); err != nil || int64(got) != d {
			t.Errorf("%d prints as %s, which is %d, %v", d, Duration(d), got, err)
		}
		size := Size(rapid.Int64Range(0, 1<<62).Draw(t, "size"))
		if got, err := ParseSize(size.String()); err != nil || got != size {
			t.Errorf("%d prints as %s, which is %d, %v", size, size, got, err)
		}
	})
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]Size{"256MiB": 256 << 20, "1 GiB": 1 << 30, "10MB": 10e6, "8589934591GiB": 8589934591 << 30, "3kB": 3000, "3KB": 3000, "7B": 7, "7": 7, "0": 0} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "MiB", "-1", "1.5MiB", "1TiB", "8589934592GiB", "1mib"} {
		if got, err := ParseSize(s); err == nil {
			t.Errorf("ParseSize(%q) = %d, want it refused", s, got)
		}
	}
}
