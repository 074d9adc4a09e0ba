package proxy

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/carrel-dev/carrel/internal/telemetry"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/token"
)

// Traffic has the counts of a [Proxy] since its start. All but Passed are about calls to models.
// Median and Slow are in nanoseconds in JSON.
type Traffic struct {
	Calls     int64         `json:"calls"`     // calls that have ended
	Failed    int64         `json:"failed"`    // of these, calls that failed or were cut
	Managed   int64         `json:"managed"`   // of Calls, those with a body of the Manager
	Gaps      int64         `json:"gaps"`      // intents and outcomes that were not recorded
	Passed    int64         `json:"passed"`    // requests that are no calls
	BytesIn   int64         `json:"bytes_in"`  // bodies of the clients' requests
	BytesOut  int64         `json:"bytes_out"` // bodies of the providers' answers
	Used      int64         `json:"used"`      // calls for which the provider reported the usage
	Prompt    token.Count   `json:"prompt"`    // tokens of the prompts of those calls
	Cached    token.Count   `json:"cached"`    // of these, read from the provider's cache
	Output    token.Count   `json:"output"`    // tokens of the answers to those calls
	Kept      int64         `json:"kept"`      // imports of conversations
	Unkept    int64         `json:"unkept"`    // imports that failed or were dropped
	Median    time.Duration `json:"median"`    // of the time that the proxy itself took for a call
	Slow      time.Duration `json:"slow"`      // of that time, the 99th percentile
	Running   int64         `json:"running"`   // calls at this moment
	Sessions  int           `json:"sessions"`  // sessions of imported conversations in memory
	Unguessed int64         `json:"unguessed"` // unmanaged calls that ended without an estimate of what managing would have sent
}

// stats has the counters of a proxy.
type stats struct {
	calls, failed, managed, gaps, passed, bytesIn, bytesOut, used, prompt, cached, output, kept, unkept, running atomic.Int64

	overhead histogram
}

// Traffic returns the counts.
func (p *Proxy) Traffic() Traffic {
	s := &p.stats
	return Traffic{
		Calls: s.calls.Load(), Failed: s.failed.Load(), Managed: s.managed.Load(), Gaps: s.gaps.Load(), Passed: s.passed.Load(),
		BytesIn: s.bytesIn.Load(), BytesOut: s.bytesOut.Load(), Used: s.used.Load(),
		Prompt: token.Count(s.prompt.Load()), Cached: token.Count(s.cached.Load()), Output: token.Count(s.output.Load()),
		Kept: s.kept.Load(), Unkept: s.unkept.Load(), Running: s.running.Load(),
		Median: s.overhead.quantile(0.5), Slow: s.overhead.quantile(0.99), Sessions: p.keeper.sessions(),
		Unguessed: p.opts.Would.missing(),
	}
}

// count counts a call that has ended.
func (p *Proxy) count(c *call, out *outcome) {
	s, u := &p.stats, &out.answer.Usage
	s.calls.Add(1)
	if out.state != store.CallDone {
		s.failed.Add(1)
	}
	if c.intent.Managed {
		s.managed.Add(1)
	}
	s.bytesIn.Add(int64(c.intent.Bytes))
	s.bytesOut.Add(out.bytes)
	if out.answer.Used {
		s.used.Add(1)
		s.prompt.Add(int64(u.Prompt()))
		s.cached.Add(int64(u.CacheRead))
		s.output.Add(int64(u.Output))
	}
	p.measure(c.dialect, out)
}

// measure adds a call to the metrics.
func (p *Proxy) measure(d wire.Dialect, out *outcome) {
	if p.metrics == nil {
		return
	}
	m, u := p.metrics, &out.answer.Usage
	m.calls.Add(1, string(d), string(out.state))
	for kind, n := range map[string]token.Count{"none": u.Input, "read": u.CacheRead, "write": u.CacheWrite5m + u.CacheWrite1h} {
		m.cache.Add(float64(n), kind)
	}
	m.output.Add(float64(u.Output))
}

// A meter has the metrics of a proxy.
type meter struct {
	calls, cache, output *telemetry.Counter
	overhead             *telemetry.Histogram
}

func newMeter(r *telemetry.Registry) *meter {
	return &meter{
		calls:    r.Counter("carrel_calls_total", "Calls to models by dialect and how they ended.", "dialect", "outcome"),
		cache:    r.Counter("carrel_cache_tokens_total", "Tokens of prompts by what the provider's cache did with them.", "kind"),
		output:   r.Counter("carrel_output_tokens_total", "Tokens that models wrote."),
		overhead: r.Histogram("carrel_proxy_overhead_seconds", "Time that the proxy itself took for a call.", []float64{.0005, .001, .002, .005, .01, .025, .05, .1, .5, 2}),
	}
}

// addOverhead adds the time that the proxy itself took for a call to the statistics.
func (p *Proxy) addOverhead(d time.Duration) {
	p.stats.overhead.add(d)
	if p.metrics != nil {
		p.metrics.overhead.Observe(d.Seconds())
	}
}

// A histogram counts durations in buckets from 10 µs to about an hour. The bound of each bucket
// is a tenth above that of the one before.
type histogram struct {
	mu     sync.Mutex
	counts [210]int64
	all    int64
}

const (
	spreadLeast = 10 * time.Microsecond
	spreadStep  = 1.1
)

func (s *histogram) add(d time.Duration) {
	at := 0
	if d > spreadLeast {
		at = min(len(s.counts)-1, int(math.Ceil(math.Log(float64(d)/float64(spreadLeast))/math.Log(spreadStep))))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[at]++
	s.all++
}

// quantile returns the smallest bound that the given share of the durations does not exceed.
func (s *histogram) quantile(share float64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var seen int64
	for i, n := range s.counts {
		if seen += n; n > 0 && float64(seen) >= share*float64(s.all) {
			return time.Duration(float64(spreadLeast) * math.Pow(spreadStep, float64(i)))
		}
	}
	return 0
}
