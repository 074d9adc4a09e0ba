package out

import (
	"bytes"
	"testing"
	"time"
)

func TestProgress(t *testing.T) {
	steps := func(p *Progress, clock *time.Time) {
		for i := range 5 {
			p.Step("count", i*64, 1300)
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
			o := New(&Terminal{
				Stderr: &out, StderrTerminal: tt.terminal, Now: func() time.Time { return clock }, Getenv: func(string) string { return "" },
			})
			o.Progress, o.Quiet = tt.flag, tt.quiet
			p := o.NewProgress()
			steps(p, &clock)
			p.End()
			if got := out.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The first report comes after 0.3 seconds; a bar moves each tenth of a second, and a line follows
// after a second. Another job begins anew.
func TestProgressHasPauses(t *testing.T) {
	for form, want := range map[string]string{
		"plain": "a 300 of 9\na 1300 of 9\nb 1700 of 9\n",
		"dumb":  "a 300 of 9\na 1300 of 9\nb 1700 of 9\n",
		"bar":   "\r\x1b[Ka 300 of 9\r\x1b[Ka 400 of 9\r\x1b[Ka 1,299 of 9\r\x1b[Kb 1,700 of 9\r\x1b[K",
	} {
		var out bytes.Buffer
		clock := time.Time{}
		o := New(&Terminal{Stderr: &out, StderrTerminal: form != "plain", Now: func() time.Time { return clock }, Getenv: func(string) string { return form }})
		o.Progress = "auto"
		p := o.NewProgress()
		for _, ms := range []int{0, 299, 300, 399, 400, 1299, 1300, 1400, 1699, 1700} {
			clock = time.Unix(0, int64(ms)*int64(time.Millisecond))
			p.Step(map[bool]string{true: "a", false: "b"}[ms < 1400], ms, 9)
		}
		if p.End(); out.String() != want {
			t.Errorf("%s: got %q, want %q", form, &out, want)
		}
	}
}

// A short step is not reported, and neither are the steps within one of several files.
func TestProgressIsSilent(t *testing.T) {
	clock := time.Unix(0, 0)
	var out bytes.Buffer
	o := New(&Terminal{Stderr: &out, Now: func() time.Time { return clock }})
	o.Progress = "plain"
	p := o.NewProgress()
	for i := range 50 {
		p.Step("count", i, 50)
		clock = clock.Add(5 * time.Millisecond)
	}
	p.Outer("import", 0, 3)
	clock = clock.Add(time.Hour)
	p.Step("count", 64, 100)
	p.End()
	if got := out.String(); got != "" {
		t.Errorf("got %q, want nothing", got)
	}
}

// Output erases the bar first, so that it begins on an empty line.
func TestOutputErasesTheBar(t *testing.T) {
	clock := time.Unix(0, 0)
	var screen bytes.Buffer
	o := New(&Terminal{
		Stdout: &screen, Stderr: &screen, StdoutTerminal: true, StderrTerminal: true,
		Now: func() time.Time { return clock }, Getenv: func(string) string { return "" },
	})
	o.Progress, o.Color = "auto", "never"
	p := o.NewProgress()
	for name, write := range map[string]func() error{
		"a result":       func() error { return o.Result("x", nil, func(p *Page) { p.Line("text") }) },
		"content":        func() error { _, err := o.terminal.Stdout.Write([]byte("text\n")); return err },
		"a note":         func() error { o.Note("text"); return nil },
		"a page of note": func() error { o.NoteFunc(func(p *Page) { p.Line("text") }); return nil },
		"an error":       func() error { _, err := o.terminal.Stderr.Write([]byte("text\n")); return err },
	} {
		p.Step(name, 0, 9)
		clock = clock.Add(time.Second)
		p.Step(name, 1, 9)
		screen.Reset()
		for range 2 {
			if err := write(); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := screen.String(), "\r\x1b[Ktext\ntext\n"; got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
