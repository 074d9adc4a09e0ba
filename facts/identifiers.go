package facts

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// A Kind is the form of an identifier. It is stored as its text.
type Kind string

// The kinds of identifiers.
const (
	KindURL      Kind = "url"      // has ://
	KindEmail    Kind = "email"    // has @ and a domain after it
	KindPath     Kind = "path"     // has a slash
	KindFile     Kind = "file"     // a name with a known extension, or a known name
	KindHash     Kind = "hash"     // 7 to 64 hexadecimal digits, letters and decimals mixed
	KindID       Kind = "id"       // made by a program: a UUID, a ULID, an IP address, toolu_01A…
	KindVersion  Kind = "version"  // three numbers with dots, such as v1.2.3 or 1.2.3-rc.1
	KindKebab    Kind = "kebab"    // words or numbers joined by -, such as dates
	KindSymbol   Kind = "symbol"   // has an inner _, a step to upper case, or letters and digits
	KindQuantity Kind = "quantity" // a number with its unit or currency: 120ms, 3.5 GB, 45 %, $7,136
	KindNumber   Kind = "number"   // three digits or more without a unit

	// kindWord is no name, but an agent may repeat it exactly: compounds such
	// as up-to-date, pairs of files, CSS classes, brands. Only marks of a
	// [Scan] have it.
	kindWord Kind = "word"
)

// An Identifier is a word of a text that is likely a name or a figure.
type Identifier struct {
	Text string
	Kind Kind
}

// Each calls f for every identifier of text with its byte offset, in order,
// including repetitions. Identifiers do not overlap; their strings share
// memory with text.
//
// Each looks at bytes, not at meaning. It omits forms of writing that are no
// names: ordinals, the time of a timestamp (its date is found), line numbers
// of listings, formats such as %02d, terminal colors, words such as
// end-to-end, and calls such as console.log.
func Each(text string, f func(id Identifier, at int)) { identifiers(text, false, f) }

// identifiers implements Each. If words is true, it also reports words of kindWord.
func identifiers(text string, words bool, f finding) {
	s := finder{text: text, words: words}
	for i := 0; i < len(text); {
		c := classes[text[i]]
		if c&chunkBytes == 0 {
			if i++; c == escaping {
				i += escaped(text, i-1) - 1
			}
			continue
		}
		from, seen, step := i, c, class(0)
		for i++; i < len(text); i++ {
			next := classes[text[i]]
			if next&chunkBytes == 0 {
				break
			}
			seen |= next
			step |= c << 1 & next
			c = next
		}
		switch {
		case seen&^letters != 0:
			s.chunk(from, i, seen, f)
			i = max(i, s.done)
		case step&upperCase != 0 || i-from >= 7 && classes[text[from]] == upperCase:
			s.word(from, i, seen, f)
		}
	}
}

// A finder is the state of one pass over a text.
type finder struct {
	text  string
	words bool // also report words of kindWord
	done  int  // end of the last figure, which may be after the end of its word
}

// A finding is the callback for an identifier and its offset. It is a parameter and not a
// field of finder because a field would be allocated on the heap.
type finding = func(id Identifier, at int)

// emit reports the identifier between two offsets, unless it is a part of a word with
// letters outside ASCII.
func (s *finder) emit(kind Kind, from, to int, f finding) {
	if kind != KindNumber && kind != KindQuantity && (from > 1 && latin(s.text[from-2]) || to < len(s.text) && latin(s.text[to])) {
		return
	}
	f(Identifier{s.text[from:to], kind}, from)
}

// latin reports whether c begins a letter such as é or ß in UTF-8.
func latin(c byte) bool { return 0xc3 <= c && c <= 0xc5 }

// chunk reads a run of bytes of class chunkBytes, the bytes of URLs.
func (s *finder) chunk(from, to int, seen class, f finding) {
	if seen&(colon|slash) == colon|slash {
		from = s.url(from, to, f)
	}
	if seen&^pathBytes == 0 {
		s.name(from, to, seen, f)
		return
	}
	for i := from; i < to; i++ {
		if end, seen := gather(s.text, i, to, pathBytes); end > i {
			s.name(i, end, seen, f)
			i = max(end, s.done)
		}
	}
}

// url reports the URL in a chunk and the identifiers before its scheme. It returns the
// offset where the rest of the chunk begins, which is the parameter from if the chunk has no URL.
func (s *finder) url(from, to int, f finding) int {
	mark := strings.Index(s.text[from:to], "://")
	if mark <= 0 {
		return from
	}
	start := from + mark
	for start > from && classes[s.text[start-1]]&(letters|decimal) != 0 || start-1 > from && s.text[start-1] == '+' {
		start--
	}
	u := strings.TrimRight(s.text[start:to], ".:-/?#&=+%~@")
	host := from + mark + len("://")
	if len(u) < 12 || host >= to || start == from+mark || s.text[host] == '%' {
		return from
	}
	if start > from {
		s.chunk(from, start, ^colon, f)
	}
	s.emit(KindURL, start, start+len(u), f)
	return to
}

// name reads a run of letters, digits and _ . / - @.
func (s *finder) name(from, to int, seen class, f finding) {
	for from = max(from, s.done); from < to; {
		head := from
		for from < to && classes[s.text[from]]&wordBytes == 0 {
			from++
		}
		for to > from && classes[s.text[to-1]]&wordBytes == 0 {
			to--
		}
		if from == to {
			return
		}
		if from == head && from > 0 && s.text[from-1] == '%' && to-from > 1 && classes[s.text[from]]&letters != 0 {
			from++ // the verb of a format
			continue
		}
		if from == head && from > 0 && s.text[from-1] == '[' && to-from > 2 && s.text[from+1] == '-' {
			return // a class of characters: [a-z0-9]
		}
		if classes[s.text[from]] == decimal {
			if s.done = s.figure(from, to, f); s.done > from {
				from = s.done
				continue
			}
		}
		if seen&dot != 0 && to-from <= 200 {
			if end, next := rangeDots(s.text, from, to); next > 0 {
				s.name(head, end, seen, f)
				from = next
				continue
			}
		}
		switch {
		case to-from < 3 || to-from > 200:
		case seen&(dot|slash|dash|at) == 0:
			s.word(from, to, seen, f)
		default:
			s.compound(from, to, s.pathStart(head, from), seen, f)
		}
		return
	}
}

// rangeDots returns the offsets where the dots of a range such as main..topic begin and
// end, or 0 and 0. The dots of a path such as a/../b are not a range.
func rangeDots(text string, from, to int) (end, next int) {
	at := strings.Index(text[from:to], "..")
	if at <= 0 || text[from+at-1] == '/' {
		return 0, 0
	}
	end = from + at
	next = end + run(text, end, dot)
	if text[next] == '/' {
		return 0, 0
	}
	return end, next
}

// pathStart returns the offset where a path begins whose first word is at from. A slash, ~/, @ or
// the dot of a hidden file before the word belongs to the path. The run that contains the word
// begins at the offset head.
func (s *finder) pathStart(head, from int) int {
	if from == head {
		return from
	}
	switch c := s.text[from-1]; {
	case c == '/' && from-1 > head && s.text[from-2] == '.': // ./ and ../
		return from
	case c == '/' && from-1 > 0 && s.text[from-2] == '~':
		return from - 2
	case c == '@' && from-1 == head && (head == 0 || !is(s.text, head-1, wordBytes)):
		return from - 1
	case c == '/' && from-1 == head && (head == 0 || !closesMarkup(s.text[head-1]) && !is(s.text, head-1, wordBytes)):
		return from - 1
	case c == '.' && (from-1 == head || s.text[from-2] == '/' || s.text[from-2] == '@'):
		if from-2 >= head && s.text[from-2] == '/' && (from-2 == head || s.text[from-3] != '.') {
			return from - 2
		}
		return from - 1
	}
	return from
}

// closesMarkup reports whether a slash after the byte c is not the root of a path.
func closesMarkup(c byte) bool {
	return c == '<' || c == '}' || c == ')' || c == ']' || c == '*' || c >= 0x80
}

// compound reads the word between from and to, which has one of . / - @ in it or before
// it. A path would begin at root.
func (s *finder) compound(from, to, root int, seen class, f finding) {
	w := s.text[from:to]
	if n := contextLine(w); n > 0 && stands(s.text, to, '-') {
		w, to = w[:n], from+n
	}
	slashes := 0
	if seen&slash != 0 {
		slashes = strings.Count(s.text[root:to], "/")
	}
	if s.joined(from, to, root, slashes, seen, f) {
		return
	}
	switch {
	case s.isFileHere(root, from, to):
		s.emit(KindFile, s.fileStart(root, from), to, f)
	case seen&dot != 0 && isVersion3(w):
		s.emit(KindVersion, from, to, f)
	case seen&dash != 0 && isUUID(w), seen&dash != 0 && isOpaque(w, '-'):
		s.emit(KindID, from, to, f)
	case seen&dash != 0 && (isKebab(w) || s.isQuoted(from) && isBranch(w)):
		s.emit(KindKebab, from, to, f)
	case s.words && seen&dash != 0 && isJoined(w, '-'):
		s.emit(kindWord, from, to, f)
	default:
		if n := releaseName(w); n > 0 {
			s.symbols(from, from+n, f)
			s.emit(KindVersion, from+n+1, to, f)
			return
		}
		s.symbols(from, to, f)
	}
}

// joined reads a word with slashes or @: a path, an email address, a package with its
// version, or several separate words. It reports whether the word is one of these.
func (s *finder) joined(from, to, root, slashes int, seen class, f finding) bool {
	w := s.text[from:to]
	switch {
	case seen&at != 0 && isPackageVersion(w):
		sign := from + strings.LastIndexByte(w, '@')
		s.name(root, sign, seen, f)
		s.name(sign+1, to, seen, f)
	case slashes > 0 && isPath(s.text[root:to], slashes):
		s.emit(KindPath, root, to, f)
	case slashes == 0 && seen&at != 0 && isEmail(w):
		s.emit(KindEmail, from, to, f)
	case slashes == 1 && seen&dash != 0 && isBranch(w):
		s.emit(KindPath, from, to, f)
	case strings.ContainsAny(w, "/@"):
		if s.words && slashes > 0 && isJoined(w, '/') {
			s.emit(kindWord, from, to, f) // the parts follow
		}
		s.segments(from, to, f)
	default:
		return false
	}
	return true
}

// isQuoted reports whether a quotation mark or # is before an offset.
func (s *finder) isQuoted(from int) bool {
	return from > 0 && strings.IndexByte("\"'`#", s.text[from-1]) >= 0
}

// releaseName returns the length of a name before a dash and a version, such as
// urllib3-2.2.1, or 0.
func releaseName(w string) int {
	if n := strings.IndexByte(w, '-'); n > 0 && is(w, n+1, decimal) && isVersion3(w[n+1:]) {
		return n
	}
	return 0
}

// contextLine returns the length of the file name before a line number in the form in which grep
// prints the lines around a hit: pool.go-17-. It returns 0 if w does not have this form.
func contextLine(w string) int {
	at := strings.LastIndexByte(w, '-')
	if at < 3 || at+1 == len(w) || !consists(w[at+1:], decimal) || !isFile(w[strings.LastIndexByte(w[:at], '/')+1:at]) {
		return 0
	}
	return at
}

// fileStart returns the offset where the name of a file begins. This is the offset from or, if a
// dot is before it as in .gitignore, the offset of the dot.
func (s *finder) fileStart(root, from int) int {
	if root < from && s.text[from-1] == '.' {
		return from - 1
	}
	return from
}

// isFileHere reports whether the word between two offsets is the name of a file: it has a
// known extension, and no parenthesis of a call follows. A parenthesis with a position in
// the file, as in main.ts(17,5), is no call.
func (s *finder) isFileHere(root, from, to int) bool {
	w := s.text[from:to]
	if to < len(s.text) && s.text[to] == '(' && !is(s.text, to+1, decimal) {
		return false
	}
	return isFile(w) && !isField(w) || s.fileStart(root, from) < from && hiddenFile(w)
}

// segments reads the parts of a word between / and @ separately.
func (s *finder) segments(from, to int, f finding) {
	for i := from; i < to; i++ {
		if end, seen := gather(s.text, i, to, pathBytes&^(slash|at)); end > i {
			s.name(i, end, seen, f)
			i = end
		}
	}
}

// symbols reads the symbols and numbers in a word that is no larger identifier.
func (s *finder) symbols(from, to int, f finding) {
	for i := from; i < to; i++ {
		end, seen := gather(s.text, i, to, wordBytes)
		if end-i >= 3 {
			s.word(i, end, seen, f)
		}
		i = max(i, end)
	}
}

// word reads a run of letters, digits and underscores.
func (s *finder) word(from, to int, seen class, f finding) {
	w := s.text[from:to]
	if len(w) > 100 {
		return
	}
	switch {
	case seen&wordBytes == decimal:
		dotted := from > 0 && s.text[from-1] == '.' || is(s.text, to, dot) && is(s.text, to+1, decimal)
		if len(w) <= 18 && !dotted && !s.isLineNumber(from, to) {
			s.emit(KindNumber, from, to, f)
		}
	case seen&decimal != 0 && isHex(w):
		s.emit(KindHash, from, to, f)
	case isULID(w), seen&underscore != 0 && isOpaque(w, '_'):
		s.emit(KindID, from, to, f)
	case isSymbol(w):
		s.emit(KindSymbol, from, to, f)
	case knownFile(w):
		s.emit(KindFile, from, to, f)
	case s.words && isBrand(w):
		s.emit(kindWord, from, to, f)
	}
}

// isPath reports whether a word with slashes is a path: it ends in the name of a
// file, begins with @, or has three segments or more, a digit or an underscore.
func isPath(w string, slashes int) bool {
	if len(w) < 5 || len(w) > 140 || !some(w, letters) {
		return false
	}
	last := w[strings.LastIndexByte(w, '/')+1:]
	switch {
	case slashes == 1 && (len(last) < 4 && consists(last, decimal|dot) || isFile(last) && isFile(w[:len(w)-len(last)-1])):
		return false // bg-amber-500/20, HTTP/1.1, README.md/LICENSE.txt
	case slashes > 1 && strings.HasPrefix(w, "s/"):
		return false // a command of sed
	}
	return isFile(last) || w[0] == '@' || slashes >= 2 && !singleLetters(w) || some(w, decimal|underscore) && !isAlternative(w)
}

// isPackageVersion reports whether a word is the name of a package with its version,
// such as github.com/acme/pool@v1.2.3.
func isPackageVersion(w string) bool {
	sign := strings.LastIndexByte(w, '@')
	return sign > 0 && isVersion3(w[sign+1:])
}

// isAlternative reports whether a word of two parts probably names two alternatives, and
// not a file in a directory: v1/v2, Q1/Q2, IPv4/IPv6, 4xx/5xx, 3/4a.
func isAlternative(w string) bool {
	a, b, _ := strings.Cut(w, "/")
	return strings.TrimRight(a, "0123456789") == strings.TrimRight(b, "0123456789") && len(a) < 6 || consists(a, decimal)
}

// singleLetters reports whether all parts of a word between slashes are single letters,
// as in a/b/c or s/x/y/.
func singleLetters(w string) bool { return len(w) <= 2*strings.Count(w, "/")+1 }

func isEmail(w string) bool {
	sign := strings.IndexByte(w, '@')
	if sign <= 0 || w[:sign] == "git" {
		return false
	}
	domain := w[sign+1:]
	end := strings.LastIndexByte(domain, '.')
	return end > 0 && len(domain)-end > 2 && consists(domain[end+1:], letters)
}

// isKebab reports whether a word without dots joins parts with dashes and has three parts
// or more, or a digit. Words of prose such as end-to-end and 24-hour do not count.
func isKebab(w string) bool {
	if len(w) < 6 || len(w) > 80 || strings.Trim(w, "drwxst-") == "" {
		return false
	}
	parts, seen, from, link := 1, class(0), 0, false
	for i := range len(w) {
		c := classes[w[i]]
		seen |= c
		if c == dash {
			if i == from {
				return false
			}
			link = link || parts > 1 && isLinkWord(w[from:i])
			parts++
			from = i + 1
		}
	}
	switch {
	case parts < 2 || seen&(dot|at) != 0:
		return false
	case seen&decimal == 0:
		return parts > 2 && !link
	case parts == 2 && consists(w[:from-1], decimal) && consists(w[from:], lowerCase):
		return false
	}
	return seen&letters != 0 || len(w) >= 8
}

// isJoined reports whether a word that is no name joins several parts by dashes or
// slashes: up-to-date, 17-step, README.md/LICENSE.txt, bg-red-500/10.
func isJoined(w string, by byte) bool {
	if len(w) < 6 || len(w) > 80 || !some(w, letters) || strings.Contains(w, "--") || strings.HasPrefix(w, "s/") {
		return false
	}
	if by == '-' {
		return !strings.Contains(w, ".") && (strings.Count(w, "-") > 1 || some(w, decimal))
	}
	return isFile(w[strings.LastIndexByte(w, '/')+1:]) || some(lastSegments(w), decimal|underscore)
}

// isBranch reports whether a word joins three parts or more with dashes, like the name of
// a branch: feature/retry-on-timeout.
func isBranch(w string) bool {
	return len(w) <= 80 && strings.Count(w, "-") > 1 && !strings.Contains(w, "--") && consists(w, letters|decimal|dash|slash) &&
		!consists(w[strings.LastIndexByte(w, '/')+1:], decimal)
}

// isLinkWord reports whether a word links the parts of a compound in prose, such as "to"
// in end-to-end.
func isLinkWord(w string) bool {
	switch w {
	case "a", "an", "and", "as", "at", "by", "for", "in", "is", "it", "of", "off", "on", "or", "so", "the", "to", "und", "vs", "with":
		return true
	}
	return false
}

// isSymbol reports whether a word is no word of a dictionary: it has an inner underscore,
// a step from lower to upper case, or letters and digits.
func isSymbol(w string) bool {
	if len(w) < 4 {
		return false
	}
	seen, step, last := class(0), class(0), class(0)
	for i := range len(w) {
		c := classes[w[i]]
		seen |= c
		step |= last << 1 & c
		last = c
	}
	switch {
	case seen&letters == 0:
		return false
	case seen&underscore != 0:
		return strings.IndexByte(strings.Trim(w, "_"), '_') > 0 || strings.HasPrefix(w, "__") && strings.HasSuffix(w, "__")
	case seen&decimal != 0:
		return !isOrdinal(w) && !isSVGPath(w)
	}
	return (step&upperCase != 0 || startsAbbreviated(w)) && !isBrand(w)
}

// startsAbbreviated reports whether a word begins with an abbreviation and goes on with
// another word: HTTPServer, OOMKilled.
func startsAbbreviated(w string) bool {
	n := run(w, 0, upperCase)
	return n > 3 && len(w)-n > 2
}

// isOrdinal reports whether a word is a number such as 1st or 22nd, a decade such
// as 1990s, or a class such as 4xx.
func isOrdinal(w string) bool {
	switch w[text.Digits(w):] {
	case "st", "nd", "rd", "th", "s", "xx", "er", "te", "ten", "D", "Z", "p":
		return text.Digits(w) > 0
	}
	return false
}

// isSVGPath reports whether a word is a part of an SVG path: numbers with single letters
// between them, each an SVG command.
func isSVGPath(w string) bool {
	if classes[w[0]] != decimal || classes[w[len(w)-1]] != decimal && len(w) > 5 {
		return false
	}
	for i := range len(w) {
		if classes[w[i]] != decimal && (strings.IndexByte("achlmqstvzACHLMQSTVZ", w[i]) < 0 || is(w, i+1, letters|underscore)) {
			return false
		}
	}
	return true
}

// isBrand reports whether a word is a brand or a plural with an inner capital, and so no
// symbol.
func isBrand(w string) bool {
	switch w {
	case "GitHub", "GitLab", "JavaScript", "TypeScript", "PostgreSQL", "MySQL", "macOS", "YouTube", "OpenAI", "DevOps", "LinkedIn",
		"WhatsApp", "PayPal", "iPhone", "iPad", "MacBook", "McDonald", "PhD", "LaTeX", "OAuth", "WebSocket", "WebSockets", "MongoDB",
		"GraphQL", "DynamoDB", "NoSQL", "SQLite", "CoffeeScript", "PowerShell", "WordPress", "StackOverflow", "IntelliJ", "JetBrains",
		"ChatGPT", "DeepMind", "LangChain", "FastAPI", "DevTools", "GmbH", "ToDo", "IDs", "APIs", "URLs", "PRs", "CLIs", "PDFs":
		return true
	}
	return false
}

// isFile reports whether a word ends in a known extension.
func isFile(w string) bool {
	end := strings.LastIndexByte(w, '.')
	if end <= 0 || len(w) > 100 || len(w)-end > 8 {
		return false
	}
	ext := w[end+1:]
	if len(ext) == 1 && (end < 2 && !strings.Contains("ch", ext) || ext[0] < 'a') {
		return false // p.m., U.S.C
	}
	if extension.Get()[ext] {
		return true
	}
	if some(ext, lowerCase) || len(ext) < 2 {
		return false
	}
	var small [8]byte // README.MD
	for i := range len(ext) {
		small[i] = ext[i] | 0x20
	}
	return extension.Get()[string(small[:len(ext)])]
}

// isField reports whether a word that looks like a file is probably a field or method in
// code: this.key, console.log, process.env.
func isField(w string) bool {
	end := strings.LastIndexByte(w, '.')
	stem := w[:end]
	switch w[end+1:] {
	case "js":
		switch stem {
		case "Node", "Next", "Vue", "React", "Express", "Three", "Nuxt", "Ember", "Angular", "Chart", "D3":
			return true
		}
		return stem == "this" || stem == "self"
	case "log", "env", "key", "db", "lock", "sum", "mod", "work", "conf", "diff", "patch", "r", "m", "h", "c":
	default:
		return stem == "this" || stem == "self"
	}
	switch stem {
	case "this", "self", "console", "process", "import.meta", "Math", "math", "np", "torch", "event", "e", "item", "entry", "obj", "props",
		"req", "res", "ctx", "cls", "df", "node", "row", "kv", "os", "logger":
		return true
	}
	return false
}

// hiddenFile reports whether a word after a dot is the rest of the name of a known hidden
// file, such as gitignore.
func hiddenFile(w string) bool {
	switch w {
	case "gitignore", "gitattributes", "gitmodules", "gitkeep", "env", "dockerignore", "npmrc", "npmignore", "nvmrc", "bashrc", "bash_profile",
		"zshrc", "profile", "editorconfig", "eslintrc", "eslintignore", "prettierrc", "prettierignore", "babelrc", "vimrc", "tmux.conf",
		"tool-versions", "python-version", "env.local", "env.example", "env.test", "env.production", "env.development", "netrc", "DS_Store":
		return true
	}
	return false
}

// knownFile reports whether a word without a dot is a known name of a file, such as
// Makefile.
func knownFile(w string) bool {
	switch w {
	case "Makefile", "Dockerfile", "Jenkinsfile", "Gemfile", "Rakefile", "Procfile", "Vagrantfile", "Justfile", "Brewfile", "Containerfile":
		return true
	}
	return false
}

// extension has the known file extensions.
var extension = lazy.Words(`go py js ts tsx jsx mjs cjs rs c h cc cpp hpp cs java kt kts scala rb php swift m mm lua pl pm
	r jl ex exs erl hs ml clj dart zig nim sh bash zsh fish ps1 bat sql proto graphql html htm css scss less vue svelte
	json jsonl ndjson yaml yml toml ini cfg conf env xml csv tsv md mdx rst txt log lock mod sum work gradle cmake mk
	tf hcl nix ipynb pdf png jpg jpeg gif svg webp ico zip gz tgz tar zst whl limn db sqlite pem crt key diff patch tmpl`)
