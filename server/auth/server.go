package auth

import (
	"cmp"
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

// ServerOptions adjusts what [Server] returns. The zero value of every field is a
// sensible default, so a nil *ServerOptions is too.
type ServerOptions struct {
	// Header is how long a client may take to send the header of a request. The default
	// is 5 seconds.
	Header time.Duration

	// Read is how long it may take to send a whole request. The default is 30 seconds.
	Read time.Duration

	// Write is how long an answer may take, from the end of the request's header on.
	// The default is two minutes. An answer that takes longer sets deadlines
	// of its own, with an http.ResponseController.
	Write time.Duration

	// Idle is how long a connection is kept between requests. The default is two
	// minutes.
	Idle time.Duration

	// MaxHeader is how many bytes the header of a request has at most. The default is
	// 16 KiB.
	MaxHeader int

	// ErrorLog is told what goes wrong with connections, and of handlers that panic. The
	// default discards it: a panic may show what a handler was working on.
	ErrorLog *log.Logger
}

// Server returns a server for a handler that has a time limit for everything that a
// client can be slow at.
func Server(h http.Handler, opts *ServerOptions) *http.Server {
	var o ServerOptions
	if opts != nil {
		o = *opts
	}
	if o.ErrorLog == nil {
		o.ErrorLog = log.New(io.Discard, "", 0)
	}
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: cmp.Or(o.Header, 5*time.Second),
		ReadTimeout:       cmp.Or(o.Read, 30*time.Second),
		WriteTimeout:      cmp.Or(o.Write, 2*time.Minute),
		IdleTimeout:       cmp.Or(o.Idle, 2*time.Minute),
		MaxHeaderBytes:    cmp.Or(o.MaxHeader, 16<<10),
		ErrorLog:          o.ErrorLog,

		// A refusal of what no handler gets to see tells nothing, either.
		DisableGeneralOptionsHandler: true,
	}
}

// ErrRemote means that an address can be reached from other machines, and nobody has
// said that it should be.
var ErrRemote = errors.New("address is not of this machine alone")

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
