package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/internal/test/clitest"
	"github.com/carrel-dev/carrel/server/proxy"
	"github.com/carrel-dev/carrel/store"
)

// A running server is listed until it ends; one that died leaves no record.
func TestServersAreListed(t *testing.T) {
	env, _, _ := clitest.Env(t)
	j := job.New(env)
	list := func() string {
		t.Helper()
		servers, err := runningServers(j)
		if err != nil {
			t.Fatal(err)
		}
		ids := ""
		for i := range servers {
			ids += fmt.Sprintf("%d@%s ", servers[i].PID, servers[i].URL)
		}
		return ids
	}
	if got := list(); got != "" {
		t.Errorf("servers %q, want none", got)
	}
	release := make(map[int]func() error)
	for pid, hour := range map[int]int{7: 2, 8: 1, 9: 2} {
		end, err := enlist(j, &running{PID: pid, URL: "http://127.0.0.1:1", Started: env.Now().AddDate(0, 0, -hour)})
		if err != nil {
			t.Fatal(err)
		}
		release[pid] = end
	}
	const at = "@http://127.0.0.1:1 "
	if got, want := list(), "7"+at+"9"+at+"8"+at; got != want {
		t.Errorf("servers %q, want %q, oldest first", got, want)
	}
	if _, err := enlist(j, &running{PID: 8}); err == nil {
		t.Error("a record that is held was taken")
	}
	if err := release[9](); err != nil {
		t.Fatal(err)
	}
	if got, want := list(), "7"+at+"8"+at; got != want {
		t.Errorf("servers %q, want %q", got, want)
	}
	clitest.WriteFile(t, env, ".local/share/carrel/run/0.traffic", "{}") // is no record
	dead := clitest.WriteFile(t, env, ".local/share/carrel/run/99.json", `{"pid":99}`)
	if got, want := list(), "7"+at+"8"+at; got != want {
		t.Errorf("servers %q, want %q", got, want)
	}
	if _, err := os.Stat(dead); err == nil {
		t.Error("the record of a server that died is still there")
	}
}

// hold writes a record and locks it, as the server does that it is of.
func hold(t *testing.T, env *job.Env, name, text string) string {
	t.Helper()
	path := clitest.WriteFile(t, env, ".local/share/carrel/run/"+name, text)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, ok, err := job.TryLock(f); !ok || err != nil {
		t.Fatal(ok, err)
	}
	return path
}

// A server that has not written its record yet is not listed, and that is no error. The figures of
// a proxy are listed if there are some.
func TestServersThatBegin(t *testing.T) {
	env, stdout, _ := clitest.Env(t)
	for name, text := range map[string]string{"1.json": "", "2.json": "{", "3.json": "3"} {
		hold(t, env, name, text)
	}
	for pid, traffic := range map[string]string{"4": "", "5": `{"calls":7}`, "6": `{"calls"`} {
		hold(t, env, pid+".json", `{"pid":`+pid+`,"url":"http://h","proxy":"http://p"}`)
		if traffic != "" {
			clitest.WriteFile(t, env, ".local/share/carrel/run/"+pid+".traffic", traffic)
		}
	}
	cmd := newPS(job.New(env))
	cmd.SetArgs([]string{})
	if err := cmd.Execute(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(stdout.String()) {
		got = append(got, strings.Fields(line)[0])
	}
	if want := []string{"4", "5", "6", "5:"}; !slices.Equal(got, want) || !strings.Contains(stdout.String(), "5: 7 calls") {
		t.Errorf("printed lines of %q, want %q:\n%s", got, want, stdout)
	}
}

// A server whose process is gone has ended. Where its record cannot be read, that is said at once.
func TestStopServersThatEnded(t *testing.T) {
	env, _, _ := clitest.Env(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	s := &running{PID: cmd.Process.Pid, file: filepath.Join(env.Dir, "none.json")}
	if err := s.stop(t.Context()); err != nil {
		t.Errorf("the process is gone: %v", err)
	}
	s.file = hold(t, env, "7.json", `{"pid":7,"proxy":"http://p"}`)
	if err := os.Mkdir(filepath.Join(filepath.Dir(s.file), "7.traffic"), 0o700); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.stop(ended); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("the figures are a folder: %v", err)
	}
}

// Process ids name servers, in their order.
func TestServersAreChosen(t *testing.T) {
	list := []running{{PID: 3}, {PID: 4}, {PID: 5, Surfaces: []string{surfaceRun}}}
	for _, tt := range []struct {
		args []string
		all  bool
		want string // the ids; "" for an error
	}{
		{nil, true, "3 4 "},
		{nil, false, ""},
		{[]string{"3"}, false, "3 "},
		{[]string{"5", "3"}, false, "5 3 "},
		{[]string{"3", "6"}, false, ""},
		{[]string{"3"}, true, ""},
	} {
		got := ""
		chosen, err := chooseServers(list, tt.args, tt.all)
		for i := range chosen {
			got += fmt.Sprint(chosen[i].PID, " ")
		}
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q, all %t: %q, %v, want %q", tt.args, tt.all, got, err, tt.want)
		}
	}
}

// A file is replaced whole, or stays, and nothing is left beside it.
func TestFilesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	for _, text := range []string{"one", "two"} {
		if err := replaceFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if data, err := os.ReadFile(name); err != nil || string(data) != text {
			t.Errorf("the file has %q, %v, want %q", data, err, text)
		}
	}
	folder := filepath.Join(dir, "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(folder, nil); err == nil {
		t.Error("a folder was replaced")
	}
	if err := replaceFile(filepath.Join(dir, "none", "x"), nil); err == nil {
		t.Error("a file was made in no folder")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("the folder has %v, %v, want the file and the folder", entries, err)
	}
}

// The figures of a proxy are written when they change, and removed at its end.
func TestTrafficIsWritten(t *testing.T) {
	env, _, _ := clitest.Env(t)
	j := job.New(env)
	p, err := proxy.New(&proxy.Options{Listen: "127.0.0.1:1", Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("there is no provider")
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := &running{PID: 7, Proxy: "http://p", file: clitest.WriteFile(t, env, ".local/share/carrel/run/7.json", "{}")}
	file := s.trafficFile(filepath.Dir(s.file))
	pass := func() {
		r := httptest.NewRequest(http.MethodGet, "/openai/v1/models", nil)
		r.Host = "127.0.0.1:1"
		p.ServeHTTP(httptest.NewRecorder(), r)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		go s.writeTraffic(ctx, j, p)
		time.Sleep(2*trafficEvery + 1)
		synctest.Wait()
		if _, err := os.Stat(file); err == nil {
			t.Error("without traffic there are figures")
		}
		for n := int64(1); n <= 2; n++ {
			pass()
			time.Sleep(trafficEvery)
			synctest.Wait()
			if err := s.readTraffic(); err != nil || s.Traffic == nil || s.Traffic.Passed != n {
				t.Errorf("the figures are %+v, %v, want %d passed", s.Traffic, err, n)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Error(err)
		}
		time.Sleep(trafficEvery)
		synctest.Wait()
		if _, err := os.Stat(file); err == nil {
			t.Error("figures that did not change are written again")
		}
		pass()
		time.Sleep(trafficEvery)
		cancel()
		synctest.Wait()
		if _, err := os.Stat(file); err == nil {
			t.Error("the figures are still there")
		}
	})
}

// A store without a file of its own keeps no credentials.
func TestStoresWithoutCredentials(t *testing.T) {
	for name, s := range map[string]store.Store{"a store in memory": config.Scratch(), "a store that knows none": plainStore{config.Scratch()}} {
		if _, err := authorityOf(t.Context(), &job.Access{Store: s}); err == nil || !strings.Contains(err.Error(), "keeps no credentials") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A plainStore is a store with a path and without credentials.
type plainStore struct{ store.Store }

func (plainStore) Info(context.Context) (*store.Info, error) { return &store.Info{Path: "x"}, nil }

// What excludes each other, or lacks its other half, is refused.
func TestCertificatesAreWhole(t *testing.T) {
	env, _, _ := clitest.Env(t)
	for want, set := range map[string]*config.Server{
		"exclude each other":        {ACME: []string{"a.example"}, Key: "k"},
		"--tls-key needs":           {Key: "k"},
		"--tls-cert needs":          {Cert: "c"},
		"server.acme.hosts exclude": {ACME: []string{"a.example"}, Cert: "c"},
	} {
		if _, err := security(job.New(env), set, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", set, err, want)
		}
	}
}

// A bug in a hook does not stand in the way of the agent, and an error beside the answer is told.
func TestHooksTolerate(t *testing.T) {
	env, _, _ := clitest.Env(t)
	env.Getenv = func(string) string { panic("no variables") }
	err := NewHook(job.New(env)).RunE(new(cobra.Command), []string{"claude", "Stop"})
	tolerated, ok := errors.AsType[*job.ToleratedError](err)
	if !ok || !job.Is[*job.PanicError](tolerated.Err) {
		t.Errorf("the panic is %v", err)
	}
	env, stdout, stderr := clitest.Env(t)
	env.Stdin = strings.NewReader(`{"session_id":"s","tool_name":"Bash","tool_response":{"stdout":"` + strings.Repeat(`a line\n`, 9000) + `"}}`)
	if err := answerHook(t.Context(), job.New(env), []string{"claude", "PostToolUse"}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stdout.String(), "[carrel: stashed") || !strings.HasPrefix(stderr.String(), "carrel: hook: the input of PostToolUse: the event names no file") {
		t.Errorf("printed %.200s, noted %q", stdout, stderr)
	}
}

func TestCredentialsHaveWords(t *testing.T) {
	if got, want := joined([]string{"a", "b", "c"}, ", "), "a, b, c"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := joined([]string{}, ", "); got != "" {
		t.Errorf("%q", got)
	}
	if got, want := until(&store.Credential{}), "without end"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := until(&store.Credential{Expires: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}), "until 2026-01-02T03:04:05Z"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A server that is to end goes on for the drain time, and ends with the same cause.
func TestDrained(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("a signal")
		asked, ask := context.WithCancelCause(t.Context())
		begun := false
		serving, cancel := drained(asked, 10*time.Second, func() { begun = true })
		defer cancel()
		at := time.Now()
		synctest.Wait()
		if begun || serving.Err() != nil {
			t.Errorf("it drains (%v) or has ended (%v) before it is asked to", begun, serving.Err())
		}
		ask(reason)
		synctest.Wait()
		if !begun || serving.Err() != nil {
			t.Errorf("asked to end, it drains (%v), and has ended (%v)", begun, serving.Err())
		}
		<-serving.Done()
		if got := time.Since(at); got != 10*time.Second || !errors.Is(context.Cause(serving), reason) {
			t.Errorf("it ended after %v for %v", got, context.Cause(serving))
		}
	})
}

// A server that has ended by itself does not wait for the drain time.
func TestDrainedNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, ask := context.WithCancel(t.Context())
		serving, cancel := drained(asked, time.Hour, func() {})
		at := time.Now()
		ask()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if serving.Err() == nil || time.Since(at) != 0 {
			t.Errorf("it has ended: %v, after %v", serving.Err(), time.Since(at))
		}
	})
}
