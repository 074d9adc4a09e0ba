package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/manifest"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
	"github.com/carrel-dev/carrel/transcript"
)

// browserProgram names Chromium, and axeScript the script of axe-core that judges whether
// everybody can use a page.
const (
	browserProgram = "CARREL_TEST_CHROMIUM"
	axeScript      = "CARREL_TEST_AXE"
)

// payload runs in a page that takes any of it for more than text.
const payload = `</pre></script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"'` + "\u202e\x1b]8;;"

// A browser is Chromium with a console of a server, at which a person has signed in.
type browser struct {
	*server

	ctx context.Context

	mu     sync.Mutex
	faults []string // what a page complains of, or runs that it should not
}

func newBrowser(t *testing.T, over func(t *testing.T) *server) *browser {
	t.Helper()
	path := program(t, browserProgram)
	b := &browser{server: over(t)}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	alloc, stop := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(stop)
	ctx, leave := chromedp.NewContext(alloc)
	t.Cleanup(leave)
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *page.EventJavascriptDialogOpening:
			b.complain("a page opens a dialog: " + e.Message)
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if x := e.ExceptionDetails.Exception; x != nil {
				text += ": " + x.Description
			}
			b.complain("a script fails: " + text)
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError {
				b.complain("the browser reports: " + e.Entry.Text + " " + e.Entry.URL)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	b.ctx = ctx
	return b
}

func (b *browser) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, text)
}

// do does something in the browser.
func (b *browser) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		b.t.Fatalf("%s: %v; complaints: %q", what, err, b.faults)
	}
}

// value returns what an expression is in the page.
func value[T any](b *browser, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.100s: %v", expression, err)
	}
	return v
}

// waits returns the action that waits for what a CSS selector finds to be seen.
func waits(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.WaitVisible(chromedp.CSS(selector))
}

// types returns the action that types into a field, and Enter.
func types(selector, text string) chromedp.Action[chromedp.Void] {
	return chromedp.SendKeys(chromedp.CSS(selector), text+kb.Enter)
}

// carrel runs the program on the scope of the console and returns what it prints.
func (b *browser) carrel(args ...string) string {
	b.t.Helper()
	return string(b.run("", carrelProgram, append(args, "--scope", "acme/web")...))
}

// conversation writes a long conversation in which everything is hostile, and takes it in.
func (b *browser) conversation() (session, block string) {
	b.t.Helper()
	var messages []map[string]string
	for i := range 60 {
		messages = append(messages, map[string]string{"role": "user", "content": fmt.Sprintf("Question %d: why? %s", i, payload)},
			map[string]string{"role": "assistant", "content": fmt.Sprintf("Answer %d. %s", i, strings.Repeat("It waits for the pool. "+payload+" ", 30))})
	}
	messages = append(messages, map[string]string{"role": "user", "content": strings.Repeat("x", 1<<20)}, map[string]string{"role": "assistant", "content": "done"})
	data, err := json.Marshal(map[string]any{"model": payload, "messages": messages})
	if err != nil {
		b.t.Fatal(err)
	}
	file := filepath.Join(b.t.TempDir(), "conversation.json")
	write(b.t, file, data)
	b.carrel("import", file)
	b.carrel("compress", "@last", "--smallest")
	session = strings.TrimSpace(b.carrel("sessions", "--jq", ".items[0].session"))
	block = strings.TrimSpace(b.carrel("messages", "@last", "--jq", `[.messages[] | select(.state == "stub")][0].id`))
	return strings.Trim(session, `"`), strings.Trim(block, `"`)
}

// A person signs in, looks at every page of a hostile conversation on a wide and a narrow
// screen, pins by keyboard alone, and hears of it when the session grows. Nothing of the
// conversation runs, no page complains, and everybody can use it.
func TestConsoleInABrowser(t *testing.T) {
	b := newBrowser(t, func(t *testing.T) *server { return newServer(t, "--console", "--allow-write") })
	session, block := b.conversation()
	memory := b.memory()
	call := b.call(session)
	id := strings.TrimSpace(b.carrel("assemble", "--query", "pool", "--budget", "9000", "--session", session, "--jq", ".manifest"))
	id = strings.Trim(id, `"`)
	root := b.url + "/console/"
	b.do("sign in with a wrong credential", chromedp.Navigate(root), types("#credential", "wrong"), waits(".problem"))
	b.faults = nil // the browser reports the status 401
	b.do("sign in", types("#credential", b.credential), waits("nav"))
	if at := value[string](b, `location.href`); at != root {
		t.Errorf("signed in at %s, want %s", at, root)
	}
	axe, err := os.ReadFile(os.Getenv(axeScript))
	if err != nil && os.Getenv(axeScript) != "" {
		t.Fatal(err)
	}
	for _, p := range []string{
		"", "session/" + session, "session/" + session + "/window", "session/" + session + "/plan", "session/" + session + "/journal",
		"block/" + block, "search?q=pool", "calls", "contexts", "review", "cost",
		"session/" + session + "/diff", "session/" + session + "/contract", "session/" + session + "/quality?ask=1", "session/" + session + "/plan?target=40",
		"call/" + call, "manifest/" + id, "manifest/" + id + "/diff?other=" + id, "health",
	} {
		for _, width := range []int64{1280, 390} {
			b.do(p, chromedp.EmulateViewport(width, 900), chromedp.Navigate(root+p), waits("footer"))
			if wide := value[int64](b, `document.documentElement.scrollWidth`); wide != width {
				t.Errorf("%q is %d wide on a screen of %d", p, wide, width)
			}
			if len(axe) > 0 {
				b.judge(p, string(axe))
			}
			b.shoot(p, width)
		}
	}
	b.longLine()
	b.do("pin by keyboard", chromedp.EmulateViewport(1280, 900), chromedp.Navigate(root+"session/"+session), waits("footer"),
		chromedp.KeyEvent("j"), chromedp.KeyEvent(kb.Enter), waits("dl"), chromedp.KeyEvent("p"), chromedp.KeyEvent(kb.Enter), waits(`[data-rule="pin"]`))
	if pinned := b.carrel("messages", session, "--jq", `[.messages[] | select(.pinned)] | length`); strings.TrimSpace(pinned) != "1" {
		t.Errorf("%s blocks are pinned", pinned)
	}
	b.do("undo by keyboard", chromedp.Navigate(root+"session/"+session), waits("footer"),
		chromedp.KeyEvent("u"), chromedp.KeyEvent(kb.Enter), chromedp.WaitNotPresent(chromedp.CSS(`button[data-key="u"]:focus`)), waits("footer"))
	if pinned := b.carrel("messages", session, "--jq", `[.messages[] | select(.pinned)] | length`); strings.TrimSpace(pinned) != "0" {
		t.Errorf("%s blocks are pinned after the undo", pinned)
	}
	b.do("enter alone decides nothing", chromedp.Navigate(root+"review"), waits(".memory"),
		types("[name=reason]", "hm"), waits("button[data-key=a]"))
	if status := strings.Trim(strings.TrimSpace(b.carrel("review", "show", memory, "--jq", ".status")), `"`); status == "approved" {
		t.Error("Enter in the reason approved the memory")
	}
	b.do("review by keyboard", chromedp.Navigate(root+"review"), waits(".memory"),
		chromedp.KeyEvent("j"), chromedp.KeyEvent("r"), waits("[name=reason]:focus"), chromedp.KeyEvent("nobody checked it"+kb.Enter), waits(".none"))
	if status := strings.Trim(strings.TrimSpace(b.carrel("review", "show", memory, "--jq", ".status")), `"`); status != "rejected" {
		t.Errorf("the memory is %s", status)
	}
	b.do("look at a session", chromedp.Navigate(root+"session/"+session), waits("footer"))
	b.record(session, carrel.Usage{CacheRead: 160_000, CacheWrite5m: 12_000, Output: 90})
	b.do("be warned before a compaction", waits(".live"), waits(".warning"))
	b.refused(block)
	b.do("sign out", chromedp.Click(chromedp.CSS(".out button")), waits("#credential"), chromedp.Navigate(root+"cost"), waits("#credential"))
	for _, f := range b.faults {
		t.Error(f)
	}
}

// memory has the gate hold a memory with hostile text, and returns its id.
func (b *browser) memory() string {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "note.txt")
	write(b.t, file, []byte("The pool has 20 connections. "+payload))
	b.carrel("put", file, "--type", "doc", "--id", "pool", "--title", "Note "+payload)
	b.carrel("assemble", "--query", "how many connections has the pool "+payload, "--budget", "4000")
	b.attempt("commit", "@last", "--text", "The pool has 30 connections. "+payload)
	return strings.Trim(strings.TrimSpace(b.carrel("review", "--jq", ".items[0].id")), `"`)
}

// attempt runs the program on the scope of the console. It may fail.
func (b *browser) attempt(args ...string) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), carrelProgram, append(args, "--scope", "acme/web")...)
	cmd.Env = b.env
	out, err := cmd.CombinedOutput()
	b.t.Logf("%s: %v: %.300q", args[0], err, out)
}

// longLine looks at a conversation with a line of ten million bytes.
func (b *browser) longLine() {
	b.t.Helper()
	data, err := json.Marshal(map[string]any{"model": "gpt-4o", "messages": []map[string]string{
		{"role": "user", "content": strings.Repeat("longline"+payload, 10<<20/len("longline"+payload))}, {"role": "assistant", "content": "done"},
	}})
	if err != nil {
		b.t.Fatal(err)
	}
	file := filepath.Join(b.t.TempDir(), "long.json")
	write(b.t, file, data)
	b.carrel("import", file)
	session := strings.Trim(strings.TrimSpace(b.carrel("sessions", "--jq", ".items[0].session")), `"`)
	block := strings.Trim(strings.TrimSpace(b.carrel("messages", session, "--jq", ".messages[0].id")), `"`)
	for _, p := range []string{"session/" + session, "session/" + session + "/window", "block/" + block, "search?q=longline"} {
		b.do(p, chromedp.Navigate(b.url+"/console/"+p), waits("footer"))
		if n := value[int](b, `document.documentElement.outerHTML.length`); n > 2<<20 {
			b.t.Errorf("%s has %d characters", p, n)
		}
	}
}

// refused has a page ask for a pin at a console that only shows, and looks at a console with a
// credential that was revoked.
func (b *browser) refused(block string) {
	b.t.Helper()
	reader := newServer(b.t, "--console")
	root := reader.url + "/console/"
	b.do("sign in to look only", chromedp.Navigate(root), types("#credential", reader.credential), waits("nav"), chromedp.Navigate(root+"review"), waits("footer"))
	if buttons := value[int](b, `document.querySelectorAll("main form").length`); buttons != 0 {
		b.t.Errorf("%d forms of changes at a console that only shows", buttons)
	}
	heard := len(b.faults)
	if status := value[int](b, `fetch("/console/block/`+block+`/pin", {method: "POST"}).then((r) => r.status)`); status != 422 {
		b.t.Errorf("a pin at a console that only shows: status %d", status)
	}
	b.faults = b.faults[:heard] // the browser reports the status
	id := strings.Trim(strings.TrimSpace(string(reader.run("", carrelProgram, "credential", "list", "--jq", ".credentials[0].id"))), `"`)
	reader.run("", carrelProgram, "credential", "revoke", id)
	b.do("look with a credential that was revoked", chromedp.Navigate(root+"cost"), waits("#credential"))
	b.do("look at the first console, whose visit goes on", chromedp.Navigate(b.url+"/console/"), waits("nav"))
}

// A violation is what axe finds in a page.
type violation struct {
	ID     string `json:"id"`
	Impact string `json:"impact"`
	Help   string `json:"help"`
	Nodes  []struct {
		HTML string `json:"html"`
	} `json:"nodes"`
}

// judge has axe look at a page.
func (b *browser) judge(name, axe string) {
	b.t.Helper()
	value[bool](b, axe+"; true")
	for _, v := range value[[]violation](b, `axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}).then((r) => r.violations)`) {
		example := ""
		if len(v.Nodes) > 0 {
			example = v.Nodes[0].HTML
		}
		b.t.Errorf("%q: %s (%s): %s: %.200s", name, v.ID, v.Impact, v.Help, example)
	}
}

// engine returns an engine with options over the store of the server.
func (b *browser) engine(o *carrel.Options) (_ *carrel.Engine, done func()) {
	b.t.Helper()
	path := ""
	for _, e := range b.env {
		if of, found := strings.CutPrefix(e, "CARREL_STORE="); found {
			path = of
		}
	}
	s, err := sqlite.Open(b.t.Context(), path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	engine, err := carrel.New(s, o)
	if err != nil {
		b.t.Fatal(err)
	}
	return engine, func() { _ = s.Close() }
}

// record records a call of a session as a proxy does.
func (b *browser) record(session string, u carrel.Usage) {
	b.t.Helper()
	engine, done := b.engine(nil)
	defer done()
	begun, err := engine.Begin(b.t.Context(), "acme/web", &carrel.BeginRequest{
		Session: transcript.SessionID(session), CallIntent: carrel.CallIntent{Dialect: payload, Model: payload, Messages: 30, Bytes: 600_000, SentBytes: 600_000, Reason: payload},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	end := &carrel.EndRequest{Call: begun.Call, State: store.CallDone, CallOutcome: carrel.CallOutcome{Usage: u, Stop: payload, Error: payload}}
	if _, err := engine.End(b.t.Context(), "acme/web", end); err != nil {
		b.t.Fatal(err)
	}
}

// call records two calls of a session as a proxy does, the second of which missed what the first
// had kept, and returns the id of that.
func (b *browser) call(session string) (id string) {
	b.t.Helper()
	engine, done := b.engine(nil)
	defer done()
	for i, frame := range []string{"tools", "other tools"} {
		parts := []carrel.CallSegment{{Kind: manifest.KindFrame, Bytes: 21_400, Commit: digest.Of([]byte(frame))}}
		for _, p := range []carrel.CallSegment{{Kind: manifest.KindStub, Bytes: 9_800}, {Kind: manifest.KindMessage, Bytes: 61_300}} {
			p.Chain, p.Commit = digest.Of([]byte(string(p.Kind)+frame)), digest.Of([]byte(p.Kind))
			parts = append(parts, p)
		}
		if i == 1 {
			parts[1] = carrel.CallSegment{Kind: manifest.KindMessage, Bytes: 71_100, Chain: digest.Of([]byte("messagetools")), Commit: digest.Of([]byte("both")), Before: id}
			parts[2].Bytes = 4_200
		}
		size := 0
		for _, p := range parts {
			size += p.Bytes
		}
		begun, err := engine.Begin(b.t.Context(), "acme/web", &carrel.BeginRequest{
			Session: transcript.SessionID(session), Sealed: &carrel.CallAccount{Segments: parts},
			CallIntent: carrel.CallIntent{Dialect: "anthropic", Model: "claude-opus-4-1", Client: payload, Messages: 30 + i, Bytes: 412_000, SentBytes: size, Managed: true, Frame: digest.Of([]byte(frame)), Sent: parts[2].Chain, Reason: "as before"},
		})
		if err != nil {
			b.t.Fatal(err)
		}
		id = begun.Call
		end := &carrel.EndRequest{Call: id, State: store.CallDone, CallOutcome: carrel.CallOutcome{Usage: carrel.Usage{CacheRead: 2_100, CacheWrite5m: 28_000, Input: 12, Output: 640}, Stop: "end_turn"}}
		if _, err := engine.End(b.t.Context(), "acme/web", end); err != nil {
			b.t.Fatal(err)
		}
	}
	return id
}

// shots names a folder into which each page is photographed, for people to look at.
const shots = "CARREL_TEST_SHOTS"

// shoot writes what the browser shows into the folder, if one is named.
func (b *browser) shoot(page string, width int64) {
	b.t.Helper()
	dir := os.Getenv(shots)
	if dir == "" {
		return
	}
	data, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '?' || r == '=' || r == '&' {
			return '_'
		}
		return r
	}, page)
	write(b.t, filepath.Join(dir, fmt.Sprintf("%s-%d.png", cmp.Or(name, "sessions"), width)), data)
}
