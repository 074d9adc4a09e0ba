package admin

import (
	"fmt"
	"strings"
	"testing"
)

// The extension for Gemini CLI has the name and version of the plug-in, the server, and the hooks
// that setup writes. Its hooks do nothing if carrel is not installed.
func TestGeminiExtension(t *testing.T) {
	var m struct {
		Name        string                 `json:"name"`
		Version     string                 `json:"version"`
		Description string                 `json:"description"`
		Servers     map[string]geminiStdio `json:"mcpServers"`
	}
	readJSON(t, "gemini/gemini-extension.json", &m)
	var plugin pluginManifest
	readJSON(t, "plugin.json", &plugin)
	if m.Name != plugin.Name || m.Version != plugin.Version || m.Description != plugin.Description || fmt.Sprint(m.Servers) != "map[carrel:{carrel [mcp]}]" {
		t.Errorf("manifest %+v", m)
	}
	var h struct {
		Hooks map[string][]hookGroup `json:"hooks"`
	}
	readJSON(t, "gemini/hooks/hooks.json", &h)
	table := geminiHooks()
	for i := range table.events {
		e := &table.events[i]
		want := table.group(e, "carrel")
		got := h.Hooks[e.name]
		if len(got) != 1 || got[0].Matcher != want.Matcher || len(got[0].Hooks) != 1 || got[0].Hooks[0].Timeout != want.Hooks[0].Timeout {
			t.Errorf("%s: %+v, want as %+v", e.name, got, want)
			continue
		}
		if c := got[0].Hooks[0].Command; !strings.HasPrefix(c, "if command -v carrel >/dev/null 2>&1; then exec "+want.Hooks[0].Command+"; ") || !strings.HasSuffix(c, "fi") {
			t.Errorf("%s: %s", e.name, c)
		}
	}
	if len(h.Hooks) != len(table.events) {
		t.Errorf("%d events, want %d", len(h.Hooks), len(table.events))
	}
}
