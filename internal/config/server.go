package config

import (
	"cmp"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/carrel-dev/carrel/server/auth"
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

	// ACME are the names of the server for which an authority gives certificates; without them
	// Cert and Key count. ACMEFolder has the certificates.
	ACME                                 []string
	ACMEDirectory, ACMEEmail, ACMEFolder string

	Limits    auth.DoorLimits
	LargeJobs int // of one actor at once, or 0 for the default
}

// Tables of the settings of a server: its limits, and how it gets certificates.
const (
	serverLimits = "server.limits."
	serverACME   = "server.acme."
)

// Server returns the settings of a server.
func (s *Settings) Server() Server {
	limit := func(name string) int { return get[int](s, serverLimits+name) }
	rate := func(name string) int { return cmp.Or(limit(name), -1) }
	return Server{
		Listen: get[string](s, "server.listen"), Remote: get[bool](s, "server.remote"),
		Hosts: get[[]string](s, "server.hosts"), Origins: get[[]string](s, "server.origins"),
		Grace: time.Duration(get[Duration](s, "server.grace")), OTLP: get[string](s, "telemetry.otlp"),
		Cert: get[string](s, "server.tls_cert"), Key: get[string](s, "server.tls_key"),
		ACME:          get[[]string](s, serverACME+"hosts"),
		ACMEDirectory: get[string](s, serverACME+"directory"), ACMEEmail: get[string](s, serverACME+"email"),
		ACMEFolder: get[string](s, serverACME+"folder"),
		Limits: auth.DoorLimits{
			PerCredential: limit(auth.LimitCredentialRequests), PerAddress: limit(auth.LimitAddressRequests),
			CredentialRate: rate(auth.LimitCredentialRate), AddressRate: rate(auth.LimitAddressRate),
		},
		LargeJobs: limit("large_jobs"),
	}
}

// Scheme returns "https" if there is a certificate or will be one, else "http".
func (s Server) Scheme() string {
	if s.Cert != "" || s.Key != "" || len(s.ACME) > 0 {
		return "https"
	}
	return "http"
}

// readBound parses how many requests there may be in a second.
func readBound(l literal) (any, error) {
	if n, ok := l.whole(0); ok && n <= 1e9 {
		return int(n), nil
	}
	return nil, errors.New("wants a number of requests in a second, 0 for no limit")
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
