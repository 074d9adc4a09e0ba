package carrel_test

import (
	"os"
	"strconv"
	"testing"
	"time"
)

// probeCount is how many probes for what is another scope's are made: few
// enough for everybody, and as many as CARREL_TEST_PROBES says in CI.
func probeCount(t *testing.T) int { return fromEnv(t, "CARREL_TEST_PROBES", 3000) }

// stressTime is how long a stress test goes on: CARREL_TEST_STRESS seconds.
func stressTime(t *testing.T) time.Duration {
	return time.Duration(fromEnv(t, "CARREL_TEST_STRESS", 1)) * time.Second
}

func fromEnv(t *testing.T, name string, otherwise int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is no number above 0", name, s)
	}
	return n
}
