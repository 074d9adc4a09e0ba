package account

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/shell"
	"github.com/carrel-dev/carrel/internal/text"
	"github.com/carrel-dev/carrel/outcome"
)

// A Place is a working tree.
type Place struct {
	Dir     string // directory of the commands, or empty
	Branch  string
	Commit  string   // hash and subject of the last commit made here, or empty
	Pushed  bool     // Commit was pushed
	Before  []string // earlier commits made here, the newest last
	touched int
}

// git records the effects of a line's git commands on the working tree:
// branch, commits, pushes.
func (t *tracker) git(line string, o *outcome.Outcome, output string) {
	if o.Commit == nil && o.Verdict != outcome.Failed {
		o.Commit = quietCommit(line, t.line(line), output)
	}
	if o.Verdict != outcome.Failed || o.Commit != nil {
		t.stage(t.line(line))
	}
	merge := o.Commit == nil && o.Verdict != outcome.Failed
	if merge {
		o.Commit = mergeCommit(t.line(line), output)
		merge = o.Commit != nil
	}
	resets := o.Verdict != outcome.Failed && hasReset(t.line(line))
	if o.Branch == "" && o.Commit == nil && !o.Pushed && !resets {
		return
	}
	t.from[t.here] = true
	dir := ""
	if d := whereGit(t.line(line)); d != "" {
		dir = strings.TrimSuffix(t.short(d+"/"), "/")
	}
	p := t.places[dir]
	if p == nil {
		p = &Place{Dir: dir}
		t.places[dir] = p
	}
	p.touched = t.here
	if o.Branch != "" {
		p.Branch = o.Branch
	}
	if resets {
		t.reset(p, t.line(line))
	}
	if o.Commit != nil {
		if p.Commit != "" && !amends(t.line(line)) {
			p.Before = append(p.Before[max(0, len(p.Before)-mostCommits+1):], p.Commit)
		}
		p.Commit, p.Pushed = strings.TrimSpace(o.Commit.Hash+" "+text.Clip(o.Commit.Subject, mostLine)), false
		if o.Commit.Branch != "" {
			p.Branch = o.Commit.Branch
		}
		t.failing = nil
		if !merge { // a merge keeps other changes
			t.committed(dir)
		}
	}
	p.Pushed = p.Pushed || o.Pushed
}

// gitVerb returns the arguments of the last command of a line that is git with the given verb, and
// whether there is one.
func gitVerb(l *shell.Line, verb string) (args []string, found bool) {
	for i := range slices.Backward(l.Commands) {
		c := &l.Commands[i]
		if v, args := c.Verb(); c.Name == "git" && !c.Inner && v == verb {
			return args, true
		}
	}
	return nil, false
}

// amends reports whether the last commit of a line replaces the commit before it.
func amends(l *shell.Line) bool {
	args, _ := gitVerb(l, "commit")
	return slices.Contains(args, "--amend")
}

// hasReset reports whether a line sets the working tree or its branch back.
func hasReset(l *shell.Line) bool {
	args, found := gitVerb(l, "reset")
	return found && (slices.Contains(args, "--hard") || revision(args) != "")
}

// revision returns the argument of git reset that names an earlier commit, or "".
func revision(args []string) string {
	for _, a := range args {
		if strings.HasPrefix(a, "HEAD~") || strings.HasPrefix(a, "HEAD^") || outcome.IsHash(a) || strings.HasPrefix(a, "origin/") {
			return a
		}
	}
	return ""
}

// reset records what git reset did to a working tree: commits that are no longer on the branch, and
// changes that are undone or that no commit has any more.
func (t *tracker) reset(p *Place, l *shell.Line) {
	args, _ := gitVerb(l, "reset")
	if to := revision(args); to != "" {
		last := len(p.Before) - 1
		if (to == "HEAD~1" || to == "HEAD~" || to == "HEAD^") && last >= 0 {
			p.Commit, p.Before = p.Before[last], p.Before[:last]
		} else {
			p.Commit, p.Before = "", nil
		}
		p.Pushed = false
		t.loose, t.held = slices.Clone(t.files), nil
	}
	if slices.Contains(args, "--hard") && !path.IsAbs(p.Dir) {
		t.forget(".")
	}
}

// stage records the paths that the git commands of a line choose for the next commit.
func (t *tracker) stage(l *shell.Line) {
	for i := range l.Commands {
		c := &l.Commands[i]
		verb, args := c.Verb()
		if c.Name != "git" || c.Inner {
			continue
		}
		var paths []string
		switch at := slices.Index(args, "--"); {
		case verb == "add" || verb == "stage":
			if paths = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") }); len(paths) == 0 {
				paths = []string{"."}
			}
		case verb == "commit" && at >= 0:
			paths = args[at+1:]
		case verb == "commit" && slices.ContainsFunc(args, allChanges):
			paths = []string{"."}
		}
		for _, p := range paths {
			switch {
			case strings.ContainsAny(p, "$`:"): // only the shell or git knows
				p = "."
			case !path.IsAbs(p):
				p = path.Join(c.Dir, p)
			}
			t.staged = append(t.staged, t.short(p))
		}
	}
}

// allChanges reports whether an option of git commit is -a, perhaps among others: -am.
func allChanges(option string) bool {
	letters, ok := strings.CutPrefix(option, "-")
	return option == "--all" || ok && !strings.HasPrefix(letters, "-") && strings.Contains(letters, "a")
}

// committed takes the files of a commit in a working tree off the list of those that no commit has:
// the ones that git was told to commit or, if no line told it, all. Files for temporary use leave it,
// too: nobody will commit them.
func (t *tracker) committed(dir string) {
	outside := path.IsAbs(dir) || strings.HasPrefix(dir, "..")
	t.loose = slices.DeleteFunc(t.loose, func(f string) bool {
		switch {
		case !outside && shell.IsTemporary(f):
			return true
		case outside && !covers(dir, f), !outside && t.root != "" && !covers(".", f):
			return false
		}
		told := slices.ContainsFunc(t.staged, func(s string) bool { return s == "." || covers(s, f) })
		if told {
			t.held = append(t.held, f)
		}
		return told || len(t.staged) == 0
	})
	t.staged = nil
}

// isShort reports whether an option of git status makes its output short.
func isShort(option string) bool { return option == "--short" || strings.HasPrefix(option, "-s") }

// statusOf returns the two letters and the file of a line that a short git status prints. For any
// other line they are "".
func statusOf(line string) (state, file string) {
	line = strings.TrimRight(line, "\r\n")
	if len(line) < 4 || line[2] != ' ' || strings.Trim(line[:2], " MADRCU?!") != "" || line[:2] == "  " {
		return "", ""
	}
	return line[:2], line[3:]
}

// clean reports whether a command line ends with a short git status that lists nothing. A commit
// before it was made then, unless git said that there is nothing to commit.
func clean(l *shell.Line, output string) bool {
	if len(l.Commands) == 0 || strings.Contains(output, "nothing to commit") {
		return false
	}
	c := &l.Commands[len(l.Commands)-1]
	verb, args := c.Verb()
	if c.Name != "git" || c.Inner || verb != "status" || !slices.ContainsFunc(args, isShort) {
		return false
	}
	for line := range strings.Lines(output) {
		if state, _ := statusOf(line); state != "" {
			return false
		}
	}
	return true
}

// uncommitted records that no commit has the files which a short git status of the line lists as
// changed.
func (t *tracker) uncommitted(l *shell.Line, output string) {
	for i := range slices.Backward(l.Commands) {
		c := &l.Commands[i]
		verb, args := c.Verb()
		if c.Name != "git" || c.Inner || verb != "status" {
			continue
		}
		if !slices.ContainsFunc(args, isShort) {
			return
		}
		for line := range strings.Lines(output) {
			state, file := statusOf(line)
			if !slices.Contains([]string{" M", "M ", "MM", "A ", "AM"}, state) || strings.ContainsAny(file, " \"") {
				continue
			}
			name := t.short(path.Join(c.Dir, file))
			if !covers(".", name) || slices.Contains(t.loose, name) {
				continue
			}
			t.loose = append(t.loose, name)
			if !slices.Contains(t.files, name) {
				t.files = append(t.files, name)
			}
		}
		return
	}
}

// whereGit returns the directory of the last git command in l, or "" for the
// directory in which the line begins.
func whereGit(l *shell.Line) string {
	at := l.Dir
	for i := range l.Commands {
		if c := &l.Commands[i]; c.Name == "git" {
			at = c.Dir
		}
	}
	return at
}

// quietCommit returns the last commit that a command line made with git commit,
// if git printed nothing about it. The result has the hash if a later command
// of the line prints it.
func quietCommit(whole string, l *shell.Line, output string) *outcome.Commit {
	subject, counts := "", false
	for i := range l.Commands {
		c := &l.Commands[i]
		verb, args := c.Verb()
		if c.Name == "git" && !c.Inner && verb == "commit" && !slices.Contains(args, "--dry-run") {
			subject = cmp.Or(messageOf(whole, args), subject)
			counts = c.Counts
		}
	}
	subject, _, _ = strings.Cut(subject, "\n")
	hash := hashBeside(subject, output)
	if subject == "" || !counts && hash == "" && !clean(l, output) { // perhaps the commit was not made
		return nil
	}
	return &outcome.Commit{Subject: subject, Hash: hash}
}

// messageOf returns the message of a commit command: from its arguments, or
// from the here-document of the whole command if the arguments refer to that.
func messageOf(whole string, args []string) (message string) {
	for k, a := range args {
		if long, ok := strings.CutPrefix(a, "--message="); ok {
			message = long
		} else if said, ok := shortMessage(a); ok && said != "" {
			return said
		} else if (ok || a == "--message") && k+1 < len(args) {
			return args[k+1]
		} else if _, here, ok := strings.Cut(whole, "<<"); ok && (a == "-F" || strings.HasPrefix(a, "--file")) {
			_, message, _ = strings.Cut(here, "\n")
		}
	}
	return message
}

// shortMessage reports whether an argument of git commit is the option -m, perhaps behind others
// that take no value, and returns the message that is in the same word, if any.
func shortMessage(a string) (said string, ok bool) {
	letters, ok := strings.CutPrefix(a, "-")
	rest := strings.TrimLeft(letters, "aqsvnpeioz")
	said, found := strings.CutPrefix(rest, "m")
	return said, ok && found
}

// hashBeside returns the hash before subject in the output of git log, or
// above it in the output of git show.
func hashBeside(subject, output string) (hash string) {
	shown := "" // the last hash above a message
	for line := range strings.Lines(output) {
		if h, ok := strings.CutPrefix(strings.TrimSpace(line), "commit "); ok && outcome.IsHash(h) {
			shown = h[:7]
		}
		if line == "    "+subject+"\n" && shown != "" {
			hash = shown
		}
		if h, rest, ok := strings.Cut(strings.TrimLeft(line, "*|\\/ "), " "); ok && strings.HasSuffix(strings.TrimSpace(rest), subject) && outcome.IsHash(h) {
			return h
		}
	}
	return hash
}

// mergeCommit returns the merge commit that a command line made, with the
// hash if the output has it. A merge that changed nothing or was not finished
// has none.
func mergeCommit(l *shell.Line, output string) *outcome.Commit {
	commit := (*outcome.Commit)(nil)
	for i := range l.Commands {
		c := &l.Commands[i]
		verb, args := c.Verb()
		if c.Name != "git" || c.Inner || verb != "merge" || slices.Contains(args, "--abort") || slices.Contains(args, "--squash") || slices.Contains(args, "--no-commit") {
			continue
		}
		commit = &outcome.Commit{Subject: "Merge"}
		for k, a := range args {
			if a == "-m" && k+1 < len(args) {
				commit.Subject, _, _ = strings.Cut(args[k+1], "\n")
			}
		}
	}
	if commit == nil || strings.Contains(output, "CONFLICT (") || strings.Contains(output, "Already up to date") {
		return nil
	}
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(strings.TrimLeft(line, "*|\\/ "))
		if _, to, ok := strings.Cut(line, ".."); ok && strings.HasPrefix(line, "Updating ") && outcome.IsHash(to) {
			return &outcome.Commit{Hash: to, Subject: "(merged by fast-forward)"}
		}
		if hash, subject, ok := strings.Cut(line, " "); ok && outcome.IsHash(hash) && strings.HasPrefix(subject, commit.Subject) {
			return &outcome.Commit{Hash: hash, Subject: subject}
		}
	}
	return commit
}

// String returns one line about the state of the working tree.
func (p *Place) String() string {
	line := "git"
	if p.Dir != "" {
		line += " in " + p.Dir
	}
	line += ":"
	if p.Branch != "" {
		line += " branch " + p.Branch + ","
	}
	switch {
	case p.Commit != "" && p.Pushed:
		return line + " last commit " + p.Commit + ", pushed"
	case p.Commit != "":
		return line + " last commit " + p.Commit + ", not pushed"
	case p.Pushed:
		return line + " pushed"
	}
	return line + " no commit here"
}
