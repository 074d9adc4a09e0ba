package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Variables that name the program that generates a client from an OpenAPI document,
// oapi-codegen, and the one that says whether such a document is valid, validate-api
// of openapi-schema-validator.
const (
	generatorProgram = "CARREL_TEST_OAPI_CODEGEN"
	validatorProgram = "CARREL_TEST_OPENAPI_VALIDATOR"
)

// generatedModule is the module of the client. It asks for the newest of what the
// generator's code needs that the generator is known to work with.
const generatedModule = `module generated

go 1.26

require github.com/oapi-codegen/runtime v1.8.0
`

// A client that others generate from the server's document compiles, and speaks with
// the server.
func TestAGeneratedClientMakesARoundTrip(t *testing.T) {
	generator := program(t, generatorProgram)
	s := newServer(t)
	dir := t.TempDir()
	document := filepath.Join(dir, "openapi.json")
	write(t, document, s.document())
	write(t, filepath.Join(dir, "go.mod"), []byte(generatedModule))
	main, err := os.ReadFile(filepath.Join("testdata", "generated", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "main.go"), main)
	s.run(dir, generator, "-generate", "types,client", "-package", "main", "-o", filepath.Join(dir, "client.go"), document)
	s.run(dir, "go", "mod", "tidy")
	s.run(dir, "go", "vet", ".")
	s.run(dir, "go", "run", ".", s.url, s.credential)
}

// The document is what it says: OpenAPI 3.1, by the schema of OpenAPI itself.
func TestTheDocumentIsValid(t *testing.T) {
	validator := program(t, validatorProgram)
	s := newServer(t)
	document := filepath.Join(t.TempDir(), "openapi.json")
	write(t, document, s.document())
	var verdict struct{ Valid bool }
	out := s.run("", validator, document)
	if err := json.Unmarshal(out, &verdict); err != nil || !verdict.Valid {
		t.Errorf("%v\n%s", err, out)
	}
}

// program returns the program that a variable names. It skips the test where none does.
func program(t *testing.T, variable string) string {
	t.Helper()
	p := os.Getenv(variable)
	if p == "" {
		t.Skipf("%s is not set: nothing to test with", variable)
	}
	return p
}

// A server is a carrel that serves while a test runs, and a credential for it.
type server struct {
	t               *testing.T
	url, credential string
	env             []string
}

// newServer starts a server over a store of its own, with more arguments.
func newServer(t *testing.T, args ...string) *server {
	t.Helper()
	return newServerOver(t, t.TempDir(), []string{"acme/web"}, args...)
}

// newServerOver starts a server over the store in a folder. The credential is for scopes.
func newServerOver(t *testing.T, dir string, scopes []string, args ...string) *server {
	t.Helper()
	buildCarrel(t)
	s := &server{t: t, env: append(
		os.Environ(),
		"CARREL_STORE="+filepath.Join(dir, "carrel.db"), "XDG_STATE_HOME="+dir, "XDG_RUNTIME_DIR="+dir, "XDG_CONFIG_HOME="+dir,
	)}
	cmd := exec.CommandContext(t.Context(), carrelProgram, append([]string{"serve", "--listen", "127.0.0.1:0", "--json"}, args...)...)
	cmd.Env, cmd.Stderr = s.env, t.Output()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() }) // interrupted, since the test's context ends before
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the server says %q: %v", line, err)
	}
	var record struct{ URL string }
	if err := json.Unmarshal(line, &record); err != nil {
		t.Fatal(err)
	}
	var minted struct{ Credential string }
	create := []string{"credential", "create", "--actor", "generated", "--allow", "read,write,review", "--json"}
	for _, scope := range scopes {
		create = append(create, "--for", scope)
	}
	if err := json.Unmarshal(s.run("", carrelProgram, create...), &minted); err != nil {
		t.Fatal(err)
	}
	s.url, s.credential = record.URL, minted.Credential
	return s
}

// document returns what the server says of itself.
func (s *server) document() []byte {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/v1/openapi.json", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.credential)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		s.t.Fatalf("%s, %v: %s", res.Status, err, data)
	}
	return data
}

// run runs a program in a directory and returns its output. The test fails if it does.
func (s *server) run(dir, name string, args ...string) []byte {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, s.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s %s: %v\n%s\n%s", filepath.Base(name), strings.Join(args, " "), err, out, stderr.String())
	}
	return out
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
