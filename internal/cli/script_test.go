package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carrel-dev/carrel/internal/binding"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/cli/out"
)

var update = flag.Bool("update", false, "write what the scripts compare with")

// programs can be run by a script as "exec NAME", in a process of their own.
var programs = map[string]func(){
	"carrel": func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		go func() { cancel(&job.SignalError{Signal: <-signals}) }()
		os.Exit(Main(ctx, job.OS(), os.Args[1:]))
	},
	"agent": agent,
}

func TestMain(m *testing.M) {
	if program := programs[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")]; program != nil {
		program()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Each script has a folder and a store of its own. "carrel ARGS" runs a command in the process of
// the test. "exec carrel ARGS" runs it in its own process, which takes ten times as long. Servers
// need that, and commands that read standard input or look at the environment of the process.
// The folder "in" has the files of testdata/conversations, "exam" has an exam, and grown.jsonl is
// the complete version of torn.jsonl.
func TestScripts(t *testing.T) {
	if raced() {
		t.Skip("hundreds of commands with the race detector take long, and the other tests run each of them, too")
	}
	provider := httptest.NewServer(http.HandlerFunc(provide))
	t.Cleanup(provider.Close)
	bin := installed(t)
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		UpdateScripts:      *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "etc"))
			env.Setenv("CARREL_NOW", "2026-02-03T12:00:00Z")
			env.Setenv("PROVIDER", provider.URL)
			for _, name := range []string{"MUTANT", "MUTANTS_REACHED"} { // of bench/mutate
				env.Setenv(name, os.Getenv(name))
			}
			grown, err := os.ReadFile("testdata/grown.jsonl")
			if err != nil {
				return err
			}
			return errors.Join(
				os.WriteFile(filepath.Join(env.WorkDir, "grown.jsonl"), grown, 0o600),
				os.CopyFS(filepath.Join(env.WorkDir, "in"), os.DirFS("testdata/conversations")),
				os.CopyFS(filepath.Join(env.WorkDir, "exam"), os.DirFS("../exam/testdata")),
			)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"carrel": expectSuccess, "status": expectStatus, "let": let, "alter": alter, "work": workSessions, "await": awaitServers, "fetch": fetch, "certificate": certificate},
	})
}

// installed returns a folder with the programs. Each is a link to this test, or a copy of it.
func installed(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name := range programs {
		to := filepath.Join(folder, name)
		if strings.HasSuffix(self, ".exe") {
			to += ".exe"
		}
		if os.Link(self, to) == nil {
			continue
		}
		data, err := os.ReadFile(self)
		if err == nil {
			err = os.WriteFile(to, data, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// expectSuccess runs "carrel ARGS", which must exit with code 0, or with another after "!".
func expectSuccess(ts *testscript.TestScript, neg bool, args []string) {
	if code, _ := command(ts, append([]string{"carrel"}, args...)); (code == 0) == neg {
		ts.Fatalf("exit code %d", code)
	}
}

// command runs "carrel ARGS" in this process, or "exec PROGRAM ARGS" in its own, and returns the
// exit code and the output.
func command(ts *testscript.TestScript, args []string) (code int, stdout string) {
	if args[0] != "carrel" {
		err := ts.Exec(args[1], args[2:]...)
		exit, failed := errors.AsType[*exec.ExitError](err)
		if failed {
			return exit.ExitCode(), ts.ReadFile("stdout")
		}
		ts.Check(err)
		return 0, ts.ReadFile("stdout")
	}
	var said strings.Builder
	code = Main(context.Background(), &job.Env{
		Terminal:  out.Terminal{Stdout: io.MultiWriter(ts.Stdout(), &said), Stderr: ts.Stderr(), Getenv: ts.Getenv, Now: time.Now},
		Stdin:     strings.NewReader(""),
		PID:       os.Getpid(),
		Processes: binding.System,
		Dir:       ts.MkAbs("."),
	}, args[1:])
	return code, said.String()
}

// provide is a fake provider of models. It answers a message with a stream, and any other request
// with the request's URL and key.
func provide(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/messages" {
		fmt.Fprintf(w, "asked for %s with %s\n", r.RequestURI, r.Header.Get("Authorization"))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []string{
		`{"type":"message_start","message":{"model":"claude-opus-5-5","usage":{"input_tokens":300,"cache_read_input_tokens":700,"output_tokens":1}}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":20}}`,
		`{"type":"message_stop"}`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", event)
	}
}

// agent is a program that calls a model as "agent CODE": it calls twice, prints its arguments and
// the answers, and exits with the code. As "agent models" it only asks which models there are.
func agent() {
	if os.Args[1] == "models" {
		resp, err := http.Get(os.Getenv("ANTHROPIC_BASE_URL") + "/v1/models")
		if err != nil {
			panic(err)
		}
		_, _ = io.Copy(os.Stdout, resp.Body)
		_ = resp.Body.Close()
		return
	}
	const one = `{"role":"user","content":"Fix the pump."}`
	for _, more := range []string{"", `,{"role":"assistant","content":"Done."},{"role":"user","content":"Test it."}`} {
		body := strings.NewReader(`{"model":"claude-opus-5-5","max_tokens":9,"stream":true,"tools":[{"name":"ls","input_schema":{"type":"object"}}],"messages":[` + one + more + `]}`)
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, os.Getenv("ANTHROPIC_BASE_URL")+"/v1/messages", body)
		if err != nil {
			panic(err)
		}
		req.Header.Set("X-Api-Key", "dummy")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			panic(err)
		}
		_, _ = io.Copy(os.Stdout, resp.Body)
		_ = resp.Body.Close()
	}
	said, _ := io.ReadAll(os.Stdin)
	fmt.Printf("args %q stdin %q openai %s\n", os.Args[1:], said, os.Getenv("OPENAI_BASE_URL"))
	fmt.Fprintln(os.Stderr, "agent ends")
	code, _ := strconv.Atoi(os.Args[1])
	os.Exit(code)
}

// raced reports whether the race detector is on.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// expectStatus runs "status N carrel ARGS...": carrel must exit with code N.
func expectStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N program args...")
	}
	got, _ := command(ts, args[1:])
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// let runs "let NAME carrel ARGS..." and stores the output in a variable.
func let(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: let NAME program args...")
	}
	code, stdout := command(ts, args[1:])
	if code != 0 {
		ts.Fatalf("exit code %d", code)
	}
	ts.Setenv(args[0], strings.TrimSpace(stdout))
}

// awaitServers runs "await N": it waits until N servers run.
func awaitServers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await number")
	}
	for range 400 { // each takes a moment
		ts.Check(ts.Exec("carrel", "ps", "--jq", ".servers | length"))
		if strings.TrimSpace(ts.ReadFile("stdout")) == args[0] {
			return
		}
	}
	ts.Fatalf("there are not %s servers", args[0])
}

// fetch runs "fetch STATUS URL [TOKEN [HOST]]" and stores the response in the file body.
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fetch status url [token [host]]")
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, args[1], http.NoBody)
	ts.Check(err)
	if len(args) > 2 {
		req.Header.Set("Authorization", "Bearer "+args[2])
	}
	if len(args) > 3 {
		req.Host = args[3]
	}
	resp, err := trusting(ts).Do(req)
	ts.Check(err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("body"), body, 0o600))
	if got := strconv.Itoa(resp.StatusCode); got != args[0] {
		ts.Fatalf("%s answers with status %s, want %s: %s", args[1], got, args[0], body)
	}
}

// certificate runs "certificate CERT KEY" and writes a certificate for this machine and its key
// to files.
func certificate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: certificate cert key")
	}
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	ts.Check(err)
	for name, block := range map[string]*pem.Block{args[0]: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, args[1]: {Type: "PRIVATE KEY", Bytes: key}} {
		ts.Check(os.WriteFile(ts.MkAbs(name), pem.EncodeToMemory(block), 0o600))
	}
}

// trusting returns a client that trusts the certificate in cert.pem, if there is one.
func trusting(ts *testscript.TestScript) *http.Client {
	cert, err := os.ReadFile(ts.MkAbs("cert.pem"))
	if err != nil {
		return http.DefaultClient
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}}
}
