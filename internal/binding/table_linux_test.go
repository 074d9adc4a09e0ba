package binding

import (
	"strings"
	"testing"
)

// The name of a program may contain any character.
func TestParseStat(t *testing.T) {
	const rest = "S 20 1 1 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 59880 0 0"
	for name, want := range map[string]Entry{
		"7 (claude) " + rest:                                    {20, "59880", "claude"},
		"7 (tmux: server) " + rest:                              {20, "59880", "tmux: server"},
		"7 (a) S 1 (b)) S 9) " + rest:                           {20, "59880", "a) S 1 (b)) S 9"},
		"7 () " + rest + " 18446744\n":                          {20, "59880", ""},
		"7 (claude) S twenty 1 1 0 -1":                          {},
		"7 (claude) S 20 1 1 0 -1 4194":                         {},
		"7 (claude) S 20" + strings.Repeat(" 0", 17):            {}, // the start is not there
		"7 (claude) S 20" + strings.Repeat(" 0", 17) + " 59880": {20, "59880", "claude"},
		"7 )claude( " + rest:                                    {},
		"":                                                      {},
	} {
		if got, ok := parseStat([]byte(name)); ok != (want != Entry{}) || ok && got != want {
			t.Errorf("%q: %+v, %t", name, got, ok)
		}
	}
}
