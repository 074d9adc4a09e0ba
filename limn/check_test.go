package limn

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

func TestCheck(t *testing.T) {
	session, err := BuiltinPack("session")
	if err != nil {
		t.Fatal(err)
	}
	live := &Pack{Name: "live", Declarations: []PackName{{"level", "number"}}}
	for _, tt := range []struct {
		name, text string
		release    string
		want       []string
	}{
		{name: "nothing is wrong", text: "remember a list called xs with 1 and 2\neach the xs show\nshow today\nwhen level is above 3\n  show xs"},
		{name: "a line that is none", text: "count\nshow \"x\"", want: []string{"1:6 parse"}},
		{name: "a list that is declared only later", text: "add 1 to xs\nremember a list called xs", want: []string{"1:10 unknown"}},
		{name: "names that there are nowhere", text: strings.Join([]string{
			"show a1", "count the b1", "filter the c1 where each is 1", "sort the d1 by x", "compare e1 to f1", "weakens g1 over 3",
			"transform the h1 by each", "require i1 is j1", "require each k1 in l1 is 1", "m1", "each the n1 show", "show o1 of p1",
			"show highest of q1", "cite \"r1\" from s1", "remember a value called t1 from u1", "remember a number called v1 from w1 plus 1",
			"when x1 is 1\n  show y1", "require today is 1 unless z1 is 2", "forbid today is 1 and a2 is 2 or b2 is 3",
			"when today is 1 unless c2 is 1\n  show d2 and show e2", "choose if f2 is 1: show g2 otherwise if h2 is 1: show i2 otherwise show j2",
			"remember a record called k2 with f as l2 plus 1 and g as m of n2", "add o2 minus 1 to p2", "assign q2 to r2 plus s2",
			"remember how to t2: show u2", "each the v2 show w of x2", "require y of y2 is above z2 plus 1",
		}, "\n"), want: []string{
			"1:6 unknown", "2:11 unknown", "3:12 unknown", "4:10 unknown", "5:9 unknown", "5:15 unknown", "6:9 unknown",
			"7:15 unknown", "8:9 unknown", "9:20 unknown", "10:1 unknown", "11:10 unknown", "12:12 unknown",
			"13:17 unknown", "14:16 unknown", "15:33 unknown", "16:34 unknown", "17:6 unknown", "18:8 unknown",
			"19:27 unknown", "20:1 amber", "20:23 unknown", "20:34 unknown", "21:24 unknown", "22:8 unknown", "22:20 unknown",
			"23:11 unknown", "23:25 unknown", "23:41 unknown", "23:55 unknown", "23:73 unknown",
			"24:39 unknown", "24:63 unknown", "25:5 unknown", "25:19 unknown", "26:14 unknown", "26:22 unknown",
			"27:26 unknown", "28:10 unknown", "29:14 unknown", "29:26 unknown",
		}},
		{name: "what is remembered within another remember", text: "remember a number called n with 1\nremember a value called a1 from remember a value called b1 from n\nshow b1"},
		{name: "words that may be text, fields or parameters", text: strings.Join([]string{
			"remember a book called b with state as idle", "remember a list called bs with b", "each the bs show state",
			"keep the bs where state is idle", "remember how to tell from what: show what", "tell from \"x\"",
			"require each one in bs state is idle", "define free: is idle", "require b is not free", "transform state of bs by busy",
		}, "\n")},
		{name: "what a composition, a handler or a branch gives a meaning to", text: strings.Join([]string{
			"remember how to begin: remember a number called n with 1", "begin", "show n",
			"choose if n is 1: remember a number called m with 2", "show m",
			"remember how to end: show late", "remember a number called late with 3", "end",
			"when n is 1\n  show later", "remember a value called later with x",
		}, "\n")},
		{
			name: "a body that calls what is taught only later",
			text: "remember how to begin: end\nremember how to end: show \"x\"\nwhen today is 1\n  end\n  start\nremember how to start: end",
			want: []string{"1:24 unknown", "5:3 unknown"},
		},
		{
			name: "a predicate is about what there is not, but only once it is defined",
			text: "require ghost is large\ndefine large: is above 5\nrequire ghost is large\nwhen ghost is large\n  show \"x\"",
			want: []string{"1:9 unknown"},
		},
		{
			name: "places of conditions that take names only",
			text: strings.Join([]string{
				"remember a number called n with 3", "require n is not tiny", "require n is within tol of 5", "require n is above limit", "forbid n is not below floor",
				"require n is within 1 of middle", "define tiny: is below 2", "require n is not tiny",
				"remember how to f from x: require x is above later", "f from nowhere", "f from n", "f from 3",
				"inherited remember a number called m from n from agent-x", "remember a number called later with 1",
			}, "\n"),
			want: []string{"2:18 unknown", "3:21 unknown", "4:20 unknown", "5:23 unknown", "6:26 unknown", "10:8 unknown"},
		},
		{
			name: "a live subject may wait for its limit",
			text: "when level is above limit\n  show \"over\"\nwhen level is below bottom\n  show \"under\"\nremember a number called limit with 3",
			want: []string{"3:21 unknown"},
		},
		{
			name: "what only the body of a handler gives a meaning to",
			text: "remember a number called n with 3\nwhen n is above 1\n  remember a number called k with 3\n  show k\nshow k\nwhen n is above 2\n  show k",
			want: []string{"5:6 unknown"},
		},
		{
			name: "an amber in the body of a handler",
			text: "remember a number called n with 3\nwhen n is above 1\n  choose if n is 1 or n is 2 and n is 3: show n",
			want: []string{"3:3 amber"},
		},
		{name: "an amber and a contradiction", text: "remember a number called n with 1\nrequire today is 1 and today is 2 or today is 3\nrequire n is above 5\nforbid n is above 4", want: []string{
			"2:1 amber", "4:1 contradiction",
		}},
		{name: "what an older reader does not know", text: "remember a list called xs\nrequire xs includes 1 because \"so\"", release: "35", want: []string{
			"2:1 release", "2:9 release", "2:31 release",
		}},
		{name: "what a reader of the middle knows", text: "remember a list called xs\nrequire xs includes 1 because \"so\"", release: "53"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var release *Release
			if tt.release != "" {
				if release, err = ReleaseNamed(tt.release); err != nil {
					t.Fatal(err)
				}
			}
			packs := []*Pack{session, live}
			var got []string
			for _, f := range Check(Parse("", tt.text, &Options{Packs: packs}), packs, release) {
				got = append(got, fmt.Sprintf("%v %s", f.Pos, f.Kind))
				if warns := f.Kind == findingAmber || f.Kind == findingContradiction; f.Kind.Warns() != warns {
					t.Errorf("%s warns: %v, want %v", f.Kind, f.Kind.Warns(), warns)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("findings (-want +got)\n%s", diff)
			}
		})
	}
}

// Where a check says that a name has no meaning, a run fails for that line.
func TestUnknownNamesFail(t *testing.T) {
	var files []string
	for _, dir := range []string{"run", "pack"} {
		some, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, some...)
	}
	found := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		opts := &Options{Today: "2025-07-01", Confirm: func(string) bool { return true }}
		program := ""
		for _, f := range archive.Files {
			switch f.Name {
			case "program":
				program = string(f.Data)
			case "packs":
				for name := range strings.FieldsSeq(string(f.Data)) {
					p, err := BuiltinPack(name)
					if err != nil {
						t.Fatal(err)
					}
					opts.Packs = append(opts.Packs, p)
				}
			}
		}
		p := Parse(file, program, opts)
		unknown := make(map[int]Finding)
		for _, f := range Check(p, opts.Packs, nil) {
			if f.Kind == findingUnknown {
				unknown[f.Pos.Line] = f
			}
		}
		m := NewMachine(opts)
		for r := range m.Run(p) {
			if r.Line == nil || unknown[r.Line.Pos.Line].Text == "" {
				continue
			}
			found++
			if s, ok := r.Line.stmt.(*sequence); ok && r.Status != StatusSemanticError && r.Status != StatusParseError {
				if _, teaches := s.Ops[0].Core.(*teach); !teaches {
					t.Errorf("%s:%d: %s, but the check says: %s", file, r.Line.Pos.Line, r.Status, unknown[r.Line.Pos.Line].Text)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no program has an unknown name")
	}
}

func TestPackOfLine(t *testing.T) {
	session, err := BuiltinPack("session")
	if err != nil {
		t.Fatal(err)
	}
	p := Parse("", "cite \"a\" from b\nshow b\nwhen b is 1\n  show b\nshow", &Options{Packs: []*Pack{session}})
	var got []string
	for _, l := range p.Lines {
		got = append(got, l.Pack())
	}
	if diff := cmp.Diff([]string{"session", "", "", ""}, got); diff != "" {
		t.Errorf("packs (-want +got)\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	m := NewMachine(&Options{Today: "2026-01-02"})
	for r := range m.Run(Parse("", "remember a list called zs with 1 and 2\nremember how to go from x: show x\ndefine big: is above 3\nremember a value called a1 with \"t\"", nil)) {
		if r.Status != StatusSuccess {
			t.Fatal(r.Message)
		}
	}
	want := []Meaning{
		{"a1", "string", "t"},
		{"big", "predicate", "define big: each is above 3"},
		{"go", "composition", "remember how to go from x: show x"},
		{"today", "date", "2026-01-02"},
		{"zs", "list_of_numbers", "1, 2"},
	}
	if diff := cmp.Diff(want, m.Names()); diff != "" {
		t.Errorf("names (-want +got)\n%s", diff)
	}
}

func TestOpensBlock(t *testing.T) {
	for line, want := range map[string]bool{
		"when x is 1": true, "When x is 1:": true, "inherited when x is 1": true, `when x is "`: true,
		"": false, "   ": false, " when x is 1": false, ",,,": false, "-- when x": false, "show when": false, "inherited show x": false, `"when" x`: false,
	} {
		if got := OpensBlock(line); got != want {
			t.Errorf("OpensBlock(%q) = %v, want %v", line, got, want)
		}
	}
}
