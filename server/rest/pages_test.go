package rest_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/governance"
)

// A catalog is a list with what is added to it, and how its entries are told apart.
type catalog struct {
	path, key, id string
	add           func(w *world, n int)
	newest        bool // what is added comes first
}

func catalogs() []catalog {
	appends := func(session string) func(w *world, n int) {
		return func(w *world, n int) {
			w.ask("POST", "/v1/sessions/"+session+"/messages", map[string]any{"messages": say(fmt.Sprint("message ", n))})
		}
	}
	puts := func(w *world, n int) {
		w.ask("POST", "/v1/artifacts", map[string]any{"artifacts": []any{map[string]any{"class": "document", "content": []byte(fmt.Sprint("text ", n))}}})
	}
	begins := func(w *world, n int) {
		_, err := w.engine.Begin(w.t.Context(), "local", &carrel.BeginRequest{Call: fmt.Sprint("call_", n), Session: "s"})
		if err != nil {
			w.t.Error(err)
		}
	}
	return []catalog{
		{"/v1/sessions", "items", "session", func(w *world, n int) { appends(fmt.Sprintf("s%03d", n))(w, n) }, true},
		{"/v1/sessions/s/messages", "messages", "id", appends("s"), false},
		{"/v1/sessions/s/journal", "items", "id", appends("s"), false},
		{"/v1/artifacts", "items", "id", puts, true},
		{"/v1/log", "items", "id", puts, false},
		{"/v1/manifests", "items", "id", func(w *world, n int) {
			w.ask("POST", "/v1/assemble", map[string]any{"query": fmt.Sprint("question ", n), "budget": 100})
		}, true},
		{"/v1/calls", "items", "id", begins, true},
	}
}

// walk reads a list page by page, and does something between pages.
func (c *catalog) walk(t require, w *world, limit func() int, between func()) []string {
	var ids []string
	for after := ""; ; between() {
		q := url.Values{}
		if n := limit(); n > 0 {
			q.Set("limit", fmt.Sprint(n))
		}
		if after != "" {
			q.Set("after", after)
		}
		rec := w.ask("GET", c.path+"?"+q.Encode(), nil)
		var page map[string]json.RawMessage
		var items []map[string]json.RawMessage
		if err := json.Unmarshal(rec.Body.Bytes(), &page); err != nil || rec.Code != 200 {
			t.Fatalf("%s: status %d: %s", c.path, rec.Code, rec.Body)
		}
		if err := json.Unmarshal(page[c.key], &items); err != nil {
			t.Fatalf("%s: %v", c.path, err)
		}
		if after != "" && len(items) == 0 {
			t.Errorf("%s: a page has nothing on it", c.path)
		}
		for _, item := range items {
			ids = append(ids, string(item[c.id]))
		}
		after = ""
		if next := page["next"]; next != nil {
			if err := json.Unmarshal(next, &after); err != nil {
				t.Fatalf("%v", err)
			}
		}
		if after == "" {
			return ids
		}
	}
}

type require interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Whatever the sizes of the pages, they have the list: nothing twice, nothing left out,
// in its order; also while entries are added, of which those behind the reader are not
// seen and those before may be.
func TestPages(t *testing.T) {
	for _, c := range catalogs() {
		t.Run(c.path, func(t *testing.T) {
			w := newWorld(t, nil)
			rapid.Check(t, func(rt *rapid.T) {
				w.engine = newEngine(t, &carrel.Options{Counter: quarter{}, Now: ticking()})
				n := rapid.IntRange(1, 8).Draw(rt, "entries")
				for i := range n {
					c.add(w, i)
				}
				whole := c.walk(rt, w, func() int { return 0 }, func() {})
				limit := func() int { return rapid.IntRange(1, 4).Draw(rt, "limit") }
				if got := c.walk(rt, w, limit, func() {}); !slices.Equal(got, whole) {
					rt.Errorf("pages have %v, the list %v", got, whole)
				}
				got := c.walk(rt, w, limit, func() {
					if rapid.Bool().Draw(rt, "adds") && n < 12 {
						c.add(w, n)
						n++
					}
				})
				if c.newest && !slices.Equal(got, whole) || !c.newest && !slices.Equal(got[:len(whole)], whole) {
					rt.Errorf("pages have %v while entries are added to %v", got, whole)
				}
			})
		})
	}
}

// ticking is a clock that goes on by a millisecond each time it is looked at.
func ticking() func() time.Time {
	at := now
	return func() time.Time {
		at = at.Add(time.Millisecond)
		return at
	}
}

// A page goes on behind an entry that has left the list.
func TestPageBehindWhatIsGone(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 4 {
		catalogs()[3].add(w, i)
	}
	all := get[api.List[carrel.Artifact]](t, w.ask("GET", "/v1/artifacts", nil)).Items
	first := get[api.List[carrel.Artifact]](t, w.ask("GET", "/v1/artifacts?limit=2", nil))
	w.ask("POST", "/v1/artifacts/remove", map[string]any{"ids": []any{all[1].ID}})
	rest := get[api.List[carrel.Artifact]](t, w.ask("GET", "/v1/artifacts?after="+first.Next, nil))
	if len(rest.Items) != 2 || rest.Items[0].ID != all[2].ID || rest.Items[1].ID != all[3].ID {
		t.Errorf("got %+v", rest.Items)
	}
}

// A cursor is good for its list alone, as it was given.
func TestCursors(t *testing.T) {
	w := newWorld(t, nil)
	w.grants["both"] = &governance.Grant{Actor: "ada", Scopes: []governance.ScopePattern{"local", "other"}, Permissions: governance.Permissions()}
	for i := range 3 {
		for _, c := range catalogs() {
			c.add(w, i)
		}
	}
	next := get[api.List[json.RawMessage]](t, w.ask("GET", "/v1/sessions/s/journal?limit=1", nil)).Next
	raw, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil {
		t.Fatal(err)
	}
	try := func(path, cursor string, headers ...string) int {
		return w.ask("GET", path+"after="+url.QueryEscape(cursor), nil, headers...).Code
	}
	if status := try("/v1/sessions/s/journal?", next); status != 200 {
		t.Fatalf("the cursor itself: status %d", status)
	}
	if status := try("/v1/sessions/s/journal?limit=7&", next); status != 200 {
		t.Errorf("another limit: status %d", status)
	}
	for i := range raw {
		bent := slices.Clone(raw)
		bent[i] ^= 1
		if status := try("/v1/sessions/s/journal?", base64.RawURLEncoding.EncodeToString(bent)); status != 400 {
			t.Errorf("byte %d changed: status %d", i, status)
		}
	}
	for name, status := range map[string]int{
		"another list":      try("/v1/log?", next),
		"another session":   try("/v1/sessions/s001/journal?", next),
		"another beginning": try("/v1/sessions/s/journal?since=1&", next),
		"another scope":     try("/v1/sessions/s/journal?", next, "Authorization", "Bearer both", api.HeaderScope, "other"),
		"padding":           try("/v1/sessions/s/journal?", next+"="),
		"a word":            try("/v1/sessions/s/journal?", "next"),
		"much":              try("/v1/sessions/s/journal?", strings.Repeat("A", 4000)),
	} {
		if status != 400 && (name != "another scope" || status != 404) {
			t.Errorf("%s: status %d", name, status)
		}
	}
}
