package offload

import (
	"time"

	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// KeyOf is keyOf.
func KeyOf(scope governance.Scope, key store.BlobKey) string { return keyOf(scope, key) }

// SetAge sets how long a blob of a store may be loose.
func SetAge(s store.Database, age time.Duration) {
	if of, ok := s.(*shared); ok {
		s = of.offloaded
	}
	s.(*offloaded).age = age
}
