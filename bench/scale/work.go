package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/client"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/test/postgres"
	"github.com/carrel-dev/carrel/provenance"
	"github.com/carrel-dev/carrel/transcript"
)

const scope governance.Scope = "bench/scale"

// The kinds of operations, in the order in which they are done.
const (
	kindAppend   = "append"
	kindPage     = "page"
	kindAssemble = "assemble"
	kindRecall   = "recall"
)

var kinds = []string{kindAppend, kindPage, kindAssemble, kindRecall}

// A work says how much is measured.
type work struct {
	n, artifacts, clients int
	carrel                string
}

// A stage is an arrangement whose nodes and database run.
type stage struct {
	clients  []*client.Client // one for each node
	nodes    []int            // their processes
	database int              // process of the server of the database, or 0
	meter    *meter           // or nil
	blocks   []transcript.BlockID
}

// limits is the configuration that turns off the servers' rate limits, because all clients
// have the same credential and address.
const limits = "[server.limits]\ncredential_rate = 0\naddress_rate = 0\n"

// measure starts an arrangement, does all operations in it, and returns the figure of each
// kind.
func (w *work) measure(ctx context.Context, q *quitter, a arrangement) (map[string]figure, error) {
	mine := new(quitter)
	defer func() { _ = mine.end() }()
	s, err := w.start(ctx, mine, a)
	if err != nil {
		return nil, err
	}
	if err := w.prepare(ctx, s); err != nil {
		return nil, err
	}
	figures := make(map[string]figure)
	for _, kind := range kinds {
		n := w.n
		if kind == kindPage {
			n /= 4
		}
		if _, err := w.do(ctx, s, kind, -w.clients, 0); err != nil { // until caches are warm
			return nil, err
		}
		if figures[kind], err = w.do(ctx, s, kind, 0, n); err != nil {
			return nil, err
		}
	}
	q.errs = append(q.errs, mine.errs...)
	return figures, nil
}

// start starts the nodes of an arrangement, and its database if it has one.
func (w *work) start(ctx context.Context, q *quitter, a arrangement) (*stage, error) {
	dir, err := os.MkdirTemp("", "carrel-scale-")
	if err != nil {
		return nil, err
	}
	q.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "carrel"), 0o700), os.WriteFile(filepath.Join(dir, "carrel", "config.toml"), []byte(limits), 0o600)); err != nil {
		return nil, err
	}
	s, place := new(stage), filepath.Join(dir, "carrel.db")
	if a.postgres {
		err := try(func() {
			cluster := postgres.Start(q)
			place = cluster.Database(q)
			pid, _, _ := strings.Cut(cluster.SQL(q, "postgres", "SELECT pg_read_file('postmaster.pid')"), "\n")
			s.database, err = strconv.Atoi(pid)
		})
		if err != nil {
			return nil, err
		}
		if s.meter, place, err = between(q, place); err != nil {
			return nil, err
		}
	}
	env := append(os.Environ(), "CARREL_STORE="+place, "CARREL_CREDENTIAL_KEY_FILE="+filepath.Join(dir, "key"),
		"XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_RUNTIME_DIR="+dir)
	mint := exec.CommandContext(ctx, w.carrel, "credential", "create", "--actor", "bench", "--for", string(scope), "--allow", "read,write,review")
	mint.Env = env
	credential, err := mint.Output()
	if err != nil {
		return nil, fmt.Errorf("credential: %w", err)
	}
	for range a.nodes {
		n, err := serve(q, w.carrel, env)
		if err != nil {
			return nil, err
		}
		c, err := client.New(n.url, &client.Options{Credential: strings.TrimSpace(string(credential)), Retries: client.NoRetries})
		if err != nil {
			return nil, err
		}
		s.clients, s.nodes = append(s.clients, c), append(s.nodes, n.pid)
	}
	return s, nil
}

// message returns a message of about 1 kB.
func message(n int) json.RawMessage {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "Step %d of case %d: service %d waits for its queue. ", i, n, (n*61+i)%997)
	}
	m, err := json.Marshal(map[string]string{"role": []string{"user", "assistant"}[n%2], "content": text.String()})
	if err != nil {
		panic(err) // a map of strings can be encoded
	}
	return m
}

func messages(n int) (list []json.RawMessage) {
	for i := range n {
		list = append(list, message(i))
	}
	return list
}

// prepare stores the artifacts and sessions that the operations need.
func (w *work) prepare(ctx context.Context, s *stage) error {
	var all []*api.NewArtifact
	for i := range w.artifacts {
		all = append(all, &api.NewArtifact{Class: provenance.Document, Title: fmt.Sprintf("case %d", i), Content: message(i), AllowSecrets: true})
	}
	for part := range slices.Chunk(all, 500) {
		if _, err := s.clients[0].Put(ctx, scope, &api.PutRequest{Artifacts: part}); err != nil {
			return err
		}
	}
	for i := -w.clients; i < w.n/4; i++ {
		if _, err := s.clients[0].Append(ctx, scope, &api.AppendRequest{Session: paged(i), Messages: messages(40)}); err != nil {
			return err
		}
	}
	list, err := s.clients[0].Messages(ctx, scope, &api.MessagesRequest{Session: paged(0)})
	if err != nil {
		return err
	}
	for i := range list.Messages {
		s.blocks = append(s.blocks, list.Messages[i].ID)
	}
	return nil
}

// paged returns the id of the session that operation i of the kind page compresses.
func paged(i int) transcript.SessionID { return transcript.SessionID(fmt.Sprintf("paged.%d", i+1000)) }

// one does the operation number i of a kind.
func (w *work) one(ctx context.Context, s *stage, kind string, i int) (err error) {
	k := i + w.clients // not below 0
	c := s.clients[k%len(s.clients)]
	switch kind {
	case kindAppend:
		session := transcript.SessionID(fmt.Sprintf("client.%d", k%w.clients))
		_, err = c.Append(ctx, scope, &api.AppendRequest{Session: session, Messages: []json.RawMessage{message(k)}})
	case kindPage:
		_, err = c.Compress(ctx, scope, &api.CompressRequest{Session: paged(i), Target: api.Target{Tokens: 1500}})
	case kindAssemble:
		_, err = c.Assemble(ctx, scope, &api.AssembleRequest{Query: fmt.Sprintf("why does service %d wait in case %d", k%97, k), Budget: 8000, Format: "text"})
	case kindRecall:
		_, err = c.Recall(ctx, scope, &api.RecallRequest{Block: string(s.blocks[k%len(s.blocks)])})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

// do does the operations of a kind with the numbers from (inclusive) to (exclusive), and
// returns their figure.
func (w *work) do(ctx context.Context, s *stage, kind string, from, to int) (figure, error) {
	nodes, database, trips, err := s.spent()
	if err != nil {
		return figure{}, err
	}
	took := make([]time.Duration, to-from)
	errs := make([]error, w.clients)
	var all sync.WaitGroup
	for c := range w.clients {
		all.Go(func() {
			for i := from + c; i < to && errs[c] == nil; i += w.clients {
				begun := time.Now()
				errs[c] = w.one(ctx, s, kind, i)
				took[i-from] = time.Since(begun)
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return figure{}, err
	}
	nodesAfter, databaseAfter, tripsAfter, err := s.spent()
	if err != nil {
		return figure{}, err
	}
	slices.Sort(took)
	n := time.Duration(len(took))
	return figure{
		node: (nodesAfter - nodes) / n, database: (databaseAfter - database) / n,
		trips: float64(tripsAfter-trips) / float64(n), median: took[len(took)/2],
	}, nil
}

// spent returns the processor time of the nodes and of the database, and the number of
// round trips, so far.
func (s *stage) spent() (nodes, database time.Duration, trips int64, err error) {
	if nodes, err = spent(s.nodes...); err != nil || s.database == 0 {
		return nodes, 0, 0, err
	}
	pids, err := family(s.database)
	if err != nil {
		return 0, 0, 0, err
	}
	database, err = spent(pids...)
	return nodes, database, s.meter.trips.Load(), err
}
