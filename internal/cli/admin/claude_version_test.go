package admin

import "testing"

func TestOlderClaude(t *testing.T) {
	for version, want := range map[string]bool{
		"1.9.999":                  true,
		"2.0.200":                  true,
		"2.1.99":                   true, // below 197 as a number, not as a text
		"2.1.196":                  true,
		LowestClaude:               false,
		"2.1.1000":                 false,
		"2.2.0":                    false,
		"10.0.0":                   false,
		"2.1.9999999999":           false,
		"99999999999999999999.0.0": false,
	} {
		if got := olderClaude(version); got != want {
			t.Errorf("olderClaude(%q) = %v, want %v", version, got, want)
		}
	}
}
