package secret

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// scanURLs appends passwords in URLs: the bytes between the colon after a user and the @ before
// a host.
func scanURLs(all []Finding, text string) []Finding {
	each(text, "://", func(i int) int {
		from := i + len("://")
		if i == 0 || !alnum[text[i-1]] {
			return from
		}
		colon, end := -1, from
		for end < len(text) && text[end] != '@' && !urlEnd[text[end]] {
			if text[end] == ':' && colon < 0 {
				colon = end
			}
			end++
		}
		if end == len(text) || text[end] != '@' || colon < 0 || end+1 == len(text) || !alnum[text[end+1]] && text[end+1] != '[' {
			return end
		}
		if value := text[colon+1 : end]; len(value) >= 3 && !placeholder(value) {
			all = append(all, Finding{kindURL, colon + 1, end})
		}
		return end
	})
	return all
}

// urlEnd has the bytes that end the authority of a URL, and bytes that no URL has.
var urlEnd = classOf("\x00-\x20", "/?#\"'`<>{}|\\^,()")

// scanBearers appends tokens behind the word Bearer, and tokens of other schemes behind the
// name of the header.
func scanBearers(all []Finding, text string) []Finding {
	const least = 16
	token := func(i int) int {
		end := tokenByte.run(text, i)
		value := strings.TrimRight(text[i:end], ".")
		if len(value) >= least && varied(value) && random(value) && !placeholder(value) {
			all = append(all, Finding{kindBearer, i, i + len(value)})
		}
		return end
	}
	each(text, "earer ", func(i int) int {
		if i == 0 || text[i-1]|0x20 != 'b' || !opens(text, i-1) {
			return i
		}
		return token(i + len("earer "))
	})
	each(text, "uthorization: Basic ", func(i int) int { return token(i + len("uthorization: Basic ")) })
	return all
}

// names are the endings of names of variables that hold credentials, without signs between
// words.
var names = []string{
	"password", "passwd", "passphrase", "passwort", "pwd", "secret", "token", "apikey", "secretkey", "accesskey", "privatekey", "authkey",
	"signingkey", "encryptionkey", "credential", "credentials", "masterkey",
}

// namesSecret reports whether the name of a variable, in any case, is one for a credential.
func namesSecret(name string) bool {
	return endsIn(name, names)
}

// endsIn reports whether a name, in any case, ends in one of the words.
func endsIn(name string, words []string) bool {
	low := folded(name)
	return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(low, w) })
}

// folded returns a name in lower case without the signs between its words.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// Sizes of the parts of an assignment, in bytes.
const (
	mostName   = 64
	leastValue = 8
	mostValue  = 512
	mostGap    = 4 // of spaces, quotes and signs around the sign of assignment
)

// scanAssignments appends the values of variables with names such as api_key. A value follows
// the name and a = or :, in quotes or without.
func scanAssignments(all []Finding, text string) []Finding {
	at := 0
	for at < len(text) {
		i := strings.IndexAny(text[at:], "=:")
		if i < 0 {
			break
		}
		i += at
		at = i + 1
		if f, ok := assignment(text, i); ok {
			all = append(all, f)
			at = f.End
		}
	}
	return all
}

// assignment returns the credential that the = or : at i assigns.
func assignment(text string, i int) (Finding, bool) {
	start, end := nameBefore(text, i)
	if start == end || !tail[text[end-1]] || !namesSecret(text[start:end]) {
		return Finding{}, false
	}
	from := valueBehind(text, i)
	if from < 0 {
		return Finding{}, false
	}
	quoted := text[from] == '"' || text[from] == '\'' || text[from] == '`'
	if quoted {
		from++
	}
	to := endOfValue(text, from, quoted)
	name, value := text[start:end], text[from:to]
	switch {
	case !closed(text, to, quoted), value == "", len(value) > mostValue, folder(name, value), placeholder(value), strings.Contains(value, "://"):
	case len(value) >= leastValue && random(value) && (quoted || !code(value)):
		return Finding{kindAssignment, from, whole(text, from, to, quoted)}, true
	case written(name, value, quoted, alone(text, start, to)):
		return Finding{kindPassword, from, whole(text, from, to, quoted)}, true
	}
	return Finding{}, false
}

// whole returns the end of a credential of which the part from one offset to another was judged.
// In quotes it goes on to the closing quote of its line, past signs that end other values.
func whole(text string, from, to int, quoted bool) int {
	if !quoted {
		return to
	}
	escaped := text[from-2] == '\\' // as in JSON within a string
	for at := to; at < len(text) && at-from <= mostValue && text[at] != '\n'; at++ {
		switch {
		case text[at] == '\\' && !escaped:
			at++ // the sign behind it is part of the value
		case text[at] == text[from-1]:
			return from + len(strings.TrimRight(text[from:at], `\`))
		}
	}
	return to
}

// nameBefore returns the name of a variable that ends before the sign of assignment at i.
func nameBefore(text string, i int) (start, end int) {
	end = i
	for n := 0; n < mostGap && end > 0 && gap[text[end-1]]; n++ {
		end--
	}
	start = end
	for start > 0 && end-start < mostName && nameByte[text[start-1]] {
		start--
	}
	return start, end
}

// valueBehind returns where the value after the sign of assignment at i begins, with its quote.
// It returns -1 if the sign is no assignment, but part of a comparison or of a qualified name
// such as a::b.
func valueBehind(text string, i int) int {
	rest := text[i+1:]
	switch {
	case text[i] == ':' && (text[i-1] == ':' || strings.HasPrefix(rest, ":")), text[i] != ':' && strings.HasPrefix(rest, "="):
		return -1
	case strings.HasPrefix(rest, "="), strings.HasPrefix(rest, ">"):
		rest = rest[1:]
	}
	for n := 0; n < mostGap && rest != "" && (rest[0] == ' ' || rest[0] == '\t'); n++ {
		rest = rest[1:]
	}
	if rest = strings.TrimLeft(rest, `\`); rest == "" { // the value ends after the backslash
		return -1
	}
	return len(text) - len(rest)
}

// endOfValue returns the end of the value that begins at the offset from.
func endOfValue(text string, from int, quoted bool) int {
	to := from
	for to < len(text) && to-from <= mostValue && !valueEnd[text[to]] {
		if !quoted && text[to] == '=' && to+1 < len(text) && wordByte[text[to+1]] {
			break // the value is itself the name of a variable
		}
		to++
	}
	return to
}

// closed reports whether the byte at the offset to ends a value. A quote or a separator ends
// any value. White space and the end of the text end only a value without quotes.
func closed(text string, to int, quoted bool) bool {
	if to == len(text) || text[to] <= ' ' {
		return !quoted
	}
	return strings.IndexByte(`"'`+"`"+`,;&\<`, text[to]) >= 0
}

// folder reports whether a variable with a name like pwd has the path of a folder as its
// value, and not a password.
func folder(name, value string) bool {
	return strings.HasSuffix(folded(name), "pwd") && (value[0] == '/' || value[0] == '~')
}

var (
	// gap has the bytes that may stand between a name and the sign of assignment.
	gap = classOf(" \t\"'`\\:]")
	// nameByte has the bytes of names, and the points and dashes of paths.
	nameByte = classOf("A-Z", "a-z", "0-9", "_", "-.")
	// tail has the letters, in both cases, that names of credentials can end with.
	tail = classOf("dDeEtTnNyYlLsS")
	// valueEnd has the bytes that end a value.
	valueEnd = classOf("\x00-\x20", "\"'`,;<>(){}[]&\\|\x7f")
)

// random reports whether a value looks random: it has letters and digits, and much information
// for its length.
func random(value string) bool {
	if !mixed(value) {
		return false
	}
	const leastBits = 22
	return entropy(value) >= max(leastBits, min(len(value)*2, 64))
}

// code reports whether a value without quotes looks like a name or a call: words with a few
// digits at their ends.
func code(value string) bool {
	if strings.ContainsAny(value, "!@#%^*?~+/=") {
		return false
	}
	digits, runs := 0, 0
	for i := range len(value) {
		if '0' <= value[i] && value[i] <= '9' {
			if digits++; i == 0 || value[i-1] < '0' || value[i-1] > '9' {
				runs++
			}
		}
	}
	return runs < 2 && digits*4 < len(value) || strings.ContainsAny(value, ".")
}

// placeholder reports whether a value is no credential but only stands for one,
// such as $TOKEN or <key>.
func placeholder(value string) bool {
	switch value[0] {
	case '$', '%', '{', '<', '@', '[', '*', '.':
		return true
	}
	low := strings.ToLower(value)
	if slices.ContainsFunc(placeholderParts, func(s string) bool { return strings.Contains(low, s) }) {
		return true
	}
	letters := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' {
			return r
		}
		return -1
	}, low)
	return placeholderWords.Get()[letters]
}

var placeholderParts = []string{
	"example", "changeme", "change-me", "change_me", "placeholder", "your", "xxxx", "****", "....", "${", "$(", "{{", "redacted",
	"dummy", "sample", "insert", "replace", "todo", "123456789", "secret:",
}

var placeholderWords = lazy.Words("password passwd pass pwd secret token test testing user admin foo bar foobar null none nil true false mypassword mysecret mytoken apikey key string")
