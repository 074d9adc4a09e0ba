package calls

import (
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/api"
)

// Reasons come by how often they are given, then by name, those of managed calls first.
func TestReasonsByFrequency(t *testing.T) {
	var got string
	for _, r := range byFrequency(map[api.ReasonTally]int{
		{Reason: "b"}: 2, {Reason: "a", Managed: true}: 1, {Reason: "a"}: 1, {Reason: "c"}: 1, {Reason: "d", Managed: true}: 3,
	}) {
		got += fmt.Sprintf(" %s %d %v", r.Reason, r.Calls, r.Managed)
	}
	if want := " d 3 true b 2 false a 1 true a 1 false c 1 false"; got != want {
		t.Errorf("reasons are%s, want%s", got, want)
	}
}
