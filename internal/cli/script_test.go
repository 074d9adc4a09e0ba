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

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carrel-dev/carrel/internal/cli/job"
)

var update = flag.Bool("update", false, "write what the scripts compare with")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"carrel": func() {
			ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
			os.Exit(Main(ctx, job.OS(), os.Args[1:]))
		},
		"agent": agent,
	})
}

// Each command of a script is its own process on one store. The folder "in" has the files of
// testdata/conversations, "exam" has an exam, and grown.jsonl is the complete version of
// torn.jsonl.
func TestScripts(t *testing.T) {
	if raced() {
		t.Skip("hundreds of processes with the race detector take long, and each has one command that the other tests run, too")
	}
	provider := httptest.NewServer(http.HandlerFunc(provide))
	t.Cleanup(provider.Close)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": expectStatus, "let": let, "alter": alter, "work": workSessions, "await": awaitServers, "fetch": fetch, "certificate": certificate},
	})
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
// the answers, and exits with the code.
func agent() {
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
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if want, err := strconv.Atoi(args[0]); err != nil || got != want {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// let runs "let NAME carrel ARGS..." and stores the output in a variable.
func let(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: let NAME program args...")
	}
	ts.Check(ts.Exec(args[1], args[2:]...))
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile("stdout")))
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
