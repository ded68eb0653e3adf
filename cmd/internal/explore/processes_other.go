//go:build !linux

package explore

import (
	"context"
	"os"
)

// processes are unused: only Linux can keep a process on a processor.
type processes []*process

type process struct{ end func() error }

func startProcesses(int) (processes, error) { return nil, nil }

func (processes) next() (*process, *os.File) { return nil, nil }

func (processes) close() {}

// Serve does nothing.
func Serve(context.Context) {}
