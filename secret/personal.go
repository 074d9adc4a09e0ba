package secret

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The kinds of findings of [Personal].
const (
	kindEmail Kind = "email"
	kindPhone Kind = "phone"
)

// Personal returns the e-mail addresses and telephone numbers in a text, in order and without
// overlap. A telephone number is either in international form or ten digits in groups of three,
// three and four. The international form is a plus sign that does not begin a line, and then eight
// to fifteen digits with a gap, or ten to fifteen without one. Other forms are not found, because
// ids, times, amounts and lines of diffs look like them.
func Personal(text string) []Finding { return merge(scanPhones(scanEmails(nil, text), text)) }

// RedactPersonal returns text with each finding of [Personal] replaced by its kind, as in
// "[redacted: email]".
func RedactPersonal(text string) string { return replace(text, Personal(text), "redacted") }

var (
	localByte  = classOf("A-Z", "a-z", "0-9", "._%+-")
	domainByte = classOf("A-Z", "a-z", "0-9", ".-")
	digitByte  = classOf("0-9")
	phoneGap   = classOf(" ().-")
)

// Largest sizes in bytes that the mail protocol allows.
const (
	mostLocal  = 64
	mostDomain = 255
)

// scanEmails appends e-mail addresses. An address before a colon is the remote of a repository
// and is skipped.
func scanEmails(all []Finding, text string) []Finding {
	each(text, "@", func(i int) int {
		from := localStart(text, i)
		if from > 0 && text[from-1] == '\\' && text[from] < utf8.RuneSelf {
			from++ // skip the letter of an escape such as \n
		}
		for from < i && !alnum[text[from]] && text[from] < utf8.RuneSelf {
			from++
		}
		to := i + 1
		for to < len(text) && to-i <= mostDomain && domainByte[text[to]] {
			to++
		}
		domain := strings.TrimRight(text[i+1:to], ".-")
		to = i + 1 + len(domain)
		dot := strings.LastIndexByte(domain, '.')
		if from >= i || dot < 1 || len(domain)-dot < 3 || strings.Contains(domain, "..") || !alnum[domain[0]] ||
			strings.Trim(strings.ToLower(domain[dot+1:]), "abcdefghijklmnopqrstuvwxyz") != "" || to < len(text) && (text[to] == ':' || text[to] == '/') {
			return i + 1
		}
		all = append(all, Finding{kindEmail, from, to})
		return to
	})
	return all
}

// localStart returns where the part of an address before the @ at i begins. The part may have
// letters of all scripts that separate words by spaces in the way of Latin.
func localStart(text string, i int) int {
	for from := i; ; {
		r, size := utf8.DecodeLastRuneInString(text[:from])
		if size == 0 || i-from+size > mostLocal ||
			r < utf8.RuneSelf && !localByte[r] || r >= utf8.RuneSelf && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Mn) {
			return from
		}
		from -= size
	}
}

// scanPhones appends telephone numbers.
func scanPhones(all []Finding, text string) []Finding {
	for i := 0; i < len(text); i++ {
		if text[i] != '+' && text[i] != '(' && !digitByte[text[i]] {
			continue
		}
		if i > 0 && (urlSafe[text[i-1]] || strings.IndexByte(".+/=:#$,", text[i-1]) >= 0) {
			i = max(i, digitByte.run(text, i)-1)
			continue
		}
		if end := phone(text, i); end > i {
			all = append(all, Finding{kindPhone, i, end})
			i = end - 1
		} else {
			i = max(i, digitByte.run(text, i)-1)
		}
	}
	return all
}

// phone returns the end of the telephone number that begins at i, or i if there is none.
func phone(text string, i int) int {
	end, groups := digitGroups(text, i)
	if end < len(text) && (wordByte[text[end]] || end+1 < len(text) && strings.IndexByte(".,-:/", text[end]) >= 0 && wordByte[text[end+1]]) {
		return i
	}
	digits := 0
	for _, n := range groups {
		digits += n
	}
	switch {
	case text[i] != '+':
		if slices.Equal(groups, []int{3, 3, 4}) {
			return end
		}
	case i == 0 || text[i-1] == '\n': // more likely a line of a diff
	case digits >= 8 && digits <= 15 && text[i+1] != '0' && (len(groups) > 1 || digits >= 10):
		return end
	}
	return i
}

// digitGroups returns the end of the number that begins at i with a digit, a plus or a bracket, and the number of digits in each
// of its groups. The number includes the gaps between the groups.
func digitGroups(text string, i int) (end int, groups []int) {
	const most = 26 // bytes of a number, gaps included
	end = i
	for at := i; at < len(text) && at-i < most; at++ {
		if n := digitByte.run(text, at); n > at {
			end, groups = n, append(groups, n-at)
			at = n - 1
			continue
		}
		if at > i && (at-end >= 2 || !phoneGap[text[at]]) {
			break
		}
	}
	return end, groups
}
