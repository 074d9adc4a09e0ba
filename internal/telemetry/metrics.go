// Package telemetry counts what a server does, in the text format of Prometheus, and
// sends spans to a collector that speaks OTLP.
//
// Both are small on purpose: the usual libraries for them weigh more than everything
// else that a server of Carrel is made of. Neither is given any content, and label
// values come from closed sets; a metric that is given more of them than it may have
// counts the rest as "other".
package telemetry

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Registry has the metrics of a process. The zero value is empty and ready. It is
// safe for concurrent use, and so are its metrics.
type Registry struct {
	mu      sync.Mutex
	metrics map[string]metric
}

// A metric writes its samples.
type metric interface {
	write(b *bytes.Buffer)
}

// maxSeries is how many combinations of label values a metric has at most.
const maxSeries = 1000

// add returns the metric of a name, which it makes if there is none. One name is one
// kind of metric: it panics at another.
func add[M metric](r *Registry, name string, build func() M) M {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, ok := r.metrics[name]; ok {
		return m.(M)
	}
	if r.metrics == nil {
		r.metrics = make(map[string]metric)
	}
	m := build()
	r.metrics[name] = m
	return m
}

// WriteTo writes all metrics in the text format, ordered by name and labels.
func (r *Registry) WriteTo(w io.Writer) (int64, error) {
	r.mu.Lock()
	all := maps.Clone(r.metrics)
	r.mu.Unlock()
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		all[name].write(&b)
	}
	return b.WriteTo(w)
}

// A family is what the samples of a metric have in common.
type family struct {
	name, help, kind string
	labels           []string
}

// inHelp and inValue escape the help of a family and the value of a label.
var (
	inHelp  = strings.NewReplacer("\\", `\\`, "\n", `\n`)
	inValue = strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`)
)

func (f *family) head(b *bytes.Buffer) {
	b.WriteString("# HELP " + f.name + " " + inHelp.Replace(f.help) + "\n")
	b.WriteString("# TYPE " + f.name + " " + f.kind + "\n")
}

// sample writes one line. More are label names and values in turn.
func (f *family) sample(b *bytes.Buffer, suffix string, values []string, v float64, more ...string) {
	b.WriteString(f.name + suffix)
	pairs := make([]string, 0, len(values)+1)
	for i, value := range values {
		pairs = append(pairs, pair(f.labels[i], value))
	}
	for i := 0; i+1 < len(more); i += 2 {
		pairs = append(pairs, pair(more[i], more[i+1]))
	}
	if len(pairs) > 0 {
		b.WriteString("{" + strings.Join(pairs, ",") + "}")
	}
	b.WriteString(" " + number(v) + "\n")
}

func pair(name, value string) string {
	return name + `="` + inValue.Replace(value) + `"`
}

func number(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// A table has a value for each combination of label values.
type table[V any] struct {
	mu   sync.Mutex
	rows map[string]*row[V]
}

type row[V any] struct {
	values []string
	value  V
}

// at returns the value of a combination, with the table locked.
func (t *table[V]) at(labels int, values []string) *V {
	if len(values) != labels {
		panic("telemetry: a metric has as many values as labels")
	}
	key := strings.Join(values, "\x00")
	if r, ok := t.rows[key]; ok {
		return &r.value
	}
	if t.rows == nil {
		t.rows = make(map[string]*row[V])
	}
	if len(t.rows) >= maxSeries {
		values = slices.Repeat([]string{"other"}, labels)
		if key = strings.Join(values, "\x00"); t.rows[key] != nil {
			return &t.rows[key].value
		}
	}
	r := &row[V]{values: slices.Clone(values)}
	t.rows[key] = r
	return &r.value
}

// sorted returns the rows by their values, with the table locked.
func (t *table[V]) sorted() []*row[V] {
	return slices.SortedFunc(maps.Values(t.rows), func(a, b *row[V]) int { return slices.Compare(a.values, b.values) })
}

// A Counter is a sum that only grows.
type Counter struct {
	family
	table[float64]
}

// Counter returns the counter of a name. One without labels is written from the
// beginning, as 0.
func (r *Registry) Counter(name, help string, labels ...string) *Counter {
	c := add(r, name, func() *Counter { return &Counter{family: family{name, help, "counter", labels}} })
	if len(c.labels) == 0 {
		c.Add(0)
	}
	return c
}

// Add adds to the counter that has these label values. What is below 0 is not added.
func (c *Counter) Add(n float64, values ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	*c.at(len(c.labels), values) += max(n, 0)
}

func (c *Counter) write(b *bytes.Buffer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.head(b)
	for _, r := range c.sorted() {
		c.sample(b, "", r.values, r.value)
	}
}

// A Histogram says how values are spread over buckets.
type Histogram struct {
	family
	table[spread]
	bounds []float64
}

type spread struct {
	counts []uint64 // of values up to each bound, and beyond the last
	sum    float64
}

// Histogram returns the histogram of a name. Bounds are the upper ends of its buckets.
func (r *Registry) Histogram(name, help string, bounds []float64, labels ...string) *Histogram {
	return add(r, name, func() *Histogram {
		return &Histogram{family: family{name, help, "histogram", labels}, bounds: slices.Sorted(slices.Values(bounds))}
	})
}

// Observe counts a value in the histogram that has these label values.
func (h *Histogram) Observe(v float64, values ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.at(len(h.labels), values)
	if s.counts == nil {
		s.counts = make([]uint64, len(h.bounds)+1)
	}
	at, _ := slices.BinarySearchFunc(h.bounds, v, func(bound, v float64) int { return cmp.Compare(bound, v) })
	s.counts[at]++
	s.sum += v
}

func (h *Histogram) write(b *bytes.Buffer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.head(b)
	for _, r := range h.sorted() {
		var below uint64
		for i, n := range r.value.counts {
			below += n
			bound := math.Inf(1)
			if i < len(h.bounds) {
				bound = h.bounds[i]
			}
			h.sample(b, "_bucket", r.values, float64(below), "le", number(bound))
		}
		h.sample(b, "_sum", r.values, r.value.sum)
		h.sample(b, "_count", r.values, float64(below))
	}
}

// A gauge is read when it is asked for.
type gauge struct {
	family
	read func() float64
}

// Gauge adds a figure that goes up and down and is read when metrics are written.
func (r *Registry) Gauge(name, help string, read func() float64) {
	add(r, name, func() *gauge { return &gauge{family{name, help, "gauge", nil}, read} })
}

func (g *gauge) write(b *bytes.Buffer) {
	g.head(b)
	g.sample(b, "", nil, g.read())
}
