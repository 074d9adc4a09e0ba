package limn

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReleasesReserveTheirWords(t *testing.T) {
	first := strings.Fields(`remember show filter keep count gather combine each choose finish add
		where and or from with called to how as of if otherwise when unless
		is above below not equal the a an compare transform`)
	second := slices.Concat(first, strings.Fields(`includes remove within weakens over require then
		assign expect by plus minus multiplied divided sort reverse about because`))
	third := slices.Concat(second, strings.Fields(`inherited forbid permit starting until highest lowest define sum`))
	third = slices.DeleteFunc(third, func(w string) bool { return w == "combine" })
	for name, want := range map[string][]string{"35": first, "53": second, "61": third} {
		r, err := ReleaseNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Words()
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("words of %v (-got +want)\n%s", r, diff)
		}
		if r.String() != name || len(got) != r.size {
			t.Errorf("release %q is called %q and has %d words", name, r, len(got))
		}
	}
	if r, err := ReleaseNamed("36"); err == nil {
		t.Errorf("there is a release %v", r)
	}
}

// Each program is checked against the releases with 35, 53 and 61 words; what is
// listed is where the first two stumble, as positions in the text.
func TestReleasesKnowTheirConstructs(t *testing.T) {
	cases := []struct{ text, in35, in53 string }{
		{`remember a list called xs`, "", ""},
		{`remember a string called last-pager-pass with "2026-01-01T00:00:00Z"`, "", ""},
		{`add "b-1" to xs`, "", ""},
		{`add "b-1" to xs because "asked"`, "1:25", ""},
		{`remove "b-1" from xs`, "1:1", ""},
		{`require xs includes "b-1"`, "1:1 1:9", ""},
		{`expect x is within 1 of y`, "1:1 1:8", ""},
		{`forbid x is 1`, "1:1", "1:1"},
		{`permit x is 1`, "1:1", "1:1"},
		{`require x is 1 unless y is 2`, "1:1 1:23", "1:23"},
		{`require each x in the xs is above 5`, "1:1", "1:1"},
		{`assign x to 1 plus 2 multiplied by 3`, "1:1 1:15 1:22", ""},
		{`weakens x over 5`, "1:1", ""},
		{`sort the xs by f in reverse`, "1:1", ""},
		{`compare x to y`, "1:1", ""},
		{`transform xs by each minus 1`, "1:1 1:22", ""},
		{`sum the xs`, "1:1", "1:1"},
		{`show highest of xs`, "1:6", "1:6"},
		{`show lowest f of xs`, "1:6", "1:6"},
		{`define big: is above 5`, "1:1", "1:1"},
		{`choose if x is not big: show y otherwise sum the xs`, "1:11 1:42", "1:11 1:42"},
		{`gather the ns from 1 to 9`, "", ""},
		{`gather the ns from 1 to 9 by 2`, "1:30", "1:30"},
		{`assign x to -1`, "1:1 1:13", "1:13"},
		{`remember a value called x with 2026-01-31`, "1:32", "1:32"},
		{`starting "2026-01-01" until "2026-12-31" show x`, "1:1 1:1", "1:1 1:1"},
		{`inherited show x`, "1:1", "1:1"},
		{`show x then show y`, "1:13", ""},
		{"about this\nshow x", "1:1", ""},
		{`remember how to f from x: keep the xs where each is above x`, "", ""},
		{`f`, "", ""},
		{`f from xs`, "", ""},
		{`f from 5`, "1:1", "1:1"},
		{`remember a value called x from sum the xs`, "1:1", "1:1"},
		{`remember an order called o with total as 5 minus 1`, "1:44", ""},
		{`each the xs remove 1 from ys`, "1:13", ""},
		{"when x is 1 unless y is 2\n  sum the xs", "2:3", "2:3"},
		{"inherited when x is 1\n  show y", "1:1", "1:1"},
		{`cite "x" from y`, "", ""},
		{`measure 5 from y within 1`, "1:1", ""},
		{`keep the xs where f is 1 and g is above 2 plus 3 or h includes 4`, "1:43 1:53", ""},
		{`remember a status called label with combine`, "1:37", "1:37"},
		{`remember a combine called label with 5`, "1:1", "1:1"},
		{`add combine to xs`, "1:5", "1:5"},
		{`remember how to f: sum the xs`, "1:20", "1:20"},
		{`cite 2026-01-31 from y`, "1:6", "1:6"},
		{`measure 5 from y within -2`, "1:1 1:25", "1:25"},
		{`choose if x is 1: sum the xs otherwise if highest of xs is 1: show y`, "1:19 1:43", "1:19 1:43"},
		{`each the xs require each is 1 because "so"`, "1:13 1:39", ""},
		{`inherited each the xs show`, "1:1", "1:1"},
		{"when x includes 1 unless y includes 2\n  show y then show z because \"so\"", "1:6 1:26 2:15 2:30", ""},
		{`transform xs by -1`, "1:1 1:17", "1:17"},
		{`weakens x over -5`, "1:1 1:16", "1:16"},
		{`gather the ns from -1 to -9 by 2`, "1:20 1:26 1:32", "1:20 1:26 1:32"},
		{`remove -1 from xs`, "1:1 1:8", "1:8"},
		{`remember a list called xs with 1 and -1`, "1:38", "1:38"},
		{`remember a value called x from -1`, "1:32", "1:32"},
		{`require each x in the xs includes 5`, "1:1 1:26", "1:1"},
		{`define big: is within -1 of y`, "1:1 1:13 1:23", "1:1 1:23"},
		{`require x is equal to -1`, "1:1 1:23", "1:23"},
		{`f from combine`, "1:8", "1:8"},
		{`until "2026-12-31" show x`, "1:1", "1:1"},
		{`inherited when x is 1 unless y includes 2` + "\n  show y", "1:1 1:30", "1:1"},
		{`finish`, "", ""},
		{`filter filter`, "", ""},
	}
	for _, c := range cases {
		prog := Parse("", c.text, &Options{Packs: []*Pack{testPack}})
		for name, want := range map[string]string{"35": c.in35, "53": c.in53, "61": ""} {
			r, err := ReleaseNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			var at []string
			for _, e := range r.Check(prog) {
				at = append(at, e.Pos.String())
				if e.fault != faultSemantic || e.Text == "" || e.Hint == "" {
					t.Errorf("%q: incomplete error %+v", c.text, e)
				}
			}
			if got := strings.Join(at, " "); got != want {
				t.Errorf("%q is unknown to %s at %q, want %q", c.text, name, got, want)
			}
		}
	}
}
