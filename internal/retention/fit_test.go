package retention

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/facts"
)

// schooled has sessions in which the agent copies lines and names of the file that
// it read last, and nothing of the log before it.
func schooled(family string, n int) []*Trajectory {
	var all []*Trajectory
	for i := range n {
		log, file := "", ""
		for k := range 60 {
			log += fmt.Sprintf("2025-01-02 request of client_%s%d_%d was served in time\n", family, i, k)
			file += fmt.Sprintf("%d→\tassign handler_%s%d_%d to the route of it\n", k+1, family, i, k)
		}
		var now string
		for k := range 12 {
			now += fmt.Sprintf("assign handler_%s%d_%d to the route of it\n", family, i, k*5)
		}
		id := fmt.Sprintf("%s-%d", family, i)
		msgs := []Message{user("Change the routes."), calls("1", "Bash", `{"command":"tail server.log"}`), result("1", log+log)}
		msgs = append(msgs, calls("2", "Read", fmt.Sprintf(`{"file_path":"app/%s.go"}`, family)), result("2", file))
		msgs = append(msgs, calls("3", "Write", fmt.Sprintf(`{"file_path":"app/new_%s.go","content":%q}`, family, now)), result("3", "ok"))
		all = append(all, NewTrajectory(id, id, family, msgs))
	}
	return all
}

func calls(id, name, args string) Message {
	return Message{Role: RoleAssistant, Calls: []Call{{id, name, args}}}
}

// weight returns the weight of a bin.
func weight(t *testing.T, c *facts.Card, features []facts.Feature, feature, bin string) int {
	t.Helper()
	for f := range features {
		if b := slices.Index(features[f].Bins, bin); features[f].Name == feature && b >= 0 {
			return c.Weights[f][b]
		}
	}
	t.Fatalf("no bin %s of a feature %s", bin, feature)
	return 0
}

func TestFitFindsWhatMatters(t *testing.T) {
	m := Fit(schooled("f", 8), &FitOptions{Rounds: 50, NameRidge: 1, LineRidge: 1, Copy: 700})
	if m.Copy != 700 {
		t.Errorf("copy is %d, want 700", m.Copy)
	}
	names, lines := facts.FeaturesOfNames(), facts.FeaturesOfLines()
	for _, tt := range []struct {
		of       string
		card     *facts.Card
		features []facts.Feature
	}{{"names", &m.Names, names}, {"lines", &m.Lines, lines}} {
		read := weight(t, tt.card, tt.features, "source", "read")
		output := weight(t, tt.card, tt.features, "source", "output")
		if read <= 0 || output >= 0 {
			t.Errorf("%s: %d for what was read, %d for what was printed: want more than 0, and less", tt.of, read, output)
		}
	}
	if w := weight(t, &m.Names, names, "kind", "url"); w != 0 {
		t.Errorf("what was never seen has the weight %d", w)
	}
}

func TestFitIsTheSameEachTime(t *testing.T) {
	all := schooled("f", 4)
	o := &FitOptions{Rounds: 20}
	if d := cmp.Diff(Fit(all, o), Fit(all, o)); d != "" {
		t.Error(d)
	}
}

func TestFitGoesByTheFamiliesThatAreAsked(t *testing.T) {
	f, g := schooled("f", 4), schooled("g", 3)
	want := Fit(f, &FitOptions{Rounds: 20})
	got := Fit(slices.Concat(f, g), &FitOptions{Rounds: 20, Families: []string{"f"}})
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if cmp.Equal(want, Fit(slices.Concat(f, g), &FitOptions{Rounds: 20})) {
		t.Error("all families give the weights of one")
	}
}
