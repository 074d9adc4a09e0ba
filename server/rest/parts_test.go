package rest

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/internal/ops"
)

// A feed is resumed at a version and a time, and neither is below 0.
func TestFeedsAreResumed(t *testing.T) {
	for since, ok := range map[string]bool{
		"0-0": true, "3-1000": true, "": false, "3": false, "-1-5": false, "x-5": false, "5-x": false, "3--1": false, "3-": false, "-": false,
	} {
		f := &scopeFeed{}
		err := f.resume(since, 400*time.Millisecond)
		if (err == nil) != ok || err != nil && !errors.Is(err, carrel.ErrRequest) && api.KindOf(err) != api.Request {
			t.Errorf("%q: %v, want that it is one: %v", since, err, ok)
		}
		if since == "3-1000" && (f.version != 3 || f.last.UnixMilli() != 1000 || f.from.UnixMilli() != 600) {
			t.Errorf("%q: %+v", since, f)
		}
	}
}

// The key of a write is 1 to 255 visible characters, and given once.
func TestKeysOfWrites(t *testing.T) {
	for _, tt := range []struct {
		op   *ops.Operation
		keys []string
		want string
		ok   bool
	}{
		{&ops.Undo.Operation, nil, "", true},
		{&ops.Undo.Operation, []string{"!~"}, "!~", true},
		{&ops.Undo.Operation, []string{strings.Repeat("k", 255)}, strings.Repeat("k", 255), true},
		{&ops.Undo.Operation, []string{strings.Repeat("k", 256)}, "", false},
		{&ops.Undo.Operation, []string{""}, "", false},
		{&ops.Undo.Operation, []string{"a", "a"}, "", false},
		{&ops.Undo.Operation, []string{"a b"}, "", false},
		{&ops.Undo.Operation, []string{"a\x7f"}, "", false},
		{&ops.Undo.Operation, []string{"é"}, "", false},
		{&ops.Stats.Operation, []string{"a b"}, "", true},
	} {
		got, err := idempotencyKey(tt.op, http.Header{api.HeaderIdempotency: tt.keys})
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("%s %q: %q, %v, want %q", tt.op.Name, tt.keys, got, err, tt.want)
		}
	}
}

// Requests that differ in a part have fingerprints that differ, however the parts meet.
func TestFingerprintsTellRequestsApart(t *testing.T) {
	seen := make(map[string]string)
	for _, tt := range [][3]string{
		{"POST", "/a", ""}, {"PUT", "/a", ""}, {"POST", "/a?b", ""}, {"POST", "/ab", ""}, {"POST", "/a", "b"}, {"POST", "/a%2Fb", ""}, {"POST", "/a/b", ""},
	} {
		d := fingerprint(httptest.NewRequest(tt[0], tt[1], http.NoBody), []byte(tt[2])).String()
		if other, twice := seen[d]; twice {
			t.Errorf("%q and %s are the same", tt, other)
		}
		seen[d] = fmt.Sprintf("%q", tt)
	}
}

// What is known of a document is told by its tag, of which there may be several.
func TestTagsMatch(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  bool
	}{
		{nil, false}, {[]string{`"a"`}, true}, {[]string{`W/"a"`}, true}, {[]string{"*"}, true}, {[]string{`"b", "a"`}, true}, {[]string{`"b"`, `"a"`}, true}, {[]string{`"b","c"`}, false}, {[]string{"a"}, false},
	} {
		if got := matches(http.Header{"If-None-Match": tt.lines}, `"a"`); got != tt.want {
			t.Errorf("%q: %v, want %v", tt.lines, got, tt.want)
		}
	}
}

// A type that no request may have is a mistake of the table.
func TestTheTableIsChecked(t *testing.T) {
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a channel is no mistake")
			}
		}()
		make(decoders).of(reflect.TypeFor[chan int]())
	}()
	ds := make(decoders)
	if ds.of(reflect.TypeFor[int]()); len(ds) != 1 {
		t.Errorf("%d types are known, want the one", len(ds))
	}
}
