package limn

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"
)

// listen runs a program and returns the results of its listening.
func listen(t testing.TB, program string, updates ...LiveValue) []Result {
	t.Helper()
	m := NewMachine(nil)
	for r := range m.Run(Parse("", program, nil)) {
		if r.Status != StatusSuccess {
			t.Fatalf("line %d: %s: %s", r.Line.Pos.Line, r.Status, r.Message)
		}
	}
	return slices.Collect(m.Listen(slices.Values(updates)))
}

func statuses(results []Result) []Status {
	var s []Status
	for _, r := range results {
		s = append(s, r.Status)
	}
	return s
}

// Mended: elsewhere a forbid that is true in a handler ends the program. Here it is
// a result, and the body goes on.
func TestMendedForbidInHandler(t *testing.T) {
	got := statuses(listen(t, "remember a number called x with 0\nwhen x is above 1\n  forbid x is above 1\n  show x", LiveValue{Name: "x", Value: Int(2)}))
	want := []Status{StatusListening, StatusViolated, StatusFired, StatusShutdown}
	if !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
}

// Mended: elsewhere a handler whose condition applies a predicate never fires.
func TestMendedPredicateInWhen(t *testing.T) {
	got := statuses(listen(t, "remember a number called x with 0\ndefine high: is above 1\nwhen x is high\n  show x", LiveValue{Name: "x", Value: Int(2)}))
	want := []Status{StatusListening, StatusFired, StatusShutdown}
	if !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
}

// The verbs of a pack are known to the machines that have it, and to no others:
// elsewhere they belong to the process.
func TestMendedPacksAreNotGlobal(t *testing.T) {
	p, err := BuiltinPack("session")
	if err != nil {
		t.Fatal(err)
	}
	const line = `cite "a" from b`
	if l := Parse("", line, &Options{Packs: []*Pack{p}}).Lines[0]; l.Err != nil {
		t.Error(l.Err)
	}
	if l := Parse("", line, nil).Lines[0]; l.Err == nil {
		t.Error("a verb is known without its pack")
	}
}

// Each of these handlers makes two fire that come after it, and makes itself ready
// to fire again: all in all 2³⁰ times, which nobody lives to see.
func TestRunawayCascadeEnds(t *testing.T) {
	const levels = 30
	var b strings.Builder
	for i := range levels + 1 {
		fmt.Fprintf(&b, "remember a number called l%d with 0\nremember a number called r%d with 0\n", i, i)
	}
	for i := range levels {
		for _, side := range []string{"l", "r"} {
			fmt.Fprintf(&b, "when %s%d is above 0\n  assign %s%d to 0\n  assign l%d to 1\n  assign r%d to 1\n", side, i, side, i, i+1, i+1)
		}
	}
	fired, refused := 0, 0
	for _, r := range listen(t, b.String(), LiveValue{Name: "l0", Value: Int(1)}) {
		switch {
		case r.Status == StatusFired && r.Metadata["statement"] == 0:
			fired++
		case r.Status == StatusRuntimeError:
			refused++
		}
	}
	if fired != maxFirings || refused == 0 {
		t.Errorf("%d handlers fired and %d did not, want %d that did", fired, refused, maxFirings)
	}
}

// Who takes no more results gets no more.
func TestListenStops(t *testing.T) {
	m := NewMachine(nil)
	for range m.Run(Parse("", "remember a number called x with 2\nwhen x is above 1\n  show x\n  show x", nil)) {
		continue
	}
	got := 0
	for range m.Listen(nil) {
		if got++; got == 2 {
			break
		}
	}
	if got != 2 {
		t.Errorf("there are %d results", got)
	}
}

// Who takes no more results lets nothing more happen.
func TestListenStopsWhatItDoes(t *testing.T) {
	const program = "remember a number called x with 2\nremember a number called y with 0\nwhen x is above 1\n  show x\n  assign y to 1\nwhen x is 2\n  assign y to 2"
	for results, want := range []string{"", "0", "0", "1"} {
		if results == 0 {
			continue
		}
		m := NewMachine(nil)
		for range m.Run(Parse("", program, nil)) {
			continue
		}
		got := 0
		for range m.Listen(slices.Values([]LiveValue{{Name: "y", Value: Int(9)}})) {
			if got++; got == results {
				break
			}
		}
		if y, _ := m.Value("y"); y.String() != want {
			t.Errorf("after %d results y is %s, want %s", results, y, want)
		}
	}
}

// Without a handler there is nothing to listen for, and after an error nobody listens.
func TestListens(t *testing.T) {
	const handler = "remember a number called x with 1\nwhen x is 1\n  show x"
	for _, tt := range []struct {
		program string
		want    bool
	}{
		{"", false},
		{"remember a number called x with 1", false},
		{handler, true},
		{handler + "\nrequire x is 2", true},
		{handler + "\nforbid x is 1", true},
		{handler + "\nshow ghost", false},
		{handler + "\ncount", false},
		{handler + "\nrequire x is 1 and x is 2 or x is 3", false},
	} {
		m := NewMachine(nil)
		for range m.Run(Parse("", tt.program, nil)) {
			continue
		}
		results := slices.Collect(m.Listen(slices.Values([]LiveValue{{Name: "x", Value: Int(3)}})))
		if m.Listens() != tt.want || (len(results) > 0) != tt.want {
			t.Errorf("%q: listens %t with %d results, want %t", tt.program, m.Listens(), len(results), tt.want)
		}
	}
}

// Each condition that is defined counts once, however often others apply it: these would
// be looked at 2⁶⁰ times.
func TestWatchingLooksAtEachDefinitionOnce(t *testing.T) {
	lines := []string{"remember a number called x with 1", "remember a number called limit with 2", "define p0: is 1"}
	for i := 1; i < 60; i++ {
		lines = append(lines, fmt.Sprintf("define p%d: is p%d or is p%d", i, i-1, i-1))
	}
	// What the handler applies is simple when it is registered, and not any more afterwards.
	lines = append(lines, "define p50: is 1", "when x is p59\n  show x", "define p50: is p49 or is p49", "define p0: is above limit")
	m := NewMachine(nil)
	for r := range m.Run(Parse("", strings.Join(lines, "\n"), nil)) {
		if r.Status != StatusSuccess {
			t.Fatalf("line %d: %s", r.Line.Pos.Line, r.Message)
		}
	}
	for r := range m.Listen(nil) {
		if got := fmt.Sprint(r.Metadata["watching"]); got != "[x limit]" {
			t.Errorf("watching %s", got)
		}
		break
	}
}

// A handler that depends on nothing but failed sources never fires again, whoever changes
// what it watches; a name that an update brings is watched from then on.
func TestDisabledHandlersStaySo(t *testing.T) {
	results := listen(t, "remember a number called x with 0\nremember a number called y with 0\nremember a string called mode with late\n"+
		"when x is above 1\n  show \"x\"\nwhen y is above 1\n  assign x to 5\nwhen mode is not equal to late\n  show \"mode\"",
		LiveValue{Name: "x", Err: errors.New("cut")}, LiveValue{Name: "y", Value: Int(2)}, LiveValue{Name: "late", Value: String("other")},
	)
	if got, want := results[0].Message, "listening for changes of x, y, mode"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	var got []string
	for _, r := range results[1:] {
		got = append(got, fmt.Sprint(r.Status, r.Output))
	}
	want := []string{"error_runtime[]", "handler_fire[]", "handler_fire[mode]", "shutdown[]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A handler watches every name that its conditions mention, once, in their order.
func TestWatchedNames(t *testing.T) {
	program := "remember a thing called r with f as 1\nremember a list called xs with 1\nremember a list called rs with r\n" +
		"remember how to go: show r\ndefine big: is above limit\n"
	for _, name := range []string{"a1", "b1", "c1", "d1", "e1", "limit", "g1", "h1"} {
		program += "remember a number called " + name + " with 5\n"
	}
	for _, tt := range [][2]string{
		{"a1 is b1 plus c1 multiplied by d1 minus a1", "[a1 b1 c1 d1]"},
		{"f of r is equal to highest of xs", "[r xs]"},
		{"lowest f of rs is within a1 of b1", "[rs a1 b1]"},
		{"a1 is big and b1 is 2 or xs includes c1", "[a1 limit b1 xs c1]"},
		{"a1 is 5 unless go-on is b1 and c1 is \"d1\"", ""},
		{"a1 is 5 unless b1 is ghost and c1 is \"d1\"", "[a1 b1 c1]"},
		{"a1 is equal to big", "[a1]"},
		{"a1 is equal to go", ""},
		{"a1 is equal to then-on\n  show a1\nremember how to then-on: show r\nwhen b1 is 5", "[a1 b1]"},
	} {
		cond, want := tt[0], tt[1]
		m := NewMachine(&Options{Confirm: func(string) bool { return true }})
		for range m.Run(Parse("", program+"when "+cond+"\n  show a1", nil)) {
			continue
		}
		got := ""
		for r := range m.Listen(nil) {
			got = fmt.Sprint(r.Metadata["watching"])
			break
		}
		if got != want {
			t.Errorf("when %s: watching %s, want %s", cond, got, want)
		}
	}
}

// No statement of a body may write to a live name, whichever its verb; reading it is fine.
func TestHandlersSpareLiveNames(t *testing.T) {
	opts := &Options{Packs: []*Pack{{Name: "live", Declarations: []PackName{{"level", "number"}, {"seen", "list_of_numbers"}}}}}
	for line, want := range map[string]bool{
		"remember a number called level with 1": false,
		"remember how to level: show mine":      false,
		"gather the level from 1 to 2":          false,
		"assign level to 1":                     false,
		"weakens level over 5":                  false,
		"add 1 to seen":                         false,
		"remove 1 from seen":                    false,
		"sort the seen by f":                    false,
		"transform the seen by each":            false,
		"filter the seen where each is 1":       false,
		"show mine and assign level to 1":       false,
		"keep the seen where each is 1":         true,
		"show level":                            true,
		"count the seen":                        true,
		"assign mine to level":                  true,
		"add level to mine":                     true,
	} {
		r := last(t, opts, "remember a list called mine", "remember a number called x with 1", "when x is 2\n  show x\n  "+line)
		if got := r.Status == StatusSuccess; got != want || !got && r.Status != StatusSemanticError {
			t.Errorf("%s: %s: %s, want it accepted: %t", line, r.Status, r.Message, want)
		}
	}
}

// An update that does not fit into the machine is an error of its source.
func TestUpdatesThatDoNotFit(t *testing.T) {
	must := sure(t)
	m := NewMachine(nil)
	for range m.Run(Parse("", "remember a list called xs\nwhen xs includes 1\n  show xs", nil)) {
		continue
	}
	m.items = maxItems - 1 // as if there were other lists
	updates := []LiveValue{{Name: "xs", Value: must(listOf(Int(1), Int(2)))}, {Name: "xs", Value: must(listOf(Int(1)))}}
	results := slices.Collect(m.Listen(slices.Values(updates)))
	want := []Status{StatusListening, StatusRuntimeError, StatusShutdown}
	if got := statuses(results); !slices.Equal(got, want) {
		t.Fatalf("statuses %v, want %v", got, want)
	}
	if got, want := fmt.Sprint(results[1].Message, results[1].Metadata), "the lists would hold more than 1000000 itemsmap[disabled:[0] name:xs]"; !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if v, _ := m.Value("xs"); v.len() != 0 {
		t.Errorf("xs is %s", v)
	}
}

// A source that fails, or gives no value, is given up without more ado.
func TestUpdatesThatAreNone(t *testing.T) {
	results := listen(t, "remember a number called x with 0\nremember how to go: show x\nwhen x is above 1\n  show x",
		LiveValue{Name: "go", Value: Int(1)},
		LiveValue{Name: "y"},
		LiveValue{Name: "x", Err: errors.New("cut")},
		LiveValue{Name: "x", Value: Int(9)},
	)
	want := []Status{StatusListening, StatusRuntimeError, StatusRuntimeError, StatusRuntimeError, StatusShutdown}
	if got := statuses(results); !slices.Equal(got, want) {
		t.Errorf("statuses %v, want %v", got, want)
	}
}

// For any updates a handler fires exactly as often as its condition turns true, and
// equal runs give equal results.
func TestHandlersAreEdgeTriggered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(-3, 3), 0, 30).Draw(t, "values")
		limit := rapid.Int64Range(-3, 3).Draw(t, "limit")
		program := fmt.Sprintf("remember a number called x with 0\nwhen x is above %d\n  show x", limit)
		edges, before := 0, int64(0)
		if before > limit {
			edges++
		}
		var updates []LiveValue
		for _, v := range values {
			if v > limit && before <= limit {
				edges++
			}
			before = v
			updates = append(updates, LiveValue{Name: "x", Value: Int(v)})
		}
		run := func() []Result {
			m := NewMachine(nil)
			for range m.Run(Parse("", program, nil)) {
				continue
			}
			return slices.Collect(m.Listen(slices.Values(updates)))
		}
		results := run()
		if got := len(results) - 2; got != edges {
			t.Fatalf("%d firings, want %d", got, edges)
		}
		if got, want := fmt.Sprint(run()), fmt.Sprint(results); len(got) != len(want) {
			t.Fatalf("a second run gave %s, the first %s", got, want)
		}
	})
}

// Whatever a program says, listening comes to an end.
func FuzzListen(f *testing.F) {
	archives, err := filepath.Glob("testdata/listen/*.txtar")
	if err != nil || len(archives) == 0 {
		f.Fatalf("no archives: %v", err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if file.Name == "program" {
				f.Add(string(file.Data))
			}
		}
	}
	p, err := LoadPack([]byte(`{"declarations": [["level", "number"], ["tick", "number"]]}`))
	if err != nil {
		f.Fatal(err)
	}
	opts := &Options{Packs: []*Pack{p}, Confirm: func(string) bool { return true }}
	updates := []LiveValue{
		{Name: "level", Value: Int(3)},
		{Name: "tick", Value: Int(1)},
		{Name: "x", Value: Int(1)},
		{Name: "level", Value: Int(-1)},
		{Name: "x", Value: String("text")},
		{Name: "tick", Value: Int(2)},
		{Name: "level", Err: errors.New("cut")},
		{Name: "tick", Value: Int(3)},
	}
	f.Fuzz(func(t *testing.T, program string) {
		m := NewMachine(opts)
		m.limit = 10_000
		for r := range m.Run(Parse("", program, opts)) {
			if r.Status == StatusListening || r.Status == StatusFired {
				t.Fatalf("a statement gives %s", r.Status)
			}
		}
		var all []Status
		for r := range m.Listen(slices.Values(updates)) {
			all = append(all, r.Status)
		}
		if len(all) > 0 && (all[0] != StatusListening || all[len(all)-1] != StatusShutdown) {
			t.Fatalf("listening begins with %s and ends with %s", all[0], all[len(all)-1])
		}
	})
}

// A list that a body edits and then replaces has changed, even if the two are equal.
func TestAListIsEditedAndThenReplaced(t *testing.T) {
	for _, then := range []string{"", "filter the xs where each is above 0", "remember a list called xs from xs", "transform the xs by each"} {
		results := listen(t, strings.Join([]string{
			"remember a number called n with 5", "remember a list called xs with 1 and 2",
			"when xs includes 3", "  show \"seen\"",
			"when n is above 0", "  add 3 to xs", "  " + then,
		}, "\n"))
		var output []string
		for _, r := range results {
			output = append(output, r.Output...)
		}
		if !slices.Equal(output, []string{"seen"}) {
			t.Errorf("after %q the handlers show %q, want that 3 is seen", then, output)
		}
	}
}
