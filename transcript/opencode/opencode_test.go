package opencode

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/transcript"
	"github.com/carrel-dev/carrel/transcript/anthropic"
	"github.com/carrel-dev/carrel/transcript/claudecode"
	"github.com/carrel-dev/carrel/transcript/codex"
	"github.com/carrel-dev/carrel/transcript/formattest"
	"github.com/carrel-dev/carrel/transcript/openai"
	"github.com/carrel-dev/carrel/transcript/responses"
)

// samples returns the files in testdata.
func samples(tb testing.TB) map[string][]byte {
	tb.Helper()
	return formattest.Samples(tb, "*.json", "")
}

func TestFormat(t *testing.T) { formattest.Run(t, format{}, samples(t)) }

func FuzzDecode(f *testing.F) { formattest.Fuzz(f, format{}, samples(f)) }

// Conversations can be converted from this format into every other, and back.
func TestOtherFormats(t *testing.T) {
	formattest.RunOthers(t, format{}, samples(t), map[transcript.Format][]byte{
		openai.Format:     fakesession.Chat(3, 3),
		anthropic.Format:  fakesession.Messages(3, 3),
		responses.Format:  fakesession.Responses(3, 3),
		claudecode.Format: fakesession.ClaudeCode(3, 3),
	})
	for name, data := range samples(t) {
		t.Run(name+" to codex", func(t *testing.T) { formattest.RunCross(t, format{}, codex.Format, data) })
	}
}

// shown returns the visible parts of messages, one line per part.
func shown(msgs []transcript.Message) (list []string) {
	for i := range msgs {
		m := &msgs[i]
		who := string(m.Role)
		if m.Summary {
			who += " (summary)"
		}
		for _, p := range m.Parts {
			switch p := p.(type) {
			case transcript.Text:
				list = append(list, who+": "+text.Short(text.FirstLine(string(p)), 60))
			case transcript.ToolCall:
				list = append(list, who+" calls "+p.Name)
			case transcript.ToolResult:
				list = append(list, fmt.Sprintf("%s has %q, error %t", who, text.Short(text.FirstLine(p.Text()), 40), p.Error))
			case transcript.Media:
				list = append(list, who+" shows "+p.MIME+" "+p.Data)
			case transcript.Thinking:
				list = append(list, who+" thinks "+p.Text+", signed "+p.Signature)
			}
		}
	}
	return list
}

func same(t *testing.T, what string, want, got []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// A session is decoded as OpenCode sends it. Texts that OpenCode added to a message become a
// message of their own, apart from the person's text.
func TestDecode(t *testing.T) {
	s := formattest.Decode(t, format{}, string(samples(t)["tools"]))
	same(t, "messages", []string{
		`user: Called the Read tool with the following input: {"filePath":…`, "user: <path>/srv/pool/a.txt</path>",
		"user: Mend the pool, heron.",
		"assistant: I list.", "assistant calls bash", "assistant calls read",
		`tool has "a.txt", error false`, `tool has "<path>/srv/pool/a.txt</path>", error false`,
		"assistant calls edit", `tool has "Edit applied successfully.", error false`,
		"assistant calls bash", `tool has "oops", error true`,
		"assistant calls write", "assistant calls grep", "assistant calls glob", "assistant calls todowrite",
		`tool has "Wrote file successfully.", error false`, `tool has "Found 1 matches", error false`, `tool has "/srv/pool/a.txt", error false`, `tool has "[", error false`,
		"assistant calls edit", "assistant calls read", "assistant calls task",
		`tool has "Could not find oldString in the file. I…", error true`, `tool has "File not found: /srv/pool/none.txt", error true`,
		`tool has "<task id=\"ses_df67adbc0ffeWAC0k3GjtPWHB…", error false`,
		"assistant: Nothing more to do.",
	}, shown(s.Messages))
	if s.ID != "ses_df67b5c32ffef79giXaOrGD9lw" || s.Project != "/srv/pool" || s.Model != "gpt-4o" || s.Title != "Mend the pool" || s.Sent != 11152 || len(s.Earlier)+len(s.Warnings)+len(s.Branches) > 0 {
		t.Errorf("id %q, project %q, model %q, title %q, sent %d, warnings %v", s.ID, s.Project, s.Model, s.Title, s.Sent, s.Warnings)
	}
}

// A compaction begins a window: the summary, the kept messages, the later messages.
func TestCompactions(t *testing.T) {
	s := formattest.Decode(t, format{}, string(samples(t)["compacted"]))
	after := []string{"user: Go on.", "assistant calls bash", `tool has "after", error false`, "assistant: After."}
	begin := []string{"user: What did we do so far?", "assistant (summary): ## Goal"}
	same(t, "messages", slices.Concat(begin, after), shown(s.Messages))
	if len(s.Earlier) != 1 {
		t.Fatalf("%d earlier windows, want 1", len(s.Earlier))
	}
	whole := formattest.Decode(t, format{}, string(samples(t)["tools"]))
	same(t, "the window before", shown(whole.Messages), shown(s.Earlier[0]))

	s = formattest.Decode(t, format{}, string(samples(t)["tail"]))
	kept := []string{
		"assistant calls bash", `tool has "[Old tool result content cleared]", error true`,
		"assistant calls write", "assistant calls grep", "assistant calls glob", "assistant calls todowrite",
		`tool has "Wrote file successfully.", error false`, `tool has "Found 1 matches", error false`, `tool has "/srv/pool/a.txt", error false`, `tool has "[", error false`,
		"assistant calls edit", "assistant calls read", "assistant calls task", // another step
		`tool has "Could not find oldString in the file. I…", error true`, `tool has "File not found: /srv/pool/none.txt", error true`,
		`tool has "<task id=\"ses_df67adbc0ffeWAC0k3GjtPWHB…", error false`,
		"assistant calls edit", "assistant calls read", "assistant calls task",
		`tool has "Could not find oldString in the file. I…", error true`, `tool has "File not found: /srv/pool/none.txt", error true`,
		`tool has "<task id=\"ses_df67adbc0ffeWAC0k3GjtPWHB…", error false`,
		"assistant: Nothing more to do.",
	}
	after[3] = "assistant thinks I think., signed c2ln"
	same(t, "messages with a tail", slices.Concat(begin, kept, after, []string{"assistant: After.", "assistant calls bash"}), shown(s.Messages))
	if len(s.Earlier) != 2 {
		t.Fatalf("%d earlier windows, want one before the compaction and one of what was cleared", len(s.Earlier))
	}
	same(t, "the window before", shown(whole.Messages)[:10], shown(s.Earlier[0]))
	same(t, "what was cleared", []string{"assistant calls bash", `tool has "oops", error true`}, shown(s.Earlier[1]))
}

// Messages after a revert are a fork; texts for the screen only are not read.
func TestRevert(t *testing.T) {
	data := string(samples(t)["reverted"])
	s := formattest.Decode(t, format{}, data)
	same(t, "messages", []string{"user: What did we do so far?", "assistant (summary): ## Goal"}, shown(s.Messages))
	if len(s.Branches) != 1 || s.Branches[0].Kind != transcript.BranchFork || s.Branches[0].Messages != 3 || s.Branches[0].Parent != "msg_20988ec9c001Yfh0S51fkdvndd" {
		t.Errorf("branches are %+v", s.Branches)
	}
	s = formattest.Decode(t, format{}, strings.Replace(data, `"revert"`, `"reverted"`, 1))
	same(t, "messages without the revert", []string{
		"user: What did we do so far?", "assistant (summary): ## Goal", "user: Go on.", "user shows image/png iVBORw0KGgo=",
		"assistant calls bash", `tool has "after", error false`, "assistant: After.",
	}, shown(s.Messages))
}

// The cost of a reply is that of its steps, once; a summary is a call outside the conversation.
func TestReceipts(t *testing.T) {
	s := formattest.Decode(t, format{}, string(samples(t)["compacted"]))
	all := format{}.Receipts(s)
	var sum transcript.Receipt
	var after []int
	for _, r := range all {
		sum.Uncached, sum.Read, sum.Output = sum.Uncached+r.Uncached, sum.Read+r.Read, sum.Output+r.Output
		after = append(after, r.After)
	}
	if sum.Uncached != 13691 || sum.Read != 70656 || sum.Output != 235 { // the totals that OpenCode shows
		t.Errorf("all calls cost %+v", sum)
	}
	if diff := cmp.Diff([]int{-1, 0, 1, 2, 3, 4, -1, 5, 7}, after); diff != "" {
		t.Errorf("calls go on from others (-want +got):\n%s", diff)
	}
	if r := all[7]; !r.Compacted || r.Model != "gpt-4o" || r.ID != "msg_209883e16001Hj4hc84n8HTvEV" || r.Begun.IsZero() || !r.Ended.After(r.Begun) || !all[6].Side || all[8].Compacted {
		t.Errorf("the call behind the compaction is %+v", r)
	}
}
