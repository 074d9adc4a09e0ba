package rest

import (
	"bytes"
	"container/list"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/api"
	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/ops"
	"github.com/carrel-dev/carrel/store"
)

// remembered is how long a write is remembered by its idempotency key.
const remembered = store.RequestTime

// headerReplayed is the header of responses to a write that was made before.
const headerReplayed = "Idempotent-Replayed"

// A writeKey identifies a write: an idempotency key is unique for an actor and a scope.
type writeKey struct {
	key   string
	actor governance.Actor
	scope governance.Scope
}

// A keptWrite is the memory of a write that was made or is running. It has no content: only a digest
// of the request, and ids and figures of the result.
type keptWrite struct {
	writeKey writeKey
	asking   digest.Digest // digest of the request, see fingerprint
	done     chan struct{} // closed when the write is made or has failed
	made     bool          // the write is made
	outcome  []byte        // the result without content; nil if it is too large
	since    time.Time     // when it was made
	place    *list.Element // in replays.order, once made
}

// replays remembers the writes of this process by idempotency key, so that each is made once. It
// keeps no responses: it makes them again from the kept outcome and the store.
type replays struct {
	mu    sync.Mutex
	by    map[writeKey]*keptWrite
	order *list.List // made writes, the oldest first
	bytes int64

	maxCount int
	maxBytes int64
}

func newReplays(count int, bytes int64) *replays {
	return &replays{by: make(map[writeKey]*keptWrite), order: list.New(), maxCount: count, maxBytes: bytes}
}

// A deed is a write that is to be made once. The function do makes it, and reports whether it was
// made; outcome is its result without content.
type deed struct {
	do     func(ctx context.Context) (res *response, outcome []byte, made bool)
	again  func(outcome []byte) *response // makes the response again, from the outcome and the store
	refuse func(error) *response
}

// once does a write. If it was made already, once answers from its outcome; if another request
// with the same key is making it, once waits for that.
func (rs *replays) once(ctx context.Context, a writeKey, asking digest.Digest, now func() time.Time, d *deed) *response {
	for {
		k, mine := rs.claim(a, asking, now())
		switch {
		case mine:
			return rs.settle(ctx, k, d, now)
		case !k.asking.Equal(asking):
			return d.refuse(reusedKey())
		}
		select {
		case <-k.done:
		case <-ctx.Done():
			return d.refuse(ctx.Err())
		}
		if k.made {
			res := d.replay(k)
			res.set(headerReplayed, "true")
			return res
		}
	}
}

func reusedKey() *refusal {
	return &refusal{
		kind: reused, field: api.HeaderIdempotency, detail: "the key was used for another request", hint: "use a new key for a new request",
	}
}

// replay returns the response to a write that was made before.
func (d *deed) replay(k *keptWrite) *response {
	if k.outcome == nil {
		return d.refuse(&refusal{
			kind: api.Gone, detail: "the write was made, but its result was too large to keep", hint: "read the current state",
		})
	}
	return d.again(k.outcome)
}

// claim returns the entry of the write with the key a. If there is none, claim adds one and mine is
// true: the caller has to make the write.
func (rs *replays) claim(a writeKey, asking digest.Digest, now time.Time) (k *keptWrite, mine bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for e := rs.order.Front(); e != nil && now.Sub(e.Value.(*keptWrite).since) >= remembered; e = rs.order.Front() {
		rs.forget(e.Value.(*keptWrite))
	}
	if k := rs.by[a]; k != nil {
		return k, false
	}
	k = &keptWrite{writeKey: a, asking: asking, done: make(chan struct{})}
	rs.by[a] = k
	return k, true
}

// settle makes a write and remembers it. It does not remember a write that failed or panicked, so
// that a retry makes it. If a write consists of several transactions, those before the failure are
// made.
func (rs *replays) settle(ctx context.Context, k *keptWrite, d *deed, now func() time.Time) *response {
	var (
		res     *response
		outcome []byte
		made    bool
	)
	defer func() { // also after a panic
		rs.remember(k, outcome, made, now)
		close(k.done)
	}()
	res, outcome, made = d.do(ctx)
	return res
}

// remember adds the outcome of a write if it was made, and otherwise forgets that it was begun.
func (rs *replays) remember(k *keptWrite, outcome []byte, made bool, now func() time.Time) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if !made {
		delete(rs.by, k.writeKey)
		return
	}
	if int64(len(outcome)) > rs.maxBytes {
		outcome = nil
	}
	k.made, k.outcome, k.since = true, outcome, now()
	k.place = rs.order.PushBack(k)
	rs.bytes += int64(len(k.outcome))
	for rs.order.Len() > rs.maxCount || rs.bytes > rs.maxBytes {
		rs.forget(rs.order.Front().Value.(*keptWrite))
	}
}

// forget removes a remembered write.
func (rs *replays) forget(k *keptWrite) {
	rs.order.Remove(k.place)
	rs.bytes -= int64(len(k.outcome))
	delete(rs.by, k.writeKey)
}

// idempotencyKey returns the idempotency key of a write, or "".
func idempotencyKey(op *ops.Operation, h http.Header) (string, error) {
	given := h.Values(api.HeaderIdempotency)
	if len(given) == 0 || !op.Writes() {
		return "", nil
	}
	key := given[0]
	valid := len(given) == 1 && key != "" && len(key) <= 255
	for i := 0; valid && i < len(key); i++ {
		valid = key[i] > ' ' && key[i] < 0x7f
	}
	if !valid {
		return "", bad(api.HeaderIdempotency, "must be 1 to 255 visible ASCII characters, once")
	}
	return key, nil
}

// fingerprint returns the digest of the method, the URL and the body of a request.
func fingerprint(r *http.Request, body []byte) digest.Digest {
	var b bytes.Buffer
	for _, part := range []string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery} {
		b.WriteString(part)
		b.WriteByte(0)
	}
	content := digest.Of(body)
	b.Write(content[:])
	return digest.Of(b.Bytes())
}
