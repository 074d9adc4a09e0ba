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

// defined returns for each of the last changed files, except tests, the names that it defines: first
// those whose text edits changed. The names end with "…" if there are more, or may be because a
// command changed the file.
func (t *tracker) defined(files []string) map[string]string {
	versions := make(map[string]*version)
	for name, v := range t.versions {
		if name = t.short(name); slices.Contains(files, name) && !forPeople(name) && !strings.Contains(path.Base(name), "test") {
			versions[name] = v
		}
	}
	all, room := make(map[string]string), t.bytes()/definedShare
	for _, f := range slices.Backward(files) {
		if versions[f] == nil {
			continue
		}
		names := ""
		for _, name := range versions[f].names() {
			if len(names)+len(name) > mostDefined {
				names += ", …"
				break
			}
			if !strings.Contains(names+",", " "+name+",") {
				names += ", " + name
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

// names returns the names that a file defines, in the order of its text, but first those in whose
// text a change is.
func (v *version) names() (names []string) {
	text := v.text()
	found := defines.Get().FindAllStringSubmatchIndex(text, -1)
	changed := make([]bool, len(found))
	for i := range v.since {
		now := v.since[i].now
		at := strings.Index(text, now)
		for k := range found {
			changed[k] = changed[k] || at >= 0 && found[k][0] < at+len(now) && (k+1 == len(found) || at < found[k+1][0])
		}
	}
	for _, first := range [...]bool{true, false} {
		for k, m := range found {
			if changed[k] == first {
				names = append(names, text[m[2]:m[3]])
			}
		}
	}
	return names
}
