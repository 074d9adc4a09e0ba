package out

import (
	"fmt"
	"sync"
	"time"
)

// A Progress reports on standard error how far a long step is. It does not report steps that end
// within [patience]. It is safe for concurrent use.
type Progress struct {
	env  *Terminal
	form string // "bar", "plain", "json" or "none"

	mu       sync.Mutex
	job      string
	began    time.Time
	reported time.Time
	drawn    bool
	files    bool // several files are processed: do not report steps within one
}

// patience is how long a step may last before it is reported.
const patience = 300 * time.Millisecond

// NewProgress returns a progress that has reported nothing yet.
func (o *Out) NewProgress() *Progress {
	p := &Progress{env: o.terminal, form: o.Progress}
	o.progress = p
	switch {
	case o.Quiet:
		p.form = "none"
	case p.form == "auto" && p.env.StderrTerminal && p.env.Getenv("TERM") != "dumb":
		p.form = "bar"
	case p.form == "auto":
		p.form = "plain"
	}
	return p
}

// Step reports that a job has completed done of its total steps.
func (p *Progress) Step(job string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.files {
		p.report(job, done, total)
	}
}

// Outer reports the steps of a job that contains other jobs. From then on Step reports nothing.
func (p *Progress) Outer(job string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = true
	p.report(job, done, total)
}

func (p *Progress) report(job string, done, total int) {
	if p.form == "none" {
		return
	}
	now := p.env.Now()
	if job != p.job {
		p.job, p.began, p.reported = job, now, time.Time{}
	}
	pause := time.Second
	if p.form == "bar" {
		pause = patience / 3
	}
	if now.Sub(p.began) < patience || now.Sub(p.reported) < pause {
		return
	}
	p.reported = now
	switch p.form {
	case "bar":
		p.drawn = true
		fmt.Fprintf(Unguarded(p.env.Stderr), "\r\x1b[K%s %s of %s", job, Thousands(done), Thousands(total))
	case "json":
		fmt.Fprintf(p.env.Stderr, `{"event":"progress","job":%q,"done":%d,"total":%d}`+"\n", job, done, total)
	default:
		fmt.Fprintf(p.env.Stderr, "%s %d of %d\n", job, done, total)
	}
}

// endProgress erases the progress bar, so that other output does not begin behind it.
func (o *Out) endProgress() {
	if o.progress != nil {
		o.progress.End()
	}
}

// End erases the progress bar.
func (p *Progress) End() {
	if p.form != "bar" {
		return // report may be the caller, through the terminal that it writes to
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(Unguarded(p.env.Stderr), "\r\x1b[K")
		p.drawn = false
	}
}
