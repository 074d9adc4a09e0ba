package hook_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/server/hook"
)

// askOpenCode returns what a hook of OpenCode prints, and in which session it says that the
// client is. What goes wrong is noted.
func askOpenCode(t testing.TB, e *engine, home, event string, input any, o hook.Options) (out, session string) {
	t.Helper()
	raw, ok := input.(string)
	if !ok {
		data, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(data)
	}
	o.Open = e.open
	o.Named = func(e *hook.Event) error {
		session = e.Format + " " + string(e.Session) + " in " + e.Transcript
		return nil
	}
	if o.Note == nil {
		o.Note = func(err error) { t.Log(err) }
	}
	var b bytes.Buffer
	d := hook.Dialects(func(name string) string { return map[string]string{"XDG_DATA_HOME": home}[name] })["opencode"]
	if err := hook.Run(t.Context(), d, event, strings.NewReader(raw), &b, &o); err != nil {
		t.Log(err) // and OpenCode hears nothing of it
	}
	return b.String(), session
}

// Each event has its answer, and says in which session OpenCode is.
func TestOpenCodeEvents(t *testing.T) {
	home := t.TempDir()
	place := filepath.Join(home, "opencode", "opencode.db") + "#ses_1"
	in := object{"sessionID": "ses_1"}
	large := strings.Repeat("x", 300)
	for _, tt := range []struct {
		event  string
		input  any
		want   string // in the answer, or nothing
		opened int
	}{
		{"session.start", object{}, "Carrel looks after", 0},
		{"session.start", "no JSON", "", 0},
		{"tool.execute.before", object{"sessionID": "ses_1", "tool": "carrel_recall"}, "", 0},
		{"tool.execute.after", object{"sessionID": "ses_1", "tool": "bash", "texts": []string{"short"}}, "", 0},
		{"tool.execute.after", object{"sessionID": "ses_1", "tool": "bash", "texts": []string{large[:200]}}, "", 0},
		{"tool.execute.after", object{"sessionID": "ses_1", "tool": "bash", "texts": []string{large[:201]}}, `{"texts":["pointer 0 by bash"]}`, 1},
		{"tool.execute.after", object{"sessionID": "ses_1", "tool": "bash", "texts": []string{"short", large}}, `{"texts":["","pointer 0 by bash"]}`, 1},
		{"tool.execute.after", object{"sessionID": "ses_1", "tool": "carrel_recall", "texts": []string{large}}, "", 0},
		{"tool.execute.after", `{"sessionID":"ses_1","tool":"bash","texts":["` + large + `\ud800"]}`, "", 0},
		{"session.other", in, "", 0},
	} {
		e := &engine{}
		out, session := askOpenCode(t, e, home, tt.event, tt.input, hook.Options{Large: 200})
		if tt.want == "" && out != "" || !strings.Contains(out, tt.want) || e.opened != tt.opened {
			t.Errorf("%s with %v: %q, want %q; the store was opened %d times", tt.event, tt.input, out, tt.want, e.opened)
		}
		if o, ok := tt.input.(object); ok && o["sessionID"] != nil && session != "opencode ses_1 in "+place {
			t.Errorf("%s: the client is in %q", tt.event, session)
		}
	}
}

// Without the database a result is replaced, too, and what was wrong is noted.
func TestOpenCodeWithoutItsDatabase(t *testing.T) {
	noted := 0
	out, _ := askOpenCode(t, &engine{}, t.TempDir(), "tool.execute.after", object{"sessionID": "ses_1", "tool": "bash", "texts": []string{strings.Repeat("x", 300)}},
		hook.Options{Large: 200, Note: func(error) { noted++ }})
	if out != `{"texts":["pointer 0 by bash"]}` || noted != 1 {
		t.Errorf("printed %s, noted %d errors", out, noted)
	}
}

// A result that OpenCode has cut is kept whole, from the file that OpenCode has put it into, and
// from no other.
func TestOpenCodeKeepsAllOfACutResult(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "opencode", "tool-output")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	whole := strings.Repeat("all of it\n", 100)
	kept, other := filepath.Join(dir, "tool_1"), filepath.Join(home, "tool_1")
	for _, path := range []string{kept, other} {
		if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		path string
		size int
		want []string
	}{
		{kept, len(whole), []string{whole}},
		{kept, len(whole) - 1, nil}, // it is not what OpenCode speaks of
		{other, len(whole), nil},
		{filepath.Join(dir, "..", "..", "tool_1"), len(whole), nil},
		{"opencode/tool-output/tool_1", len(whole), nil},
	} {
		e := &engine{}
		askOpenCode(t, e, home, "tool.execute.after", object{
			"sessionID": "ses_1", "tool": "bash", "texts": []string{"the end of it"}, "file": object{"path": tt.path, "size": tt.size},
		}, hook.Options{Large: 200})
		var got []string
		for _, s := range e.stash {
			got = append(got, string(s))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s of %d bytes (-want +got):\n%s", tt.path, tt.size, diff)
		}
	}
}

// Nothing that a plug-in sends makes the dialect panic or print what is no JSON.
func FuzzOpenCode(f *testing.F) {
	f.Add("tool.execute.after", `{"sessionID":"s","tool":"bash","args":{"command":"x"},"texts":["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"]}`)
	f.Add("tool.execute.after", `{"texts":[7,null,"\ud800"],"file":{"path":"/","size":9}}`)
	f.Add("session.start", `{}`)
	f.Fuzz(func(t *testing.T, event, input string) {
		out, _ := askOpenCode(t, &engine{}, "/nowhere", event, input, hook.Options{Large: 32})
		if out != "" && !json.Valid([]byte(out)) {
			t.Errorf("printed %s", out)
		}
	})
}
