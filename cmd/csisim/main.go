// Command csisim runs scenarios: it simulates the Kubernetes storage control plane
// in virtual time and drives real CSI drivers with it.
package main

import (
	"context"
	"os"

	// Sets GOGC before the other packages are initialized.
	"github.com/csisim/csisim/cmd/internal/explore"
	_ "github.com/csisim/csisim/cmd/internal/gogc"
	"github.com/csisim/csisim/internal/world/namespaces"
)

func main() {
	ctx, _ := namespaces.Interruptible(context.Background())
	namespaces.Arrive()
	env := environment{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	env.tuneMemory()
	if explore.MakesRuns() {
		makeRuns(ctx)
		os.Exit(0)
	}
	os.Exit(execute(ctx, env, os.Args[1:]))
}

// makeRuns is the main function of a child process of a search, and makes its runs.
func makeRuns(ctx context.Context) {
	adoptOrphans()
	explore.Serve(ctx)
	_ = killOrphans() // the parent process ends the remaining ones
}

// environment holds the inputs of the command besides its arguments.
type environment struct {
	stdout, stderr *os.File
	getenv         func(string) string
}
