package config

import (
	"github.com/carrel-dev/carrel/server/auth"
)

// CredentialKey returns the file of the key of credentials: the one that is set, or the one beside
// the store.
func (s *Settings) CredentialKey() (string, error) {
	if file := get[string](s, credentialKeyFile); file != "" {
		return file, nil
	}
	path, err := s.Store()
	return auth.KeyFile(path), err
}
