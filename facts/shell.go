package facts

import "strings"

// A simple command is one command of a command line, with what is redirected.
type simple struct {
	words    []string
	to       []string // files that its output goes to
	appended bool     // some of them are appended to
	here     string   // what a here-document gives it
}

// parse splits a command line into its simple commands: at ; & | and line
// feeds outside of quotes. It knows quotes, here-documents and redirections,
// and takes substitutions as they stand. It never fails: what it does not
// understand ends up in words.
func parse(line string) []simple {
	p := parser{text: line}
	for p.next() {
	}
	p.end()
	return p.out
}

// A parser is in the middle of a command line.
type parser struct {
	text  string
	at    int
	out   []simple
	cmd   simple
	word  strings.Builder
	open  bool // a word has begun
	here  []here
	redir string // redirection that waits for its word
}

// A here is a here-document whose text is to come.
type here struct {
	cmd   int // index of its command
	delim string
	tabs  bool // leading tabs are taken off
}

// next handles what stands at p.at, and reports whether there was something.
func (p *parser) next() bool {
	if p.at >= len(p.text) {
		return false
	}
	c := p.text[p.at]
	switch c {
	case ' ', '\t', '\r':
		p.endWord()
		p.at++
	case '\n':
		p.end()
		p.at++
		p.documents()
	case ';', '|', '&':
		if c == '&' && (p.at+1 < len(p.text) && p.text[p.at+1] == '>' || p.at > 0 && p.text[p.at-1] == '>') {
			if p.at+1 < len(p.text) && p.text[p.at+1] == '>' {
				p.endWord()
			} else {
				p.put("&")
			}
			p.at++
			return true
		}
		p.end()
		for p.at < len(p.text) && strings.IndexByte(";|&", p.text[p.at]) >= 0 {
			p.at++
		}
	case '#':
		if p.open {
			p.put("#")
			p.at++
			return true
		}
		if n := strings.IndexByte(p.text[p.at:], '\n'); n >= 0 {
			p.at += n
		} else {
			p.at = len(p.text)
		}
	case '\\':
		if p.at+1 < len(p.text) && p.text[p.at+1] != '\n' {
			p.put(p.text[p.at+1 : p.at+2])
		}
		p.at = min(p.at+2, len(p.text))
	case '\'', '"':
		p.quoted(c)
	case '$', '`':
		p.substitution()
	case '<', '>':
		p.redirect(c)
	default:
		n := strings.IndexAny(p.text[p.at:], " \t\r\n;|&#\\'\"$`<>")
		if n <= 0 {
			n = len(p.text) - p.at
		}
		p.put(p.text[p.at : p.at+n])
		p.at += n
	}
	return true
}

func (p *parser) put(s string) {
	p.word.WriteString(s)
	p.open = true
}

// quoted takes what stands between quotes. A double quote may be escaped, and
// may stand in a substitution.
func (p *parser) quoted(q byte) {
	p.open = true
	p.at++
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == q:
			p.at++
			return
		case q == '"' && c == '\\' && p.at+1 < len(p.text):
			if strings.IndexByte("\"\\$`", p.text[p.at+1]) < 0 {
				p.word.WriteByte(c)
			}
			p.word.WriteByte(p.text[p.at+1])
			p.at += 2
		case q == '"' && c == '$':
			p.substitution()
		default:
			p.word.WriteByte(c)
			p.at++
		}
	}
}

// substitution takes $(…) or `…` as it stands, parentheses balanced.
func (p *parser) substitution() {
	start := p.at
	if p.text[p.at] == '`' {
		if n := strings.IndexByte(p.text[p.at+1:], '`'); n >= 0 {
			p.at += n + 2
		} else {
			p.at = len(p.text)
		}
		p.put(p.text[start:p.at])
		return
	}
	p.at++
	if p.at >= len(p.text) || p.text[p.at] != '(' {
		p.put("$")
		return
	}
	for depth := 0; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			p.at++
			break
		}
	}
	p.put(p.text[start:p.at])
}

// redirect takes < > >> << <<- <<< with the number of a file before it.
func (p *parser) redirect(c byte) {
	if w := p.word.String(); p.open && digits(w) == len(w) {
		if w == "2" && c == '>' {
			p.redir = "2"
		}
		p.word.Reset()
		p.open = false
	} else {
		p.endWord()
	}
	n := p.at
	for n < len(p.text) && p.text[n] == c && n-p.at < 3 {
		n++
	}
	op := p.text[p.at:n]
	p.at = n
	if op == "<<" && p.at < len(p.text) && p.text[p.at] == '-' {
		op = "<<-"
		p.at++
	}
	if p.redir == "2" {
		op = "2>"
	}
	p.redir = op
}

// endWord ends the word that has begun, and gives it to what waits for one.
func (p *parser) endWord() {
	if !p.open {
		return
	}
	w := p.word.String()
	p.word.Reset()
	p.open = false
	op := p.redir
	p.redir = ""
	switch op {
	case "":
		p.cmd.words = append(p.cmd.words, w)
	case ">", ">>":
		if w != "" && w[0] != '&' && !strings.HasPrefix(w, "/dev/") {
			p.cmd.to = append(p.cmd.to, w)
			p.cmd.appended = p.cmd.appended || op == ">>"
		}
	case "<<", "<<-":
		p.here = append(p.here, here{cmd: len(p.out), delim: w, tabs: op == "<<-"})
	}
}

// end ends the simple command that has begun.
func (p *parser) end() {
	p.endWord()
	p.redir = ""
	waits := len(p.here) > 0 && p.here[len(p.here)-1].cmd == len(p.out)
	if len(p.cmd.words) > 0 || len(p.cmd.to) > 0 || waits {
		p.out = append(p.out, p.cmd)
	}
	p.cmd = simple{}
}

// documents reads the here-documents that begin at the line at p.at.
func (p *parser) documents() {
	for _, h := range p.here {
		start := p.at
		for p.at < len(p.text) {
			end := strings.IndexByte(p.text[p.at:], '\n')
			if end < 0 {
				end = len(p.text) - p.at
			}
			line := p.text[p.at : p.at+end]
			if h.tabs {
				line = strings.TrimLeft(line, "\t")
			}
			stop := p.at
			p.at = min(p.at+end+1, len(p.text))
			if strings.TrimRight(line, "\r") == h.delim {
				p.out[h.cmd].here = p.text[start:stop]
				start = -1
				break
			}
		}
		if start >= 0 {
			p.out[h.cmd].here = p.text[start:]
		}
	}
	p.here = nil
}

// name returns the program that a simple command runs: its first word that is
// no assignment and no wrapper, and the words behind it.
func (s *simple) name() (string, []string) {
	for i, w := range s.words {
		if eq := strings.IndexByte(w, '='); eq > 0 && wordEnd(w) == eq || wrapper[w] {
			continue
		}
		return w[strings.LastIndexByte(w, '/')+1:], s.words[i+1:]
	}
	return "", nil
}

var wrapper = map[string]bool{
	"sudo": true, "time": true, "env": true, "nohup": true, "exec": true, "command": true, "then": true, "do": true, "else": true,
	"if": true, "{": true, "(": true, "!": true,
}

// operands returns the words that are no options.
func operands(args []string) []string {
	var out []string
	for i, a := range args {
		if a == "--" {
			return append(out, args[i+1:]...)
		}
		if !strings.HasPrefix(a, "-") {
			out = append(out, a)
		}
	}
	return out
}

// script returns the command line that a shell is told to run by another one:
// bash -lc "…" is its last word. Agents that give a list of words have no quotes
// around it.
func script(line string) string {
	line = strings.TrimSpace(line)
	for _, sh := range [...]string{"bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "/usr/bin/bash"} {
		for _, opt := range [...]string{" -lc ", " -c "} {
			if rest, ok := strings.CutPrefix(line, sh+opt); ok {
				if rest = strings.TrimSpace(rest); rest != "" && (rest[0] == '"' || rest[0] == '\'') {
					if inner := parse(rest); len(inner) == 1 && len(inner[0].words) == 1 {
						return inner[0].words[0]
					}
				}
				return rest
			}
		}
	}
	return line
}

// command returns what tells most of a command line: without comments, changes
// of the directory before it, and the texts of here-documents.
func command(line string) string {
	line = script(line)
	for {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			_, line, _ = strings.Cut(line, "\n")
			continue
		}
		if !strings.HasPrefix(line, "cd ") {
			break
		}
		n := strings.IndexAny(line, "&;\n|")
		if n < 0 || line[n] == '|' {
			break
		}
		rest := strings.TrimLeft(line[n:], "&;\n ")
		if rest == "" {
			break
		}
		line = rest
	}
	if i := strings.Index(line, "<<"); i >= 0 && !strings.Contains(line[:i], "$(") {
		if end := strings.IndexByte(line[i:], '\n'); end >= 0 {
			line = line[:i+end]
		}
	}
	return fold(line, lineRunes)
}
