package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/world/kernel"
)

// strategies make the decisions of a run. The list contains their names on the command line.
var strategies = []struct {
	name, summary string
	seeded        bool
	make          func(seed uint64) kernel.Strategy
}{
	{"calm", "the fair, fault-free order", false, func(uint64) kernel.Strategy { return kernel.Calm{} }},
	{"random", "every decision drawn from the seed", true, func(seed uint64) kernel.Strategy { return kernel.NewRandom(seed) }},
}

// seededStrategy is the strategy for --seed without --strategy.
const seededStrategy = "random"

// chosenStrategy returns the name of the strategy that the flags select.
func chosenStrategy(command *cobra.Command, name string) (string, error) {
	seeded := command.Flags().Changed("seed")
	if seeded && !command.Flags().Changed("strategy") {
		return seededStrategy, nil
	}
	for _, s := range strategies {
		if s.name != name {
			continue
		}
		if seeded && !s.seeded {
			return "", usage("--seed has no effect with --strategy %s", name)
		}
		return name, nil
	}
	return "", usage("%w", unknown("strategy", name, strategyNames()))
}

// strategyMaker returns a function that creates a new strategy for each run, because strategies are
// stateful.
func strategyMaker(name string, seed uint64) func() kernel.Strategy {
	return func() kernel.Strategy {
		for _, s := range strategies {
			if s.name == name {
				return s.make(seed)
			}
		}
		panic("unknown strategy " + name) // chosenStrategy rejects unknown names
	}
}

func strategyNames() []string {
	var names []string
	for _, s := range strategies {
		names = append(names, s.name)
	}
	slices.Sort(names)
	return names
}

func completeStrategies(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, s := range strategies {
		words = append(words, s.name+"\t"+s.summary)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
