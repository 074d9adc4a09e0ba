package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeProgram makes a program of the shell.
func fakeProgram(t *testing.T, script string) string {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("there is no shell")
	}
	path := filepath.Join(t.TempDir(), "carrel")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestShakeHands(t *testing.T) {
	for _, tt := range []struct {
		name, script, want string // want is empty for an error
	}{
		{
			"a server that waits for more", "read line\ncase $line in *initialize*) echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"serverInfo\":{\"name\":\"carrel\",\"version\":\"0.1\"}}}';; esac\nread rest\n",
			"carrel 0.1",
		},
		{"one that says nothing", "read line\n", ""},
		{"one that says something else", "echo hello\n", ""},
		{"one that refuses", "echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}'\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := shakeHands(t.Context(), fakeProgram(t, tt.script), "mcp")
			if got != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// A project's settings may name any program, so another one is never run.
func TestDoctorRunsNoOtherProgram(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	program := fakeProgram(t, "touch "+ran+"\n")
	c := other(program)
	if c == nil || c.State != stateWarn || !strings.Contains(c.Detail, "was not tried") {
		t.Errorf("check %+v", c)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("it was run")
	}
	if c := other(program + "-gone"); c == nil || c.State != stateFail {
		t.Errorf("what is not there: %+v", c)
	}
}
