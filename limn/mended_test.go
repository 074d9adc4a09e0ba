package limn

import "testing"

// The tests in this file pin what other implementations of the language get wrong.

func TestMendedMessagesShowListsAsTheLanguageDoes(t *testing.T) {
	r := last(t, nil, `remember a list called xs with "x1" and "x2"`, `require xs includes "x3"`)
	want := `Requirement not met: xs includes "x3". xs is x1, x2.`
	if r.Status != StatusNotMet || r.Message != want {
		t.Errorf("got %s: %s, want %s", r.Status, r.Message, want)
	}
}

func TestMendedLongListsDoNotFloodMessages(t *testing.T) {
	r := last(t, nil, "gather the xs from 1 to 100", "require xs includes 0")
	want := "Requirement not met: xs includes 0. xs is 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..., 91, 92, 93, 94, 95, 96, 97, 98, 99, 100."
	if r.Message != want {
		t.Errorf("got %s, want %s", r.Message, want)
	}
}

func TestMendedRulesCanMakeARunFail(t *testing.T) {
	for _, s := range []Status{StatusNotMet, StatusViolated} {
		if s.Failed(false) || !s.Failed(true) {
			t.Errorf("%s: fails %t, strictly %t", s, s.Failed(false), s.Failed(true))
		}
	}
}

func TestMendedConditionsOfHandlersApplyDefinitions(t *testing.T) {
	m := NewMachine(nil)
	p := Parse("", "define large: is above 50\nremember a value called n1 with 75\nwhen n1 is large\n  show \"large\"", nil)
	when, ok := p.Lines[2].stmt.(*when)
	if !ok {
		t.Fatalf("line 3 is %T", p.Lines[2].stmt)
	}
	m.Exec(p.Lines[0])
	m.Exec(p.Lines[1])
	if holds, err := m.holds(when.Cond, nil); err != nil || !holds {
		t.Errorf("the condition is %t, %v, want true", holds, err)
	}
}

func TestMendedViolationInAHandlerIsAFailureLikeOthers(t *testing.T) {
	m := NewMachine(nil)
	p := Parse("", "remember a value called n1 with 75\nwhen n1 is 75\n  forbid n1 is 75\n  show \"after\"", nil)
	var statuses []Status
	for r := range m.Run(p) {
		statuses = append(statuses, r.Status)
	}
	for r := range m.Listen(nil) {
		statuses = append(statuses, r.Status)
	}
	want := []Status{StatusSuccess, StatusSuccess, StatusListening, StatusViolated, StatusFired, StatusShutdown}
	if len(statuses) != len(want) {
		t.Fatalf("got %v, want %v", statuses, want)
	}
	for i := range want {
		if statuses[i] != want[i] {
			t.Errorf("got %v, want %v", statuses, want)
		}
	}
}

func TestMendedEmptyListNeedsNoPlaceholder(t *testing.T) {
	r := last(t, nil, "remember a list called xs", `add "x1" to xs`, "count the xs")
	if r.Status != StatusSuccess || len(r.Output) != 1 || r.Output[0] != "1" {
		t.Errorf("got %s %q: %s", r.Status, r.Output, r.Message)
	}
}

func TestMendedPacksAreKnownToTheirMachineOnly(t *testing.T) {
	pack, err := BuiltinPack("session")
	if err != nil {
		t.Fatal(err)
	}
	opts := &Options{Packs: []*Pack{pack}}
	with := last(t, opts, `remember a source called report with "40 units"`, `cite "40" from report`)
	without := last(t, nil, `remember a source called report with "40 units"`, `cite "40" from report`)
	if with.Status != StatusSuccess || without.Status == StatusSuccess {
		t.Errorf("with the pack %s: %s; without it %s", with.Status, with.Message, without.Status)
	}
}
