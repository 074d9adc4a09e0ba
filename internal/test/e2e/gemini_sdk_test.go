package e2e

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/fakesession"
	"github.com/carrel-dev/carrel/internal/test/upstream"
	"github.com/carrel-dev/carrel/transcript"
)

// genaiPackage is the variable that names the folder of the package @google/genai: the vendor's
// own library, which sends of a request what its types know.
const genaiPackage = "CARREL_TEST_GENAI"

// sendByGenAI is a program that sends the body in a file by the vendor's library.
const sendByGenAI = `
import fs from 'node:fs';
const { GoogleGenAI } = await import(process.argv[2] + '/dist/node/index.mjs');
const body = JSON.parse(fs.readFileSync(process.argv[4]));
const ai = new GoogleGenAI({ apiKey: 'dummy', httpOptions: { baseUrl: process.argv[3] } });
await ai.models.generateContent({ model: 'gemini-2.5-pro', contents: body.contents, config: { systemInstruction: body.systemInstruction } });
`

// The vendor's library sends what Carrel writes as it is: it has no field that the types of the
// library do not know.
func TestGenAISendsWhatIsWritten(t *testing.T) {
	dir := os.Getenv(genaiPackage)
	if dir == "" {
		t.Skipf("%s is not set: no library of the vendor to test with", genaiPackage)
	}
	fake := upstream.New(&upstream.Options{Key: []byte("e2e")})
	server := httptest.NewServer(fake)
	defer server.Close()
	work := t.TempDir()
	program := filepath.Join(work, "send.mjs")
	if err := os.WriteFile(program, []byte(sendByGenAI), 0o600); err != nil {
		t.Fatal(err)
	}
	to, err := carrel.FormatNamed("gemini")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		for name, data := range map[string][]byte{
			"claudecode": fakesession.ClaudeCode(seed, 3), "openai": fakesession.Chat(seed, 3), "gemini": fakesession.Gemini(seed, 3), "geminicli": fakesession.GeminiCLI(seed, 3),
		} {
			from, err := carrel.FormatNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			s, err := from.Decode("x", data)
			if err != nil {
				t.Fatal(err)
			}
			w := transcript.Whole(s)
			w.As = "another"
			enc, err := to.Encode(w)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(work, fmt.Sprintf("%s-%d.json", name, seed))
			if err := os.WriteFile(file, enc.Data, 0o600); err != nil {
				t.Fatal(err)
			}
			// The signatures are none of the server's: it refuses them, and has read the request.
			out, err := exec.CommandContext(t.Context(), "node", program, dir, server.URL, file).CombinedOutput()
			all := fake.Requests()
			if len(all) == 0 {
				t.Fatalf("%s: nothing was sent: %v\n%s", name, err, out)
			}
			var want, got struct{ Contents, SystemInstruction any }
			if err := json.Unmarshal(enc.Data, &want); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(all[len(all)-1].Body, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want.Contents, got.Contents); diff != "" {
				t.Errorf("%s, %d (-written +sent):\n%.2000s", name, seed, diff)
			}
		}
	}
}
