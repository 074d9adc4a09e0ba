package claudecode

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
)

// Rows of a turn in which the user wrote a message while a tool ran. AT is replaced by further
// rows, which are behind the result.
const busy = `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","cwd":"/p","message":{"role":"user","content":"paint"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s","cwd":"/p","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
{"type":"queue-operation","operation":"enqueue","timestamp":"1","sessionId":"s","content":"use red"}
{"type":"user","uuid":"r1","parentUuid":"a1","sessionId":"s","cwd":"/p","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"out"}]}}
AT{"type":"assistant","uuid":"a2","parentUuid":"LAST","sessionId":"s","cwd":"/p","message":{"id":"m2","content":[{"type":"text","text":"painted"}]}}
`

const (
	enqueue = `{"type":"queue-operation","operation":"enqueue","timestamp":"2","sessionId":"s","content":`
	remove  = `{"type":"queue-operation","operation":"remove","timestamp":"3","sessionId":"s"}` + "\n"
	dequeue = `{"type":"queue-operation","operation":"dequeue","timestamp":"3","sessionId":"s"}` + "\n"
	taken   = `{"type":"queue-operation","operation":"popAll","timestamp":"3","sessionId":"s","content":"use red"}` + "\n"
)

func delivered(fields string) string {
	return `{"type":"attachment","uuid":"q1","parentUuid":"r1","sessionId":"s","cwd":"/p","attachment":{"type":"queued_command",` + fields + "}}\n"
}

// A message that the user wrote while the model was working stands behind the result with which the
// model got it. It stands once, and messages that the model got otherwise or never do not.
func TestQueuedMessages(t *testing.T) {
	for _, tt := range []struct{ name, rows, want string }{
		{"given beside a result", remove, "use red"},
		{"the beginning of a turn", dequeue, ""},
		{"taken back", taken, ""},
		{"still waiting", "", ""},
		{"nothing waits", dequeue + remove, ""},
		{"the first of two", enqueue + `"use blue"}` + "\n" + remove, "use red"},
		{"both of two", enqueue + `"use blue"}` + "\n" + remove + remove, "use red|use blue"},
		{"the second of two", enqueue + `"use blue"}` + "\n" + dequeue + remove, "use blue"},
		{"a command of the client", dequeue + enqueue + `"/model opus"}` + "\n" + remove, ""},
		{"a path", dequeue + enqueue + `"/src/a.go is wrong"}` + "\n" + remove, "/src/a.go is wrong"},
		{"a notice as JSON", dequeue + enqueue + `"{\"task_id\":\"b1\",\"description\":\"build\"}"}` + "\n" + remove, ""},
		{"a notice in tags", dequeue + enqueue + `"<agent-notification>done</agent-notification>"}` + "\n" + remove, ""},
		{"an image alone", dequeue + enqueue + `""}` + "\n" + remove, ""},
		{"an attachment", dequeue + delivered(`"prompt":"use green","commandMode":"prompt","origin":{"kind":"human"}`), "use green"},
		{"an attachment with parts", dequeue + delivered(`"prompt":[{"type":"text","text":"use green"}]`), "use green"},
		{"an attachment and its operation", remove + delivered(`"prompt":"use red"`), "use red"},
		{"an attachment of the program", dequeue + delivered(`"prompt":"done","commandMode":"task-notification"`), ""},
		{"an attachment of another session", dequeue + delivered(`"prompt":"done","origin":{"kind":"peer"}`), ""},
		{"a note", dequeue + delivered(`"prompt":"done","isMeta":true`), ""},
	} {
		last := "r1"
		if strings.Contains(tt.rows, `"q1"`) {
			last = "q1"
		}
		data := strings.NewReplacer("AT", tt.rows, "LAST", last).Replace(busy)
		s, err := format{}.Decode("s.jsonl", []byte(data))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		middle := ""
		if tt.want != "" {
			middle = "user: " + strings.ReplaceAll(tt.want, "|", "\nuser: ") + "\n"
		}
		const head = "user: paint\nassistant: call t1\ntool: out\n"
		if diff := cmp.Diff(head+middle+"assistant: painted\n", words(s.Messages)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if s.Project != "/p" || len(s.Branches) > 0 {
			t.Errorf("%s: project %q, %d branches", tt.name, s.Project, len(s.Branches))
		}
		older, err := format{}.Older()[0].Decode("s.jsonl", []byte(data))
		if err != nil || words(older.Messages) != head+"assistant: painted\n" {
			t.Errorf("%s: the older reading has %q (%v)", tt.name, words(older.Messages), err)
		}
	}
}

// A message of the queue has a row of its own in a new session, because the agent reads no
// operations when it resumes. A file that ends with an operation is read whole again.
func TestQueuedMessageIsWritten(t *testing.T) {
	data := strings.NewReplacer("AT", remove, "LAST", "r1").Replace(busy)
	s, err := format{}.Decode("s.jsonl", []byte(data))
	if err != nil {
		t.Fatal(err)
	}
	w := &transcript.Window{Session: s}
	for i := range s.Messages {
		m := &s.Messages[i]
		w.Entries = append(w.Entries, transcript.Keep(m, ""))
	}
	w.Entries[0] = transcript.Stub("", "paint, shortened")
	out, err := format{}.Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	again, err := format{}.Decode("s.jsonl", out.Data)
	if err != nil {
		t.Fatal(err)
	}
	if got := words(again.Messages); !strings.Contains(got, "tool: out\nuser: use red\nassistant: painted\n") {
		t.Errorf("the new session has %q", got)
	}
	if strings.Contains(string(out.Data), "queue-operation") {
		t.Errorf("the new session has an operation:\n%s", out.Data)
	}
	lines := strings.SplitAfter(data, "\n")
	if (format{}).Continue("s.jsonl", []byte(strings.Join(lines[2:], "")), func(string) bool { return false }) != nil {
		t.Error("the end of a file was read without the queue before it")
	}
}

// A queued text counts if a person wrote it for the model.
func TestWhoQueuedAText(t *testing.T) {
	for text, want := range map[string]bool{
		"Paint it.": true, "/srv/lamps is dark": true, "a/b": true, "see /compact": true, `{"task":"x"}`: true, "a < b": true,
		"": false, " \n": false, "/compact": false, "/compact the lamps/bulbs": false, "<task>": false, `{"task_id":"x"}`: false, "<system-reminder>x</system-reminder>": false,
	} {
		if got := typed(text); got != want {
			t.Errorf("a person wrote %q: %v", text, got)
		}
	}
	for attachment, want := range map[string]bool{
		`{"type":"queued_command","prompt":"a"}`: true, `{"type":"queued_command","prompt":[{"type":"text","text":"a"}],"origin":{"kind":"human"},"commandMode":"prompt"}`: true, `{"type":"queued_command","prompt":"a","isMeta":false}`: true,
		`{"type":"note","prompt":"a"}`: false, `{"type":"queued_command","prompt":"a","origin":{"kind":"task"}}`: false, `{"type":"queued_command","prompt":"a","commandMode":"bash"}`: false, `{"type":"queued_command","prompt":"a","isMeta":true}`: false,
		`{"type":"queued_command"}`: false, `{"type":"queued_command","prompt":[]}`: false, ``: false,
	} {
		r := row{kind: "attachment"}
		if r.attach([]byte(attachment)); r.queued != want || (r.kind == "user") != want || (len(r.parts) == 1) != want {
			t.Errorf("%s is %+v, and a message: want %v", attachment, r, want)
		}
	}
	rows := []row{{kind: "user", uuid: "u"}, {kind: "user", hidden: true}, {kind: "user", sidechain: true}, {kind: "system"}}
	if got := lastMessage(rows); got != &rows[0] {
		t.Errorf("the last message is %+v", got)
	}
	if got := lastMessage(rows[1:]); got != nil {
		t.Errorf("of other rows the last message is %+v", got)
	}
}
