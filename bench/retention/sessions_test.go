package main

import "testing"

func TestFamilyOf(t *testing.T) {
	for path, want := range map[string]string{
		"x/claudecode/acme-0af3.jsonl":                      "acme",
		"x/acme/session.jsonl":                              "acme",
		"x/acme/019e2f3a-8b1c-7def-8123-456789abcdef.jsonl": "acme",
		"x/tau1-retail-04.json":                             "tau",
		"x/tau2-retail-04.json":                             "tau",
		"x/tau-airline-04.json":                             "tau",
	} {
		if got := familyOf(path); got != want {
			t.Errorf("%s is of %q, want %q", path, got, want)
		}
	}
}
