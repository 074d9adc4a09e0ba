package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/facts"
	"github.com/carrel-dev/carrel/internal/retention"
	"github.com/carrel-dev/carrel/transcript"
)

// schooled has sessions in which the agent copies lines and names of the file that
// it read last, and nothing of the log before it.
func schooled(family string, n int) []*retention.Trajectory {
	var all []*retention.Trajectory
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
		msgs := []retention.Message{user("Change the routes."), calls("1", "Bash", `{"command":"tail server.log"}`), result("1", log+log)}
		msgs = append(msgs, calls("2", "Read", fmt.Sprintf(`{"file_path":"app/%s.go"}`, family)), result("2", file))
		msgs = append(msgs, calls("3", "Write", fmt.Sprintf(`{"file_path":"app/new_%s.go","content":%q}`, family, now)), result("3", "ok"))
		all = append(all, retention.NewTrajectory(id, id, family, msgs))
	}
	return all
}

func user(text string) retention.Message {
	return retention.Message{Role: transcript.RoleUser, Text: text}
}

func calls(id, name, args string) retention.Message {
	return retention.Message{Role: transcript.RoleAssistant, Calls: []retention.Call{{ID: id, Name: name, Args: args}}}
}

func result(id, text string) retention.Message {
	return retention.Message{Role: transcript.RoleTool, CallID: id, Text: text}
}

// chances returns the mean chances, by a model, of the names and of the lines of a
// session that have a word in them.
func chances(t *testing.T, m *facts.Model, of *retention.Trajectory, word string) (name, line facts.Chance) {
	t.Helper()
	cases := fitting(of, nil)
	if len(cases) == 0 {
		t.Fatal("there is no case")
	}
	pieces := pieces(cases[len(cases)-1])
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
	m := fitModel(schooled("f", 8), &fitOptions{rounds: 300, ridge: 1, copy: 700})
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
	m := fitModel(all, &fitOptions{rounds: 100, ridge: 1})
	var list []example
	for _, tr := range all {
		for _, c := range fitting(tr, retention.NewCommon(all)) {
			list = append(list, nameExamples(c, m)...)
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
	card := boost(cases, features, &fitOptions{rounds: 400, ridge: 1})
	if w := card.Weights[0]; w[0] < -20 || w[0] > 20 || w[1] < -20 || w[1] > 20 {
		t.Errorf("weights of what is the same in all of a case: %v, want nothing", w)
	}
	if w := card.Weights[1]; w[1]-w[0] < 200 {
		t.Errorf("weights of what is needed more: %v", w)
	}
}

func TestFitIsTheSameEachTime(t *testing.T) {
	all := schooled("f", 4)
	o := &fitOptions{rounds: 20}
	if d := cmp.Diff(fitModel(all, o), fitModel(all, o)); d != "" {
		t.Error(d)
	}
}

func TestFitGoesByTheFamiliesThatAreAsked(t *testing.T) {
	f, g := schooled("f", 4), schooled("g", 3)
	want := fitModel(f, &fitOptions{rounds: 20})
	got := fitModel(slices.Concat(f, g), &fitOptions{rounds: 20, families: []string{"f"}})
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if cmp.Equal(want, fitModel(slices.Concat(f, g), &fitOptions{rounds: 20})) {
		t.Error("all families give the weights of one")
	}
}
