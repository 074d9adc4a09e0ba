package admin

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/transcript"
)

// newSetupFile returns a file with the given parts, which are added or removed together.
func newSetupFile(path string, parts ...setupPart) *setupFile {
	return &setupFile{path: path, parts: parts, all: parts}
}

func hooksFile(path string) *setupFile {
	return newSetupFile(path, claudeHooks().part("carrel"))
}

func serverFile() *setupFile {
	return newSetupFile("f", claudeServer().part("carrel"))
}

func TestServerIsSplicedIn(t *testing.T) {
	const server = `"carrel": {
      "type": "stdio",
      "command": "carrel",
      "args": [
        "mcp"
      ]
    }`
	for _, tt := range []struct{ name, before, after string }{
		{"no file", "", "{\n  \"mcpServers\": {\n    " + server + "\n  }\n}\n"},
		{"an empty object", "{}", "{\n  \"mcpServers\": {\n    " + server + "\n  }\n}"},
		{"an object in two lines", "{\n}\n", "{\n  \"mcpServers\": {\n    " + server + "\n  }\n}\n"},
		{
			"other servers", "{\n  \"a\": 1.50,\n  \"mcpServers\": {\n    \"desk\": {}\n  }\n}\n",
			"{\n  \"a\": 1.50,\n  \"mcpServers\": {\n    " + server + ",\n    \"desk\": {}\n  }\n}\n",
		},
		{
			"comments, and commas that lead to nothing", "{\n  // my servers\n  \"mcpServers\": {\n    \"desk\": {}, /* the last */\n  },\n}\n",
			"{\n  // my servers\n  \"mcpServers\": {\n    " + server + ",\n    \"desk\": {}, /* the last */\n  },\n}\n",
		},
		{
			"other indentation", "{\n\t\"a\": {\"b\": \"//\"}\n}\n",
			"{\n" + strings.ReplaceAll("  \"mcpServers\": {\n    "+server+"\n  },\n", "  ", "\t") + "\t\"a\": {\"b\": \"//\"}\n}\n",
		},
		{
			"a server that the client wrote itself", `{"mcpServers":{"carrel":{"type":"stdio","command":"carrel","args":["mcp"],"env":{}}}}`,
			`{"mcpServers":{"carrel":{"type":"stdio","command":"carrel","args":["mcp"],"env":{}}}}`,
		},
		{
			"one of another place", "{\n  \"mcpServers\": {\n    \"carrel\": {\"env\": {\"CARREL_STORE\": \"/x\"}, \"type\": \"stdio\", \"command\": \"/old/carrel\", \"args\": [\"mcp\"]},\n    \"desk\": {}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"carrel\": {\"env\": {\"CARREL_STORE\": \"/x\"}, \"type\": \"stdio\", \"command\": \"carrel\", \"args\": [\"mcp\"]},\n    \"desk\": {}\n  }\n}\n",
		},
		{
			"one without a type", "{\n  \"mcpServers\": {\n    \"carrel\": {\n      \"command\": \"/old/carrel\", // mine\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"carrel\": {\n      \"type\": \"stdio\",\n      \"command\": \"carrel\", // mine\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := serverFile().with([]byte(tt.before))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.after, string(got)); diff != "" {
				t.Errorf("file (-want +got):\n%s", diff)
			}
			again, err := serverFile().with(got)
			if err != nil || string(again) != string(got) {
				t.Errorf("a second time it is %s, %v", again, err)
			}
		})
	}
}

func TestSetupRefusesWhatItCannotRead(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		line       int
		file       *setupFile
	}{
		{"no JSON", "{\n  \"a\": 1,\n  oops\n}\n", 3, hooksFile("f")},
		{"half of it", "{\n  \"hooks\": {", 2, hooksFile("f")},
		{"a comment without an end", "{\n  /* \n}\n", 2, hooksFile("f")},
		{"no object", "\n[]\n", 2, hooksFile("f")},
		{"hooks that are none", "{\n  \"a\": 1,\n  \"hooks\": []\n}\n", 3, hooksFile("f")},
		{"an event that is no list", "{\n  \"hooks\": {\n    \"Stop\": 7\n  }\n}\n", 3, hooksFile("f")},
		{"a key that comes twice", "{\n  \"hooks\": {},\n  \"hooks\": {}\n}\n", 3, hooksFile("f")},
		{"servers that are none", "{\n  \"mcpServers\": 1\n}\n", 2, serverFile()},
		{"another server of that name", "{\n  \"mcpServers\": {\n    \"carrel\": {\"command\": \"wood\"}\n  }\n}\n", 3, serverFile()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.file.with([]byte(tt.text))
			e, ok := errors.AsType[*transcript.SyntaxError](err)
			if !ok || e.Line != tt.line || e.Name != "f" {
				t.Errorf("error %v, want one about line %d of f", err, tt.line)
			}
		})
	}
}

// For any content of a file: setup adds only its own parts, a second setup changes nothing, and
// an undo leaves the rest.
func TestSetupProperties(t *testing.T) {
	var value *rapid.Generator[any]
	value = rapid.Deferred(func() *rapid.Generator[any] {
		return rapid.OneOf(
			rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Int32().AsAny(), rapid.String().AsAny(),
			rapid.SliceOfN(value, 0, 3).AsAny(), rapid.MapOfN(rapid.StringMatching(`[a-c]`), value, 0, 3).AsAny(),
		)
	})
	group := rapid.SampledFrom([]any{
		map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "notify hook claude Stop"}}},
		map[string]any{"matcher": "Bash", "hooks": []any{}},
		"odd",
	})
	rapid.Check(t, func(rt *rapid.T) {
		settings := rapid.MapOfN(rapid.StringMatching(`[a-f]`), value, 0, 4).Draw(rt, "settings")
		if rapid.Bool().Draw(rt, "has hooks") {
			hooks := make(map[string]any)
			for event, list := range rapid.MapOfN(rapid.SampledFrom([]string{"Stop", "PreCompact", "Setup"}), rapid.SliceOfN(group, 1, 3), 1, 3).Draw(rt, "hooks") {
				hooks[event] = list
			}
			settings["hooks"] = hooks
		}
		if rapid.Bool().Draw(rt, "has servers") {
			settings["mcpServers"] = map[string]any{"desk": value.Draw(rt, "server")}
		}
		data, err := json.Marshal(settings)
		if indent := rapid.SampledFrom([]string{"", "  ", "\t", "    "}).Draw(rt, "indent"); indent != "" {
			data, err = json.MarshalIndent(settings, "", indent)
		}
		if err != nil {
			rt.Fatal(err)
		}
		for _, f := range []*setupFile{hooksFile("f"), serverFile()} {
			with, err := f.with(data)
			if err != nil {
				rt.Fatal(err)
			}
			if !json.Valid(with) {
				rt.Fatalf("no JSON any more: %s", with)
			}
			if again, err := f.with(with); err != nil || string(again) != string(with) {
				rt.Fatalf("a second time (%v):\n%s\nthe first time:\n%s", err, again, with)
			}
			without, err := f.without(with)
			if err != nil || !sameJSON(without, data) {
				rt.Fatalf("taken out again (%v):\n%s\nit was:\n%s", err, without, data)
			}
			dir := t.TempDir()
			f.path = filepath.Join(dir, "settings.json")
			j := job.New(&job.Env{})
			if err := os.WriteFile(f.path, data, 0o600); err != nil {
				rt.Fatal(err)
			}
			for _, undo := range []bool{false, false, true, true} {
				c, err := plan(f, undo)
				if err == nil && c.action() != "none" {
					err = applyChange(j, c)
				}
				if err != nil {
					rt.Fatal(err)
				}
			}
			left, err := os.ReadDir(dir)
			if err != nil || len(left) != 1 {
				rt.Fatalf("files %v, %v, want one", left, err)
			}
			if back, err := os.ReadFile(f.path); err != nil || string(back) != string(data) {
				rt.Fatalf("undone (%v):\n%s\nit was:\n%s", err, back, data)
			}
		}
	})
}

// An undo keeps changes that other programs made after setup.
func TestUndoKeepsLaterChanges(t *testing.T) {
	f := hooksFile(filepath.Join(t.TempDir(), "settings.json"))
	j := job.New(&job.Env{})
	step := func(undo bool) {
		t.Helper()
		c, err := plan(f, undo)
		if err == nil {
			err = applyChange(j, c)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(f.path, []byte("{\n  \"model\": \"opus\"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	step(false)
	data, err := os.ReadFile(f.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.path, []byte(strings.Replace(string(data), "opus", "haiku", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	step(true)
	if data, err = os.ReadFile(f.path); err != nil || string(data) != "{\n  \"model\": \"haiku\"\n}\n" {
		t.Errorf("file is %s, %v", data, err)
	}
}

// Comments beside an entry of Carrel stay when the entry is removed.
func TestCommentsStay(t *testing.T) {
	for _, tt := range []struct{ before, after string }{
		{"{\n  \"env\": {\"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:8787/anthropic\"},\n  // mine\n  \"a\": 1\n}\n", "{\n  // mine\n  \"a\": 1\n}\n"},
		{"{\n  \"a\": 1, // mine, too\n  \"env\": {\"ANTHROPIC_BASE_URL\": \"http://127.0.0.1:8787/anthropic\"}\n}\n", "{\n  \"a\": 1 // mine, too\n}\n"},
		{"{\"a\":1/* x */,\"env\":{\"ANTHROPIC_BASE_URL\":\"http://127.0.0.1:8787/anthropic\"}/* y */,\"b\":2}", "{\"a\":1/* x */,/* y */\"b\":2}"},
	} {
		got, err := newSetupFile("f", claudeURL(testProxy)).without([]byte(tt.before))
		if err != nil || string(got) != tt.after {
			t.Errorf("got %q, %v; want %q", got, err, tt.after)
		}
	}
}

// A comment before a comma stays, too, and nothing behind the entry is touched.
func TestCommentsBeforeCommas(t *testing.T) {
	const mine = `{"hooks": []}`
	const ours = `{"hooks": [{"type": "command", "command": "carrel hook claude Stop"}]}`
	for _, tt := range []struct{ before, after string }{
		{`{"hooks":{"Stop":[` + mine + ` /* x */     , ` + ours + `]},"zoom":1}`, `{"hooks":{"Stop":[` + mine + ` /* x */]},"zoom":1}`},
		{`{"hooks":{"Stop":[` + mine + ` /* x */, ` + ours + `]},"zoom":1}`, `{"hooks":{"Stop":[` + mine + ` /* x */]},"zoom":1}`},
		{`{"hooks":{"Stop":[` + mine + " // x,\n, " + ours + "\n]}}", `{"hooks":{"Stop":[` + mine + " // x,\n]}}"},
		{`{"hooks":{"Stop":[` + mine + ", // x\n" + ours + "]}}", `{"hooks":{"Stop":[` + mine + " // x\n]}}"},
		{`{"hooks":{"Stop":[` + mine + ", // x\n" + ours + " ,]}}", `{"hooks":{"Stop":[` + mine + " // x\n ,]}}"},
	} {
		got, err := hooksFile("f").without([]byte(tt.before))
		if err != nil || string(got) != tt.after {
			t.Errorf("%s\ngot  %s, %v\nwant %s", tt.before, got, err, tt.after)
		}
	}
}

// Whatever comments, blanks and commas a file has: without the hooks of setup it has its other values,
// also after a newer program has replaced the hooks.
func TestHooksAmongComments(t *testing.T) {
	const mine = `{"hooks":[]}`
	const ours = `{"hooks":[{"type":"command","command":"carrel hook claude Stop"}]}`
	rapid.Check(t, func(rt *rapid.T) {
		gap := func() string {
			return rapid.SampledFrom([]string{"", "", " ", "\n", " /* a, b */ ", "/* ] */", "// c, }\n", "    "}).Draw(rt, "gap")
		}
		entries := rapid.SliceOfN(rapid.SampledFrom([]string{mine, ours}), 1, 4).Draw(rt, "entries")
		list, kept := "[", []string{}
		for i, e := range entries {
			if i > 0 {
				list += gap() + ","
			}
			list += gap() + e
			if e == mine {
				kept = append(kept, e)
			}
		}
		comma := rapid.SampledFrom([]string{"", ","})
		list += gap() + comma.Draw(rt, "comma") + gap() + "]"
		text := "{" + gap() + `"zoom":1,` + gap() + `"hooks":{` + gap() + `"Stop":` + gap() + list + gap() + comma.Draw(rt, "comma") + "}" + gap() + `,"z":[2]` + comma.Draw(rt, "comma") + gap() + "}" + gap()
		want := `{"zoom":1,"hooks":{"Stop":[` + strings.Join(kept, ",") + `]},"z":[2]}`
		if len(kept) == 0 {
			want = `{"zoom":1,"z":[2]}`
		}
		f := hooksFile("f")
		got, err := f.without([]byte(text))
		st := &settingsText{name: "f", data: got}
		if err != nil || !sameJSON(st.plain(), []byte(want)) {
			rt.Fatalf("%s\nis without the hooks\n%s\n%v, want\n%s", text, got, err, want)
		}
		newer := newSetupFile("f", claudeHooks().part("/new/carrel"))
		with, err := newer.with([]byte(text))
		if err != nil {
			rt.Fatalf("%s: %v", text, err)
		}
		if got, err = newer.without(with); err != nil {
			rt.Fatalf("%s: %v", with, err)
		}
		if st.data = got; !sameJSON(st.plain(), []byte(want)) {
			rt.Fatalf("%s\nwith a newer program\n%s\nis without it\n%s", text, with, got)
		}
	})
}

// A comma behind the last entry goes with the entry, and not a comma in a comment.
func TestTrailingCommas(t *testing.T) {
	const server = `"carrel": {"type": "stdio", "command": "/old/carrel", "args": ["mcp"]}`
	const hook = `{"hooks": [{"type": "command", "command": "carrel hook claude Stop"}]}`
	for _, tt := range []struct {
		file          *setupFile
		before, after string
	}{
		{serverFile(), `{"mcpServers": {` + server + `,},}`, `{}`},
		{serverFile(), `{"mcpServers": {` + server + ` /* a, b */ , /* c, d */},}`, `{}`},
		{serverFile(), `{"a": "x,y", "mcpServers": {` + server + `, // a, b` + "\n}}", `{"a": "x,y"}`},
		{serverFile(), `{"mcpServers": {"desk": {}, ` + server + `,},}`, `{"mcpServers": {"desk": {},},}`},
		{hooksFile("f"), `{"hooks": {"Stop": [` + hook + `,],},}`, `{}`},
	} {
		got, err := tt.file.without([]byte(tt.before))
		if err != nil || string(got) != tt.after {
			t.Errorf("%s without it is %s, %v; want %s", tt.before, got, err, tt.after)
		}
		with, err := tt.file.with([]byte(tt.before))
		if err != nil {
			t.Errorf("a newer entry in %s: %v", tt.before, err)
		}
		if again, err := tt.file.with(with); err != nil || string(again) != string(with) {
			t.Errorf("a second time %s: %s, %v", with, again, err)
		}
	}
}

// Setup does not overwrite a change that was made between plan and write.
func TestSetupSeesARace(t *testing.T) {
	f := hooksFile(filepath.Join(t.TempDir(), "settings.json"))
	for _, text := range []string{"{}", "{ }"} {
		c, err := plan(f, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := applyChange(job.New(&job.Env{}), c); err == nil {
			t.Errorf("the file was overwritten when it became %s", text)
		}
	}
}

func TestDiffShowsNoCredential(t *testing.T) {
	key := "sk-ant-" + "api03-" + strings.Repeat("Ab3dE6gH", 11) + "-x1Y2z3AA"
	c := &fileChange{path: "f", before: []byte(`{"key":"` + key + `"}`), after: []byte("{\n\"a\":1,\n" + `"key":"` + key + `"}`)}
	if d := c.diff(); strings.Contains(d, key) || !strings.Contains(d, "+{\n") {
		t.Errorf("diff:\n%s", d)
	}
}

// The plug-in and setup register the same hooks.
func TestPluginHooks(t *testing.T) {
	data, err := os.ReadFile("../../../plugin/hooks/hooks.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Hooks map[string][]hookGroup }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	want := make(map[string][]hookGroup)
	table := claudeHooks()
	for i := range table.events {
		g := table.group(&table.events[i], "carrel")
		c := &g.Hooks[0]
		c.Command = "if command -v carrel >/dev/null 2>&1; then exec " + c.Command + "; fi"
		want[table.events[i].name] = []hookGroup{g}
	}
	for event, groups := range file.Hooks {
		if before, rest, found := strings.Cut(groups[0].Hooks[0].Command, "; else "); found && event == "SessionStart" {
			if !strings.Contains(rest, "go build -o carrel ./cmd/carrel") || strings.Contains(rest, "install ") {
				t.Errorf("without the program it runs %s", rest)
			}
			groups[0].Hooks[0].Command = before + "; fi"
		}
	}
	if diff := cmp.Diff(want, file.Hooks); diff != "" {
		t.Errorf("hooks of the plug-in (-setup +plugin):\n%s", diff)
	}
}

// For any content of a file setup does not panic, and writes only what a client can read.
func FuzzSettingsText(f *testing.F) {
	for _, seed := range []string{"", "{}", "{ // c\n}", "{\"hooks\":{\"Stop\":[{},],},/* */}", "[", "{\"a\":\"\\\"//\"}", "{\"mcpServers\":{\"carrel\":{}}}", "{\"mcpServers\":{\"carrel\":{\"type\":\"stdio\",\"command\":\"/old/carrel\",\"args\":[\"mcp\"]},},}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, file := range []*setupFile{hooksFile("f"), serverFile()} {
			with, err := file.with([]byte(text))
			if err != nil {
				continue
			}
			st := &settingsText{name: "f", data: with}
			if plain := st.plain(); !json.Valid(plain) || len(plain) != len(with) {
				t.Fatalf("no JSON any more: %s", with)
			}
			again, err := file.with(with)
			if err != nil || string(again) != string(with) {
				t.Fatalf("a second time: %s, %v", again, err)
			}
			if _, err := file.without(with); err != nil {
				t.Fatalf("taken out: %v", err)
			}
		}
	})
}
