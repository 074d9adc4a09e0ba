package facts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

// body returns a file of lines that each have a different name.
func body(prefix string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d→\tvalue of %s_%d is read from the table\n", i+1, prefix, i)
	}
	return b.String()
}

func (s *talk) read(path, text string) *talk {
	return s.call("", "Read", map[string]string{"file_path": path}, text)
}

// judged is a conversation with its [Estimate].
type judged struct {
	pieces []Piece
	need   *Need
}

func (s *talk) judge() judged {
	p := s.history(nil)
	return judged{p, Estimate(p, nil)}
}

// name returns the chance of a name.
func (j judged) name(t *testing.T, text string) Chance {
	t.Helper()
	for i := range j.pieces {
		for k, m := range j.pieces[i].Marks {
			if !m.inner && j.pieces[i].Text[m.From:m.To] == text {
				return j.need.Names[j.need.Marks[i][k]].Chance
			}
		}
	}
	t.Fatalf("there is no %q", text)
	return 0
}

// line returns the last line that has a text.
func (j judged) line(t *testing.T, text string) LineNeed {
	t.Helper()
	for i, p := range slices.Backward(j.pieces) {
		for k, l := range p.Lines {
			if strings.Contains(p.Text[l.From:l.To], text) && j.need.Lines[i][k].Copy != 0 {
				return j.need.Lines[i][k]
			}
		}
	}
	t.Fatalf("there is no line with %q", text)
	return LineNeed{}
}

func TestNamesThatAreLikelier(t *testing.T) {
	noise := body("noise", 300)
	for _, tt := range []struct {
		name           string
		talk           *talk
		likelier, than string
	}{
		{
			"what the newest words name, against what was read long ago",
			new(talk).user("Begin.").read("app/old.go", "var oldLimit = 1\n"+noise).run("ls", noise).user("Now raise newLimit please."),
			"newLimit", "oldLimit",
		},
		{
			"what was just done, against what was done long ago",
			new(talk).user("Begin.").run("make first_target", "ok").run("ls", noise).run("ls -l", noise).run("du", noise).run("df", noise).
				run("make second_target", "ok"),
			"second_target", "first_target",
		},
		{
			"what stands alone, against one of many in a listing",
			new(talk).user("Begin.").run("make list", noise).run("make one", "see one_thing"),
			"one_thing", "noise_7",
		},
		{
			"what is used again and again, against what was there once",
			new(talk).user("Begin.").run("make often_used", "ok").run("test often_used", "ok").run("run often_used", "ok").
				run("make once_used", "ok").run("push often_used", "ok"),
			"often_used", "once_used",
		},
	} {
		j := tt.talk.judge()
		if a, b := j.name(t, tt.likelier), j.name(t, tt.than); a <= b {
			t.Errorf("%s: %s has %d, %s has %d", tt.name, tt.likelier, a, tt.than, b)
		}
	}
}

func TestLinesThatAreLikelier(t *testing.T) {
	noise := body("noise", 300)
	const first, second = "value of the first limit is set here", "value of the second limit is set here"
	for _, tt := range []struct {
		name           string
		talk           *talk
		likelier, than string
	}{
		{
			"of a file read just now, against one of a file read long ago",
			new(talk).user("Begin.").read("app/a.go", first).run("ls", noise).run("ls -l", noise).run("du", noise).run("df", noise).
				read("app/b.go", second),
			second, first,
		},
		{
			"of a file, against one of a long output",
			new(talk).user("Begin.").run("make", first+"\n"+noise).read("app/b.go", second),
			second, first,
		},
		{
			"that an edit wrote, against the one that it replaced",
			new(talk).user("Begin.").read("app/a.go", first).edit("app/a.go", first, second),
			second, first,
		},
	} {
		j := tt.talk.judge()
		if a, b := j.line(t, tt.likelier), j.line(t, tt.than); a.Chance <= b.Chance {
			t.Errorf("%s: %d against %d", tt.name, a.Chance, b.Chance)
		}
	}
}

func TestARepeatedLineCountsOnce(t *testing.T) {
	const line = "value of the first limit is set here"
	once := new(talk).user("Begin.").read("app/a.go", line).judge()
	twice := new(talk).user("Begin.").read("app/a.go", line).read("app/a.go", "  7→\t"+line).judge()
	copies := make(map[int32]bool)
	var needs []LineNeed
	for _, lines := range twice.need.Lines {
		for _, n := range lines {
			if n.Copy != 0 {
				copies[n.Copy] = true
				needs = append(needs, n)
			}
		}
	}
	if len(copies) != 1 || len(needs) != 2 || needs[0] != needs[1] {
		t.Errorf("got %+v, want the same for both", needs)
	}
	if once.line(t, line).Copy != 1 {
		t.Errorf("the first line is the copy %d", once.line(t, line).Copy)
	}
}

func TestThePathOfAFileIsNoNeedTwice(t *testing.T) {
	j := new(talk).user("Look at pool/dial.go please.").judge()
	var got []bool
	for k, id := range j.need.Marks[0] {
		if j.pieces[0].Marks[k].inner != (j.need.Names[id].Chance == 0) {
			t.Errorf("mark %d: inner is %v, chance %d", k, j.pieces[0].Marks[k].inner, j.need.Names[id].Chance)
		}
		got = append(got, j.pieces[0].Marks[k].inner)
	}
	if d := cmp.Diff([]bool{false, true}, got); d != "" {
		t.Error(d)
	}
}

func TestWorthIsShared(t *testing.T) {
	m := *DefaultModel()
	s := new(talk).user("Begin.").read("app/a.go", body("first", 200)).run("make", body("second", 200))
	pieces := s.history(nil)
	sum := func(m *Model) (names, lines int64) {
		need := Estimate(pieces, m)
		for i := range need.Names {
			names += need.Names[i].Worth
		}
		seen := make(map[int32]bool)
		for _, list := range need.Lines {
			for _, n := range list {
				if !seen[n.Copy] {
					seen[n.Copy] = true
					lines += n.Worth
				}
			}
		}
		return names, lines
	}
	m.Names.Bias, m.Lines.Bias, m.Copy = 0, 0, 500 // the bias 0 makes all likely
	names, lines := sum(&m)
	if names < totalWorth*99/100 || names > totalWorth*101/100 || lines < names*48/100 || lines > names*52/100 {
		t.Errorf("names are worth %d, lines %d: want %d, and half of it", names, lines, int64(totalWorth))
	}
	m.Copy = 0
	if _, lines = sum(&m); lines != 0 {
		t.Errorf("lines are worth %d, want nothing", lines)
	}
}

func TestStem(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{"pool/dial.go", "dial"}, {"pool/dial_test.go", "dial"}, {"web/form.spec.ts", "form"}, {"test_form.py", "form"}, {".env", ".env"}, {"", ""},
	} {
		if got := testStem(tt.path); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.path, got, tt.want)
		}
	}
}

// chat draws a conversation with texts of arbitrary bytes.
func chat(t *rapid.T) *talk {
	s := new(talk)
	text := rapid.OneOf(
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 60), func(b []byte) string { return string(b) }),
		rapid.SampledFrom([]string{"", "see pool/dial.go", "\n\n", body("noise", 5), "error: limit_7 is 1200\nvalue of the first limit is set here"}),
	)
	path := rapid.SampledFrom([]string{"", "a.go", "pool/dial.go", "pool/dial_test.go", "/", "é/ü"})
	for range rapid.IntRange(0, 12).Draw(t, "turns") {
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
			s.user(text.Draw(t, "words"))
		case 1:
			s.reply(text.Draw(t, "reply"))
		case 2:
			s.read(path.Draw(t, "path"), text.Draw(t, "file"))
		case 3:
			s.edit(path.Draw(t, "path"), text.Draw(t, "old"), text.Draw(t, "new"))
		case 4:
			s.run(text.Draw(t, "command"), text.Draw(t, "output"))
		case 5:
			s.call("", "TodoWrite", text.Draw(t, "plan"), text.Draw(t, "answer"))
		}
	}
	return s
}

func TestEstimateIsSoundForAnything(t *testing.T) {
	bins := func(t *rapid.T, f []uint8, of []Feature) {
		for i, b := range f {
			if int(b) >= len(of[i].Bins) {
				t.Fatalf("%s has no bin %d", of[i].Name, b)
			}
		}
	}
	ofNames, ofLines := FeaturesOfNames(), FeaturesOfLines()
	rapid.Check(t, func(t *rapid.T) {
		s := chat(t)
		pieces := s.history(nil)
		need := Estimate(pieces, nil)
		if len(need.Marks) != len(pieces) || len(need.Lines) != len(pieces) {
			t.Fatalf("%d and %d of %d pieces", len(need.Marks), len(need.Lines), len(pieces))
		}
		for i := range need.Names {
			n := &need.Names[i]
			bins(t, n.Features[:], ofNames)
			if n.Chance < 0 || n.Chance > certainty || n.Worth < 0 {
				t.Fatalf("name %d: %+v", i, n)
			}
		}
		for i := range pieces {
			sound(t, pieces[i].Scan)
			if len(need.Marks[i]) != len(pieces[i].Marks) || len(need.Lines[i]) != len(pieces[i].Lines) {
				t.Fatalf("piece %d: %d marks of %d, %d lines of %d", i, len(need.Marks[i]), len(pieces[i].Marks), len(need.Lines[i]), len(pieces[i].Lines))
			}
			for k := range need.Lines[i] {
				n := &need.Lines[i][k]
				bins(t, n.Features[:], ofLines)
				if n.Chance < 0 || n.Chance > certainty || n.Worth < 0 || n.Copy == 0 != (pieces[i].Lines[k].Key == 0) {
					t.Fatalf("line %d of piece %d: %+v", k, i, n)
				}
			}
		}
		if d := cmp.Diff(need, Estimate(s.history(nil), nil)); d != "" {
			t.Fatalf("another time it is different: %s", d)
		}
	})
}

// When a conversation grows, its names, lines and copy numbers stay the same.
func TestEstimateOfALongerConversation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := chat(t)
		before := Estimate(s.history(nil), nil)
		after := Estimate(s.user(rapid.String().Draw(t, "more")).history(nil), nil)
		for i := range before.Marks {
			if d := cmp.Diff(before.Marks[i], after.Marks[i]); d != "" {
				t.Fatal(d)
			}
			for k := range before.Lines[i] {
				if before.Lines[i][k].Copy != after.Lines[i][k].Copy {
					t.Fatalf("line %d of piece %d is the copy %d, then %d", k, i, before.Lines[i][k].Copy, after.Lines[i][k].Copy)
				}
			}
		}
	})
}

// BenchmarkEstimate measures an estimate of scanned texts.
func BenchmarkEstimate(b *testing.B) {
	s := worked(60)
	blocks := transcript.Group("s", 0, s.msgs)
	for i := range s.msgs { // no two files are the same
		for k, p := range s.msgs[i].Parts {
			if r, ok := p.(transcript.ToolResult); ok {
				text := strings.ReplaceAll(r.Text(), "req", "req"+strconv.Itoa(i))
				r.Content = []transcript.Part{transcript.Text(text)}
				s.msgs[i].Parts[k] = r
			}
		}
	}
	pieces := History(s.msgs, blocks, nil)
	bytes := 0
	for i := range pieces {
		bytes += len(pieces[i].Text)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		if len(Estimate(pieces, nil).Names) == 0 {
			b.Fatal("nothing found")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(bytes/4)*100_000, "ns/100ktok")
}
