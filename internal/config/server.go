package config

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A Server has the settings of a server.
type Server struct {
	Listen  string // host:port
	Remote  bool   // other machines can reach it
	Hosts   []string
	Origins []string
	Grace   time.Duration
	OTLP    string // endpoint for traces, or ""

	// Cert and Key are the files of a certificate and its key. Without them the server uses plain
	// HTTP.
	Cert, Key string
}

// Server returns the settings of a server.
func (s *Settings) Server() Server {
	return Server{
		Listen: get[string](s, "server.listen"), Remote: get[bool](s, "server.remote"),
		Hosts: get[[]string](s, "server.hosts"), Origins: get[[]string](s, "server.origins"),
		Grace: time.Duration(get[Duration](s, "server.grace")), OTLP: get[string](s, "telemetry.otlp"),
		Cert: get[string](s, "server.tls_cert"), Key: get[string](s, "server.tls_key"),
	}
}

// Scheme returns "https" if there is a certificate, else "http".
func (s Server) Scheme() string {
	if s.Cert != "" || s.Key != "" {
		return "https"
	}
	return "http"
}

// readAddress parses a host and a port to listen on.
func readAddress(l literal) (any, error) {
	at := strings.LastIndexByte(l.text, ':')
	if l.kind != unstable.String || at < 0 {
		return nil, errors.New("wants a host and a port, such as 127.0.0.1:7717")
	}
	if _, err := strconv.ParseUint(l.text[at+1:], 10, 16); err != nil {
		return nil, errors.New("wants a port from 0 to 65535 at its end, such as 127.0.0.1:7717")
	}
	return l.text, nil
}
