package e2e

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// blocks returns the blocks of code of a document in a language, in order.
func blocks(t *testing.T, document, language string) (found []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllSubmatch(data, -1) {
		found = append(found, string(m[1]))
	}
	if len(found) == 0 {
		t.Fatalf("%s has no block of %s", document, language)
	}
	return found
}

// compile compiles a program that imports packages of this module, and returns the name of the
// executable file and the errors of the compiler.
func compile(t *testing.T, source string) (program, output string) {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "main.go"), []byte(source))
	program = filepath.Join(dir, "main")
	build := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-e", "-o", program, filepath.Join(dir, "main.go"))
	build.Dir = root
	out, _ := build.CombinedOutput() // its errors are in the output
	return program, string(out)
}

// The programs of the library's guide compile, make a conversation fit, and find again what
// left; the one with a store goes on when the conversation has grown.
func TestGuideOfTheLibrary(t *testing.T) {
	dir := t.TempDir()
	for i, want := range []struct{ printed, again string }{
		{`\A[\d,]+ → [\d,]+ tokens\n(\[[0-9a-f]{8}\] had \d+ bytes\n)+\z`, ""},
		{`\A[\d,]+ → [\d,]+ tokens; [\d,]+ bytes to send\n\[[0-9a-f]{8}\] is \d+ bytes, as they came\n\z`, `bytes to send\n`},
	} {
		program, output := compile(t, blocks(t, "doc/guide/library.md", "go")[i])
		if output != "" {
			t.Fatal(output)
		}
		write(t, filepath.Join(dir, "conversation.json"), longConversation(20))
		for _, pattern := range []string{want.printed, want.again} {
			cmd := exec.CommandContext(t.Context(), program)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil || !regexp.MustCompile(pattern).Match(out) {
				t.Errorf("program %d: %v\n%s", i, err, out)
			}
			write(t, filepath.Join(dir, "conversation.json"), longConversation(24)) // the conversation grows
		}
	}
}

// longConversation is the body of a request in which a tool printed many results.
func longConversation(results int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"claude-opus-5-5","max_tokens":1000,"messages":[{"role":"user","content":"Run the tests."}`)
	for i := range results {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"call_%d","name":"Bash","input":{"command":"go test ./part%d"}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%d","content":%q}]}`,
			i, i, i, strings.Repeat(fmt.Sprintf("ok part%d\n", i), 200))
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// The lines of Go in documents compile. They use each other's variables and those that stand
// before them here, and a variable that is not used is no error in a document.
func TestLinesOfGoInDocuments(t *testing.T) {
	const before = `func main() {
	var ctx context.Context
	var messages, data, chunk, turn []byte
	var id string
	var scope governance.Scope
	var e *carrel.Engine
	send := func([]byte) {}
	_, _, _, _, _, _, _, _, _ = ctx, messages, data, chunk, turn, id, scope, e, send
`
	for _, document := range []string{"README.md", "doc/guide/library.md"} {
		t.Run(filepath.Base(document), func(t *testing.T) {
			lines := slices.DeleteFunc(blocks(t, document, "go"), func(block string) bool { return strings.HasPrefix(block, "package ") })
			body := before + strings.Join(lines, "") + "}\n"
			source := "package main\n\nimport (\n\t\"context\"\n"
			if strings.Contains(body, "json.") {
				source += "\t\"encoding/json\"\n"
			}
			for name, path := range map[string]string{"carrel": "", "governance": "/governance", "provenance": "/provenance", "sqlite": "/store/sqlite"} {
				if strings.Contains(body, name+".") {
					source += fmt.Sprintf("\t%q\n", "github.com/carrel-dev/carrel"+path)
				}
			}
			_, output := compile(t, source+")\n\n"+body)
			for line := range strings.Lines(output) {
				if !strings.HasPrefix(line, "#") && !strings.Contains(line, "declared and not used: ") {
					t.Error(line)
				}
			}
		})
	}
}

// The calls of curl in the guide of the service do what it says: a session is imported and
// listed, and a context is assembled, verified and made again.
func TestGuideOfTheService(t *testing.T) {
	for _, name := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			if os.Getenv("CARREL_CI") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
	s := newServer(t)
	at, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "conversation.json"), longConversation(2))
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(carrelProgram, filepath.Join(bin, "carrel")); err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	sh := blocks(t, "doc/guide/service.md", "sh")
	sh = slices.DeleteFunc(sh, func(block string) bool { return strings.Contains(block, "tok_") }) // ids that only the reader has
	calls := strings.Join(sh[:2], "") + "ID=$(cat assembled)\nID=${ID#*'\"manifest\":\"'}\nID=${ID%%'\"'*}\n" + sh[2]
	for _, change := range []struct{ text, with string }{
		{"carrel serve &\n", ""}, // it serves already
		{"127.0.0.1:7717", at.Host},
		{"/v1/assemble\n", "/v1/assemble | tee assembled\n"},
		{"m_6ba205c012346e93", "$ID"}, // an example of an id
	} {
		if !strings.Contains(calls, change.text) {
			t.Fatalf("the guide has no %q", change.text)
		}
		calls = strings.ReplaceAll(calls, change.text, change.with)
	}
	out := string(s.run(dir, "bash", "-euo", "pipefail", "-c", "curl() { command curl --silent --show-error --fail-with-body \"$@\"; }\n"+calls))
	for _, want := range []string{`"title":"Run the tests."`, `"used":[`, `"output":true`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in\n%s", want, out)
		}
	}
}
