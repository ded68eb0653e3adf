package load

import (
	"fmt"
	"slices"

	"golang.org/x/perf/benchmath"

	"github.com/csisim/csisim/internal/load"
)

// Comparison compares a result with that of another build, the baseline, at its largest level.
type Comparison struct {
	Baseline load.Driver `json:"baseline"`
	Volumes  int         `json:"volumes"`
	// Rows lists all compared measurements.
	Rows []Difference `json:"rows"`
	// Notes are the limits of the comparison.
	Notes []string `json:"notes,omitempty"`
}

// Difference is the difference in one measurement: the medians of the runs, and the probability
// that the difference is due to chance.
type Difference struct {
	Name string `json:"name"`
	// Call is set if the measurement is the time of a call, in milliseconds. Otherwise it is a
	// measurement of a phase.
	Call bool    `json:"call"`
	Old  float64 `json:"old"`
	New  float64 `json:"new"`
	P    float64 `json:"p"`
	// Beyond is set if the difference is larger than the noise of the runs.
	Beyond bool `json:"beyond"`
}

// Share is the difference as a share of the old value.
func (d Difference) Share() float64 { return d.New/d.Old - 1 }

// confidence is the probability that a comparison, over all its rows, reports no difference that is
// only noise.
const confidence = 0.95

// leastShare is the smallest difference that is reported.
const leastShare = 0.05

// Compare compares a result with a baseline. The error gives the reason why they cannot be
// compared.
func Compare(baseline, result *load.Result) (*Comparison, error) {
	if err := Comparable(baseline.Plan, result.Plan); err != nil {
		return nil, err
	}
	was, is := common(baseline, result)
	if was == nil {
		return nil, fmt.Errorf("they have no level in common that was played")
	}
	c := &Comparison{Baseline: baseline.Driver, Volumes: is.Volumes}
	if baseline.Machine != result.Machine {
		c.Notes = append(c.Notes, fmt.Sprintf("the baseline was measured on another machine (%s, %d processors, %s)", baseline.Machine.Processor, baseline.Machine.Cores, baseline.Machine.System))
	}
	for _, phase := range is.Phases() {
		if phase != "stay" {
			c.add(Difference{Name: phase}, scaled(was.Took(phase)), scaled(is.Took(phase)))
		}
	}
	for _, method := range result.Methods() {
		if load.Changes(method) {
			c.add(Difference{Name: method, Call: true}, was.Medians(method), is.Medians(method))
		}
	}
	c.judge()
	if least := c.leastRuns(); len(was.Runs) < least || len(is.Runs) < least {
		c.Notes = append(c.Notes, fmt.Sprintf("%d and %d runs are too few to see a difference beyond noise; it takes %d of each: --runs", len(was.Runs), len(is.Runs), least))
	}
	return c, nil
}

// Comparable returns the difference between two plans that makes their results incomparable.
func Comparable(old, now load.Plan) error {
	for _, part := range []struct {
		name     string
		old, now any
	}{
		{"shape", old.Shape, now.Shape}, {"number of nodes", old.Nodes, now.Nodes}, {"clock", old.Clock, now.Clock},
		{"latencies", old.Latencies, now.Latencies}, {"sidecars", old.Sidecars, now.Sidecars}, {"duration", old.Duration, now.Duration}, {"rate", old.Rate, now.Rate},
	} {
		if was, is := fmt.Sprint(part.old), fmt.Sprint(part.now); was != is {
			return fmt.Errorf("its %s is %s, that of this load %s", part.name, was, is)
		}
	}
	return nil
}

// common returns the largest level in both results.
func common(a, b *load.Result) (was, is *load.Level) {
	for i := range slices.Backward(b.Levels) {
		for j := range a.Levels {
			if a.Levels[j].Volumes == b.Levels[i].Volumes && len(a.Levels[j].Runs) > 0 && len(b.Levels[i].Runs) > 0 {
				return &a.Levels[j], &b.Levels[i]
			}
		}
	}
	return nil, nil
}

// scaled converts seconds to milliseconds.
func scaled(seconds []float64) (all []float64) {
	for _, s := range seconds {
		all = append(all, s*1e3)
	}
	return all
}

func (c *Comparison) add(d Difference, was, is []float64) {
	if len(was) == 0 || len(is) == 0 {
		return
	}
	d.Old, d.New = load.Median(was), load.Median(is)
	thresholds := benchmath.DefaultThresholds
	compared := benchmath.AssumeNothing.Compare(benchmath.NewSample(was, &thresholds), benchmath.NewSample(is, &thresholds))
	d.P = compared.P
	c.Rows = append(c.Rows, d)
}

// judge decides which differences are larger than noise. With many rows, at least one would differ
// by chance. Each row therefore needs more certainty than the whole comparison (Bonferroni).
func (c *Comparison) judge() {
	for i := range c.Rows {
		d := &c.Rows[i]
		share := d.Share()
		d.Beyond = d.P <= (1-confidence)/float64(len(c.Rows)) && d.Old > 0 && max(share, -share) >= leastShare
	}
}

// leastRuns returns the number of runs of each build that a reported difference needs.
func (c *Comparison) leastRuns() int {
	thresholds := benchmath.DefaultThresholds
	for n := 2; ; n++ {
		low, high := make([]float64, n), make([]float64, n)
		for i := range n {
			low[i], high[i] = float64(i), float64(n+i)
		}
		if benchmath.AssumeNothing.Compare(benchmath.NewSample(low, &thresholds), benchmath.NewSample(high, &thresholds)).P <= (1-confidence)/float64(max(1, len(c.Rows))) {
			return n
		}
	}
}

// Slower is the largest share by which calls or phases became slower, beyond noise; 0 if none did.
func (c *Comparison) Slower() (most float64) {
	for _, d := range c.Rows {
		if d.Beyond {
			most = max(most, d.Share())
		}
	}
	return most
}

// compared writes the comparison.
func (p *printer) compared() {
	if p.Compared == nil {
		return
	}
	name := p.Compared.Baseline.Name + " " + p.Compared.Baseline.Version
	p.title(fmt.Sprintf("Against %s, at %d volumes (medians of the runs)", name, p.Compared.Volumes))
	rows := [][]string{{"", "old", "new", "difference"}}
	for _, d := range p.Compared.Rows {
		text := "~"
		if d.Beyond {
			text = fmt.Sprintf("%+.0f %%", 100*d.Share())
		}
		title := d.Name
		if !d.Call {
			title = phaseTitle(d.Name)
		}
		rows = append(rows, []string{title, load.Millis(d.Old), load.Millis(d.New), text})
	}
	p.table(rows)
	p.line("  ~ no difference beyond the noise of the runs (Mann-Whitney U, 95 %% over all rows)")
	for _, note := range p.Compared.Notes {
		p.line("  %s", p.wrapped("note: "+note, 2))
	}
}
