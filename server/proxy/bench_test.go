package proxy

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel/internal/epoch"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
)

// BenchmarkOverhead sends the same call to a provider and through the proxy, in
// alternation, and reports by how much the proxy's median and 99th percentile are above.
// The record is in memory: a store adds two commits.
func BenchmarkOverhead(b *testing.B) {
	for _, size := range []int{42_000, 1_000_000} {
		b.Run(fmt.Sprintf("%d kB", size/1000), func(b *testing.B) {
			message := `{"role":"user","content":"` + strings.Repeat("word ", 350) + `"}`
			body := `{"model":"m","messages":[` + strings.Repeat(message+",", size/len(message)) + message + `]}`
			compare(b, streams(claudeReply+claudeStop), body, 1)
		})
	}
}

// BenchmarkEvents does the same with an answer of 2,000 events, each flushed, and reports
// what the proxy adds to one.
func BenchmarkEvents(b *testing.B) {
	const events = 2000
	event := "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a few words that a model says\"}}\n\n"
	parts := append(slices.Repeat([]string{event}, events), claudeStop)
	compare(b, streams(parts...), claudeBody, events)
}

// BenchmarkAccount makes the account of a request of about 200,000 tokens, of which all but
// two messages were sent before.
func BenchmarkAccount(b *testing.B) {
	message := `{"role":"user","content":"` + strings.Repeat("word ", 350) + `"}`
	body := []byte(`{"model":"m","messages":[` + strings.Repeat(message+",", 400) + message + `]}`)
	doc, q := new(rawjson.Document), new(wire.Request)
	if err := doc.Read(body); err != nil {
		b.Fatal(err)
	}
	if err := q.Read(wire.Anthropic, wire.KindCall, nil, doc); err != nil {
		b.Fatal(err)
	}
	plan := epoch.NewBook(wire.Anthropic).Plan(q)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if a := accountOf(plan.Parts(q), body, lastSent{"call_0123456789abcdef", q.Messages[398].Chain}); len(a.Segments) != 5 {
			b.Fatalf("%+v", a)
		}
	}
}

// compare asks a provider and a proxy before it in turn, and reports the difference for
// each of so many parts.
func compare(b *testing.B, provider http.HandlerFunc, body string, parts int) {
	b.Helper()
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		provider(w, r)
	}))
	defer up.Close()
	p, err := New(&Options{Upstreams: Upstreams{up.URL, up.URL}, Recorder: &book{}})
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close(context.Background())
	down := httptest.NewServer(p)
	defer down.Close()
	ask := asks(b)
	var direct, through []time.Duration
	for b.Loop() {
		direct, through = append(direct, ask(up.URL, body)), append(through, ask(down.URL, body))
	}
	slices.Sort(direct)
	slices.Sort(through)
	above := func(share float64) float64 {
		at := int(share * float64(len(direct)-1))
		return float64(through[at]-direct[at]) / float64(time.Microsecond) / float64(parts)
	}
	b.ReportMetric(float64(direct[len(direct)/2])/float64(time.Microsecond), "µs-direct-p50")
	b.ReportMetric(above(0.5), "µs-above-p50")
	b.ReportMetric(above(0.99), "µs-above-p99")
}

// asks returns what sends a body to a server, and says how long the whole answer took.
func asks(b *testing.B) func(url, body string) time.Duration {
	client := &http.Client{Transport: &http.Transport{}}
	return func(url, body string) time.Duration {
		began := time.Now()
		resp, err := client.Post(url+"/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if e := resp.Body.Close(); err != nil || e != nil {
			b.Fatal(err, e)
		}
		return time.Since(began)
	}
}
