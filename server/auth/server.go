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

// Server returns a server for a handler that has a time limit for everything that a
// client can be slow at. An answer that takes longer than two minutes sets deadlines of
// its own, with an http.ResponseController. What goes wrong with connections, and what a
// handler panics with, is discarded: it may show what the handler was working on.
func Server(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      2 * time.Minute, // from the end of the request's header on
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),

		// A refusal of what no handler gets to see tells nothing, either.
		DisableGeneralOptionsHandler: true,
	}
}

// ErrRemote means that an address can be reached from other machines, and nobody has
// said that it should be.
var ErrRemote = errors.New("address is not of this machine alone")

// A Listener is what [Listen] returns.
type Listener = net.Listener

// Listen listens at host:port. Unless allowRemote is set the host is "localhost" or an
// address of the loopback interface, or else the error is an [ErrRemote]: a name may
// lead anywhere, and no host at all is all interfaces.
func Listen(addr string, allowRemote bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("listen at %q: want host:port, such as 127.0.0.1:0", addr)
	}
	if host == "localhost" {
		host = "127.0.0.1" // whatever the machine takes it for
	}
	if ip, err := netip.ParseAddr(host); !allowRemote && (err != nil || !ip.Unmap().IsLoopback()) {
		return nil, fmt.Errorf("listen at %q: %w", addr, ErrRemote)
	}
	return (&net.ListenConfig{}).Listen(context.Background(), "tcp", net.JoinHostPort(host, port))
}
