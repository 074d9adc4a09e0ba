package memory_test

import (
	"testing"

	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return memory.New() })
}

func TestMovable(t *testing.T) {
	storetest.RunMovable(t, func(*testing.T) storetest.MovableStore { return memory.New() })
}

func TestRequests(t *testing.T) {
	storetest.RunRequests(t, func(*testing.T) func() storetest.SharedStore {
		s := memory.New().(storetest.SharedStore) //nolint:forcetypeassert // a panic fails the test
		return func() storetest.SharedStore { return s }
	})
}

func TestTokens(t *testing.T) {
	storetest.RunCredentials(t, func(*testing.T) func() store.Credentials {
		s := memory.New()
		return func() store.Credentials { return s }
	})
}
