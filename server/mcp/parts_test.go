package mcp

import (
	"errors"
	"strings"
	"testing"

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
	p.Refused = append(p.Refused, p.Refused[0], p.Refused[0])
	if got, want := words(p), "refused"+strings.Repeat("\nb  pinned", 50)+"\nand 2 more\nnext: go on"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := words(&api.Problem{Detail: "no"}); got != "no" {
		t.Errorf("%q", got)
	}
}
