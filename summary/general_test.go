package summary

import (
	"slices"
	"testing"
)

// The story of a museum's audio guide: figures that can be reckoned further, an
// intention that was forbidden, a condition, dates that were moved, and roles.
func museum() *Original {
	said := []saying{
		{true, "The audio guide of the Tarn museum stutters in the crypt. We open the new tour from 4 to 9 March. Please repair player/buffer.ts."},
		{false, "I'd buffer with a ring rather than a queue, because a ring never allocates. The captions go to a file instead of the cloud, since the crypt has no network. The level is the mean over 5 seconds rather than the peak, as clicks don't move it. I'll lower the bitrate now."},
		{true, "No, do not lower the bitrate. Also make it 11 to 16 March, the carpenters need longer. My colleague Bruno signs the contract, I only pay the invoice."},
		{false, "The player had 431 dropouts: 396 in the crypt and 35 in the tower. The start takes 640 ms, before it took 900 ms. Charts: 18.0 in the hall. If the tests fail, the porter turns the amplifier off. Quiet rooms get a discount of 7 % on 30 tickets; loud rooms get a discount of 4 % on 90 tickets."},
		{false, "playerTest fails at the moment."},
		{false, "Now playerTest passes. Still to be done:\n1. Bruno answers about the loan (LN-482).\n2. Test the guide in the tower."},
	}
	runs := [][2]string{
		{`run {"command":"npm test"}`, "TypeError: expected a stream, not 'buffer'\nexit code 1"},
		{`run {"command":"npm test"}`, "ok\nexit code 0"},
	}
	text := ""
	for _, s := range said {
		text += s.text + "\n"
	}
	for _, r := range runs {
		text += r[0] + "\n" + r[1] + "\n"
	}
	return &Original{Text: text, Asked: asked(said), Changed: []string{"player/buffer.ts"}}
}

func museumSummary() *Summary {
	return &Summary{
		Intent: "Stop the stuttering of the audio guide in the crypt of the Tarn museum",
		Files:  Files{{"player/buffer.ts", []Item{{Text: "a ring takes the samples"}}}},
		Decisions: []Decision{
			{Decision: "Samples are buffered with a ring, not a queue", Rationale: "it never allocates"},
			{Decision: "The captions go to a file", Rationale: "no network in the crypt"},
		},
		State:    "playerTest passes",
		Blockers: []Item{{Text: "The loan LN-482: Bruno has to answer"}},
		Next:     []Item{{Text: "Test the guide in the tower"}},
		Context:  []Item{{Text: "Opening 11 to 16 March"}},
		Errors:   []Error{{Error: "TypeError from npm test", Status: statusResolved, Note: "mended"}},
	}
}

func TestCheckTakesWhatFollows(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(s *Summary)
	}{
		{"as it is", func(*Summary) {}},
		{"an intention that was forbidden", func(s *Summary) {
			s.Decisions[1] = Decision{Decision: "The agent planned to lower the bitrate, but the user refused", Rationale: NotStated}
		}},
		{"what depends on a condition", func(s *Summary) { s.State += ". The amplifier was not turned off by the porter" }},
		{"what was expected and what came", func(s *Summary) { s.Errors[0].Error = "TypeError, buffer instead of a stream" }},
		{"a sum beside its parts", func(s *Summary) { s.Context[0].Text = "431 dropouts, 396 of them in the crypt" }},
		{"a sum that is told as one", func(s *Summary) { s.Context[0].Text = "The tickets with a discount are 120 in total" }},
		{"a difference", func(s *Summary) { s.Context[0].Text = "The start became faster by 260 ms" }},
		{"zeros behind the point", func(s *Summary) { s.Context[0].Text = "Charts: 18 in the hall, 640.0 ms at the start" }},
		{"the old dates as the old ones", func(s *Summary) { s.Context[0].Text = "Opening first 4 to 9 March, then 11 to 16 March" }},
		{"roles", func(s *Summary) { s.Context[0].Text = "Bruno signs the contract, the user pays the invoice" }},
		{"a mean over a time", func(s *Summary) {
			s.Decisions[1] = Decision{Decision: "Mean over 5 seconds rather than the peak", Rationale: "clicks"}
		}},
		{"figures of two things", func(s *Summary) {
			s.Context = []Item{{Text: "quiet rooms: 7 percent on 30 tickets"}, {Text: "loud rooms: 4 percent on 90 tickets"}}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := museumSummary()
			tt.edit(s)
			for _, p := range Check(s, museum()) {
				t.Errorf("%v", p)
			}
		})
	}
}

func TestCheckRefusesFiguresOfNothing(t *testing.T) {
	for _, tt := range []struct {
		name string
		rule CheckRule
		edit func(s *Summary)
	}{
		{"no sum of anything", ruleInvented, func(s *Summary) { s.Context[0].Text = "437 dropouts, 396 of them in the crypt" }},
		{"no difference of anything", ruleInvented, func(s *Summary) { s.Context[0].Text = "The start became faster by 270 ms" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := museumSummary()
			tt.edit(s)
			got := Check(s, museum())
			if !slices.ContainsFunc(got, func(p Problem) bool { return p.Rule == tt.rule }) {
				t.Errorf("got %v, want rule %s", got, tt.rule)
			}
		})
	}
}
