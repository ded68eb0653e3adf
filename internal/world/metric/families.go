package metric

import (
	"io"
	"maps"
	"slices"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
)

// WriteText writes all metrics of one program, which may have several registries, in the text
// format of Prometheus.
func WriteText(w io.Writer, registries ...*Registry) error {
	all := families{}
	for _, r := range registries {
		r.enter(all)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if _, err := expfmt.MetricFamilyToText(w, all[name]); err != nil {
			return err
		}
	}
	return nil
}

// families are metrics by their names.
type families map[string]*dto.MetricFamily

func (f families) add(of series, kind dto.MetricType, m *dto.Metric) {
	family := f[of.name]
	if family == nil {
		family = &dto.MetricFamily{Name: proto.String(of.name), Type: kind.Enum()}
		f[of.name] = family
	}
	for i := 0; i+1 < len(of.labels); i += 2 {
		m.Label = append(m.Label, &dto.LabelPair{Name: proto.String(of.labels[i]), Value: proto.String(of.labels[i+1])})
	}
	family.Metric = append(family.Metric, m)
}

func (r *Registry) enter(into families) {
	for _, id := range slices.Sorted(maps.Keys(r.samples)) {
		s := r.samples[id]
		if s.counter {
			into.add(s.series, dto.MetricType_COUNTER, &dto.Metric{Counter: &dto.Counter{Value: proto.Float64(s.value)}})
		} else {
			into.addGauge(s.series, s.value)
		}
	}
	for _, collect := range r.collectors {
		collect(func(name string, value float64, labels ...string) { into.addGauge(series{name, labels}, value) })
	}
	for _, id := range slices.Sorted(maps.Keys(r.histograms)) {
		h := r.histograms[id]
		into.add(h.series, dto.MetricType_HISTOGRAM, &dto.Metric{Histogram: h.message()})
	}
}

func (f families) addGauge(of series, value float64) {
	f.add(of, dto.MetricType_GAUGE, &dto.Metric{Gauge: &dto.Gauge{Value: proto.Float64(value)}})
}

// message has the buckets of a histogram; the encoder adds the bucket of all observations.
func (h *histogram) message() *dto.Histogram {
	m := &dto.Histogram{SampleCount: proto.Uint64(h.count()), SampleSum: proto.Float64(h.sum)}
	total := uint64(0)
	for i, bound := range h.bounds {
		total += h.counts[i]
		m.Bucket = append(m.Bucket, &dto.Bucket{UpperBound: proto.Float64(bound), CumulativeCount: proto.Uint64(total)})
	}
	return m
}
