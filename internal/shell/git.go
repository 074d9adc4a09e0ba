package shell

import (
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// gitLooks are the commands of git that only look, and gitKeeps those that change
// something and no file that one works on.
const (
	gitLooks = `status log diff show blame annotate grep ls-files ls-tree ls-remote rev-parse rev-list describe shortlog cat-file merge-base
		name-rev whatchanged check-ignore check-attr count-objects for-each-ref var version help diff-tree diff-index diff-files cherry
		range-diff show-ref symbolic-ref fsck verify-commit verify-tag branch tag remote config worktree reflog stash notes bundle`
	gitKeeps = "add commit push fetch gc prune init update-ref update-index write-tree commit-tree hash-object pack-refs maintenance"
)

// git notes what git does to files.
func (w *walker) git(c *Command) {
	here := w.here
	defer func() { w.here = here }()
	verb := ""
	args := *c
	for i := 0; i < len(c.Args); i++ {
		switch a := c.Args[i]; {
		case a == "-C":
			if i++; i < len(c.Args) {
				w.here.enter(c.Args[i], c.known[i])
			}
		case text.HasWord(gitValued, a):
			i++
		case !strings.HasPrefix(a, "-"):
			if c.known[i] {
				verb = a
			} else {
				c.Unknown = true // whatever it is told to do
			}
			args.Args, args.known = c.Args[i+1:], c.known[i+1:]
			i = len(c.Args)
		}
	}
	s := args.sort(gitVerbValued(verb), false)
	paths := s.operands
	switch verb {
	case "mv":
		args.Effects = nil
		args.Name = "mv"
		w.transfer(&args, Rename)
		c.Effects = append(c.Effects, args.Effects...)
	case "rm":
		if !s.given("--cached -n --dry-run") {
			w.each(c, Delete, paths)
		}
	case "restore":
		if !s.given("--staged -S") || s.given("--worktree -W") {
			w.each(c, Edit, paths)
		}
	case "checkout":
		at := -1
		for i, a := range args.Args {
			if a == "--" && at < 0 {
				at = i
			}
		}
		if at < 0 {
			c.Unknown = !s.given("-b -B --orphan") || len(paths) > 0 // another state of all files, or the same
			return
		}
		for i := at + 1; i < len(args.Args); i++ {
			w.file(c, Edit, args.Args[i], args.known[i])
		}
	case "show":
		for _, p := range paths {
			if _, file, ok := strings.Cut(p.text, ":"); ok && p.known && !strings.Contains(p.text, "://") && file != "" {
				w.file(c, Read, file, true)
			}
		}
	case "blame", "annotate":
		if len(paths) > 0 {
			last := paths[len(paths)-1]
			w.file(c, Read, last.text, last.known)
		}
	case "commit", "tag":
		for _, v := range s.values {
			if v.option == "-F" || v.option == "--file" {
				w.file(c, Read, v.text, v.known)
			}
		}
	case "apply", "am":
		if c.Fed && w.patches(c, c.Input) {
			return
		}
		c.Unknown = !s.given("--check --stat --numstat --summary")
		w.each(c, Read, paths)
	case "stash", "worktree", "reflog", "notes", "bundle":
		c.Unknown = !c.Looks()
	case "diff", "log":
		for _, v := range s.values {
			if v.option == "--output" {
				w.file(c, Write, v.text, v.known)
			}
		}
	default:
		c.Unknown = c.Unknown || verb != "" && !text.HasWord(gitLooks, verb) && !text.HasWord(gitKeeps, verb)
	}
}

// gitValued are the options before the command of git that take the next word.
const gitValued = "-C -c --git-dir --work-tree --namespace --exec-path"

// gitVerbValued returns the options of a command of git that take a word, as far as
// they matter.
func gitVerbValued(verb string) string {
	switch verb {
	case "commit", "tag":
		return "-m -F -C -c --message --file --author --date --reuse-message --trailer -u"
	case "restore", "checkout":
		return "-s --source -b -B --orphan"
	case "blame":
		return "-L -S -C? -M?"
	case "mv", "rm":
		return "--pathspec-from-file"
	case "apply", "am":
		return "-p -C --directory --exclude --include"
	}
	return ""
}

// Verb returns what git is to do, and the words behind it: "show" of git -C web show.
// Of other programs it is the first argument.
func (c *Command) Verb() (verb string, args []string) {
	args = c.Args
	for c.Name == "git" && len(args) > 0 && strings.HasPrefix(args[0], "-") {
		n := 1
		if text.HasWord(gitValued, args[0]) {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	if len(args) == 0 {
		return "", nil
	}
	return args[0], args[1:]
}
