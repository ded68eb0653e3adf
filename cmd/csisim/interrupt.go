package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// orderly is the wall time in which an interrupted run of scenarios without programs may end by
// itself.
const orderly = time.Second / 2

// endsSoon ends this process shortly after an interrupt, until the returned function is called.
// Closing a large cluster takes time, and a reader may have stopped reading the output. Scenarios
// without programs leave nothing behind. Scenarios with programs clean up first, however long that
// takes.
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

// hungUp returns a failure after a SIGHUP, because in that case no user has stopped the command.
func hungUp(ctx context.Context) error {
	if code := namespaces.InterruptedCode(ctx); code == 128+int(syscall.SIGHUP) {
		return reported(code)
	}
	return nil
}
