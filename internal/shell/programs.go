package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// A program describes the effects of a program on the files that its words name.
type program struct {
	// valued lists options with a value in the next word or in the rest of their own word,
	// separated by spaces. With a ?, the value is in the rest of the word only; with =2, the
	// option takes two words.
	valued  string
	before  int    // number of operands before the files: a pattern, a script
	instead string // options that replace these operands: -e PATTERN
	act     Act    // effect on the files; empty for none
	changes string // options that make it edit the files
	out     string // options whose value is a file that it writes
	in      string // options whose value is a file that it reads
	deep    string // options that make it work on directories recursively
	unknown bool   // the program may have other effects
}

// programs is the table of programs whose effects depend on their words only. touch handles git,
// sed and other programs for which more is needed.
var programs = lazy.Value[map[string]program]{Make: func() map[string]program {
	m := make(map[string]program)
	put := func(p program, names string) {
		for name := range strings.FieldsSeq(names) {
			m[name] = p
		}
	}
	reads := func(valued string) program { return program{act: Read, valued: valued} }
	put(reads(""), "cat tac less more wc rev md5 md5sum sha1sum sha224sum sha256sum sha512sum b2sum cksum zcat gzcat bzcat xzcat")
	put(reads("-l --language -r --line-range -H --highlight-line --theme --style --paging --color --wrap --tabs -m --map-syntax"), "bat batcat")
	put(reads("-n -c --lines --bytes -s --sleep-interval --pid"), "head tail ghead gtail")
	put(reads("-b -d -f -h -i -l -n -s -v -w"), "nl")
	put(reads("-A -j -N -S -t -w?"), "od")
	put(reads("-s -l -c -o -g"), "xxd")
	put(reads("-n -s -e -f"), "hexdump hd")
	put(reads("-n -t -e -T --bytes --radix --encoding --target"), "strings")
	put(reads("-t --tabs"), "expand")
	put(reads("-n -i --bytes --ignore-initial"), "cmp")
	put(reads("-a"), "shasum")
	put(reads("-d -f -c -b --delimiter --fields --characters --bytes --output-delimiter"), "cut")
	put(reads("-d --delimiters"), "paste")
	put(reads("-s -c -o -N --separator --output-separator --table-columns"), "column")
	put(reads("-w --width"), "fold")
	put(reads("-w -p -g --width --prefix --goal"), "fmt")
	put(reads("-f -s -w -n"), "uniq")
	put(reads("-1 -2 -j -t -o -e"), "join")
	put(reads(""), "comm")
	put(reads("-w --wrap -i -o"), "base64")
	put(reads("-U -C -W -I -F -L -x -X -S --width --label --exclude --exclude-from"), "diff colordiff sdiff")
	put(program{act: Read, valued: "-k -t -o -S -T --key --field-separator --output --buffer-size", out: "-o --output"}, "sort gsort")
	grep := program{
		act: Read, before: 1, instead: "-e -f --regexp --file", in: "-f --file", deep: "-r -R --recursive --dereference-recursive",
		valued: "-A -B -C -m -e -f -d -D --after-context --before-context --context --max-count --regexp --file --include --exclude --exclude-dir",
	}
	put(grep, "grep egrep fgrep zgrep ggrep")
	rg := grep
	rg.valued += " -g -t -T -j -E -M -r -d --glob --iglob --type --type-not --threads --max-depth --max-columns --replace --sort --sortr --encoding --pre -G --ignore"
	rg.deep = "*"
	rg.instead += " --files"
	put(rg, "ag ack")
	rg.valued += " --color"
	put(rg, "rg ripgrep")
	put(program{act: Read, before: 1, instead: "-f --file", in: "-f --file", valued: "-F -v -f -i -l --field-separator --assign --file --include --load"}, "awk gawk mawk nawk")
	put(program{act: Read, before: 1, instead: "-f --from-file", in: "-f --from-file", valued: "-f --from-file --indent -L --arg=2 --argjson=2 --slurpfile=2 --rawfile=2"}, "jq gojq")
	put(program{act: Read, before: 1, valued: "-o -p -I --output-format --input-format --indent", changes: "-i --inplace"}, "yq")
	put(program{act: Delete}, "rm unlink shred trash")
	put(program{act: Touch, valued: "-d -r -t -A --date --reference"}, "touch")
	put(program{act: Edit, valued: "-s -r --size --reference"}, "truncate")
	put(program{act: Append, valued: ""}, "tee") // touch handles -a
	formats := func(valued, changes string) program { return program{act: Read, valued: valued, changes: changes} }
	put(formats("-r -cpuprofile", "-w"), "gofmt")
	put(formats("-local -srcdir -cpuprofile", "-w"), "goimports gofumpt")
	put(formats("--config --parser --plugin --ignore-path --log-level --stdin-filepath", "-w --write"), "prettier")
	put(formats("-i -ln -filename --indent --language-dialect --filename", "-w --write"), "shfmt")
	put(formats("-style -assume-filename -fallback-style --style --assume-filename --fallback-style", "-i"), "clang-format")
	edits := program{act: Read, before: 1, instead: "-e -f --expression --file", changes: inPlaceOptions, valued: "-e -f -l -i? --expression --file --line-length"}
	put(edits, "sed gsed")
	put(program{instead: "-e -E", valued: "-e -E -I -M -m -F? -x? -i?"}, "perl")
	nothing := program{}
	put(nothing, `echo printf pwd true false : ls ll la tree exa eza du df which whereis type date whoami id uname hostname printenv ps pgrep
		free uptime lsof netstat ss seq sleep man nproc lscpu ldd nm basename dirname realpath readlink stat file test [ tr yes
		mkdir rmdir chmod chown chgrp alias unalias export set shopt ulimit umask wait jobs bg fg kill pkill killall exit return
		trap local hash history tty stty clear tput help cloc tokei fd fdfind env command builtin time timeout nice exec mktemp declare
		typeset readonly let shift break continue getopts read unset mapfile readarray`)
	put(program{out: "-o --output", valued: `-o --output -X -H -d -F -u -A -e -b -c -T -K -m -w --request --header --data --data-raw --data-binary --form --user
		--user-agent --referer --cookie --cookie-jar --upload-file --max-time --connect-timeout --write-out --retry --url`}, "curl")
	put(program{out: "-O --output-document -o --output-file", valued: "-O -o -P -t -T --output-document --output-file --header --timeout --tries"}, "wget")
	put(program{out: "-o -coverprofile -cpuprofile -memprofile -trace -blockprofile -mutexprofile", unknown: true, valued: `-o -coverprofile -cpuprofile
		-memprofile -trace -blockprofile -mutexprofile -run -tags -ldflags -gcflags -count -timeout -C -p -exec -bench -fuzz -fuzztime -benchtime -parallel
		-skip -mod -modfile -overlay -cover -covermode -coverpkg`}, "go")
	put(program{out: "-o", unknown: true, valued: "-o -I -L -D -l -std -x -include"}, "gcc cc clang g++ c++ clang++")
	return m
}}

// A sorted holds the arguments of a command by kind.
type sorted struct {
	options  []string // without their values
	values   []word   // of options
	operands []word
}

// A word is an argument of a command, or the value of one of its options.
type word struct {
	option string // the option whose value the word is, or empty
	text   string
	known  bool // the program gets exactly text; if false, only the shell knows the word
}

// sort separates the options, their values and the operands of a command. Short options may
// be joined, with the value in the same or in the next word. A long option may have its value
// after =. If long is true, options with one hyphen are long, as those of go.
func (c *Command) sort(valued string, long bool) sorted {
	var s sorted
	args, known := c.Args, c.known
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			for i++; i < len(args); i++ {
				s.operands = append(s.operands, word{text: args[i], known: known[i]})
			}
		case len(a) < 2 || a[0] != '-':
			s.operands = append(s.operands, word{text: a, known: known[i]})
		case a[1] == '-' || long:
			name, value, ok := strings.Cut(a, "=")
			s.options = append(s.options, name)
			switch {
			case ok:
				s.values = append(s.values, word{name, value, known[i]})
			case text.HasWord(valued, name) && i+1 < len(args):
				i++
				s.values = append(s.values, word{name, args[i], known[i]})
			case text.HasWord(valued, name+"=2"):
				i += 2
			}
		default:
			if text.AreDigits(a[1:]) { // for example head -20
				s.options = append(s.options, a)
				continue
			}
			for k := 1; k < len(a); k++ {
				name := "-" + a[k:k+1]
				s.options = append(s.options, name)
				if text.HasWord(valued, name+"?") {
					break
				}
				if !text.HasWord(valued, name) {
					continue
				}
				if k+1 < len(a) {
					s.values = append(s.values, word{name, a[k+1:], known[i]})
				} else if i+1 < len(args) {
					i++
					s.values = append(s.values, word{name, args[i], known[i]})
				}
				break
			}
		}
	}
	return s
}

// given reports whether the command has one of the options.
func (s *sorted) given(options string) bool {
	return slices.ContainsFunc(s.options, func(o string) bool { return text.HasWord(options, o) })
}

// Operands returns the arguments that are neither options nor values of options, as far
// as the table of programs knows the options.
func (c *Command) Operands() []string {
	var out []string
	s := c.sorted()
	for _, o := range s.operands {
		out = append(out, o.text)
	}
	return out
}

// sorted sorts the arguments by kind, with the options that the table of programs gives for the
// command.
func (c *Command) sorted() sorted {
	s := c.sort(programs.Get()[c.Name].valued, text.HasWord("go gofmt goimports gofumpt shfmt clang-format", c.Name))
	if c.Name == "yq" && len(s.operands) > 0 && text.HasWord("e eval ea eval-all", s.operands[0].text) {
		s.operands = s.operands[1:]
	}
	return s
}

// Script returns the script or pattern in a command's arguments, for sed, perl, awk, grep and
// jq.
func (c *Command) Script() string {
	p := programs.Get()[c.Name]
	s := c.sorted()
	for _, v := range s.values {
		if text.HasWord(p.instead, v.option) && !text.HasWord("-f --file --from-file", v.option) {
			return v.text
		}
	}
	for _, o := range s.operands {
		if p.before > 0 && o.text != "" && !s.given(p.instead) && !c.suffixed(o.text) {
			return o.text
		}
	}
	return ""
}

// touch records the effects of a command on files. fed means that it may get more arguments
// than the line shows, for example from xargs.
func (w *walker) touch(c *Command, fed bool) {
	switch c.Name {
	case "git":
		w.git(c)
	case "sed", "gsed":
		w.sed(c)
	case "perl":
		w.perl(c)
	case "mv", "gmv":
		w.transfer(c, Rename)
	case "cp", "gcp", "install", "ln":
		w.transfer(c, Write)
	case "tee":
		s := c.sort("", false)
		act := Write
		if s.given("-a --append") {
			act = Append
		}
		w.each(c, act, s.operands)
	case "dd":
		for i, a := range c.Args {
			if name, ok := strings.CutPrefix(a, "of="); ok {
				w.file(c, Write, name, c.known[i])
			} else if name, ok := strings.CutPrefix(a, "if="); ok {
				w.file(c, Read, name, c.known[i])
			}
		}
	case "patch", "apply_patch", "applypatch":
		w.patch(c)
	case "python", "python3":
		w.python(c)
	case "fd", "fdfind":
		c.Unknown = slices.ContainsFunc(c.Args, func(a string) bool { return text.HasWord("-x -X --exec --exec-batch", a) })
	case "awk", "gawk", "mawk", "nawk":
		w.awk(c)
	case "uniq":
		s := c.sorted()
		w.each(c, Read, s.operands[:min(1, len(s.operands))])
		w.each(c, Write, s.operands[min(1, len(s.operands)):])
	case "source", ".":
		c.Unknown = true
		if len(c.Args) > 0 {
			w.file(c, Read, c.Args[0], c.known[0])
		}
	default:
		p, ok := programs.Get()[c.Name]
		if !ok {
			c.Unknown = true
			return
		}
		w.table(c, &p)
		s := c.sorted() // a download gets its name from the address
		c.Unknown = c.Unknown || c.Name == "wget" && !s.given("-O --output-document --spider") || c.Name == "curl" && s.given("-O -J --remote-name --remote-name-all --remote-header-name")
	}
	if fed {
		w.more(c)
	}
}

// more records that a command gets arguments that the line does not show.
func (w *walker) more(c *Command) {
	switch p, ok := programs.Get()[c.Name]; {
	case c.Name == "perl":
		if s := c.sorted(); s.given(inPlaceOptions) {
			c.Effects = append(c.Effects, Effect{Act: Edit})
		}
	case c.Name == "mv" || c.Name == "cp" || c.Name == "tee":
		c.Effects = append(c.Effects, Effect{Act: Write})
	case p.act != "":
		act := p.act
		if s := c.sorted(); s.given(p.changes) {
			act = Edit
		}
		c.Effects = append(c.Effects, Effect{Act: act})
	case !ok:
		c.Unknown = true
	}
}

// table records the effects of a command according to p, the entry of its program in the table of
// programs.
func (w *walker) table(c *Command, p *program) {
	c.Unknown = p.unknown
	s := c.sorted()
	act := p.act
	if s.given(p.changes) {
		act = Edit
	}
	for _, v := range s.values {
		switch {
		case text.HasWord(p.out, v.option):
			w.file(c, Write, v.text, v.known)
		case text.HasWord(p.in, v.option):
			w.file(c, Read, v.text, v.known)
		}
	}
	if act == "" {
		return
	}
	files := s.operands
	if p.before > 0 && !s.given(p.instead) {
		files = files[min(p.before, len(files)):]
	}
	if p.deep == "*" || s.given(p.deep) {
		n := len(files)
		files = slices.DeleteFunc(slices.Clone(files), func(o word) bool { return o.known && (path.Ext(path.Base(o.text)) == "" || isFolder(o)) })
		if len(files) < n { // files in these directories
			defer func() { c.Effects = append(c.Effects, Effect{Act: act}) }()
		}
	}
	w.each(c, act, files)
}

// isFolder reports whether a word certainly names a directory, by its form alone.
func isFolder(o word) bool {
	base := path.Base(o.text)
	return strings.HasSuffix(o.text, "/") || base == "." || base == ".."
}

// each records the effect act for each of the files.
func (w *walker) each(c *Command, act Act, files []word) {
	for _, f := range files {
		w.file(c, act, f.text, f.known)
	}
}

// file records the effect act for one file. known reports whether name is the whole name.
func (w *walker) file(c *Command, act Act, name string, known bool) {
	if known && (name == "" || name == "-" || strings.HasPrefix(name, "/dev/")) {
		return
	}
	c.Effects = append(c.Effects, Effect{Act: act, Path: w.here.path(name, known)})
}

// transfer records the effects of mv, cp and ln. The destination is the last operand or the
// value of -t. It is a directory if there are several sources or it ends in a slash.
func (w *walker) transfer(c *Command, act Act) {
	s := c.sort("-t -S -m -o -g --target-directory --suffix --mode", false)
	files, folder := s.operands, false
	var to word
	for _, v := range s.values {
		if v.option == "-t" || v.option == "--target-directory" {
			to, folder = v, true
		}
	}
	if !folder {
		if len(files) < 2 {
			return
		}
		to, files = files[len(files)-1], files[:len(files)-1]
		folder = len(files) > 1 || isFolder(to)
	}
	for _, f := range files {
		from := w.here.path(f.text, f.known)
		e := Effect{Act: act, From: from, Path: w.here.path(to.text, to.known)}
		if folder {
			e.Path = w.here.path(to.text+"/"+path.Base(f.text), f.known && to.known)
		}
		if act == Write && c.Name != "ln" {
			w.file(c, Read, f.text, f.known)
		}
		if !to.known || !strings.HasPrefix(to.text, "/dev/") {
			c.Effects = append(c.Effects, e)
		}
	}
}

// inPlaceOptions lists the options by which sed and perl change their files.
const inPlaceOptions = "-i --in-place"

// sed records the effects of sed: its first operand is a script unless an option has one.
func (w *walker) sed(c *Command) {
	s := c.sorted()
	act, files := Read, s.operands
	scripted := s.given("-e -f --expression --file")
	if s.given(inPlaceOptions) {
		act = Edit
		if n := len(files); n > 0 && files[0].text == "" || n > 1 && (scripted || n > 2) && c.suffixed(files[0].text) {
			files = files[1:] // BSD sed -i ''
		}
	}
	if !scripted {
		files = files[min(1, len(files)):]
	}
	w.each(c, act, files)
	c.Unknown = sedWrites.Get().MatchString(c.Script())
}

// awk records the effects of awk: its program may write files or run programs.
func (w *walker) awk(c *Command) {
	p := programs.Get()[c.Name]
	if s := c.sorted(); slices.ContainsFunc(s.values, func(v word) bool { return text.HasWord("-i --include", v.option) && v.text == "inplace" }) {
		p.act = Edit
	}
	w.table(c, &p)
	c.Unknown = awkWrites(c.Script())
}

// awkWrites reports whether a program of awk runs a program, or prints into a file or a pipe. A > in
// brackets or in a text is something else.
func awkWrites(script string) bool {
	prints, quoted, depth := false, false, 0
	for i := 0; i < len(script); i++ {
		c, rest := script[i], script[i:]
		switch {
		case c == '"' && (i == 0 || script[i-1] != '\\'):
			quoted = !quoted
		case quoted:
		case c == ';' || c == '}' || c == '\n':
			prints = false
		case strings.HasPrefix(rest, "print") && (i == 0 || strings.IndexByte(" \t\n;{})", script[i-1]) >= 0):
			prints, depth = true, 0
		case c == '(':
			depth++
		case c == ')':
			depth--
		case strings.HasPrefix(rest, "||"):
			i++
		case strings.HasPrefix(rest, "system("), prints && depth == 0 && (c == '>' || c == '|'):
			return true
		}
	}
	return false
}

// sedWrites matches scripts of sed that write a file or run a program: w out, s/a/b/w out.
var sedWrites = lazy.Value[*regexp.Regexp]{Make: func() *regexp.Regexp {
	var substitutes []string
	for _, sign := range [...]string{"/", `\|`, ",", "#", "@"} {
		part := `(?:\\.|[^\\\n` + sign + `])*` + sign
		substitutes = append(substitutes, sign+part+part)
	}
	return regexp.MustCompile(`(?:^|[;{}\n])\s*(?:[\d$,~]+|/(?:\\.|[^/\\])*/)?[\s!]*(?:[wW]\s*\S|e|s(?:` + strings.Join(substitutes, "|") + `)[gpIiMm\d]*[we])`)
}}

// suffixed reports whether word is the backup suffix after -i, which BSD sed takes as a
// separate word.
func (c *Command) suffixed(word string) bool {
	i := slices.Index(c.Args, word)
	return i > 0 && strings.HasPrefix(word, ".") && !strings.Contains(word, "/") && strings.HasSuffix(c.Args[i-1], "i") && strings.HasPrefix(c.Args[i-1], "-")
}

// perl records the effects of perl on its operands, if its program is given on the command
// line.
func (w *walker) perl(c *Command) {
	s := c.sorted()
	switch {
	case !s.given("-e -E"):
		c.Unknown = true
	case s.given("-i"):
		w.each(c, Edit, s.operands)
	case s.given("-n -p"):
		c.Unknown = true // the program may do more than print
		w.each(c, Read, s.operands)
	default:
		c.Unknown = true
	}
}

// patch records the effects of a patch: the patch in the line, or unknown effects if only
// the shell knows the patch.
func (w *walker) patch(c *Command) {
	text, known := c.Input, c.Fed
	if c.Name != "patch" && !known {
		text, known = strings.Join(c.Args, " "), all(c.known)
	}
	if known && w.patches(c, text) {
		return
	}
	c.Unknown = true
	if c.Name == "patch" {
		s := c.sort("-p -d -i -o -F -D -B -V -Y -z -r --strip --directory --input --output", false)
		w.valuesOf(c, Read, "-i --input", &s)
		if len(s.operands) > 0 {
			w.file(c, Edit, s.operands[0].text, s.operands[0].known)
			c.Unknown = false
		}
		if len(s.operands) > 1 {
			w.file(c, Read, s.operands[1].text, s.operands[1].known)
		}
	}
}

// patches records the effects of a patch in the line. It reports false if text is no patch.
func (w *walker) patches(c *Command, text string) bool {
	list := Patches(text)
	for _, p := range list {
		e := Effect{Act: p.Act, Path: w.here.path(p.Path, true)}
		if p.From != "" {
			e.From = w.here.path(p.From, true)
		}
		c.Effects = append(c.Effects, e)
	}
	return len(list) > 0
}

// found records the effects of find: deletions, written files and the programs that it runs.
func (w *walker) found(c *Command, to sink) {
	for k := 0; k < len(c.Args); k++ {
		switch a := c.Args[k]; {
		case a == "-delete":
			c.Effects = append(c.Effects, Effect{Act: Delete})
		case strings.HasPrefix(a, "-fprint") && k+1 < len(c.Args), a == "-fls" && k+1 < len(c.Args):
			w.file(c, Write, c.Args[k+1], c.known[k+1])
		case a == "-exec" || a == "-execdir" || a == "-ok" || a == "-okdir":
			var words []string
			var known []bool
			for k++; k < len(c.Args) && c.Args[k] != ";" && c.Args[k] != "+"; k++ {
				words, known = append(words, c.Args[k]), append(known, c.known[k] && !strings.Contains(c.Args[k], "{}"))
			}
			w.executed(c, words, known, to)
		}
	}
}

// executed reads a program that find runs for each file.
func (w *walker) executed(c *Command, words []string, known []bool, to sink) {
	if w.deep >= maxDeep {
		c.Unknown = true
	} else if len(words) > 0 {
		w.deep++
		w.loops++
		w.run(words, known, redirection{}, to)
		w.loops--
		w.deep--
	}
}
