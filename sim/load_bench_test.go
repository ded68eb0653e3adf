package sim_test

import (
	"testing"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/sim"
)

// BenchmarkLoad takes 1,000 volumes on 10 nodes through their lives. The mock answers at once, so
// this measures csisim itself. It may take 3 s.
func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		result, err := sim.Load(b.Context(), sim.LoadOptions{
			Cluster: sim.Options{Drivers: []sim.Driver{{Name: benchDriver, Mock: &mock.Options{}}}},
			Plan:    sim.LoadPlan{Volumes: []int{1000}, Nodes: 10, Runs: 1},
		})
		must(b, err)
		result.Report(b)
		if result.Ended != "" {
			b.Fatal(result.Ended)
		}
	}
}
