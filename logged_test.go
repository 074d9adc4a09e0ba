package carrel_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/economy"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// logged is the number of calls of the sessions in these tests.
const logged = 12

func idsOf(calls []carrel.Call) (ids []string) {
	for i := range calls {
		ids = append(ids, calls[i].ID)
	}
	return ids
}

// An import brings the calls in the log of the client: once, whatever is imported again, and none
// without being asked for, as they did not pass through the proxy.
func TestLoggedCalls(t *testing.T) {
	b := newBookkeeper(t)
	b.now = time.Date(2026, 4, 2, 0, 0, 0, 0, time.UTC)
	data := fakesession.Logged(1, logged)
	half := data[:bytes.LastIndexByte(data[:len(data)/2], '\n')+1]
	importFile := func(data []byte) *carrel.ImportResult {
		in, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "mill.jsonl", Data: data})
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	in := importFile(half)
	first := b.list(&carrel.CallsRequest{Logged: true})
	if len(first) == 0 || len(first) >= logged || in.Logged != len(first) {
		t.Fatalf("half of the file has %d calls, and the import says %d", len(first), in.Logged)
	}
	importFile(data)
	importFile(data)
	all := b.list(&carrel.CallsRequest{Session: in.Session, Logged: true})
	if len(all) != logged || !slices.Equal(idsOf(all[logged-len(first):]), idsOf(first)) {
		t.Fatalf("the calls are %q, before %q", idsOf(all), idsOf(first))
	}
	for i := range all {
		c, n := &all[i], logged-i
		if !c.Logged || c.State != store.CallDone || c.Seq != int64(n) || c.Messages != 2*n-1 || c.Model != "claude-sonnet-4-5" || c.Reason == "" || c.Managed {
			t.Errorf("call %d is %+v", n, c)
		}
		if want := (carrel.Usage{Input: 3, CacheRead: 8400 + 600*token.Count(n), CacheWrite5m: 597, Output: 40}); c.Usage != want {
			t.Errorf("call %d used %+v, want %+v", n, c.Usage, want)
		}
	}
	more := fakesession.Logged(1, logged+1)
	if grown, read, err := follow(t, b.Engine, in.Session, more); err != nil || grown.Added != 1 || read >= int64(len(data)) {
		t.Fatalf("the grown file brings %d blocks of %d bytes, %v, want one of its end", grown.Added, read, err)
	}
	if got := b.list(&carrel.CallsRequest{Logged: true}); len(got) != logged+1 || !slices.Equal(idsOf(got[1:]), idsOf(all)) {
		t.Errorf("the grown file has the calls %q, want one more than %q", idsOf(got), idsOf(all))
	}
	if got := b.list(&carrel.CallsRequest{Session: in.Session}); len(got) > 0 {
		t.Errorf("%d calls came through the proxy, want none", len(got))
	}
	if got := b.list(&carrel.CallsRequest{Logged: true, Since: all[2].Begun}); !slices.Equal(idsOf(got[1:]), idsOf(all[:3])) {
		t.Errorf("since the third: %q", idsOf(got))
	}
	if _, err := b.RemoveSession(t.Context(), scope, &carrel.SessionRequest{Session: in.Session}); err != nil {
		t.Fatal(err)
	}
	if got := b.list(&carrel.CallsRequest{Logged: true}); len(got) > 0 {
		t.Errorf("a removed session has the calls %q", idsOf(got))
	}
	if _, err := b.PurgeSession(t.Context(), scope, &carrel.SessionRequest{Session: in.Session}); err != nil {
		t.Fatal(err)
	}
	if got := b.list(&carrel.CallsRequest{Session: in.Session, Logged: true}); len(got) > 0 {
		t.Errorf("a purged session has the calls %q", idsOf(got))
	}
	if _, err := b.Call(t.Context(), scope, &carrel.IDRequest{ID: all[0].ID}); err == nil {
		t.Error("a call of a purged session is shown")
	}
}

// The calls of several sessions and those of the proxy are in one list by their time, in pages of
// any size. A call of both is one, as the proxy saw it. Another scope has none of them.
func TestLoggedCallsInPages(t *testing.T) {
	b := newBookkeeper(t)
	b.now = time.Date(2026, 4, 1, 9, 0, 30, 0, time.UTC)
	var twin string
	for i := range 3 * logged { // a call through the proxy each minute
		id := b.begin(&carrel.BeginRequest{CallIntent: carrel.CallIntent{Dialect: "anthropic", Model: "claude-sonnet-4-5"}})
		end := &carrel.EndRequest{Call: id, State: store.CallDone}
		if i == 4 {
			end.Reply = replyIn(t, fakesession.Logged(1, logged), 4)
			twin = id
		}
		b.end(end)
	}
	b.now = b.now.Add(24 * time.Hour)
	for seed := range uint64(3) {
		if _, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "mill.jsonl", Data: fakesession.Logged(seed, logged)}); err != nil {
			t.Fatal(err)
		}
	}
	all := b.list(&carrel.CallsRequest{Logged: true})
	if want := 6*logged - 1; len(all) != want {
		t.Fatalf("%d calls, want %d", len(all), want)
	}
	if !slices.IsSortedFunc(all, func(x, y carrel.Call) int { return y.Begun.Compare(x.Begun) }) {
		t.Error("the calls are not in the order of their times")
	}
	if !slices.Contains(idsOf(all), twin) {
		t.Error("the call of both is not the one of the proxy")
	}
	for _, size := range []int{1, 5, 7, 50} {
		var ids []string
		req := &carrel.CallsRequest{Logged: true, Cursor: carrel.Cursor{Limit: size}}
		for {
			page, err := b.Calls(t.Context(), scope, req)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, idsOf(page.Items)...)
			if req.After = page.Next; page.Next == "" {
				break
			}
		}
		if diff := cmp.Diff(idsOf(all), ids); diff != "" {
			t.Errorf("pages of %d: want -, got +:\n%s", size, diff)
		}
	}
	other, err := b.Calls(t.Context(), governance.Scope("other/mill/agent"), &carrel.CallsRequest{Logged: true})
	if err != nil || len(other.Items) > 0 {
		t.Errorf("another scope has %v, %v", other, err)
	}
}

// replyIn returns the provider's id of a reply in a session file.
func replyIn(t *testing.T, data []byte, number int) string {
	e := newEngine(t, stores.New(t))
	in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "mill.jsonl", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	calls, err := carrel.Items(e.Calls(t.Context(), scope, &carrel.CallsRequest{Session: in.Session, Logged: true}))
	if err != nil {
		t.Fatal(err)
	}
	return calls[len(calls)-1-number].Reply
}

// A logged call is shown with its parts: what the call before it had, too, and what is new. Its
// cost is that of its usage. A change of the tools is the cause of a break, as the log has it.
func TestLoggedCallWithItsParts(t *testing.T) {
	b := newBookkeeper(t)
	b.now = time.Date(2026, 4, 2, 0, 0, 0, 0, time.UTC)
	data := string(fakesession.Logged(1, logged))
	in, err := b.Import(t.Context(), scope, &carrel.ImportRequest{Name: "mill.jsonl", Data: []byte(data)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.Call(t.Context(), scope, &carrel.IDRequest{ID: fmt.Sprintf("%s:%d", in.Session, 5)})
	if err != nil {
		t.Fatal(err)
	}
	end, origins := 0, ""
	for _, p := range c.Segments {
		if p.Start != end || p.Bytes < 1 {
			t.Errorf("part %+v begins at %d, want %d", p, p.Start, end)
		}
		end += p.Bytes
		origins += fmt.Sprintf("%s %s, ", p.Kind, p.Origin)
	}
	if origins != "frame before, message before, message client, " || end != c.SentBytes || c.Kept != c.Segments[2].Start || c.Before == nil || c.Before.Seq != 4 {
		t.Errorf("the parts are %s%d of %d bytes, %d as before; before is %+v", origins, end, c.SentBytes, c.Kept, c.Before)
	}
	tariff, _ := economy.Published().Find("claude-sonnet-4-5")
	if want := tariff.Charge(economy.Spend{Uncached: 3, Read: 11_400, Write5m: 597, Output: 40}).Total(); c.Cost == nil || *c.Cost != want {
		t.Errorf("the call cost %v, want %v", c.Cost, want)
	}
	for _, id := range []string{string(in.Session) + ":13", string(in.Session) + ":0", string(in.Session) + ":", "x:1", ":1"} {
		if _, err := b.Call(t.Context(), scope, &carrel.IDRequest{ID: id}); api.KindOf(err).Exit != api.ExitNotFound {
			t.Errorf("call %q: %v, want that there is none", id, err)
		}
	}
}

// The cause of a break is in the log: other tools, or messages that were left out.
func TestCauseOfABreakInTheLog(t *testing.T) {
	const shape = `{"system":"Be brief.","tools":[]}`
	whole := string(fakesession.Logged(1, 9)) // one more would list its messages anew
	at := strings.LastIndex(whole, `{"base":`)
	reads := `"cache_read_input_tokens":13800`
	if strings.Count(whole[at:], reads) != 2 {
		t.Fatal("the last reply has no two rows with its usage")
	}
	last := strings.ReplaceAll(whole[at:], reads, `"cache_read_input_tokens":0`)
	hash := regexp.MustCompile(`"shapeHash":"[0-9a-f]+"`)
	other := fmt.Sprintf(`"shapeHash":"%s"`, digest.Of([]byte(shape)))
	for _, c := range []struct {
		name, last string
		want       economy.Cause
	}{
		{"nothing in the log", last, economy.CauseUnknown},
		{"other tools", fmt.Sprintf(`{"type":"api-request-shape","sessionId":"s",%s,"shape":%s}`, other, shape) + "\n" + hash.ReplaceAllString(last, other), economy.CauseFrame},
		{"messages left out", strings.Replace(last, `"keep":15`, `"keep":13`, 1), economy.CauseEdited},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := newEngine(t, stores.New(t))
			in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "mill.jsonl", Data: []byte(whole[:at] + c.last)})
			if err != nil || len(in.Warnings) > 0 {
				t.Fatal(err, in.Warnings)
			}
			res, err := e.Cost(t.Context(), scope, &carrel.CostRequest{Session: in.Session})
			if err != nil {
				t.Fatal(err)
			}
			if b := res.Total.Breaks; len(b) != 1 || b[0].Call != 8 || b[0].Cause != c.want {
				t.Errorf("the breaks are %+v, want one at call 8, by %s", b, c.want)
			}
		})
	}
}

// What the log lacks is reported with the import, which stores the conversation nevertheless.
func TestImportReportsLosses(t *testing.T) {
	e := newEngine(t, stores.New(t))
	data := bytes.Replace(fakesession.Logged(1, 3), []byte("system-reminder"), []byte("system-remainder"), 1)
	in, err := e.Import(t.Context(), scope, &carrel.ImportRequest{Name: "mill.jsonl", Data: data})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Warnings) != 1 || !strings.Contains(in.Warnings[0].Text, "3 logged requests with messages") || in.Messages != 7 {
		t.Errorf("%d messages with the warnings %v, want 7 and one", in.Messages, in.Warnings)
	}
	calls, err := carrel.Items(e.Calls(t.Context(), scope, &carrel.CallsRequest{Logged: true}))
	if err != nil || len(calls) != 3 || calls[0].Missing != 1 {
		t.Errorf("the calls are %+v, %v, want three that each lack one message", calls, err)
	}
	out, err := e.Export(t.Context(), scope, &carrel.ExportRequest{Session: in.Session})
	if err != nil || !bytes.Equal(out.Data, data) {
		t.Errorf("the file is not the same again: %v", err)
	}
}
