package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/tool"
)

func TestTriggerSettings(t *testing.T) {
	s, err := loadUser(t, "[budget]\neffective = 150_000\nfloor = 20_000\nwarn = 0.4\ncompress = 0.5\ncritical = 0.8\n")
	if err != nil {
		t.Fatal(err)
	}
	want := &pager.Trigger{Effective: 150_000, Floor: 20_000, Warn: 400_000, Compress: 500_000, Critical: 800_000}
	if diff := cmp.Diff(want, s.Trigger()); diff != "" {
		t.Errorf("trigger (-want +got):\n%s", diff)
	}
	if s, err = loadUser(t, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff((*pager.Trigger)(nil).Complete(), s.Trigger().Complete()); diff != "" {
		t.Errorf("without settings (-default +got):\n%s", diff)
	}
}

func TestToolSettings(t *testing.T) {
	s, err := loadUser(t, "[tools]\nmy_patcher = 'edit'\n'Bash' = 'other'\n'my.lookup' = 'read'\n")
	if err != nil {
		t.Fatal(err)
	}
	var o carrel.Options
	release, err := s.Engine(&o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	}()
	for name, want := range map[string]tool.Class{"MyPatcher": tool.Edit, "bash": tool.Other, "my.lookup": tool.Read, "Edit": tool.Edit} {
		if got := o.Tools.Class(name); got != want {
			t.Errorf("class of %s is %s, want %s", name, got, want)
		}
	}
}

func TestTriggerSettingsRefuse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"edges that fall", "[budget]\ncritical = 0.65", ":2: budget.critical: 0.65 is below budget.compress, 0.7"},
		{"a warning behind the edge", "[budget]\nwarn = 0.8", ":2: budget.warn: 0.8 is above budget.compress, 0.7"},
		{"an edge at nothing", "[budget]\nwarn = 0.0", ":2:1: budget.warn: wants a number above 0"},
		{"a floor of nothing", "budget.floor = 0", ":1:1: budget.floor: wants a number of tokens"},
		{"words for a figure", "budget.effective = 'lots'", ":1:1: budget.effective: wants a number of tokens"},
		{"a class that there is not", "tools.x = 'edits'", `:1:1: tools.x: "edits" is none of edit, plan,`},
		{"a tool without a name", "tools.'-' = 'edit'", `:1: tools.-: tool "-": a name needs a letter or a digit`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := loadUser(t, tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Load: %v, want %s", err, tt.want)
			}
		})
	}
}
