package facts

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string // words, joined by |
	}{
		{"commands end at ; & | and line feeds", "a b; c && d || e | f\ng &", []string{"a|b", "c", "d", "e", "f", "g"}},
		{"quotes hold words together", `echo "a  b" 'c;d' e\ f`, []string{"echo|a  b|c;d|e f"}},
		{"substitutions stand as they are", `git commit -m "$(cat x; echo y)" $(pwd)`, []string{"git|commit|-m|$(cat x; echo y)|$(pwd)"}},
		{"redirections are no words", "make 2>&1 >out.log 2>/dev/null <in", []string{"make"}},
		{"comments are nothing", "# first\nls # last", []string{"ls"}},
		{"the text of a here-document is no command", "cat <<EOF > a\nrm b\nEOF\nls", []string{"cat", "ls"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range parse(tt.in) {
				got = append(got, strings.Join(s.words, "|"))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("parse(%q) (-want +got):\n%s", tt.in, diff)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"changes of the directory go", "cd /srv/app && go test ./...", "go test ./..."},
		{"comments before it go", "# run it\nmake", "make"},
		{"the shell around it goes", `bash -lc "cd x; make all"`, "make all"},
		{"a shell given as a list of words has no quotes", "bash -lc cd x && make all", "make all"},
		{"the text of a here-document goes", "cat > a <<'EOF'\nlong\nEOF", "cat > a <<'EOF'"},
		{"a message stays", "git commit -m \"$(cat <<'EOF'\nFix it\nEOF\n)\"", "git commit -m \"$(cat <<'EOF' Fix it EOF )\""},
		{"a change of the directory alone stays", "cd /srv", "cd /srv"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := command(tt.in); got != tt.want {
				t.Errorf("command(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestPatches(t *testing.T) {
	const diff = "diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1,2 +1,2 @@\n func a() {}\n-port := 1\n+port := 2\n" +
		"--- /dev/null\n+++ b/new.go\n@@ -0,0 +1 @@\n+func b() {}\n--- a/old.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
	want := []change{{"x.go", StatusModified, "port: 1 → 2"}, {"new.go", StatusCreated, "func b, 1 line"}, {"old.go", StatusDeleted, ""}}
	if d := cmp.Diff(want, fromPatches(patches(diff)), cmp.AllowUnexported(change{})); d != "" {
		t.Errorf("changes of a unified diff (-want +got):\n%s", d)
	}
	if got := patches("no diff at all\n--- a line\n"); got != nil {
		t.Errorf("patches of prose = %+v, want none", got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`a "b $(c) d" 'e' >f 2>&1 <<X` + "\ng\nX\nh", "bash -lc 'x'", "$((", "<<<", "a\\", "sed -i '' s/a/b/ x", "tee -a x <<-E\n\ty\n\tE", "`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(parse(line)) > len(line)+1 {
			t.Errorf("parse(%q) has more commands than bytes", line)
		}
		if got := command(line); utf8.RuneCountInString(got) > lineRunes+1 || strings.ContainsAny(got, "\n\t") {
			t.Errorf("command(%q) = %q: more than a line", line, got)
		}
		for _, c := range shellChanges(parse(script(line))) {
			if c.path == "" || c.status == "" {
				t.Errorf("shellChanges(%q) has %+v", line, c)
			}
		}
		shows(parse(script(line)))
		commandKeys(parse(script(line)))
	})
}

func FuzzPatches(f *testing.F) {
	f.Add("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch")
	f.Add("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range fromPatches(patches(text)) {
			if c.path == "" || c.status == "" {
				t.Errorf("patches(%q) has %+v", text, c)
			}
		}
	})
}
