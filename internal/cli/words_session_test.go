package cli

import (
	"testing"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/contract"
	"github.com/carrel-dev/carrel/internal/cli/job"
	"github.com/carrel-dev/carrel/internal/test/clitest"
)

func TestContradictionsArePrinted(t *testing.T) {
	env, _, stderr := clitest.Env(t)
	printContract(job.New(env), &api.Problem{
		Conflict: &api.Contradiction{Decision: "tabs", Others: []api.Contradicting{{Decision: "spaces", List: contract.TrackedDecisions, About: "indent", Value: "4"}}},
		Failures: []contract.Failure{{Line: 3, Kind: contract.FailedPin, Text: "out"}, {Line: 5, Kind: contract.FailedBudget, Text: "too much"}},
	})
	want := "  new     tabs    \n  stands  spaces  in " + string(contract.TrackedDecisions) + ": indent is 4\nways on:\n" +
		"  --on-conflict override  the new one takes the place of the other, which is recorded\n" +
		"  --on-conflict defer     the new one becomes an open question\n" +
		"  --on-conflict comply    the new one is dropped\n  line 3: " + string(contract.FailedPin) + ": out\n  line 5: " + string(contract.FailedBudget) + ": too much\n"
	if got := stderr.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}
