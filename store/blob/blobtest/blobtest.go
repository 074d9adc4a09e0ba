// Package blobtest tests implementations of [blob.Keeper].
//
// [Run] checks a driver against the contract of package store/blob. Each check is named after a
// sentence of the contract and gets an empty place of its own.
//
// The package imports testing: it is for tests only.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/carrel-dev/carrel/store/blob"
)

// Run runs all checks of a [blob.Keeper] in parallel. Each check calls the function open, which
// makes an empty place and registers its cleanup with t. The check then calls handle twice; each
// call opens that place anew.
func Run(t *testing.T, open func(t *testing.T) (handle func() blob.Keeper)) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, a, b blob.Keeper)
	}{
		{"a blob is read as it was written, by every opener", readsBack},
		{"a missing blob does not exist", missing},
		{"the same bytes can be put again", putAgain},
		{"a dropped blob does not exist, and can be dropped again", dropped},
		{"Get reads one byte more than it is asked for", bounded},
		{"blobs whose keys begin alike are different blobs", alike},
		{"an invalid key is refused", invalidKeys},
		{"nothing is done for a context that has ended", ended},
		{"a place is ready, and its address says where it is", ready},
		{"openers put and read at the same time", together},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			handle := open(t)
			c.run(t, handle(), handle())
		})
	}
}

func put(t *testing.T, p blob.Keeper, key string, body []byte) {
	t.Helper()
	if err := p.Put(t.Context(), key, body); err != nil {
		t.Fatalf("Put %s: %v", key, err)
	}
}

// has checks that the place p has the blob key with the bytes in body. If body is nil, it checks
// that p has no blob with this key.
func has(t *testing.T, p blob.Keeper, key string, body []byte) {
	t.Helper()
	got, err := p.Get(t.Context(), key, int64(len(body)))
	switch {
	case body == nil && !errors.Is(err, fs.ErrNotExist):
		t.Errorf("Get %s = %d bytes, %v; want %v", key, len(got), err, fs.ErrNotExist)
	case body != nil && (err != nil || !bytes.Equal(got, body)):
		t.Errorf("Get %s = %d bytes, %v; want the %d bytes that were put", key, len(got), err, len(body))
	}
}

// bodies returns bodies of different sizes. The largest has every value of a byte.
func bodies() [][]byte {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return [][]byte{{}, {0}, []byte("text\r\n"), bytes.Repeat(every, 1<<12)}
}

func readsBack(t *testing.T, a, b blob.Keeper) {
	for i, body := range bodies() {
		key := fmt.Sprintf("scope/%d-Key_", i)
		put(t, a, key, body)
		has(t, a, key, body)
		has(t, b, key, body)
	}
	for _, key := range []string{"short", "azAZ09-_", strings.Repeat("k", 200)} {
		put(t, a, key, []byte("a key of one part"))
		has(t, b, key, []byte("a key of one part"))
	}
}

func missing(t *testing.T, a, _ blob.Keeper) {
	has(t, a, "no/where", nil)
	put(t, a, "some/where", []byte("x"))
	has(t, a, "some/other", nil)
}

func putAgain(t *testing.T, a, b blob.Keeper) {
	put(t, a, "k/1", []byte("body"))
	put(t, b, "k/1", []byte("body"))
	has(t, a, "k/1", []byte("body"))
}

func dropped(t *testing.T, a, b blob.Keeper) {
	put(t, a, "k/1", []byte("one"))
	put(t, a, "k/1", []byte("one")) // a version more, where a place has versions
	put(t, a, "k/2", []byte("two"))
	for range 2 {
		if err := b.Drop(t.Context(), "k/1"); err != nil {
			t.Fatalf("Drop: %v", err)
		}
		has(t, a, "k/1", nil)
	}
	has(t, a, "k/2", []byte("two"))
	if err := b.Drop(t.Context(), "no/where"); err != nil {
		t.Errorf("Drop of a blob that never was: %v", err)
	}
}

func bounded(t *testing.T, a, _ blob.Keeper) {
	put(t, a, "k", []byte("0123456789"))
	for most, want := range map[int64]string{0: "0", 4: "01234", 9: "0123456789", 10: "0123456789", 1 << 20: "0123456789"} {
		if got, err := a.Get(t.Context(), "k", most); err != nil || string(got) != want {
			t.Errorf("Get of at most %d = %q, %v; want %q", most, got, err, want)
		}
	}
}

func alike(t *testing.T, a, _ blob.Keeper) {
	keys := []string{"k/1", "k/10", "k/1-0", "k1"}
	for _, key := range keys {
		put(t, a, key, []byte(key))
	}
	if err := a.Drop(t.Context(), "k/1"); err != nil {
		t.Fatal(err)
	}
	has(t, a, "k/1", nil)
	for _, key := range keys[1:] {
		has(t, a, key, []byte(key))
	}
}

func invalidKeys(t *testing.T, a, _ blob.Keeper) {
	for _, key := range []string{"", "/", "/k", "k/", "k//l", ".", "..", "../k", "k/../l", "k.part", "k\\l", "k l", "k%2e", "ü", "k\x00", strings.Repeat("k", 201)} {
		_, got := a.Get(t.Context(), key, 1)
		for method, err := range map[string]error{"Put": a.Put(t.Context(), key, []byte("x")), "Get": got, "Drop": a.Drop(t.Context(), key)} {
			if !errors.Is(err, blob.ErrKey) {
				t.Errorf("%s of key %q: %v, want %v", method, key, err, blob.ErrKey)
			}
		}
	}
}

func ended(t *testing.T, a, _ blob.Keeper) {
	put(t, a, "k", []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, got := a.Get(ctx, "k", 1)
	for method, err := range map[string]error{"Put": a.Put(ctx, "l", []byte("x")), "Get": got, "Drop": a.Drop(ctx, "k"), "Ready": a.Ready(ctx)} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want %v", method, err, context.Canceled)
		}
	}
	has(t, a, "k", []byte("x"))
	has(t, a, "l", nil)
}

func ready(t *testing.T, a, b blob.Keeper) {
	if err := a.Ready(t.Context()); err != nil {
		t.Errorf("Ready: %v", err)
	}
	if a.String() == "" || a.String() != b.String() {
		t.Errorf("the addresses of one place are %q and %q", a, b)
	}
}

func together(t *testing.T, a, b blob.Keeper) {
	var wg sync.WaitGroup
	for n, p := range []blob.Keeper{a, b, a, b} {
		wg.Go(func() {
			for i := range 8 {
				key, body := fmt.Sprintf("k/%d-%d", n, i), bytes.Repeat([]byte{byte(n), byte(i)}, 5000)
				if err := p.Put(t.Context(), key, body); err != nil {
					t.Errorf("Put: %v", err)
				}
				has(t, p, key, body)
				if err := p.Drop(t.Context(), key); err != nil {
					t.Errorf("Drop: %v", err)
				}
				has(t, p, key, nil)
			}
		})
	}
	wg.Wait()
}
