package claudecode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/transcript"
)

// requestsIn returns the logged requests of a file, and what its log lacks.
func requestsIn(t *testing.T, data []byte) ([]transcript.Request, []transcript.Warning) {
	t.Helper()
	s, err := Format.Decode("s.jsonl", data)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(s.Bytes(), data) {
		t.Fatal("the rows of the file have changed")
	}
	return Format.(transcript.Logged).Requests(s)
}

// Each request of a log is one request, with all messages that were sent, and the reply to it. It
// shares all messages of the request before it, whether it lists them again or not.
func TestRequestsOfALog(t *testing.T) {
	all, losses := requestsIn(t, fakesession.Logged(4, 23))
	if len(all) != 23 || len(losses) > 0 {
		t.Fatalf("%d requests with losses %v, want 23 without", len(all), losses)
	}
	replies := make(map[string]bool)
	for i := range all {
		r := &all[i]
		if r.Messages != 2*i+1 || r.Kept != max(2*i-1, 0) || r.Missing != 0 || r.Model != "claude-sonnet-4-5" || r.Frame != all[0].Frame || r.Frame == [32]byte{} {
			t.Errorf("request %d is %+v, want %d messages, all but two of them as before, and the same frame", i, r, 2*i+1)
		}
		if i > 0 && (r.KeptBytes != all[i-1].Bytes || r.Bytes <= r.KeptBytes || r.Chain == all[i-1].Chain) {
			t.Errorf("request %d has %d bytes, %d as before, and chain %x; the one before has %d and %x", i, r.Bytes, r.KeptBytes, r.Chain, all[i-1].Bytes, all[i-1].Chain)
		}
		if r.Stop != "tool_use" || r.Replied.Sub(r.Begun).Seconds() != 10 || replies[r.Reply] || r.Reply == "" {
			t.Errorf("request %d was answered with %s (%q) at %s, want another reply than before after ten seconds", i, r.Reply, r.Stop, r.Replied)
		}
		replies[r.Reply] = true
	}
	if all, losses = requestsIn(t, fakesession.Metered(4, 3, 2)); len(all)+len(losses) > 0 {
		t.Errorf("a file without a log has %v and losses %v", all, losses)
	}
}

// The client computes digests over JSON with its keys in order, and writes the keys of a message
// in another. It joins rows: two of the user, and those of a reply.
func TestDigestsOfALog(t *testing.T) {
	sum := func(text string) string {
		d := sha256.Sum256([]byte(text))
		return hex.EncodeToString(d[:])
	}
	user := `{"content":[{"text":"Mend \"the\" mill.","type":"text"},{"source":{"data":"AA==","media_type":"image/png","type":"base64"},"type":"image"}],"role":"user"}`
	reply := `{"content":[{"signature":"c2ln","thinking":"hm","type":"thinking"},{"id":"t1","input":{"a":[1e+21,{"b":2,"c":null}]},"name":"Bash","type":"tool_use"}],"role":"assistant"}`
	frame := `{"system":[{"text":"Be brief.","type":"text"}],"tools":[{"description":"Runs.","name":"Bash"}]}`
	resumed := `{"content":[{"content":"ok","tool_use_id":"t1","type":"tool_result"}],"role":"user"}`
	data := `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Mend \"the\" mill."}}
{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}}
{"type":"api-request-shape","sessionId":"s","shapeHash":"` + sum(frame) + `","shape":{"tools":[{"name":"Bash","description":"Runs."}],"system":[{"type":"text","text":"Be brief."}]}}
{"type":"api-request","sessionId":"s","agentId":"a7","id":"r1","timestamp":"2026-11-28T12:35:35.052Z","shapeHash":"` + sum(frame) + `","params":{"model":"m"},"keep":0,"tail":["` + sum(user) + `"]}
{"type":"assistant","uuid":"a1","parentUuid":"u2","sessionId":"s","requestRef":"r1","message":{"id":"m1","role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"}],"stop_reason":null}}
{"type":"assistant","uuid":"a2","parentUuid":"a1","sessionId":"s","requestRef":"r1","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"a":[1e+21,{"c":null,"b":2}]}}],"stop_reason":"tool_use"}}
{"type":"user","uuid":"u3","parentUuid":"a2","sessionId":"s","message":{"role":"user","content":[{"tool_use_id":"t1","type":"tool_result","content":"ok"}]}}
{"type":"api-request","sessionId":"s","id":"r2","shapeHash":"` + sum(frame) + `","params":{"model":"m"},"base":"r1","keep":1,"tail":["` + sum(reply) + `","` + sum(resumed) + `"]}
{"type":"api-request-resumed","sessionId":"s","messageId":"m1","pausedRequestId":"r1","resumedRequestId":"r2"}
`
	all, losses := requestsIn(t, []byte(data))
	if len(all) != 2 || len(losses) > 0 {
		t.Fatalf("requests %+v, losses %v", all, losses)
	}
	type figures struct{ Frame, First, Second, Kept, Missing int }
	got := figures{all[0].FrameBytes, all[0].Bytes, all[1].Bytes, all[1].KeptBytes, all[0].Missing + all[1].Missing}
	if diff := cmp.Diff(figures{len(frame), len(user), len(user + reply + resumed), len(user), 0}, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if all[0].Client != "s/a7" || all[0].Stop != "tool_use" || all[1].Reply != "m1" {
		t.Errorf("the client is %q, the replies are %+v", all[0].Client, all)
	}
}

// A message of a request is the content of all rows of a reply, or of adjoining rows of the user.
func TestMessagesOfRows(t *testing.T) {
	user := func(text string) string {
		return `{"type":"user","message":{"role":"user","content":"` + text + `"}}`
	}
	reply := func(id, text string) string {
		return `{"type":"assistant","message":{"id":"` + id + `","role":"assistant","content":[{"type":"text","text":"` + text + `"}]}}`
	}
	for _, tt := range []struct {
		name string
		rows []string
		want string // the messages: the role and the texts
	}{
		{"rows of the user", []string{user("a"), user("b"), user("c")}, "user a; user a b; user a b c"},
		{"rows of a reply", []string{reply("m", "a"), reply("m", "b")}, "assistant a; assistant a b"},
		{"rows of two replies", []string{reply("m", "a"), reply("n", "b")}, "assistant a; assistant b"},
		{"replies without an id", []string{reply("", "a"), reply("", "b")}, "assistant a; assistant b"},
		{"a reply between", []string{user("a"), reply("m", "b"), user("c")}, "assistant b; user a; user c"},
		{"a compaction between", []string{user("a"), `{"type":"system","subtype":"compact_boundary"}`, user("b")}, "user a; user b"},
		{"another row between", []string{user("a"), `{"type":"progress"}`, user("b")}, "user a; user a b"},
		{"a row without a role between", []string{user("a"), `{"type":"user","message":{"content":"x"}}`, user("b")}, "user a; user b"},
		{"a row without content between", []string{user("a"), `{"type":"user","message":{"role":"user"}}`, user("b")}, "user a; user b"},
		{"a row that cannot be read", []string{user("a"), `{"type":"user","message":{"role":"user","content":[{"text":"x",}]}}`, user("b"), reply("m", "c")}, "assistant c; user a"},
		{"objects without a list", []string{`{"type":"user","message":{"role":"user","content":{"type":"text","text":"a"}}}`, `{"type":"user","message":{"role":"user","content":{"type":"text","text":"b"}}}`}, "user a; user a b"},
		{"a long text", []string{user(strings.Repeat("a", 5000)), user("b")}, "user " + strings.Repeat("a", 5000) + "; user " + strings.Repeat("a", 5000) + " b"},
	} {
		l := &requestLog{messages: make(map[digest.Digest]int), replies: make(map[string]*answer), answers: make(map[string]*answer)}
		for i, row := range tt.rows {
			l.index(i+1, []byte(row))
		}
		want := make(map[digest.Digest]int)
		for message := range strings.SplitSeq(tt.want, "; ") {
			words := strings.Fields(message)
			text := `{"content":[{"text":"` + strings.Join(words[1:], `","type":"text"},{"text":"`) + `","type":"text"}],"role":"` + words[0] + `"}`
			want[digest.Of([]byte(text))] = len(text)
		}
		if !maps.Equal(l.messages, want) {
			t.Errorf("%s: there are %d messages, want %s", tt.name, len(l.messages), tt.want)
		}
	}
}

// A row of a log counts only with all that it needs.
func TestRowsOfALog(t *testing.T) {
	for row, want := range map[string][lossKinds]int{
		`{"id":"r","keep":0,"tail":[]}`: {lossFrame: 1}, `{"id":"r","shapeHash":"` + strings.Repeat("0", 64) + `","tail":[]}`: {lossFrame: 1},
		`{"id":"","keep":0,"tail":[]}`: {lossRow: 1}, `{"keep":0,"tail":[]}`: {lossRow: 1}, `{"id":"r","keep":0,"tail":{}}`: {lossRow: 1}, `{"id":"r","keep":0}`: {lossRow: 1},
		`{"id":"r","base":"q","keep":-1,"tail":[]}`: {lossRow: 1}, `{"id":"r","keep":1,"tail":[]}`: {lossRow: 1}, `{"id":"r","base":"q","keep":1,"tail":[]}`: {lossFrame: 1, lossBase: 1},
		`{"id":"r","base":"q","keep":1048576,"tail":[]}`: {lossFrame: 1, lossBase: 1}, `{"id":"r","base":"q","keep":1048577,"tail":[]}`: {lossRow: 1},
		`{"id":"r","tail":["x","` + strings.Repeat("0", 64) + `"]}`: {lossRow: 1}, `{"id":"r","tail":["` + strings.Repeat("0", 64) + `"]}`: {lossFrame: 1, lossMessage: 1},
	} {
		l := &requestLog{next: make(map[step]*prompt), made: make(map[string]*prompt)}
		l.request(1, []byte(row))
		var got [lossKinds]int
		for i, loss := range l.losses {
			got[i] = loss.count
		}
		if got != want || len(l.all) != 1-got[lossRow] {
			t.Errorf("%s: losses %v and %d requests, want %v", row, got, len(l.all), want)
		}
	}
	lines := &requestLog{next: make(map[step]*prompt), made: make(map[string]*prompt)}
	for _, line := range []int{3, 5} {
		lines.request(line, []byte(`{}`))
		lines.request(line+1, []byte(`{"id":"r","tail":[]}`))
	}
	if got, want := fmt.Sprint(lines.warnings()), "[{3 2 rows of the client's log of requests that cannot be read (kept)} {4 2 logged requests whose system text and tools the log lacks}]"; got != want {
		t.Errorf("the warnings are %s, want %s", got, want)
	}
	known := make(map[digest.Digest]int)
	l := &requestLog{replies: make(map[string]*answer), answers: make(map[string]*answer)}
	for _, raw := range []string{"", "[", "[1,]", "[] 7"} {
		l.text(1, raw, known)
	}
	l.reply(`{"timestamp":"2026-01-01T00:00:00Z"}`, "", "m")
	l.reply(`{}`, "r", "")
	l.resumed(1, `{"messageId":"m"}`)
	l.resumed(1, `{"resumedRequestId":"r"}`)
	if len(known)+len(l.replies)+len(l.answers) != 0 || l.losses[lossRow].count != 6 {
		t.Errorf("of rows that lack something there are %d texts, %d replies and %d answers, and losses %v", len(known), len(l.replies), len(l.answers), l.losses)
	}
	l.resumed(1, `{"messageId":"m","resumedRequestId":"r"}`)
	l.reply(`{"message":{"stop_reason":"end_turn"}}`, "q", "m")
	r := transcript.Request{ID: "r"}
	if l.answer(&r); r.Reply != "m" || r.Stop != "end_turn" {
		t.Errorf("a request that went on with a reply is %+v", r)
	}
}

// What a log lacks is a loss with its first line. All else of the log is read, and the
// conversation is whole.
func TestLogWithLosses(t *testing.T) {
	whole := string(fakesession.Logged(9, 6))
	replace := func(from, to string) func(string) string {
		return func(s string) string { return strings.Replace(s, from, to, 1) }
	}
	without := func(kind string) func(string) string {
		return func(s string) string {
			var kept []string
			for line := range strings.Lines(s) {
				if !strings.Contains(line, `"type":"`+kind+`"`) {
					kept = append(kept, line)
				}
			}
			return strings.Join(kept, "")
		}
	}
	for _, c := range []struct {
		name   string
		change func(string) string
		want   string // the losses
		read   int    // requests that are read
	}{
		{"no system text and tools", without("api-request-shape"), "6 logged requests whose system text and tools the log lacks", 6},
		{"no text of a message", without("api-request-blob"), "6 logged requests with messages that are neither in the log nor in the session", 6},
		{"another text of a message", replace("system-reminder", "system-remainder"), "6 logged requests with messages that are neither in the log nor in the session", 6},
		{"a message of the conversation was changed", replace(`"input":{"a":1.5`, `"input":{"a":1.25`), "5 logged requests with messages that are neither in the log nor in the session", 6},
		{"no such base", replace(`"base":"request`, `"base":"rebuke`), "5 logged requests that continue a request which the log lacks", 6},
		{"a base with fewer messages", replace(`"keep":1,`, `"keep":2,`), "5 logged requests that continue a request which the log lacks", 6},
		{"a huge base", replace(`"keep":1,`, `"keep":99999999999,`), "1 rows of the client's log of requests that cannot be read (kept); 4 logged requests that continue a request which the log lacks", 5},
		{"no digest", replace(`"tail":["`, `"tail":["x`), "1 rows of the client's log of requests that cannot be read (kept); 5 logged requests that continue a request which the log lacks", 5},
		{"no list", replace(`"tail":[`, `"tail":7,"rest":[`), "1 rows of the client's log of requests that cannot be read (kept); 5 logged requests that continue a request which the log lacks", 5},
		{"no blob in a blob", replace(`"message":{"content":[{"text":"<sys`, `"mess":{"content":[{"text":"<sys`), "1 rows of the client's log of requests that cannot be read (kept); 6 logged requests with messages that are neither in the log nor in the session", 6},
		{"the last row is cut", func(s string) string { return s[:strings.LastIndex(s, `"type":"api-request"`)+25] }, "1 rows of the client's log of requests that cannot be read (kept)", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := c.change(whole)
			if data == whole {
				t.Fatal("nothing has changed")
			}
			all, losses := requestsIn(t, []byte(data))
			var texts []string
			for _, l := range losses {
				texts = append(texts, l.Text)
				if l.Line < 1 {
					t.Errorf("%s has no line", l.Text)
				}
			}
			if got := strings.Join(texts, "; "); got != c.want || len(all) != c.read {
				t.Errorf("%d requests, losses %q, want %d and %q", len(all), got, c.read, c.want)
			}
		})
	}
}

func FuzzRequests(f *testing.F) {
	whole := fakesession.Logged(2, 2)
	f.Add(whole)
	f.Add(bytes.ReplaceAll(whole, []byte(`"keep":1`), []byte(`"keep":3`)))
	f.Add(whole[:len(whole)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := format{}.Decode("x.jsonl", data)
		if err != nil {
			return
		}
		all, losses := format{}.Requests(s)
		if len(all) > len(s.Items) || len(losses) > lossKinds {
			t.Fatalf("%d requests in %d rows, losses %v", len(all), len(s.Items), losses)
		}
		var before transcript.Request
		for i := range all {
			r := &all[i]
			if r.Kept > min(before.Messages, r.Messages) || r.KeptBytes > min(before.Bytes, r.Bytes) || r.Missing > r.Messages || r.Bytes < 0 {
				t.Fatalf("request %+v behind %+v", r, before)
			}
			before = *r
		}
	})
}

// The first messages of a list, and those that two lists have in common, are found at any distance.
func TestPromptsFarBack(t *testing.T) {
	l := &requestLog{next: make(map[step]*prompt)}
	var long, other *prompt
	for i := range 5000 {
		long = l.add(long, sha256.Sum256([]byte(fmt.Sprint(i))))
		other = l.add(other, sha256.Sum256([]byte(fmt.Sprint(min(i, 3000), i > 3000))))
		if i < 3000 {
			other = long
		}
	}
	for _, n := range []int{0, 1, 2, 2999, 3000, 4999, 5000} {
		if got := long.first(n); got.size() != n {
			t.Errorf("the first %d messages are %d", n, got.size())
		}
	}
	if long.first(5001) != nil {
		t.Error("there are more messages than there are")
	}
	if got := common(long, other); got.size() != 3000 || got != long.first(3000) {
		t.Errorf("%d messages in common, want 3000", got.size())
	}
	if common(nil, long) != nil {
		t.Error("no messages have some in common with others")
	}
}
