package hook

import (
	"bytes"
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
