package account

import (
	"path"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// Limits of the names that the state tells of changed files.
const (
	mostDefined  = 120 // bytes of the names of a file;
	definedShare = 200 // of those of all files, the part of the conversation's bytes
)

// defines matches the beginning of a definition in common languages, and its name.
var defines = lazy.Regexp(`(?m)^(?:[ \t]*(?:(?:export|default|pub(?:\([a-z]+\))?|async|static|public|private|protected|abstract|final|override)\s+)*` +
	`(?:func|def|class|type|fn|function|interface|struct|enum|trait)\b\*?\s*(?:\([^)\n]*\)\s*)?|(?:export\s+)?(?:const|let|var)\s+)([A-Za-z$][\w$]*)`)

// defined returns for each of the last changed files, except tests, the names that it defines. They
// end with "…" if there are more, or may be because a command changed the file.
func (t *tracker) defined(files []string) map[string]string {
	texts := make(map[string]string)
	for name, v := range t.versions {
		if name = t.short(name); slices.Contains(files, name) && !forPeople(name) && !strings.Contains(path.Base(name), "test") {
			texts[name] = v.text()
		}
	}
	all, room := make(map[string]string), t.bytes()/definedShare
	for _, f := range slices.Backward(files) {
		names := ""
		for _, m := range defines.Get().FindAllStringSubmatch(texts[f], -1) {
			if len(names)+len(m[1]) > mostDefined {
				names += ", …"
				break
			}
			if !strings.Contains(names+",", " "+m[1]+",") {
				names += ", " + m[1]
			}
		}
		if t.written[f] && names != "" && !strings.HasSuffix(names, "…") {
			names += ", …"
		}
		if room -= len(names); names != "" && room >= 0 {
			all[f] = " (" + names[len(", "):] + ")"
		}
	}
	return all
}
