package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/carrel-dev/carrel/internal/rawjson"
)

// lines is the transport of standard input and output: a message a line. Unlike that
// of the SDK it outlives a line that is no message, and answers it; and when the
// input ends, what was asked before is answered still.
type lines struct {
	in  io.Reader
	out io.Writer
}

// Connect implements the interface of the SDK.
func (l *lines) Connect(context.Context) (sdk.Connection, error) {
	c := &lineConn{out: l.out, incoming: make(chan incoming), closed: make(chan struct{}), wrote: make(chan struct{}, 1), owed: make(map[jsonrpc.ID]bool)}
	go c.scan(bufio.NewReaderSize(l.in, 64<<10))
	return c, nil
}

// A lineConn is the one connection of a program that was started for it. A read of
// standard input cannot be interrupted, so it is done in a goroutine that ends with
// the input.
type lineConn struct {
	incoming chan incoming
	once     sync.Once
	closed   chan struct{}
	wrote    chan struct{} // has something if anything was written since it was looked at

	mu    sync.Mutex
	out   io.Writer
	owed  map[jsonrpc.ID]bool // answers to the client
	asked int                 // questions to the client that it has not answered
}

type incoming struct {
	line []byte
	err  error
}

// errLong means that a line is longer than any message.
var errLong = errors.New("the message is too long")

func (c *lineConn) scan(r *bufio.Reader) {
	for {
		line, err := readLine(r)
		if len(line) > 0 || err != nil {
			select {
			case c.incoming <- incoming{line, err}:
			case <-c.closed:
				return
			}
		}
		if err != nil && !errors.Is(err, errLong) {
			return
		}
	}
}

// readLine returns the next line without what ends it. One that is too long is read
// to its end and is an errLong. The last line may lack its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxMessage+1; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLong
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			return bytes.TrimSpace(line), nil // the end comes again
		default:
			return bytes.TrimSpace(line), err
		}
	}
}

// Read returns the next message. What is none is answered and passed over.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.closed:
			return nil, io.EOF
		case in := <-c.incoming:
			if in.err != nil && !errors.Is(in.err, errLong) {
				return nil, c.settle(ctx, in.err)
			}
			msg, refused := decode(in)
			if refused == nil && c.received(msg) {
				return msg, nil
			}
			if refused == nil {
				refused = refusal(jsonrpc.CodeInvalidRequest, "a call with this id is not answered yet")
			}
			if err := c.write(refused); err != nil {
				return nil, err
			}
		}
	}
}

// settle waits at the end of the input until everything that came before it is
// answered, and returns that end. A client that is gone answers no questions, so
// that there is no waiting for what depends on them.
func (c *lineConn) settle(ctx context.Context, end error) error {
	for {
		c.mu.Lock()
		settled := len(c.owed) == 0 || c.asked > 0
		c.mu.Unlock()
		if settled {
			return end
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.closed:
			return end
		case <-c.wrote:
		}
	}
}

// received notes what a message of the client owes or settles. It reports whether the
// message can be taken: two calls with one id cannot be told apart.
func (c *lineConn) received(msg jsonrpc.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if m.IsCall() && c.owed[m.ID] {
			return false
		}
		if m.IsCall() {
			c.owed[m.ID] = true
		}
	case *jsonrpc.Response:
		c.asked = max(c.asked-1, 0) // some answer what nobody asked
	}
	return true
}

// sent notes what a message to the client asks or settles.
func (c *lineConn) sent(msg jsonrpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			c.asked++
		}
	case *jsonrpc.Response:
		delete(c.owed, m.ID)
	}
}

// decode returns the message in a line, or the answer to what is none.
func decode(in incoming) (jsonrpc.Message, []byte) {
	switch {
	case in.err != nil:
		return nil, refusal(jsonrpc.CodeInvalidRequest, in.err.Error())
	case !utf8.Valid(in.line) || !rawjson.Valid(in.line):
		return nil, refusal(jsonrpc.CodeParseError, "the line is no JSON, or is nested too deeply")
	}
	msg, err := jsonrpc.DecodeMessage(in.line)
	if err != nil {
		return nil, refusal(jsonrpc.CodeInvalidRequest, "the line is no message of JSON-RPC 2.0")
	}
	return msg, nil
}

// refusal returns the answer to something whose id nobody knows.
func refusal(code int64, text string) []byte {
	b := append([]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":`), strconv.FormatInt(code, 10)...)
	b = append(b, `,"message":`...)
	return append(rawjson.AppendString(b, text), "}}"...)
}

// Write writes a message in a line.
func (c *lineConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	c.sent(msg)
	return c.write(data)
}

func (c *lineConn) write(data []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.out.Write(append(data, '\n'))
	select {
	case c.wrote <- struct{}{}:
	default:
	}
	return err
}

// Close ends the connection. It may be called more than once.
func (c *lineConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID returns "": there is one session only.
func (c *lineConn) SessionID() string { return "" }
