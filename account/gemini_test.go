package account_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript/geminicli"
)

// What Gemini CLI recorded is accounted for: what it says to its model is no one's words, and
// what it puts around results is in none.
func TestReadGemini(t *testing.T) {
	data, err := os.ReadFile("../transcript/geminicli/testdata/tools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s, err := geminicli.Format.Decode("tools.jsonl", data)
	if err != nil {
		t.Fatal(err)
	}
	const want = `mend the pool
I look.
$
ls -la; cat a.txt
  total 12
  drwxr-xr-x 2 ann ann 4096 Jan  5 10:00 .
  drwxr-xr-x 4 ann ann 4096 Jan  5 10:00 ..
  -rw-r--r-- 1 ann ann   11 Jan  5 10:00 a.txt
  alpha
  beta
• read_file a.txt
  alpha
  beta
• write_file b.txt
+
hello
world
• replace b.txt
-
world
+
moon
$
exit 3
→ failed
• grep_search hello
  Found 1 match for pattern "hello" in the workspace directory:
  File: b.txt
  L1: hello
  L2- moon
  L3-
• list_directory 
  Directory listing for /srv/pool:
  a.txt (11 bytes)
  b.txt (11 bytes)
• read_file missing.txt
→ failed: File not found: /srv/pool/missing.txt
• glob *.txt
  Found 2 file(s) matching "*.txt" within /srv/pool, sorted by modification time (newest first):
  /srv/pool/b.txt
  /srv/pool/a.txt
All done.`
	if diff := cmp.Diff(want, (&talk{msgs: s.Messages}).written()); diff != "" {
		t.Errorf("account (-want +got):\n%s", diff)
	}
}
