package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/server/hook"
)

func TestHookSettings(t *testing.T) {
	for _, c := range []struct {
		name, file string
		want       hook.Options
	}{
		{"built in", "", hook.Options{
			Scope: "local/default", Large: 25_000, Pointer: carrel.StashTokens, Brief: carrel.BriefTokens, Limit: 5 * time.Second,
		}},
		{"all set", "scope = \"team/lamp\"\n[hook]\nlarge = \"64KiB\"\npointer = 900\nbrief = 600\nmemory = 500\nlimit = \"2s\"\nsecrets = true\n", hook.Options{
			Scope: "team/lamp", Large: 64 << 10, Pointer: 900, Brief: 600, Memory: 500, Limit: 2 * time.Second, Secrets: true,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := loadUser(t, c.file)
			if err != nil {
				t.Fatal(err)
			}
			var got hook.Options
			s.Hook(&got)
			c.want.Scope = s.Scope()
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("options (-want +got):\n%s", diff)
			}
		})
	}
	for _, file := range []string{"[hook]\npointer = 10\n", "[hook]\nbrief = 0\n", "[hook]\nlarge = 0\n", "[hook]\nlimit = 5\n"} {
		if _, err := loadUser(t, file); err == nil || !strings.Contains(err.Error(), ":2") {
			t.Errorf("%q: %v, want an error about line 2", file, err)
		}
	}
}
