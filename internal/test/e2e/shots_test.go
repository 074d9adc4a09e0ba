package e2e

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/demo"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

// deskScope is the scope of the demonstration's 847 artifacts.
const deskScope = "acme/support"

// The pages of the demonstrations, a session of a coding agent and 847 artifacts: everybody can
// use them, and no page complains. With CARREL_TEST_SHOTS the pages of the guide are photographed.
func TestDemoInABrowser(t *testing.T) {
	dir := t.TempDir()
	b := newBrowser(t, func(t *testing.T) *server {
		for _, run := range []func() error{
			func() error { return demo.Run(t.Context(), io.Discard, dir, "carrel") },
			func() error { return demo.Assemble(t.Context(), io.Discard, dir, "carrel") },
		} {
			if err := run(); err != nil {
				t.Fatal(err)
			}
		}
		return newServerOver(t, dir, []string{string(governance.DefaultScope), deskScope}, "--console", "--allow-write")
	})
	session, block := b.demoCalls()
	context := strings.Trim(strings.TrimSpace(string(b.run("", carrelProgram, "manifest", "list", "--scope", deskScope, "--jq", ".items[0].id"))), `"`)
	root := b.url + "/console/"
	desk := "?scope=" + strings.ReplaceAll(deskScope, "/", "%2F")
	axe, err := os.ReadFile(os.Getenv(axeScript))
	if err != nil && os.Getenv(axeScript) != "" {
		t.Fatal(err)
	}
	b.do("sign in", chromedp.Navigate(root), types("#credential", b.credential), waits("nav"))
	for name, path := range map[string]string{
		"sessions": "", "session": "session/" + session, "window": "session/" + session + "/window", "dropped": "session/" + session + "/diff",
		"plan": "session/" + session + "/plan?target=40", "why": "block/" + block, "call": "call/42", "calls": "calls", "cost": "cost",
		"memory": "review" + desk, "context": "manifest/" + context + desk, "contexts": "contexts" + desk, "health": "health",
		"search": "search?q=pool", "quality": "session/" + session + "/quality?ask=1", "contract": "session/" + session + "/contract", "journal": "session/" + session + "/journal",
	} {
		for _, look := range []struct {
			scheme string
			width  int64
		}{{"light", 1000}, {"dark", 1000}, {"light", 390}} {
			media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}}
			if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, media); err != nil {
				t.Fatal(err)
			}
			b.do(name, chromedp.EmulateViewport(look.width, 860), chromedp.Navigate(root+path), waits("footer"))
			if wide := value[int64](b, `document.documentElement.scrollWidth`); wide != look.width {
				t.Errorf("%q is %d wide on a screen of %d", name, wide, look.width)
			}
			if len(axe) > 0 && look.width > 390 {
				b.judge(name+", "+look.scheme, string(axe))
			}
			b.shoot(fmt.Sprintf("console-%s-%s", name, look.scheme), look.width)
		}
	}
	for _, f := range b.faults {
		t.Error(f)
	}
}

// demoCalls records what a proxy would have of the demonstration's session: 42 calls, the last
// after a pause that was longer than the cache lives. It returns the session, and a block of which
// a part is in the window.
func (b *browser) demoCalls() (session, block string) {
	b.t.Helper()
	clock := time.Now().Add(-4 * time.Hour)
	engine, done := b.engine(&carrel.Options{Now: func() time.Time { return clock }})
	defer done()
	scope := governance.DefaultScope
	list, err := engine.Sessions(b.t.Context(), scope, &carrel.SessionsRequest{})
	if err != nil || len(list.Items) == 0 {
		b.t.Fatal(err)
	}
	id := list.Items[0].Session
	b.demoCallsOf(engine, scope, id, &clock)
	share, err := api.ParseTarget("12%")
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := engine.Compress(b.t.Context(), scope, &carrel.CompressRequest{Session: id, Target: share}); err != nil {
		b.t.Fatal(err)
	}
	blocks, err := engine.Messages(b.t.Context(), scope, &carrel.MessagesRequest{Session: id})
	if err != nil {
		b.t.Fatal(err)
	}
	saved := token.Count(0)
	for i := range blocks.Messages {
		if m := &blocks.Messages[i]; m.State == store.StateStub && m.Window > 300 && m.Tokens-m.Window > saved {
			block, saved = string(m.ID), m.Tokens-m.Window
		}
	}
	return string(id), block
}

// demoCallsOf records 42 calls of a session.
func (b *browser) demoCallsOf(engine *carrel.Engine, scope governance.Scope, id transcript.SessionID, clock *time.Time) {
	b.t.Helper()
	frame, before := digest.Of([]byte("tools")), ""
	var last digest.Digest // chain of the call before
	long := 0              // bytes of its messages
	prompt, epoch := int64(31_000), 1
	for n := 1; n <= 42; n++ {
		*clock = clock.Add(3 * time.Minute)
		read := prompt
		if prompt += int64(2_100 + 137*(n%7)); n%16 == 0 {
			prompt, epoch, read = 38_000, epoch+1, 21_000 // the window was made smaller
		}
		usage := carrel.Usage{CacheRead: token.Count(read), CacheWrite5m: token.Count(max(prompt-read, 0)), Input: 12, Output: 420}
		if n == 42 {
			*clock = clock.Add(47 * time.Minute)
			usage.CacheRead, usage.CacheWrite5m = 0, token.Count(prompt)
		}
		sent, fresh := digest.Of(fmt.Appendf(nil, "sent %d", n)), n == 1 || n%16 == 0
		parts := []carrel.CallSegment{{Kind: manifest.KindFrame, Bytes: 38_210, Commit: frame}}
		if fresh {
			parts = append(parts, carrel.CallSegment{Kind: manifest.KindStub, Bytes: 21_400, Commit: digest.Of([]byte("head")), Chain: digest.Of(fmt.Appendf(nil, "head %d", epoch))},
				carrel.CallSegment{Kind: manifest.KindMessage, Bytes: int(prompt) * 3, Commit: digest.Of([]byte("rest")), Chain: sent})
		} else {
			parts = append(parts, carrel.CallSegment{Kind: manifest.KindMessage, Bytes: long, Commit: digest.Of([]byte("rest")), Chain: last, Before: before},
				carrel.CallSegment{Kind: manifest.KindMessage, Bytes: 6_312, Commit: digest.Of([]byte("more")), Chain: sent})
		}
		reason := "same epoch"
		if fresh && n > 1 {
			reason = api.ReasonEpoch + "budget"
		}
		last, long = sent, 0
		for _, p := range parts[1:] {
			long += p.Bytes
		}
		size := 0
		for _, p := range parts {
			size += p.Bytes
		}
		begun, err := engine.Begin(b.t.Context(), scope, &carrel.BeginRequest{
			Session: id, Sealed: &carrel.CallAccount{Segments: parts},
			CallIntent: carrel.CallIntent{Dialect: "anthropic", Model: "claude-opus-4-6", Messages: 20 + 2*n, Bytes: 412_000 + 9_000*n, SentBytes: size, Managed: true, Epoch: epoch, Frame: frame, Sent: sent, Reason: reason},
		})
		if err != nil {
			b.t.Fatal(before, err)
		}
		before = begun.Call
		end := &carrel.EndRequest{Call: begun.Call, State: store.CallDone, CallOutcome: carrel.CallOutcome{Usage: usage, Stop: "tool_use"}}
		if _, err := engine.End(b.t.Context(), scope, end); err != nil {
			b.t.Fatal(err)
		}
	}
}
