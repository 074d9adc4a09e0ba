package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// deployed returns a file of the directory deploy.
func deployed(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// prints runs a command, which must succeed, and returns its output.
func prints(t *testing.T, args ...string) string {
	t.Helper()
	env, stdout, stderr := clitest.Env(t)
	if got := Main(t.Context(), env, args); got != 0 {
		t.Errorf("carrel %s: status %d: %s", strings.Join(args, " "), got, stderr)
	}
	return stdout.String()
}

var (
	execStart = regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/carrel (.*)$`)
	arguments = regexp.MustCompile(`(?m)^(?:CMD|  command:) (\[.*\])$`)
	shown     = regexp.MustCompile(`(?m)^# .*\bcarrel (credential .*)$`)
	variables = regexp.MustCompile(`\bCARREL_[A-Z_]+`)
)

// Commands, flags and variables that the files of deploy name are there.
func TestDeployedCommands(t *testing.T) {
	known := prints(t, "help", "config") + prints(t, "help", "env")
	for _, name := range []string{"carrel.service", "Containerfile", "compose.yaml"} {
		t.Run(name, func(t *testing.T) {
			text := deployed(t, name)
			var commands [][]string
			for _, m := range slices.Concat(execStart.FindAllStringSubmatch(text, -1), shown.FindAllStringSubmatch(text, -1)) {
				commands = append(commands, strings.Fields(m[1]))
			}
			for _, m := range arguments.FindAllStringSubmatch(text, -1) {
				var args []string
				if err := json.Unmarshal([]byte(m[1]), &args); err != nil {
					t.Errorf("%s: %v", m[1], err)
				}
				commands = append(commands, args)
			}
			serves := false
			for _, args := range commands {
				serves = serves || args[0] == "serve"
				prints(t, append(args, "--help")...) // which refuses flags that there are not
			}
			if !serves {
				t.Errorf("none of the commands %q serves", commands)
			}
			for _, variable := range variables.FindAllString(text, -1) {
				if variable != "CARREL_DATABASE_PASSWORD" && !regexp.MustCompile(variable+`\b`).MatchString(known) {
					t.Errorf("no setting has the variable %s", variable)
				}
			}
		})
	}
}

// systemd accepts the unit, where systemd-analyze is installed.
func TestDeployedUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil && os.Getenv("CARREL_CI") != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip("systemd-analyze is not on this machine")
	}
	path := filepath.Join(t.TempDir(), "carrel.service")
	unit := execStart.ReplaceAllString(deployed(t, "carrel.service"), "ExecStart=/bin/true $1") // a program that is there
	if err := os.WriteFile(path, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), analyze, "verify", path).CombinedOutput(); err != nil || strings.Contains(string(said), path) {
		t.Errorf("systemd-analyze verify: %v: %s", err, said)
	}
}
