package exam

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/account"
	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/retention"
)

// An OpenSession is a session with its history, the lines before the cut. It is not safe for
// concurrent use.
type OpenSession struct {
	*Session

	Whole string // the whole history as a window

	history []byte
	desk    *retention.Desk
	prefix  []retention.Message
}

// Open reads the history of a session. The path of the conversation is relative to folder, or to
// the folder of the exam if folder is empty. Strategies use the weights of the model m and the
// prior p; nil means the built-in ones. It fails with an [*Error] if a string of a question is not
// in the history.
func (s *Session) Open(folder string, m *facts.Model, p *account.Prior) (*OpenSession, error) {
	history, err := s.History(folder)
	if err != nil {
		return nil, err
	}
	x := &OpenSession{Session: s, history: history}
	if x.desk, err = retention.NewDesk(s.ID, "", history, m, p); err != nil {
		return nil, s.fail("", "conversation", "%s: %w", s.Conversation, err)
	}
	if x.Whole, err = rendered(x.desk.Whole()); err != nil {
		return nil, s.fail("", "conversation", "%s: %w", s.Conversation, err)
	}
	if missed := s.Score(x.Whole, len(x.Whole)).Missed; len(missed) > 0 {
		more := ""
		if n := len(missed) - 1; n > 0 {
			more = fmt.Sprintf("; strings of this session that are missing besides: %d", n)
		}
		return nil, s.fail(missed[0].Question, "must_have", "%q is not in %s of %s, in one line or two adjacent lines%s", missed[0].String, linesOf(s.Lines), s.Conversation, more)
	}
	return x, nil
}

func linesOf(n int) string {
	if n == 0 {
		return "the messages"
	}
	return fmt.Sprintf("the first %d lines", n)
}

// rendered renders a request, or returns err if it is not nil.
func rendered(request []byte, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return Render(request)
}

// messages returns the messages from which the simple methods choose: the history without the
// system text at its beginning.
func (s *OpenSession) messages() ([]retention.Message, error) {
	if s.prefix == nil {
		t, err := retention.Read(s.Conversation, "", s.history)
		if err != nil {
			return nil, s.fail("", "conversation", "%s: %w", s.Conversation, err)
		}
		s.prefix = t.Messages[t.Pinned:]
	}
	return s.prefix, nil
}

// Limit returns the most bytes of a window for a share in percent.
func (s *OpenSession) Limit(share int) int { return len(s.Whole) * share / 100 }

// fill calls the function window for up to nine targets, and returns the largest window of at most
// limit bytes among the results. The targets are in tokens. fill chooses them by binary search
// between a twelfth and a half of limit. If no window has at most limit bytes, it returns "".
func fill(limit int, window func(target int) (string, error)) (string, error) {
	best := ""
	low, high := limit/12, limit/2
	for range 9 {
		at := (low + high) / 2
		w, err := window(at)
		switch {
		case errors.Is(err, carrel.ErrBudget):
			low = at
		case err != nil:
			return "", err
		case len(w) > limit:
			high = at
		default:
			if len(w) > len(best) {
				best = w
			}
			low = at
		}
		if len(best)*100 >= limit*99 {
			break
		}
	}
	return best, nil
}

// The kinds of methods.
const (
	KindStrategy = "strategy" // a strategy of Carrel's engine
	KindSimple   = "simple"   // a simple method of package retention
	KindPeer     = "peer"     // a package of other authors
	KindWhole    = "whole"    // the whole history
	KindWindows  = "windows"  // windows from a folder
)

// A Method is a way to make a window of a history.
type Method struct {
	Name string
	Kind string

	// Window returns the window of a session. It should have at most limit bytes, but may have
	// more. It is empty if the method cannot make one so small.
	Window func(s *OpenSession, limit int) (string, error)
}

// Strategies returns a method for each strategy in list, with the same name.
func Strategies(list ...carrel.Strategy) []Method {
	var methods []Method
	for _, strategy := range list {
		methods = append(methods, Method{string(strategy), KindStrategy, func(s *OpenSession, limit int) (string, error) {
			return fill(limit, func(target int) (string, error) { return rendered(s.desk.Window(s.desk.Stays+target, strategy)) })
		}})
	}
	return methods
}

// Simple returns the simple methods of package retention.
func Simple() []Method { return packing(KindSimple, retention.Simple()) }

// Peers returns the methods of peers. The windows of a peer are valid only if [retention.Peer.Err]
// returns nil after it has made them.
func Peers(peers []*retention.Peer) []Method {
	var methods []Method
	for _, p := range peers {
		methods = append(methods, packing(KindPeer, p.Methods())...)
	}
	return methods
}

func packing(kind string, list []retention.Method) []Method {
	var methods []Method
	for _, m := range list {
		methods = append(methods, Method{m.Name, kind, func(s *OpenSession, limit int) (string, error) {
			prefix, err := s.messages()
			if err != nil {
				return "", err
			}
			return fill(limit, func(target int) (string, error) { return rendered(retention.Request(m.Pack(prefix, target))) })
		}})
	}
	return methods
}

// Whole returns the method whose window is the whole history, whatever the share.
func Whole() Method {
	return Method{"whole", KindWhole, func(s *OpenSession, _ int) (string, error) { return s.Whole, nil }}
}

// Methods returns the methods of a list of names, separated by commas: "carrel" means all
// strategies, "baselines" all simple methods, "peers" the given peers, and "all" all of these.
func Methods(list string, peers []Method) ([]Method, error) {
	strategies, simple := Strategies(carrel.Strategies()...), Simple()
	all := slices.Concat(strategies, simple, peers)
	known := slices.Concat(all, []Method{Whole()})
	groups := map[string][]Method{"all": all, "carrel": strategies, "baselines": simple, "peers": peers}
	var methods []Method
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		named, isGroup := groups[name]
		if !isGroup {
			i := slices.IndexFunc(known, func(m Method) bool { return m.Name == name })
			if i < 0 {
				return nil, fmt.Errorf("no method is called %q: there are all, carrel, baselines, %s", name, strings.Join(MethodNames(peers), ", "))
			}
			named = known[i : i+1]
		}
		for _, m := range named {
			if !slices.ContainsFunc(methods, func(o Method) bool { return o.Name == m.Name }) {
				methods = append(methods, m)
			}
		}
	}
	return methods, nil
}

// MethodNames returns the names of all methods.
func MethodNames(peers []Method) []string {
	var names []string
	for _, m := range slices.Concat(Strategies(carrel.Strategies()...), Simple(), peers, []Method{Whole()}) {
		names = append(names, m.Name)
	}
	return names
}

// Folder returns the methods whose windows are in a folder. Each subfolder has the windows of a
// method with the subfolder's name. Without subfolders the folder has the windows of a method
// with its own name. A window is a file SESSION.txt with its text, or SESSION.json with a
// request in any format that Carrel reads.
func Folder(folder string) ([]Method, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var methods []Method
	for _, e := range entries {
		if e.IsDir() {
			methods = append(methods, windowsIn(e.Name(), filepath.Join(folder, e.Name())))
		}
	}
	if len(methods) == 0 {
		at, err := filepath.Abs(folder)
		if err != nil {
			return nil, err
		}
		methods = append(methods, windowsIn(filepath.Base(at), folder))
	}
	return methods, nil
}

func windowsIn(name, folder string) Method {
	return Method{name, KindWindows, func(s *OpenSession, _ int) (string, error) {
		text, err := os.ReadFile(filepath.Join(folder, s.ID+".txt"))
		if !errors.Is(err, fs.ErrNotExist) {
			return string(text), err
		}
		path := filepath.Join(folder, s.ID+".json")
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return "", &Error{File: folder, Err: fmt.Errorf("there is no window of this session: put it into %s.txt or %s.json in this folder", s.ID, s.ID)}
		}
		if err != nil {
			return "", err
		}
		desk, err := retention.NewDesk(s.ID, "", data, nil, nil)
		if err != nil {
			return "", &Error{File: path, Err: err}
		}
		return rendered(desk.Whole())
	}}
}

// A Window is the window that a method made of a session.
type Window struct {
	*OpenSession

	Method *Method
	Text   string
	Limit  int // the most bytes that the window should have
}

// File returns the path of a window below a folder that [Folder] reads.
func (w *Window) File() string { return filepath.Join(w.Method.Name, w.ID+".txt") }

// Windows makes a window of each session with each method, one after the other, and passes it to
// the function use. share is the limit of a window in percent. It stops at the first error, or when
// ctx is done.
func Windows(ctx context.Context, sessions []*OpenSession, methods []Method, share int, use func(w *Window) error) error {
	for _, s := range sessions {
		for i := range methods {
			if err := ctx.Err(); err != nil {
				return err
			}
			w := &Window{OpenSession: s, Method: &methods[i], Limit: s.Limit(share)}
			if w.Method.Kind == KindWhole {
				w.Limit = len(s.Whole)
			}
			var err error
			if w.Text, err = w.Method.Window(s, w.Limit); err != nil {
				return fmt.Errorf("session %s, method %s: %w", s.ID, w.Method.Name, err)
			}
			if err := use(w); err != nil {
				return err
			}
		}
	}
	return nil
}
