package origin

import (
	"os"
	"path/filepath"
	"testing"
)

// Virtual file systems are recognized by their numbers in magic.h. A file whose type cannot be
// read is refused.
func TestKernelFiles(t *testing.T) {
	for magic, want := range map[uint32]bool{
		0x9fa0: true, 0x62656572: true, 0x64626720: true, 0x74726163: true, 0x73636673: true,
		0xef53: false, 0x9123683e: false, 0x01021994: false, 0: false, // ext4, btrfs, tmpfs
	} {
		if got := madeUp(magic); got != want {
			t.Errorf("%#x is made up: %t, want %t", magic, got, want)
		}
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	if ofKernel(f) {
		t.Error("a file in a folder for tests is made up")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if !ofKernel(f) {
		t.Error("a file that is closed may be read")
	}
	if !ofKernel(nil) {
		t.Error("no file may be read")
	}
}
