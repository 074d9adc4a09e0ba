package config

import (
	"github.com/carrel-dev/carrel/server/auth"
)

// TokenKey returns the file of the key of tokens: the one that is set, or the one beside
// the store.
func (s *Settings) TokenKey() (string, error) {
	if file := get[string](s, tokenKeyFile); file != "" {
		return file, nil
	}
	path, err := s.Store()
	return auth.KeyFile(path), err
}
