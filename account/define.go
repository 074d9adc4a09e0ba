package account

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// Limits of the names that the state tells of changed files.
const (
	mostDefined  = 120 // bytes of the names of a file;
	definedShare = 200 // of those of all files, the part of the conversation's bytes

	mostWriting = 64 << 10 // bytes of the commands that wrote a file that are read
)

// defines matches the beginning of a definition in common languages, and its name.
var defines = lazy.Regexp(`(?m)^(?:[ \t]*(?:(?:export|default|pub(?:\([a-z]+\))?|async|static|public|private|protected|abstract|final|override)\s+)*` +
	`(?:func|def|class|type|fn|function|interface|struct|enum|trait)\b\*?\s*(?:\([^)\n]*\)\s*)?|(?:export\s+)?(?:const|let|var)\s+)([A-Za-z$][\w$]*)`)

// defined returns for each of the last changed files, except tests, the names that it defines, or
// the commands that wrote it. They end with "…" if there are more, or may be because a command changed
// the file.
func (t *tracker) defined(files []string) map[string]string {
	texts := make(map[string]string)
	for name, v := range t.versions {
		texts[t.short(name)] = cmp.Or(v.text(), withoutNumbers(v.read, !v.written && numbers(v.read)))
	}
	all, room := make(map[string]string), t.bytes()/definedShare
	for _, f := range slices.Backward(files) {
		if forPeople(f) || strings.Contains(path.Base(f), "test") {
			continue
		}
		names, writing := "", t.written[f]
		for _, m := range defines.Get().FindAllStringSubmatch(texts[f]+"\n"+writing, -1) {
			if len(names)+len(m[1]) > mostDefined {
				names += ", …"
				break
			}
			if !strings.Contains(names+",", " "+m[1]+",") {
				names += ", " + m[1]
			}
		}
		if writing != "" && names != "" && !strings.HasSuffix(names, "…") {
			names += ", …"
		}
		if room -= len(names); names != "" && room >= 0 {
			all[f] = " (" + names[len(", "):] + ")"
		}
	}
	return all
}
