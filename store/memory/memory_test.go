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

func TestTokens(t *testing.T) {
	storetest.RunTokens(t, func(*testing.T) func() store.Tokens {
		s := memory.New()
		return func() store.Tokens { return s }
	})
}
