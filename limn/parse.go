package limn

import (
	"fmt"
	"strings"
)

// maxNesting is the most levels of nested statements, and the most operators in a row.
const maxNesting = 100

// Parse parses a program. It always returns one: an invalid line has an Err,
// and the lines after it are parsed. name is the file name for messages; it
// may be empty. It uses only opts.Packs.
//
// A "when" is one line with its body. An error in the body makes the whole
// handler an error. A line of the body that is indented by a tab, or deeper
// than those before it, ends the body.
func Parse(name, text string, opts *Options) *Program {
	if opts == nil {
		opts = &Options{}
	}
	text = withoutMark(text)
	p := &parser{lexer: newLexer(opts.Packs), text: text, rest: text}
	prog := &Program{Name: name, Lines: make([]*Line, 0, 1+strings.Count(text, "\n"))}
	for p.advance() {
		if l := p.top(); l != nil {
			prog.Lines = append(prog.Lines, l)
		}
	}
	return prog
}

// A parser reads lines, and the lexemes of one line at a time.
//
// It stops at the first fault of a line: [parser.fail] keeps the fault and moves to the end
// of the line, where nothing matches, so callers need not check for errors.
type parser struct {
	*lexer

	text   string // of the program
	rest   string // the text after the current line
	number int    // number of the current line
	src    source // the current line
	seen   bool   // a line that is neither blank nor comment was read

	at    int    // index of the next lexeme in toks
	depth int    // number of enclosing statements
	each  int    // number of enclosing constructs that have a current item
	amber string // amber condition of the line
	err   *Error // first error of the line
}

// A fault is an error at a byte of a line.
type fault struct {
	at         int
	text, hint string
}

// top parses a line at the top level, with its body if it is a "when". It returns nil for a
// line with only punctuation.
func (p *parser) top() *Line {
	first := !p.seen
	p.seen = true
	s := p.begin()
	switch {
	case p.blank():
		return nil
	case p.whenAhead():
		p.when(&s.line)
	case p.toks[0].is(kwAbout):
		p.finish(&s.line, p.about(first))
	default:
		p.statement(s)
	}
	return &s.line
}

// A statement holds a line and its first operation in one allocation. Nearly all lines have
// one operation.
type statement struct {
	line Line
	seq  sequence
	ops  [1]*operation
	op   operation
}

// begin resets the parser for the current line, splits the line into lexemes and returns an
// empty statement for it.
func (p *parser) begin() *statement {
	p.at, p.depth, p.each, p.amber, p.err = 0, 0, 0, "", nil
	s := &statement{line: Line{Pos: Pos{p.number, p.src.indent + 1}, Source: p.src.text}}
	if f := p.lex(p.src.text); f != nil {
		p.fault(*f)
	}
	if p.src.tab >= 0 {
		p.err = nil
		p.fault(fault{p.src.tab, "a tab before a statement", "indent with spaces"})
	}
	return s
}

// blank reports whether the line consists of punctuation only.
func (p *parser) blank() bool { return p.err == nil && p.toks[0].kind == lexEnd }

// finish puts the statement s into the line l. If parsing failed or lexemes are left,
// it puts the error into the line instead.
func (p *parser) finish(l *Line, s stmt) {
	if p.err == nil && !p.atEnd() {
		p.unexpected()
	}
	if p.err != nil {
		l.Err = p.err
		return
	}
	l.stmt, l.Amber = s, p.amber
}

// statement parses a line of operations.
func (p *parser) statement(s *statement) {
	if p.err != nil {
		s.line.Err = p.err
		return
	}
	p.reorder()
	s.ops[0] = p.op(&s.op)
	s.seq.Ops = s.ops[:]
	p.operations(&s.seq)
	p.finish(&s.line, &s.seq)
}

// about reads the title of a program.
func (p *parser) about(first bool) stmt {
	if !first {
		p.fail(`"about" is not at the beginning`, "put the title on the first line, once")
		return nil
	}
	p.next()
	if p.peek().kind == lexText {
		return &about{Text: p.next().text}
	}
	if p.atEnd() {
		p.fail(`"about" has no title`, "write a title after it")
	}
	var words []string
	for !p.atEnd() {
		words = append(words, p.next().text)
	}
	return &about{Text: strings.Join(words, " ")}
}

// peek returns the next lexeme.
func (p *parser) peek() lexeme { return p.toks[p.at] }

// peekAt returns the lexeme n places after the next, or the end of the line.
func (p *parser) peekAt(n int) lexeme { return p.toks[min(p.at+n, len(p.toks)-1)] }

// next consumes and returns a lexeme.
func (p *parser) next() lexeme {
	t := p.toks[p.at]
	if t.kind != lexEnd {
		p.at++
	}
	return t
}

// accept consumes the next lexeme if it is the keyword k, and reports whether it is.
func (p *parser) accept(k keyword) bool {
	if !p.toks[p.at].is(k) {
		return false
	}
	p.at++
	return true
}

// expect consumes the keyword k, and fails if the next lexeme is another.
func (p *parser) expect(k keyword, hint string) {
	if !p.accept(k) {
		p.fail(p.found()+fmt.Sprintf(" where %q belongs", k.String()), hint)
	}
}

// colon consumes a colon, and fails if the next lexeme is another.
func (p *parser) colon(hint string) {
	if p.peek().kind != lexColon {
		p.fail(p.found()+" where a colon belongs", hint)
		return
	}
	p.at++
}

// word consumes the next lexeme if it is the unreserved word text.
func (p *parser) word(text string) bool {
	if t := p.peek(); t.kind != lexWord || t.text != text {
		return false
	}
	p.at++
	return true
}

// article skips an article.
func (p *parser) article() {
	if p.peek().isArticle() {
		p.at++
	}
}

func (p *parser) atEnd() bool { return p.peek().kind == lexEnd }

// pos returns the position of the next lexeme.
func (p *parser) pos() Pos { return p.place(p.peek().pos) }

// place returns the position of the byte at offset at in the line.
func (p *parser) place(at int) Pos { return Pos{p.number, at + 1} }

// fail records a fault at the next lexeme.
func (p *parser) fail(text, hint string) {
	p.fault(fault{p.peek().pos, text, hint})
}

// fault records a fault if it is the first of the line, and skips the rest of the line.
func (p *parser) fault(f fault) {
	if p.err == nil {
		p.err = &Error{Pos: p.place(f.at), Text: f.text, Hint: f.hint}
	}
	p.at = len(p.toks) - 1
}

// found describes the next lexeme. Error texts begin with the description.
func (p *parser) found() string { return p.peek().String() }

func (t lexeme) String() string {
	switch t.kind {
	case lexEnd:
		return "the line ends"
	case lexText:
		return "quoted text"
	case lexColon:
		return "a colon"
	case lexWord, lexKeyword, lexPackVerb, lexNumber, lexDate:
	}
	return fmt.Sprintf("%q", t.text)
}

// unexpected records a fault for a lexeme that cannot stand at this position.
func (p *parser) unexpected() {
	switch t := p.peek(); {
	case t.is(kwAnd):
		p.fail(`"and" is not followed by a verb or a value`, "go on with a verb, or with a value if this is a list")
	case t.is(kwOr):
		p.fail(`"or" is not followed by a condition`, "begin each part of a condition with a name")
	case t.is(kwOf) && p.toks[p.at-1].kind != lexWord:
		p.fail(`"of" after something that has no fields`, "write FIELD of NAME, both without quotes")
	case t.is(kwOf):
		p.fail(`a second "of" after FIELD of NAME`, "records are flat: remember the inner field first")
	case t.is(kwStarting):
		p.fail(`"starting" is not where it belongs`, `put "starting" first, then "until", then "inherited"`)
	case t.is(kwWhen):
		p.fail(`"when" inside a statement`, "begin a line with it, at the left")
	case t.kind == lexText:
		p.fail("the statement is complete before this quoted text", "end the statement here, or put it and the words before into one pair of quotes")
	default:
		p.fail(p.found()+" is one word too many", "end the statement before this word, or put the words in quotes")
	}
}

// enter counts a nested statement and fails if there are more than maxNesting.
func (p *parser) enter() bool {
	p.depth++
	if p.depth > maxNesting {
		p.fail("statements are nested too deep", "split it into several statements")
		return false
	}
	return true
}

func (p *parser) leave() { p.depth-- }
