package shell

import (
	"slices"
	"strings"

	"github.com/carrel-dev/carrel/internal/lazy"
	"github.com/carrel-dev/carrel/internal/text"
)

// looks lists the programs that only read or print, unless their words name files
// to change.
var looks = lazy.Words(`find fd fdfind rg ripgrep grep egrep fgrep zgrep ggrep ag ack ls ll la tree exa eza cat bat batcat tac head tail ghead gtail less
	more wc file stat du df which whereis type command pwd date whoami id uname hostname printenv env ps pgrep free uptime lsof netstat
	ss sort gsort uniq cut tr awk gawk mawk nawk sed gsed diff colordiff sdiff cmp comm jq gojq yq column nl od xxd hexdump hd strings md5
	md5sum sha1sum sha224sum sha256sum sha512sum b2sum shasum cksum basename dirname realpath readlink echo printf test [ [[ sleep seq man nproc
	lscpu ldd nm rev paste fold fmt join expand base64 zcat gzcat bzcat xzcat cloc tokei gofmt true false :`)

// Looks reports whether a command only reads or prints, so that its output is its only
// effect. It returns false for commands that change the directory or variables: these are
// [Command.Silent].
func (c *Command) Looks() bool {
	if c.Remote || c.Unknown && c.Name != "git" && c.Name != "gh" {
		return false
	}
	if slices.ContainsFunc(c.Effects, func(e Effect) bool { return e.Act != Read }) {
		return false
	}
	verb, args := c.Verb()
	switch {
	case c.Name == "gh" && verb == "api":
		return !given(args, "-X --method -f -F --field --raw-field --input")
	case c.Name == "gh":
		return len(args) > 0 && text.HasWord("view list status diff checks watch", args[0])
	case c.Name != "git":
		return looks.Get()[c.Name]
	}
	return text.HasWord(gitLooks, verb) && !changesGit(verb, args)
}

// Silent reports whether a command changes only the shell that runs it, as cd and export do, or
// only redirects the output of a group of commands.
func (c *Command) Silent() bool {
	if slices.ContainsFunc(c.Effects, func(e Effect) bool { return e.Act != Read }) {
		return false
	}
	return c.Name == "" && !c.Unknown || text.HasWord("cd pushd popd export set unset source . : true false alias wait local readonly declare typeset read shift break continue return exit trap shopt", c.Name)
}

// Begun returns a line with the commands of l whose effects hold even if l failed and printed a
// text: commands that change files or print, and programs of Python about whose failure nothing is
// printed, before a command of another kind, and commands that delete files behind it, if they ran
// whatever the others did and l does not have their status. The command of another kind ran in
// between, and probably it failed. The line has no commands if all commands of l are of the first
// kind.
func (l *Line) Begun(printed string) *Line {
	begun := *l
	begun.Commands = nil
	for i := range l.Commands {
		c := &l.Commands[i]
		writes := slices.ContainsFunc(c.Effects, func(e Effect) bool { return e.Act != Read })
		if c.Silent() || writes && (!c.Unknown || strings.HasPrefix(c.Name, "python") && !c.raised(printed)) || c.Name == "mkdir" || c.Name == "echo" || c.Name == "printf" {
			continue
		}
		begun.Commands = slices.Clone(l.Commands[:i])
		for _, c := range l.Commands[i:] {
			if c.Name == "rm" && c.Always && !c.Counts {
				begun.Commands = append(begun.Commands, c)
			}
		}
		break
	}
	return &begun
}

// Reads returns the files that a line reads, in its order, if the line only shows these files
// or parts of them: cat a.go | head. Other printed texts (echo ---) do not count. Reads returns
// none if the line has any other effect, reads a file whose name only the shell knows or an old
// version of a file, or does not show the output of its last command.
func (l *Line) Reads() []string {
	var files []string
	for i := range l.Commands {
		c := &l.Commands[i]
		switch {
		case c.Silent() && len(c.Effects) == 0, c.Name == "echo" && c.Looks():
			continue
		case c.Name != "" && !c.Looks(), len(c.Effects) == 0 && !c.Piped, i+1 == len(l.Commands) && !c.Shown && c.Name != "", c.old():
			return nil
		}
		for _, e := range c.Effects {
			if e.Path == "" {
				return nil
			}
			if !slices.Contains(files, e.Path) {
				files = append(files, e.Path)
			}
		}
	}
	return files
}

// old reports whether a command shows files of a commit other than the last one, as git show v1:a.go
// does.
func (c *Command) old() bool {
	verb, args := c.Verb()
	return c.Name == "git" && verb == "show" && slices.ContainsFunc(args, func(a string) bool {
		commit, _, ok := strings.Cut(a, ":")
		return ok && commit != "HEAD" && commit != "" && !strings.HasPrefix(a, "-")
	})
}

// Searches reports whether a line selects from the files that it reads, so that its output is
// not the files themselves: grep, jq, wc.
func (l *Line) Searches() bool {
	return slices.ContainsFunc(l.Commands, func(c Command) bool {
		return !c.Silent() && !text.HasWord("cat tac bat batcat nl head tail less more sed gsed echo git od xxd hexdump", c.Name)
	})
}

// given reports whether the arguments have one of the options, also with a value joined to it.
func given(args []string, options string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		long := strings.HasPrefix(a, "--")
		name, _, _ := strings.Cut(a, "=")
		return text.HasWord(options, name) || !long && len(a) > 2 && text.HasWord(options, a[:2])
	})
}

// changesGit reports whether a git subcommand that usually only reads changes something with
// these arguments: "git branch -D x", "git tag v1".
func changesGit(verb string, args []string) bool {
	named := slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	switch verb {
	case "branch":
		return given(args, "-d -D -m -M -c -C -u -f --delete --move --copy --force --set-upstream-to --unset-upstream --edit-description") ||
			named && !given(args, "-l --list -a --all -r --remotes --contains --no-contains --merged --no-merged --points-at --show-current")
	case "tag":
		return named && !given(args, "-l --list -n -v --verify --contains --no-contains --merged --no-merged --points-at")
	case "remote":
		return named && args[0] != "show" && args[0] != "get-url"
	case "stash", "notes", "bundle", "bisect":
		return len(args) == 0 || !text.HasWord("list show verify log", args[0])
	case "worktree", "reflog":
		return named && !text.HasWord("list show", args[0])
	case "config":
		plain := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return strings.HasPrefix(a, "-") })
		reads := slices.ContainsFunc(args, func(a string) bool { return text.HasWord("list get --get --get-all --get-regexp --list -l", a) })
		return !reads && (len(plain) > 1 || slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--unset") || strings.HasPrefix(a, "--re") }))
	case "symbolic-ref":
		return len(args) > 1
	}
	return false
}
