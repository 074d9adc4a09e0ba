package account

import (
	"slices"
	"strings"
	"testing"
)

// A reset takes back the newest commit if it says so, and all that are known if it may be more.
func TestReset(t *testing.T) {
	told(t, "an earlier commit", func(a string) bool { return revision([]string{"--soft", a}) == a }, []string{"HEAD~1", "HEAD~", "HEAD^", "HEAD^^", "1a2b3c4", "origin/main"}, []string{"HEAD", "one.go", "--hard", "origin"})
	for _, tt := range []struct {
		line, dir            string
		before               []string
		commit, left, listed string // last commit, those before it, and the changed files
	}{
		{"git reset HEAD~1", "", []string{"one", "two"}, "two", "one", "a.go ../b.go"},
		{"git reset HEAD~", "", []string{"one", "two"}, "two", "one", "a.go ../b.go"},
		{"git reset --soft HEAD^", "", []string{"one"}, "one", "", "a.go ../b.go"},
		{"git reset HEAD~2", "", []string{"one", "two"}, "", "", "a.go ../b.go"},
		{"git reset HEAD~1", "", nil, "", "", "a.go ../b.go"},
		{"git reset --hard HEAD~1", "", []string{"one"}, "one", "", "../b.go"},
		{"git reset --hard", "", []string{"one"}, "three", "one", "../b.go"},
		{"git reset --hard", "/srv/old", []string{"one"}, "three", "one", "a.go ../b.go"},
	} {
		files := []string{"a.go", "../b.go"}
		tr := &tracker{reader: &reader{}, files: files}
		p := &Place{Dir: tt.dir, Commit: "three", Before: slices.Clone(tt.before), Pushed: true}
		tr.reset(p, parse(t, tt.line))
		if left, listed := strings.Join(p.Before, " "), strings.Join(tr.files, " "); p.Commit != tt.commit || left != tt.left || listed != tt.listed || p.Pushed != (tt.commit == "three") {
			t.Errorf("%s in %q: %+v and the files %s, want the commit %q behind %q, and %s", tt.line, tt.dir, p, listed, tt.commit, tt.left, tt.listed)
		}
	}
}

// A commit has the paths that lines chose for it, and the project's folder where only the shell knows which.
func TestStage(t *testing.T) {
	for line, want := range map[string]string{
		"git add one.go b/two.go": "one.go b/two.go", "git stage one.go": "one.go", "git add -A": ".", "git add -v one.go": "one.go", "cd b && git add .": "b", "git add /w/one.go /srv/x": "one.go /srv/x",
		"git add $FILES": ".", "git add :/one.go": ".", "git add `ls`": ".", "git commit -- one.go": "one.go", "git commit -m x -- one.go two.go": "one.go two.go", "git commit -am x": ".", "git commit -m x": "",
		"git rm one.go": "", "echo $(git add one.go)": "", "make add one.go": "",
	} {
		tr := &tracker{reader: &reader{root: "/w/"}}
		tr.stage(parse(t, line))
		if got := strings.Join(tr.staged, " "); got != want {
			t.Errorf("%s chooses %q, want %q", line, got, want)
		}
	}
}

// A commit has changes of its own working tree, and of them those that were chosen.
func TestCommitted(t *testing.T) {
	const files = "a.go b/c.go /tmp/d.go /srv/old/e.go ../new/f.go"
	for _, tt := range []struct{ name, root, dir, staged, want string }{
		{"the project", "/w/", "", "", "/srv/old/e.go ../new/f.go"},
		{"a folder of the project", "/w/", "b", "", "/srv/old/e.go ../new/f.go"},
		{"a project without a known folder", "", "", "", ""},
		{"a tree elsewhere", "/w/", "/srv/old", "", "a.go b/c.go /tmp/d.go ../new/f.go"},
		{"a tree beside the project", "/w/", "../new", "", "a.go b/c.go /tmp/d.go /srv/old/e.go"},
		{"a file", "/w/", "", "a.go", "b/c.go /srv/old/e.go ../new/f.go"},
		{"a folder", "/w/", "", "b", "a.go /srv/old/e.go ../new/f.go"},
		{"all", "/w/", "", ".", "/srv/old/e.go ../new/f.go"},
		{"a file elsewhere", "/w/", "/srv/old", "/srv/old/x.go", files},
	} {
		tr := &tracker{reader: &reader{root: tt.root}, loose: strings.Fields(files), staged: strings.Fields(tt.staged)}
		tr.committed(tt.dir)
		if got := strings.Join(tr.loose, " "); got != tt.want || tr.staged != nil {
			t.Errorf("%s: %q is left, and chosen is %q, want %q", tt.name, got, tr.staged, tt.want)
		}
	}
}

// Only a short status of git at the end of a line says that nothing is left to commit.
func TestClean(t *testing.T) {
	told(t, "a line that ends with a status", func(line string) bool { return clean(parse(t, line), "2 passed\n") },
		[]string{"make; git status -s", "git -C web status --short"}, []string{"git status", "git log -s", "lamp status -s", "git status -s; make", "x=$(git status -s)"})
	told(t, "a status of nothing", func(output string) bool { return clean(parse(t, "git status -s"), output) },
		[]string{"", "2 passed\n"}, []string{" M a.go\n", "nothing to commit, working tree clean\n", "?? a.go"})
}
