package summary

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTodoListKeepsItsText(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{
			"a list with fields of its own",
			`[ {"id":1.50, "content":"Parser","status": "in_progress" ,"activeForm":"A-ing"},{"status":"pending","content":"B"} ]`,
			`[ {"id":1.50, "content":"Parser","status": "completed" ,"activeForm":"A-ing"},{"status":"pending","content":"B"} ]`,
		},
		{
			"an object around it",
			"{\"owner\": {\"todos\": 1},\n \"todos\":[{\"content\":\"\\u0050arser\",\"status\":\"in_progress\"}], \"n\":1e3}\n",
			"{\"owner\": {\"todos\": 1},\n \"todos\":[{\"content\":\"\\u0050arser\",\"status\":\"completed\"}], \"n\":1e3}\n",
		},
		{
			"a plan of steps",
			`{"plan":[{"step":"Parser","status":"in_progress"},"free text",{"step":"no status"}]}`,
			`{"plan":[{"step":"Parser","status":"completed"},"free text",{"step":"no status"}]}`,
		},
		{
			"a list behind a field that is none",
			`{"todos":"none","plan":[{"step":"Parser","status":"in_progress"}]}`,
			`{"todos":"none","plan":[{"step":"Parser","status":"completed"}]}`,
		},
		{
			"a list behind another list",
			`{"tags":[{"content":"Parser","status":"in_progress"}],"todos":[{"content":"Parser","status":"in_progress"}]}`,
			`{"tags":[{"content":"Parser","status":"in_progress"}],"todos":[{"content":"Parser","status":"completed"}]}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := ParseTodos([]byte(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(l.JSON()); got != tt.in {
				t.Errorf("untouched, got  %s\nwant %s", got, tt.in)
			}
			var n int
			l.Todos, _, n = SyncTodos(l.Todos, &Summary{State: "The parser is done"})
			if got := string(l.JSON()); got != tt.want || n != 1 {
				t.Errorf("%d changed, got  %s\nwant %s", n, got, tt.want)
			}
		})
	}
	for _, bad := range []string{``, `{}`, `3`, `[1]`, `[{]`, `[] []`, `{"todos":{}}`} {
		_, err := ParseTodos([]byte(bad))
		if _, ok := errors.AsType[*SyntaxError](err); !ok {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func TestSyncTodos(t *testing.T) {
	for _, tt := range []struct {
		state, todo string
		done        bool
	}{
		{"OAuth flow complete, testing token refresh", "OAuth flow", true},
		{"OAuth flow complete, testing token refresh", "Token refresh", false},
		{"OAuth flow complete, testing token refresh", "Test token refresh", false},
		{"Implemented the login page; next: logout", "Implement the login page", true},
		{"The login page has been implemented.", "Add login page", true},
		{"The login page is not done", "Login page", false},
		{"The login page isn't finished", "Login page", false},
		{"The login page isn’t finished.", "Add the login page", false},
		{"The ‘login’ page is finished.", "Add the login page", true},
		{"Is the login page finished, and tested?", "Add the login page", false},
		{"Is the menu wanted? The login page is finished", "Add the login page", true},
		{"None of the login page is done.", "Add the login page", false},
		{"Neither the login page nor the menu is done.", "Add the login page", false},
		{"The login page is hardly tested.", "Add the login page", false},
		{"The login page was removed.", "Add the login page", false},
		{"The login page was removed.", "Remove the login page", true},
		{"Still fixing the login page", "Fix the login page", false},
		{"Fixed the login page but the logout fails", "Fix logout", false},
		{"Fixed the login page but the logout fails", "Fix the login page", true},
		{"The login page is partially done", "Login page", false},
		{"Login page", "Login page", false},
		{"Tests pass and the parser was merged", "Merge parser", true},
		{"The parser will be merged when tests passed", "Merge parser", false},
		{"✅ Parser", "Parser", true},
		{"Everything is done", "Write the parser", false},
	} {
		todos := []Todo{{Content: tt.todo, Status: todoActive}, {Content: tt.todo, Status: todoPending}}
		got, s, n := SyncTodos(todos, &Summary{State: tt.state})
		if done := got[0].Status == todoCompleted; done != tt.done || (n == 1) != tt.done || got[1].Status != todoPending {
			t.Errorf("%q in %q: %v", tt.todo, tt.state, got)
		}
		if (len(s.Decisions) == 1) != tt.done || todos[0].Status != todoActive {
			t.Errorf("%q in %q: %v", tt.todo, tt.state, s.Decisions)
		}
	}
}

// What is completed becomes a decision, and stays one.
func TestSyncTodosDecidesOnce(t *testing.T) {
	todos := []Todo{{Content: "Write it", Status: todoCompleted}, {Content: "write it.", Status: todoCompleted}, {Content: "Ship it", Status: todoActive}}
	s := &Summary{State: "Shipped it, ship it is done", Decisions: []Decision{{Decision: "Use A", Rationale: "r"}}}
	before := slices.Clone(s.Decisions)
	todos, once, _ := SyncTodos(todos, s)
	_, twice, changed := SyncTodos(todos, once)
	want := []Decision{
		{Decision: "Use A", Rationale: "r"},
		{Decision: "Completed: Write it", Rationale: NotStated},
		{Decision: "Completed: Ship it", Rationale: NotStated},
	}
	if diff := cmp.Diff(want, twice.Decisions); diff != "" || changed != 0 {
		t.Errorf("%d changed (-want +got):\n%s", changed, diff)
	}
	if diff := cmp.Diff(before, s.Decisions); diff != "" {
		t.Errorf("the argument changed:\n%s", diff)
	}
	if _, none, _ := SyncTodos([]Todo{{Content: " ", Status: todoCompleted}}, s); len(none.Decisions) != 1 {
		t.Errorf("a to-do without words is decided: %v", none.Decisions)
	}
	l, err := ParseTodos([]byte(`["a", {"content":"b","status":"pending"}, {"content":"c","status":"pending"}]`))
	if err != nil {
		t.Fatal(err)
	}
	l.Todos[0].Status, l.Todos[2].Status = "done", "done"
	if got := string(l.JSON()); got != `["a", {"content":"b","status":"pending"}, {"content":"c","status":"done"}]` {
		t.Errorf("the list is %s", got)
	}
	l.Todos[1].Status = "done"
	if l.Todos = []Todo{l.Todos[0], l.Todos[2], l.Todos[1]}; string(l.JSON()) != `["a", {"content":"b","status":"pending"}, {"content":"c","status":"done"}]` {
		t.Errorf("in another order the list is %s", l.JSON())
	}
}

func FuzzParseTodos(f *testing.F) {
	f.Add([]byte(`[{"content":"a","status":"in_progress"}]`))
	f.Add([]byte(`{"plan":[{"step":"a","status":"\u0070ending"},"b"],"n":1.0}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseTodos(data)
		if err != nil {
			return
		}
		if got := l.JSON(); string(got) != string(data) {
			t.Fatalf("%q became %q", data, got)
		}
		for i := range l.Todos {
			l.Todos[i].Status = "x\"y"
		}
		again, err := ParseTodos(l.JSON())
		if err != nil || len(again.Todos) != len(l.Todos) {
			t.Fatalf("%q: %v", l.JSON(), err)
		}
		for i, todo := range again.Todos {
			if todo.Content != l.Todos[i].Content || todo.Status != "" && todo.Status != l.Todos[i].Status {
				t.Fatalf("%+v became %+v", l.Todos[i], todo)
			}
		}
	})
}
