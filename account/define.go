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

	mostWriting = 64 << 10 // bytes of the commands that wrote a file that are read
)

// definers are the words with which a definition can begin.
var definers = lazy.Words("export default pub pub(crate) pub(super) async static public private protected abstract final override func def class type fn function function* interface struct enum trait const let var")

// defines matches the beginning of a definition in common languages, and its name.
var defines = lazy.Regexp(`^(?:[ \t]*(?:(?:export|default|pub(?:\([a-z]+\))?|async|static|public|private|protected|abstract|final|override)\s+)*` +
	`(?:func|def|class|type|fn|function|interface|struct|enum|trait)\b\*?\s*(?:\([^)\n]*\)\s*)?|(?:export\s+)?(?:const|let|var)\s+)([A-Za-z$][\w$]*)`)

// defined returns for each of the last changed files, except tests, the names that it defines, or
// the commands that wrote it. They end with "…" if there are more, or may be because a command changed
// the file.
func (t *tracker) defined(files []string) map[string]string {
	all, room := make(map[string]string), t.bytes()/definedShare
	for _, f := range slices.Backward(files[max(0, len(files)-mostFiles):]) {
		if forPeople(f) || strings.Contains(path.Base(f), "test") {
			continue
		}
		said, _ := t.versions[f].changed()
		names := namesIn(said + "\n" + t.written[f])
		if t.written[f] != "" && names != "" && !strings.HasSuffix(names, "…") {
			names += ", …"
		}
		if room -= len(names); room < 0 {
			break
		}
		if names != "" {
			all[f] = " (" + names[len(", "):] + ")"
		}
	}
	return all
}

// namesIn returns the names that a text defines, each once and behind a comma, up to the limit.
func namesIn(said string) (names string) {
	for line := range strings.Lines(said) {
		if first, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " "); !definers.Get()[first] { // most lines: this is faster
			continue
		}
		switch m := defines.Get().FindStringSubmatch(line); {
		case m == nil, strings.Contains(names+",", " "+m[1]+","):
		case len(names)+len(m[1]) > mostDefined:
			return names + ", …"
		default:
			names += ", " + m[1]
		}
	}
	return names
}
