package retention

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/transcript"
)

// fakePeer names the variable that makes of the test binary a peer.
const fakePeer = "CARREL_TEST_PEER"

func TestMain(m *testing.M) {
	if way := os.Getenv(fakePeer); way != "" {
		bePeer(way)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// bePeer is a peer that behaves in one way.
func bePeer(way string) {
	switch way {
	case "mute":
		fmt.Fprintln(os.Stderr, "cannot find the package")
		os.Exit(1)
	case "idle":
		fmt.Println(`{"peer":"fake","methods":[]}`)
	case "chatty":
		fmt.Println("installed version 3")
	default:
		fmt.Println(`{"peer":"fake","packages":{"zip":"2.0.1","@a/b":"1.2.3"},"methods":["echo","first"]}`)
	}
	in := bufio.NewReader(os.Stdin)
	for {
		request, err := in.ReadString('\n')
		if err != nil {
			if way == "sulking" {
				os.Exit(4)
			}
			return
		}
		fmt.Println(answer(way, request))
	}
}

func answer(way, request string) string {
	var req struct {
		ID     int
		Method string
	}
	if err := json.Unmarshal([]byte(request), &req); err != nil {
		panic(err)
	}
	say := func(rest string) string { return fmt.Sprintf(`{"id":%d,%s}`, req.ID, rest) }
	switch way {
	case "dying":
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 3000)+"\nout of memory")
		os.Exit(3)
	case "babbling":
		return "hello"
	case "confused":
		return `{"id":77,"us":1,"keep":[]}`
	case "refusing":
		return say(`"error":"no such option"`)
	case "timeless":
		return say(`"keep":[{"src":0}]`)
	case "vague":
		return say(`"us":1`)
	case "inventing":
		return say(`"us":1,"keep":[{"src":4}]`)
	case "calling":
		return say(`"us":1,"keep":[{"src":1,"calls":[0,2]}]`)
	}
	if req.Method == "echo" {
		text, _ := json.Marshal(request)
		return say(`"us":1500.5,"keep":[{"src":0,"text":` + string(text) + `}]`)
	}
	return say(`"us":250,"keep":[{"src":0},{"src":1,"calls":[1]},{"src":3,"text":""}]`)
}

func startFake(t *testing.T, way string) (*Peer, error) {
	t.Helper()
	t.Setenv(fakePeer, way)
	return StartPeer(t.Context(), os.Args[0])
}

// asked is a prefix with a bit of everything.
func asked() []Message {
	return []Message{
		{Role: transcript.RoleUser, Text: "Mend <plan>.", Stubs: []Stub{{0, 4, []int{2}}}},
		{Role: transcript.RoleAssistant, Calls: []Call{{"1", "Read", `{"path":"a.go"}`}, {"2", "Bash", "ls"}}},
		{Role: transcript.RoleTool, Text: "a\nb", CallID: "1", Tool: "Read"},
		{Role: transcript.RoleTool, Text: "c", CallID: "2", Tool: "Bash"},
	}
}

func TestPeer(t *testing.T) {
	p, err := startFake(t, "good")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"@a/b 1.2.3", "zip 2.0.1"}, p.Packages); diff != "" || p.Name != "fake" {
		t.Errorf("peer %s, packages (-want +got):\n%s", p.Name, diff)
	}
	methods := p.Methods()
	if len(methods) != 2 || methods[0].Name != "echo" || methods[1].Name != "first" {
		t.Fatalf("methods %+v", methods)
	}

	// What the program gets is what the doc comment of Peer promises.
	out, took := methods[0].packCase(&Case{Prefix: asked()}, 12, nil)
	want := `{"id":1,"method":"echo","budget":12,"messages":[{"role":"user","text":"Mend \u003cplan\u003e."},` +
		`{"role":"assistant","text":"","calls":[{"id":"1","name":"Read","args":"{\"path\":\"a.go\"}"},{"id":"2","name":"Bash","args":"ls"}]},` +
		`{"role":"tool","text":"a\nb","call_id":"1","tool":"Read"},{"role":"tool","text":"c","call_id":"2","tool":"Bash"}]}` + "\n"
	if diff := cmp.Diff([]Message{user(want)}, out, plainly); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
	if took != 1500500*time.Nanosecond {
		t.Errorf("it took %v, want 1.5005ms", took)
	}

	got := methods[1].Pack(asked(), 12)
	kept := asked()
	kept[1].Calls, kept[3].Text = kept[1].Calls[1:], ""
	if diff := cmp.Diff([]Message{kept[0], kept[1], kept[3]}, got, plainly); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	if err := errors.Join(p.Err(), p.Close(), p.Close()); err != nil {
		t.Error(err)
	}
}

var plainly = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".read" }, cmp.Ignore())

// Goroutines that share a peer get the answers to their own requests.
func TestPeerIsShared(t *testing.T) {
	p, err := startFake(t, "good")
	if err != nil {
		t.Fatal(err)
	}
	echo := p.Methods()[0]
	var wg sync.WaitGroup
	for budget := range 8 {
		wg.Go(func() {
			out := echo.Pack(asked(), budget)
			if want := fmt.Sprintf(`"budget":%d,`, budget); len(out) != 1 || !strings.Contains(out[0].Text, want) {
				t.Errorf("no %s in %v", want, out)
			}
		})
	}
	wg.Wait()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

func TestPeerThatFails(t *testing.T) {
	for _, tt := range []struct {
		way, want string
		said      string
	}{
		{"dying", "method first: it ended: exit status 3", "out of memory"},
		{"babbling", "method first: read its answer: invalid character 'h'", ""},
		{"confused", "method first: its answer is to request 77, not 1", ""},
		{"refusing", "method first: no such option", ""},
		{"timeless", "method first: its answer has no field us, the time that it took", ""},
		{"vague", "method first: its answer has no field keep, the messages to keep", ""},
		{"inventing", "method first: its answer keeps message 4, but the request has 4 messages", ""},
		{"calling", "method first: its answer keeps call 2, but there are 2 calls in message 1", ""},
	} {
		t.Run(tt.way, func(t *testing.T) {
			p, err := startFake(t, tt.way)
			if err != nil {
				t.Fatal(err)
			}
			first := p.Methods()[1]
			for range 2 { // once it failed, it stays so
				if out := first.Pack(asked(), 12); out != nil {
					t.Errorf("it kept %v", out)
				}
			}
			checkPeerError(t, p.Err(), tt.want, tt.said)
			if err := p.Close(); !errors.Is(err, p.Err()) {
				t.Errorf("closing it gave %v", err)
			}
		})
	}
}

func TestPeerThatDoesNotStart(t *testing.T) {
	for _, tt := range []struct{ way, want, said string }{
		{"mute", "no greeting: it ended: exit status 1", "cannot find the package"},
		{"chatty", "no greeting: invalid character 'i'", ""},
		{"idle", "no greeting: the first line of its output lists no methods", ""},
	} {
		t.Run(tt.way, func(t *testing.T) {
			_, err := startFake(t, tt.way)
			checkPeerError(t, err, tt.want, tt.said)
		})
	}
	if _, err := StartPeer(t.Context(), "no/such/peer.sh"); err == nil || !strings.Contains(err.Error(), "start peer peer: ") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// All programs in a folder are started, if there is one.
func TestPeersOfAFolder(t *testing.T) {
	t.Setenv(fakePeer, "good")
	folder := t.TempDir()
	bin := filepath.Join(folder, installed)
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := StartPeers(t.Context(), folder); err == nil || !strings.Contains(err.Error(), "no peers are installed there") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "one"+filepath.Ext(os.Args[0]))); err != nil {
		t.Skip(err)
	}
	peers, err := StartPeers(t.Context(), folder)
	if err != nil || len(peers) != 1 || peers[0].Name != "fake" {
		t.Fatalf("%v, %v", peers, err)
	}
	if err := ClosePeers(peers); err != nil || ClosePeers([]*Peer{peers[0], {err: io.EOF}}) == nil {
		t.Errorf("peers that end: %v", err)
	}
}

func TestPeerThatEndsBadly(t *testing.T) {
	p, err := startFake(t, "sulking")
	if err != nil {
		t.Fatal(err)
	}
	checkPeerError(t, p.Close(), "it ended: exit status 4", "")
}

// checkPeerError checks that an error says which peer failed, why, what it said and
// what to do.
func checkPeerError(t *testing.T, err error, want, said string) {
	t.Helper()
	e, ok := errors.AsType[*PeerError](err)
	if !ok {
		t.Fatalf("got %v, want a PeerError", err)
	}
	if e.Said != said {
		t.Errorf("it said %q, want %q", e.Said, said)
	}
	text := err.Error()
	for _, part := range []string{"peer " + e.Name + ": ", want, map[bool]string{true: "; ", false: said + "\n"}[said == ""] + "start " + os.Args[0] + " by hand"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %q", part, text)
		}
	}
}
