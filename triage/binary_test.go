package triage

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// A decoded table equals the encoded one: for passes, for Row, and when rows are added.
func TestTableIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, rows, hits := anyCase(t)
		n := rapid.IntRange(0, len(rows)).Draw(t, "written")
		data, err := tableOf(rows[:n]...).AppendBinary([]byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		var table Table
		if err := table.UnmarshalBinary(data[len("before"):]); err != nil {
			t.Fatal(err)
		}
		for _, r := range rows[n:] {
			table.Append(r)
		}
		if diff := diffFirst(reference(p, rows, noon, hits), p.First(&table, noon, hits, nil)); diff != "" {
			t.Fatalf("pass one (-reference +got):\n%s", diff)
		}
		for i, want := range rows {
			if got := table.Row(i); got != want {
				t.Fatalf("row %d is %v, want %v", i, got, want)
			}
		}
	})
}

// Invalid data is an error.
func TestNoTable(t *testing.T) {
	sound, err := randomTable(130).AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(sound) {
		if err := new(Table).UnmarshalBinary(sound[:n]); !errors.Is(err, errBinary) {
			t.Fatalf("the first %d of %d bytes: %v", n, len(sound), err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		data := append(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "words"), sound[:rapid.IntRange(0, len(sound)).Draw(t, "n")]...)
		if err := new(Table).UnmarshalBinary(data); err == nil && len(data) != 8 && !bytes.Equal(data, sound) {
			t.Fatalf("%d bytes are read", len(data))
		}
	})
}
