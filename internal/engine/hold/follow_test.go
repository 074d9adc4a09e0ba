package hold

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/carrel-dev/carrel/digest"
)

// Read continues where it stopped if the file is the same one and only grew.
func TestFileThatGrew(t *testing.T) {
	was := []byte("head|middle|end")
	of := func(change func(*FileProgress)) *FileProgress {
		p := &FileProgress{HeadSize: 4, Head: digest.Of(was[:4]), From: 12, Size: int64(len(was)), End: digest.Of(was[12:])}
		if change != nil {
			change(p)
		}
		return p
	}
	for _, tt := range []struct {
		name string
		p    *FileProgress
		file string
		want string // empty if the whole file must be read
	}{
		{"as it was", of(nil), "head|middle|end", "end"},
		{"longer", of(nil), "head|middle|end|more", "end|more"},
		{"another middle, which nobody reads", of(nil), "head|muddle|end|more", "end|more"},
		{"shorter by a byte", of(nil), "head|middle|en", ""},
		{"another head", of(nil), "Head|middle|end|more", ""},
		{"another end", of(nil), "head|middle|End|more", ""},
		{"it was read beyond its end", of(func(p *FileProgress) { p.From = p.Size + 1 }), "head|middle|end|more", ""},
		{"it was read to its end", of(func(p *FileProgress) { p.From, p.End = p.Size, digest.Of(nil) }), "head|middle|end|more", "|more"},
	} {
		got, err := tt.p.Read(bytes.NewReader([]byte(tt.file)), int64(len(tt.file)))
		if tt.want == "" && !errors.Is(err, ErrReadWhole) || tt.want != "" && (err != nil || string(got) != tt.want) {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
	for _, file := range []string{"head|middle|e", "head|middle|end"} { // it became shorter after its size was asked
		if got, err := of(nil).Read(strings.NewReader(file), 16); !errors.Is(err, ErrReadWhole) {
			t.Errorf("%s of 16 bytes: %q, %v", file, got, err)
		}
	}
}
