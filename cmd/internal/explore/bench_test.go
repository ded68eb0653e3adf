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

// How many runs a search has at most: by default, and by each strategy alone.
const mostByDefault, mostAlone = 2000, 600

// Over some seeds, how many runs and how much time it takes to find each of the seeded mistakes, how long the story is, and how many
// seeds find it at all: by single faults first and pct after them, as by default, and by each strategy alone. make explore-bench
// prints it.
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

// tally is what the searches with several seeds have come to.
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

// toFind is how many runs and how much time it takes to find a mistake, and how many choices its story has; none if it is not found.
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
