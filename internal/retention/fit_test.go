package retention

import (
	"fmt"
	"slices"
	"strings"
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

// chances returns the mean chances, by a model, of the names and of the lines of a
// session that have a word in them.
func chances(t *testing.T, m *facts.Model, of *Trajectory, word string) (name, line facts.Chance) {
	t.Helper()
	cases := of.fitting(nil)
	if len(cases) == 0 {
		t.Fatal("there is no case")
	}
	pieces := cases[len(cases)-1].pieces()
	need := facts.Estimate(pieces, m)
	names, lines := facts.Chance(0), facts.Chance(0)
	for i := range pieces {
		for k := range pieces[i].Marks {
			if mark := &pieces[i].Marks[k]; strings.HasPrefix(pieces[i].Text[mark.From:mark.To], word) {
				name += need.Names[need.Marks[i][k]].Chance
				names++
			}
		}
		for k := range pieces[i].Lines {
			if l := &pieces[i].Lines[k]; strings.Contains(pieces[i].Text[l.From:l.To], word) {
				line += need.Lines[i][k].Chance
				lines++
			}
		}
	}
	if names == 0 || lines == 0 {
		t.Fatalf("%d names and %d lines have %q", names, lines, word)
	}
	return name / names, line / lines
}

func TestFitFindsWhatMatters(t *testing.T) {
	m := Fit(schooled("f", 8), &FitOptions{Rounds: 300, Ridge: 1, Copy: 700})
	if m.Copy != 700 {
		t.Errorf("copy is %d, want 700", m.Copy)
	}
	other := schooled("g", 1)[0] // which it was not fitted to
	read, line := chances(t, m, other, "handler_")
	printed, logged := chances(t, m, other, "client_")
	if read < 4*printed || line < 4*logged {
		t.Errorf("chances of what was read %d, %d, of what was printed %d, %d: want much more", read, line, printed, logged)
	}
}

// A weight says what a bin adds to what is usual: the mean of a feature is nothing.
func TestFitWeightsAreOfTheUsual(t *testing.T) {
	all := schooled("f", 6)
	m := Fit(all, &FitOptions{Rounds: 100, Ridge: 1})
	var list []example
	for _, tr := range all {
		for _, c := range tr.fitting(NewCommon(all)) {
			list = append(list, c.nameExamples(m)...)
		}
	}
	for f, feature := range facts.FeaturesOfNames() {
		sum := 0
		for i := range list {
			sum += m.Names.Weights[f][list[i].bins[f]]
		}
		if mean := sum / len(list); mean < -1 || mean > 1 {
			t.Errorf("%s: the mean weight is %d", feature.Name, mean)
		}
	}
}

// What is the same in all of a conversation says nothing of the order within it, however
// much more is needed of some conversations.
func TestFitGoesByTheOrderWithinACase(t *testing.T) {
	features := []facts.Feature{{Name: "large", Bins: []string{"no", "yes"}}, {Name: "new", Bins: []string{"no", "yes"}}}
	var cases [][]example
	for c := range 20 {
		large := uint8(c % 2)
		var list []example
		for i := range 200 {
			// Half of a small case is needed, a tenth of a large one; more of what is new.
			isNew := uint8(i % 2)
			needed := i/2%4 == 0 || large == 0 && i/2%4 < 2
			if isNew == 1 && i/2%4 == 2 {
				needed = large == 0
			}
			list = append(list, example{[]uint8{large, isNew}, needed, 1})
		}
		cases = append(cases, list)
	}
	card := fit(cases, features, &FitOptions{Rounds: 400, Ridge: 1})
	if w := card.Weights[0]; w[0] < -20 || w[0] > 20 || w[1] < -20 || w[1] > 20 {
		t.Errorf("weights of what is the same in all of a case: %v, want nothing", w)
	}
	if w := card.Weights[1]; w[1]-w[0] < 200 {
		t.Errorf("weights of what is needed more: %v", w)
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
