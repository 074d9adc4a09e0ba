package cli

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// A command that reads creates no store; only commands that add data, store the manifest of a
// context, or serve do.
func TestReadingMakesNoStore(t *testing.T) {
	makes := map[string]bool{
		"import": true, "put": true, "commit": true, "store": true, "stash": true, "handoff": true, "demo": true,
		"assemble": true, "contract init": true, "credential create": true,
	}
	names := strings.NewReplacer("{", "", "}", "")
	ran := 0
	for _, args := range performance() {
		if strings.HasPrefix(args[0], "=") || args[0] == "?" || makes[args[0]] || makes[strings.Join(args[:min(len(args), 2)], " ")] {
			continue
		}
		env, _, _ := clitest.Env(t)
		for i := range args {
			args[i] = names.Replace(args[i])
		}
		Main(t.Context(), env, args)
		ran++
		err := filepath.WalkDir(env.Dir, func(path string, d fs.DirEntry, err error) error {
			if strings.HasSuffix(path, ".db") {
				t.Errorf("carrel %q makes %s", args, filepath.Base(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if ran < 100 {
		t.Errorf("%d commands ran", ran)
	}
}
