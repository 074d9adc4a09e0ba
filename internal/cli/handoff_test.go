package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// The strict packet of every conversation, whole or compressed, is valid by the published schema.
// The full packet is not: the schema has no file name.
func TestStrictPacketsConform(t *testing.T) {
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	text, err := os.ReadFile("../../handoff/testdata/published.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("test:schema", doc); err != nil {
		t.Fatal(err)
	}
	published, err := c.Compile("test:schema")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/conversations/*")
	if err != nil || len(files) < 5 {
		t.Fatalf("conversations are %q, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			file, err := filepath.Abs(file)
			if err != nil {
				t.Fatal(err)
			}
			env, stdout, stderr := clitest.Env(t)
			packet := func(args ...string) (any, map[string]any) {
				t.Helper()
				stdout.Reset()
				if code := Main(t.Context(), env, append([]string{"handoff", "--json"}, args...)); code != 0 {
					t.Fatalf("carrel handoff %q: status %d: %s", args, code, stderr)
				}
				doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(stdout.Bytes()))
				if err != nil {
					t.Fatal(err)
				}
				var keys map[string]any
				if err := json.Unmarshal(stdout.Bytes(), &keys); err != nil {
					t.Fatal(err)
				}
				return doc, keys
			}
			for _, args := range [][]string{{"import", file}, {"compress", "--target", "60%"}} {
				if code := Main(t.Context(), env, args); code != 0 && args[0] == "import" {
					t.Fatalf("carrel %q: status %d: %s", args, code, stderr)
				}
				whole, all := packet()
				if published.Validate(whole) == nil {
					t.Error("the published schema takes a packet with a file name: what it takes says nothing")
				}
				strict, rest := packet("--strict")
				if err := published.Validate(strict); err != nil {
					t.Errorf("after %s: %v\n%s", args[0], err, stdout)
				}
				for _, key := range []string{"filename", "receipts_permalink", "artifacts"} {
					delete(all, key)
				}
				if diff := cmp.Diff(all, rest); diff != "" {
					t.Errorf("after %s (-whole +strict):\n%s", args[0], diff)
				}
				if len(rest) != 18 {
					t.Errorf("%d keys", len(rest))
				}
			}
		})
	}
}
