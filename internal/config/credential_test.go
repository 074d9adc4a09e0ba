package config

import (
	"path/filepath"
	"testing"
)

// The key file of credentials is named by the environment or the user's file, or is beside the
// store.
func TestCredentialKey(t *testing.T) {
	for _, tt := range []struct {
		name, user, variable string
		want                 func(w *world) string
	}{
		{"beside the store", "store = 's.db'\n", "", func(w *world) string {
			return filepath.Join(w.vars["XDG_CONFIG_HOME"], "carrel", "s.db.token-key")
		}},
		{"of the user's file", "store = 's.db'\ncredential.key_file = 'k'\n", "", func(w *world) string {
			return filepath.Join(w.vars["XDG_CONFIG_HOME"], "carrel", "k")
		}},
		{"of the environment", "credential.key_file = 'k'\n", "v", func(w *world) string { return filepath.Join(w.dir, "v") }},
	} {
		w := newWorld(t, "", "", tt.user)
		if tt.variable != "" {
			w.vars["CARREL_CREDENTIAL_KEY_FILE"] = tt.variable
		}
		s, err := Load(w.sources(nil))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.CredentialKey(); err != nil || got != tt.want(w) {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want(w))
		}
	}
}
