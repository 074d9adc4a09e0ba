package hook

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A counter counts the bytes that are read of an endless file, whose lines are short.
type counter struct{ read int64 }

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	for i := range p {
		p[i] = 'x'
		if (at+int64(i))%100 == 99 {
			p[i] = '\n'
		}
	}
	c.read += int64(len(p))
	return len(p), nil
}

// Of a file as many bytes are read as its ends have, however long it is, and the parts
// are whole lines.
func TestEndsReadNoMoreOfALongFile(t *testing.T) {
	const most = (historyHead + historyTail) / 100 * 100 // whole lines
	for _, size := range []int64{0, 100, most, most + 100, 3_600_000, 36_000_000, 500_000_000} {
		c := &counter{}
		parts, err := ends(c, size)
		if err != nil {
			t.Fatal(err)
		}
		if c.read > min(size, historyHead+historyTail) {
			t.Errorf("%d bytes are read of a file of %d", c.read, size)
		}
		total := 0
		for _, part := range parts {
			total += len(part)
			if len(part)%100 != 0 || bytes.Count(part, []byte("\n")) != len(part)/100 {
				t.Errorf("of a file of %d bytes a part has %d, which are not whole lines", size, len(part))
			}
		}
		if int64(total) < min(size, historyHead+historyTail)-300 {
			t.Errorf("of a file of %d bytes the parts have %d", size, total)
		}
	}
}

// A short file is one part, and lines that are too long for their part are left out.
func TestEndsAreWholeLines(t *testing.T) {
	const both = historyHead + historyTail
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"short", x(both), []string{x(both)}},
		{"long", "\n" + x(both), []string{"\n"}},
		{"long without lines", x(both + 1), nil},
		{"a short line at the end", x(both) + "\nend", []string{"end"}},
	} {
		parts, err := ends(strings.NewReader(tt.text), int64(len(tt.text)))
		same := err == nil && len(parts) == len(tt.want)
		for i := range min(len(parts), len(tt.want)) {
			same = same && string(parts[i]) == tt.want[i]
		}
		if !same {
			t.Errorf("%s: %d parts, %v, want %d", tt.name, len(parts), err, len(tt.want))
		}
	}
}

// The code of a command is of the last row about it, and not known where it cannot be read.
func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	row := `{"payload":{"item":{"type":"CommandExecution","id":"c","exit_code":3}}}`
	for _, tt := range []struct {
		name, text    string
		code          int64
		ended, failed bool
	}{
		{"one row", row, 3, true, false},
		{"behind an older row", strings.Replace(row, "3", "4", 1) + "\n" + row + "\n", 3, true, false},
		{"empty", "", 0, false, false},
		{"long without lines", strings.Repeat("x", historyHead+historyTail+1), 0, false, false},
		{"a folder", "/", 0, false, true},
		{"no such file", "/no", 0, false, true},
	} {
		path := filepath.Join(dir, tt.name)
		switch tt.text {
		case "/":
			path = dir
		case "/no":
		default:
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if code, ended, err := exitCode(path, "c"); code != tt.code || ended != tt.ended || (err != nil) != tt.failed {
			t.Errorf("%s: %d, %t, %v", tt.name, code, ended, err)
		}
	}
}

// Of the files that a client names, regular ones up to 512 MiB are read.
func TestFilesThatAreRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.txt")
	for _, tt := range []struct {
		path string
		size int64
		want string // in the error
	}{
		{path, 3, ""},
		{path, 4, "but the client named a file of 9"},
		{path, 512 << 20, "but the client named a file of 9"},
		{path, 512<<20 + 1, "has more than"},
		{dir, 0, "is not a regular file"},
		{"", 0, errNoFile.Error()},
	} {
		if tt.path == path {
			if err := os.WriteFile(path, []byte("abc"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, tt.size); err != nil {
				t.Fatal(err)
			}
		}
		named := int64(9)
		if tt.want == "" {
			named = tt.size
		}
		data, err := read(tt.path, named)
		if tt.want == "" && (err != nil || string(data) != "abc") || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s of %d bytes: %q, %v, want %q", tt.path, tt.size, data, err, tt.want)
		}
	}
}
