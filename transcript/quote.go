package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mark is the beginning of every line that Carrel writes into a window: of a
// stub, a summary, a pointer, or a repair by [Repair].
const Mark = "[carrel"

// End is the line that ends a text of Carrel where other text may follow in a message of the same
// role. It is short, because a window has many.
const End = "[end]"

// Quote escapes a text of one role that is quoted in a message of another: a
// stub is a user message, and it may quote a tool. The text stands after a line
// that begins with [Mark], and ends at the next such line or at [End].
//
// After Quote, no line of text can be mistaken for one of Carrel's: a line that
// begins with the mark, the end, the beginning of a turn or a contract
// statement, or looks like one, is indented by one more space, at every kind of
// line end. Tags are escaped as by [QuoteInline]. [Unquote] reverses it.
func Quote(text string) string { return indentSome(protect(text, tags), seemsSpoken) }

// Unquote reverses [Quote].
func Unquote(text string) string { return expose(outdent(text, seemsSpoken), tags) }

// QuoteInline escapes a text of one role that is quoted within a line of a message of another. It
// puts a backslash after the opening bracket of each tag, see [IsTag], and of each [Mark], even if
// invisible characters stand between their letters. Line ends become spaces.
func QuoteInline(text string) string {
	var b strings.Builder
	for at := breakEnd(text); at > 0; at = breakEnd(text) {
		b.WriteString(strings.TrimRightFunc(text[:at], func(r rune) bool { return breakEnd(string(r)) > 0 }) + " ")
		text = text[at:]
	}
	b.WriteString(text)
	return protect(b.String(), inline)
}

// Escape escapes a text for a place where only lines that begin with [Mark] must be distinguished,
// such as tool output around Carrel's note about omitted lines. A line that begins with the mark,
// or seems to, is indented by one more space.
func Escape(text string) string { return indentSome(text, seemsMarked) }

// unescape undoes [Escape].
func unescape(text string) string { return outdent(text, seemsMarked) }

// indentSome puts a space before each line for which the function holds returns true.
func indentSome(text string, holds func(rest string) bool) string {
	if holds(text) {
		return " " + indent(text, holds)
	}
	return indent(text, holds)
}

// indent puts a space before each line, except the first, for which the function holds returns
// true.
func indent(text string, holds func(rest string) bool) string {
	at := breakEnd(text)
	if at == 0 {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 1 + strings.Count(text, "\n"))
	for ; at > 0; at = breakEnd(text) {
		b.WriteString(text[:at])
		if text = text[at:]; holds(text) {
			b.WriteByte(' ')
		}
	}
	b.WriteString(text)
	return b.String()
}

// outdent removes a space from the beginning of each line for which the function holds returns
// true.
func outdent(text string, holds func(rest string) bool) string {
	var b strings.Builder
	for {
		if strings.HasPrefix(text, " ") && holds(text) {
			text = text[1:]
		}
		at := breakEnd(text)
		if at == 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at])
		text = text[at:]
	}
}

// breakEnd returns the offset behind the first line end in a text, or 0.
func breakEnd(text string) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\r' && strings.HasPrefix(text[i+1:], "\n"):
			return i + 2
		case '\n' <= c && c <= '\r', '\x1c' <= c && c <= '\x1e':
			return i + 1
		case c >= utf8.RuneSelf:
			if r, size := utf8.DecodeRuneInString(text[i:]); r == '\u0085' || r == '\u2028' || r == '\u2029' {
				return i + size
			}
		}
	}
	return 0
}

// seemsMarked reports whether a text looks as if it began with [Mark] to a reader who ignores
// spaces, invisible characters and case.
func seemsMarked(text string) bool {
	head, _ := visible(text)
	return strings.HasPrefix(head, Mark)
}

// seemsSpoken reports whether a text looks as if it began with [Mark] or [End], or like a turn
// ("user:") or a contract statement ("require "), to a reader who ignores spaces, invisible
// characters and case.
func seemsSpoken(text string) bool {
	head, word := visible(text)
	if strings.HasPrefix(head, Mark) || strings.HasPrefix(head, "[end") || strings.HasPrefix(head, "[system]") {
		return true
	}
	switch rest := head[len(word):]; word {
	case "human", "user", "assistant", "system", "developer", "tool":
		return strings.HasPrefix(rest, ":")
	case "remember", "require", "assign", "expect", "permit", "forbid":
		return strings.HasPrefix(rest, " ")
	case "add", "remove", "cite":
		return strings.HasPrefix(rest, ` "`)
	}
	return false
}

// longest is how many characters at the beginning of a line are compared with the marks.
const longest = 25

// visible returns the beginning of a line in lower case without invisible characters, and its
// first word.
func visible(text string) (head, word string) {
	head = string(seen(make([]byte, 0, longest), text))
	return head, head[:len(head)-len(strings.TrimLeft(head, "abcdefghijklmnopqrstuvwxyz"))]
}

// seen appends to b the beginning of a text in lower case without invisible characters, up to longest
// bytes in all. A character that is not ASCII becomes a zero byte.
func seen(b []byte, text string) []byte {
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && (r > ' ' || r == ' ' && len(b) > 0): // most: this is faster
			b = append(b, byte(unicode.ToLower(r)))
		case unseen(r), len(b) == 0 && unicode.Is(unicode.Zs, r):
		case r >= utf8.RuneSelf, r < ' ':
			b = append(b, 0)
		default:
			b = append(b, byte(unicode.ToLower(r)))
		}
		if len(b) == longest {
			break
		}
	}
	return b
}

// unseen reports whether a character is invisible or changes another one, as combining marks do.
func unseen(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point) || r < ' ' && breakEnd(string(r)) == 0
}

// Texts after a bracket that make it a tag to escape. A tag may be a closing one.
var (
	tags   = []string{"<system-reminder", "<command-", "<local-command", "<bash-", "<task-notification", "<user-prompt-submit-hook"}
	inline = append([]string{Mark}, tags...)
)

// protect puts a backslash after each bracket that is followed by one of the given words. It does
// so even if there are backslashes between the bracket and the word.
func protect(text string, words []string) string {
	return rewrite(text, words, func(slashes string) string { return slashes + `\` })
}

// IsTag reports whether a text begins with a tag in which agents put notes for the model into the
// user's messages, such as <system-reminder>.
func IsTag(text string) bool {
	return text != "" && opensWith(text[0], text[1:], tags)
}

// expose undoes protect.
func expose(text string, words []string) string {
	return rewrite(text, words, func(slashes string) string { return strings.TrimSuffix(slashes, `\`) })
}

func rewrite(text string, words []string, slashes func(string) string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '<' && text[i] != '[' {
			continue
		}
		word := strings.TrimLeft(text[i+1:], `\`)
		end := len(text) - len(word)
		if head := seen([]byte{text[i]}, word); !opensWith(head[0], string(head[1:]), words) {
			continue
		}
		b.WriteString(text[done : i+1])
		b.WriteString(slashes(text[i+1 : end]))
		done = end
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// opensWith reports whether a bracket and the text behind it, without a slash at its beginning, begin
// with one of the given words. It ignores case.
func opensWith(bracket byte, text string, words []string) bool {
	text = strings.TrimPrefix(text, "/")
	for _, w := range words {
		if n := len(w) - 1; bracket == w[0] && len(text) >= n && strings.EqualFold(text[:n], w[1:]) {
			return true
		}
	}
	return false
}
