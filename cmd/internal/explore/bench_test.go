package explore

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/explore"
)

var seeds = flag.Int("seeds", 10, "over how many seeds a benchmark looks for each mistake")

// Over some seeds, how many runs and how much time it takes to find each of the seeded mistakes, and how long the story is:
// by single faults first and pct after them, as by default, and by each strategy alone. make explore-bench prints it.
func BenchmarkSeededMistakes(b *testing.B) {
	const most = 600
	for _, c := range seeded {
		for _, strategy := range append([]string{"default"}, explore.Strategies()...) {
			b.Run(c.faulty+"/"+strategy, func(b *testing.B) {
				for range b.N {
					var runs, choices []int
					var took []time.Duration
					for seed := range *seeds {
						o := usual(most)
						o.Strategy, o.Alone, o.Seed = strategy, true, uint64(1+1000*seed)
						if strategy == "default" {
							o.Strategy, o.Alone = explore.Strategies()[0], false
						}
						began := time.Now()
						n, story := toFind(b, c.scenario, c.faulty, c.want, o)
						runs, choices, took = append(runs, n), append(choices, story), append(took, time.Since(began))
					}
					slices.Sort(runs)
					slices.Sort(choices)
					slices.Sort(took)
					b.ReportMetric(float64(runs[*seeds/2]), "runs")
					b.ReportMetric(float64(runs[*seeds-1]), "runs-at-most")
					b.ReportMetric(float64(choices[*seeds/2]), "choices")
					b.ReportMetric(took[*seeds/2].Seconds(), "s")
					b.ReportMetric(0, "ns/op")
				}
			})
		}
	}
}

// toFind is how many runs it takes to find a mistake, and how many choices its story has.
func toFind(b *testing.B, name, faulty, want string, o Options) (runs, choices int) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	named := func(f *Finding) bool { return f.Name == want }
	o.Progress = func(s *Search) {
		if runs == 0 && slices.ContainsFunc(s.Findings, named) {
			runs = s.Runs
			cancel()
		}
	}
	s, err := Of(ctx, filepath.Join(scenarios, name+".yaml"), textOf(b, name, faulty), o)
	require.NoError(b, err)
	require.Equal(b, scenario.Passed, s.Calm.Exit, fmt.Sprintf("%s must not show in the calm run", faulty))
	if i := slices.IndexFunc(s.Findings, named); i >= 0 {
		return runs, len(s.Findings[i].Choices)
	}
	return s.Runs, 0
}
