package anthropic

import "strings"

// A version is the model family and version number in the name of a model.
type version struct {
	family       string // such as "opus", or empty
	major, minor int
}

// versionOf reads the name of a model, such as claude-opus-4-8 or
// anthropic.claude-3-5-sonnet-20241022-v2:0. A "[1m]" at the end does not count. It
// reports whether the name has a version.
func versionOf(model string) (v version, ok bool) {
	_, rest, found := strings.Cut(strings.TrimSuffix(strings.ToLower(model), "[1m]"), "claude-")
	if !found {
		return v, false
	}
	numbers := 0
	for word := range strings.FieldsFuncSeq(rest, func(r rune) bool { return strings.ContainsRune("-.@:_/", r) }) {
		n, isNumber := small(word)
		switch {
		case isNumber && numbers == 0:
			v.major = n
			numbers++
		case isNumber && numbers == 1:
			v.minor = n
			numbers++
		case numbers > 0:
			numbers = 2 // the rest is a date or a revision
		}
		if !isNumber && v.family == "" && word[0] >= 'a' && word[0] <= 'z' {
			v.family = word
		}
	}
	return v, numbers > 0
}

// small reads a number of one or two digits.
func small(word string) (n int, ok bool) {
	if len(word) > 2 {
		return 0, false
	}
	for _, c := range []byte(word) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}

// from reports whether v is the version major.minor or a later one.
func (v version) from(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

// systemMessages reports whether the model takes system messages inside the
// conversation.
func (v version) systemMessages() bool {
	return v.from(5, 0) || v.family == "opus" && v.from(4, 8)
}
