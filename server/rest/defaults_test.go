package rest

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/store"
)

func TestLimitsHaveDefaults(t *testing.T) {
	want := Limits{
		Body: 33_554_432, Bodies: 268_435_456, Jobs: 64, Queue: 10 * time.Second, Job: 10 * time.Minute, Streams: 4,
		Poll: 500 * time.Millisecond, Replays: 10_000, ReplayBytes: 16_777_216,
	}
	l := Limits{Body: -1}
	if l.complete(); l != want {
		t.Errorf("limits are %+v, want %+v", l, want)
	}
	given := Limits{Body: 1, Bodies: 2, Jobs: 3, Queue: 4, Job: 5, Streams: 6, Poll: 7, Replays: 8, ReplayBytes: 9}
	l = given
	if l.complete(); l != given {
		t.Errorf("limits are %+v, want %+v as given", l, given)
	}
}

func TestNamesOfRequests(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "A-z_0.9": true, strings.Repeat("x", 64): true, strings.Repeat("x", 65): false, "": false, "a b": false, "ä": false, "a/b": false,
	} {
		if got := isName(name); got != want {
			t.Errorf("isName(%q) = %v, want %v", name, got, want)
		}
	}
	for in, want := range map[string]string{"a\x00b\u200bc\xff": "abc", strings.Repeat("x", 41): strings.Repeat("x", 40), strings.Repeat("x", 40): strings.Repeat("x", 40)} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	now := time.Unix(100, 0)
	for expires, want := range map[time.Time]bool{{}: false, now: true, now.Add(1): false, now.Add(-1): true} {
		if got := expired(&governance.Grant{Expires: expires}, now); got != want {
			t.Errorf("a grant until %v has expired: %v, want %v", expires, got, want)
		}
	}
}

// A client gets the bytes of content alone if it prefers them to JSON.
func TestTypesThatAreAccepted(t *testing.T) {
	for accept, want := range map[string]string{
		"": "", "*/*": "", "application/json, text/plain": "", "application/*": "", "image/png": "",
		"text/plain": typeText, "TEXT/*;q=0.5, application/json": typeText, "application/octet-stream": typeBytes, "application/jsonl , */*": typeLines,
	} {
		if got := rawType(http.Header{"Accept": {accept}}, []byte("ö")); got != want {
			t.Errorf("%q: %q, want %q", accept, got, want)
		}
	}
	if got := rawType(http.Header{"Accept": {"image/png", "text/plain"}}, []byte("\xff")); got != typeBytes {
		t.Errorf("bytes that are no text are sent as %q", got)
	}
	for kind, want := range map[string][2]bool{ // JSON, raw
		"application/json": {true, true}, "application/json; charset=UTF-8": {true, true}, "application/json; charset=latin1": {false, true},
		"application/jsonl": {false, true}, "application/octet-stream": {false, true}, "text/plain": {}, "": {}, ";": {},
	} {
		h := http.Header{"Content-Type": {kind}}
		if got := [2]bool{isJSON(h), isRaw(h)}; got != want {
			t.Errorf("%q is JSON and raw: %v, want %v", kind, got, want)
		}
	}
	for accept, want := range map[string]bool{typeEvents: true, typeEvents + ", " + typeJSON: true, typeJSON + ", " + typeEvents: false, typeJSON: false, "*/*, " + typeEvents: true} {
		if got := wantsEvents(http.Header{"Accept": {accept}}); got != want {
			t.Errorf("%q asks for events: %v, want %v", accept, got, want)
		}
	}
}

func TestValuesOfQueries(t *testing.T) {
	var v struct {
		S string
		B bool
		N int32
		I int
		T time.Time
		F float64
	}
	for _, tt := range []struct {
		field, text string
		want        any // nil if it is refused
	}{
		{"S", "", ""},
		{"S", "x", "x"},
		{"B", "true", true},
		{"B", "false", false},
		{"B", "1", nil},
		{"B", "", nil},
		{"I", "-7", -7},
		{"I", "9223372036854775808", nil},
		{"I", "1.0", nil},
		{"I", "0x1", nil},
		{"T", "2026-01-05T10:00:00Z", time.Date(2026, 1, 5, 10, 0, 0, 0, time.UTC)},
		{"T", "2026-01-05", nil},
	} {
		f := reflect.ValueOf(&v).Elem().FieldByName(tt.field)
		ok := setterOf(f.Type())(f, tt.text)
		if ok != (tt.want != nil) || ok && !reflect.DeepEqual(f.Interface(), tt.want) {
			t.Errorf("%s of %q: %v, %v, want %v", tt.field, tt.text, f.Interface(), ok, tt.want)
		}
	}
	for _, name := range []string{"N", "F"} {
		f, _ := reflect.TypeOf(v).FieldByName(name)
		if setterOf(f.Type) != nil {
			t.Errorf("a query may have a %v", f.Type)
		}
	}
	for kind, want := range map[reflect.Type]string{
		reflect.TypeFor[time.Time](): "a time such as 2026-01-05T10:00:00Z", reflect.TypeFor[bool](): "true or false", reflect.TypeFor[int](): "a whole number",
	} {
		if got := expected(kind); got != want {
			t.Errorf("of %v %q is expected, want %q", kind, got, want)
		}
	}
	if got := strings.Join(pathFields("/sessions/{session}/x/{block}"), " "); got != "session block" {
		t.Errorf("fields of the path are %q", got)
	}
}

// Writes are remembered for a time, up to a number and a size, the newest longest.
func TestWritesAreForgotten(t *testing.T) {
	now := time.Unix(0, 0)
	write := func(rs *replays, key string, size int) {
		d := &deed{do: func(context.Context) (*response, []byte, bool) { return &response{}, make([]byte, size), true }}
		rs.once(t.Context(), writeKey{key: key}, digest.Digest{}, func() time.Time { return now }, d)
	}
	known := func(rs *replays) (keys string) {
		for e := rs.order.Front(); e != nil; e = e.Next() {
			keys += e.Value.(*keptWrite).writeKey.key
		}
		return keys
	}
	rs := newReplays(2, 10)
	write(rs, "a", 4)
	write(rs, "b", 6)
	if got := known(rs); got != "ab" || rs.bytes != 10 {
		t.Errorf("known are %q with %d bytes, want ab with 10", got, rs.bytes)
	}
	write(rs, "c", 0)
	if got := known(rs); got != "bc" || rs.bytes != 6 || len(rs.by) != 2 {
		t.Errorf("behind a third: %q with %d bytes", got, rs.bytes)
	}
	write(rs, "d", 10)
	if got := known(rs); got != "cd" || rs.bytes != 10 {
		t.Errorf("behind a large one: %q with %d bytes", got, rs.bytes)
	}
	write(rs, "e", 11) // it is known without its outcome
	if got := known(rs); got != "de" || rs.bytes != 10 || rs.by[writeKey{key: "e"}].outcome != nil {
		t.Errorf("behind one that is too large: %q with %d bytes", got, rs.bytes)
	}
	now = now.Add(remembered - 1)
	if _, mine := rs.claim(writeKey{key: "d"}, digest.Digest{}, now); mine {
		t.Error("a write is forgotten before its time")
	}
	now = now.Add(1)
	if k, mine := rs.claim(writeKey{key: "d"}, digest.Digest{}, now); !mine || k.made || known(rs) != "" || rs.bytes != 0 {
		t.Errorf("at its time a write is still known: %q with %d bytes", known(rs), rs.bytes)
	}
}

// The outcome of another server's write is waited for, but not for long.
func TestOutcomesThatAreNotKnown(t *testing.T) {
	l := &ledger{}
	var refused error
	d := &deed{
		again:  func(outcome []byte) *response { return &response{body: outcome} },
		refuse: func(err error) *response { refused = err; return &response{} },
	}
	at := time.Unix(1000, 0)
	for _, tt := range []struct {
		name  string
		there store.Request
		age   time.Duration
		made  bool
		err   error
	}{
		{"a known outcome", store.Request{Outcome: []byte("x")}, time.Hour, true, nil},
		{"another request", store.Request{Asking: digest.Of([]byte("x")), Outcome: []byte("x")}, 0, false, nil},
		{"an outcome to come", store.Request{}, settling - 1, false, store.ErrRepeated},
		{"an outcome that does not come", store.Request{}, settling, false, carrel.ErrGone},
	} {
		refused = nil
		tt.there.Time = at.Add(-tt.age)
		res, _, made := l.answer(d, &store.Request{Time: at}, &tt.there)
		if made != tt.made || tt.err != nil && !errors.Is(refused, tt.err) || (refused == nil) != tt.made {
			t.Errorf("%s: made %v, refused %v", tt.name, made, refused)
		}
		if tt.made && (string(res.body) != "x" || res.header[headerReplayed] != "true") {
			t.Errorf("%s: %s, %v", tt.name, res.body, res.header)
		}
	}
}

// A client is told when to come again, and how to say who it is.
func TestHeadersOfProblems(t *testing.T) {
	s := &server{}
	for status, want := range map[int][2]string{503: {"1", ""}, 409: {"1", ""}, 429: {"1", ""}, 401: {"", `Bearer realm="carrel"`}, 404: {}, 500: {}} {
		res := s.problemResponse(&call{}, &api.Problem{Status: status})
		if got := [2]string{res.header["Retry-After"], res.header["WWW-Authenticate"]}; got != want || res.status != status || res.kind != typeProblem {
			t.Errorf("%d: %q, status %d, %s", status, got, res.status, res.kind)
		}
	}
}

func TestFeedsBeginWhereTheyEnded(t *testing.T) {
	f := &scopeFeed{}
	if err := f.resume("7-90000", time.Minute); err != nil || f.version != 7 || f.last != time.UnixMilli(90_000) || f.from != time.UnixMilli(30_000) {
		t.Errorf("%+v, %v", f, err)
	}
	if err := f.resume("0-0", 0); err != nil {
		t.Error(err)
	}
	for _, since := range []string{"7", "-1-5", "7--5", "x-5", "7-x", ""} {
		if err := f.resume(since, 0); !errors.Is(err, carrel.ErrRequest) {
			t.Errorf("%q: %v, want ErrRequest", since, err)
		}
	}
}

// After a panic in a write, the next request with its key makes the write.
func TestAPanicEndsAWrite(t *testing.T) {
	rs := newReplays(2, 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // so that a request that waits in vain gives up
	calls := 0
	d := &deed{
		do: func(context.Context) (*response, []byte, bool) {
			if calls++; calls == 1 {
				panic("a bug")
			}
			return &response{}, nil, true
		},
		refuse: func(err error) *response {
			t.Errorf("the request is refused: %v", err)
			return &response{}
		},
	}
	for range 2 {
		func() {
			defer func() { _ = recover() }()
			rs.once(ctx, writeKey{key: "a"}, digest.Digest{}, time.Now, d)
		}()
	}
	if calls != 2 {
		t.Errorf("the write was begun %d times, want 2", calls)
	}
}
