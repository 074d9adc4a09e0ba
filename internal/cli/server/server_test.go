package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/carrel-dev/carrel/internal/cli/job"
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
	cmd.SetArgs(nil)
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
