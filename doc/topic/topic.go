// Package topic has the help topics, the pages of "carrel help" that are not about a command.
// Each is a file of this folder, such as budget.md, so that the page on the screen and the page
// in the documentation are the same text.
//
// A file has a heading, paragraphs, and code blocks between fences, with lines indented by two
// spaces. Commands and settings are in quotation marks, because a terminal shows no other marks.
package topic

import (
	"embed"
	"strings"
)

//go:embed *.md
var files embed.FS

// Text returns the text of a topic without its heading and its fences. name is that of the file
// without ".md": budget, config, contracts, env, exit-codes, formats, gate, handoffs, hooks,
// summaries, tiers or tools. Text panics for any other.
func Text(name string) string {
	data, err := files.ReadFile(name + ".md")
	if err != nil {
		panic("topic: " + err.Error())
	}
	_, text, _ := strings.Cut(string(data), "\n\n")
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "```") {
			b.WriteString(line)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
