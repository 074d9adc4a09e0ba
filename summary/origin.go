package summary

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// An origin is the text of an [Original], prepared for searches.
type origin struct {
	lower   string   // the text in lower case
	folded  string   // the text of lower with single spaces
	squash  string   // the letters and digits of lower
	numbers []string // the numbers in lower as written, sorted, without repetitions
	values  []figure // the values of numbers, sorted, without repetitions

	products map[figure]bool // the products that the text spells out, such as "2 × 40.00"
}

func newOrigin(src *Original) *origin {
	lower := strings.ToLower(strings.ToValidUTF8(src.Text, "\ufffd"))
	lower = strings.ReplaceAll(lower, `\\`, `/`)
	o := &origin{lower: lower, folded: text.Fold(lower), squash: squash(lower)}
	for _, m := range numberWord.Get().FindAllString(lower, -1) {
		n := plainNumber(m)
		o.numbers = append(o.numbers, n)
		if strings.Contains(m, ",") { // a list without blanks is many numbers
			o.numbers = append(o.numbers, strings.Split(m, ",")...)
		}
		if v, _, ok := parseFigure(n); ok {
			o.values = append(o.values, v)
		}
	}
	o.products = make(map[figure]bool)
	for _, m := range factors.Get().FindAllStringSubmatch(lower, -1) {
		a, _, okA := parseFigure(m[1])
		b, _, okB := parseFigure(m[2])
		if p, ok := a.times(b); okA && okB && ok {
			o.products[p], o.products[(p+unit/200)/(unit/100)*(unit/100)] = true, true // in hundredths, too
		}
	}
	slices.Sort(o.numbers)
	o.numbers = slices.Compact(o.numbers)
	slices.Sort(o.values)
	o.values = slices.Compact(o.values)
	return o
}

// squash returns the letters and digits of a text.
func squash(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// quotes reports whether text, up to its first ellipsis, has four words or more and
// is in the source word for word. A nil origin quotes nothing.
func (o *origin) quotes(text string) bool {
	text, _, _ = strings.Cut(text, "…")
	return o != nil && len(strings.Fields(text)) >= 4 && strings.Contains(o.folded, norm(text))
}

// hasMark reports whether the source has the first mark in text between braces or angle brackets,
// such as "{{ name }}". It is then a part of the work, and no placeholder.
func (o *origin) hasMark(text string) bool {
	m := placeholderMark.Get().FindString(text)
	return o != nil && m != "" && strings.Contains("{<", m[:1]) && strings.Contains(o.lower, strings.ToLower(m))
}

// compare checks the summary against its source.
func (c *checker) compare() {
	c.length()
	c.files()
	for _, sec := range Sections() {
		for _, t := range c.s.texts(sec) {
			if t.text != "" && !isNone(t.text) {
				c.names(sec, t.text, t.with)
			}
		}
	}
}

// length checks that the summary is not longer than its source. Up to 400 characters
// are always allowed, because the required sections take that much.
func (c *checker) length() {
	n := 0
	for _, e := range c.s.Entries() {
		n += utf8.RuneCountInString(e.Text)
	}
	if of := utf8.RuneCountInString(c.src.Text); n > max(of, 400) {
		c.add("", "", ruleLonger, "the summary has %d characters, more than the %d of its source", n, of)
	}
}

// files checks that the summary lists every changed path.
func (c *checker) files() {
	listed := make([]string, len(c.s.Files))
	for i, f := range c.s.Files {
		listed[i] = cleanPath(f.Path)
	}
	same := samePath(listed)
	for _, p := range c.src.Changed {
		if !same(cleanPath(p)) {
			c.add(SectionFiles, p, ruleFile, "the file was changed, but the section does not list it")
		}
	}
}

// cleanPath returns the normal form of a path, for comparisons.
func cleanPath(p string) string {
	p = strings.ReplaceAll(strings.Trim(strings.TrimSpace(p), "`\"'"), `\`, "/")
	return strings.ToLower(strings.Trim(strings.TrimPrefix(p, "./"), "/"))
}

// samePath returns a function that reports whether a path is the same as one of a list: one of the
// two is the end of the other.
func samePath(list []string) func(path string) bool {
	whole, ends := make(map[string]bool, len(list)), make(map[string]bool)
	for _, p := range list {
		whole[p] = true
		for end := range pathEnds(p) {
			ends[end] = true
		}
	}
	return func(path string) bool {
		if ends[path] {
			return true
		}
		for end := range pathEnds(path) {
			if whole[end] {
				return true
			}
		}
		return false
	}
}

// pathEnds yields a path and its ends behind slashes, except the empty one.
func pathEnds(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for yield(path) {
			if _, path, _ = strings.Cut(path, "/"); path == "" {
				return
			}
		}
	}
}

var (
	cutWord    = lazy.Regexp(`\S+…|[+−]\d+\b`) // words that were cut off, and counts of changed lines: the source does not have them
	spanText   = lazy.Regexp("`([^`]+)`")
	pathText   = lazy.Regexp(`(?:\.{0,2}/)?(?:[\w.@+-]+/)+[\w.@+-]+|\b[\w-]+\.(?:go|ts|tsx|js|jsx|py|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sql|json|ya?ml|toml|md|txt|sh|html|css|scss|vue|xml|ini|cfg|conf|lock|proto|csv)\b`)
	numberText = lazy.Regexp(`(?:^|[\s("'=~≈<>$€±+:–-])(\d(?:[\d,_]*\d)?(?:\.\d+)?)( ?%|[a-zA-Zµ]{0,3})(?:$|[\s)"',.;:!?–-])`)
	numberWord = lazy.Regexp(`\d(?:[\d,_]*\d)?(?:\.\d+)?`)
	factors    = lazy.Regexp(`(\d[\d,]*(?:\.\d+)?) ?(?:×|x|\*|times) ?(\d[\d,]*(?:\.\d+)?)`)
	unitWord   = lazy.Regexp(`^[ -](?:seconds?|minutes?|hours?|days?|milliseconds?|bytes?)\b`)
	thousands  = lazy.Regexp(`^\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?$`)
	countNoun  = lazy.Regexp(`^\s*(?:[a-z-]+ )?(?:files?|messages?|changes|edits?|turns?|steps?|calls?|entries|places|times|occurrences|items|points|decisions|errors|commands|sections|rounds|lines|more|others?)\b`)
)

// names checks that the source has the names and numbers in the text said. For the numbers, it also needs
// the subject that they are about: the words of said and of the text in with.
func (c *checker) names(sec Section, said, with string) {
	text := cutWord.Get().ReplaceAllString(said, " ")
	var list []string
	for _, m := range spanText.Get().FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	spans := len(list)
	if c.src.Names != nil {
		list = append(list, c.src.Names(text)...)
	}
	list = append(list, pathText.Get().FindAllString(text, -1)...)
	seen := make(map[string]bool, len(list))
	for i, n := range list {
		n = strings.Trim(strings.TrimSpace(n), "`\"'.,;:!?()[]")
		if n == "" || seen[n] {
			continue
		}
		seen[n] = true
		if !c.origin.has(n, i < spans) {
			c.add(sec, said, ruleInvented, "the source has no %q", n)
			return
		}
	}
	for _, m := range numberText.Get().FindAllStringSubmatchIndex(text, -1) {
		n, unit := text[m[2]:m[3]], strings.TrimSpace(text[m[4]:m[5]])
		if !c.origin.hasNumber(n, unit, text[m[3]:], append(subjects(text+" "+with), besides(text, n)...)) && !c.origin.derives(n, unit, text) {
			c.add(sec, said, ruleInvented, "the source has no number %s", n)
			return
		}
	}
}

// has reports whether the source has a name, or the name is too ordinary to count as invented.
// exact is true if the summary has the name in a code span.
func (o *origin) has(name string, exact bool) bool {
	n := strings.ReplaceAll(strings.ToLower(name), `\`, "/")
	switch {
	case o.word(strings.ToLower(name)):
		return true
	case n[0] >= '0' && n[0] <= '9' && numberWord.Get().FindString(n) == strings.TrimRight(n, "abcdefghijklmnopqrstuvwxyzµ%"):
		return true // numbers are checked separately
	case strings.ContainsFunc(n, unicode.IsSpace):
		return o.hasPhrase(n)
	case strings.Contains("_.*", n[:1]) && !strings.Contains(n, "/"): // the end of a name, such as "_test.go"
		return strings.Contains(o.lower, strings.TrimLeft(n, "*"))
	case o.word(n):
		return true
	case strings.Contains(n, "/"):
		return o.hasPath(n, exact)
	case plainWord(name) && !exact:
		return true
	}
	bare := squash(n)
	return ordinary.Get()[bare] || len(bare) >= 4 && !strings.Contains(n, ".") && strings.Contains(o.squash, bare)
}

// plainWord reports whether a name is an ordinary word: letters in one case except for the
// first, or such words joined by hyphens.
func plainWord(name string) bool {
	for part := range strings.SplitSeq(name, "-") {
		_, first := utf8.DecodeRuneInString(part)
		rest := part[first:]
		if strings.ContainsFunc(part, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) ||
			rest != strings.ToLower(rest) && part != strings.ToUpper(part) {
			return false
		}
	}
	return true
}

// word reports whether the text n occurs in the source, not as a part of a longer word.
func (o *origin) word(n string) bool {
	for i := range places(o.lower, n, 1) {
		if !wordAt(o.lower, i-1) && !wordAt(o.lower, i+len(n)) {
			return true
		}
	}
	return false
}

// places yields the offsets of part in s. After each, the search continues step bytes later.
func places(s, part string, step int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; ; {
			i := strings.Index(s[from:], part)
			if i < 0 || !yield(from+i) {
				return
			}
			from += i + step
		}
	}
}

// wordAt reports whether the byte at i continues a word.
func wordAt(s string, i int) bool {
	if i < 0 || i >= len(s) {
		return false
	}
	c := s[i]
	if c == 'n' && i > 0 && s[i-1] == '\\' { // a line feed in a string
		return false
	}
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || c >= utf8.RuneSelf
}

// hasPhrase reports whether the source has a command or another text of several words,
// unchanged or with all words in one line.
func (o *origin) hasPhrase(n string) bool {
	n = text.Fold(n)
	if strings.Contains(o.folded, n) || strings.Contains(o.squash, squash(n)) && len(squash(n)) > 5 {
		return true
	}
	words := strings.Fields(n)
	for i, w := range words {
		words[i] = strings.Trim(w, `"'(),;:`)
	}
	for line := range strings.Lines(o.lower) {
		if len(line) <= 4000 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			return true
		}
	}
	return false
}

// hasPath reports whether the source has a path in another form: below another root, or its
// name and its directory separately.
func (o *origin) hasPath(n string, exact bool) bool {
	segments := strings.Split(cleanPath(n), "/")
	if segments[0] == "" || o.word(strings.Join(segments, "/")) { // a bare slash is no path
		return true
	}
	if len(segments) < 2 {
		return false
	}
	// The source is in a directory that the summary names.
	for i := 1; strings.HasPrefix(n, "/") && i < len(segments)-1; i++ {
		if o.alone(strings.Join(segments[i:], "/")) {
			return true
		}
	}
	for i := 1; i < len(segments); i++ {
		dir, rest := strings.Join(segments[:i], "/"), strings.Join(segments[i:], "/")
		if o.word(dir) && (i < len(segments)-1 && o.word(rest) || o.alone(rest)) {
			return true
		}
	}
	// "and/or", "client/server": words joined by a slash.
	if exact || strings.ContainsAny(n, "._") || strings.HasPrefix(n, "/") || len(segments) > 3 {
		return false
	}
	for _, s := range segments {
		if !plainWord(s) && !o.word(s) {
			return false
		}
	}
	return true
}

// alone reports whether the source has the file name n in a place where no directory precedes it.
func (o *origin) alone(n string) bool {
	for i := range places(o.lower, n, 1) {
		if !wordAt(o.lower, i-1) && !wordAt(o.lower, i+len(n)) && (i == 0 || o.lower[i-1] != '/') {
			return true
		}
	}
	return false
}

// plainNumber returns a number without the separators of thousands.
func plainNumber(n string) string {
	if thousands.Get().MatchString(n) {
		return strings.NewReplacer(",", "", "_", "").Replace(n)
	}
	return strings.TrimRight(n, ",_")
}

// subjects returns the beginnings of the words that are the subject of a text.
func subjects(s string) []string {
	var list []string
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if !stops.Get()[w] && !auxiliary.Get()[w] && len(w) > 1 {
			w = text.Stem(w)
			list = append(list, strings.ToValidUTF8(w[:min(len(w), max(4, len(w)-2))], ""))
		}
	}
	return list
}

// besides returns the names with digits, such as H4, and the numbers of three characters or more in
// a text, except those that contain n or are a part of it.
func besides(text, n string) []string {
	return slices.DeleteFunc(figureWord.Get().FindAllString(strings.ToLower(text), -1), func(w string) bool {
		return len(w) < 3 && digitAt(w, 0) || strings.Contains(w, n) || strings.Contains(n, w)
	})
}

var figureWord = lazy.Regexp(`\d[\d,]*(?:\.\d+)?|[a-z]+\d+`)

// near reports whether the source has the number n within a few lines of one of the words in about.
// It is for short numbers, which any long text has somewhere by chance.
func (o *origin) near(n string, about []string) bool {
	const reach, most = 300, 2000 // bytes, occurrences
	found, met := false, 0
	for i := range places(o.lower, n, len(n)) {
		if o.isNumber(i, n) {
			found = true
			window := o.around(i, n, reach)
			if len(about) == 0 || slices.ContainsFunc(about, func(w string) bool { return strings.Contains(window, w) }) {
				return true
			}
		}
		if met++; met == most {
			return true
		}
	}
	return !found // it is written in another form, such as 1,204
}

// isNumber reports whether the digits n at offset i are a whole number and not part of a longer one.
func (o *origin) isNumber(i int, n string) bool {
	return !digitAt(o.lower, i-1) && !digitAt(o.lower, i+len(n))
}

// around returns the part of the source from reach bytes before n, which stands at offset i, to
// reach bytes after it.
func (o *origin) around(i int, n string, reach int) string {
	return o.lower[max(i-reach, 0):min(i+len(n)+reach, len(o.lower))]
}

// spellings returns a number as written, and with more and fewer zeros behind the point.
func spellings(n string) []string {
	if !strings.Contains(n, ".") {
		return []string{n, n + ".0", n + ".00"}
	}
	list := []string{n, n + "0"}
	for strings.HasSuffix(n, "0") {
		n = n[:len(n)-1]
		list = append(list, strings.TrimSuffix(n, "."))
	}
	return list
}

// percent reports whether the source has the number n as a percentage.
func (o *origin) percent(n string) bool {
	return o.word(n+"%") || o.word(n+" %") || o.word(n+" percent") || o.word(n+" per cent")
}

// share reports whether the source has the number of a percentage without a percent sign behind
// it: a number with decimals near the same subject, or one near a word such as "percent".
func (o *origin) share(n string, about []string) bool {
	if !o.counts(n) {
		return false
	}
	if strings.Contains(n, ".") && o.near(n, about) {
		return true
	}
	for i := range places(o.lower, n, len(n)) {
		if o.isNumber(i, n) && percentWord.Get().MatchString(o.around(i, n, 30)) {
			return true
		}
	}
	return false
}

var percentWord = lazy.Regexp(`percent|per cent|pct|\bshare\b|_rate\b|%`)

// derives reports whether the number n may be computed from other numbers. The text is the entry in
// which n stands, and of is the unit of n. The number may be the sum of numbers that stand beside
// each other in the entry. Or it may follow from two numbers of the entry, or of one sentence of
// the source about the same subject: as their sum or difference, if a word says so, or as a
// percentage of one of them.
func (o *origin) derives(n, of, text string) bool {
	v, places, _ := parseFigure(n)
	if v == 0 {
		return false
	}
	low := strings.ToLower(text)
	differs, sums := differing.Get().MatchString(low), summing.Get().MatchString(low)
	made := func(list []figure) bool {
		for i, a := range list {
			for k, b := range list {
				if k != i && (sums && a+b == v || differs && a-b == v || of == "%" && v.isPart(a, b, places)) {
					return true
				}
			}
		}
		return false
	}
	own := slices.DeleteFunc(figures(text), func(f figure) bool {
		_, ok := slices.BinarySearch(o.values, f)
		return !ok || f == v
	})
	for i := range own {
		sum := own[i]
		for _, f := range own[i+1:] {
			if sum += f; sum == v {
				return true // its parts stand beside it
			}
		}
	}
	if made(own) {
		return true
	}
	if !sums && !differs && of != "%" {
		return false
	}
	for s := range o.speaksOf(subjects(text)) {
		if list := figures(s); len(list) <= 8 && made(list) {
			return true
		}
	}
	return false
}

// speaksOf yields the sentences that have at least two of the words in about. It searches only
// lines with digits, and skips very long lines and sentences.
func (o *origin) speaksOf(about []string) iter.Seq[string] {
	const long = 600 // bytes
	return func(yield func(string) bool) {
		for line := range strings.Lines(o.lower) {
			if !strings.ContainsAny(line, "0123456789") || len(line) > 8*long {
				continue
			}
			for _, s := range sentences(line) {
				if len(s) <= long && atLeastTwo(s, about) && !yield(s) {
					return
				}
			}
		}
	}
}

func atLeastTwo(s string, words []string) bool {
	met := 0
	for _, w := range words {
		if strings.Contains(s, w) {
			met++
		}
	}
	return met > 1
}

// differing and summing match words for a difference or a sum.
var (
	differing = lazy.Regexp(`\b(?:by|differences?|differ|less|more|fewer|fell|falls?|rose|rises?|remain(?:s|ing|der)?|rest|left|outstanding|gaps?|saves?|saved|shorter|longer|faster|slower|larger|smaller|higher|lower|grew|growth|drop(?:s|ped)?|gain(?:s|ed)?|change)\b`)
	summing   = lazy.Regexp(`\b(?:total|totals|sums?|altogether|in all|combined|together|overall|both|each)\b`)
)

// digitAt reports whether the byte at i is a digit.
func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && '0' <= s[i] && s[i] <= '9' }

// smallCount is the largest number that a summary may have without its being in the source,
// whatever it counts, because the writer may have counted something.
const smallCount = 12 * unit

// hasNumber reports whether the source has the number n, or a number that gives n when it is
// rounded, or whether n may be a count by the writer. The parameter of is the unit of n, behind is
// the text after n, and about has the words of its subject.
func (o *origin) hasNumber(n, of, behind string, about []string) bool {
	n = plainNumber(n)
	if of = strings.ToLower(of); of != "" && of != "%" && !text.IsUnit(of) {
		return true // "3rd" or "4o": a name, not a number
	}
	if of == "%" {
		if slices.ContainsFunc(spellings(n), func(s string) bool { return o.percent(s) || o.share(s, about) }) {
			return true
		}
	} else if o.counts(n) && (len(n) > 3 || o.near(n, about)) {
		return true
	}
	if m := unitWord.Get().FindString(strings.ToLower(behind)); m != "" {
		short := dimensions.Get()[strings.TrimLeft(m, " -")]
		if o.word(n+short) || o.word(n+" "+short) {
			return true
		}
	}
	v, places, ok := parseFigure(n)
	if !ok {
		return true
	}
	again := func(s string) bool { return o.counts(s) && of != "%" && o.near(s, about) } // 80.0 equals 80
	return slices.ContainsFunc(spellings(n)[1:], again) || o.products[v] || of == "" && mayCount(v, behind) ||
		slices.ContainsFunc(o.values, func(w figure) bool { return v.rounds(w, places, of) })
}

// counts reports whether the source has a number in this spelling.
func (o *origin) counts(n string) bool {
	_, ok := slices.BinarySearch(o.numbers, n)
	return ok
}

// mayCount reports whether a number may be a count by the writer: it is small, or it is at most
// 1000 and the text in behind begins with a word for things that are counted, such as "files".
func mayCount(v figure, behind string) bool {
	return v <= smallCount && v%unit == 0 || v <= 1000*unit && countNoun.Get().MatchString(strings.ToLower(behind))
}

// ordinary are names that a summary may use although the source does not: of languages,
// products and things, with letters and digits, and of its own sections.
var ordinary = lazy.Words("github gitlab javascript typescript oauth oauth2 postgresql postgres sqlite mysql mongodb nodejs macos ios json yaml " +
	"graphql openai devops e2e i18n l10n utf8 http2 https sha256 sha1 md5 base64 readme webassembly websocket websockets jwt " +
	"todo cli api sdk ci cd pr prs html css sql url urls ui ux vscode dockerfile docker golang restapi crud regex stdout stderr " +
	"stdin localhost async runtime toolchain ipv4 ipv6 x86 arm64 amd64 p50 p95 p99 k8s " +
	"sessionintent filesmodified decisionsmade currentstate nextsteps technicalcontext errorsencountered keyartifacts")

// auxiliary are words that say nothing about the subject of a text.
var auxiliary = lazy.Words("do does did done doing has have had is are was were be been being still yet already currently now all the some any " +
	"only just also again")
