package e2e

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/carrel-dev/carrel/api"
	remote "github.com/carrel-dev/carrel/client"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/transcript"
)

// nodeWrites is how many appends are made over nodes that are killed: few enough for every
// day, unless CARREL_TEST_NODES says otherwise.
func nodeWrites(t *testing.T) int {
	t.Helper()
	text := os.Getenv("CARREL_TEST_NODES")
	if text == "" {
		return 60
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("CARREL_TEST_NODES is %q, want a number of writes", text)
	}
	return n
}

// A node is a carrel that serves as a process of its own, and is another one after it was
// killed.
type node struct {
	env []string

	turn sync.Mutex // of who restarts it

	mu  sync.Mutex
	cmd *exec.Cmd
	url string
}

// start starts the node, on a port that is free.
func (n *node) start() error {
	cmd := exec.Command(carrelProgram, "serve", "--listen", "127.0.0.1:0", "--json")
	cmd.Env = n.env
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var record struct{ URL string }
	if err == nil {
		err = json.Unmarshal(line, &record)
	}
	if err == nil && record.URL == "" {
		err = fmt.Errorf("the node did not start: %s", line)
	}
	if err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cmd, n.url = cmd, record.URL
	return nil
}

// kill ends the node in the middle of whatever it does.
func (n *node) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	_ = n.cmd.Process.Kill() // it may have ended
	_ = n.cmd.Wait()         // it was killed
}

// restart kills the node and starts it again.
func (n *node) restart() error {
	n.turn.Lock()
	defer n.turn.Unlock()
	n.kill()
	return n.start()
}

func (n *node) client(credential string) (*remote.Client, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return remote.New(n.url, &remote.Options{Credential: credential, Retries: remote.NoRetries})
}

// A done is an append that was acknowledged, or found to have been made.
type done struct {
	text       string
	begun, end int64 // on a clock that counts
	at         int   // its place, or -1 if nobody said
}

// A writer appends messages by any node, and asks the next if one fails.
type writer struct {
	nodes      []*node
	credential string
	session    transcript.SessionID
	rng        *rand.Rand
	clock      *atomic.Int64
}

const nodeScope governance.Scope = "acme/web"

// texts returns the messages of a session, in order.
func texts(ctx context.Context, c *remote.Client, session transcript.SessionID) ([]string, error) {
	res, err := c.Export(ctx, nodeScope, &api.ExportRequest{Session: session, Whole: true})
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var body struct{ Messages []struct{ Content string } }
	if err := json.Unmarshal(res.Data, &body); err != nil {
		return nil, err
	}
	var all []string
	for _, m := range body.Messages {
		all = append(all, m.Content)
	}
	return all, nil
}

// append appends a message once, however often it has to be tried.
func (w *writer) append(ctx context.Context, text string) (*done, error) {
	d := &done{text: text, begun: w.clock.Add(1)}
	message, err := json.Marshal(map[string]string{"role": "user", "content": text})
	if err != nil {
		return nil, err
	}
	var last error
	for range 500 {
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(err, last)
		}
		c, err := w.nodes[w.rng.IntN(len(w.nodes))].client(w.credential)
		if err != nil {
			return nil, err
		}
		have, err := texts(ctx, c, w.session)
		if err != nil {
			last = err
			continue
		}
		if at := slices.Index(have, text); at >= 0 { // an attempt that seemed to fail was made
			d.at, d.end = at, w.clock.Add(1)
			return d, nil
		}
		_, err = c.Append(ctx, nodeScope, &api.AppendRequest{Session: w.session, Messages: []json.RawMessage{message}, At: new(len(have))})
		if err == nil {
			d.at, d.end = len(have), w.clock.Add(1)
			return d, nil
		}
		last = err
	}
	return nil, fmt.Errorf("%s: %w", text, last)
}

// judge returns what is wrong with what is in a session, given what was acknowledged: a list
// to whose end is appended is linearizable if each message is there once, where its writer was
// told, and none is before one that was acknowledged when it began.
func judge(have []string, acknowledged []*done) (problems []string) {
	places := make(map[string]int, len(have))
	for i, text := range have {
		if _, twice := places[text]; twice {
			problems = append(problems, text+" is there twice")
		}
		places[text] = i
	}
	if len(have) != len(acknowledged) {
		problems = append(problems, fmt.Sprintf("%d messages are there, %d were acknowledged", len(have), len(acknowledged)))
	}
	for _, d := range acknowledged {
		if at, ok := places[d.text]; !ok {
			problems = append(problems, d.text+" is lost")
		} else if at != d.at {
			problems = append(problems, fmt.Sprintf("%s is at %d, its writer was told %d", d.text, at, d.at))
		}
	}
	slices.SortFunc(acknowledged, func(a, b *done) int { return a.at - b.at })
	latest := int64(0) // beginning of those that come before
	for _, d := range acknowledged {
		if d.end < latest {
			problems = append(problems, fmt.Sprintf("%s is behind one that began when it was acknowledged already", d.text))
		}
		latest = max(latest, d.begun)
	}
	return problems
}

func TestJudgeBites(t *testing.T) {
	sound := func() []*done {
		return []*done{{"a", 1, 2, 0}, {"b", 3, 6, 1}, {"c", 4, 5, 2}}
	}
	if got := judge([]string{"a", "b", "c"}, sound()); len(got) > 0 {
		t.Errorf("a sound history: %q", got)
	}
	for name, spoil := range map[string]func(have []string, all []*done) ([]string, []*done){
		"is lost":           func(have []string, all []*done) ([]string, []*done) { return have[:2], all },
		"is there twice":    func(have []string, all []*done) ([]string, []*done) { return append(have, "a"), all },
		"its writer was":    func(_ []string, all []*done) ([]string, []*done) { return []string{"a", "c", "b"}, all },
		"were acknowledged": func(have []string, all []*done) ([]string, []*done) { return append(have, "x"), all },
		"is behind one": func(_ []string, all []*done) ([]string, []*done) {
			all[0].at, all[1].at = 1, 0
			return []string{"b", "a", "c"}, all
		},
	} {
		if got := judge(spoil([]string{"a", "b", "c"}, sound())); !strings.Contains(strings.Join(got, "; "), name) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Three nodes over one database, as processes that are killed and started again, while the
// server ends their connections: every message that was acknowledged is there, once, where
// its writer was told, and each session's history is linearizable.
func TestNodesLoseNothing(t *testing.T) {
	address := postgres.New(t)
	buildCarrel(t)
	dir := t.TempDir()
	env := append(os.Environ(), "CARREL_STORE="+address, "CARREL_CREDENTIAL_KEY_FILE="+filepath.Join(dir, "key"),
		"XDG_STATE_HOME="+dir, "XDG_RUNTIME_DIR="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	s := &server{t: t, env: env}
	var minted struct{ Credential string }
	if err := json.Unmarshal(s.run("", carrelProgram, "credential", "create", "--actor", "writer", "--for", string(nodeScope), "--json"), &minted); err != nil {
		t.Fatal(err)
	}
	nodes := make([]*node, 3)
	for i := range nodes {
		nodes[i] = &node{env: env}
		if err := nodes[i].start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(nodes[i].kill)
	}

	const writers, sessions = 4, 3
	each := max(1, nodeWrites(t)/writers)
	var clock, made, kills atomic.Int64
	var mu sync.Mutex
	histories := make(map[transcript.SessionID][]*done)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 24)) //nolint:gosec // no secret
			for n := range each {
				w := &writer{nodes, minted.Credential, transcript.SessionID(fmt.Sprintf("s%d", rng.IntN(sessions))), rng, &clock}
				d, err := w.append(t.Context(), fmt.Sprintf("writer %d, message %d", i, n))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				histories[w.session] = append(histories[w.session], d)
				mu.Unlock()
				switch made.Add(1) % 20 {
				case 7: // while the others go on
					kills.Add(1)
					if err := nodes[rng.IntN(len(nodes))].restart(); err != nil {
						t.Error(err)
						return
					}
				case 17:
					postgres.One(t).SQL(t, "postgres", `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'carrel'`)
				}
			}
		})
	}
	wg.Wait()
	if kills.Load() == 0 {
		t.Error("no node was killed")
	}
	t.Logf("%d writes, %d kills", made.Load(), kills.Load())
	for session, acknowledged := range histories {
		for _, n := range nodes {
			c, err := n.client(minted.Credential)
			if err != nil {
				t.Fatal(err)
			}
			have, err := texts(t.Context(), c, session)
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range judge(have, acknowledged) {
				t.Errorf("session %s: %s", session, problem)
			}
		}
	}
	s.run("", carrelProgram, "store", "check")
}
