package carrel_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/ratio"
)

// many are conversations of n short messages, each of another sort.
func many(t *testing.T, n int) map[string][]byte {
	list := make(map[string][]message)
	for i := range n {
		role := [...]string{"user", "assistant"}[i%2]
		list["short"] = append(list["short"], message{Role: role, Content: fmt.Sprintf("m%d go on", i)})
		list["same"] = append(list["same"], message{Role: role, Content: "ok"})
		list["corrections"] = append(list["corrections"], message{
			Role: role, Content: fmt.Sprintf("No, never use file%d.go again; always prefer /a/b%d.go. What about q%d?", i, i, i),
		})
		if i%2 == 0 {
			id := fmt.Sprintf("c%d", i)
			list["tools"] = append(list["tools"],
				message{Role: "assistant", Calls: []call{newCall(id, "Bash", fmt.Sprintf(`{"command":"go test ./p%d"}`, i))}},
				message{Role: "tool", CallID: id, Content: fmt.Sprintf("p%d.go:12: error: x%d undefined\nFAIL", i, i)})
		}
	}
	list["tools"] = append([]message{{Role: "user", Content: "Mend all of it."}}, list["tools"]...)
	all := make(map[string][]byte, len(list))
	for name, msgs := range list {
		all[name] = body(t, msgs)
	}
	return all
}

// steps are the jobs of a session's life, each with what it allocated.
func steps(t *testing.T, data []byte) map[string]uint64 {
	t.Helper()
	e := newEngine(t, stores.New(t))
	ctx := t.Context()
	var in *carrel.ImportResult
	spent := make(map[string]uint64)
	for _, step := range []struct {
		name string
		do   func() error
	}{
		{"import", func() (err error) {
			in, err = e.Import(ctx, scope, &carrel.ImportRequest{Name: "many.json", Data: data})
			return err
		}},
		{"messages", func() error {
			_, err := e.Messages(ctx, scope, &carrel.MessagesRequest{Session: in.Session})
			return err
		}},
		{"context", func() error { _, err := e.Context(ctx, scope, &carrel.ContextRequest{Session: in.Session}); return err }},
		{"compress", func() error {
			_, err := e.Compress(ctx, scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(2, 5)}})
			return err
		}},
		{"compress again", func() error {
			_, err := e.Compress(ctx, scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Share: ratio.Of(3, 10)}})
			return err
		}},
		{"export", func() error { _, err := e.Export(ctx, scope, &carrel.ExportRequest{Session: in.Session}); return err }},
		{"probe", func() error {
			_, err := e.RunProbes(ctx, scope, &carrel.RunProbesRequest{Session: in.Session})
			return err
		}},
		{"undo", func() error { _, err := e.Undo(ctx, scope, &carrel.UndoRequest{Session: in.Session}); return err }},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		runtime.ReadMemStats(&after)
		spent[step.name] = after.TotalAlloc - before.TotalAlloc
	}
	return spent
}

// Twice as many messages take about twice as much of what is counted: bytes that were
// allocated. Four times as much is what a job takes that is quadratic in their number.
func TestManyMessagesTakeLinearWork(t *testing.T) {
	if testing.Short() {
		t.Skip("long conversations")
	}
	const n = 1500
	few, more := many(t, n), many(t, 2*n)
	for name := range few {
		t.Run(name, func(t *testing.T) {
			small, large := steps(t, few[name]), steps(t, more[name])
			for step, bytes := range large {
				if most := 3*small[step] + 1<<20; bytes > most {
					t.Errorf("%s allocates %d bytes for %d messages and %d for %d", step, small[step], n, bytes, 2*n)
				}
			}
		})
	}
}

// A message of many megabytes, in lines or in one, is compressed within bounds: what is
// looked at in detail is a part of it, a warning says so, and recall has all.
func TestALargeMessage(t *testing.T) {
	const line = "2024-01-02 error at /srv/app/main.go:%d in request%d took %dms\n"
	var b strings.Builder
	for i := 0; b.Len() < 6<<20; i++ {
		fmt.Fprintf(&b, line, i, i, 7*i)
	}
	for name, text := range map[string]string{"lines": b.String(), "one line": strings.ReplaceAll(b.String(), "\n", " ")} {
		t.Run(name, func(t *testing.T) {
			e := newEngine(t, stores.New(t))
			in := load(t, e, body(t, []message{
				{Role: "user", Content: "Look at the log."}, {Role: "assistant", Content: text}, {Role: "user", Content: "Go on."},
			}))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res, err := e.Compress(t.Context(), scope, &carrel.CompressRequest{Session: in.Session, Target: carrel.Target{Tokens: 5000}})
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			if spent, most := after.TotalAlloc-before.TotalAlloc, uint64(32*len(text)); spent > most {
				t.Errorf("compress allocates %d bytes for a message of %d, want %d at most", spent, len(text), most)
			}
			if !strings.Contains(strings.Join(res.Warnings, "\n"), "looked at") {
				t.Errorf("warnings %q: none says that a part was not looked at", res.Warnings)
			}
			list, err := e.Messages(t.Context(), scope, &carrel.MessagesRequest{Session: in.Session})
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Recall(t.Context(), scope, &carrel.RecallRequest{Block: string(list.Messages[1].ID), Text: true})
			if err != nil {
				t.Fatal(err)
			}
			if strings.TrimSuffix(string(got.Data), "\n") != text {
				t.Error("recall does not return the message")
			}
		})
	}
}
