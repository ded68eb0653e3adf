//go:build linux

// Command hostdir is a small CSI driver with real mounts. File system volumes are directories, and
// block volumes are images behind loop devices. The controller and every node run the same program
// and share one state directory, the storage backend. All state is on disk, in the mount table or
// in the kernel's loop devices, so the program can be killed at any point.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	opts, err := parseOptions(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = run(opts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostdir:", err)
		os.Exit(1)
	}
}

func run(opts options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	return serve(ctx, opts)
}
