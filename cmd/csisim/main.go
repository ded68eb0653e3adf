// Command csisim runs scenarios: it simulates the Kubernetes storage control plane
// in virtual time and drives real CSI drivers with it.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/csisim/csisim/sim/namespaces"
)

// collectLess is the growth of the heap, in percent, after which garbage is
// collected: most runs end before it matters, and collecting is a fifth of them.
const collectLess = 400

func main() {
	namespaces.Arrive()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectLess)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal kills, as it does any program
	env := environment{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	env.tuneMemory()
	os.Exit(execute(ctx, env, os.Args[1:]))
}

// environment is what the command is given besides its arguments.
type environment struct {
	stdout, stderr *os.File
	getenv         func(string) string
}
