package explore

import (
	"context"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/explore"
)

var seeds = flag.Int("seeds", 10, "over how many seeds a benchmark looks for each mistake")

// The largest number of runs of a search: by default, and with each single strategy.
const mostByDefault, mostAlone = 2000, 600

// BenchmarkSeededMistakes measures, over some seeds, the number of runs and the time until each of
// the seeded mistakes is found, the length of the story, and the number of seeds that find it. It
// uses single faults and then pct, as by default, and each strategy alone. make explore-bench
// prints the results.
func BenchmarkSeededMistakes(b *testing.B) {
	for _, m := range mistakes {
		for _, strategy := range []string{"default", "pct", explore.Guided, "random"} {
			b.Run(m.name+"/"+strategy, func(b *testing.B) {
				text := m.plant(b)
				for range b.N {
					o := usual(mostAlone)
					o.Strategy, o.Alone = strategy, true
					if strategy == "default" {
						o = usual(mostByDefault)
					}
					var t tally
					for seed := range *seeds {
						o.Seed = uint64(1 + 1000*seed)
						t.add(toFind(b, m, text, o))
					}
					t.report(b)
				}
			})
		}
	}
}

// tally sums up the searches with several seeds.
type tally struct {
	runs, choices []int
	took          []time.Duration
	found         int
}

func (t *tally) add(runs, choices int, took time.Duration) {
	t.runs, t.choices, t.took = append(t.runs, runs), append(t.choices, choices), append(t.took, took)
	if choices > 0 {
		t.found++
	}
}

func (t *tally) report(b *testing.B) {
	slices.Sort(t.runs)
	slices.Sort(t.choices)
	slices.Sort(t.took)
	last, middle := len(t.runs)-1, len(t.runs)/2
	b.ReportMetric(float64(t.found), "found")
	b.ReportMetric(float64(t.runs[middle]), "runs")
	b.ReportMetric(float64(t.runs[last]), "runs-at-most")
	b.ReportMetric(float64(t.choices[middle]), "choices")
	b.ReportMetric(t.took[middle].Seconds(), "s")
	b.ReportMetric(t.took[last].Seconds(), "s-at-most")
	b.ReportMetric(0, "ns/op")
}

// toFind returns the number of runs and the time until a mistake is found, and the number of
// choices in its story. All are zero if it is not found.
func toFind(b *testing.B, m mistake, text []byte, o Options) (runs, choices int, took time.Duration) {
	began := time.Now()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	named := func(f *Finding) bool { return f.Name == m.want }
	o.Progress = func(s *Search) {
		if runs == 0 && slices.ContainsFunc(s.Findings, named) {
			runs = s.Runs
			cancel()
		}
	}
	s, err := Of(ctx, fileOf(m.scenario), text, o)
	require.NoError(b, err)
	require.Equal(b, scenario.Passed, s.Calm.Exit, "%s must not show in the calm run", m.name)
	if i := slices.IndexFunc(s.Findings, named); i >= 0 {
		return runs, len(s.Findings[i].Choices), time.Since(began)
	}
	return s.Runs, 0, time.Since(began)
}
