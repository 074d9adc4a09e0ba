package arch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What a program takes that only uses the client. Both only get smaller.
const (
	mostClientPackages = 35         // of this module, with the client itself
	mostClientBytes    = 10_000_000 // of the program, with what debuggers need; 7 million without
)

// A program that only uses the client carries little of this module.
func TestAProgramWithTheClientIsSmall(t *testing.T) {
	module := strings.TrimSpace(string(goList(t, "-m")))
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(`package main

import (
	"context"
	"fmt"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/client"
)

func main() {
	c, err := client.New("http://127.0.0.1:1", nil)
	if err != nil {
		panic(err)
	}
	fmt.Println(c.Sessions(context.Background(), "local/default", &api.SessionsRequest{}))
}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	var ours []string
	for p := range strings.FieldsSeq(string(goList(t, "-deps", module+"/client"))) {
		if p == module || strings.HasPrefix(p, module+"/") {
			ours = append(ours, p)
		}
	}
	if len(ours) == 0 || len(ours) > mostClientPackages {
		t.Errorf("the client links %d packages of this module, more than %d: %q", len(ours), mostClientPackages, ours)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, source)
	build.Dir, build.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	fi, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if fi.Size() > mostClientBytes {
		t.Errorf("a program with the client has %d bytes, more than %d", fi.Size(), mostClientBytes)
	}
}
