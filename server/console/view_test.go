package console

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/token"
)

// The bars of a window follow each other without gaps, and each that has tokens is seen.
func TestBarsOfWindows(t *testing.T) {
	share := func(n token.Count) carrel.ContextShare { return carrel.ContextShare{Tokens: n} }
	r := &carrel.ContextResult{
		Capacity: 2000, Used: 1001, Reserved: 200, Fixed: share(100), System: share(0), Pinned: share(300), Summary: share(1), Live: share(400), Stubs: share(200),
	}
	for _, tt := range []struct {
		capacity token.Count
		want     string
	}{
		{2000, "framing and tools 100 0+50|held by rules and pins 300 50+150|the summary 1 200+1|live blocks 400 200+200|stubs 200 400+100|reserved for the reply 200 900+100"},
		{1000, "framing and tools 100 0+83|held by rules and pins 300 83+250|the summary 1 333+1|live blocks 400 333+333|stubs 200 666+167|reserved for the reply 200 834+166"},
	} {
		r.Capacity = tt.capacity
		var got []string
		for _, b := range barsOf(r) {
			got = append(got, fmt.Sprintf("%s %d %d+%d", b.Name, b.Tokens, b.From, b.Width))
		}
		if strings.Join(got, "|") != tt.want {
			t.Errorf("of %d tokens:\n%s\nwant:\n%s", tt.capacity, strings.Join(got, "|"), tt.want)
		}
	}
	if got := barsOf(&carrel.ContextResult{Capacity: 1000, Reserved: 1}); len(got) != 1 || got[0].From != 999 || got[0].Width != 1 {
		t.Errorf("a reserve of one token is drawn as %v", got)
	}
	if got := barsOf(&carrel.ContextResult{}); len(got) > 0 {
		t.Errorf("an empty window has %v", got)
	}
}

func TestFiguresOfPages(t *testing.T) {
	for in, want := range map[string]string{"0": "0", "999": "999", "1000": "1,000", "-1234567": "−1,234,567", "123456": "123,456"} {
		if got := thousands(in); got != want {
			t.Errorf("thousands(%s) = %s, want %s", in, got, want)
		}
	}
	for in, want := range map[string]string{"1234567890abcdef": "12345678", "12345678": "12345678", "123456789": "12345678", "m_1234567890": "m_1234567890", "": ""} {
		if got := shortened(in); got != want {
			t.Errorf("shortened(%q) = %q, want %q", in, got, want)
		}
	}
	if got, want := visible("a\tb\n\x1b\u200b\u202e\ue000\ufffdö\r\u0600👨\u200d👩"), "a\tb\n[U+001B][U+200B][U+202E][U+E000][U+FFFD]ö[U+000D][U+0600]👨[U+200D]👩"; got != want {
		t.Errorf("visible: %q, want %q", got, want)
	}
	for _, r := range "\u034f\u115f\u180b\u2028\u3164\ufe01\uffa0\U000e0148" { // for these, too, the gate holds a memory
		if got, want := visible("ok"+string(r)), fmt.Sprintf("ok[U+%04X]", r); got != want {
			t.Errorf("visible: %q, want %q", got, want)
		}
	}
	for _, tt := range []struct{ part, whole, want int }{{0, 10, 0}, {1, 3, 333}, {3, 3, 1000}, {0, 0, 0}, {1, 0, 1000}} {
		if got := thousandth(tt.part, tt.whole); got != tt.want {
			t.Errorf("thousandth(%d, %d) = %d, want %d", tt.part, tt.whole, got, tt.want)
		}
	}
}

// A window warns from a threshold on, by the largest of the sizes that are known.
func TestWarningsOfWindows(t *testing.T) {
	f := pager.Figures{Effective: 1000, Warn: 600, Compress: 700, Critical: 900, Target: 500}
	for _, tt := range []struct {
		r    carrel.ContextResult
		says string // "" if nothing is said
	}{
		{carrel.ContextResult{Figures: f, Used: 599}, ""},
		{carrel.ContextResult{Used: 599}, ""},
		{carrel.ContextResult{Figures: pager.Figures{Effective: 1, Warn: 1, Compress: 2}, Used: 1}, "A compaction is near: 1 tokens"},
		{carrel.ContextResult{Figures: f, Used: 600}, "A compaction is near: 600 tokens, and a pass is due from 700, 100 more. It would bring the window to 500."},
		{carrel.ContextResult{Figures: f, Used: 699}, "from 700, 1 more"},
		{carrel.ContextResult{Figures: f, Used: 700}, "A compaction is due: 700 tokens, which is above 700. It would bring the window to 500."},
		{carrel.ContextResult{Figures: f, Used: 899}, "A compaction is due: 899 tokens"},
		{carrel.ContextResult{Figures: f, Used: 900}, "A compaction cannot wait: 900 tokens, which is above the critical 900"},
		{carrel.ContextResult{Figures: f, Used: 1, Sent: 700}, "A compaction is due: 700 tokens"},
		{carrel.ContextResult{Figures: f, Used: 1, Sent: 2, Proxy: &api.ProxyState{Tokens: 1900}}, "A compaction cannot wait: 1,900 tokens"},
	} {
		if got := warningOf(&tt.r); (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%d used, %d sent: %q, want %q", tt.r.Used, tt.r.Sent, got, tt.says)
		}
	}
}

// Each unit leads to a place of its own in the original, if its line occurs often enough, and to a
// place that is marked in any case.
func TestUnitsWithTheSameLine(t *testing.T) {
	const text = "if a {\n\treturn err\n}\nif b {\n\treturn err\n}\n"
	var units []api.WhyUnit
	for _, u := range []string{"return err", "5: return err", "return err", "nowhere", "if b {"} {
		units = append(units, api.WhyUnit{Text: u})
	}
	pieces, begin := cut(text, units)
	if got, want := fmt.Sprint(begin), "[8 29 29 -1 21]"; got != want {
		t.Errorf("the units begin at %s, want %s", got, want)
	}
	at, whole := "", ""
	for _, p := range pieces {
		at, whole = at+fmt.Sprint(" ", p.At), whole+p.Text
	}
	if at != " -1 8 21 29" || whole != text {
		t.Errorf("pieces %+v", pieces)
	}
	for _, tt := range []struct {
		text, line string
		want       string
	}{
		{"abab", "ab", "[0 2] [{0 ab} {2 ab}]"},
		{"ab, ab", "ab", "[0 4] [{0 ab, } {4 ab}]"},
		{"xabab", "ab", "[1 3] [{-1 x} {1 ab} {3 ab}]"},
		{"a", "a line that is longer than the text", "[-1 -1] [{-1 a}]"},
	} {
		pieces, begin := cut(tt.text, []api.WhyUnit{{Text: tt.line}, {Text: tt.line}})
		if got := fmt.Sprint(begin, " ", pieces); got != tt.want {
			t.Errorf("two units %q in %q: %s, want %s", tt.line, tt.text, got, tt.want)
		}
	}
}

// Most were left out for a reason only if it is that of more than half.
func TestMostLeft(t *testing.T) {
	for _, r := range manifest.Excluded() {
		if got := mostLeft([]funnelStep{{r, 3, 0}}); got == "" {
			t.Errorf("nothing explains %s", r)
		}
	}
	if got := mostLeft([]funnelStep{{manifest.ReasonExpired, 1, 0}, {manifest.ReasonSourceGone, 5, 0}}); got != "it changed, and its source no longer has it" {
		t.Errorf("5 of 6 were left out because %q", got)
	}
	if got := mostLeft([]funnelStep{{manifest.ReasonExpired, 2, 0}, {manifest.ReasonHeld, 2, 0}}); got != "" {
		t.Errorf("most were left out because %q, which holds for half", got)
	}
	if got := mostLeft([]funnelStep{{manifest.ReasonExpired, 2, 0}, {manifest.ReasonHeld, 2, 0}, {manifest.ReasonMinor, 1, 0}}); got != "" {
		t.Errorf("most were left out because %q, which holds for 2 of 5", got)
	}
}

// What was left out in a set has a line, too.
func TestSetsHaveALine(t *testing.T) {
	c, err := New(&Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(c.linked("", "a [12345678")); !strings.HasPrefix(got, "a [<a href=") || !strings.HasSuffix(got, ">12345678</a>") {
		t.Errorf("a mark that is cut off is linked as %s", got)
	}
	for text, want := range map[string]string{
		"[12345678] b":            `[<a href="/console/block/12345678?scope=">12345678</a>] b`,
		"[carrel 1ea85b0d: gone]": `[carrel <a href="/console/block/1ea85b0d?scope=">1ea85b0d</a>: gone]`,
		"[see 12345678]":          "[see 12345678]",
	} {
		if got := string(c.linked("", text)); got != want {
			t.Errorf("%s is shown as %s, want %s", text, got, want)
		}
	}
	for n, want := range map[int]bool{0: false, 1: true, mostSecret: true, mostSecret + 1: false} {
		if _, ok := c.credential(httptest.NewRequest(http.MethodGet, Root+"sign-in?key="+strings.Repeat("x", n), nil)); ok != want {
			t.Errorf("a credential of %d bytes is taken: %v", n, ok)
		}
	}
	p := &manifestPage{Manifest: &carrel.ManifestResult{}, Verify: &carrel.VerifyResult{}, Items: []itemLine{itemOf(&manifest.Set{Reason: manifest.ReasonCrowded, Count: 1200})}}
	var b strings.Builder
	if err := c.pages.ExecuteTemplate(&b, "manifest", &frame{Data: p}); err != nil || !strings.Contains(b.String(), "1,200 artifacts") || !strings.Contains(b.String(), "crowded") {
		t.Errorf("%v: %s", err, b.String())
	}
}

// A page that cannot be made is an error as a whole, and the log has the cause.
func TestPagesThatCannotBeMade(t *testing.T) {
	var log bytes.Buffer
	c, err := New(&Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	c.write(w, http.StatusOK, "block", &frame{Data: 7})
	if w.Code != http.StatusInternalServerError || !strings.HasPrefix(w.Body.String(), "the page could not be made") || !strings.Contains(log.String(), "page=block") {
		t.Errorf("a page without its data: %d %s, log %s", w.Code, w.Body, &log)
	}
	w = httptest.NewRecorder()
	c.writeJSON(w, http.StatusOK, "application/json", func() {})
	if w.Code != http.StatusInternalServerError || !strings.HasPrefix(w.Body.String(), "the result could not be encoded") {
		t.Errorf("a result that is no JSON: %d %s", w.Code, w.Body)
	}
}

// A thousand people can be signed in. The next one signs out who came first, and nobody stays
// longer than visitLife.
func TestVisitsAreBounded(t *testing.T) {
	var s visits
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var keys []string
	for i := range mostVisits + 1 {
		keys = append(keys, s.begin(fmt.Sprint(i), now.Add(time.Duration(i)*time.Millisecond)))
		if i == mostVisits-1 && len(s.all) != mostVisits {
			t.Errorf("%d of %d visits remain before there are too many", len(s.all), mostVisits)
		}
	}
	for i, k := range keys {
		if got, ok := s.credential(k, now.Add(time.Minute)); ok != (i > 0) || ok && got != fmt.Sprint(i) {
			t.Errorf("visit %d has the credential %q, %v", i, got, ok)
		}
	}
	last := now.Add(mostVisits*time.Millisecond + visitLife)
	if _, ok := s.credential(keys[mostVisits], last.Add(-1)); !ok {
		t.Error("a visit ends too early")
	}
	if _, ok := s.credential(keys[mostVisits], last); ok {
		t.Error("a visit ends too late")
	}
	key := s.begin("x", last)
	if len(s.all) != 1 {
		t.Errorf("%d visits remain when all but one have ended", len(s.all))
	}
	s.end(key)
	if got, ok := s.credential(key, last); ok {
		t.Errorf("a visit that has ended has the credential %q", got)
	}
}
