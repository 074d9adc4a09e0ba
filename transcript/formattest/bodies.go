package formattest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/transcript"
)

// Samples returns the files in testdata whose names match pattern, by their names without
// extension. It adds a copy, named "crlf", of the sample whose name is in crlf: the copy has CRLF
// line ends.
func Samples(tb testing.TB, pattern, crlf string) map[string][]byte {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(names) == 0 {
		tb.Fatal(names, err)
	}
	all := make(map[string][]byte)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))] = data
	}
	if data, ok := all[crlf]; ok {
		all["crlf"] = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	}
	return all
}

// Fuzz checks that any input is decoded without loss, and encoded with one more message, or is
// refused with an error that names the reason.
func Fuzz(f *testing.F, format transcript.Format, samples map[string][]byte) {
	for _, data := range samples {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { checkAny(t, format, data) })
}

// Decode returns the session of a body that must be readable.
func Decode(tb testing.TB, f transcript.Format, data string) *transcript.Session {
	tb.Helper()
	s, err := f.Decode("dir/talk.json", []byte(data))
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// Encode returns the encoding of a window in a format.
func Encode(tb testing.TB, f transcript.Format, w *transcript.Window) *transcript.Encoded {
	tb.Helper()
	enc, err := f.Encode(w)
	if err != nil {
		tb.Fatal(err)
	}
	return enc
}

// A Refusal is a body that a format refuses, and a part of the error's text.
type Refusal struct{ Name, In, Says string }

// Refuses checks that each body is refused with a [transcript.SyntaxError].
func Refuses(t *testing.T, f transcript.Format, refusals []Refusal) {
	for _, tt := range refusals {
		t.Run(tt.Name, func(t *testing.T) {
			_, err := f.Decode("x.json", []byte(tt.In))
			e, ok := errors.AsType[*transcript.SyntaxError](err)
			if !ok || !strings.Contains(e.Error(), tt.Says) {
				t.Errorf("Decode(%q): %v, want %s", tt.In, err, tt.Says)
			}
		})
	}
}

// An Edit is a change of a window in its own format, and the expected encoding.
type Edit struct {
	Name   string
	Change func(w *transcript.Window)
	Want   func(string) string // expected body, given the original
	Fixes  int                 // expected number of repairs
}

// Edits checks the encoding of a body after each edit. There must be no loss.
func Edits(t *testing.T, f transcript.Format, body string, edits []Edit) {
	for _, tt := range edits {
		t.Run(tt.Name, func(t *testing.T) {
			w := transcript.Whole(Decode(t, f, body))
			tt.Change(w)
			enc := Encode(t, f, w)
			if diff := cmp.Diff(tt.Want(body), string(enc.Data)); diff != "" {
				t.Errorf("encoding (-want +got):\n%s", diff)
			}
			if len(enc.Losses) > 0 || len(enc.Repairs) != tt.Fixes {
				t.Errorf("losses %v, repairs %v", enc.Losses, enc.Repairs)
			}
		})
	}
}

// Fixes returns the repairs of an encoding, each with the index of its message.
func Fixes(enc *transcript.Encoded) (fixes []string) {
	for _, f := range enc.Repairs {
		fixes = append(fixes, fmt.Sprint(f.Message, " ", f.What))
	}
	return fixes
}

// LongID is the id of a call of [ForeignSession].
var LongID = strings.Repeat("x", 65)

// ForeignSession returns a session of an unknown format with every kind of part.
func ForeignSession() *transcript.Session {
	message := func(role transcript.Role, parts ...transcript.Part) transcript.Message {
		return transcript.Message{Role: role, Parts: parts}
	}
	image := transcript.Media{Kind: "image", MIME: "image/png", Data: "AAAA", Raw: []byte("12345")}
	return &transcript.Session{Format: "other", Tools: []byte("[1]"), Messages: []transcript.Message{
		message(transcript.RoleSystem, transcript.Text("S")),
		message(transcript.RoleUser, transcript.Text("look <here>"), image, transcript.Media{Kind: "document", MIME: "text/plain", Raw: []byte("12")}),
		message(transcript.RoleAssistant, transcript.Thinking{Text: "hm", Signature: "sig"}, transcript.Text("one"), transcript.Text("two"),
			transcript.ToolCall{ID: LongID, Name: "run", Input: []byte(`{"n": 1e400, "t": "<"}`)},
			transcript.ToolCall{ID: "b", Input: []byte(`oops`)}),
		message(transcript.RoleTool, transcript.ToolResult{CallID: "b", Error: true}, transcript.Text("and?")),
		message(transcript.RoleTool, transcript.ToolResult{CallID: LongID, Content: []transcript.Part{transcript.Text("seen"), image}}),
		message(transcript.RoleAssistant, transcript.Opaque{Type: "odd", Raw: []byte("{}")}),
		message(transcript.RoleSystem, image),
	}}
}

// Sorted returns the members of a set in alphabetical order; the result is not nil.
func Sorted(set map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}

// Agrees checks that f.Validate(data) finds the same broken rules as the reference implementation
// refused, which returns their ids as [Sorted] does, and that the violations are in the order of
// the messages.
func Agrees(t *rapid.T, f transcript.Format, refused func([]byte) []string, data []byte) {
	found, err := f.Validate(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	set := make(map[string]bool)
	last := -1
	for _, v := range found {
		set[v.Rule] = true
		if v.Message < last {
			t.Fatalf("violations are out of order: %v", found)
		}
		last = v.Message
	}
	if diff := cmp.Diff(refused(data), Sorted(set)); diff != "" {
		t.Fatalf("rules (-reference +Validate):\n%s\n%s", diff, data)
	}
}

// Mends decodes data, which may break rules, encodes it with one more message, and checks that
// the reference implementation refused finds no broken rule in the result.
func Mends(t *rapid.T, f transcript.Format, refused func([]byte) []string, data []byte) {
	s, err := f.Decode("", data)
	if err != nil {
		t.Fatal(err)
	}
	w := transcript.Whole(s)
	w.Entries = append(w.Entries, transcript.Stub("", "one more"))
	enc, err := f.Encode(w)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if got := refused(enc.Data); len(got) > 0 {
		t.Fatalf("refused by %v:\n%s\n%s", got, data, enc.Data)
	}
}

// A Large describes the bodies of a format for benchmarks. Turn returns a comma, a reply with a
// call of the given id, and the result of the call; its argument result is a JSON string.
type Large struct {
	Format transcript.Format
	Head   string // the fields before the list, with a comma at the end, or empty
	List   string // name of the field with the list of messages
	First  string // the first message; the default is {"role": "user", "content": "go"}
	Turn   func(id string, result []byte) string
}

// body returns a body of about 5 MB: replies with a call, and results of 2 kB of
// program text.
func (l Large) body() []byte {
	result := rawjson.AppendString(nil, strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read %q: %w\", name, err)\n\t}\n", 32))
	var b strings.Builder
	first := l.First
	if first == "" {
		first = `{"role": "user", "content": "go"}`
	}
	fmt.Fprintf(&b, `{%s%q: [%s`, l.Head, l.List, first)
	for i := 0; b.Len() < 5<<20; i++ {
		b.WriteString(l.Turn(fmt.Sprintf("call_%d", i), result))
	}
	b.WriteString("]}")
	return []byte(b.String())
}

// measure measures a job on a body.
func measure(b *testing.B, data []byte, job func() error) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := job(); err != nil {
			b.Fatal(err)
		}
	}
}

// decode measures how a body is read.
func (l Large) decode(b *testing.B) {
	data := l.body()
	measure(b, data, func() error { _, err := l.Format.Decode("x.json", data); return err })
}

// encodeChanged measures how a window with changed results is written.
func (l Large) encodeChanged(b *testing.B) {
	data := l.body()
	s, err := l.Format.Decode("x.json", data)
	if err != nil {
		b.Fatal(err)
	}
	w := transcript.Whole(s)
	for i := range w.Entries {
		for _, r := range w.Entries[i].Results() {
			if i%4 == 0 {
				w.Entries[i] = w.Entries[i].WithResult(r.CallID, "short")
			}
		}
	}
	measure(b, data, func() error { _, err := l.Format.Encode(w); return err })
}

// validate measures how a body is checked.
func (l Large) validate(b *testing.B) {
	data := l.body()
	measure(b, data, func() error {
		if v, err := l.Format.Validate(data); err != nil || len(v) > 0 {
			return fmt.Errorf("%v: %w", v, err)
		}
		return nil
	})
}

// Memory checks that a decoded session takes at most three times the memory of its
// input, the input included.
func (l Large) Memory(t *testing.T) {
	data := l.body()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	s, err := l.Format.Decode("x.json", data)
	if err != nil {
		t.Fatal(err)
	}
	grown := int64(heap() - before)
	if limit := int64(2 * len(data)); grown > limit {
		t.Errorf("a session of %d bytes takes %d more", len(data), grown)
	}
	runtime.KeepAlive(s)
}

// Run times reading, writing and checking a large session.
func (l Large) Run(b *testing.B) {
	b.Run("Decode", l.decode)
	b.Run("EncodeChanged", l.encodeChanged)
	b.Run("Validate", l.validate)
}
