package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/server/proxy"
)

// environ returns a Getenv for the variables of a map.
func environ(vars map[string]string) Getenv { return func(name string) string { return vars[name] } }

func TestStore(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "project", "deep", "er")
	for _, dir := range []string{deep, filepath.Join(root, "project", ProjectDir), filepath.Join(root, "elsewhere")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	// A file of that name is no project.
	if err := os.WriteFile(filepath.Join(deep, ProjectDir), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(root, "project", ProjectDir, "carrel.db")
	elsewhere := filepath.Join(root, "elsewhere")
	home := filepath.Join(root, "home")
	for _, tt := range []struct {
		name string
		vars map[string]string
		dir  string
		flag string
		want string
	}{
		{"a flag wins over all", map[string]string{"CARREL_STORE": "b.db"}, deep, "a.db", filepath.Join(deep, "a.db")},
		{"an absolute flag", nil, deep, filepath.Join(root, "a.db"), filepath.Join(root, "a.db")},
		{"the environment wins over a project", map[string]string{"CARREL_STORE": "b.db"}, deep, "", filepath.Join(deep, "b.db")},
		{"a project above", map[string]string{"HOME": home}, deep, "", project},
		{"a project here", map[string]string{"HOME": home}, filepath.Join(root, "project"), "", project},
		{"the user's, by default", map[string]string{"HOME": home}, elsewhere, "", filepath.Join(home, ".local", "share", "carrel", "carrel.db")},
		{"the user's", map[string]string{"HOME": home, "XDG_DATA_HOME": filepath.Join(root, "data")}, elsewhere, "", filepath.Join(root, "data", "carrel", "carrel.db")},
		{"a relative XDG folder does not count", map[string]string{"HOME": home, "XDG_DATA_HOME": "data"}, elsewhere, "", filepath.Join(home, ".local", "share", "carrel", "carrel.db")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Load(&Sources{Getenv: environ(tt.vars), Dir: tt.dir, Flags: map[string]string{"--store": tt.flag}})
			if err != nil {
				t.Fatal(err)
			}
			if got, err := s.Store(); err != nil || got != tt.want {
				t.Errorf("the store is %q, %v, want %q", got, err, tt.want)
			}
		})
	}
	s, err := Load(&Sources{Getenv: environ(nil), Dir: elsewhere})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Store()
	if e, ok := errors.AsType[*Error](err); !ok || e.Name != "HOME" {
		t.Errorf("without HOME the error is %v", err)
	}
}

func TestClock(t *testing.T) {
	own := time.Unix(42, 0).UTC()
	now := func() time.Time { return own }
	for _, tt := range []struct {
		name string
		flag string
		vars map[string]string
		want string // or the name in the error
	}{
		{"none is set", "", nil, own.Format(time.RFC3339)},
		{"the flag wins", "2026-01-31T12:00:00+01:00", map[string]string{"CARREL_NOW": "x"}, "2026-01-31T11:00:00Z"},
		{"a date", "2026-01-31", nil, "2026-01-31T00:00:00Z"},
		{"the variable", "", map[string]string{"CARREL_NOW": "0", "SOURCE_DATE_EPOCH": "7"}, "1970-01-01T00:00:00Z"},
		{"seconds", "", map[string]string{"SOURCE_DATE_EPOCH": "1760000000"}, "2025-10-09T08:53:20Z"},
		{"a flag without sense", "noon", nil, "--now"},
		{"a variable without sense", "", map[string]string{"SOURCE_DATE_EPOCH": "noon"}, "SOURCE_DATE_EPOCH"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			clock, err := Clock(environ(tt.vars), tt.flag, now)
			if err == nil {
				got = clock().Format(time.RFC3339)
			} else if e, ok := errors.AsType[*Error](err); ok {
				got = e.Name
			}
			if got != tt.want {
				t.Errorf("Clock() is %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestScope(t *testing.T) {
	for _, tt := range []struct{ flag, variable, want string }{
		{"", "", "local"},
		{"", "acme/web", "acme/web"},
		{"a/b/c", "acme/web", "a/b/c"},
	} {
		s, err := Load(&Sources{
			Getenv: environ(map[string]string{"CARREL_SCOPE": tt.variable}), Dir: t.TempDir(),
			Flags: map[string]string{"--scope": tt.flag},
		})
		if err != nil || string(s.Scope()) != tt.want {
			t.Errorf("with %q and %q the scope is %v, %v, want %q", tt.flag, tt.variable, s, err, tt.want)
		}
	}
	_, err := Load(&Sources{Getenv: environ(map[string]string{"CARREL_SCOPE": "a b"}), Dir: t.TempDir()})
	if e, ok := errors.AsType[*Error](err); !ok || e.Name != "CARREL_SCOPE" {
		t.Errorf("a wrong variable: %v", err)
	}
}

// A certificate or a key alone is a mistake that plain HTTP must not hide.
func TestSchemes(t *testing.T) {
	for want, servers := range map[string][]Server{"http": {{}}, "https": {{Cert: "c"}, {Key: "k"}, {Cert: "c", Key: "k"}, {ACME: []string{"a"}}}} {
		for _, s := range servers {
			if got := s.Scheme(); got != want {
				t.Errorf("%+v: %s, want %s", s, got, want)
			}
		}
	}
}

// A rate of 0 means no limit.
func TestServerAndProxySettings(t *testing.T) {
	s, err := loadUser(t, "budget.window = 9\nserver.limits.address_rate = 0\nproxy.compaction = 'answer'\n"+
		"hook = {large = '1KiB', pointer = 900, brief = 600, secrets = true}")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Server().Limits; got.AddressRate != -1 || got.CredentialRate != doorLimits.CredentialRate {
		t.Errorf("limits %+v", got)
	}
	want := proxy.EpochOptions{Scope: s.Scope(), Window: 9, Budget: 7, Large: 1024, Pointer: 900, Brief: 600, Secrets: true, Answer: true}
	var got proxy.EpochOptions
	if err := s.Epochs(7, &got); err != nil || got.Prices == nil {
		t.Errorf("prices %v, %v", got.Prices, err)
	}
	if got.Prices = nil; !reflect.DeepEqual(got, want) {
		t.Errorf("epochs %+v, want %+v", got, want)
	}
}

// The folders of Windows do not count on other systems.
func TestFoldersOfAnotherSystem(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("they count here")
	}
	env := environ(map[string]string{"HOME": "/h", "LOCALAPPDATA": "/x", "APPDATA": "/y"})
	if got, err := dataDir(env); got != "/h/.local/share" || err != nil {
		t.Errorf("data is in %q, %v", got, err)
	}
	if got, err := configDir(env); got != "/h/.config" || err != nil {
		t.Errorf("settings are in %q, %v", got, err)
	}
}
