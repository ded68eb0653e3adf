package sim

import "github.com/csisim/csisim/internal/world/kernel"

type (
	// Strategy takes the decisions of a run: which process runs next, how far a view
	// lags, which fault fires. The same answers to the same choices give the same run.
	Strategy = kernel.Strategy
	// Choice is one decision among N alternatives. Alternative 0 belongs to a calm world without
	// faults.
	Choice = kernel.Choice
	// Calm is the strategy that always takes alternative 0. It is the default.
	Calm = kernel.Calm
)

// NewRandom returns the strategy that draws every decision; the same seed draws the same.
func NewRandom(seed uint64) Strategy { return kernel.NewRandom(seed) }
