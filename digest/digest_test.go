package digest

import "testing"

func TestParse(t *testing.T) {
	d := Of([]byte("carrel"))
	got, err := Parse(d.String())
	if err != nil || got != d {
		t.Errorf("Parse(%q) = %v, %v", d.String(), got, err)
	}
	for _, bad := range []string{"", "00", d.String()[1:], "g" + d.String()[1:]} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("Parse(%q) succeeded", bad)
		}
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
