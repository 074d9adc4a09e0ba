package shell

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/text"
)

// gitLooks lists the git commands that only read. gitKeeps lists those that change the
// repository but no file of the working tree.
const (
	gitLooks = `status log diff show blame annotate grep ls-files ls-tree ls-remote rev-parse rev-list describe shortlog cat-file merge-base
		name-rev whatchanged check-ignore check-attr count-objects for-each-ref var version help diff-tree diff-index diff-files cherry
		range-diff show-ref symbolic-ref fsck verify-commit verify-tag branch tag remote config worktree reflog stash notes bundle bisect`
	gitKeeps = "add commit push fetch gc prune init update-ref update-index write-tree commit-tree hash-object pack-refs maintenance"
)

// git records the effects of a git command on files, and goes to the directory in which it runs.
func (w *walker) git(c *Command) {
	args := *c
	verb := w.gitVerb(&args)
	c.Unknown = args.Unknown
	s := args.sort(gitVerbValued(verb), false)
	switch verb {
	case "mv":
		args.Effects = nil
		args.Name = "mv"
		w.transfer(&args, Rename)
		c.Effects = append(c.Effects, args.Effects...)
	case "rm":
		if !s.given("--cached -n --dry-run") {
			w.each(c, Delete, s.operands)
		}
	case "restore":
		if !s.given("--staged -S") || s.given("--worktree -W") {
			w.each(c, Edit, s.operands)
		}
	case "checkout":
		w.checkout(c, &args, &s)
	case "show":
		for _, p := range s.operands {
			if _, file, ok := strings.Cut(p.text, ":"); ok && p.known && !strings.Contains(p.text, "://") {
				w.file(c, Read, file, true)
			}
		}
	case "blame", "annotate":
		w.each(c, Read, s.operands[max(0, len(s.operands)-1):])
	case "commit", "tag":
		w.valuesOf(c, Read, "-F --file", &s)
	case "apply", "am":
		if !c.Fed || !w.patches(c, c.Input) {
			c.Unknown = !s.given("--check --stat --numstat --summary")
			w.each(c, Read, s.operands)
		}
	case "stash", "worktree", "reflog", "notes", "bundle", "bisect":
		c.Unknown = !c.Looks()
	case "diff", "log":
		w.valuesOf(c, Write, "--output", &s)
	default:
		c.Unknown = c.Unknown || verb != "" && !text.HasWord(gitLooks, verb) && !text.HasWord(gitKeeps, verb)
	}
}

// gitVerb returns the subcommand of git and leaves the words after it in c. It applies -C to
// the directory. A subcommand that only the shell can expand makes c Unknown.
func (w *walker) gitVerb(c *Command) string {
	for i := 0; i < len(c.Args); i++ {
		a, known := c.Args[i], c.known[i]
		switch {
		case a == "-C":
			if i++; i < len(c.Args) {
				w.here.enter(c.Args[i], c.known[i])
			}
		case text.HasWord(gitValued, a):
			i++
		case !strings.HasPrefix(a, "-"):
			c.Args, c.known = c.Args[i+1:], c.known[i+1:]
			if known {
				return a
			}
			c.Unknown = true // its subcommand is not known
			return ""
		}
	}
	return ""
}

// checkout records the files that a checkout changes: those after --, or unknown files if it
// checks out another state.
func (w *walker) checkout(c, args *Command, s *sorted) {
	at := slices.Index(args.Args, "--")
	if at < 0 {
		c.Unknown = !s.given("-b -B --orphan") || len(s.operands) > 0 // it checks out another state of all files, or perhaps the same
		return
	}
	for i := at + 1; i < len(args.Args); i++ {
		w.file(c, Edit, args.Args[i], args.known[i])
	}
}

// valuesOf records act for each file that is the value of one of the given options.
func (w *walker) valuesOf(c *Command, act Act, options string, s *sorted) {
	for _, v := range s.values {
		if text.HasWord(options, v.option) {
			w.file(c, act, v.text, v.known)
		}
	}
}

// gitValued lists the options before git's subcommand that take the next word as value.
const gitValued = "-C -c --git-dir --work-tree --namespace --exec-path"

// gitVerbValued returns the options of a git subcommand that take a value, as far as this
// package needs them.
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

// Verb returns the subcommand of git and the words after it: "show" for git -C web show.
// For other programs the verb is the first argument.
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
