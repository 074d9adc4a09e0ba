package cli

import (
	"bytes"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	steps := func(p *progress, clock *time.Time) {
		for i := range 5 {
			p.step("count", i*64, 1300)
			*clock = clock.Add(290 * time.Millisecond)
		}
	}
	for _, tt := range []struct {
		name, flag string
		quiet      bool
		terminal   bool
		want       string
	}{
		{"a bar on a terminal", "auto", false, true, "\r\x1b[Kcount 128 of 1,300\r\x1b[Kcount 192 of 1,300\r\x1b[Kcount 256 of 1,300\r\x1b[K"},
		{"a line a second in a pipe", "auto", false, false, "count 128 of 1300\n"},
		{"events", "json", false, true, `{"event":"progress","job":"count","done":128,"total":1300}` + "\n"},
		{"none", "none", false, true, ""},
		{"quiet", "auto", true, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clock := time.Unix(0, 0)
			var out bytes.Buffer
			g := &globals{progress: tt.flag, quiet: tt.quiet, env: &Env{
				Stderr: &out, StderrTerminal: tt.terminal, Now: func() time.Time { return clock }, Getenv: func(string) string { return "" },
			}}
			p := newProgress(g)
			steps(p, &clock)
			p.end()
			if got := out.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Nothing is said about a step that is over soon, or about the steps of one
// file of several.
func TestProgressIsSilent(t *testing.T) {
	clock := time.Unix(0, 0)
	var out bytes.Buffer
	p := newProgress(&globals{progress: "plain", env: &Env{Stderr: &out, Now: func() time.Time { return clock }}})
	for i := range 50 {
		p.step("count", i, 50)
		clock = clock.Add(5 * time.Millisecond)
	}
	p.outer("import", 0, 3)
	clock = clock.Add(time.Hour)
	p.step("count", 64, 100)
	p.end()
	if got := out.String(); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}
