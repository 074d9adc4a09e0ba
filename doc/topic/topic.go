// Package topic has what "carrel help" says about subjects that are no commands. Each is a
// file of this folder, such as budget.md, so that the page on the screen and the page in the
// documentation are one text.
//
// A file is a heading, paragraphs, and blocks between fences, whose lines are indented by two
// blanks. Commands and settings stand in quotation marks, as a screen shows no other marks.
package topic

import (
	"embed"
	"strings"
)

//go:embed *.md
var files embed.FS

// Text returns the text of a topic without its heading and without the lines of fences. It
// panics if there is no such topic, as names are constants of the program.
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
