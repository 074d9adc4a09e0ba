package mcp_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/test/stores"
	"github.com/carrel-dev/carrel/server/mcp"
)

// Who gives a token is told how far the job is; who gives none is told nothing.
func TestProgress(t *testing.T) {
	long := &chat{}
	for range 100 {
		long.say("user", "Go on.").say("assistant", "I do.")
	}
	told := make(chan *sdk.ProgressNotificationParams, 100)
	importing := func(params *sdk.CallToolParams) {
		s := mcp.New(whole(newEngine(t, stores.New(t))), nil)
		s.AddImport(long.bytes(t))
		c := connect(t, s, &sdk.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) { told <- req.Params },
		})
		if res, err := c.CallTool(t.Context(), params); err != nil || res.IsError {
			t.Fatal(res, err)
		}
	}
	params := &sdk.CallToolParams{Name: "import"}
	importing(params)
	params.SetProgressToken("a token")
	importing(params)
	select {
	case p := <-told:
		if p.ProgressToken != "a token" || p.Message != "count" || p.Progress <= 0 || p.Progress > 100 {
			t.Errorf("told %+v", p)
		}
	case <-time.After(time.Minute):
		t.Error("nothing was told")
	}
}

// What is told only grows, whatever the jobs say.
func TestStepsOnlyGrow(t *testing.T) {
	if got := mcp.Steps([]string{"count", "count", "write", "write"}, []int{1, 2, 0, 1}, []int{2, 2, 4, 4}); !cmp.Equal(got, []float64{50, 100, 125}) {
		t.Errorf("told %v", got)
	}
	if got := mcp.Steps([]string{"", ""}, []int{1, 2}, []int{2, 2}); !cmp.Equal(got, []float64{50, 100}) {
		t.Errorf("of a job without a name %v is told", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "steps")
		numbers := rapid.SliceOfN(rapid.IntRange(-5, 1<<30), n, n)
		jobs := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "b"}), n, n).Draw(t, "jobs")
		last := 0.0
		for _, at := range mcp.Steps(jobs, numbers.Draw(t, "done"), numbers.Draw(t, "total")) {
			if at <= last {
				t.Fatalf("%v is told after %v", at, last)
			}
			last = at
		}
	})
}
