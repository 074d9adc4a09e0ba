package digest

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	d := Of([]byte("carrel"))
	got, err := Parse(d.String())
	if err != nil || got != d {
		t.Errorf("Parse(%q) = %v, %v", d.String(), got, err)
	}
	for _, bad := range []string{"", "00", d.String()[1:], "g" + d.String()[1:]} {
		if got, err := Parse(bad); err == nil || got != (Digest{}) {
			t.Errorf("Parse(%q) = %v, %v, want no digest and an error", bad, got, err)
		}
	}
	if _, err := Parse("00"); !strings.Contains(err.Error(), "has 2 characters, want 64") {
		t.Errorf("a digest that is too short: %v", err)
	}
}

// In JSON a digest is its text, and nothing that is none is read.
func TestText(t *testing.T) {
	d := Of([]byte("carrel"))
	data, err := json.Marshal(d)
	if want := `"` + d.String() + `"`; err != nil || string(data) != want {
		t.Errorf("%v is written %s, %v", d, data, err)
	}
	var got Digest
	if err := json.Unmarshal(data, &got); err != nil || got != d {
		t.Errorf("%s is read as %v, %v", data, got, err)
	}
	if err := json.Unmarshal([]byte(`"00"`), &got); err == nil || got != d {
		t.Errorf("what is no digest was read: %v, %v", got, err)
	}
	if got, want := d.Short(), d.String()[:8]; got != want {
		t.Errorf("the short form is %s, want %s", got, want)
	}
}

// The digest of no bytes is the published one (FIPS 180-4).
func TestOf(t *testing.T) {
	const want = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if got := Of(nil).String(); got != want {
		t.Errorf("Of(nil) = %s, want %s", got, want)
	}
}

// A commitment depends on the salt, the kind and the bytes, and on the border
// between them.
func TestCommit(t *testing.T) {
	base := Commit(Salt{1}, "k", []byte("x"))
	for name, other := range map[string]Digest{
		"salt":   Commit(Salt{2}, "k", []byte("x")),
		"kind":   Commit(Salt{1}, "l", []byte("x")),
		"bytes":  Commit(Salt{1}, "k", []byte("y")),
		"border": Commit(Salt{1}, "kx", nil),
	} {
		if other.Equal(base) {
			t.Errorf("another %s gives the same commitment", name)
		}
	}
	if !base.Equal(Commit(Salt{1}, "k", []byte("x"))) {
		t.Error("the same commitment twice is not equal")
	}
}

// Commitments are stored: they are what the comment on [Commit] says, computed here with
// another program.
func TestCommitIsAsDescribed(t *testing.T) {
	var salt Salt
	for i := range salt {
		salt[i] = byte(i)
	}
	const want = "80bdd46f77f602c1332fb972295b6717722e1704bdaf14119c1ee6f57770423f"
	if got := Commit(salt, "text", []byte("carrel")).String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
