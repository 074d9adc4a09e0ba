package out

import (
	"errors"
	"testing"
)

func TestColors(t *testing.T) {
	for _, tt := range []struct {
		name     string
		flag     string
		vars     map[string]string
		terminal bool
		want     bool
	}{
		{"a terminal", "auto", nil, true, true},
		{"a pipe", "auto", nil, false, false},
		{"a terminal with a name", "auto", map[string]string{"TERM": "xterm"}, true, true},
		{"a dumb terminal", "auto", map[string]string{"TERM": "dumb"}, true, false},
		{"no color, please", "auto", map[string]string{"NO_COLOR": "1"}, true, false},
		{"forced in a pipe", "auto", map[string]string{"CLICOLOR_FORCE": "1"}, false, true},
		{"forced by 0", "auto", map[string]string{"CLICOLOR_FORCE": "0"}, false, false},
		{"no color wins over force", "auto", map[string]string{"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, true, false},
		{"the flag wins over all", "always", map[string]string{"NO_COLOR": "1"}, false, true},
		{"never", "never", map[string]string{"CLICOLOR_FORCE": "1"}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := New(&Terminal{StdoutTerminal: tt.terminal, Getenv: func(n string) string { return tt.vars[n] }})
			o.Color = tt.flag
			if got := o.colored(); got != tt.want {
				t.Errorf("colored() = %v, want %v", got, tt.want)
			}
		})
	}
}

// A page escapes its arguments, whatever their types.
func TestPageLine(t *testing.T) {
	type named string
	p := &Page{color: true}
	p.Line("%s|%-3s|%v|%q|%d|%s|%s", "a\x1b", "b", named("c\u200b"), "d\u202e", 5, errors.New("e\a"), p.Paint(Green, "f\r"))
	if got, want := p.String(), `a\x1b|b  |c\u200b|"d\u202e"|5|e\x07|`+"\x1b[32m"+`f\r`+"\x1b[0m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A page is as wide as the terminal, or has 80 columns.
func TestPageWidth(t *testing.T) {
	for width, want := range map[int]int{0: 80, -1: 80, 1: 1, 120: 120} {
		o := New(&Terminal{Getenv: func(string) string { return "" }, Width: func() int { return width }})
		if got := o.newPage().Width; got != want {
			t.Errorf("a terminal of %d columns: %d, want %d", width, got, want)
		}
	}
}
