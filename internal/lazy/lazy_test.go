package lazy_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/carrel-dev/carrel/internal/lazy"
)

func TestValueIsMadeOnceAndNotBefore(t *testing.T) {
	var made atomic.Int64
	value := lazy.Value[int64]{Make: func() int64 { return made.Add(1) }}
	if n := made.Load(); n != 0 {
		t.Fatalf("made %d times before it was asked for", n)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := value.Get(); got != 1 {
				t.Errorf("got value %d, want that of the first call", got)
			}
		})
	}
	wg.Wait()
	if n := made.Load(); n != 1 {
		t.Errorf("made %d times, want once", n)
	}
}

func TestValuePanicsEachTimeAsItDidFirst(t *testing.T) {
	value := lazy.Value[int]{Make: func() int { panic("no such table") }}
	for range 2 {
		if got := panicOf(func() { value.Get() }); got != "no such table" {
			t.Errorf("panicked with %v", got)
		}
	}
}

func TestWords(t *testing.T) {
	words := lazy.Words(" add  set\n\tto add ")
	if diff := cmp.Diff(map[string]bool{"add": true, "set": true, "to": true}, words.Get()); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}

func TestRegexpIsCompiledAtItsFirstUse(t *testing.T) {
	number := lazy.Regexp(`[0-9]+`)
	if got := number.Get().FindString("page 12 of 40"); got != "12" {
		t.Errorf("found %q, want 12", got)
	}
	if first, second := number.Get(), number.Get(); first != second {
		t.Error("a second use has compiled it again")
	}
	broken := lazy.Regexp(`(`)
	if panicOf(func() { broken.Get() }) == nil {
		t.Error("a pattern that is none was compiled")
	}
}

// panicOf returns what f panics with, or nil.
func panicOf(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

func Example() {
	number := lazy.Regexp(`[0-9]+`)
	fmt.Println(number.Get().FindAllString("3 of 12 pages", -1))
	// Output: [3 12]
}

func BenchmarkValue(b *testing.B) {
	value := lazy.Value[map[string]bool]{Make: func() map[string]bool { return map[string]bool{"a": true} }}
	for b.Loop() {
		if !value.Get()["a"] {
			b.Fatal("a is gone")
		}
	}
}
