package admin

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/transcript"
)

const testProxy = "http://127.0.0.1:8787"

func TestProxyIsSplicedIn(t *testing.T) {
	provider := urlPart(testProxy+"/openai/v1", "openai", "provider", "openai", "options", "baseURL")
	for _, tt := range []struct {
		name, before, after string
		part                setupPart
	}{
		{
			"Claude Code, no file", "", "{\n  \"env\": {\n    \"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:8787/anthropic\"\n  }\n}\n", claudeURL(testProxy),
		},
		{
			"Claude Code, other variables", "{\n  \"env\": {\n    \"A\": \"1\" // mine\n  }\n}\n",
			"{\n  \"env\": {\n    \"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:8787/anthropic\",\n    \"A\": \"1\" // mine\n  }\n}\n", claudeURL(testProxy),
		},
		{
			"Claude Code, it is there in another spelling", `{"env":{"ANTHROPIC_BASE_URL":"http:\/\/127.0.0.1:8787\/anthropic"}}`,
			`{"env":{"ANTHROPIC_BASE_URL":"http:\/\/127.0.0.1:8787\/anthropic"}}`, claudeURL(testProxy),
		},
		{
			"OpenCode, a provider with options", "{\n  \"provider\": {\n    \"openai\": {\n      \"options\": {}\n    }\n  }\n}\n",
			"{\n  \"provider\": {\n    \"openai\": {\n      \"options\": {\n        \"baseURL\": \"http://127.0.0.1:8787/openai/v1\"\n      }\n    }\n  }\n}\n", provider,
		},
		{
			"OpenCode, no provider", "{\n  \"model\": \"x\"\n}\n",
			"{\n  \"provider\": {\n    \"openai\": {\n      \"options\": {\n        \"baseURL\": \"http://127.0.0.1:8787/openai/v1\"\n      }\n    }\n  },\n  \"model\": \"x\"\n}\n", provider,
		},
		{
			"Codex, a model and a table", "model = \"gpt-6\"\n[tools]\nweb = true", between("", "model_provider = \"carrel\"\n") +
				"model = \"gpt-6\"\n[tools]\nweb = true\n\n" + between("", "[model_providers.carrel]\nname = \"OpenAI through Carrel\"\n"+
				"base_url = \"http://127.0.0.1:8787/openai/v1\"\nwire_api = \"responses\"\nrequires_openai_auth = true\nsupports_websockets = false\n"),
			codexPart(testProxy),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newSetupFile("f", tt.part)
			for round, before := range []string{tt.before, tt.after} {
				got, err := f.with([]byte(before))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.after, string(got)); diff != "" {
					t.Errorf("round %d (-want +got):\n%s", round, diff)
				}
			}
		})
	}
}

func TestProxySetupRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		line       int
		part       setupPart
	}{
		{"a gateway of Claude Code", "{\n  \"env\": {\n    \"ANTHROPIC_BASE_URL\": \"https://gateway.example.org\"\n  }\n}\n", 3, claudeURL(testProxy)},
		{"a gateway on this machine", `{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:4000"}}`, 1, claudeURL(testProxy)},
		{"a gateway with the name of this machine", `{"env": {"ANTHROPIC_BASE_URL": "http://localhost:4000/anthropic"}}`, 1, claudeURL(testProxy)},
		{"a gateway that may be an earlier proxy", `{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:4000/anthropic"}}`, 1, claudeURL(testProxy)},
		{"an address that is none", `{"env": {"ANTHROPIC_BASE_URL": 7}}`, 1, claudeURL(testProxy)},
		{"variables that are none", "{\n  \"env\": []\n}\n", 2, claudeURL(testProxy)},
		{"a provider of Codex", "model = \"m\"\nmodel_provider = \"azure\"\n", 2, codexPart(testProxy)},
		{"a provider behind a comment about it", "# model_provider is explained\nmodel = \"m\"\n\"model_provider\" = \"azure\"\n[model_providers.x]\nname = \"x\"\n", 3, codexPart(testProxy)},
		{"another provider of our name", "[model_providers.carrel]\nname = \"x\"\n", 0, codexPart(testProxy)},
		{"no TOML", "a = 1\nb = = 2\n", 2, codexPart(testProxy)},
		{"half of a server", "a = 1\n" + codexBegin + ofServer + "\n[mcp_servers.carrel]\n", 2, codexServer("carrel")},
		{"half of what setup wrote", "a = 1\n" + codexBegin + "\nmodel_provider = \"carrel\"\n", 2, codexPart(testProxy)},
		{"another server of our name", "[mcp_servers.carrel]\ncommand = \"wood\"\n", 0, codexServer("carrel")},
		{"servers in a line", "mcp_servers = { x = { command = \"x\" } }\n", 0, codexServer("carrel")},
		{"providers in a line", "model_providers = { x = { name = \"x\" } }\n", 0, codexPart(testProxy)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.part.with("f", []byte(tt.text))
			e, ok := errors.AsType[*transcript.SyntaxError](err)
			if !ok || tt.line > 0 && e.Line != tt.line || e.Name != "f" {
				t.Errorf("error %v, file %s; want an error about line %d of f", err, got, tt.line)
			}
		})
	}
}

// For any settings of Codex: after setup they are TOML with the same values plus the provider, a
// second setup changes nothing, and an undo restores them.
func TestCodexSetupProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{
			"# mine", "", "  ", "model = \"gpt-6\"", "[tools]\nweb = true", "[[hooks]]\nx = 1", "[model_providers.azure]\nname = \"a\"", "text = \"\"\"\n[a]\n\"\"\"",
		})).Draw(rt, "lines")
		text := strings.Join(lines, "\n") + rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(rt, "end")
		var before map[string]any
		if toml.Unmarshal([]byte(text), &before) != nil {
			rt.Skip("a key or a table comes twice")
		}
		provider, server := codexPart(testProxy), codexServer(`C:\dir\carrel.exe`)
		parts := rapid.SampledFrom([][]setupPart{{provider, server}, {server, provider}}).Draw(rt, "parts")
		f := newSetupFile(filepath.Join(t.TempDir(), "config.toml"), parts...)
		with, err := f.with([]byte(text))
		if err != nil {
			rt.Fatal(err)
		}
		var after map[string]any
		if err := toml.Unmarshal(with, &after); err != nil {
			rt.Fatalf("%v in:\n%s", err, with)
		}
		providers, _ := after["model_providers"].(map[string]any)
		if after["model_provider"] != "carrel" || providers["carrel"] == nil {
			rt.Fatalf("the provider is not named:\n%s", with)
		}
		servers, _ := after["mcp_servers"].(map[string]any)
		if s, _ := servers["carrel"].(map[string]any); s["command"] != `C:\dir\carrel.exe` || len(servers) != 1 {
			rt.Fatalf("the server is not there:\n%s", with)
		}
		delete(after, "model_provider")
		delete(after, "mcp_servers")
		delete(providers, "carrel")
		if len(providers) == 0 {
			delete(after, "model_providers")
		}
		if diff := cmp.Diff(before, after); diff != "" && len(before)+len(after) > 0 {
			rt.Fatalf("it says something else (-before +after):\n%s", diff)
		}
		for _, p := range parts {
			alone := newSetupFile("f", p)
			one, err := alone.with([]byte(text))
			if err != nil {
				rt.Fatal(err)
			}
			if again, err := alone.with(one); err != nil || string(again) != string(one) {
				rt.Fatalf("a second time (%v):\n%s", err, again)
			}
			if left, err := newSetupFile("f", parts[:1]...).without(with); err != nil || strings.Count(string(left), codexBegin) == 0 {
				rt.Fatalf("with one part taken out (%v):\n%s", err, left)
			}
		}
		if without, err := f.without(with); err != nil || strings.TrimRight(string(without), "\n") != strings.TrimRight(text, "\n") {
			rt.Fatalf("taken out (%v): %q, it was %q", err, without, text)
		}
	})
}

// If Codex or another part of setup has added lines behind a part, a second setup changes nothing,
// a newer program replaces the part, and an undo leaves the added lines only.
func TestCodexSetupWithLinesBehind(t *testing.T) {
	const mine, later = "model = \"m\"\n", "\n[projects.\"/x\"]\ntrust_level = \"trusted\"\n"
	for _, parts := range [][]setupPart{
		{codexServer("/old/carrel"), codexPart(testProxy), codexServer("/new/carrel")},
		{codexPart(testProxy), codexServer("/new/carrel"), codexPart("http://127.0.0.1:9911")},
	} {
		text := []byte(mine)
		step := func(do func(string, []byte) ([]byte, error)) string {
			t.Helper()
			next, err := do("f", text)
			if err != nil {
				t.Fatal(err)
			}
			text = next
			return string(next)
		}
		for _, p := range parts[:2] {
			step(p.with)
		}
		before := string(text) + later
		text = []byte(before)
		for _, p := range parts[:2] {
			if got := step(p.with); got != before {
				t.Errorf("a second time (-first +second):\n%s", cmp.Diff(before, got))
			}
		}
		step(parts[2].with)
		for _, p := range parts[1:] {
			step(p.without)
		}
		if got := string(text); got != mine+later {
			t.Errorf("taken out it is %q, want %q", got, mine+later)
		}
	}
}

// Hooks and the address of the proxy are in one file. An undo of all restores the file byte for
// byte, in whatever order the parts were added.
func TestUndoTakesAllPartsOut(t *testing.T) {
	for _, before := range []string{"", "{\"env\": {}, \"a\": 1}\n"} {
		for _, order := range [][2]int{{0, 1}, {1, 0}} {
			hooks, url := hooksFile("").parts[0], claudeURL(testProxy)
			parts := []setupPart{hooks, url}
			path := filepath.Join(t.TempDir(), "settings.json")
			if before != "" {
				if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			steps := []struct {
				f    setupFile
				undo bool
			}{
				{setupFile{path: path, parts: parts[order[0] : order[0]+1], all: parts}, false},
				{setupFile{path: path, parts: parts[order[1] : order[1]+1], all: parts}, false},
				{*newSetupFile(path, parts...), true},
			}
			for i := range steps {
				c, err := plan(&steps[i].f, steps[i].undo)
				if err == nil {
					err = applyChange(job.New(&job.Env{}), c)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if now, err := readIfThere(path); err != nil || string(now) != before {
				t.Errorf("in the order %v the file is %q, %v; it was %q", order, now, err, before)
			}
			if left, err := readIfThere(path + backupSuffix); left != nil || err != nil {
				t.Errorf("the backup is left: %s, %v", left, err)
			}
		}
	}
}
