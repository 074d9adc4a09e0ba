package outcome

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/transcript"
)

// TestRealResults holds the package to results of calls that agents made. The labels are
// in testdata/labels.txt, without the texts: the file of a session, the row of the
// result, the digest of its text, whether the session was seen when the rules were
// written or was set aside, the family of the call, the verdict, and where in the text
// the strings are that the outcome has to say (offset+length). They were written by
// reading, those of the sessions set aside after the rules and before these were run on
// them. The sessions are in a folder of their own.
func TestRealResults(t *testing.T) {
	folder := os.Getenv("CARREL_TEST_CONVERSATIONS")
	if folder == "" {
		t.Skip("CARREL_TEST_CONVERSATIONS names no folder with the sessions that testdata/labels.txt refers to")
	}
	data, err := os.ReadFile(filepath.Join("testdata", "labels.txt"))
	if err != nil {
		t.Fatal(err)
	}
	type tally struct{ n, said, right, sayable, strings, there int }
	tallies := map[string]*tally{}
	add := func(name string) *tally {
		if tallies[name] == nil {
			tallies[name] = new(tally)
		}
		return tallies[name]
	}
	for text := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n") {
		if text[0] == '#' {
			continue
		}
		f := strings.Fields(text)
		row, err := strconv.Atoi(f[1])
		if err != nil || len(f) < 6 {
			t.Fatalf("%q is no label", text)
		}
		c, r := resultAt(t, filepath.Join(folder, f[0]), row, f[2])
		o := Builtin().Of(c, r)
		want := map[string]Verdict{"passed": Passed, "failed": Failed, "none": Unknown}[f[5]]
		whole := strings.Join(strings.Fields(o.Text), " ")
		for _, name := range []string{f[3] + " all", f[3] + " " + f[4]} {
			n := add(name)
			n.n++
			if o.Verdict != Unknown {
				n.said++
			}
			if o.Verdict != Unknown && o.Verdict == want {
				n.right++
			}
			if want != Unknown {
				n.sayable++
			}
			for _, span := range f[6:] {
				at, size, _ := strings.Cut(span, "+")
				from, _ := strconv.Atoi(at)
				length, _ := strconv.Atoi(size)
				n.strings++
				must := strings.Join(strings.Fields(r.Text()[from:from+length]), " ")
				if strings.Contains(whole, must) {
					n.there++
				} else if strings.HasSuffix(name, " all") {
					t.Logf("%s:%d: %q is not in %q", f[0], row, must, o.Text)
				}
			}
		}
		if o.Verdict != want {
			t.Logf("%s:%d: %s %s: %q, want %q; said %q", f[0], row, f[4], c.Input[:min(len(c.Input), 300)], o.Verdict, want, o.Text)
		}
	}
	names := make([]string, 0, len(tallies))
	for name := range tallies {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		n := tallies[name]
		t.Logf("%-22s n %3d: verdicts said %3d, right %3d of them, of %3d that can be known; strings %d of %d", name, n.n, n.said, n.right, n.sayable, n.there, n.strings)
	}
	for _, half := range []string{"seen all", "aside all"} {
		if n := tallies[half]; n == nil || n.right*100 < n.said*98 || n.right*100 < n.sayable*90 || n.there*100 < n.strings*90 {
			t.Errorf("%s: %+v; want 98%% of the verdicts right, and 90%% of those that can be known and of the strings said", half, n)
		}
	}
}

// resultAt returns the call and the result whose text has a digest, in a row of a session
// of Claude Code or a message of a conversation of OpenAI.
func resultAt(t *testing.T, file string, row int, digest string) (transcript.ToolCall, transcript.ToolResult) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	calls := map[string]transcript.ToolCall{}
	if strings.HasSuffix(file, ".json") {
		var whole struct {
			Messages []struct {
				Content string
				CallID  string `json:"tool_call_id"`
				Calls   []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
		if err := json.NewDecoder(f).Decode(&whole); err != nil {
			t.Fatal(err)
		}
		for i, m := range whole.Messages {
			for _, c := range m.Calls {
				calls[c.ID] = transcript.ToolCall{ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)}
			}
			if i == row {
				return calls[m.CallID], result(m.Content, false)
			}
		}
		t.Fatalf("%s has no message %d", file, row)
	}
	rows := bufio.NewScanner(f)
	rows.Buffer(nil, 64<<20)
	for n := 1; rows.Scan() && n <= row; n++ {
		for _, part := range gjson.GetBytes(rows.Bytes(), "message.content").Array() {
			switch part.Get("type").Str {
			case "tool_use":
				calls[part.Get("id").Str] = transcript.ToolCall{ID: part.Get("id").Str, Name: part.Get("name").Str, Input: json.RawMessage(part.Get("input").Raw)}
			case "tool_result":
				text := part.Get("content").Str
				var texts []string
				for _, p := range part.Get("content").Array() {
					if p.Get("type").Str == "text" {
						texts = append(texts, p.Get("text").Str)
					}
				}
				if texts != nil {
					text = strings.Join(texts, "\n")
				}
				if h := sha256.Sum256([]byte(text)); n == row && hex.EncodeToString(h[:])[:16] == digest {
					return calls[part.Get("tool_use_id").Str], result(text, part.Get("is_error").Bool())
				}
			}
		}
	}
	t.Fatalf("%s:%d has no result with the digest %s", file, row, digest)
	return transcript.ToolCall{}, transcript.ToolResult{}
}
