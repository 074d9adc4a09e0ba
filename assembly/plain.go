package assembly

import (
	"strings"

	"github.com/carrel-dev/carrel/transcript"
)

// Tagged returns text between an opening and a closing tag of the given name, or "" if text is only
// white space. It does not escape the text, which could close the tag: use it for trusted text.
func Tagged(name, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return "<" + name + ">\n" + strings.TrimSuffix(text, "\n") + "\n</" + name + ">\n"
}

// Plain returns a message of a session as text between two lines that the text cannot forge. It
// leaves out thinking, and parts that only the provider can read. It does not neutralize the text.
func Plain(e *transcript.Entry) string {
	var b strings.Builder
	for _, p := range e.Parts {
		switch p := p.(type) {
		case transcript.Text:
			writeLine(&b, string(p))
		case transcript.ToolCall:
			writeLine(&b, "<call name=\""+p.Name+"\">"+string(p.Input)+"</call>")
		case transcript.ToolResult:
			b.WriteString(plainResult(p))
		case transcript.Media:
			writeLine(&b, "["+p.Kind+"]")
		case transcript.Thinking, transcript.Opaque:
		}
	}
	word := fenceWord(Origin{}, b.String())
	return "<message role=\"" + string(e.Role) + "\" fence=\"" + word + "\">\n" + b.String() + "</message " + word + ">\n"
}

// plainResult returns the text of a tool result between two lines that the result cannot forge,
// because words of the user may follow it.
func plainResult(r transcript.ToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		switch t, ok := c.(transcript.Text); {
		case !ok:
			writeLine(&b, "[not text]")
		case t != "":
			writeLine(&b, string(t))
		}
	}
	word := fenceWord(Origin{}, b.String())
	return "<result fence=\"" + word + "\">\n" + b.String() + "</result " + word + ">\n"
}

// writeLine writes text and adds a line feed if text does not end in one.
func writeLine(b *strings.Builder, text string) {
	b.WriteString(text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
}
