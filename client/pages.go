package client

import (
	"fmt"

	"github.com/carrel-dev/carrel/internal/api"
)

// pages reads a list to its end, or to a limit that is above 0.
func pages[T any](limit int, read func(at api.Cursor) (*api.Page[T], error)) ([]T, error) {
	list := []T{}
	at := api.Cursor{}
	for {
		at.Limit = api.MaxLimit
		if limit > 0 {
			at.Limit = min(at.Limit, limit-len(list))
		}
		page, err := read(at)
		if err != nil {
			return nil, err
		}
		list = append(list, page.Items...)
		switch {
		case limit > 0 && len(list) >= limit:
			return list[:limit], nil
		case page.Next == "":
			return list, nil
		case page.Next == at.After:
			return nil, fmt.Errorf("%w: the page after %q is that page again", ErrReply, at.After)
		}
		at.After = page.Next
	}
}

// items returns the list of a result that is not in pages.
func items[T any](page *api.Page[T], err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	return page.Items, nil
}
