package pager

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// A Level is the fill level of a window: "ok", "warn", "compress" or
// "critical". It is stored as its text.
type Level string

// The levels. The percentages are the defaults of [Trigger].
const (
	levelOK       Level = "ok"
	levelWarn     Level = "warn"     // from 60 percent
	LevelCompress Level = "compress" // from 70 percent
	LevelCritical Level = "critical" // from 90 percent
)

// An Action is the action that a [Trigger] calls for. It is stored as its
// text: "none"; "warn", a pass is near but not due; "compress", cut the window
// to the target; "page", run a pass of the pager, by [ProfilePager]; or
// "new-session", begin a new session, because this one was compressed too often.
type Action string

// The actions.
const (
	actionNone       Action = "none"
	actionWarn       Action = "warn"        // nothing yet
	actionCompress   Action = "compress"    // cut the window to the target
	actionPage       Action = "page"        // run a pass of the pager
	actionNewSession Action = "new-session" // begin a new session: this one was compressed too often
)

// A Profile is a way to decide when a pass is due. It is stored as its text.
type Profile string

// The profiles.
const (
	ProfileWindow Profile = "window" // by the fill level of the window; the default
	ProfilePager  Profile = "pager"  // by tokens and iterations, as the context pager does
)

// A Trigger sets when a pass is due. The zero value of every field selects
// its default; a nil *Trigger has all defaults.
type Trigger struct {
	Profile Profile `json:"profile,omitempty"`

	// Shares of the effective window: from Warn (60 %) a warning, from
	// Compress (70 %) a pass, from Critical (90 %) the critical level. A pass
	// cuts to Target (50 %, at most Compress).
	Warn     ratio.Ratio `json:"warn,omitempty"`
	Compress ratio.Ratio `json:"compress,omitempty"`
	Critical ratio.Ratio `json:"critical,omitempty"`
	Target   ratio.Ratio `json:"target,omitempty"`

	// Messages is the least number of messages for a pass, 10 by default.
	Messages int `json:"messages,omitempty"`

	// Cycles is the most compressions of a session, 10 by default. After
	// that, a new session is better than a summary of summaries.
	Cycles int `json:"cycles,omitempty"`

	// Keep is the number of newest blocks for a pass to keep, and KeepRetry that number after a
	// rejected compression. The defaults are 5 and 10. No pass reads them: the caller gives it the
	// number, as [RuleOptions.Last] or as KeepLast of a request.
	Keep      int `json:"keep,omitempty"`
	KeepRetry int `json:"keep_retry,omitempty"`

	// Tokens and Iterations are the thresholds of [ProfilePager]: by default
	// more than 4,000 tokens, or at least 5 iterations.
	Tokens     token.Count `json:"tokens,omitempty"`
	Iterations int         `json:"iterations,omitempty"`

	Effective token.Count `json:"effective,omitempty"` // usable part of the window; see [Trigger.Figures]
	Floor     token.Count `json:"floor,omitempty"`     // least size of the window after a pass; see [Trigger.Figures]
}

// Complete returns t with defaults for its zero fields.
func (t *Trigger) Complete() Trigger {
	var c Trigger
	if t != nil {
		c = *t
	}
	c.Profile = cmp.Or(c.Profile, ProfileWindow)
	c.Warn = cmp.Or(c.Warn, 600_000)
	c.Compress = cmp.Or(c.Compress, 700_000)
	c.Critical = cmp.Or(c.Critical, 900_000)
	c.Target = cmp.Or(c.Target, min(500_000, c.Compress))
	c.Messages = cmp.Or(c.Messages, 10)
	c.Cycles = cmp.Or(c.Cycles, 10)
	c.Keep = cmp.Or(c.Keep, 5)
	c.KeepRetry = cmp.Or(c.KeepRetry, 10)
	c.Tokens = cmp.Or(c.Tokens, 4000)
	c.Iterations = cmp.Or(c.Iterations, 5)
	return c
}

// errTrigger means that the settings of a trigger contradict each other or are out of range.
var errTrigger = errors.New("invalid trigger")

// Validate returns an error that names an invalid field, or nil.
func (t *Trigger) Validate() error {
	c := t.Complete()
	switch {
	case c.Profile != ProfileWindow && c.Profile != ProfilePager:
		return fmt.Errorf("%w: profile %q: want %s or %s", errTrigger, c.Profile, ProfileWindow, ProfilePager)
	case c.Target <= 0 || c.Target > c.Compress || c.Warn <= 0 || c.Warn > c.Compress || c.Compress > c.Critical || c.Critical > ratio.One:
		return fmt.Errorf("%w: target %v, warn %v, compress %v, critical %v: target and warn must be above 0 and at most compress, compress at most critical, and critical at most 1",
			errTrigger, c.Target, c.Warn, c.Compress, c.Critical)
	case min(c.Messages, c.Cycles, c.Keep, c.KeepRetry, c.Iterations) < 0 || min(c.Tokens, c.Effective, c.Floor) < 0:
		return fmt.Errorf("%w: no number of it may be below 0", errTrigger)
	}
	return nil
}

// Figures are the thresholds of a window, in tokens. [Trigger.Figures]
// computes them for all commands and tools.
type Figures struct {
	Window    token.Count `json:"window"`    // context window of the model
	Effective token.Count `json:"effective"` // usable part of Window, to which the thresholds refer
	Warn      token.Count `json:"warn"`      // least size of level warn
	Compress  token.Count `json:"compress"`  // least size of level compress
	Critical  token.Count `json:"critical"`  // least size of level critical
	Target    token.Count `json:"target"`    // default target of a compression
	Tidy      token.Count `json:"tidy"`      // default target of a discard
	Floor     token.Count `json:"floor"`     // least size after a discard or an automatic pass
}

// tidyTo is the default target, in tokens, of a discard by an agent.
const tidyTo = 50_000

// Figures returns the thresholds for a context window. Effective is
// t.Effective, at most the window, or by default four fifths of the window
// (160 000 of 200 000 tokens). Floor is t.Floor, or by default the least of 30 000
// tokens, three tenths of the window and three eighths of its effective part. Tidy is
// the least of 50 000 tokens, half of the window and five eighths of its effective
// part, but at least the floor. A window of 0 is unknown; Effective is then
// t.Effective. Do not judge by an Effective of 0: every load would be critical.
func (t *Trigger) Figures(window token.Count) Figures {
	c := t.Complete()
	effective := window * 4 / 5
	if c.Effective > 0 {
		effective = c.Effective
		if window > 0 {
			effective = min(effective, window)
		}
	}
	floor := c.Floor
	if floor <= 0 {
		floor = min(30_000, window*3/10, effective*3/8)
	}
	of := func(share ratio.Ratio) token.Count { return token.Count(share.Scale(int64(effective))) }
	return Figures{
		Window: window, Effective: effective, Warn: of(c.Warn), Compress: of(c.Compress), Critical: of(c.Critical),
		Target: of(c.Target), Tidy: max(min(tidyTo, window/2, effective*5/8), floor), Floor: floor,
	}
}

// Level returns the level of used tokens in an effective window. A value
// equal to a threshold has the higher level. If effective is 0, the level is
// critical.
func (t *Trigger) Level(used, effective token.Count) Level {
	c := t.Complete()
	switch {
	case reaches(used, effective, c.Critical):
		return LevelCritical
	case reaches(used, effective, c.Compress):
		return LevelCompress
	case reaches(used, effective, c.Warn):
		return levelWarn
	}
	return levelOK
}

// reaches reports whether used is at least the given share of all. It does not
// round.
func reaches(used, all token.Count, share ratio.Ratio) bool {
	uh, ul := bits.Mul64(uint64(max(used, 0)), uint64(ratio.One))
	ah, al := bits.Mul64(uint64(max(all, 0)), uint64(max(share, 0)))
	return uh > ah || uh == ah && ul >= al
}

// A Load is the state of a session that a trigger judges.
type Load struct {
	Used       token.Count // tokens in the window
	Effective  token.Count // Figures.Effective of the model's window
	Floor      token.Count // Figures.Floor of the model's window
	Messages   int         // in the window
	Cycles     int         // number of compressions so far
	Iterations int         // number of tasks so far, for [ProfilePager]
	Pending    bool        // a call has no result yet
	Retry      bool        // the last compression was rejected
}

// Advice is the result of a trigger.
type Advice struct {
	Due     bool        `json:"due"` // a pass is due
	Level   Level       `json:"level"`
	Action  Action      `json:"action"`
	Reasons []string    `json:"reasons"`
	Target  token.Count `json:"target"` // target of the pass, at least the floor
	Keep    int         `json:"keep"`   // newest blocks for the pass to keep, see [Trigger]
}

// Due decides whether a pass is due, and gives the reasons. No pass is due while a
// call has no result.
func (t *Trigger) Due(l *Load) *Advice {
	c := t.Complete()
	v := &Advice{
		Level: t.Level(l.Used, l.Effective), Action: actionNone, Reasons: []string{}, Keep: c.Keep,
		Target: max(token.Count(c.Target.Scale(int64(l.Effective))), l.Floor),
	}
	if l.Retry {
		v.Keep = c.KeepRetry
	}
	if c.Profile == ProfilePager {
		v.pager(&c, l)
	} else {
		v.window(&c, l)
	}
	if v.Due && l.Pending {
		v.Due, v.Action = false, actionWarn
		v.because("a call is not answered yet")
	}
	return v
}

// pager decides by the rule of the original context pager.
func (v *Advice) pager(c *Trigger, l *Load) {
	if l.Used > c.Tokens {
		v.Due = true
		v.because("%d tokens are above %d", l.Used, c.Tokens)
	}
	if l.Iterations >= c.Iterations {
		v.Due = true
		v.because("%d iterations are at least %d", l.Iterations, c.Iterations)
	}
	if v.Due {
		v.Action = actionPage
		return
	}
	v.because("%d tokens are at most %d, and %d iterations below %d", l.Used, c.Tokens, l.Iterations, c.Iterations)
}

// window decides by the fill level of the window.
func (v *Advice) window(c *Trigger, l *Load) {
	used := ratio.Of(l.Used, max(l.Effective, 1)).Percent()
	if v.Level == levelOK && used == c.Warn.Percent() || v.Level == levelWarn && used == c.Compress.Percent() {
		used = "just below " + used // rounded up
	}
	used += " of the effective window is in use"
	switch v.Level {
	case levelOK:
		v.because("%s, below %s", used, c.Warn.Percent())
		return
	case levelWarn:
		v.Action = actionWarn
		v.because("%s, at least %s and below %s", used, c.Warn.Percent(), c.Compress.Percent())
		return
	case LevelCompress:
		v.because("%s, at least %s", used, c.Compress.Percent())
	case LevelCritical:
		v.because("%s, at least %s", used, c.Critical.Percent())
	}
	switch {
	case l.Messages < c.Messages:
		v.Action = actionWarn
		v.because("%d messages are below %d", l.Messages, c.Messages)
	case l.Cycles >= c.Cycles:
		v.Action = actionNewSession
		v.because("it was compressed %d times: consider a new session", l.Cycles)
	default:
		v.Due, v.Action = true, actionCompress
		v.because("%d messages are at least %d", l.Messages, c.Messages)
	}
}

func (v *Advice) because(format string, args ...any) {
	v.Reasons = append(v.Reasons, fmt.Sprintf(format, args...))
}

// Pending reports whether the last block of a session has a call without a
// result.
func Pending(msgs []transcript.Message, blocks []transcript.Block) bool {
	return len(blocks) > 0 && pending(msgs, &blocks[len(blocks)-1])
}

// Iterations returns the number of user messages that a person wrote; each is
// a task.
func Iterations(msgs []transcript.Message, blocks []transcript.Block) int {
	n := 0
	for i := range blocks {
		if blocks[i].Kind == transcript.KindUser && Instructs(msgs, &blocks[i]) {
			n++
		}
	}
	return n
}
