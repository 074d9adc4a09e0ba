package handoff

import (
	"bytes"
	"strings"
	"testing"
)

func TestTitle(t *testing.T) {
	for s, want := range map[Section]string{
		sectionGoal: "1. Current Goal", sectionQuestions: "7. Open Questions", sectionHeader: "Header", "weather": "weather",
	} {
		if got := s.Title(); got != want {
			t.Errorf("the title of %q is %q, want %q", s, got, want)
		}
	}
}

func TestFilename(t *testing.T) {
	for _, tt := range []struct {
		name                            string
		date, session, domain, subtitle string
		want                            string
	}{
		{"without a domain", "2026-03-02", "pump", "", "night shift", "handoff_2026_03_02_night_shift.md"},
		{"with a domain", "2026-03-02", "pump", "Water Works", "night-shift", "water_works_handoff_2026_03_02_night_shift.md"},
		{"without a subtitle it is the session", "2026-03-02", "Pump 7", "", "", "handoff_2026_03_02_pump_7.md"},
		{"with no name at all", "2026-03-02", "--", "..", "//", "handoff_2026_03_02_session.md"},
		{"a time is as good as a date", "2026-03-02T08:00:00Z", "s", "", "x", "handoff_2026_03_02_x.md"},
		{"an unknown date", "Unknown: nobody noted it.", "s", "", "x", "handoff_undated_x.md"},
		{"what looks like a longer number is no date", "2026-03-021", "s", "", "x", "handoff_undated_x.md"},
		{"diacritics, whole and by themselves", "2026-03-02", "s", "Möbius", "cafe\u0301 ñandú", "mobius_handoff_2026_03_02_cafe_nandu.md"},
		{"nothing leads out of the folder", "2026-03-02", "s", "../../etc", "a/../b\x00c", "etc_handoff_2026_03_02_a_b_c.md"},
		{"all digits stay", "2026-03-02", "s", "", "v0.9.10 az", "handoff_2026_03_02_v0_9_10_az.md"},
		{"other scripts are not letters here", "2026-03-02", "日本", "", "日本", "handoff_2026_03_02_session.md"},
		{"a long name is cut", "2026-03-02", "s", "", strings.Repeat("ab ", 40), "handoff_2026_03_02_" + strings.Repeat("ab_", 19) + "ab.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := &Packet{Date: tt.date, Session: tt.session}
			if got := Filename(p, tt.domain, tt.subtitle); got != tt.want {
				t.Errorf("Filename = %q, want %q", got, tt.want)
			}
		})
	}
}

// An invalid packet cannot be written as JSON.
func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Packet)
		want   string
	}{
		{"a blank text", func(p *Packet) { p.Goal = " \n" }, "current_goal: says nothing"},
		{"a blank entry", func(p *Packet) { p.Done = []string{"x", ""} }, "work_completed.1: says nothing"},
		{"a blank slot", func(p *Packet) { p.Intent.Slots = []string{""} }, "active_intent.unresolved_slots.0: says nothing"},
		{"another verb", func(p *Packet) { p.Intent.Primary = "sing" }, `active_intent.primary_intent: is "sing"`},
		{"no state", func(p *Packet) { p.Sources = []Source{{"a", "b", "", "c"}} }, `verified_sources.0.state: is ""`},
		{"bytes that are no text", func(p *Packet) { p.Filename = "a\xff" }, "filename: is not valid UTF-8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Build(&Input{})
			if _, err := p.JSON(); err != nil {
				t.Fatal(err)
			}
			tt.change(p)
			if _, err := p.JSON(); err == nil || err.Error() != tt.want {
				t.Errorf("JSON: %v, want %s", err, tt.want)
			}
		})
	}
}

func TestParseRefusesBytes(t *testing.T) {
	for _, tt := range []struct {
		name, in, want string
	}{
		{"nothing", "", "f:1: there is no packet\nbegin with \"# Handoff Packet\" for Markdown, or with a brace for JSON\n"},
		{"bytes that are no text", "# Handoff Packet\n\n\xff", "f:3: is not valid UTF-8\nsave the file as UTF-8\n"},
		{"bytes that are no text, at once", "\xff", "f:1: is not valid UTF-8\nsave the file as UTF-8\n"},
		{"an open object", "{", "f:1: the text ends in the middle of a value\nthe file may have been cut off\n"},
		{"a packet that ends after its header", "# Handoff Packet\n", "f:1: Header: lacks \"Created for\"\nwrite \"- **Created for:** Unknown: …\" if it is not known\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("f", []byte(tt.in))
			if got := refusal(err); got != tt.want {
				t.Errorf("Parse: %swant: %s", got, tt.want)
			}
		})
	}
	if _, err := Parse("", bytes.Repeat([]byte{' '}, maxBytes+1)); err == nil {
		t.Error("more than the most is read")
	}
	if _, err := Parse("f", bytes.Repeat([]byte{' '}, maxBytes)); err == nil || !strings.Contains(refusal(err), "there is no packet") {
		t.Errorf("as much as the most is not read: %v", err)
	}
}

func TestQuestions(t *testing.T) {
	for in, want := range map[string]string{
		"Is it? Yes.":                      "Is it?",
		"So. Is it (or not?) Is that all?": "Is it (or not?)|Is that all?",
		"https://pump.example/?a=1 is up.": "",
		"What?!":                           "",
		"? ??":                             "",
	} {
		if got := strings.Join(questions(in), "|"); got != want {
			t.Errorf("questions(%q) = %q, want %q", in, got, want)
		}
	}
}

// A source that was read may say "nothing", and a list may be linked.
func TestUnread(t *testing.T) {
	for in, want := range map[string]bool{
		"Linked by the user.":               true,
		"linked":                            true,
		"Mentioned in the plan, not opened": true,
		"Not yet read.":                     true,
		"Never opened.":                     true,
		"Nothing.":                          true,
		"Nothing: it was linked.":           true,
		"Unknown: nobody noted it.":         true,
		"Linked lists are freed twice.":     false,
		"Nothing calls it.":                 false,
		"It does not read the level.":       false,
		"Not one caller is left.":           false,
	} {
		if got := unread.Get().MatchString(in); got != want {
			t.Errorf("unread(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		text, name string
		want       bool
	}{
		{"block 3f2a: x", "3f2a", true},
		{"block 13f2a: x", "3f2a", false},
		{"block 13f2a, 3f2a", "3f2a", true},
		{"bench 41", "bench 4", false},
		{"block x_3f2a: x", "3f2a", false},
		{"block 3f2a_x", "3f2a", false},
		{"x", "", false},
	} {
		if got := names(tt.text, tt.name); got != tt.want {
			t.Errorf("names(%q, %q) = %v, want %v", tt.text, tt.name, got, tt.want)
		}
	}
}

// A bullet may have no text after it, and a row of a table begins with a pipe.
func TestLinesOfAPacket(t *testing.T) {
	for line, want := range map[string]int{"-": 1, "- a": 1, "  -": 2, "  - a": 2, "-a": 0, "a": 0} {
		if _, level := bullet(line); level != want {
			t.Errorf("%q has the level %d, want %d", line, level, want)
		}
	}
	for line, want := range map[string]bool{"| a | b |": true, "a | b |": false, "|": false, "": false} {
		if _, ok := cells(line); ok != want {
			t.Errorf("%q is a row: %v, want %v", line, ok, want)
		}
	}
}
