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
	"strconv"
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

const nodeScope governance.Scope = "acme/web"

// A remoteList is a session as a node has it.
type remoteList struct {
	client  *remote.Client
	session transcript.SessionID
}

// read returns the messages of the session, in order.
func (l *remoteList) read(ctx context.Context) ([]string, error) {
	res, err := l.client.Export(ctx, nodeScope, &api.ExportRequest{Session: l.session, Whole: true})
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

// add adds a message to the session if it has so many.
func (l *remoteList) add(ctx context.Context, text string, at int) error {
	message, err := json.Marshal(map[string]string{"role": "user", "content": text})
	if err != nil {
		return err
	}
	_, err = l.client.Append(ctx, nodeScope, &api.AppendRequest{Session: l.session, Messages: []json.RawMessage{message}, At: &at})
	return err
}

// Three nodes over one database, as processes that are killed and started again, while the server
// of the database ends their connections, is stopped, or crashes: every message that was
// acknowledged is there, once, where its writer was told, and each session's history is
// linearizable.
func TestNodesLoseNothing(t *testing.T) {
	cluster := postgres.Start(t)
	address := cluster.Database(t)
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

	const writers = 4
	each := max(1, nodeWrites(t)/writers)
	sessions := max(3, nodeWrites(t)/250) // each write reads a session, so that long ones take all the time
	var made, kills, restarts atomic.Int64
	var database sync.RWMutex // is held by who needs the server of the database
	restart := func(mode string) {
		database.Lock()
		defer database.Unlock()
		restarts.Add(1)
		cluster.Restart(t, mode)
	}
	histories := make([]history, sessions)
	list := func(node, session int) (appended, error) {
		c, err := nodes[node].client(minted.Credential)
		return &remoteList{c, transcript.SessionID(fmt.Sprintf("s%d", session))}, err
	}
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 24)) //nolint:gosec // no secret
			for n := range each {
				session := rng.IntN(sessions)
				err := histories[session].append(t.Context(), fmt.Sprintf("writer %d, message %d", i, n), func() (appended, error) {
					return list(rng.IntN(len(nodes)), session)
				})
				if err != nil {
					t.Error(err)
					return
				}
				switch made.Add(1) % 40 { // while the others go on
				case 7, 27:
					kills.Add(1)
					database.RLock()
					err := nodes[rng.IntN(len(nodes))].restart()
					database.RUnlock()
					if err != nil {
						t.Error(err)
						return
					}
				case 1, 5, 11, 17, 21, 25, 31, 37:
					database.RLock()
					cluster.SQL(t, "postgres", `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'carrel'`)
					database.RUnlock()
				case 14:
					restart("immediate")
				case 34:
					restart("fast")
				}
			}
		})
	}
	wg.Wait()
	if kills.Load() == 0 || restarts.Load() < 2 {
		t.Errorf("%d nodes were killed and the database was restarted %d times", kills.Load(), restarts.Load())
	}
	t.Logf("%d writes, %d kills, %d restarts of the database", made.Load(), kills.Load(), restarts.Load())
	for session := range histories {
		for node := range nodes {
			l, err := list(node, session)
			if err != nil {
				t.Fatal(err)
			}
			have, err := l.read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range histories[session].judge(have) {
				t.Errorf("session %d by node %d: %s", session, node, problem)
			}
		}
	}
	s.run("", carrelProgram, "store", "check")
}
