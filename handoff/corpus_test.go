package handoff

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/carrel-dev/carrel/transcript"
)

// An archive of testdata has a comment of one sentence and texts by name.
type archive struct {
	name  string
	texts map[string]string
	order []string
}

func readArchive(t testing.TB, file string) archive {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(strings.TrimSpace(string(a.Comment))) == 0 {
		t.Fatalf("%s does not say what it shows", file)
	}
	x := archive{name: filepath.Base(file), texts: make(map[string]string)}
	for _, f := range a.Files {
		x.texts[f.Name] = string(f.Data)
		x.order = append(x.order, f.Name)
	}
	return x
}

func readArchives(t testing.TB, pattern string) []archive {
	t.Helper()
	files, err := filepath.Glob("testdata/" + pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files for %s, %v", len(files), pattern, err)
	}
	var list []archive
	for _, f := range files {
		list = append(list, readArchive(t, f))
	}
	return list
}

// Good packets are read, are the same in both forms, and pass Check. The JSON file
// is packet.md written as JSON, and canonical.md is the Markdown that is written.
func TestGood(t *testing.T) {
	for _, x := range readArchives(t, "good-*.txtar") {
		t.Run(x.name, func(t *testing.T) {
			source, ok := x.texts["packet.md"]
			if !ok {
				source = x.texts["packet.json"]
			}
			p, err := Parse(x.name, []byte(source))
			if err != nil {
				t.Fatal(err)
			}
			sameAfter(t, p)
			data, err := p.JSON()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(x.texts["packet.json"], string(data)); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
			want, ok := x.texts["canonical.md"]
			if !ok {
				want = x.texts["packet.md"]
			}
			if diff := cmp.Diff(want, p.Markdown()); diff != "" {
				t.Errorf("Markdown (-want +got):\n%s", diff)
			}
			if found := findings(Check(p, nil)); found != "" {
				t.Errorf("findings:\n%s", found)
			}
		})
	}
}

// A change is what one case alters in the full packet.
type change struct {
	name   string
	packet []byte
	want   map[string]string // what is expected, by the end of the name
}

// changes reads the cases of an archive: each case replaces one text of the packet,
// once, in the form of the packet that has the text.
func changes(t testing.TB, x archive) []change {
	t.Helper()
	full := readArchive(t, "testdata/good-full.txtar")
	var list []change
	for _, name := range x.order {
		c, part, _ := strings.Cut(name, "/")
		if i := slices.IndexFunc(list, func(o change) bool { return o.name == c }); i < 0 {
			list = append(list, change{c, nil, map[string]string{}})
		}
		list[len(list)-1].want[part] = x.texts[name]
	}
	for i, c := range list {
		from, to := strings.TrimSuffix(c.want["old"], "\n"), strings.TrimSuffix(c.want["new"], "\n")
		form := full.texts["packet.md"]
		if !strings.Contains(form, from) {
			form = full.texts["packet.json"]
		}
		if from == "" || strings.Count(form, from) != 1 {
			t.Fatalf("%s: %s: the packet has the old text %d times", x.name, c.name, strings.Count(form, from))
		}
		list[i].packet = []byte(strings.Replace(form, from, to, 1))
	}
	return list
}

// Parse refuses malformed packets with an error that names the place and the fix.
func TestRefused(t *testing.T) {
	for _, x := range readArchives(t, "refused-*.txtar") {
		for _, c := range changes(t, x) {
			t.Run(x.name+"/"+c.name, func(t *testing.T) {
				_, err := Parse("packet", c.packet)
				if diff := cmp.Diff(c.want["error"], refusal(err)); diff != "" {
					t.Errorf("Parse (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Check finds violations of the rules, with and without evidence.
func TestDishonest(t *testing.T) {
	evidence := fullEvidence(t)
	tested := make(map[HonestyRule]bool)
	for _, x := range readArchives(t, "dishonest-*.txtar") {
		for _, c := range changes(t, x) {
			t.Run(x.name+"/"+c.name, func(t *testing.T) {
				p, err := Parse("packet", c.packet)
				if err != nil {
					t.Fatal(err)
				}
				alone := Check(p, nil)
				if diff := cmp.Diff(c.want["alone"], findings(alone)); diff != "" {
					t.Errorf("without evidence (-want +got):\n%s", diff)
				}
				all := Check(p, evidence)
				rest := slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return slices.Contains(alone, f) })
				if diff := cmp.Diff(c.want["record"], findings(rest)); diff != "" {
					t.Errorf("with evidence (-want +got):\n%s", diff)
				}
				if len(all) == 0 {
					t.Error("nothing is found")
				}
				for _, f := range all {
					tested[f.Rule] = true
				}
			})
		}
	}
	for _, r := range Rules() {
		if !tested[r] {
			t.Errorf("no packet goes against %s", r)
		}
	}
}

// fullEvidence returns the evidence of the session of the full packet. The packet
// passes Check with this evidence.
func fullEvidence(t *testing.T) *Evidence {
	t.Helper()
	full := readArchive(t, "testdata/good-full.txtar")
	e := new(Evidence)
	if err := json.Unmarshal([]byte(full.texts["evidence.json"]), e); err != nil {
		t.Fatal(err)
	}
	p, err := Parse("", []byte(full.texts["packet.md"]))
	if err != nil {
		t.Fatal(err)
	}
	if found := findings(Check(p, e)); found != "" {
		t.Fatalf("findings:\n%s", found)
	}
	return e
}

func findings(list []Finding) string {
	var b strings.Builder
	for _, f := range list {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// refusal returns an error and what to do about it, a line each.
func refusal(err error) string {
	e, ok := errors.AsType[*transcript.SyntaxError](err)
	if !ok {
		return "no error\n"
	}
	return e.Error() + "\n" + e.Hint + "\n"
}
