// Package formattest is the suite that every [transcript.Format] passes.
//
// [Run] checks a format with its own samples: no byte is lost, an intact window gives the input,
// and a changed window gives a valid file with the expected visible content in which unchanged
// messages keep their bytes. [RunCross] checks that sessions of one format can be encoded in
// another. Windows are random, and rapid shrinks a failing window to a minimal one.
//
// Sessions are compared by their visible content, because formats divide a conversation into
// messages in different ways: texts without blank lines, calls with their arguments, results in the
// order of their calls. Thinking, media and opaque parts are not compared; for thinking, the number
// of kept and lost parts is checked.
package formattest

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel/transcript"
)

// Run checks f with samples, which must be readable but may break the provider's rules.
func Run(t *testing.T, f transcript.Format, samples map[string][]byte) {
	t.Helper()
	for name, sample := range samples {
		t.Run(name, func(t *testing.T) {
			t.Run("decodes without loss", func(t *testing.T) { checkDecode(t, f, name, sample) })
			t.Run("encodes windows", func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { checkWindow(t, f, f, sample) })
			})
			t.Run("survives truncation", func(t *testing.T) { checkTruncated(t, f, sample) })
			t.Run("survives mutation", func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { checkAny(t, f, mutate(t, sample)) })
			})
		})
	}
	t.Run("survives hostile input", func(t *testing.T) {
		for _, data := range hostile(samples) {
			checkAny(t, f, data)
		}
	})
}

// RunCross checks that windows of a session in one format can be written in another.
func RunCross(t *testing.T, from, to transcript.Format, sample []byte) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) { checkWindow(t, from, to, sample) })
}

// RunOthers checks that conversations can be converted from a format into others and back, with
// samples of each.
func RunOthers(t *testing.T, own transcript.Format, samples map[string][]byte, others map[transcript.Format][]byte) {
	t.Helper()
	for other, sample := range others {
		t.Run(own.Name()+" from "+other.Name(), func(t *testing.T) { RunCross(t, other, own, sample) })
		for name, data := range samples {
			t.Run(name+" to "+other.Name(), func(t *testing.T) { RunCross(t, own, other, data) })
		}
	}
}

// A reporter has the methods of a test that the checks use.
type reporter interface {
	Helper()
	Fatalf(format string, args ...any)
}

func checkDecode(t *testing.T, f transcript.Format, name string, sample []byte) {
	if !f.Sniff(sample) {
		t.Errorf("Sniff does not know the sample")
	}
	s, err := f.Decode(name, sample)
	if err != nil {
		t.Fatal(err)
	}
	if s.Format != f.Name() || s.ID == "" {
		t.Errorf("session has format %q and id %q", s.Format, s.ID)
	}
	if diff := cmp.Diff(string(sample), string(s.Bytes())); diff != "" {
		t.Errorf("items are not the input (-want +got):\n%s", diff)
	}
	for i := range s.Messages {
		if m := &s.Messages[i]; len(m.Items) == 0 || len(s.Raw(m)) == 0 {
			t.Errorf("message %d has no bytes", i)
		}
	}
	enc, err := f.Encode(transcript.Whole(s))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(sample), string(enc.Data)); diff != "" {
		t.Errorf("an intact window is not the input (-want +got):\n%s", diff)
	}
	again, err := f.Decode(name, enc.Data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, again); diff != "" {
		t.Errorf("a second reading differs (-first +second):\n%s", diff)
	}
}

// checkWindow reads sample in the format from, makes a random window of it, and writes the window
// in the format to. It checks that a second writing gives the same bytes, that the bytes are valid,
// and that they can be read again and show the same as the window. It does not validate a window
// that is the unchanged sample in its own format, because that has the faults of the sample.
func checkWindow(t *rapid.T, from, to transcript.Format, sample []byte) {
	s, err := from.Decode("sample.json", sample)
	if err != nil {
		t.Fatal(err)
	}
	w := drawWindow(t, s)
	enc, err := to.Encode(w)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := to.Encode(w); err != nil || !bytes.Equal(again.Data, enc.Data) {
		t.Fatalf("a second encoding differs: %v\nfirst:  %s\nsecond: %s", err, enc.Data, again.Data)
	}
	checkSpans(t, enc)
	if from.Name() == to.Name() && w.Intact() {
		return // an intact window is the input, with its faults
	}
	violations, err := to.Validate(enc.Data)
	if err != nil || len(violations) > 0 {
		t.Fatalf("the encoding is refused: %v, %v\n%s", violations, err, enc.Data)
	}
	got, err := to.Decode("sample.json", enc.Data)
	if err != nil {
		t.Fatalf("the encoding cannot be read: %v\n%s", err, enc.Data)
	}
	entries, _ := transcript.Repair(w.Entries)
	seen := seenIn(entries)
	checkVisible(t, seen, visible(got.Messages), enc)
	if from.Name() == to.Name() && enc.Session == "" && len(enc.Repairs) == 0 {
		checkBytes(t, w, enc.Data)
	}
	if from.Name() != to.Name() {
		checkThinking(t, w, got, enc)
	}
}

// checkSpans checks that the spans do not overlap and are in order, and that each holds one JSON value
// or several with commas between them.
func checkSpans(t reporter, enc *transcript.Encoded) {
	end := 0
	for _, s := range enc.Spans {
		if s.Start < end || s.End > len(enc.Data) || s.Start >= s.End || !json.Valid(slices.Concat([]byte("["), enc.Data[s.Start:s.End], []byte("]"))) {
			t.Fatalf("span from %d to %d, after %d of %d bytes, holds no message", s.Start, s.End, end, len(enc.Data))
		}
		end = s.End
	}
}

// seenIn returns the messages of entries as events.
func seenIn(entries []transcript.Entry) []event {
	messages := make([]transcript.Message, len(entries))
	for i := range entries {
		messages[i] = entries[i].Message
	}
	return visible(messages)
}

// checkVisible compares the visible content. A format that cannot hold system texts must report
// their loss; a format for people may report that it escaped characters.
func checkVisible(t reporter, want, got []event, enc *transcript.Encoded) {
	if slices.ContainsFunc(enc.Losses, func(l transcript.Loss) bool { return l.What == "characters that are not seen" }) {
		return
	}
	for _, l := range enc.Losses {
		if len(l.What) >= len("system") && l.What[:len("system")] == "system" {
			want, got = without("system", want), without("system", got)
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("the conversation differs (-window +encoding):\n%s\n%s", diff, enc.Data)
	}
}

// checkBytes checks that messages which did not change kept their bytes, in
// order. System texts may stand elsewhere.
func checkBytes(t reporter, w *transcript.Window, data []byte) {
	rest := data
	for i := range w.Entries {
		e := &w.Entries[i]
		if e.Changed() {
			continue
		}
		raw := w.Session.Raw(e.Source)
		if e.Role == transcript.RoleSystem {
			if !bytes.Contains(data, raw) {
				t.Fatalf("system text %d lost its bytes: %s\n%s", i, raw, data)
			}
			continue
		}
		at := bytes.Index(rest, raw)
		if at < 0 {
			t.Fatalf("message %d lost its bytes: %s\n%s", i, raw, data)
		}
		rest = rest[at+len(raw):]
	}
}

// checkThinking checks that all thinking in a window was carried or is listed as lost.
func checkThinking(t reporter, w *transcript.Window, got *transcript.Session, enc *transcript.Encoded) {
	n := 0
	for i := range w.Entries {
		n += thoughts(&w.Entries[i].Message)
	}
	carried, lost := 0, 0
	for i := range got.Messages {
		carried += thoughts(&got.Messages[i])
	}
	for _, l := range enc.Losses {
		if l.What == "thinking" {
			lost += l.Count
		}
	}
	if n != carried+lost {
		t.Fatalf("of %d thinking parts, %d were carried and %d are listed as lost\n%s", n, carried, lost, enc.Data)
	}
}

func thoughts(m *transcript.Message) int {
	n := 0
	for _, p := range m.Parts {
		if _, ok := p.(transcript.Thinking); ok {
			n++
		}
	}
	return n
}

// checkTruncated decodes beginnings of a sample: every one if the sample is
// short, and between one and two thousand if it is long.
func checkTruncated(t *testing.T, f transcript.Format, sample []byte) {
	step := max(1, len(sample)/1000)
	for n := 0; n < len(sample); n += step {
		checkAny(t, f, sample[:n])
	}
}

// checkAny checks that any input is decoded without loss, or refused with
// an error that names the reason.
func checkAny(t reporter, f transcript.Format, data []byte) {
	t.Helper()
	f.Sniff(data)
	s, err := f.Decode("sample.json", data)
	if err != nil {
		e, ok := errors.AsType[*transcript.SyntaxError](err)
		if !ok || e.Text == "" {
			t.Fatalf("error is no SyntaxError with a text: %v\n%q", err, data)
		}
		return
	}
	if !bytes.Equal(s.Bytes(), data) {
		t.Fatalf("bytes were lost:\n%q\n%q", data, s.Bytes())
	}
	if _, err := f.Validate(data); err != nil {
		t.Fatalf("Decode reads what Validate cannot: %v\n%q", err, data)
	}
	w := transcript.Whole(s)
	w.Entries = append(w.Entries, transcript.Stub("", "one more"))
	enc, err := f.Encode(w)
	if err != nil {
		t.Fatalf("a window cannot be encoded: %v\n%q", err, data)
	}
	if _, err := f.Decode("sample.json", enc.Data); err != nil {
		t.Fatalf("the encoding cannot be read: %v\n%q\n%q", err, data, enc.Data)
	}
	if _, err := f.Validate(enc.Data); err != nil {
		t.Fatalf("the encoding cannot be checked: %v\n%q\n%q", err, data, enc.Data)
	}
}
