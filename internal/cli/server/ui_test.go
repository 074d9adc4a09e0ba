//go:build unix

package server

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

// browser makes a program xdg-open, alone in PATH, and returns a function that returns the URL that
// it is told to show.
func browser(t *testing.T) (shown func() string) {
	t.Helper()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(pipe, os.O_RDWR|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	for _, name := range []string{"xdg-open", "open"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho \"$*\" > '"+pipe+"'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	lines := bufio.NewReader(f)
	return func() string {
		if err := f.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Errorf("no browser was opened: %v", err)
		}
		return strings.TrimSuffix(line, "\n")
	}
}

// get returns the status, the path at the end of all redirections and the page at a URL.
func get(t *testing.T, c *http.Client, address string) (status int, path, page string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Request.URL.Path, string(data)
}

// The pages open in a browser at the session that is named. The key in the URL signs in, and no
// other does.
func TestPagesOpenInABrowser(t *testing.T) {
	shown := browser(t)
	t.Setenv("CI", "yes")
	browse(t.Context(), "http://in-ci")
	t.Setenv("CI", "")
	for _, tt := range []struct {
		args []string
		path string
	}{
		{nil, "/console/"},
		{[]string{"@last"}, "/console/session/5f0c2a7e-91d4-4b36-8a51-0d6f3e9b1c20"},
	} {
		env, _, _ := clitest.Env(t)
		said, stderr := io.Pipe()
		env.Stderr = stderr
		j := job.New(env)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- j.With(ctx, true, func(a *job.Access) error {
				data, err := os.ReadFile("../testdata/conversations/claude.jsonl")
				if err != nil {
					return err
				}
				if _, err := a.Import(ctx, a.Scope, &carrel.ImportRequest{Name: "claude.jsonl", Data: data}); err != nil {
					return err
				}
				return (&uiFlags{listen: "127.0.0.1:0"}).serve(ctx, j, a, tt.args)
			})
		}()
		line, err := bufio.NewReader(said).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		address, ok := strings.CutPrefix(strings.TrimSpace(line), "carrel shows itself at ")
		if got := shown(); !ok || got != address {
			t.Errorf("the browser shows %q, and %q is said", got, line)
		}
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if status, path, page := get(t, &http.Client{Jar: jar}, address); status != http.StatusOK || path != tt.path {
			t.Errorf("%q: status %d at %s, want the page %s:\n%.300s", tt.args, status, path, tt.path, page)
		}
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		query := u.Query()
		if len(query.Get("key")) < 50 {
			t.Errorf("the key %q is short", query.Get("key"))
		}
		query.Set("key", query.Get("key")[1:])
		u.RawQuery = query.Encode()
		if status, path, _ := get(t, http.DefaultClient, u.String()); status != http.StatusUnauthorized {
			t.Errorf("with another key: status %d at %s", status, path)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = stderr.Close()
	}
}

// Where no page can be shown, none is.
func TestPagesThatCannotBeShown(t *testing.T) {
	shown := browser(t)
	t.Setenv("CI", "")
	env, _, stderr := clitest.Env(t)
	j := job.New(env)
	for _, fl := range []uiFlags{{listen: "0.0.0.0:0"}, {listen: "127.0.0.1:0", stay: true}} {
		err := j.With(t.Context(), true, func(a *job.Access) error { return fl.serve(t.Context(), j, a, []string{"no-such-session"}) })
		if err == nil || stderr.Len() > 0 {
			t.Errorf("%+v: %v, said %q", fl, err, stderr)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.With(t.Context(), true, func(a *job.Access) error {
		return (&uiFlags{listen: "127.0.0.1:0", stay: true}).serve(ended, j, a, nil)
	}); err != nil || !strings.Contains(stderr.String(), "/console/sign-in?key=") {
		t.Errorf("without a browser: %v, said %q", err, stderr)
	}
	browse(t.Context(), "http://last")
	if got := shown(); got != "http://last" {
		t.Errorf("the browser shows %q", got)
	}
}
