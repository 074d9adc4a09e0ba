package summary

import "testing"

// Figures are integers, so that a summary is judged alike on every machine.
func TestFiguresArePortable(t *testing.T) {
	read := func(text string) (figure, int) {
		t.Helper()
		v, places, ok := parseFigure(text)
		if !ok {
			t.Fatalf("%s is no figure", text)
		}
		return v, places
	}
	for _, text := range []string{"", ".", "1.", "1.2345678", "1234567890123", "1,2", "x"} {
		if v, _, ok := parseFigure(text); ok {
			t.Errorf("%q is %d", text, v)
		}
	}
	for text, want := range map[string]figure{"1.234567": 1_234_567, "123456789012": 123_456_789_012 * unit, "0": 0} {
		if got, _ := read(text); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
	if v, places := read("1,204,000.25"); v != 1_204_000_250_000 || places != 2 {
		t.Errorf("1,204,000.25 is %d with %d places", v, places)
	}

	for _, tt := range []struct {
		number, of, source string
		want               bool
	}{
		{"12", "", "12.4", true},
		{"12", "", "12.6", false},
		{"12.3", "ms", "12.349", true},
		{"12.3", "ms", "12.351", false},
		{"12", "", "12", false}, // it is that very number, which is looked for elsewhere
		{"83", "%", "0.834", true},
		{"83", "%", "0.836", false},
		{"4.2", "kb", "4200", true},
		{"4.2", "kb", "4301", true}, // of 1024 bytes
		{"4.2", "kb", "4400", false},
		{"1.5", "gb", "1610612736", true},
		{"1.5", "gb", "1710612736", false},
		{"1.5", "gb", "1572864", true}, // of 1024 kilobytes
		{"1.5", "gb", "1500000", true},
		{"1.5", "gb", "1500000000", true},
		{"1.5", "gb", "1500", false},
		{"1.5", "mb", "1572864", true},
		{"1.5", "mb", "1500000", true},
		{"1.75", "mb", "1792", true}, // of 1024 bytes
		{"1.75", "mb", "1750", true},
		{"1.5", "m", "1500", true},
		{"4.2", "k", "4200", true},
		{"4.2", "s", "4200", true},
		{"4.25", "kb", "4352", true},
		{"999999999999", "gb", "1610612736", false},
	} {
		v, places := read(tt.number)
		w, _ := read(tt.source)
		if got := v.rounds(w, places, tt.of); got != tt.want {
			t.Errorf("%s %s rounds %s: %v, want %v", tt.number, tt.of, tt.source, got, tt.want)
		}
	}

	for _, tt := range []struct {
		share, a, b string
		want        bool
	}{
		{"25", "30", "120", true},           // of it
		{"75", "30", "120", true},           // less than it
		{"33.3", "40", "120", true},         // rounded
		{"33.4", "40", "120", false},        // not so far
		{"33", "40", "0", false},            // of nothing
		{"24", "30", "120", false},          // another share
		{"0.5", "999999999999", "1", false}, // too large to tell
	} {
		v, places := read(tt.share)
		a, _ := read(tt.a)
		b, _ := read(tt.b)
		if got := v.isPart(a, b, places); got != tt.want {
			t.Errorf("%s of %s and %s: %v, want %v", tt.share, tt.a, tt.b, got, tt.want)
		}
	}

	p, ok := (2 * unit).times(40 * unit)
	if !ok || p != 80*unit {
		t.Errorf("2 × 40 = %d, %v", p, ok)
	}
	if p, ok := figure(1 << 62).times(1 << 62); ok {
		t.Errorf("a product that is too large is %d", p)
	}
}
