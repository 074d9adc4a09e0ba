package handoff

import (
	"strings"
	"unicode"

	"github.com/carrel-dev/carrel/internal/lazy"
)

// longestPart is the length of the longest part of a file's name, in bytes.
const longestPart = 60

var dateStart = lazy.Regexp(`^\s*(\d{4})-(\d{2})-(\d{2})(?:\D|$)`)

// Filename returns the name of the file for a packet in Markdown:
// [domain_]handoff_YYYY_MM_DD_subtitle.md. The domain may be empty. If subtitle
// is empty, the session's name replaces it. Parts are lower case, no longer than
// 60 bytes, and have underscores in place of runs of characters other than ASCII
// letters and digits. A date that does not begin with YYYY-MM-DD becomes "undated".
func Filename(p *Packet, domain, subtitle string) string {
	date := "undated"
	if m := dateStart.Get().FindStringSubmatch(p.Date); m != nil {
		date = strings.Join(m[1:], "_")
	}
	parts := []string{"handoff", date}
	if d := namePart(domain); d != "" {
		parts = append([]string{d}, parts...)
	}
	for _, s := range []string{subtitle, p.Session, "session"} {
		if s = namePart(s); s != "" {
			parts = append(parts, s)
			break
		}
	}
	return strings.Join(parts, "_") + ".md"
}

// bases lists Latin letters with diacritics. The first letter of each string
// replaces the others in names of files.
var bases = []string{
	"aàáâãäåāăą", "cçćĉċč", "dďđ", "eèéêëēĕėęě", "gĝğġģ", "hĥħ", "iìíîïĩīĭįı",
	"jĵ", "kķ", "lĺļľł", "nñńņň", "oòóôõöøōŏő", "rŕŗř", "sśŝşšș", "tţťŧț",
	"uùúûüũūŭůűų", "wŵ", "yýÿŷ", "zźżž",
}

// namePart converts a text to a part of a file's name, as [Filename] describes.
func namePart(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		r = base(r)
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r): // a diacritic by itself
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() >= longestPart {
			break
		}
	}
	return strings.Trim(b.String(), "_")
}

// base returns the ASCII letter for a letter with a diacritic. It returns any other r unchanged.
func base(r rune) rune {
	for _, letters := range bases {
		if strings.ContainsRune(letters, r) {
			return rune(letters[0])
		}
	}
	return r
}
