// Command csisim runs scenarios: it simulates the Kubernetes storage control plane
// in virtual time and drives real CSI drivers with it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/csisim/csisim/sim/namespaces"
)

func main() {
	namespaces.Arrive()
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
