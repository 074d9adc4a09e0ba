package limn

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// TestPacks and TestListen run the archives of testdata/pack and testdata/listen.
// Each begins with a sentence that says what it pins. Its files are "program";
// "packs", with the names of packs that are built in; packs in files that end in
// ".json"; "updates" (see parseUpdates); and "want", which has for every result the
// line and the status, then what was shown after "|", the message of an error that is none
// of parsing after "!", the trigger of a firing after "<", and other metadata as JSON.
func TestPacks(t *testing.T)  { runArchives(t, "pack") }
func TestListen(t *testing.T) { runArchives(t, "listen") }

func runArchives(t *testing.T, dir string) {
	files, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, want := runArchive(t, archive)
			if *update {
				i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
				archive.Files[i].Data, want = []byte(got), got
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// runArchive returns what came of a program, and what should have.
func runArchive(t *testing.T, archive *txtar.Archive) (got, want string) {
	opts := &Options{Confirm: func(string) bool { return true }}
	var program string
	var updates iter.Seq[LiveValue]
	for _, f := range archive.Files {
		switch data := string(f.Data); {
		case f.Name == "program":
			program = data
		case f.Name == "want":
			want = data
		case f.Name == "updates":
			updates = slices.Values(parseUpdates(t, data))
		case f.Name == "packs":
			for name := range strings.FieldsSeq(data) {
				p, err := BuiltinPack(name)
				if err != nil {
					t.Fatal(err)
				}
				opts.Packs = append(opts.Packs, p)
			}
		case strings.HasSuffix(f.Name, ".json"):
			p, err := LoadPack(f.Data)
			if err != nil {
				t.Fatal(err)
			}
			opts.Packs = append(opts.Packs, p)
			if len(p.Sequence) > 0 {
				updates = slices.Values(p.Sequence)
			}
		default:
			t.Fatalf("the archive has a file %q", f.Name)
		}
	}
	var b strings.Builder
	m := NewMachine(opts)
	for r := range m.Run(Parse("", program, opts)) {
		writeResult(&b, r)
	}
	for r := range m.Listen(updates) {
		writeResult(&b, r)
	}
	return b.String(), want
}

// parseUpdates reads one update from each line: a name with a value in JSON, or,
// after "!", with the error of its source.
func parseUpdates(t *testing.T, data string) []LiveValue {
	var updates []LiveValue
	for line := range strings.Lines(data) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if why, ok := strings.CutPrefix(rest, "! "); ok {
			updates = append(updates, LiveValue{Name: name, Err: errors.New(why)})
			continue
		}
		var v any
		if err := json.Unmarshal([]byte(rest), &v); err != nil {
			t.Fatalf("update %q: %v", line, err)
		}
		value, err := FromJSON(v)
		if err != nil {
			t.Fatalf("update %q: %v", line, err)
		}
		updates = append(updates, LiveValue{Name: name, Value: value})
	}
	return updates
}

func writeResult(b *strings.Builder, r Result) {
	at := "-"
	if r.Line != nil {
		at = fmt.Sprint(r.Line.Pos.Line)
	}
	fmt.Fprintf(b, "%s %s\n", at, r.Status)
	for _, line := range r.Output {
		fmt.Fprintf(b, "  | %s\n", line)
	}
	if r.Err != nil && r.Status != StatusParseError {
		fmt.Fprintf(b, "  ! %s\n", r.Message)
	}
	rest := make(map[string]any)
	for name, v := range r.Metadata {
		switch trigger, ok := v.(map[string]any); {
		case name == "trigger" && ok:
			fmt.Fprintf(b, "  < %s\n", describeTrigger(trigger))
		case name != "statement":
			rest[name] = v
		}
	}
	if len(rest) > 0 {
		fmt.Fprintf(b, "  %s\n", asJSON(rest))
	}
}

// describeTrigger writes the source of a firing, the handler, and what changed.
func describeTrigger(trigger map[string]any) string {
	s := fmt.Sprintf("%s %d", trigger["source"], trigger["handler_index"])
	names, _ := trigger["values_changed"].([]string)
	values, _ := trigger["new_values"].(map[string]any)
	for _, name := range names {
		s += fmt.Sprintf(" %s=%s", name, asJSON(values[name]))
	}
	if trigger["inherited"] == true {
		s += fmt.Sprintf(" inherited from %s", trigger["inherited_from"])
	}
	return s
}

func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
