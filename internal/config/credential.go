package config

import (
	"errors"

	"github.com/carrel-dev/carrel/server/auth"
)

// CredentialKey returns the path of the key file of credentials. It is the path in the settings or,
// if none is set, that of a file beside the store.
func (s *Settings) CredentialKey() (string, error) {
	if file := get[string](s, credentialKeyFile); file != "" {
		return file, nil
	}
	path, err := s.Store()
	if IsAddress(path) {
		return "", &Error{credentialKeyFile, errors.New("is not set, and a store on a server has no key file beside it: name a file, the same on all nodes")}
	}
	return auth.KeyFile(path), err
}
