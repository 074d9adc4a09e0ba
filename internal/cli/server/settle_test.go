package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/carrel-dev/carrel/internal/config"
	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/server/proxy"
)

// Each flag of proxy takes the place of its setting; without it the setting stays.
func TestFlagsOfProxyReplaceSettings(t *testing.T) {
	set := config.Proxy{
		Listen: "127.0.0.1:1", Manage: true, Upstreams: proxy.Upstreams{Anthropic: "https://a.example", OpenAI: "https://o.example"},
		Required: true, Budget: 5, Recall: true, Holdout: 7,
	}
	for _, tt := range []struct {
		name  string
		from  config.Proxy
		flags proxyFlags
		edit  func(s *config.Proxy)
	}{
		{"none", set, proxyFlags{}, func(*config.Proxy) {}},
		{"none of none", config.Proxy{}, proxyFlags{}, func(*config.Proxy) {}},
		{"listen", set, proxyFlags{listen: ":2"}, func(s *config.Proxy) { s.Listen = ":2" }},
		{"anthropic", set, proxyFlags{anthropic: "https://b.example"}, func(s *config.Proxy) { s.Upstreams.Anthropic = "https://b.example" }},
		{"openai", set, proxyFlags{openAI: "https://b.example"}, func(s *config.Proxy) { s.Upstreams.OpenAI = "https://b.example" }},
		{"budget", set, proxyFlags{budget: 9}, func(s *config.Proxy) { s.Budget = 9 }},
		{"observe", set, proxyFlags{mode: "observe"}, func(s *config.Proxy) { s.Manage = false }},
		{"manage", config.Proxy{}, proxyFlags{mode: "manage"}, func(s *config.Proxy) { s.Manage = true }},
		{"recall", config.Proxy{}, proxyFlags{recall: true}, func(s *config.Proxy) { s.Recall = true }},
		{"all held out", set, proxyFlags{holdout: "100%"}, func(s *config.Proxy) { s.Holdout = ratio.One }},
		{"no holdout", set, proxyFlags{holdout: "0%"}, func(s *config.Proxy) { s.Holdout = 0 }},
	} {
		want := tt.from
		tt.edit(&want)
		got, err := tt.flags.settle(tt.from)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	for _, flags := range []proxyFlags{{budget: -1}, {mode: "neither"}, {holdout: "101%"}, {holdout: "some"}} {
		if got, err := flags.settle(set); err == nil {
			t.Errorf("%+v gives %+v", flags, got)
		}
	}
}

// Each flag of serve takes the place of its setting; names are added, and a certificate by flag
// excludes one by a setting.
func TestFlagsOfServeReplaceSettings(t *testing.T) {
	set := config.Server{Listen: "127.0.0.1:1", Remote: true, Hosts: []string{"a.example"}, Cert: "c", Key: "k"}
	authority := config.Server{ACME: []string{"n.example"}}
	for _, tt := range []struct {
		name string
		from config.Server
		args []string
		edit func(s *config.Server)
	}{
		{"none", set, nil, func(*config.Server) {}},
		{"listen", set, []string{"--listen", ":2"}, func(s *config.Server) { s.Listen = ":2" }},
		{"not remote", set, []string{"--remote=false"}, func(s *config.Server) { s.Remote = false }},
		{"remote", config.Server{}, []string{"--remote"}, func(s *config.Server) { s.Remote = true }},
		{"hosts", set, []string{"--host", "b.example", "--host", "c.example"}, func(s *config.Server) { s.Hosts = []string{"a.example", "b.example", "c.example"} }},
		{"certificate", authority, []string{"--tls-cert", "d", "--tls-key", "l"}, func(s *config.Server) { s.Cert, s.Key, s.ACME = "d", "l", nil }},
		{"certificate without key", set, []string{"--tls-cert", "d"}, func(s *config.Server) { s.Cert, s.Key = "d", "" }},
		{"key without certificate", set, []string{"--tls-key", "l"}, func(s *config.Server) { s.Cert, s.Key = "", "l" }},
		{"authority", set, []string{"--acme", "b.example"}, func(s *config.Server) {
			s.Cert, s.Key, s.ACME, s.Hosts = "", "", []string{"b.example"}, []string{"a.example", "b.example"}
		}},
		{"authority of the settings", authority, nil, func(s *config.Server) { s.Hosts = []string{"n.example"} }},
	} {
		cmd := new(cobra.Command)
		var fl serveFlags
		fl.register(cmd)
		want := tt.from
		tt.edit(&want)
		if err := cmd.ParseFlags(tt.args); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, fl.settle(cmd, tt.from)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
