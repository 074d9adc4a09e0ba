package facts

import (
	"strings"
	"testing"
)

func TestIsHash(t *testing.T) {
	for word, want := range map[string]bool{
		"1a2b3c4":                    true,
		"ffffff1":                    true, // every digit of sixteen is one
		"a0a0a0a":                    true,
		"9999999":                    true, // seven digits may be a name
		"99999999":                   false,
		"abcdefa":                    false, // a word
		"1a2b3c":                     false, // too short
		"1a2b3cg":                    false,
		"1A2B3C4":                    false,
		"1a2b3c:":                    false,
		"1a2b3c/":                    false,
		"1a2b3c`":                    false,
		strings.Repeat("a1", 20):     true,
		strings.Repeat("a1", 20)[1:]: true,
		strings.Repeat("a1", 21)[1:]: false,
	} {
		if got := isHash(word); got != want {
			t.Errorf("isHash(%q) = %v, want %v", word, got, want)
		}
	}
}

func TestIsCommit(t *testing.T) {
	long := strings.Repeat("b", 112)
	for line, want := range map[string]bool{
		"[main 1a2b3cf] Fix it":              true,
		"[main (root-commit) 1a2b3cf] Begin": true,
		"[1a2b3cf] Fix it":                   false, // no branch
		"[main 1a2b3cf]":                     false,
		"[main 1a2b3cf] ":                    false,
		"main 1a2b3cf] Fix it":               false,
		"[main done] Fix it":                 false,
		"[" + long + " 1a2b3cf] Fix it":      true, // 120 bytes
		"[" + long + "b 1a2b3cf] Fix it":     false,
	} {
		if got := isCommit(line); got != want {
			t.Errorf("isCommit(%q) = %v, want %v", line, got, want)
		}
	}
}
