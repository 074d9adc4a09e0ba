package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const pluginDir = "../../../plugin"

// readJSON decodes a file of the plug-in into v, and fails if the file has a key that v lacks.
func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(pluginDir, name))
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if _, err := dec.Token(); err != io.EOF {
		t.Errorf("%s: more than one value", name)
	}
}

// A pluginManifest has the keys that every client accepts.
type pluginManifest struct {
	Schema      string            `json:"$schema"`
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Author      map[string]string `json:"author"`
	License     string            `json:"license"`
	Keywords    []string          `json:"keywords"`
}

func TestPluginManifests(t *testing.T) {
	var claude, agents pluginManifest
	readJSON(t, ".claude-plugin/plugin.json", &claude)
	readJSON(t, "plugin.json", &agents)
	if agents.Schema != "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json" || claude.Schema != "" {
		t.Errorf("schemas %q and %q", agents.Schema, claude.Schema)
	}
	agents.Schema = ""
	if got, want := fmt.Sprint(agents), fmt.Sprint(claude); got != want {
		t.Errorf("the manifests differ: %s and %s", got, want)
	}
	if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(claude.Name) || claude.Version == "" || claude.License != "Apache-2.0" {
		t.Errorf("manifest %+v", claude)
	}

	type servers struct {
		Schema  string                 `json:"$schema"`
		Servers map[string]stdioServer `json:"mcpServers"`
	}
	var forClaude, forAgents servers
	readJSON(t, ".mcp.json", &forClaude)
	readJSON(t, "mcp.json", &forAgents)
	want := map[string]stdioServer{"carrel": {"stdio", "carrel", []string{"mcp"}}}
	for _, got := range []servers{forClaude, forAgents} {
		if fmt.Sprint(got.Servers) != fmt.Sprint(want) {
			t.Errorf("servers %v, want %v", got.Servers, want)
		}
	}
	if forAgents.Schema != "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json" || forClaude.Schema != "" {
		t.Errorf("schemas %q and %q", forAgents.Schema, forClaude.Schema)
	}

	var market struct {
		Name        string            `json:"name"`
		Owner       map[string]string `json:"owner"`
		Description string            `json:"description"`
		Plugins     []struct {
			Name        string `json:"name"`
			Source      string `json:"source"`
			Description string `json:"description"`
		} `json:"plugins"`
	}
	readJSON(t, "../.claude-plugin/marketplace.json", &market)
	if len(market.Plugins) != 1 || market.Plugins[0].Name != claude.Name || market.Plugins[0].Source != "./plugin" ||
		market.Plugins[0].Description != claude.Description || market.Owner["name"] == "" {
		t.Errorf("marketplace %+v", market)
	}
}

// The skill follows the rules of agentskills.io and uses the names of the tools.
func TestSkill(t *testing.T) {
	path := filepath.Join(pluginDir, "skills/context-engine/SKILL.md")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, body, found := strings.Cut(strings.TrimPrefix(string(data), "---\n"), "\n---\n")
	if !found {
		t.Fatal("there is no front matter")
	}
	fields := make(map[string]string)
	for line := range strings.SplitSeq(head, "\n") {
		if key, value, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, " ") {
			fields[key] = value
		} else if !strings.HasPrefix(line, "  ") && line != "metadata:" {
			t.Errorf("front matter has the line %q", line)
		}
	}
	for key, value := range fields {
		if !slices.Contains([]string{"name", "description", "license", "compatibility", "allowed-tools"}, key) {
			t.Errorf("front matter has the key %q", key)
		}
		if strings.Contains(value, ": ") {
			t.Errorf("%s would be read as a map: %s", key, value)
		}
	}
	name := fields["name"]
	if name != filepath.Base(filepath.Dir(path)) || len(name) > 64 || !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(name) {
		t.Errorf("name %q", name)
	}
	if n := len(fields["description"]); n == 0 || n > 1024 || !strings.Contains(fields["description"], "Use when") {
		t.Errorf("description of %d bytes: %s", n, fields["description"])
	}
	if n := len(fields["compatibility"]); n > 500 {
		t.Errorf("compatibility of %d bytes", n)
	}
	if n := strings.Count(body, "\n"); n >= 500 {
		t.Errorf("body of %d lines, want fewer than 500", n)
	}
	if n := len(body) / 3; n >= 5000 { // of English, a token has more than 3 bytes
		t.Errorf("body of up to %d tokens, want fewer than 5000", n)
	}
	for _, tool := range []string{"get_messages", "discard_messages", "status", "compress", "recall", "search", "assemble", "pin"} {
		if !strings.Contains(body, "| `"+tool+"` |") {
			t.Errorf("the table has no %s", tool)
		}
	}
}

func TestPluginReadme(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(pluginDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(data))); n < 40 {
		t.Errorf("%d words, want at least 40", n)
	}
	if strings.Contains(string(data), "go install") {
		t.Error("the module is not published, so it cannot be installed by its path")
	}
}
