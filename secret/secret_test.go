package secret

import (
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// No credential stands in this file, not even a made-up one: all are put
// together while the tests run.

const (
	digits  = "0123456789"
	uppers  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lowers  = "abcdefghijklmnopqrstuvwxyz"
	letters = uppers + lowers + digits
	urlish  = letters + "_-"
)

// draw returns n random bytes of an alphabet, with a digit and a letter.
func draw(random *rand.Rand, n int, alphabet string) string {
	for {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[random.IntN(len(alphabet))]
		}
		if s := string(b); mixed(s) {
			return s
		}
	}
}

// structured makes a credential of each structured kind.
var structured = []struct {
	name string
	kind Kind
	make func(r *rand.Rand) string
}{
	{"aws", kindAWS, func(r *rand.Rand) string {
		return []string{"AK", "AS"}[r.IntN(2)] + "IA" + draw(r, 16, uppers+"234567")
	}},
	{"github", kindGitHub, func(r *rand.Rand) string { return "gh" + string("pousr"[r.IntN(5)]) + "_" + draw(r, 36, letters) }},
	{"github fine-grained", kindGitHub, func(r *rand.Rand) string {
		return "github" + "_pat_" + draw(r, 22, letters) + "_" + draw(r, 59, letters)
	}},
	{"gitlab", kindGitLab, func(r *rand.Rand) string { return "gl" + "pat-" + draw(r, 20, urlish) }},
	{"slack", kindSlack, func(r *rand.Rand) string {
		return "xo" + "x" + string("abpers"[r.IntN(6)]) + "-" + draw(r, 12, digits+"a") + "-" + draw(r, 24, letters)
	}},
	{"openai", kindOpenAI, func(r *rand.Rand) string { return "sk" + "-" + draw(r, 48, letters) }},
	{"openai project", kindOpenAI, func(r *rand.Rand) string { return "sk" + "-proj-" + draw(r, 120, urlish) }},
	{"anthropic", kindAnthropic, func(r *rand.Rand) string { return "sk" + "-ant-" + "api03-" + draw(r, 93, urlish) + "AA" }},
	{"carrel", kindCarrel, func(r *rand.Rand) string {
		return "carrel" + "_tok_" + draw(r, 8, digits+"abcdef") + "_" + draw(r, 43, urlish)
	}},
	{"google", kindGoogle, func(r *rand.Rand) string { return "AI" + "za" + draw(r, 35, urlish) }},
	{"stripe", kindStripe, func(r *rand.Rand) string { return string("sr"[r.IntN(2)]) + "k_" + "live_" + draw(r, 24, letters) }},
	{"npm", kindNPM, func(r *rand.Rand) string { return "np" + "m_" + draw(r, 36, letters) }},
	{"pypi", kindPyPI, func(r *rand.Rand) string { return "py" + "pi-" + "AgEIcHlwaS5vcmc" + draw(r, 100, urlish) }},
	{"huggingface", kindHuggingFace, func(r *rand.Rand) string { return "hf" + "_" + draw(r, 34, letters) }},
	{"private key", kindPrivateKey, privateKey},
	{"jwt", kindJWT, func(r *rand.Rand) string {
		return "ey" + "J" + draw(r, 33, urlish) + "." + "ey" + "J" + draw(r, 60, urlish) + "." + draw(r, 43, urlish)
	}},
}

func privateKey(r *rand.Rand) string {
	label := []string{"", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "}[r.IntN(5)] + "PRIVATE " + "KEY"
	var b strings.Builder
	b.WriteString("-----BEGIN " + label + "-----\n")
	for range 3 + r.IntN(20) {
		b.WriteString(draw(r, 64, letters+"+/") + "\n")
	}
	b.WriteString(draw(r, 20, letters) + "==\n-----END " + label + "-----")
	return b.String()
}

// around are the surroundings in which credentials are looked for.
var around = [][2]string{
	{"", ""},
	{" ", "\n"},
	{`"`, `"`},
	{"'", "',"},
	{"KEY=", "\n"},
	{`{"key": "`, `"}`},
	{`\n`, `\n`},
	{"(", ")"},
	{"key:\t", "."},
	{"<b>", "</b>"},
	{"見よ", "。"},
	{"https://x.invalid/?k=", "&x=1"},
	{"%3D", " "},
	{"`", "`"},
	{"export TOKEN=", ";"},
}

// Of structured credentials all are found, with their kind and whole, wherever
// they stand.
func TestScanFindsStructuredCredentials(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, s := range structured {
		missed, total := 0, 0
		for i := range 400 {
			value := s.make(random)
			a := around[i%len(around)]
			text := "some text before it\n" + a[0] + value + a[1] + "\nand behind"
			total++
			got := Scan(text)
			if len(got) != 1 || got[0].Kind != s.kind || got[0].Start > strings.Index(text, value) || got[0].End < strings.Index(text, value)+len(value) {
				missed++
				t.Logf("%s between %q and %q: got %v", s.name, a[0], a[1], got)
			}
		}
		if missed*100 > total {
			t.Errorf("%s: %d of %d missed, want 1%% at most", s.name, missed, total)
		}
	}
}

// A key that is written into JSON has escaped line feeds; one in a log may
// break off.
func TestScanFindsPrivateKeysInOtherDress(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		key := privateKey(random)
		for _, text := range []string{
			`{"key":"` + strings.ReplaceAll(key, "\n", `\n`) + `"}`,
			"    " + strings.ReplaceAll(key, "\n", "\n    "),
			strings.ReplaceAll(key, "\n", "\r\n"),
			key[:200],
		} {
			got := Scan(text)
			if len(got) != 1 || got[0].Kind != kindPrivateKey || got[0].End-got[0].Start < 190 {
				t.Fatalf("in %q: got %v", text, got)
			}
		}
	}
}

func TestScanByPlace(t *testing.T) {
	p := "k9" + "Tq!z" + "Lm4" + "vR" // a password
	key := "7hQ2" + "mZx9Lb4" + "TnW8rKc3" + "VdYp5sGf6"
	at := "://"
	for _, tt := range []struct {
		name, before, value, after string
		kind                       Kind
	}{
		{"environment", "DB_PASSWORD=", p, "\n", kindAssignment},
		{"environment, quoted", `export API_KEY="`, key, `"`, kindAssignment},
		{"JSON", `{"client_secret": "`, key, `"}`, kindAssignment},
		{"JSON in JSON", `"{\"password\": \"`, p, `\"}"`, kindAssignment},
		{"YAML", "  password: ", p, "\n", kindAssignment},
		{"Go", `apiToken := "`, key, `"`, kindAssignment},
		{"a raw string of Go", "apiToken := `", key, "`", kindAssignment},
		{"Ruby", `:secret_key => '`, key, `'`, kindAssignment},
		{"index", `env["AUTH_TOKEN"] = "`, key, `"`, kindAssignment},
		{"properties", "spring.datasource.password=", p, "", kindAssignment},
		{"flag", "run --api-key=", key, " now", kindAssignment},
		{"query", "x?access_token=", key, "&a=b", kindAssignment},
		{"the second key of AWS", "aws_secret_access_key = ", draw(rand.New(rand.NewPCG(5, 6)), 40, letters+"+/"), "\n", kindAssignment},
		{"URL", "postgres" + at + "app:", p, "@db.internal:5432/app", kindURL},
		{"URL without a user", "redis" + at + ":", p, "@10.0.0.1:6379", kindURL},
		{"header", "Authorization: Bearer ", key, "\r\n", kindBearer},
		{"header in JSON", `{"authorization":"bearer `, key, `"}`, kindBearer},
		{"basic", "Authorization: Basic ", key + "==", "\n", kindBearer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.before + tt.value + tt.after
			want := []Finding{{tt.kind, len(tt.before), len(tt.before) + len(tt.value)}}
			if diff := cmp.Diff(want, Scan(text)); diff != "" {
				t.Errorf("findings in %q (-want +got):\n%s", text, diff)
			}
			if got, want := Redact(text), tt.before+"[secret: "+string(tt.kind)+"]"+tt.after; got != want {
				t.Errorf("redacted text is %q, want %q", got, want)
			}
		})
	}
}

// What only looks like a credential is left alone.
func TestScanLeavesAlone(t *testing.T) {
	at := "://"
	for _, text := range []string{
		"",
		"password = \"\"",
		"password: xxxxxxxxxxxx1",
		"PASSWORD=changeme123",
		"password=password123",
		"API_KEY=<your-api-key-1>",
		"API_KEY=${API_KEY_2}",
		`token = "{{ token2 }}"`,
		`password: "correct horse battery staple"`,
		"token := scanner.Token2()",
		"token = tokens[3]",
		"if token == maxToken32 {",
		"secret: v1.SecretReference",
		"password = os.Getenv(\"PASSWORD1\")",
		"token token2048bits",
		"token::kind2value",
		"the max_tokens: 100000000",
		"sk-fading-circle sk-spinner-three-bounce-animation-name",
		"gh" + "p_" + strings.Repeat("x", 36),
		"AK" + "IA" + "IOSFODNN7" + "EXAMPLE",
		"AK" + "IA" + strings.Repeat("ABCDEFGH23", 4),
		"the header -----BEGIN " + "PRIVATE KEY----- opens a key",
		"-----BEGIN " + "CERTIFICATE-----\n" + strings.Repeat("MIIBszCCAVmgAwIBAgIUY2xh", 20) + "\n-----END CERTIFICATE-----",
		"postgres" + at + "user:password@localhost/db",
		"http" + at + "%s:%s@host2/",
		"https" + at + "host:8080/@scope/package1",
		"git@host.invalid:owner/repository.git",
		"token: https" + at + "tools.invalid/html/rfc6749#section-3.2",
		"Bearer of bad news",
		"Authorization: Bearer $TOKEN_NUMBER_1234",
		"ey" + "J0eXAiOiJKV1Qi",
		"sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
	} {
		if got := Scan(text); len(got) > 0 {
			t.Errorf("in %q: got %v (%q), want nothing", text, got, text[got[0].Start:got[0].End])
		}
	}
}

func TestScanMergesOverlaps(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	token := structured[1].make(random)
	text := `github_token = "` + token + `"` + "\nAuthorization: Bearer " + token
	want := []Finding{{kindGitHub, 16, 56}, {kindGitHub, 80, 120}}
	if diff := cmp.Diff(want, Scan(text)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// ordinaryCode calls f with Go's own source, without tests and their data: they
// have keys in them.
func ordinaryCode(t testing.TB, most int, f func(name, text string)) {
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output() // a binary made with -trimpath does not know
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	err = filepath.WalkDir(filepath.Join(strings.TrimSpace(string(root)), "src"), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case total > most:
			return fs.SkipAll
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(name)
		total += len(data)
		f(name, string(data))
		return err
	})
	if err != nil {
		if os.Getenv("CARREL_CI") != "" {
			t.Fatal(err)
		}
		t.Skip("no source of Go: ", err)
	}
}

// Ordinary code has at most one false finding in 100 kB.
func TestScanOfOrdinaryCode(t *testing.T) {
	found, size := 0, 0
	ordinaryCode(t, 4<<20, func(name, text string) {
		size += len(text)
		for _, f := range Scan(text) {
			found++
			t.Logf("%s: %s: %q", filepath.Base(name), f.Kind, text[f.Start:min(f.End, f.Start+40)])
		}
	})
	t.Logf("%d findings in %d bytes", found, size)
	if found*100_000 > size {
		t.Errorf("%d findings in %d bytes of code, want one in 100 kB at most", found, size)
	}
}

// A redacted text has no credential, and text without one is left as it is.
func TestRedact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var b, want strings.Builder
		for range rapid.IntRange(0, 6).Draw(t, "credentials") {
			s := rapid.SampledFrom(structured).Draw(t, "kind")
			b.WriteString("\nnext " + s.make(random) + " \n")
			want.WriteString("\nnext [secret: " + string(s.kind) + "] \n")
		}
		if diff := cmp.Diff(want.String(), Redact(b.String())); diff != "" {
			t.Fatalf("redacted text (-want +got):\n%s", diff)
		}
	})
}

func FuzzScan(f *testing.F) {
	random := rand.New(rand.NewPCG(9, 10))
	for _, s := range structured {
		f.Add("token=" + s.make(random) + "\n")
	}
	f.Add("password='a1b2c3d4e5'://a:b@c")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, found := range Scan(text) {
			if found.Start < at || found.End <= found.Start || found.End > len(text) || found.Kind == "" {
				t.Fatalf("finding %+v after the byte %d of %d", found, at, len(text))
			}
			at = found.End
		}
	})
}

func TestLog2(t *testing.T) {
	for n := 1; n < 100_000; n++ {
		if got, want := log2(n), int(math.Floor(math.Log2(float64(n))*logUnit)); got != want && got != want-1 {
			t.Fatalf("log2(%d) = %d, want %d", n, got, want)
		}
	}
	for text, want := range map[string]int{"": 0, "aaaa": 0, "abab": 4, "abcdefgh": 24, "aabbccdd": 16} {
		if got := entropy(text); got != want {
			t.Errorf("entropy(%q) = %d, want %d", text, got, want)
		}
	}
}

// Text that was made to be slow takes a time in proportion to its length: with a
// scan that is quadratic in any of the pieces, this test would not end.
func TestScanOfHostileText(t *testing.T) {
	if found := Scan(strings.Repeat(`{"token":"the","pwd":"a"},`, 200_000)); len(found) > 0 {
		t.Errorf("in a long line: got %d findings, want none", len(found))
	}
	for _, piece := range []string{
		"token=", "password:", "://", "a://b:", "eyJ", "eyJaaaaaaaaaa.", "-----BEGIN " + "PRIVATE KEY-----", "-----BEGIN ",
		"sk-", "sk-ant-", "Bearer ", "=", ":", "\\", "AKIA",
	} {
		if found := Scan(strings.Repeat(piece, 256<<10/len(piece))); len(found) > 0 {
			t.Errorf("in repeated %q: got %d findings, want none", piece, len(found))
		}
	}
}

func BenchmarkScan(b *testing.B) {
	var code strings.Builder
	ordinaryCode(b, 1<<20, func(_, text string) { code.WriteString(text) })
	for _, input := range []struct{ name, text string }{
		{"code", code.String()},
		{"prose", strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 1<<20/45)},
		{"assignments", strings.Repeat("token=", 1<<20/6)},
		{"prefixes", strings.Repeat("sk-ant-", 1<<20/7)},
		{"dashes", strings.Repeat("-----BEGIN "+"PRIVATE KEY-----", 1<<20/27)},
		{"web tokens", strings.Repeat("eyJaaaaaaaaaa.", 1<<20/14)},
		{"urls", strings.Repeat("a://b:", 1<<20/6)},
	} {
		b.Run(input.name, func(b *testing.B) {
			b.SetBytes(int64(len(input.text)))
			b.ReportAllocs()
			for b.Loop() {
				Scan(input.text)
			}
		})
	}
}

func ExampleRedact() {
	fmt.Println(Redact("DB_PASSWORD=" + "k9Tq" + "zLm4" + "vR77"))
	// Output: DB_PASSWORD=[secret: assignment]
}
