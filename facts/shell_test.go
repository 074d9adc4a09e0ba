package facts

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/shell"
)

func TestSaid(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"changes of the directory go", "cd /srv/app && go test ./...", "go test ./..."},
		{"comments before it go", "# run it\nmake", "make"},
		{"the shell around it goes", `bash -lc "cd x; make all"`, "make all"},
		{"the text of a here-document goes", "cat > a <<'EOF'\nlong\nEOF", "cat > a <<'EOF'"},
		{"a message stays", "git commit -m \"$(cat <<'EOF'\nFix it\nEOF\n)\"", "git commit -m \"$(cat <<'EOF' Fix it EOF )\""},
		{"a change of the directory alone stays", "cd /srv", "cd /srv"},
		{"what is no line of a shell stays", "cd x && echo 'it", "cd x && echo 'it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := readLine(tt.in).summary(); got != tt.want {
				t.Errorf("said of %q = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// Commands such as cd and echo are not active, unless they are the only command.
func TestDoers(t *testing.T) {
	for line, want := range map[string]int{
		"cd a && go test ./...": 1, "go build && go test": 2, "echo a; cd b": 0, "echo a": 1, "go test | tail -3": 1, "go test": 1, "": 0,
		"go build && echo built && go vet && head x": 2,
	} {
		if got := readLine(line).activeCommands(); got != want {
			t.Errorf("%q has %d commands that do something, want %d", line, got, want)
		}
	}
}

func TestChanges(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []change
	}{
		{"behind a wrapper", "sudo -u bob rm f.txt; timeout 60 sed -i s/a/b/ x.go", []change{{"f.txt", StatusDeleted, ""}, {"x.go", StatusModified, "s/a/b/"}}},
		{"in a directory of its own", "(cd x && rm c.txt); touch d.txt", []change{{"x/c.txt", StatusDeleted, ""}, {"d.txt", StatusCreated, ""}}},
		{"in a substitution", "echo $(rm b.txt)", []change{{"b.txt", StatusDeleted, ""}}},
		{
			"all ways to edit in place", "sed -Ei s/a/b/ a; sed -ni 1p b; gsed -i 2d c; perl -wi.bak -pe s/a/b/ d",
			[]change{{"a", StatusModified, "s/a/b/"}, {"b", StatusModified, "1p"}, {"c", StatusModified, "2d"}, {"d", StatusModified, "s/a/b/"}},
		},
		{"moves and copies", "mv a b && git mv c d && cp e f", []change{{"b", statusMoved, "from a"}, {"d", statusMoved, "from c"}, {"f", StatusCreated, "copy of e"}}},
		{"texts", "cat > a.txt <<EOF\nhi\nEOF\necho more >> a.txt", []change{{"a.txt", StatusCreated, "hi"}, {"a.txt", StatusModified, "more (+1 −0 lines)"}}},
		{"a patch in a directory", "cd w && apply_patch <<'P'\n*** Begin Patch\n*** Add File: n.go\n+func b() {}\n*** End Patch\nP", []change{{"w/n.go", StatusCreated, "func b, 1 line"}}},
		{"a patch whose output goes to a file", "apply_patch <<'P' > a.log\n*** Begin Patch\n*** Delete File: n.go\n*** End Patch\nP", []change{{"n.go", StatusDeleted, ""}}},
		{"what programs leave is none", "go build -o app . > build.log 2> err.log", nil},
		{"what only the shell knows is none", "rm $X *.tmp; cd $(mktemp -d) && touch y", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, readLine(tt.in).changes(), cmp.AllowUnexported(change{})); diff != "" {
				t.Errorf("changes of %q (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestReadings(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []shownFile
	}{
		{"cat a.go && head -n 5 b.go", []shownFile{{"a.go", allLines}, {"b.go", extent{1, 5}}}},
		{"cd w && sed -n '10,40p' a.go; cat b.go | head", []shownFile{{"w/a.go", extent{10, 40}}, {"w/b.go", extent{}}}},
		{"grep -A 3 x a.go", []shownFile{{"a.go", extent{}}}},
		{"rg x internal", nil},
		{"cp a.go b.go; cat c.go > d.go", nil},
	} {
		if diff := cmp.Diff(tt.want, readLine(tt.in).readings(), cmp.AllowUnexported(shownFile{}, extent{})); diff != "" {
			t.Errorf("files that %q shows (-want +got):\n%s", tt.in, diff)
		}
	}
}

func TestPatches(t *testing.T) {
	const diff = "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n func a() {}\n-port := 1\n+port := 2\n" +
		"--- /dev/null\n+++ b/new.go\n@@ -0,0 +1 @@\n+func b() {}\n--- a/old.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
	want := []change{{"x.go", StatusModified, "port: 1 → 2"}, {"new.go", StatusCreated, "func b, 1 line"}, {"old.go", StatusDeleted, ""}}
	if d := cmp.Diff(want, fromPatches(shell.Patches(diff)), cmp.AllowUnexported(change{})); d != "" {
		t.Errorf("changes of a unified diff (-want +got):\n%s", d)
	}
}

func FuzzCommandLine(f *testing.F) {
	for _, s := range []string{`a "b $(c) d" 'e' >f 2>&1 <<X` + "\ng\nX\nh", "bash -lc 'x'", "$((", "<<<", "a\\", "sed -i '' s/a/b/ x", "tee -a x <<-E\n\ty\n\tE", "`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		l := readLine(line)
		if got := l.summary(); utf8.RuneCountInString(got) > lineRunes+1 || strings.ContainsAny(got, "\n\t") {
			t.Errorf("%q says %q: more than a line", line, got)
		}
		for _, c := range l.changes() {
			if c.path == "" || c.status == "" {
				t.Errorf("changes of %q have %+v", line, c)
			}
		}
		for _, w := range l.writings() {
			if w.path == "" || w.status == "" {
				t.Errorf("writings of %q have %+v", line, w)
			}
		}
		l.readOnly()
		l.keys()
		l.readings()
		l.activeCommands()
		l.normalized()
	})
}

func FuzzPatches(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch")
	f.Add("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range fromPatches(shell.Patches(text)) {
			if c.path == "" || c.status == "" {
				t.Errorf("patches(%q) has %+v", text, c)
			}
		}
	})
}
