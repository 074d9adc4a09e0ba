package handoff

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A packet that is written and read is the same, in both forms.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := packets.Draw(t, "packet")
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		sameAfter(t, p)
	})
}

// failer has the methods that *testing.T and *rapid.T share.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sameAfter fails unless both forms of a packet are read as the packet.
func sameAfter(t failer, p *Packet) {
	t.Helper()
	data, err := p.JSON()
	if err != nil {
		t.Fatalf("JSON: %v", err)
	}
	for form, text := range map[string][]byte{"JSON": data, "Markdown": []byte(p.Markdown())} {
		got, err := Parse("", text)
		if err != nil {
			t.Fatalf("%s: %v\n%s", form, err, text)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Fatalf("%s gives another packet (-want +got):\n%s\n%s", form, diff, text)
		}
	}
}

// Windows writes other line ends and a byte order mark.
func TestParseForeignBytes(t *testing.T) {
	p := Build(&Input{Goal: "Mend it.\n\nSoon.", Artifacts: []Deliverable{}})
	var crlf []byte
	for _, c := range []byte("\ufeff\n" + p.Markdown()) {
		if c == '\n' {
			crlf = append(crlf, '\r')
		}
		crlf = append(crlf, c)
	}
	got, err := Parse("", crlf)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, got); diff != "" {
		t.Errorf("packet (-want +got):\n%s", diff)
	}
}

func TestPacketInOtherJSON(t *testing.T) {
	type envelope struct{ Packet Packet }
	in := envelope{*Build(&Input{Goal: "Compare a < b."})}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	var out envelope
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Errorf("packet (-want +got):\n%s", diff)
	}
	const bad = `{"Packet": {"created_for": 1}}`
	if err := json.Unmarshal([]byte(bad), &out); err == nil {
		t.Errorf("%s is read", bad)
	}
	// A nil list is written as an empty list, and a nil optional list is left out.
	data, err = json.Marshal(Packet{})
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(data, &keys); err != nil {
		t.Fatal(err)
	}
	if _, ok := keys["artifacts"]; len(keys) != 18 || ok || keys["work_completed"] == nil {
		t.Errorf("an empty packet is %s", data)
	}
}

// A packet that Parse accepts can be written, and is read back as the same packet.
// No input makes Parse panic.
func FuzzParse(f *testing.F) {
	for _, p := range []*Packet{Build(&Input{})} {
		data, err := p.JSON()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add([]byte(p.Markdown()))
	}
	for _, x := range readArchives(f, "good-*.txtar") {
		for _, text := range x.texts {
			f.Add([]byte(text))
		}
	}
	for _, x := range readArchives(f, "refused-*.txtar") {
		for _, c := range changes(f, x) {
			f.Add(c.packet)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("", data)
		if err != nil {
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatalf("what was read is not valid: %v", err)
		}
		sameAfter(t, p)
		Check(p, nil)
	})
}
