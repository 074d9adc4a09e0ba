package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	"github.com/carrel-dev/carrel/store/memory"
	"github.com/carrel-dev/carrel/transcript"
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
	if l := (Limits{Body: -1}).WithDefaults(); l != want {
		t.Errorf("limits with defaults are %+v, want %+v", l, want)
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
	small := newReplays(9, 10)
	write(small, "a", 4)
	write(small, "b", 6)
	write(small, "c", 1)
	if got := known(small); got != "bc" || small.bytes != 7 {
		t.Errorf("behind one byte too many: %q with %d bytes", got, small.bytes)
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

// kept is a store of requests that finds the next of its answers, and says what it was asked to do.
type kept struct {
	store.Requests
	found []*store.Request
	fails []error
	did   string
}

func (k *kept) Request(context.Context, governance.Scope, governance.Actor, string) (*store.Request, error) {
	r, err := k.found[0], k.fails[0]
	k.found, k.fails = k.found[1:], k.fails[1:]
	return r, err
}

func (k *kept) SettleRequest(context.Context, *store.Request) error {
	k.did += "settled "
	return errors.New("busy")
}

func (k *kept) DropRequest(context.Context, *store.Request) error { k.did += "dropped "; return nil }

// A write is made if nobody has begun it, and its outcome is recorded if it is not too large.
func TestOutcomesAreRecorded(t *testing.T) {
	disk, none := errors.New("disk"), store.ErrNotFound
	own := &store.Request{Attempt: strings.Repeat("00", 16), Time: time.Unix(0, 0)}
	for _, tt := range []struct {
		name     string
		random   string
		found    []*store.Request // before the write and behind it
		fails    []error
		outcome  string // "" if there is none
		made     bool
		did      string
		refused  error
		unlogged bool
	}{
		{"no randomness", "short", nil, nil, "", false, "", io.ErrUnexpectedEOF, true},
		{"no answer before", "", []*store.Request{nil}, []error{disk}, "", false, "", disk, true},
		{"made", "", []*store.Request{nil}, []error{none}, "1234", true, "made settled ", nil, false},
		{"too large", "", []*store.Request{nil}, []error{none}, "12345", true, "made ", nil, true},
		{"no outcome", "", []*store.Request{nil}, []error{none}, "", true, "made ", nil, true},
		{"not made", "", []*store.Request{nil, nil}, []error{none, none}, "", false, "made ", nil, true},
		{"no answer behind", "", []*store.Request{nil, nil}, []error{none, disk}, "", false, "made ", nil, false},
		{"made in part", "", []*store.Request{nil, own}, []error{none, nil}, "", false, "made dropped ", nil, true},
		{"another was faster", "", []*store.Request{nil, {Time: own.Time}}, []error{none, nil}, "", false, "made ", store.ErrRepeated, true},
	} {
		var log strings.Builder
		var refused error
		k := &kept{found: tt.found, fails: tt.fails}
		d := &deed{
			do: func(context.Context) (*response, []byte, bool) {
				k.did += "made "
				if tt.outcome == "" {
					return &response{}, nil, tt.made
				}
				return &response{}, []byte(tt.outcome), tt.made
			},
			refuse: func(err error) *response { refused = err; return &response{} },
		}
		l := &ledger{k, func() time.Time { return own.Time }, strings.NewReader(cmp.Or(tt.random, strings.Repeat("\x00", 16))), slog.New(slog.NewTextHandler(&log, nil)), 4}
		_, outcome, made := l.over(writeKey{key: "k", scope: "s"}, digest.Digest{}, d).do(t.Context())
		if string(outcome) != tt.outcome || made != tt.made || k.did != tt.did || !errors.Is(refused, tt.refused) || (log.Len() == 0) != tt.unlogged {
			t.Errorf("%s: outcome %q, made %v; %s, refused %v, log %s", tt.name, outcome, made, k.did, refused, &log)
		}
	}
	if d := new(deed); (&ledger{Requests: new(kept)}).over(writeKey{key: "k"}, digest.Digest{}, d) != d {
		t.Error("a write without a scope is recorded")
	}
}

// However many sessions have changed since, a feed has the events of all.
func TestFeedsOfManySessions(t *testing.T) {
	e, err := carrel.New(memory.New(), nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := newScopeFeed(t.Context(), e, governance.DefaultScope, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	var last transcript.SessionID
	for i := range recent + 1 {
		in, err := e.Import(t.Context(), governance.DefaultScope, &carrel.ImportRequest{Name: "x.json", Data: []byte(fmt.Sprintf(`{"messages":[{"role":"user","content":"Job %d."}]}`, i))})
		if err != nil {
			t.Fatal(err)
		}
		last = in.Session
	}
	for _, want := range []int{recent + 1, 0} {
		if list, err := f.next(t.Context()); len(list) != want || err != nil {
			t.Errorf("%d events, %v, want %d", len(list), err, want)
		}
	}
	for since, ok := range map[string]bool{"": true, "0": true, "-1": false, "x": false} {
		if _, err := newSessionFeed(t.Context(), e, governance.DefaultScope, last, since); (err == nil) != ok {
			t.Errorf("a feed from %q on: %v", since, err)
		}
	}
	// The session may have been made anew since, with a contract that is shorter.
	r := &carrel.AmendContractResult{Session: last, Total: 9, Added: make([]string, 1)}
	if err := contractAgain(&again{e, t.Context(), governance.DefaultScope}, nil, r); err != nil || r.Added[0] != "" {
		t.Errorf("the end of a shorter contract: %q, %v", r.Added, err)
	}
}

// A client is told when to come again, and how to say who it is.
func TestHeadersOfProblems(t *testing.T) {
	for status, want := range map[int][2]string{503: {"1", ""}, 409: {"1", ""}, 429: {"1", ""}, 401: {"", `Bearer realm="carrel"`}, 404: {}, 500: {}} {
		res := problemResponse(&api.Problem{Status: status})
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
