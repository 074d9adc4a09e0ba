package mcp

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/pager"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// A session is named by eight characters, or by all of its id if another one begins so.
func TestShortestNamesOneSession(t *testing.T) {
	list := []carrel.SessionInfo{{Session: "12345678-a"}, {Session: "12345678-b"}, {Session: "abcdefghi"}, {Session: "abcdefg"}, {Session: "87654321"}, {Session: ""}}
	for i, want := range []string{"12345678-a", "12345678-b", "abcdefgh", "abcdefg", "87654321", ""} {
		if got := shortest(list, i); got != want {
			t.Errorf("%q is named %q, want %q", list[i].Session, got, want)
		}
	}
}

// Each kind of refusal that an agent can do something about says what.
func TestHintsOfRefusals(t *testing.T) {
	for slug, want := range map[string]string{
		api.NotFound.Slug: "get_messages lists", api.Ambiguous.Slug: "give more of the id", api.Denied.Slug: "go on without this", api.ProbesFailed.Slug: "try a larger target",
		api.Invalid.Slug: "go on without this", api.Refused.Slug: "or ask the person", api.Gone.Slug: "do not ask again", api.Busy.Slug: "try again", api.Timeout.Slug: "try again", api.Unexpected.Slug: "go on without this",
	} {
		if got := hints(slug); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", slug, got, want)
		}
	}
	if got := hints("another"); got != "" {
		t.Errorf("another: %q", got)
	}
}

// A message says whether it may go, and why not.
func TestMessagesSayWhetherTheyMayGo(t *testing.T) {
	b := carrel.BlockInfo{ShortID: "12345678", Turn: 3, Kind: transcript.KindTool, State: store.StateLive, Tokens: 90, Window: 40, Class: pager.Disposal("old-output"), Priority: 2, Kept: "pinned", Preview: "ls"}
	m := newMessage(&b)
	if got, want := m.line(), "12345678  turn 3  tool  live  40 tokens  (kept: pinned)  ls"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	b.Discardable = true
	m = newMessage(&b)
	if got, want := m.line(), "12345678  turn 3  tool  live  40 tokens  (may go: old-output, 2)  ls"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A resource is text if it can be, and an item is plain text.
func TestContentsAreTextIfTheyCanBe(t *testing.T) {
	for _, tt := range []struct {
		uri, data, text, kind string
	}{
		{itemURI + "1", "a", "a", "text/plain"},
		{itemURI + "1", "\xff", "", "application/octet-stream"},
		{"carrel:other/1", "{}", "{}", ""},
	} {
		c := contents(tt.uri, []byte(tt.data)).Contents[0]
		if c.URI != tt.uri || c.Text != tt.text || c.MIMEType != tt.kind || (len(c.Blob) > 0) != (tt.text == "") {
			t.Errorf("%s %q: %+v", tt.uri, tt.data, c)
		}
	}
}

// A list is given out in parts, each with where the next one begins, and without what is
// of earlier windows.
func TestListsComeInParts(t *testing.T) {
	all := &carrel.MessagesResult{Earlier: 1, Total: 900, Target: 500, Floor: 100}
	all.Session = "s"
	for _, id := range []transcript.BlockID{"0-old", "1-a", "2-b", "3-c"} {
		all.Messages = append(all.Messages, carrel.BlockInfo{ID: id, ShortID: string(id)})
	}
	for _, tt := range []struct {
		in   messagesArgs
		want string // ids, and the next one
		says string
	}{
		{messagesArgs{}, "1-a 2-b 3-c |", "messages 1 to 3 of 3"},
		{messagesArgs{Limit: 3}, "1-a 2-b 3-c |", "messages 1 to 3 of 3"},
		{messagesArgs{Limit: 1}, "1-a |1-a", "messages 1 to 1 of 3"},
		{messagesArgs{Limit: 1, After: "1-a"}, "2-b |2-b", "messages 2 to 2 of 3"},
		{messagesArgs{After: "2"}, "3-c |", "messages 3 to 3 of 3"},
		{messagesArgs{After: "3-c"}, "|", "messages 3 to 3 of 3"},
	} {
		r, err := listMessages(all, &tt.in)
		if err != nil {
			t.Errorf("%+v: %v", tt.in, err)
			continue
		}
		got := ""
		for _, m := range r.out.Messages {
			got += m.ShortID + " "
		}
		if got += "|" + r.out.Next; got != tt.want || r.out.Count != 3 || r.out.Earlier != 1 {
			t.Errorf("%+v: %q of %+v, want %q", tt.in, got, r.out, tt.want)
		}
		if text := r.text[0]; !strings.Contains(text, tt.says) || !strings.Contains(text, "1 more are from windows before a compaction") || strings.Contains(text, "next: after=") != (r.out.Next != "") {
			t.Errorf("%+v: %s, want %q", tt.in, text, tt.says)
		}
	}
	if _, err := listMessages(all, &messagesArgs{After: "0-old"}); err == nil {
		t.Error("a message of an earlier window is found")
	}
	all.Messages = append(all.Messages, carrel.BlockInfo{ID: "2-d", ShortID: "2-d"})
	if _, err := listMessages(all, &messagesArgs{After: "2"}); !errors.Is(err, carrel.ErrAmbiguous) {
		t.Errorf("after the beginning of two ids: %v, want ErrAmbiguous", err)
	}
	all.Earlier, all.Messages = 0, nil
	r, err := listMessages(all, &messagesArgs{})
	if err != nil || len(r.out.Messages) > 0 || r.out.Next != "" || strings.Contains(r.text[0], "windows before") {
		t.Errorf("nothing: %+v, %v", r, err)
	}
}

// A problem names fifty of the blocks that were refused, and how many more there are.
func TestProblemsHaveWords(t *testing.T) {
	p := &api.Problem{Detail: "refused", Hint: "go on", Refused: make([]pager.Refusal, 50)}
	for i := range p.Refused {
		p.Refused[i] = pager.Refusal{Block: "b", Reason: "pinned"}
	}
	if got, want := words(p), "refused"+strings.Repeat("\nb  pinned", 50)+"\nnext: go on"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for n := 1; n <= 2; n++ {
		p.Refused = append(p.Refused, p.Refused[0])
		if got, want := words(p), fmt.Sprintf("refused%s\nand %d more\nnext: go on", strings.Repeat("\nb  pinned", 50), n); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := words(&api.Problem{Detail: "no"}); got != "no" {
		t.Errorf("%q", got)
	}
}

// What a person should know of a result is in its text.
func TestRemarksOfResults(t *testing.T) {
	for want, res := range map[string]*carrel.AssembleResult{
		"0 left out]": {}, "0 left out] A person should look at it.": {Review: true}, "0 left out] A person should look at it. Warning: no vectors.": {Review: true, Warning: "no vectors"},
	} {
		r := assembleReply(res)
		if got := r.text[1]; !strings.HasSuffix(got, want) || r.out.Review != res.Review || r.out.Warning != res.Warning {
			t.Errorf("%s, want %s at its end", got, want)
		}
	}
	for want, warnings := range map[string][]string{"": nil, "\nwarning: a\n": {"a"}, "\nwarning: a; b\n": {"a", "b"}} {
		r := compressReply(&carrel.CompressResult{Warnings: warnings}, true, "note")
		if got := r.text[0]; strings.Contains(got, "warning") != (warnings != nil) || !strings.Contains(got, want) || !strings.HasSuffix(got, "\nnothing was changed: it was a dry run\nnote") {
			t.Errorf("%s, want %q in it", got, want)
		}
	}
}

// What a request may leave out is no fault.
func TestRequestsWithoutParts(t *testing.T) {
	if m := (&call{}).meta(); m != nil {
		t.Errorf("metadata of no request: %v", m)
	}
	if m := (&call{req: &sdk.CallToolRequest{}}).meta(); m != nil {
		t.Errorf("metadata of a request without parameters: %v", m)
	}
	if tool := new(Server).toolOf(&sdk.CallToolRequest{}); tool != "" {
		t.Errorf("a request without parameters calls %s", tool)
	}
	if q, err := new(call).confirm(&carrel.DiscardResult{Before: 10, After: 5}, ""); q != nil || err != nil {
		t.Errorf("a discard that leaves half is asked for: %v, %v", q, err)
	}
	all := []carrel.SessionInfo{{Session: "a"}, {Session: "b"}}
	for cursor, want := range map[string]int{"": 0, "YQ": 1, "Yg": 2, "Yw": -1, "?": -1} {
		if got, err := after(all, cursor); (err != nil) != (want < 0) || err == nil && got != want {
			t.Errorf("after %q: %d, %v, want %d", cursor, got, err, want)
		}
	}
}

// A piece ends with a whole character, unless it is the end, and says where the next one begins.
func TestPiecesOfOriginals(t *testing.T) {
	for _, tt := range []struct {
		data  string
		limit int
		end   bool
		want  string
	}{{"abc", 3, true, "abc"}, {"abc", 2, true, "ab"}, {"ab\xc3", 9, false, "ab"}, {"ab\xc3", 9, true, "ab\xc3"}, {"aé", 2, true, "a"}, {"aé", 3, false, "aé"}, {"x\xe2\x82", 9, false, "x"}, {"x\xf0\x9f\x98", 9, false, "x"}, {"x😀", 9, false, "x😀"}, {"", 9, false, ""}, {"\x80", 9, false, "\x80"}, {"\xe2", 9, false, "\xe2"}} {
		if got := string(cut([]byte(tt.data), tt.limit, tt.end)); got != tt.want {
			t.Errorf("of %q with a limit of %d, %v: %q, want %q", tt.data, tt.limit, tt.end, got, tt.want)
		}
	}
	long := strings.Repeat("x", maxPiece+1)
	for want, tt := range map[string]struct {
		in   recallArgs
		res  carrel.RecallResult
		next int
	}{
		"[b: bytes 0–16384 of 40000, next: from=16384]":                                                     {recallArgs{}, carrel.RecallResult{Block: "b", Data: []byte(long), Size: 40_000}, piece},
		"[b: bytes 5–32773 of 40000, next: from=32773]":                                                     {recallArgs{From: 5, To: 40_000}, carrel.RecallResult{Block: "b", Data: []byte(long), Size: 40_000}, maxPiece + 5},
		"[a: bytes 2–4 of 4, the end]":                                                                      {recallArgs{From: 2}, carrel.RecallResult{Artifact: "a", Data: []byte("cd"), Size: 4}, 0},
		"[b: bytes 0–1 of 1, the end] These bytes are not text; the structured content has them as base64.": {recallArgs{}, carrel.RecallResult{Block: "b", Data: []byte("\xff"), Size: 1}, 0},
	} {
		r := recallReply(&tt.res, &tt.in)
		if got := r.text[len(r.text)-1]; got != want || r.out.Next != tt.next || (r.out.Text == nil) != (r.out.Base64 != "") {
			t.Errorf("%s with next %d, want %s with %d", got, r.out.Next, want, tt.next)
		}
	}
	for want, in := range map[string]*searchArgs{
		"the query has no word to search for: give one with letters or digits": {Query: "?"}, "no block has any of these words": {Query: "pool"}, "no block of kind user of this session has any of these words": {Query: "pool", Kind: "user", Session: "s"},
	} {
		if got := searchReply(in, nil).text[0]; got != want {
			t.Errorf("%+v: %s, want %s", in, got, want)
		}
	}
	form, url := new(sdk.FormElicitationCapabilities), new(sdk.URLElicitationCapabilities)
	for i, can := range []bool{canAsk(nil), canAsk(&sdk.ClientCapabilities{}), canAsk(&sdk.ClientCapabilities{Elicitation: &sdk.ElicitationCapabilities{URL: url}}), true, true, true} {
		asks := []*sdk.ElicitationCapabilities{3: {}, 4: {Form: form}, 5: {Form: form, URL: url}}
		if can != (i > 2) || i > 2 && !canAsk(&sdk.ClientCapabilities{Elicitation: asks[i]}) {
			t.Errorf("client %d can be asked: %v", i, can)
		}
	}
	r := bufio.NewReader(strings.NewReader(strings.Repeat("x", maxMessage) + "\n" + strings.Repeat("x", maxMessage+1) + "\n y \n\nz"))
	for _, want := range []string{strings.Repeat("x", maxMessage), errLong.Error(), "y", "", "z", io.EOF.Error()} {
		line, err := readLine(r)
		if got := string(line); got != want && (err == nil || err.Error() != want) {
			t.Errorf("%.20q, %v, want %.20q", got, err, want)
		}
	}
	disk := errors.New("disk")
	for _, end := range []error{io.EOF, disk} {
		want := map[error]error{io.EOF: errLong, disk: disk}[end]
		r := bufio.NewReader(io.MultiReader(strings.NewReader(strings.Repeat("x", maxMessage+2)), iotest.ErrReader(end)))
		if _, err := readLine(r); !errors.Is(err, want) {
			t.Errorf("a long line that ends with %v: %v, want %v", end, err, want)
		}
	}
}
