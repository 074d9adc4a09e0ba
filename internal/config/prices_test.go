package config

import (
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/economy"
)

func TestPrices(t *testing.T) {
	s, err := loadUser(t, "[prices.'gpt-9.1']\ninput = 3\noutput = 15.5\nread = 0.3\n\n[prices.local]\ninput = 1\noutput = 2\nwrite_5m = 1.5\n\n[prices.claude-opus-4-7]\ninput = 5\noutput = 25\n")
	if err != nil {
		t.Fatal(err)
	}
	table, err := s.prices()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		model string
		spend economy.Spend
		want  string
	}{
		{"gpt-9.1", economy.Spend{Uncached: 1e6}, "$3.00"},
		{"openai/gpt-9.1-2027-01-01", economy.Spend{Output: 1e6}, "$15.50"},
		{"gpt-9.1", economy.Spend{Read: 1e6}, "$0.3000"},
		{"local", economy.Spend{Read: 1e6}, "$1.00"}, // of no vendor that is known
		{"local", economy.Spend{Write5m: 1e6}, "$1.50"},
		{"claude-opus-4-7", economy.Spend{Read: 1e6}, "$0.5000"}, // as its vendor's others
		{"claude-opus-4-5", economy.Spend{Uncached: 1e6}, "$5.00"},
	} {
		row, ok := table.Find(tt.model)
		if !ok {
			t.Fatalf("no row for %s", tt.model)
		}
		if got := row.Charge(tt.spend).Total().String(); got != tt.want {
			t.Errorf("%+v of %s costs %s, want %s", tt.spend, tt.model, got, tt.want)
		}
	}
}

func TestPricesThatMakeNoSense(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"[prices.x]\ninput = 3\n", ":2: prices.x.input: wants prices.x.output, too"},
		{"[prices.x]\noutput = 3\ninput = 0\n", "wants prices.x.input, too, above 0"},
		{"[prices.x]\ninput = -3\n", ":2:1: prices.x.input: wants dollars for a million tokens"},
		{"[prices.x]\ninput = 'three'\n", ":2:1: prices.x.input: wants dollars for a million tokens"},
		{"[prices.x]\nwrites = 3\n", ":2:1: prices.x.writes:"},
		{"[prices.x]\ninput = 3\noutput = 4\n\n[prices.'[1m]']\ninput = 3\noutput = 4\n", `:6: prices.[1m].input: names no model`},
	} {
		if _, err := loadUser(t, tt.text); err == nil || !is[*FileError](err) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("of %q the error is %v, want %q", tt.text, err, tt.want)
		}
	}
}
