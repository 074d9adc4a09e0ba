package assembly

import (
	"strings"

	"github.com/carrel-dev/carrel/transcript"
)

// Tagged returns a text of the caller's between two lines with a name, as a context that
// is plain text has it. A text of white space is nothing.
func Tagged(name, text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return "<" + name + ">\n" + strings.TrimSuffix(text, "\n") + "\n</" + name + ">\n"
}

// Plain writes a message of a session as text, between two lines that it cannot forge.
// Thinking, and what only the provider can read, is left out.
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

// plainResult writes a result, between two lines that it cannot forge either: the
// user's words may stand behind it.
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

// writeLine writes a text that ends with a line end, whether or not it has one.
func writeLine(b *strings.Builder, text string) {
	b.WriteString(text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
}
