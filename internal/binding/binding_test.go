package binding_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/binding"
	"github.com/carrel-dev/carrel/transcript"
)

// A fake is a table of processes: parent, start and name by id.
type fake map[int]binding.Entry

func (f fake) table(pid int) (binding.Entry, bool) {
	e, ok := f[pid]
	return e, ok
}

// desk returns the processes of a machine with two agents in one terminal multiplexer: 20 and 30
// are Claude Code, 25 is another Claude Code that a shell of 20 started, and 26 is a client
// without hooks that 25 started.
func desk() fake {
	return fake{
		1: {Parent: 0, Started: "1", Name: "systemd"}, 10: {Parent: 1, Started: "5", Name: "tmux: server"},
		11: {Parent: 10, Started: "6", Name: "-bash"}, 12: {Parent: 10, Started: "7", Name: "zsh"},
		20: {Parent: 11, Started: "8", Name: "claude"}, 30: {Parent: 12, Started: "9", Name: "claude"},
		21: {Parent: 20, Started: "10", Name: "sh"}, 22: {Parent: 21, Started: "11", Name: "carrel"},
		23: {Parent: 20, Started: "12", Name: "carrel"}, 31: {Parent: 30, Started: "13", Name: "carrel"},
		24: {Parent: 20, Started: "14", Name: "bash"}, 25: {Parent: 24, Started: "15", Name: "claude"},
		26: {Parent: 24, Started: "16", Name: "codex"}, 27: {Parent: 25, Started: "17", Name: "carrel"},
		28: {Parent: 26, Started: "18", Name: "carrel"}, 40: {Parent: 1, Started: "19", Name: "carrel"},
		50: {Parent: 51, Started: "20", Name: "carrel"}, 60: {Parent: 61, Started: "21", Name: "sh"}, 61: {Parent: 60, Started: "22", Name: "sh"},
		2: {Parent: 1, Started: "2", Name: "claude"}, 80: {Parent: 2, Started: "24", Name: "carrel"},
		70: {Parent: 71, Started: "23", Name: "carrel"}, 71: {Parent: 10, Started: "", Name: "claude"},
	}
}

func TestClientIsTheNearestThatIsNoShell(t *testing.T) {
	for _, tt := range []struct {
		name string
		pid  int
		want int // 0 if it cannot be known
	}{
		{"of a hook that a shell started", 22, 20},
		{"of a server", 23, 20},
		{"of a server of the other agent", 31, 30},
		{"of a server of an agent that an agent started", 27, 25},
		{"of a server of a client without hooks that an agent started", 28, 26},
		{"of what has lost its parent", 40, 0},
		{"of what has a parent that cannot be looked at", 50, 0},
		{"of what is its own ancestor", 60, 0},
		{"started by the first process of a container", 80, 2},
		{"of what does not run", 99, 0},
		{"with a start that is not known", 70, 0},
	} {
		got, ok := binding.Client(desk().table, tt.pid)
		if ok != (tt.want != 0) || ok && (got.PID != tt.want || got.Started != desk()[tt.want].Started) {
			t.Errorf("%s: %+v, %t; want %d", tt.name, got, ok, tt.want)
		}
	}
}

// A folder is the folder of bindings of a desk.
type folder struct {
	*testing.T
	binding.Folder

	desk fake
}

func newFolder(t *testing.T) *folder {
	t.Helper()
	f := &folder{T: t, desk: desk()}
	f.Folder = binding.Folder{Path: filepath.Join(t.TempDir(), "run", "clients"), Table: f.desk.table}
	return f
}

// hook records a session as a hook with the given process id does.
func (f *folder) hook(pid int, session transcript.SessionID) {
	f.Helper()
	client, _ := binding.Client(f.Table, pid)
	err := f.Record(&binding.Binding{
		Client: client, Session: session, Transcript: "/x/" + string(session) + ".jsonl", Scope: "local", Time: time.Unix(1, 0).UTC(),
	})
	if err != nil {
		f.Fatal(err)
	}
}

// server returns the session that a server with the given process id finds.
func (f *folder) server(pid int) transcript.SessionID {
	f.Helper()
	client, _ := binding.Client(f.Table, pid)
	b, err := f.Of(client)
	if err != nil {
		f.Fatal(err)
	}
	if b == nil {
		return ""
	}
	if b.Client != client || b.Transcript != "/x/"+string(b.Session)+".jsonl" || b.Scope != "local" || b.Time.Unix() != 1 {
		f.Errorf("binding %+v", b)
	}
	return b.Session
}

// Each server finds the present session of its own client.
func TestServersFindTheSessionOfTheirClient(t *testing.T) {
	f := newFolder(t)
	check := func(when string, want map[int]transcript.SessionID) {
		t.Helper()
		for pid, session := range want {
			if got := f.server(pid); got != session {
				t.Errorf("%s: process %d finds %q, want %q", when, pid, got, session)
			}
		}
	}
	check("before any hook", map[int]transcript.SessionID{23: "", 31: "", 27: "", 28: ""})
	f.hook(31, "two")
	check("with one of two agents that has hooks", map[int]transcript.SessionID{23: "", 31: "two", 27: "", 28: ""})
	f.hook(22, "one")
	check("with two agents", map[int]transcript.SessionID{23: "one", 31: "two", 27: "", 28: ""})
	f.hook(27, "inner")
	check("with an agent in an agent", map[int]transcript.SessionID{23: "one", 31: "two", 27: "inner", 28: ""})
	f.hook(22, "cleared")
	f.hook(31, "two")
	check("after it was cleared", map[int]transcript.SessionID{23: "cleared", 31: "two", 27: "inner", 28: ""})
	f.hook(22, "one")
	check("after it was resumed", map[int]transcript.SessionID{23: "one", 31: "two", 27: "inner", 28: ""})

	f.desk[20] = binding.Entry{Parent: 11, Started: "900", Name: "claude"}
	check("once another process has the id", map[int]transcript.SessionID{23: "", 31: "two"})
	f.hook(22, "one")
	check("once that has resumed the session", map[int]transcript.SessionID{23: "one", 31: "two"})
	f.hook(22, "new")
	check("once that has a session", map[int]transcript.SessionID{23: "new", 31: "two"})
}

// Bindings are readable by their owner only, and are removed when their client has ended.
func TestFolderIsKeptSmallAndPrivate(t *testing.T) {
	f := newFolder(t)
	names := func() []string {
		t.Helper()
		entries, err := os.ReadDir(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != 0o600 {
				t.Errorf("%s has mode %v", e.Name(), info.Mode())
			}
			names = append(names, e.Name())
		}
		return names
	}
	f.hook(22, "one")
	f.hook(22, "cleared")
	f.hook(27, "inner")
	if diff := cmp.Diff([]string{"20.json", "25.json"}, names()); diff != "" {
		t.Error(diff)
	}
	if err := os.Mkdir(filepath.Join(f.Path, "7.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Of(binding.Process{PID: 7}); err == nil {
		t.Error("a file that cannot be read is no error")
	}
	delete(f.desk, 25)
	f.desk[20] = binding.Entry{Parent: 11, Started: "900", Name: "claude"}
	f.hook(31, "two")
	if diff := cmp.Diff([]string{"30.json", "7.json"}, names()); diff != "" {
		t.Error(diff)
	}
}

// An invalid file counts as no binding and is overwritten.
func TestBrokenFileBindsNothing(t *testing.T) {
	f := newFolder(t)
	f.hook(22, "one")
	for _, broken := range []string{"", "{", "[]", `{"client":{"pid":20,"started":"8"}}`} {
		if err := os.WriteFile(filepath.Join(f.Path, strconv.Itoa(20)+".json"), []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := f.server(23); got != "" {
			t.Errorf("%q binds to %q", broken, got)
		}
		f.hook(22, "one")
		if got := f.server(23); got != "one" {
			t.Errorf("after %q: %q", broken, got)
		}
	}
}

// A binding that differs in any field is recorded again. A client that changes its session keeps
// its folder and the files of other clients.
func TestEachChangeIsRecorded(t *testing.T) {
	f := newFolder(t)
	first := binding.Binding{Client: binding.Process{PID: 20, Started: "8"}, Session: "one", Transcript: "/x/one.jsonl", Scope: "local", Time: time.Unix(1, 0).UTC()}
	for _, change := range []func(*binding.Binding){
		func(*binding.Binding) {},
		func(b *binding.Binding) { b.Session = "two" },
		func(b *binding.Binding) { b.Transcript = "/y/one.jsonl" },
		func(b *binding.Binding) { b.Scope = "other" },
	} {
		if err := f.Record(&first); err != nil {
			t.Fatal(err)
		}
		want := first
		change(&want)
		if err := f.Record(&want); err != nil {
			t.Fatal(err)
		}
		got, err := f.Of(first.Client)
		if diff := cmp.Diff(&want, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	// The same again writes nothing: its time is that of the first.
	again := first
	again.Time = time.Unix(9, 0).UTC()
	for _, b := range []*binding.Binding{&first, &again} {
		if err := f.Record(b); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := f.Of(first.Client); err != nil || got.Time.Unix() != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if info, err := os.Stat(f.Path); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder %v, %v", info, err)
	}
}

// The sweep removes only files of bindings.
func TestOnlyBindingsAreSwept(t *testing.T) {
	f := newFolder(t)
	if err := os.MkdirAll(f.Path, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"notes.json", "12345", "12345.json", "20.json"} {
		if err := os.WriteFile(filepath.Join(f.Path, name), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f.hook(31, "two")
	entries, err := os.ReadDir(f.Path)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"12345", "30.json", "notes.json"}, names); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// The table of the system has this process.
func TestSystem(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("there is no table of processes here")
	}
	e, ok := binding.System(os.Getpid())
	if !ok || e.Parent != os.Getppid() || e.Started == "" || e.Name == "" {
		t.Errorf("this process is %+v, %t", e, ok)
	}
	if again, _ := binding.System(os.Getpid()); again != e {
		t.Errorf("and then %+v", again)
	}
	if none, ok := binding.System(1 << 30); ok {
		t.Errorf("a process that is not there is %+v", none)
	}
	if parent, ok := binding.System(os.Getppid()); !ok || parent == e {
		t.Errorf("its parent is %+v, %t", parent, ok)
	}
}
