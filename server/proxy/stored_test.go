package proxy

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/carrel-dev/carrel"
	"github.com/carrel-dev/carrel/internal/rawjson"
	"github.com/carrel-dev/carrel/internal/wire"
	"github.com/carrel-dev/carrel/store"
	"github.com/carrel-dev/carrel/store/sqlite"
)

// BenchmarkStored sends calls to a provider and through a proxy with a store on the disk, in
// alternation, and between them waits for the disk once, as a commit does. It reports by how
// much the proxy's median and 99th percentile are above, and what the disk took. A call
// waits for two commits: its intent and its outcome.
func BenchmarkStored(b *testing.B) {
	message := `{"role":"user","content":"` + strings.Repeat("word ", 350) + `"}`
	for _, size := range []int{42_000, 1_000_000} {
		b.Run(fmt.Sprintf("observe/%d kB", size/1000), func(b *testing.B) {
			body := `{"model":"` + bound + `","messages":[` + strings.Repeat(message+",", size/len(message)) + message + `]}`
			stored(b, func(o *Options, e *carrel.Engine) {
				o.Would = NewEstimator(&EpochOptions{Engine: e, Window: 1_000_000})
			}, func(int) string { return body })
		})
	}
	b.Run("manage/200k tokens", func(b *testing.B) {
		stored(b, func(o *Options, e *carrel.Engine) {
			m := NewEpochs(&EpochOptions{Engine: e, Window: 1_000_000})
			o.Manager, o.Importer, o.Prepare = m, m, m.Bound()
		}, longHistory())
	})
}

// longHistory returns requests of some 200,000 tokens, each with two messages more than the
// one before, and with a result in front that is replaced each time.
func longHistory() func(n int) string {
	var b strings.Builder
	b.WriteString(`{"role":"user","content":"Make all parts."}`)
	turn := func(n int, result string) {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_%d","name":"Bash","input":{"command":"make part%d"}}]}`, n, n)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":%s}]}`, n, rawjson.AppendString(nil, result))
	}
	lines := func(n, count int) string {
		var l strings.Builder
		for i := range count {
			fmt.Fprintf(&l, "part%d/file%d.go:%d: compiled in %d ms\n", n, i, 10+i, i*7%31)
		}
		return l.String()
	}
	turn(0, lines(0, 1000)) // some 40 kB
	n := 1
	request := func() string {
		return `{"model":"` + bound + `","max_tokens":1000,"stream":true,"tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":[` + b.String() + `]}`
	}
	began := false
	return func(int) string {
		if !began { // the large result is new in the first call
			began = true
			return request()
		}
		for ; b.Len() < 800_000; n++ {
			turn(n, lines(n, 80))
		}
		turn(n, "ok")
		n++
		return request()
	}
}

// stored asks a provider and a proxy before it in turn, and reports the difference.
func stored(b *testing.B, set func(*Options, *carrel.Engine), body func(n int) string) {
	dir := b.TempDir()
	db, err := sqlite.Open(b.Context(), filepath.Join(dir, "carrel.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	e, err := carrel.New(db, nil)
	if err != nil {
		b.Fatal(err)
	}
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		streams(claudeReply+claudeStop)(w, r)
	}))
	defer up.Close()
	o := &Options{Upstreams: Upstreams{up.URL, up.URL}, Recorder: e, Wait: time.Minute}
	set(o, e)
	o.Importer = nil // it is in the background, and would share the disk and the processors
	p, err := New(o)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close(b.Context())
	down := httptest.NewServer(p)
	defer down.Close()
	disk, err := os.Create(filepath.Join(dir, "disk"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = disk.Close() }()
	ask := asks(b)
	for n := range 2 { // what is counted and shortened once
		ask(down.URL, body(n))
	}
	var direct, through, synced []time.Duration
	for n := 2; b.Loop(); n++ {
		text := body(n)
		direct, through = append(direct, ask(up.URL, text)), append(through, ask(down.URL, text))
		began := time.Now()
		if _, err := disk.Write(make([]byte, 4096)); err != nil {
			b.Fatal(err)
		}
		if err := disk.Sync(); err != nil {
			b.Fatal(err)
		}
		synced = append(synced, time.Since(began))
	}
	for _, list := range [][]time.Duration{direct, through, synced} {
		slices.Sort(list)
	}
	at := func(list []time.Duration, share float64) float64 {
		return float64(list[int(share*float64(len(list)-1))]) / float64(time.Millisecond)
	}
	for name, share := range map[string]float64{"p50": .5, "p99": .99} {
		b.ReportMetric(at(through, share)-at(direct, share), "ms-above-"+name)
		b.ReportMetric(at(synced, share), "ms-fsync-"+name)
	}
}

// BenchmarkIdle reports how much memory a conversation takes that does nothing, of 200
// messages, one of which is replaced by a pointer: in the manager, and in what estimates what
// managing would do.
func BenchmarkIdle(b *testing.B) {
	const sessions = 200
	conversation := func(n int) string {
		text := longHistory()(0)
		at := strings.LastIndex(text, "]}")
		var more strings.Builder
		for i := range 99 {
			fmt.Fprintf(&more, `,{"role":"assistant","content":"step %d of %d"},{"role":"user","content":"go on with %d"}`, i, n, i)
		}
		return strings.Replace(text[:at], "Make all parts.", fmt.Sprintf("Make all parts of %d.", n), 1) + more.String() + text[at:]
	}
	heap := func() float64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	for b.Loop() {
		e, err := carrel.New(newStore(b), nil)
		if err != nil {
			b.Fatal(err)
		}
		o := &EpochOptions{Engine: e, Window: 1_000_000, Limit: time.Minute}
		m, would := NewEpochs(o), NewEstimator(o)
		read := func(body string) *wire.Request {
			doc, q := new(rawjson.Document), new(wire.Request)
			if err := doc.Read([]byte(body)); err != nil {
				b.Fatal(err)
			}
			if err := q.Read(wire.Anthropic, wire.KindCall, nil, doc); err != nil {
				b.Fatal(err)
			}
			return q
		}
		empty := heap()
		for n := range sessions {
			first := longHistory()(0)
			first = strings.Replace(first, "Make all parts.", fmt.Sprintf("Make all parts of %d.", n), 1)
			for _, body := range []string{first, conversation(n)} {
				q := read(body)
				p, err := m.Prepare(b.Context(), q)
				if err != nil {
					b.Fatal(err)
				}
				m.Done(q, p, nil)
				if _, err := m.Whole(q); err != nil { // as its import does
					b.Fatal(err)
				}
			}
		}
		managed := heap()
		for n := range sessions {
			q := read(conversation(n))
			would.do(&task{estimate: &estimate{keptRequest: keptRequest{parts: (&parts{doc: *q.Doc, req: *q}).hold(), body: new(payload)}, key: q.Thread()}})
		}
		estimated := heap()
		b.ReportMetric((managed-empty)/sessions, "B/managed")
		b.ReportMetric((estimated-managed)/sessions, "B/estimated")
		runtime.KeepAlive(m)
		runtime.KeepAlive(would)
	}
}

// newStore returns a store on the disk.
func newStore(b *testing.B) store.Store {
	b.Helper()
	db, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "carrel.db"), nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}
