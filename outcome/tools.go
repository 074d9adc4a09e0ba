package outcome

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/tool"
	"github.com/carrel-dev/carrel/transcript"
)

var pushed = lazy.Value[pattern]{Make: func() pattern {
	p, err := compile(`(?:\+ )?[0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40} \S+ -> .*|\* \[new (?:branch|tag)\] .*|Everything up-to-date`)
	if err != nil {
		panic(err) // a test matches it
	}
	return p
}}

// done matches the messages by which tools report that they edited a file or a list, or that
// the user answered a question.
var done = lazy.Value[pattern]{Make: func() pattern {
	p, err := compile(`The file .* has been (?:updated|edited|created).*|File (?:created|written|updated|edited).*|Success(?:fully)?\b.*|Updated task #.*|Task #\d+ created.*|Todos have been .*|` +
		`User has answered your questions.*|User has approved your plan.*|(?:Wrote|Edit applied|Applied|Created|Updated|Replaced|Done!).*|Plan updated.*`)
	if err != nil {
		panic(err) // a test matches it
	}
	return p
}}

// tool judges the result of a tool that runs no command.
func (j *judge) tool(c transcript.ToolCall, class tool.Class) {
	var first line
	if len(j.out.lines) > 0 {
		first = j.out.lines[0]
	}
	name := tool.Fold(c.Name)
	report := name == "task" || name == "agent" // a sub-agent's, which is prose
	switch {
	case j.out.failed:
		j.refused()
		return
	case class != tool.Read && !report && speaksOfError(first.text):
		j.refused()
		return
	case class == tool.Other && len(j.out.lines) == 1 && gjson.Valid(first.text):
		if e := gjson.Get(first.text, "error"); e.Type == gjson.String && e.Str != "" {
			j.verdict = Failed
			j.say(line{first.number, plain(e.Str)})
			return
		}
	}
	switch {
	case name == "askuserquestion" && first.text != "":
		j.answers()
	case report:
		j.agent()
	case class == tool.Edit || class == tool.Plan:
		if j.out.known || done.Get().match(first.text) {
			j.verdict = Passed
		}
		if name == "taskcreate" {
			if id, _, ok := strings.Cut(first.text, " created"); ok {
				j.say(line{first.number, id})
			}
		}
	}
}

// answers adds the user's answers to a question of the agent to the pieces.
func (j *judge) answers() {
	j.verdict = Passed
	for i, l := range j.out.lines {
		t := l.text
		if i == 0 {
			_, rest, ok := strings.Cut(t, "questions: ")
			if !ok {
				continue
			}
			t = rest
		}
		t, _, _ = strings.Cut(t, ". You can now continue")
		if len(t) <= maxText {
			j.say(line{l.number, t})
			continue
		}
		parts := strings.Split(t, `"="`) // only the answers, if the questions are too long
		for k, p := range parts[min(1, len(parts)-1):] {
			if i := strings.LastIndex(p, `", "`); i >= 0 && k+2 < len(parts) {
				p = p[:i]
			}
			if k+2 >= len(parts) {
				p = strings.TrimSuffix(p, `"`)
			}
			j.say(line{l.number, p})
		}
	}
}

// agent adds the id of a started agent that still runs.
func (j *judge) agent() {
	if len(j.out.lines) == 0 || !strings.HasPrefix(j.out.lines[0].text, "Async agent launched") {
		return
	}
	for _, l := range j.out.lines {
		if strings.HasPrefix(l.text, "agentId: ") {
			t, _, _ := strings.Cut(l.text, " (")
			j.say(line{l.number, t})
			return
		}
	}
}
