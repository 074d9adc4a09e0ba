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

// remembered is how long it is known that a write was made for an idempotency key.
const remembered = store.RequestTime

// headerReplayed says that a response is to a write that was made before.
const headerReplayed = "Idempotent-Replayed"

// An asked is what an idempotency key is unique among.
type asked struct {
	key   string
	actor governance.Actor
	scope governance.Scope
}

// A kept is what is known of a write that was made, or is going on. It has no content:
// what was asked for is there as a digest, and what came of it as ids and figures.
type kept struct {
	asked   asked
	asking  digest.Digest
	done    chan struct{} // closed when the write is made or refused
	made    bool          // and not refused
	outcome []byte        // from which an answer is made again; nil if it is too large
	since   time.Time
	place   *list.Element // once it is made
}

// replays knows which writes were made for which keys, so that each is made once. It
// keeps no responses: those are made again from what the store has.
type replays struct {
	mu    sync.Mutex
	by    map[asked]*kept
	order *list.List // of those that are made, oldest first
	bytes int64

	maxCount int
	maxBytes int64
}

func newReplays(count int, bytes int64) *replays {
	return &replays{by: make(map[asked]*kept), order: list.New(), maxCount: count, maxBytes: bytes}
}

// A deed is a write that is made once.
type deed struct {
	do     func(ctx context.Context) (res *response, outcome []byte, made bool)
	again  func(outcome []byte) *response // answers from what the store has
	refuse func(error) *response
}

// once does a write, unless it was made already, or somebody else is at it: then it
// waits for them, and answers from the outcome.
func (rs *replays) once(ctx context.Context, a asked, asking digest.Digest, now func() time.Time, d *deed) *response {
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

// replay answers what was made before.
func (d *deed) replay(k *kept) *response {
	if k.outcome == nil {
		return d.refuse(&refusal{
			kind: api.Gone, detail: "the write was made, and what it returned was too much to keep", hint: "read what is there now",
		})
	}
	return d.again(k.outcome)
}

// claim returns what is known of a key. If that is nothing, the caller is to do it.
func (rs *replays) claim(a asked, asking digest.Digest, now time.Time) (k *kept, mine bool) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for e := rs.order.Front(); e != nil && now.Sub(e.Value.(*kept).since) >= remembered; e = rs.order.Front() {
		rs.forget(e.Value.(*kept))
	}
	if k := rs.by[a]; k != nil {
		return k, false
	}
	k = &kept{asked: a, asking: asking, done: make(chan struct{})}
	rs.by[a] = k
	return k, true
}

// settle does a write and remembers that it was made. What was refused has written
// nothing, so that a second attempt is made.
func (rs *replays) settle(ctx context.Context, k *kept, d *deed, now func() time.Time) *response {
	defer close(k.done)
	res, outcome, made := d.do(ctx)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if !made {
		delete(rs.by, k.asked)
		return res
	}
	if int64(len(outcome)) > rs.maxBytes {
		outcome = nil
	}
	k.made, k.outcome, k.since = true, outcome, now()
	k.place = rs.order.PushBack(k)
	rs.bytes += int64(len(k.outcome))
	for rs.order.Len() > rs.maxCount || rs.bytes > rs.maxBytes {
		rs.forget(rs.order.Front().Value.(*kept))
	}
	return res
}

// forget drops what is known of a key.
func (rs *replays) forget(k *kept) {
	rs.order.Remove(k.place)
	rs.bytes -= int64(len(k.outcome))
	delete(rs.by, k.asked)
}

// idempotencyKey returns the key of a write, or nothing.
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
		return "", bad(api.HeaderIdempotency, "is 1 to 255 visible characters")
	}
	return key, nil
}

// fingerprint returns what tells a request from others.
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
