package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/llm"
)

// A modelServer answers in both interfaces and records the last request.
type modelServer struct {
	*httptest.Server
	calls  atomic.Int32
	path   string
	header http.Header
	body   map[string]any
	fails  bool
}

func newModelServer(t *testing.T) *modelServer {
	t.Helper()
	s := new(modelServer)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		s.path, s.header, s.body = r.URL.Path, r.Header, nil
		if err := json.NewDecoder(r.Body).Decode(&s.body); err != nil {
			t.Error(err)
		}
		if s.fails {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if r.URL.Path == "/v1/messages" {
			fmt.Fprint(w, `{"type":"message","content":[{"type":"text","text":"yes"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}`)
			return
		}
		fmt.Fprint(w, `{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// A model with the ceiling 0 is not asked, and the log says why.
func TestCeilingOfNothing(t *testing.T) {
	server := newModelServer(t)
	for _, text := range []string{"", "ceiling = 0\n", "ceiling = 0\nkey_file = 'absent'\n"} {
		s, err := loadUser(t, "[generate]\nurl = '"+server.URL+"'\nmodel = 'm'\n"+text)
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		o := &carrel.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
		release, err := s.Engine(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		if o.Generator != nil || !strings.Contains(log.String(), "generate.ceiling is 0") {
			t.Errorf("%q: generator %v, log %q", text, o.Generator, log.String())
		}
		if engine(t, s).Generator != nil { // without a log
			t.Errorf("%q: there is a generator", text)
		}
	}
	if server.calls.Load() != 0 {
		t.Errorf("%d calls, want none", server.calls.Load())
	}
}

// The settings and the key reach the server, and the ceiling holds.
func TestGenerator(t *testing.T) {
	const key = "ourkey"
	server := newModelServer(t)
	for _, tt := range []struct{ api, path, header, want string }{
		{"openai", "/v1/chat/completions", "Authorization", "Bearer " + key},
		{"anthropic", "/v1/messages", "X-Api-Key", key},
	} {
		t.Run(tt.api, func(t *testing.T) {
			server.calls.Store(0)
			w := newWorld(t, "", "", "[generate]\napi = '"+tt.api+"'\nurl = '"+server.URL+"'\nmodel = 'm'\nkey_file = 'key'\nmax_tokens = 100\nwindow = 5_000\nceiling = 400\nretries = 0\ntimeout = '20s'\n")
			s, err := Load(w.sources(nil))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Engine(&carrel.Options{}); !is[*FileError](err) || !strings.Contains(err.Error(), "config.toml:5: generate.key_file: open ") {
				t.Errorf("without the file: %v", err)
			}
			if err := os.WriteFile(filepath.Join(w.vars["XDG_CONFIG_HOME"], "carrel", "key"), []byte(key+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			o := engine(t, s)
			if o.Generator == nil || o.Generator.Name() != "m@"+server.URL+"/v1" || o.Generator.Window() != 5000 {
				t.Fatalf("generator is %v", o.Generator)
			}
			got, err := o.Generator.Generate(t.Context(), &llm.Prompt{Text: "?"})
			if err != nil || got.Text != "yes" || server.path != tt.path || server.header.Get(tt.header) != tt.want || server.body["max_tokens"] != 100.0 {
				t.Errorf("%+v, %v after %s with %v of %v", got, err, server.path, server.header, server.body)
			}
			if _, err := o.Generator.Generate(t.Context(), &llm.Prompt{Text: strings.Repeat("word ", 400)}); !errors.Is(err, llm.ErrSpend) || server.calls.Load() != 1 {
				t.Errorf("%v after %d calls, want ErrSpend after 1", err, server.calls.Load())
			}
			w.vars["CARREL_OFFLINE"] = "1"
			if s, err = Load(w.sources(nil)); err != nil || engine(t, s).Generator != nil {
				t.Errorf("offline there is a generator, or %v", err)
			}
			w.vars["CARREL_OFFLINE"], w.vars["CARREL_GENERATE_KEY"] = "", "other"
			if s, err = Load(w.sources(nil)); err != nil {
				t.Fatal(err)
			}
			if _, err := engine(t, s).Generator.Generate(t.Context(), &llm.Prompt{Text: "?"}); err != nil || !strings.HasSuffix(server.header.Get(tt.header), "other") {
				t.Errorf("with a variable: %v, sent %q", err, server.header.Get(tt.header))
			}
			server.fails = true
			server.calls.Store(0)
			if _, err := engine(t, s).Generator.Generate(t.Context(), &llm.Prompt{Text: "?"}); err == nil || server.calls.Load() != 1 {
				t.Errorf("%v after %d calls, want an error after 1 without retries", err, server.calls.Load())
			}
			server.fails = false
			raw, err := json.Marshal(s.Values)
			if err != nil || strings.Contains(string(raw), "other") || strings.Contains(string(raw), key) {
				t.Errorf("settings show the key: %s, %v", raw, err)
			}
		})
	}
	w := newWorld(t, "", "", "")
	w.vars["CARREL_GENERATE_KEY"] = "a\nb"
	s, err := Load(w.sources(nil))
	if err != nil || engine(t, s).Generator != nil {
		t.Errorf("a key alone makes a generator, or %v", err)
	}
}

// If no model can be asked, the error names the setting that would allow it.
func TestGeneratorSaysWhatLacks(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"", "generate.url: is not set"},
		{"[generate]\nurl = 'http://127.0.0.1:1'\nmodel = 'm'\nceiling = 9\nkey_file = 'absent'\n", "config.toml:5: generate.key_file: open "},
		{"[generate]\nurl = 'http://127.0.0.1:1'\nmodel = 'm'\nceiling = 9\nkey_file = 'config.toml'\n", "config.toml:5: generate.key_file: the file must have exactly one line"},
		{"[generate]\nurl = 'http://127.0.0.1:1'\nmodel = 'm'\n", "generate.ceiling: is 0"},
		{"offline = true\n[generate]\nurl = 'http://127.0.0.1:1'\nmodel = 'm'\nceiling = 9\n", "offline: is on, so no model can be asked"},
	} {
		s, err := loadUser(t, tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if g, err := s.Generator(); g != nil || err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %s", tt.text, err, tt.want)
		}
	}
	s, err := loadUser(t, "[generate]\nurl = 'http://127.0.0.1:1'\nmodel = 'm'\nceiling = 9\n")
	if err != nil {
		t.Fatal(err)
	}
	if g, err := s.Generator(); err != nil || g.Name() != "m@http://127.0.0.1:1/v1" {
		t.Errorf("%v, %v", g, err)
	}
	if _, err := loadUser(t, "generate.window = 1"); err == nil || !strings.Contains(err.Error(), "config.toml:1: generate.window: the tokens of a reply") {
		t.Errorf("a window of one token: %v", err)
	}
}
