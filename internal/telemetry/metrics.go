// Package telemetry counts the work of a server, in the text format of Prometheus, and sends
// spans to a collector over OTLP.
//
// Both are small on purpose: the usual libraries for them are larger than all other code of a
// server. Metrics and spans contain no content. The values of labels come from closed sets. If
// a metric gets more combinations of them than it may have, it counts the others as "other".
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

// A Registry has the metrics of a process. The zero value is empty and ready for use. A
// Registry and its metrics are safe for concurrent use.
type Registry struct {
	mu      sync.Mutex
	metrics map[string]metric
}

// A metric writes its samples.
type metric interface {
	write(b *bytes.Buffer)
}

// maxSeries is the largest number of combinations of label values that a metric counts
// separately. Further combinations are counted together, with "other" as the value of
// every label.
const maxSeries = 1000

// add returns the metric with a name. If there is none, it adds the result of build. It panics
// if the name belongs to a metric of another type.
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

// A family has the name, the type and the help of a metric.
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

// sample writes one line: the name of the metric with suffix appended, the labels, and the
// value v. The labels are f.labels with the given values, and further pairs of a name and a
// value in the list more.
func (f *family) sample(b *bytes.Buffer, suffix string, values []string, v float64, more ...string) {
	b.WriteString(f.name + suffix)
	pairs := make([]string, 0, len(values)+1)
	for i, value := range values {
		pairs = append(pairs, pair(f.labels[i], value))
	}
	for i := 0; i < len(more); i += 2 {
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

// A table has one value for each combination of label values.
type table[V any] struct {
	mu   sync.Mutex
	rows map[string]*row[V]
}

type row[V any] struct {
	values []string
	value  V
}

// at returns a pointer to the value for a combination of label values, and adds the
// combination if it is new. labels is the number of labels of the metric. The caller holds
// the lock of the table.
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

// sorted returns the rows by their label values. The caller holds the lock of the table.
func (t *table[V]) sorted() []*row[V] {
	return slices.SortedFunc(maps.Values(t.rows), func(a, b *row[V]) int { return slices.Compare(a.values, b.values) })
}

// A Counter is a sum that only grows.
type Counter struct {
	family
	table[float64]
}

// Counter returns the counter with a name. A counter without labels is written as 0 before its
// first value.
func (r *Registry) Counter(name, help string, labels ...string) *Counter {
	c := add(r, name, func() *Counter { return &Counter{family: family{name, help, "counter", labels}} })
	if len(c.labels) == 0 {
		c.Add(0)
	}
	return c
}

// Add adds n to the counter with these label values. It ignores an n below 0.
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

// A Histogram counts values in buckets.
type Histogram struct {
	family
	table[spread]
	bounds []float64
}

type spread struct {
	counts []uint64 // number of values up to each bound, and above the last
	sum    float64
}

// Histogram returns the histogram with a name. bounds are the upper ends of its buckets.
func (r *Registry) Histogram(name, help string, bounds []float64, labels ...string) *Histogram {
	return add(r, name, func() *Histogram {
		return &Histogram{family: family{name, help, "histogram", labels}, bounds: slices.Sorted(slices.Values(bounds))}
	})
}

// Observe counts a value in the histogram with these label values.
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

// A gauge is a figure that the function read returns each time the metrics are
// written.
type gauge struct {
	family
	read func() float64
}

// Gauge adds a figure that may rise and fall. Each time the metrics are written, it calls the
// function read to get the figure.
func (r *Registry) Gauge(name, help string, read func() float64) {
	add(r, name, func() *gauge { return &gauge{family{name, help, "gauge", nil}, read} })
}

func (g *gauge) write(b *bytes.Buffer) {
	g.head(b)
	g.sample(b, "", nil, g.read())
}
