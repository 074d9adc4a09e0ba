package base

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"iter"
	"slices"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

// A Listing is a list that is read in pages. Its order gives each entry a unique key of type K. A
// page begins behind the key of the last entry of the page before, so that entries added
// meanwhile shift nothing.
type Listing[T, K any] struct {
	Name  string // of the operation
	Scope governance.Scope
	Of    any // the subject of the list: a cursor is valid for no other

	Fetch  func(limit int) ([]T, error)   // returns the first entries; limit 0 means all
	Key    func(*T) K                     // returns the key of an entry
	Behind func(K) (func(*T) bool, error) // returns a function that reports whether an entry comes after the key

	// From replaces Fetch and Behind if it is set: it returns the first entries after a key;
	// limit 0 means all.
	From func(key K, limit int) ([]T, error)
}

// ListPage returns a page of a list, or everything behind the cursor if the cursor has no limit.
func ListPage[T, K any](l *Listing[T, K], c api.Cursor) (*api.List[T], error) {
	items, next, err := l.page(c.Limit, c.After)
	if err != nil {
		return nil, err
	}
	return &api.List[T]{Items: items, Next: next}, nil
}

// Entries returns the listing of a journal or log, in the order of revisions.
func Entries(name string, scope governance.Scope, of any, entries iter.Seq2[*store.Entry, error]) *Listing[store.Entry, store.Revision] {
	return &Listing[store.Entry, store.Revision]{
		Name: name, Scope: scope, Of: of,
		Fetch: func(int) ([]store.Entry, error) {
			list := []store.Entry{}
			for entry, err := range entries {
				if err != nil {
					return nil, err
				}
				list = append(list, *entry)
			}
			return list, nil
		},
		Key: func(e *store.Entry) store.Revision { return e.Revision },
		Behind: func(at store.Revision) (func(*store.Entry) bool, error) {
			return func(e *store.Entry) bool { return e.Revision > at }, nil
		},
	}
}

// page returns the entries for a cursor, and the cursor of the next page.
func (l *Listing[T, K]) page(limit int, after string) (items []T, next string, err error) {
	most := 0
	if limit > 0 {
		most = limit + 1
	}
	switch {
	case limit < 0:
		return nil, "", &api.FieldError{Field: "limit", Text: "is below 0: want 0 or more"}
	case after != "":
		items, err = l.rest(after, most)
	default:
		items, err = l.Fetch(most)
	}
	if err != nil {
		return nil, "", err
	}
	if limit > 0 && len(items) > limit {
		items = items[:limit:limit]
		next, err = l.seal(l.Key(&items[limit-1]))
	}
	return List(items), next, err
}

// rest returns the entries behind a cursor, which is the first argument. If the second argument is
// above 0, rest may stop when it has that many entries; 0 means all.
func (l *Listing[T, K]) rest(after string, most int) ([]T, error) {
	key, err := l.open(after)
	if err != nil {
		return nil, err
	}
	if l.From != nil {
		return l.From(key, most)
	}
	behind, err := l.Behind(key)
	if err != nil {
		return nil, err
	}
	items, err := l.Fetch(0)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(items, func(item T) bool { return !behind(&item) }), nil
}

// checkSize is the length of the checksum in a cursor, in bytes. The checksum keeps a cursor from
// being used with another list by mistake. It does not hide the rest of the cursor, which is a
// position that the holder of the cursor may read.
const checkSize = 8

func (l *Listing[T, K]) seal(key K) (string, error) {
	text, err := json.Marshal(key)
	if err != nil {
		return "", err
	}
	check, err := l.check(text)
	return base64.RawURLEncoding.EncodeToString(append(check, text...)), err
}

func (l *Listing[T, K]) open(cursor string) (key K, err error) {
	invalid := &api.FieldError{Field: "after", Text: "is no cursor of this list: give one that the page before has returned"}
	data, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(data) < checkSize {
		return key, invalid
	}
	check, err := l.check(data[checkSize:])
	if err != nil {
		return key, err
	}
	if !bytes.Equal(check, data[:checkSize]) || json.Unmarshal(data[checkSize:], &key) != nil {
		return key, invalid
	}
	return key, nil
}

func (l *Listing[T, K]) check(text []byte) ([]byte, error) {
	of, err := json.Marshal([]any{l.Name, l.Scope, l.Of})
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	h.Write(of)
	h.Write([]byte{0})
	h.Write(text)
	return h.Sum(nil)[:checkSize], nil
}

// List returns list, or an empty list if list is nil. So JSON has [] in place of null.
func List[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
