package pager

import (
	"errors"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/ratio"
	"github.com/carrel-dev/carrel/token"
	"github.com/carrel-dev/carrel/transcript"
)

func TestLevelIsExactAtItsEdges(t *testing.T) {
	for _, tt := range []struct {
		used, effective token.Count
		want            Level
	}{
		{0, 160_000, levelOK},
		{95_999, 160_000, levelOK},
		{96_000, 160_000, levelWarn},
		{111_999, 160_000, levelWarn},
		{112_000, 160_000, LevelCompress}, // 70.0 %
		{143_999, 160_000, LevelCompress},
		{144_000, 160_000, LevelCritical},
		{200_000, 160_000, LevelCritical},
		{6, 9, levelWarn}, // 66.7 %
		{1, 0, LevelCritical},
		{0, 0, LevelCritical},
		{0, -1, LevelCritical},
		{-1, 160_000, levelOK},
		{math.MaxInt / 4, math.MaxInt / 2, levelOK}, // no figure is too large
		{math.MaxInt, math.MaxInt, LevelCritical},
		{math.MaxInt / 500_000, math.MaxInt / 92_233, levelOK}, // 18.4 %
	} {
		if got := (*Trigger)(nil).Level(tt.used, tt.effective); got != tt.want {
			t.Errorf("Level(%d, %d) = %s, want %s", tt.used, tt.effective, got, tt.want)
		}
	}
}

func TestFigures(t *testing.T) {
	for _, tt := range []struct{ window, given, floor, wantEffective, wantFloor, wantTidy token.Count }{
		{200_000, 0, 0, 160_000, 30_000, 50_000},
		{200_000, 150_000, 0, 150_000, 30_000, 50_000},
		{100_000, 0, 0, 80_000, 30_000, 50_000},
		{99_999, 0, 0, 79_999, 29_999, 49_999},
		{60_000, 0, 0, 48_000, 18_000, 30_000},
		{32_000, 160_000, 0, 32_000, 9_600, 16_000}, // not more than there is
		{0, 160_000, 0, 160_000, 0, 0},
		{1, 160_000, 0, 1, 0, 0},
		{-1, 160_000, 0, 160_000, 0, 0},
		{10, 1, 0, 1, 0, 0},
		{200_000, 20_000, 0, 20_000, 7_500, 12_500}, // below what is compressed and what is left then
		{10, -1, 0, 8, 3, 5},
		{0, 0, 0, 0, 0, 0},
		{200_000, 0, 1, 160_000, 1, 50_000}, // a floor that is given is the floor, however low
		{200_000, 0, 80_000, 160_000, 80_000, 80_000},
	} {
		got := (&Trigger{Effective: tt.given, Floor: tt.floor}).Figures(tt.window)
		if got.Effective != tt.wantEffective || got.Floor != tt.wantFloor || got.Tidy != tt.wantTidy {
			t.Errorf("%+v: got %+v", tt, got)
		}
	}
	want := Figures{Window: 200_000, Effective: 160_000, Warn: 96_000, Compress: 112_000, Critical: 144_000, Target: 80_000, Tidy: 50_000, Floor: 30_000}
	if got := (*Trigger)(nil).Figures(200_000); got != want {
		t.Errorf("without a trigger: %+v, want %+v", got, want)
	}
}

func TestDue(t *testing.T) {
	full := Load{Used: 112_000, Effective: 160_000, Floor: 30_000, Messages: 10}
	with := func(change func(*Load)) Load {
		l := full
		change(&l)
		return l
	}
	pager := &Trigger{Profile: ProfilePager}
	for _, tt := range []struct {
		name    string
		trigger *Trigger
		load    Load
		due     bool
		action  Action
		reason  string
	}{
		{"70.0 % and ten messages", nil, full, true, actionCompress, "70.0% of the effective window is in use, at least 70.0%"},
		{"a token less", nil, with(func(l *Load) { l.Used-- }), false, actionWarn, "at least 60.0% and below 70.0%"},
		{"a share that is rounded up", nil, with(func(l *Load) { l.Used-- }), false, actionWarn, "just below 70.0% of the effective window is in use, at least 60.0% and below 70.0%"},
		{"a share that is rounded up, below 60 %", nil, with(func(l *Load) { l.Used = 95_999 }), false, actionNone, "just below 60.0% of the effective window is in use, below 60.0%"},
		{"69 %", nil, with(func(l *Load) { l.Used = 110_400 }), false, actionWarn, "69.0%"},
		{"below 60 %", nil, with(func(l *Load) { l.Used = 95_999 }), false, actionNone, "below 60.0%"},
		{"nine messages", nil, with(func(l *Load) { l.Messages = 9 }), false, actionWarn, "9 messages are below 10"},
		{"critical, with nine", nil, with(func(l *Load) { l.Used, l.Messages = 160_000, 9 }), false, actionWarn, "at least 90.0%"},
		{"a call is pending", nil, with(func(l *Load) { l.Pending = true }), false, actionWarn, "not answered yet"},
		{"a call is pending below 60 %", nil, with(func(l *Load) { l.Used, l.Pending = 95_999, true }), false, actionNone, "below 60.0%"},
		{"nine cycles", nil, with(func(l *Load) { l.Cycles = 9 }), true, actionCompress, "10 messages"},
		{"ten cycles", nil, with(func(l *Load) { l.Cycles = 10 }), false, actionNewSession, "consider a new session"},
		{"another edge", &Trigger{Compress: 800_000}, full, false, actionWarn, "below 80.0%"},
		{"pager: 4 001 tokens", pager, Load{Used: 4001, Iterations: 1}, true, actionPage, "4001 tokens are above 4000"},
		{"pager: 4 000 tokens", pager, Load{Used: 4000, Iterations: 4}, false, actionNone, "4 iterations below 5"},
		{"pager: five iterations", pager, Load{Used: 10, Iterations: 5}, true, actionPage, "5 iterations are at least 5"},
		{"pager: a call is pending", pager, Load{Used: 4001, Pending: true}, false, actionWarn, "not answered yet"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := tt.trigger.Due(&tt.load)
			if v.Due != tt.due || v.Action != tt.action || !strings.Contains(strings.Join(v.Reasons, "; "), tt.reason) {
				t.Errorf("%+v is %+v, want due %t, %s, %q", tt.load, v, tt.due, tt.action, tt.reason)
			}
		})
	}
}

func TestDueSaysWhatToLeave(t *testing.T) {
	v := (*Trigger)(nil).Due(&Load{Used: 150_000, Effective: 160_000, Floor: 30_000, Messages: 50})
	if v.Target != 80_000 || v.Keep != 5 {
		t.Errorf("target %d, last %d; want half of the window and 5", v.Target, v.Keep)
	}
	v = (*Trigger)(nil).Due(&Load{Used: 50_000, Effective: 50_000, Floor: 30_000, Messages: 50, Retry: true})
	if v.Target != 30_000 || v.Keep != 10 {
		t.Errorf("target %d, last %d; want the floor and 10", v.Target, v.Keep)
	}
}

// A trigger is due from some size on and stays so.
func TestDueRisesWithTheWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := Load{Effective: token.Count(rapid.IntRange(1, 300_000).Draw(t, "effective")), Messages: 10}
		a := rapid.IntRange(0, 300_000).Draw(t, "a")
		b := rapid.IntRange(a, 300_000).Draw(t, "b")
		l.Used = token.Count(a)
		small := (*Trigger)(nil).Due(&l)
		l.Used = token.Count(b)
		if large := (*Trigger)(nil).Due(&l); small.Due && !large.Due {
			t.Errorf("due at %d, not at %d", a, b)
		}
	})
}

func TestTriggerValidate(t *testing.T) {
	for _, tt := range []struct {
		name    string
		trigger *Trigger
		valid   bool
	}{
		{"none", nil, true},
		{"an edge below the target lowers the target", &Trigger{Warn: 300_000, Compress: 400_000}, true},
		{"edges that fall", &Trigger{Compress: 950_000}, false},
		{"a warning behind the edge", &Trigger{Warn: 750_000}, false},
		{"an edge above all", &Trigger{Critical: ratio.One + 1}, false},
		{"a target above the edge", &Trigger{Target: 800_000}, false},
		{"a profile that is not known", &Trigger{Profile: "x"}, false},
		{"a floor below 0", &Trigger{Floor: -1}, false},
		{"messages below 0", &Trigger{Messages: -1}, false},
		{"cycles below 0", &Trigger{Cycles: -1}, false},
		{"a rest below 0", &Trigger{Keep: -1}, false},
		{"a rest for the next try below 0", &Trigger{KeepRetry: -1}, false},
		{"tokens below 0", &Trigger{Tokens: -1}, false},
		{"iterations below 0", &Trigger{Iterations: -1}, false},
		{"an effective window below 0", &Trigger{Effective: -1}, false},
		{"figures of 1", &Trigger{Messages: 1, Cycles: 1, Keep: 1, KeepRetry: 1, Tokens: 1, Iterations: 1, Effective: 1, Floor: 1}, true},
		{"shares that are all the same", &Trigger{Warn: 500_000, Compress: 500_000, Critical: 500_000, Target: 500_000}, true},
		{"shares of all", &Trigger{Warn: ratio.One, Compress: ratio.One, Critical: ratio.One, Target: ratio.One}, true},
		{"the least shares", &Trigger{Warn: 1, Compress: 1, Critical: 1, Target: 1}, true},
		{"a warning below 0", &Trigger{Warn: -1}, false},
		{"a target below 0", &Trigger{Target: -1}, false},
		{"the other profile", &Trigger{Profile: ProfilePager}, true},
	} {
		if err := tt.trigger.Validate(); (err == nil) != tt.valid || err != nil && !errors.Is(err, errTrigger) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestIterationsAndPending(t *testing.T) {
	msgs := []transcript.Message{
		say(transcript.RoleUser, "build it"), say(transcript.RoleAssistant, "built"),
		say(transcript.RoleUser, "<system-reminder>no task</system-reminder>"), say(transcript.RoleUser, "test it"),
		call("1", "Bash", `{}`),
	}
	if n := Iterations(msgs, transcript.Group("s", 0, msgs)); n != 2 {
		t.Errorf("%d iterations, want 2", n)
	}
	if !Pending(msgs, transcript.Group("s", 0, msgs)) || Pending(nil, nil) {
		t.Error("a call without a result is pending, and nothing is not")
	}
	alone := msgs[4:]
	if !Pending(alone, transcript.Group("s", 0, alone)) {
		t.Error("a call alone is not pending")
	}
	msgs = append(msgs, answer("1", "ok", false))
	if Pending(msgs, transcript.Group("s", 0, msgs)) {
		t.Error("an answered call is pending")
	}
}
