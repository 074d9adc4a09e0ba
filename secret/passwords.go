package secret

import (
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// passwordNames are the endings of names of variables that hold passwords made up by people.
var passwordNames = []string{"password", "passwd", "passphrase", "passwort", "pwd"}

// Sizes of passwords that people make up, in bytes.
const (
	leastPassword = 5
	leastWord     = 6 // of a plain word
	mostPassword  = 64
)

// written reports whether a value that does not look random is a password made up by a person.
// name is the variable, quoted says whether the value is in quotes, and alone whether nothing
// else is on the line. The accepted forms are in the table of the package comment.
func written(name, value string, quoted, alone bool) bool {
	if name == "PWD" || name == "OLDPWD" || value[0] == '+' { // names of folders, and concatenations in a program
		return false
	}
	if len(value) < leastPassword || len(value) > mostPassword || !endsIn(name, passwordNames) || isPlaceholder(value) {
		return false
	}
	letters, digits, signs := 0, 0, 0
	for i := range len(value) {
		switch c := value[i]; {
		case '0' <= c && c <= '9':
			digits++
		case alnum[c]:
			letters++
		case strings.IndexByte("!@#$%^*?~+=", c) >= 0:
			signs++
		}
	}
	switch {
	case letters == 0: // only digits and signs
		return quoted && digits >= leastWord
	case digits > 0 || signs > 0:
		return quoted || !strings.ContainsAny(value, "._") || alone && !strings.Contains(value, ".")
	}
	return len(value) >= leastWord && letters == len(value) && strings.ToLower(value) == value && (quoted || alone)
}

// isPlaceholder reports whether a value describes a password or its source and is no password
// itself.
func isPlaceholder(value string) bool {
	low := strings.ToLower(value)
	return strings.Contains(low, "pass") || strings.Contains(low, "pwd") || strings.ContainsAny(value, "/\\:|") || strings.Contains(value, "--") ||
		descriptiveWords.Get()[strings.Trim(low, "?!*-_.0123456789")]
}

var descriptiveWords = lazy.Words(`required optional hidden visible text input field label invalid incorrect wrong missing empty unset undefined
	default string number boolean object buffer bytes varchar unknown optional secretstr never always prompt disabled enabled credential credentials
	encrypted hashed hash plain plaintext plain-text plain_text cleartext bcrypt scrypt argon argon2id sha sha256 value values and with from that this
	email username login account auth authentication env environ environment process config settings options params request session keyring keychain vault
	masked stripped removed omitted something anything nothing whatever regex pattern array return await async const`)

// alone reports whether a name and its value are the only content of their line. The name
// begins at start and the value ends at end. A bullet or a word such as export may precede the
// name.
func alone(text string, start, end int) bool {
	blank := func(r rune) bool { return r != '\n' && unicode.IsSpace(r) } // a line may be as long as the text, so only blanks are passed over
	head := strings.TrimRightFunc(text[:start], blank)
	for _, word := range [...]string{"//", "-", "*", "export", "set", "#"} {
		if before, ok := strings.CutSuffix(head, word); ok {
			head = strings.TrimRightFunc(before, blank)
			break
		}
	}
	rest := strings.TrimLeftFunc(text[end:], blank)
	return (head == "" || strings.HasSuffix(head, "\n")) && (rest == "" || rest[0] == '\n')
}

// scanFlags appends passwords that follow a flag of a command line and a space.
func scanFlags(all []Finding, text string) []Finding {
	for _, flag := range [...]string{"--password ", "--passwd ", "--passphrase "} {
		each(text, flag, func(i int) int {
			from := i + len(flag)
			quoted := from < len(text) && (text[from] == '"' || text[from] == '\'')
			if quoted {
				from++
			}
			to := from
			for to < len(text) && to-from <= mostPassword && !valueEnd[text[to]] {
				to++
			}
			if to > from && !placeholder(text[from:to]) && written(strings.TrimSpace(flag), text[from:to], quoted, false) {
				to = whole(text, from, to, quoted)
				all = append(all, Finding{kindPassword, from, to})
			}
			return to
		})
	}
	return all
}
