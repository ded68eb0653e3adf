// Package metric holds the metrics of a simulated program, under the real program's names and
// labels.
package metric

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Registry holds the metrics of one program. Its zero value is empty and ready.
type Registry struct {
	samples    map[string]*sample
	histograms map[string]*histogram
	collectors []Collector
	line       []byte // a buffer for building identities
}

// Collector returns gauges that are read when metrics are requested.
type Collector func(set func(name string, value float64, labels ...string))

// Collect adds a collector.
func (r *Registry) Collect(c Collector) { r.collectors = append(r.collectors, c) }

// series identifies a value. labels alternates names and values.
type series struct {
	name   string
	labels []string
}

// sample is the value of a counter or a gauge.
type sample struct {
	series
	value   float64
	counter bool
}

// histogram counts durations by upper bounds, in seconds.
type histogram struct {
	series
	bounds []float64
	counts []uint64 // one more than bounds; the last one is for longer values
	sum    float64
}

// Add raises a counter. labels alternates names and values.
func (r *Registry) Add(name string, delta float64, labels ...string) {
	r.sampleOf(name, labels, true).value += delta
}

// Set sets the value of a gauge.
func (r *Registry) Set(name string, value float64, labels ...string) {
	r.sampleOf(name, labels, false).value = value
}

func (r *Registry) sampleOf(name string, labels []string, counter bool) *sample {
	if r.samples == nil {
		r.samples = map[string]*sample{}
	}
	r.line = appendIdentity(r.line[:0], name, labels)
	s := r.samples[string(r.line)]
	if s == nil {
		s = &sample{series: series{name, slices.Clone(labels)}, counter: counter}
		r.samples[string(r.line)] = s
	}
	return s
}

// Forget drops a gauge.
func (r *Registry) Forget(name string, labels ...string) { delete(r.samples, r.identity(name, labels)) }

// Value returns the value of a counter or gauge, or the number of observations of a histogram; 0
// for an unknown metric.
func (r *Registry) Value(name string, labels ...string) float64 {
	r.line = appendIdentity(r.line[:0], name, labels)
	if h := r.histograms[string(r.line)]; h != nil {
		return float64(h.count())
	}
	if s := r.samples[string(r.line)]; s != nil {
		return s.value
	}
	return 0
}

// Observe adds a duration to a histogram, which has these bounds in seconds.
func (r *Registry) Observe(name string, bounds []float64, d time.Duration, labels ...string) {
	if r.histograms == nil {
		r.histograms = map[string]*histogram{}
	}
	r.line = appendIdentity(r.line[:0], name, labels)
	h := r.histograms[string(r.line)]
	if h == nil {
		h = &histogram{series: series{name, slices.Clone(labels)}, bounds: bounds, counts: make([]uint64, len(bounds)+1)}
		r.histograms[string(r.line)] = h
	}
	i, _ := slices.BinarySearch(h.bounds, d.Seconds())
	h.counts[i]++
	h.sum += d.Seconds()
}

func (h *histogram) count() (n uint64) {
	for _, c := range h.counts {
		n += c
	}
	return n
}

// Lines returns all metrics in the format of the program's metrics endpoint, sorted.
func (r *Registry) Lines() []string {
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(r.samples)) {
		lines = append(lines, id+" "+number(r.samples[id].value))
	}
	for _, id := range slices.Sorted(maps.Keys(r.histograms)) {
		lines = append(lines, r.histograms[id].lines(id)...)
	}
	for _, collect := range r.collectors {
		collect(func(name string, value float64, labels ...string) {
			lines = append(lines, r.identity(name, labels)+" "+number(value))
		})
	}
	slices.Sort(lines)
	return lines
}

func (h *histogram) lines(id string) []string {
	name, labels, _ := strings.Cut(strings.TrimSuffix(id, "}"), "{")
	all := func(suffix, extra string) string {
		inside := strings.Trim(labels+","+extra, ",")
		if inside == "" {
			return name + suffix
		}
		return name + suffix + "{" + inside + "}"
	}
	var lines []string
	total := uint64(0)
	for i, bound := range h.bounds {
		total += h.counts[i]
		lines = append(lines, fmt.Sprintf("%s %d", all("_bucket", fmt.Sprintf("le=%q", number(bound))), total))
	}
	return append(lines,
		fmt.Sprintf("%s %d", all("_bucket", `le="+Inf"`), h.count()),
		fmt.Sprintf("%s %d", all("_count", ""), h.count()),
		all("_sum", "")+" "+number(h.sum))
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// identity returns the text that identifies the metric in its line: name{a="1",b="2"}.
func (r *Registry) identity(name string, labels []string) string {
	r.line = appendIdentity(r.line[:0], name, labels)
	return string(r.line)
}

func appendIdentity(to []byte, name string, labels []string) []byte {
	to = append(to, name...)
	if len(labels) == 0 {
		return to
	}
	for i := 0; i+1 < len(labels); i += 2 {
		if i == 0 {
			to = append(to, '{')
		} else {
			to = append(to, ',')
		}
		to = append(append(to, labels[i]...), '=')
		to = appendQuoted(to, labels[i+1])
	}
	return append(to, '}')
}

// appendQuoted is strconv.AppendQuote with a fast path for the common case: text without anything
// to escape.
func appendQuoted(to []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(to, text)
		}
	}
	return append(append(append(to, '"'), text...), '"')
}
