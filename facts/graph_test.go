package facts

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

// graph returns the graph of a conversation in /srv/app.
func (s *talk) graph() *Graph {
	return NewGraph(s.msgs, transcript.Group("s", 0, s.msgs), &Options{Project: "/srv/app"})
}

func (s *talk) open(path string) *talk {
	return s.call("", "Read", map[string]any{"file_path": path}, "     1→package a")
}

func (s *talk) lines(path string, offset, limit int) *talk {
	return s.call("", "Read", map[string]any{"file_path": path, "offset": offset, "limit": limit}, "     1→package a")
}

func (s *talk) put(path string) *talk {
	return s.call("", "Write", map[string]any{"file_path": path, "content": "package a\n"}, "File created successfully")
}

func (s *talk) todo(status string) *talk {
	return s.call("", "TodoWrite", map[string]any{"todos": []map[string]string{{"content": "Write it", "status": status}}}, "ok")
}

// standings returns the standing of each call, by its number, as text: "1 stale by 2: a.go",
// with a + after the state if only a part is superseded. Current calls are omitted.
func standings(s *talk) []string {
	g := s.graph()
	var out []string
	for i := range s.calls {
		st := g.Call(fmt.Sprint("call-", i+1))
		if st.State == StateCurrent {
			continue
		}
		part := ""
		if st.Part {
			part = "+"
		}
		out = append(out, fmt.Sprintf("%d %s%s by %s: %s", i+1, st.State, part, strings.TrimPrefix(st.By.CallID, "call-"), st.About))
	}
	return out
}

func TestStandings(t *testing.T) {
	for _, tt := range []struct {
		name string
		talk *talk
		want []string
	}{
		{"an edit makes an earlier read stale in part", new(talk).open("a.go").edit("a.go", "x", "y"), []string{"1 stale+ by 2: a.go"}},
		{"a write of the whole file makes it stale", new(talk).open("a.go").put("a.go"), []string{"1 stale by 2: a.go"}},
		{"a read after an edit is current", new(talk).edit("a.go", "x", "y").open("a.go"), nil},
		{"a later edit makes an earlier one stale in part", new(talk).edit("a.go", "x", "y").edit("a.go", "y", "z"), []string{"1 stale+ by 2: a.go"}},
		{"the first write that makes it stale is named", new(talk).open("a.go").put("a.go").put("a.go"), []string{"1 stale by 2: a.go", "2 stale by 3: a.go"}},
		{"absolute and relative paths are one file", new(talk).open("/srv/app/pool/a.go").edit("./pool/a.go", "x", "y"), []string{"1 stale+ by 2: pool/a.go"}},
		{"files of the same name in two directories are two", new(talk).open("x/a.go").put("y/a.go").put("a.go"), nil},
		{"a text and its replacement make a read stale in part", new(talk).open("a.go").call("", "apply_diff", map[string]string{"path": "a.go", "diff": "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE"}, "ok"), []string{"1 stale+ by 2: a.go"}},
		{"a failed edit makes nothing stale", new(talk).open("a.go").call("", "Edit", map[string]string{"file_path": "a.go", "old_string": "x", "new_string": "y"}, "!String to replace not found"), nil},
		{"so does one that only says that it failed", new(talk).open("a.go").call("", "Edit", map[string]string{"file_path": "a.go", "old_string": "x", "new_string": "y"}, "Error: no match"), nil},
		{"a second read of the whole file makes the first redundant", new(talk).open("a.go").open("/srv/app/a.go"), []string{"1 redundant by 2: a.go"}},
		{"a read of the same lines makes the first redundant", new(talk).lines("a.go", 10, 20).lines("a.go", 10, 20), []string{"1 redundant by 2: a.go"}},
		{"a read of other lines does not", new(talk).lines("a.go", 10, 20).lines("a.go", 40, 20), nil},
		{"a read of all lines covers a part", new(talk).lines("a.go", 10, 20).open("a.go"), []string{"1 redundant by 2: a.go"}},
		{"a part does not cover all", new(talk).open("a.go").lines("a.go", 10, 20), nil},
		{"between a write and the next read, the write is named", new(talk).open("a.go").put("a.go").open("a.go"), []string{"1 stale by 2: a.go"}},
		{"an answer that nothing has changed makes nothing redundant", new(talk).open("a.go").call("", "Read", map[string]string{"file_path": "a.go"}, "File unchanged since last read."), nil},
		{"a read that failed makes nothing redundant", new(talk).open("a.go").call("", "Read", map[string]string{"file_path": "a.go"}, "!File does not exist."), nil},
		{"a read that failed is resolved by one that does not", new(talk).call("", "Read", map[string]string{"file_path": "a.go"}, "!File does not exist.").open("a.go"), []string{"1 resolved by 2: a.go"}},
		{"the same command makes the earlier one redundant", new(talk).run("git status", "clean").run("git  status 2>&1", "M a.go"), []string{"1 redundant by 2: git status 2>&1"}},
		{"in the project's own directory, too", new(talk).run("cd /srv/app && make", "ok").run("make", "ok"), []string{"1 redundant by 2: make"}},
		{"in another directory it is another command", new(talk).run("cd web && make", "ok").run("make", "ok"), nil},
		{"other options are another command", new(talk).run("ls", "a").run("ls -la", "a"), nil},
		{"commits are never redundant", new(talk).run("git commit -am wip", "[main 1a2b3c4] wip").run("git commit -am wip", "[main 2b3c4d5] wip"), nil},
		{"tests that failed are resolved when they pass", new(talk).run("go test ./pool", "!Exit code 1\n--- FAIL: TestX").edit("pool/a.go", "x", "y").run("go test ./pool", "ok  \tpool\t0.1s"), []string{"1 resolved by 3: go test ./pool"}},
		{"and when all tests pass", new(talk).run("go test ./pool", "!Exit code 1\n--- FAIL: TestX").run("go test ./...", "ok  \tpool\t0.1s"), []string{"1 resolved by 2: go test ./..."}},
		{"tests that fail again resolve nothing", new(talk).run("go test ./pool", "!Exit code 1\n--- FAIL: TestX").run("go test ./pool", "!Exit code 1\n--- FAIL: TestX"), nil},
		{"tests that fail make no success redundant", new(talk).run("go test ./pool", "ok  \tpool\t0.1s").run("go test ./pool", "!Exit code 1\n--- FAIL: TestX"), nil},
		{"a failed edit is resolved by one that works", new(talk).call("", "Edit", map[string]string{"file_path": "a.go", "old_string": "x", "new_string": "y"}, "!String to replace not found").edit("/srv/app/a.go", "x", "y"), []string{"1 resolved by 2: a.go"}},
		{"a list of things to do supersedes the one before", new(talk).todo("pending").todo("in_progress").todo("completed"), []string{"1 superseded by 2: list", "2 superseded by 3: list"}},
		{
			"an update of a task supersedes the update before, not the task's creation",
			new(talk).call("", "TaskCreate", map[string]string{"subject": "Write it"}, "Task #1 created").
				call("", "TaskUpdate", map[string]string{"taskId": "1", "status": "in_progress"}, "ok").
				call("", "TaskUpdate", map[string]string{"taskId": "1", "status": "completed"}, "ok"),
			[]string{"2 superseded by 3: task 1"},
		},
		{"the same search makes the first redundant", new(talk).call("", "Grep", map[string]string{"pattern": "Close"}, "a.go:1").call("", "Grep", map[string]string{"pattern": "Close"}, "a.go:1"), []string{"1 redundant by 2: Grep"}},
		{"another search does not", new(talk).call("", "Grep", map[string]string{"pattern": "Close"}, "a.go:1").call("", "Grep", map[string]string{"pattern": "Open"}, "a.go:1"), nil},
		{
			"a tool that looks is redundant, one that acts is not",
			new(talk).call("", "get_order", map[string]string{"id": "W7742"}, `{"status":"open"}`).call("", "get_order", map[string]string{"id": "W7742"}, `{"status":"open"}`).
				call("", "send_mail", map[string]string{"to": "ada"}, "sent").call("", "send_mail", map[string]string{"to": "ada"}, "sent"),
			[]string{"1 redundant by 2: get_order"},
		},
		{"a file that a shell shows is stale when it is edited", new(talk).run("cat a.go", "package a").edit("a.go", "x", "y"), []string{"1 stale+ by 2: a.go"}},
		{"lines that sed prints are a part of the file", new(talk).run("sed -n '10,20p' a.go", "x").run("sed -n 1,40p a.go", "x"), []string{"1 redundant by 2: a.go"}},
		{"what a pipe leaves of a file is not known", new(talk).open("a.go").run("cat a.go | grep x", "x"), nil},
		{"a shell that writes a file makes a read stale", new(talk).open("cfg.yaml").run("cat > cfg.yaml <<'E'\nx: 1\nE", ""), []string{"1 stale by 2: cfg.yaml"}},
		{"so does one that edits in place, in part", new(talk).open("a.go").run("cd /srv/app && sed -i 's/x/y/' a.go", ""), []string{"1 stale+ by 2: a.go"}},
		{"a shell that writes a file and then fails does, too", new(talk).open("cfg.yaml").run("sed -i s/x/y/ cfg.yaml && go test ./...", "!--- FAIL: TestX\nFAIL"), []string{"1 stale+ by 2: cfg.yaml"}},
		{"one that fails before it writes does not", new(talk).open("cfg.yaml").run("go test ./... && sed -i s/x/y/ cfg.yaml", "!--- FAIL: TestX\nFAIL"), nil},
		{"a file that was touched is not", new(talk).open("a.go").run("touch a.go", ""), nil},
		{"a file that was removed is stale", new(talk).open("a.go").run("rm a.go", ""), []string{"1 stale by 2: a.go"}},
		{"a file that was moved is stale, and so is what it replaced", new(talk).open("a.go").open("b.go").run("git mv a.go b.go", ""), []string{"1 stale by 3: a.go", "2 stale by 3: b.go"}},
		{"a call about two files is stale in part when one is written", new(talk).run("cat a.go && cat b.go", "x").put("a.go"), []string{"1 stale+ by 2: a.go"}},
		{
			"a patch writes several files",
			new(talk).open("a.go").open("b.go").
				call("", "apply_patch", map[string]string{"input": "*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n*** Delete File: b.go\n*** End Patch"}, "Done!"),
			[]string{"1 stale+ by 3: a.go", "2 stale by 3: b.go"},
		},
		{
			"the view of an editing tool is a read",
			new(talk).call("", "str_replace_based_edit_tool", map[string]any{"command": "view", "path": "a.py"}, "x").
				call("", "str_replace_based_edit_tool", map[string]any{"command": "str_replace", "path": "a.py", "old_str": "x", "new_str": "y"}, "ok"),
			[]string{"1 stale+ by 2: a.py"},
		},
		{"a search in a file is stale when it is edited", new(talk).call("", "Grep", map[string]string{"pattern": "x", "path": "a.go"}, "1:x").edit("a.go", "x", "y"), []string{"1 stale+ by 2: a.go"}},
		{"a search in a file covers nothing of it", new(talk).open("a.go").call("", "Search", map[string]string{"query": "x", "path": "a.go"}, "1:x"), nil},
		{"a list of a folder, and the folder", new(talk).call("", "LS", map[string]string{"path": "src"}, "a.go").put("src"), nil},
		{"a command that shows and fails is resolved by the same", new(talk).run("ls src", "!ls: src: No such file or directory").run("ls src", "a.go"), []string{"1 resolved by 2: ls src"}},
		{"a command in the background makes nothing redundant", new(talk).run("make lamp", "lit").run("make lamp", "Command running in background with ID: b1"), nil},
		{"a failure that a line prints the status of is none", new(talk).run("make lamp", "!Exit code 1\nerror: dark").run("make lamp; echo $?", "error: dark\nexit code 0"), []string{"1 resolved by 2: make lamp; echo $?"}},
		{"an empty answer makes nothing redundant", new(talk).run("make lamp", "lit").run("make lamp", ""), nil},
		{"a tool that nobody knows is resolved by its next success", new(talk).call("", "dim", map[string]string{"lamp": "1"}, "!dark").call("", "dim", map[string]string{"lamp": "2"}, "ok"), []string{"1 resolved by 2: dim"}},
		{"a list that could not be written supersedes nothing", new(talk).todo("pending").call("", "TodoWrite", json.RawMessage(`{"todos":[{"content":"Paint it"}]}`), "!no"), nil},
		{"a file that one of several commands wrote is stale in part", new(talk).run("make lamp > a.go && go test ./...", "ok").put("a.go"), []string{"1 stale+ by 2: a.go"}},
		{"a tool that nobody knows covers nothing of a file", new(talk).open("a.go").call("", "get_outline", map[string]string{"path": "a.go"}, "x"), nil},
		{"a text that could not be written makes nothing stale", new(talk).open("a.go").run("echo x > a.go", "!Exit code 1\na.go: Permission denied"), nil},
		{"a call does not make itself stale", new(talk).run("cat a.go && rm a.go", "x"), nil},
		{"a call that a person refused does nothing", new(talk).open("a.go").call("", "Write", map[string]string{"file_path": "a.go", "content": "x"}, "!The user doesn't want to proceed with this tool use."), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, standings(tt.talk)); diff != "" {
				t.Errorf("standings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGraphOfACallWithoutAResult(t *testing.T) {
	s := new(talk).open("a.go").put("a.go")
	s.msgs = s.msgs[:len(s.msgs)-1] // the write has no result
	if got := s.graph().Call("call-1").State; got != StateCurrent {
		t.Errorf("a read before a write without a result is %s, want current", got)
	}
}

// Of more than 128 failures the last 64 are watched.
func TestFailuresThatAreWatched(t *testing.T) {
	for n, want := range map[int]string{128: "1 65 66", 129: "66"} {
		s := new(talk)
		for i := range n {
			s.run(fmt.Sprintf("make lamp%d", i), "!Exit code 1\nerror: dark")
		}
		var got []string
		for _, standing := range standings(s.run("make lamp0", "lit").run("make lamp64", "lit").run("make lamp65", "lit")) {
			number, _, _ := strings.Cut(standing, " ")
			got = append(got, number)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("of %d failures, %s are resolved, want %s", n, got, want)
		}
	}
}

func TestGraphOfIdsThatAreUsedTwice(t *testing.T) {
	s := new(talk).open("a.go").put("a.go")
	s.calls = 0
	s.open("b.go")
	if got := s.graph().Call("call-1").State; got != StateCurrent {
		t.Errorf("a call whose id another has is %s, want current", got)
	}
}

func TestGraphOfACallWithoutAnID(t *testing.T) {
	s := new(talk).open("a.go")
	s.msgs[0].Parts[0] = transcript.ToolCall{Name: "Read", Input: json.RawMessage(`{"file_path":"a.go"}`)}
	s.msgs[1].Parts[0] = transcript.ToolResult{Content: []transcript.Part{transcript.Text("x")}}
	if got := s.put("a.go").graph().Call("").State; got != StateCurrent {
		t.Errorf("no call is %s, want current", got)
	}
}

// A tool that writes the whole list states each of its tasks, and a tool of one task only what it
// changes.
func TestUsesOfTasks(t *testing.T) {
	uses := func(s *talk) (n int) {
		for _, node := range s.graph().Nodes() {
			if node.Kind == nodeTodo && node.Name == "Write it" {
				n += len(node.Uses)
			}
		}
		return n
	}
	one := new(talk).call("", "TaskCreate", map[string]string{"subject": "Write it"}, "Task #1 created").
		call("", "TaskCreate", map[string]string{"subject": "Paint it"}, "Task #2 created").
		call("", "TaskUpdate", map[string]string{"taskId": "2", "status": "completed"}, "ok")
	if got := uses(one); got != 1 {
		t.Errorf("a task that was made once has %d uses", got)
	}
	if got := uses(one.call("", "TaskUpdate", map[string]string{"taskId": "1", "status": "completed"}, "ok")); got != 2 {
		t.Errorf("a task that was made and done has %d uses", got)
	}
	if got := uses(new(talk).todo("pending").todo("pending")); got != 2 {
		t.Errorf("a task that was written twice has %d uses", got)
	}
}

func TestNamesOfArgumentsThatAreNoJSON(t *testing.T) {
	s := new(talk).call("", "apply_patch", json.RawMessage("*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+ringBuffer\n*** End Patch"), "Done!")
	if !slices.ContainsFunc(s.graph().Nodes(), func(n Node) bool { return n.Kind == nodeName && n.Name == "ringBuffer" }) {
		t.Error("ringBuffer is no node")
	}
}

func TestPathsWithoutAProject(t *testing.T) {
	s := new(talk).open("/home/ada/shop/src/cart.ts").edit("src/cart.ts", "x", "y").open("/home/ada/shop/README.md").put("README.md")
	g := NewGraph(s.msgs, transcript.Group("s", 0, s.msgs), nil)
	if got := g.Call("call-1"); got.State != StateStale || got.About != "/home/ada/shop/src/cart.ts" {
		t.Errorf("a file whose relative path has a slash is %+v, want stale", got)
	}
	if got := g.Call("call-3").State; got != StateCurrent {
		t.Errorf("a file whose relative path has no slash is %s, want current", got)
	}
}

func TestNodes(t *testing.T) {
	s := new(talk).user("Fix shutdownTimeout in pool/a.go.").open("pool/a.go").
		call("", "python", map[string]string{"code": "go vet ./pool"}, "!Exit code 1\npool/a.go:17:4: unused ringBuffer").
		edit("/srv/app/pool/a.go", "ringBuffer", "newRing").run("go vet ./pool", "ok").todo("pending").todo("completed").run("cat b.go; cat b.go", "x")
	g := s.graph()
	for _, want := range []Node{
		{NodeFile, "pool/a.go", "", StatusModified, Position{Block: 0}, []Use{{Position{1, "call-1"}, ActRead}, {Position{3, "call-3"}, ActWrite}}},
		{NodeCommand, "go vet ./pool", "", StatusOK, Position{2, "call-2"}, []Use{{Position{2, "call-2"}, ActRun}, {Position{4, "call-4"}, ActRun}}},
		{nodeError, "pool/a.go:17:4: unused ringBuffer", "", StatusResolved, Position{2, "call-2"}, []Use{{Position{2, "call-2"}, ActFail}, {Position{4, "call-4"}, actResolve}}},
		{nodeTodo, "Write it", "", StatusCompleted, Position{5, "call-5"}, []Use{{Position{5, "call-5"}, actState}, {Position{6, "call-6"}, actState}}},
		{nodeName, "ringBuffer", KindSymbol, "", Position{2, "call-2"}, []Use{{Position{3, "call-3"}, actName}}},
		{NodeFile, "b.go", "", "", Position{7, "call-7"}, []Use{{Position{7, "call-7"}, ActRead}}},
		{nodeName, "newRing", KindSymbol, "", Position{3, "call-3"}, []Use{{Position{3, "call-3"}, actName}}},
	} {
		at := slices.IndexFunc(g.Nodes(), func(n Node) bool { return n.Kind == want.Kind && n.Name == want.Name })
		if at < 0 {
			t.Errorf("there is no %s %q", want.Kind, want.Name)
			continue
		}
		if diff := cmp.Diff(want, g.Nodes()[at]); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", want.Kind, want.Name, diff)
		}
	}
	if slices.ContainsFunc(g.Nodes(), func(n Node) bool { return n.Name == "shutdownTimeout" }) {
		t.Error("shutdownTimeout is a node, though no call used it")
	}
}

// drawDeeds draws a conversation of calls that supersede each other.
func drawDeeds(t *rapid.T) *talk {
	paths := []string{"a.go", "/srv/app/a.go", "pool/b.go", "./pool/b.go"}
	lines := []string{"go test ./...", "go test ./pool", "cat a.go", "cd /srv/app && git status", "sed -n 1,9p pool/b.go", "rm a.go", "echo x > a.go", "git commit -m x"}
	results := []string{"ok  \tpool\t0.1s", "!Exit code 1\n--- FAIL: TestX", "", "[main 1a2b3c4] x", "error: gone", "1 failed"}
	s := new(talk)
	for range rapid.IntRange(1, 25).Draw(t, "calls") {
		path := rapid.SampledFrom(paths).Draw(t, "path")
		result := rapid.SampledFrom(results).Draw(t, "result")
		switch rapid.IntRange(0, 6).Draw(t, "call") {
		case 0:
			s.lines(path, rapid.IntRange(0, 3).Draw(t, "offset"), rapid.IntRange(0, 3).Draw(t, "limit"))
		case 1:
			s.edit(path, "x", "y")
		case 2:
			s.call("", "Write", map[string]string{"file_path": path, "content": "x"}, result)
		case 3:
			s.run(rapid.SampledFrom(lines).Draw(t, "line"), result)
		case 4:
			s.todo(rapid.SampledFrom([]string{"pending", "completed"}).Draw(t, "status"))
		case 5:
			s.call("", rapid.SampledFrom([]string{"get_order", "cancel_order"}).Draw(t, "tool"), map[string]string{"id": "W7742"}, result)
		default:
			s.user("Look at " + path)
		}
	}
	return s
}

// A superseded call names the later call that superseded it, which has a result.
func TestOnlyLaterCallsSupersede(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawDeeds(t)
		g := s.graph()
		number := make(map[string]int)
		for i := range s.calls {
			number[fmt.Sprint("call-", i+1)] = i
		}
		for i := range s.calls {
			st := g.Call(fmt.Sprint("call-", i+1))
			if st.State == StateCurrent {
				if st != (CallStanding{State: StateCurrent}) {
					t.Fatalf("call %d is current and %+v", i+1, st)
				}
				continue
			}
			if by, ok := number[st.By.CallID]; !ok || by <= i || st.About == "" {
				t.Fatalf("call %d is %+v", i+1, st)
			}
		}
		for _, n := range g.Nodes() {
			if len(n.Uses) == 0 || n.Name == "" || n.From.Block > n.Uses[0].Block {
				t.Fatalf("node %+v is used nowhere or before it is there", n)
			}
			if !slices.IsSortedFunc(n.Uses, func(a, b Use) int { return number[a.CallID] - number[b.CallID] }) {
				t.Fatalf("uses of %+v are out of order", n)
			}
		}
	})
}

// Appending to a conversation changes only the standing of current calls, and equal
// conversations have equal graphs.
func TestStandingsOnlyGrow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawDeeds(t)
		blocks := transcript.Group("s", 0, s.msgs)
		o := &Options{Project: "/srv/app"}
		n := rapid.IntRange(0, len(blocks)).Draw(t, "blocks")
		before, after := NewGraph(s.msgs, blocks[:n], o), NewGraph(s.msgs, blocks, o)
		for i := range s.calls {
			id := fmt.Sprint("call-", i+1)
			if was, is := before.Call(id), after.Call(id); was.State != StateCurrent && was != is {
				t.Fatalf("call %d was %+v and is %+v", i+1, was, is)
			}
		}
		if diff := cmp.Diff(after.Nodes(), NewGraph(s.msgs, blocks, o).Nodes()); diff != "" {
			t.Fatalf("nodes a second time (-first +second):\n%s", diff)
		}
	})
}
