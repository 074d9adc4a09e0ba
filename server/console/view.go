package console

import (
	"errors"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/assembly"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/probe"
	"github.com/carrel-dev/carrel/token"
)

// functions returns the functions for templates.
func (c *Console) functions() template.FuncMap {
	return template.FuncMap{
		"count": func(n any) string {
			if p, ok := n.(*token.Count); ok {
				n = *p // never nil: templates check that first
			}
			return thousands(fmt.Sprint(n))
		},
		"link":  c.link,
		"path":  pathOf,
		"marks": c.linked,
		"plain": visible,
		"short": func(id any) string { return shortened(fmt.Sprint(id)) },
		"share": percent,
		"time": func(t time.Time) template.HTML {
			if t.IsZero() {
				return "–"
			}
			return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.UTC().Format(time.RFC3339), t.UTC().Format("2006-01-02 15:04"))) //nolint:gosec // digits
		},
		"money":   money,
		"span":    span,
		"plural":  plural,
		"explain": meaningsOf,
		"fills":   fills,
		"missed":  missed,
		"form":    formWords,
		"op":      opWords,
		"reason":  reasonWords,
		"gate":    gateWords,
		"unit":    unitWords,
		"part":    partWords,
		"size":    byteSize,
		"spaced":  func(s any) string { return strings.ReplaceAll(fmt.Sprint(s), "_", " ") },
		"add64":   func(a int64, b int) int64 { return a + int64(b) },
		"at":      func(n int) string { return fmt.Sprintf("%d.%d%%", n/10, n%10) }, // thousandths as a place in a drawing
		"cause":   causeWords,
		"because": becauseWords,
		"change":  func(c manifest.ItemChange) string { return changeWords(&c) },
		"failed":  func(r *probe.Report) []probe.Result { return r.Failed() },
		"origin":  originWords,
		"warning": warningOf,
		"prompt":  func(u carrel.Usage) token.Count { return u.Prompt() },
		"itemOf":  itemOf,
		"add":     func(a, b int) int { return a + b },
		"scoped": func(s governance.Scope) string {
			if s == c.opts.Scope {
				return ""
			}
			return string(s)
		},
		"dict": func(pairs ...any) map[string]any {
			m := make(map[string]any)
			for p := range slices.Chunk(pairs, 2) {
				m[fmt.Sprint(p[0])] = p[1]
			}
			return m
		},
	}
}

// thousands returns a number with commas between thousands.
func thousands(s string) string {
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "−", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// shortened returns the beginning of an id.
func shortened(id string) string {
	if len(id) > 8 && strings.Trim(id[:8], "0123456789abcdef") == "" {
		return id[:8]
	}
	return id
}

// visible returns a text in which invisible characters, and characters that change the direction
// of text, are replaced by their escapes: those that [assembly.Neutralize] forbids, and all
// control, format and private-use characters.
func visible(s any) string {
	text, _ := assembly.Neutralize(fmt.Sprint(s))
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\t' || r == ' ':
			b.WriteRune(r)
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == unicode.ReplacementChar:
			fmt.Fprintf(&b, "[U+%04X]", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// warningOf returns a warning about the threshold that a nearly full window has passed, or "".
func warningOf(r *carrel.ContextResult) string {
	f, used := &r.Figures, max(r.Used, r.Sent)
	if r.Proxy != nil {
		used = max(used, r.Proxy.Tokens)
	}
	of := func(n token.Count) string { return thousands(fmt.Sprint(n)) }
	switch {
	case f.Effective <= 0 || used < f.Warn:
		return ""
	case used < f.Compress:
		return fmt.Sprintf("A compaction is near: %s tokens, and a pass is due from %s, %s more. It would bring the window to %s. The dry run shows what it would drop.", of(used), of(f.Compress), of(f.Compress-used), of(f.Target))
	case used < f.Critical:
		return fmt.Sprintf("A compaction is due: %s tokens, which is above %s. It would bring the window to %s. The dry run shows what it would drop.", of(used), of(f.Compress), of(f.Target))
	}
	return fmt.Sprintf("A compaction cannot wait: %s tokens, which is above the critical %s of the window; a client that is not managed compacts by itself, and drops what it likes. The dry run shows what a pass would drop.", of(used), of(f.Critical))
}

// A bar is a part of the drawing of a window, in thousandths of its width.
type bar struct {
	Name, Class string
	Tokens      token.Count
	From, Width int
	Middle      int // where its name stands
}

// spread moves the middles of bars apart, so that the names of narrow bars do not cover one
// another.
func spread(bars []bar) {
	const apart = 30
	for i := range bars {
		b := &bars[i]
		b.Middle = max(b.From+b.Width/2, apart/2)
		if i > 0 {
			b.Middle = max(b.Middle, bars[i-1].Middle+apart)
		}
	}
	for i := len(bars) - 1; i >= 0; i-- {
		bars[i].Middle = min(bars[i].Middle, 1000-apart/2-apart*(len(bars)-1-i))
	}
}

// barsOf returns the bars of the parts of a window.
func barsOf(r *carrel.ContextResult) []bar {
	whole := max(r.Capacity, r.Used+r.Reserved, 1)
	var bars []bar
	at := token.Count(0)
	for _, p := range []struct {
		name, class string
		n           token.Count
	}{
		{"framing and tools", "fixed", r.Fixed.Tokens},
		{"system text", "system", r.System.Tokens},
		{"held by rules and pins", "pinned", r.Pinned.Tokens},
		{"the summary", "summary", r.Summary.Tokens},
		{"live blocks", "live", r.Live.Tokens},
		{"stubs", "stubs", r.Stubs.Tokens},
	} {
		if p.n > 0 {
			from := int(1000 * at / whole)
			bars = append(bars, bar{Name: p.name, Class: p.class, Tokens: p.n, From: from, Width: max(1, int(1000*(at+p.n)/whole)-from)})
		}
		at += p.n
	}
	if r.Reserved > 0 {
		n := int(1000 * r.Reserved / whole)
		bars = append(bars, bar{Name: "reserved for the reply", Class: "reserved", Tokens: r.Reserved, From: 1000 - n, Width: n})
	}
	return bars
}

// A manifestPage is the data of the page of a manifest.
type manifestPage struct {
	Manifest *carrel.ManifestResult `json:"manifest"`
	Verify   *carrel.VerifyResult   `json:"verify,omitempty"`
	Broken   string                 `json:"broken,omitempty"` // the error of the verification, or empty
	Header   manifest.Header        `json:"header"`
	Items    []itemLine             `json:"items"` // one page of them
	Next     int                    `json:"next,omitempty"`
	Funnel   []funnelStep           `json:"funnel"`
	Used     int                    `json:"used"` // artifacts that are in
	MostLeft string                 `json:"-"`    // why more than half of what was left out is out, or empty
	Gauge    *gauge                 `json:"-"`
}

// An itemLine is a line of a manifest.
type itemLine struct {
	Kind string `json:"kind"`
	Item any    `json:"item"`
}

func itemOf(i manifest.Item) itemLine {
	return itemLine{strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", i), "*manifest.")), i}
}

func showManifest(v *visit) (any, error) {
	req := &carrel.IDRequest{ID: v.PathValue("manifest")}
	p := &manifestPage{}
	var err error
	if p.Manifest, err = v.engine.Manifest(v.Context(), v.scope, req); err != nil {
		return nil, err
	}
	sealed, err := p.Manifest.Sealed()
	if err != nil {
		return nil, err
	}
	m := sealed.Manifest()
	p.Header = m.Header
	p.Funnel, p.Used = funnelOf(m)
	p.MostLeft = mostLeft(p.Funnel)
	p.Gauge = gaugeOf(&m.Header)
	items, next := pageOf(m.Items, v.number("line"))
	for _, i := range items {
		p.Items = append(p.Items, itemOf(i))
	}
	p.Next = next
	if p.Verify, err = v.engine.VerifyManifest(v.Context(), v.scope, req); errors.Is(err, carrel.ErrIntegrity) {
		p.Broken, err = api.NewProblem(err).Detail, nil // the page shows the error and the rest
	}
	return p, err
}

// mostLeft returns why more than half of what was left out was left out, or "".
func mostLeft(steps []funnelStep) string {
	all := 0
	for i := range steps {
		all += steps[i].Count
	}
	for i := range steps {
		if 2*steps[i].Count > all {
			_, means, _ := strings.Cut(reasonWords(steps[i].Reason), ": ")
			return means
		}
	}
	return ""
}
