package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// Server returns a server for a handler, with time limits for slow clients. A handler whose answer
// takes longer than two minutes must set its own deadlines with an http.ResponseController. The
// server discards its log of connection errors and panics, which may show content.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      2 * time.Minute, // from the end of the request's header
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),

		// Requests such as OPTIONS * go to the handler, too.
		DisableGeneralOptionsHandler: true,
	}
}

// ErrRemote means that an address can be reached from other machines, which was not allowed.
var ErrRemote = errors.New("the address can be reached from other machines")

// A Listener is the result of [Listen].
type Listener = net.Listener

// Listen listens at host:port. Unless allowRemote is set, the host must be "localhost" or a
// loopback address, otherwise Listen fails with [ErrRemote]: another name may resolve to any
// address, and an empty host means all interfaces.
func Listen(addr string, allowRemote bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen at %q: want host:port, such as 127.0.0.1:0", addr)
	}
	if host == "localhost" {
		host = "127.0.0.1" // without asking the resolver
	}
	if ip, err := netip.ParseAddr(host); !allowRemote && (err != nil || !ip.Unmap().IsLoopback()) {
		return nil, fmt.Errorf("listen at %q: %w", addr, ErrRemote)
	}
	return (&net.ListenConfig{}).Listen(context.Background(), "tcp", net.JoinHostPort(host, port))
}
