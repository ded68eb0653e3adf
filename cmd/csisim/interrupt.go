package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// orderly is how long, in wall time, an interrupted run of scenarios that are all in memory
// may take to end by itself.
const orderly = time.Second / 2

// endsSoon ends this process a moment after an interrupt, until the returned function is
// called: the largest of clusters takes its time to end, an output may be one that nobody
// reads, and of scenarios that are all in memory nothing is left behind. Those with
// programs clean up, for as long as it takes.
func endsSoon(ctx context.Context, env environment, scenarios []*scenario.Scenario, release func()) (end func() bool) {
	if slices.ContainsFunc(scenarios, (*scenario.Scenario).HasPrograms) {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, func() {
		time.Sleep(orderly)
		release()
		fmt.Fprintln(env.stderr, "csisim: interrupted")
		os.Exit(namespaces.InterruptedCode(ctx))
	})
}
