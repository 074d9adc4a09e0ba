package retention

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Peer is a program outside of Carrel that reduces prefixes with another package. It reads
// requests from its standard input and writes answers to its standard output, one JSON value on
// each line:
//
//	its first line   {"peer": name, "packages": {name: version}, "methods": [name]}
//	a request        {"id": 1, "method": name, "budget": tokens, "messages": [
//	                 {"role", "text", "calls": [{"id", "name", "args"}], "call_id", "tool"}]}
//	its answer       {"id": 1, "us": microseconds, "keep": [{"src": 0}]}
//	or               {"id": 1, "error": text}
//
// "keep" lists the messages to keep by their index in the request. A message with "text" gets
// that text. A message with "calls" keeps only the calls with those indexes. "us" is the time
// of the package alone, without conversions.
//
// A Peer is safe for concurrent use; it handles one request at a time.
type Peer struct {
	Name     string
	Packages []string // with their versions, as "name 1.2.3"

	methods []string
	path    string
	stderr  ending
	process *exec.Cmd
	wait    func() error

	mu  sync.Mutex
	in  io.WriteCloser
	out *json.Decoder
	id  int
	err error // first error
}

// StartPeer starts a program. It ends when the context is done or [Peer.Close] is called.
func StartPeer(ctx context.Context, path string, args ...string) (*Peer, error) {
	p := &Peer{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), path: path}
	if err := p.start(exec.CommandContext(ctx, path, args...)); err != nil {
		return nil, fmt.Errorf("start peer %s: %w", p.Name, err)
	}
	if err := p.greet(); err != nil {
		return nil, p.fail("no greeting", err)
	}
	return p, nil
}

func (p *Peer) start(cmd *exec.Cmd) error {
	cmd.Stderr = &p.stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if p.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	p.out, p.process, p.wait = json.NewDecoder(out), cmd, sync.OnceValue(cmd.Wait)
	return cmd.Start()
}

// greet reads the first line of the program.
func (p *Peer) greet() error {
	var hello struct {
		Peer     string            `json:"peer"`
		Packages map[string]string `json:"packages"`
		Methods  []string          `json:"methods"`
	}
	if err := p.out.Decode(&hello); err != nil {
		return err
	}
	if len(hello.Methods) == 0 {
		return errors.New("the first line of its output lists no methods")
	}
	p.Name = cmp.Or(hello.Peer, p.Name)
	p.methods = hello.Methods
	for _, name := range slices.Sorted(maps.Keys(hello.Packages)) {
		p.Packages = append(p.Packages, name+" "+hello.Packages[name])
	}
	return nil
}

// installed is the folder of the installed programs, inside the folder of the script that
// installs them.
var installed = filepath.Join(".installed", "bin")

// StartPeers starts all peers installed below a folder.
func StartPeers(ctx context.Context, folder string) ([]*Peer, error) {
	bin, err := filepath.Abs(filepath.Join(folder, installed))
	if err != nil {
		return nil, err
	}
	programs, err := os.ReadDir(bin)
	if err != nil || len(programs) == 0 {
		return nil, fmt.Errorf("-peers %s: no peers are installed there: run %s first", folder, filepath.Join(folder, "run"))
	}
	var peers []*Peer
	for _, f := range programs {
		p, err := StartPeer(ctx, filepath.Join(bin, f.Name()))
		if err != nil {
			return nil, errors.Join(err, ClosePeers(peers))
		}
		peers = append(peers, p)
	}
	return peers, nil
}

// ClosePeers ends peers and returns their errors.
func ClosePeers(peers []*Peer) error {
	var errs []error
	for _, p := range peers {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// Methods returns the methods of the program. After an error they return empty windows, so the
// caller must check [Peer.Err] before using results.
func (p *Peer) Methods() []Method {
	var methods []Method
	for _, name := range p.methods {
		pack := func(prefix []Message, budget int) ([]Message, time.Duration) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.err != nil {
				return nil, 0
			}
			out, took, err := p.ask(name, prefix, budget)
			if err != nil {
				_ = p.fail("method "+name, err) // Err returns it
			}
			return out, took
		}
		methods = append(methods, Method{
			Name: name,
			Pack: func(prefix []Message, budget int) []Message {
				out, _ := pack(prefix, budget)
				return out
			},
			packCase: func(c *Case, budget int, _ func() time.Time) ([]Message, time.Duration) {
				return pack(c.Prefix, budget)
			},
		})
	}
	return methods
}

// Err returns the first error, which is a [*PeerError].
func (p *Peer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Close ends the program and returns the error of [Peer.Err].
func (p *Peer) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	_ = p.in.Close() // fails if it was closed before
	if err := p.wait(); err != nil {
		return p.fail("it ended", err)
	}
	return nil
}

// fail ends the program because of an error, and returns the error with the program's name and
// output.
func (p *Peer) fail(doing string, err error) error {
	_ = p.in.Close()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("it ended: %w", cmp.Or(p.wait(), err))
	} else {
		_ = p.process.Process.Kill() // fails if the program has ended
		_ = p.wait()                 // the program was killed
	}
	p.err = &PeerError{Name: p.Name, Path: p.path, Said: p.stderr.String(), Err: fmt.Errorf("%s: %w", doing, err)}
	return p.err
}

// A PeerError is an error of a peer.
type PeerError struct {
	Name string
	Path string // path of the program
	Said string // end of its standard error
	Err  error
}

func (e *PeerError) Error() string {
	s := fmt.Sprintf("peer %s: %v", e.Name, e.Err)
	if e.Said != "" {
		s += "; it said:\n" + e.Said + "\n"
	} else {
		s += "; "
	}
	return s + "start " + e.Path + " by hand to see whether it greets, or install it again"
}

func (e *PeerError) Unwrap() error { return e.Err }

type peerRequest struct {
	ID       int       `json:"id"`
	Method   string    `json:"method"`
	Budget   int       `json:"budget"`
	Messages []Message `json:"messages"`
}

type peerAnswer struct {
	ID     int         `json:"id"`
	Micros *float64    `json:"us"`
	Keep   *[]peerKept `json:"keep"`
	Error  string      `json:"error"`
}

type peerKept struct {
	Source int     `json:"src"`
	Text   *string `json:"text"`
	Calls  *[]int  `json:"calls"`
}

// ask sends a request and returns the answer.
func (p *Peer) ask(method string, prefix []Message, budget int) ([]Message, time.Duration, error) {
	p.id++
	req := peerRequest{p.id, method, budget, prefix}
	if err := json.NewEncoder(p.in).Encode(&req); err != nil {
		return nil, 0, fmt.Errorf("%w: %w", io.ErrUnexpectedEOF, err)
	}
	var a peerAnswer
	switch err := p.out.Decode(&a); {
	case err != nil:
		return nil, 0, fmt.Errorf("read its answer: %w", err)
	case a.ID != req.ID:
		return nil, 0, fmt.Errorf("its answer is to request %d, not %d", a.ID, req.ID)
	case a.Error != "":
		return nil, 0, errors.New(a.Error)
	case a.Micros == nil || *a.Micros < 0:
		return nil, 0, errors.New("its answer has no field us, the time that it took")
	case a.Keep == nil:
		return nil, 0, errors.New("its answer has no field keep, the messages to keep")
	}
	out, err := kept(prefix, *a.Keep)
	return out, time.Duration(*a.Micros * float64(time.Microsecond)), err
}

// kept returns the messages that an answer keeps of a prefix.
func kept(prefix []Message, keep []peerKept) ([]Message, error) {
	out := make([]Message, len(keep))
	for i, k := range keep {
		if k.Source < 0 || k.Source >= len(prefix) {
			return nil, fmt.Errorf("its answer keeps message %d, but the request has %d messages", k.Source, len(prefix))
		}
		m := prefix[k.Source]
		if k.Text != nil {
			m.Text, m.Stubs = *k.Text, nil
		}
		if k.Calls != nil {
			m.Calls = nil
			for _, c := range *k.Calls {
				calls := prefix[k.Source].Calls
				if c < 0 || c >= len(calls) {
					return nil, fmt.Errorf("its answer keeps call %d, but there are %d calls in message %d", c, len(calls), k.Source)
				}
				m.Calls = append(m.Calls, calls[c])
			}
		}
		out[i] = m
	}
	return out, nil
}

// An ending keeps the last bytes that are written to it.
type ending []byte

const longestEnding = 2000 // bytes

func (e *ending) Write(data []byte) (int, error) {
	*e = append(*e, data...)
	*e = (*e)[max(0, len(*e)-longestEnding):]
	return len(data), nil
}

// String returns the kept text from its first complete line on. It must not be called during a
// Write.
func (e *ending) String() string {
	s := string(*e)
	if len(s) == longestEnding {
		if _, rest, ok := strings.Cut(s, "\n"); ok {
			s = rest
		}
	}
	return strings.TrimSpace(s)
}
