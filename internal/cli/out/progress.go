package out

import (
	"fmt"
	"sync"
	"time"
)

// A Progress tells on standard error how far a long step is. Steps that are
// over within [patience] are not mentioned. It is safe for concurrent use.
type Progress struct {
	env  *Terminal
	form string // "bar", "plain", "json" or "none"

	mu      sync.Mutex
	job     string
	began   time.Time
	told    time.Time
	drawn   bool
	started bool
	files   bool // several files: steps within one are not told
}

// patience is how long a step may last before anything is said about it.
const patience = 300 * time.Millisecond

// NewProgress returns a progress that has told nothing yet.
func (o *Out) NewProgress() *Progress {
	p := &Progress{env: o.terminal, form: o.Progress}
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

// Step says that of a job's total steps some are done.
func (p *Progress) Step(job string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.files {
		p.tell(job, done, total)
	}
}

// Outer says the same of a job whose steps have steps of their own, which are
// not told from then on.
func (p *Progress) Outer(job string, done, total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files = true
	p.tell(job, done, total)
}

func (p *Progress) tell(job string, done, total int) {
	if p.form == "none" {
		return
	}
	now := p.env.Now()
	if !p.started || job != p.job {
		p.started, p.job, p.began, p.told = true, job, now, time.Time{}
	}
	pause := time.Second
	if p.form == "bar" {
		pause = patience / 3
	}
	if now.Sub(p.began) < patience || now.Sub(p.told) < pause {
		return
	}
	p.told = now
	switch p.form {
	case "bar":
		p.drawn = true
		fmt.Fprintf(unguarded(p.env.Stderr), "\r\x1b[K%s %s of %s", job, Thousands(done), Thousands(total))
	case "json":
		fmt.Fprintf(p.env.Stderr, `{"event":"progress","job":%q,"done":%d,"total":%d}`+"\n", job, done, total)
	default:
		fmt.Fprintf(p.env.Stderr, "%s %d of %d\n", job, done, total)
	}
}

// End wipes what is drawn.
func (p *Progress) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drawn {
		fmt.Fprint(unguarded(p.env.Stderr), "\r\x1b[K")
		p.drawn = false
	}
}
