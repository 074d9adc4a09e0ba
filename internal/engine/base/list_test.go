package base

import (
	"encoding/base64"
	"errors"
	"fmt"
	"testing"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/store"
)

// A page has as many entries as asked for, and a cursor behind its last if there are more.
func TestPagesOfEntries(t *testing.T) {
	list := func(of string) *Listing[store.Entry, store.Revision] {
		return Entries("log", "a/b/c", of, func(yield func(*store.Entry, error) bool) {
			for i := range 5 {
				if !yield(&store.Entry{Revision: store.Revision(i + 1)}, nil) {
					return
				}
			}
		})
	}
	l := list("s")
	words := func(c api.Cursor) (string, string) {
		t.Helper()
		p, err := ListPage(l, c)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, e := range p.Items {
			got += fmt.Sprint(e.Revision)
		}
		return got, p.Next
	}
	if got, next := words(api.Cursor{}); got != "12345" || next != "" {
		t.Errorf("all: %s, next %q", got, next)
	}
	for _, limit := range []int{5, 6} {
		if got, next := words(api.Cursor{Limit: limit}); got != "12345" || next != "" {
			t.Errorf("%d: %s, next %q", limit, got, next)
		}
	}
	got, next := words(api.Cursor{Limit: 2})
	if got != "12" || next == "" {
		t.Fatalf("two: %s, next %q", got, next)
	}
	if got, _ := words(api.Cursor{After: next}); got != "345" {
		t.Errorf("all behind two: %s", got)
	}
	if got, last := words(api.Cursor{After: next, Limit: 3}); got != "345" || last != "" {
		t.Errorf("three behind two: %s, next %q", got, last)
	}
	if got, more := words(api.Cursor{After: next, Limit: 2}); got != "34" || more == "" || more == next {
		t.Errorf("two behind two: %s, next %q", got, more)
	}
	for _, c := range []api.Cursor{{Limit: -1}, {After: "x"}, {After: next + "A"}, {After: next[:8]}} {
		if _, err := ListPage(l, c); !errors.Is(err, api.ErrRequest) {
			t.Errorf("%+v: %v, want ErrRequest", c, err)
		}
	}
	for _, text := range []string{"", "{", `"no number"`} {
		check, err := l.check([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		after := base64.RawURLEncoding.EncodeToString(append(check, text...))
		if _, err := ListPage(l, api.Cursor{After: after}); !errors.Is(err, api.ErrRequest) {
			t.Errorf("a cursor with the position %q: %v, want ErrRequest", text, err)
		}
	}
	if _, err := ListPage(list("other"), api.Cursor{After: next}); !errors.Is(err, api.ErrRequest) {
		t.Errorf("a cursor of another list: %v, want ErrRequest", err)
	}
}
