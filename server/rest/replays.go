package rest

import (
	"bytes"
	"container/list"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/carrel-dev/carrel/digest"
	"github.com/carrel-dev/carrel/governance"
	"github.com/carrel-dev/carrel/internal/api"
)

// remembered is how long a response is kept for its idempotency key.
const remembered = 24 * time.Hour

// headerReplayed says that a response is the one of an earlier request.
const headerReplayed = "Idempotent-Replayed"

// An asked is what an idempotency key is unique among.
type asked struct {
	key   string
	actor governance.Actor
	scope governance.Scope
}

// A kept is the response to a write, or the write that is still going on.
type kept struct {
	asked  asked
	asking digest.Digest
	done   chan struct{} // closed when res is there
	res    *response     // nil if it is not kept
	since  time.Time
	place  *list.Element // once it is done
}

// replays keeps responses to writes, so that each is made once.
type replays struct {
	mu    sync.Mutex
	by    map[asked]*kept
	order *list.List // of those that are done, oldest first
	bytes int64

	maxCount int
	maxBytes int64
}

func newReplays(count int, bytes int64) *replays {
	return &replays{by: make(map[asked]*kept), order: list.New(), maxCount: count, maxBytes: bytes}
}

// once does a write, unless it was done already, or somebody else is at it: then it
// waits for them. Refuse makes a response of an error.
func (rs *replays) once(
	ctx context.Context, a asked, asking digest.Digest, now func() time.Time, do func() *response, refuse func(error) *response,
) *response {
	for {
		k, mine := rs.claim(a, asking, now())
		switch {
		case mine:
			return rs.settle(k, do, now)
		case !k.asking.Equal(asking):
			return refuse(&refusal{
				kind: reused, field: api.HeaderIdempotency, detail: "the key was used for another request", hint: "use a new key for a new request",
			})
		}
		select {
		case <-k.done:
		case <-ctx.Done():
			return refuse(ctx.Err())
		}
		if k.res != nil {
			again := *k.res
			again.header = nil
			for name, value := range k.res.header {
				again.set(name, value)
			}
			again.set(headerReplayed, "true")
			return &again
		}
	}
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

// settle does a write and keeps what came of it, if a second attempt would come to
// the same.
func (rs *replays) settle(k *kept, do func() *response, now func() time.Time) *response {
	defer close(k.done)
	res := do()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	size := int64(len(res.body))
	if res.status >= http.StatusInternalServerError || res.status == http.StatusConflict || size > rs.maxBytes {
		delete(rs.by, k.asked)
		return res
	}
	k.res, k.since = res, now()
	k.place = rs.order.PushBack(k)
	rs.bytes += size
	for rs.order.Len() > rs.maxCount || rs.bytes > rs.maxBytes {
		rs.forget(rs.order.Front().Value.(*kept))
	}
	return res
}

// forget drops a response that is kept.
func (rs *replays) forget(k *kept) {
	rs.order.Remove(k.place)
	rs.bytes -= int64(len(k.res.body))
	delete(rs.by, k.asked)
}

// idempotencyKey returns the key of a write, or nothing.
func idempotencyKey(op *api.Operation, h http.Header) (string, error) {
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
