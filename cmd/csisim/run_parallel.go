package main

import (
	"bytes"
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
)

// ended is a finished scenario with its output.
type ended struct {
	run    report.Run
	output bytes.Buffer
}

// runParallel runs several scenarios at once, and reports on them in the order in which they were
// given. Runs that an interrupt ends have no result.
func (s *session) runParallel(ctx context.Context, scenarios []*scenario.Scenario) {
	results := make([]chan *ended, len(scenarios))
	for i := range results {
		results[i] = make(chan *ended, 1)
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(s.flags.parallel, len(scenarios)) {
		workers.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(scenarios) && ctx.Err() == nil; i = next.Add(1) - 1 {
				e := &ended{}
				e.run = s.attempt(ctx, scenarios[i], &e.output, nil)
				results[i] <- e
			}
		})
	}
	for i, sc := range scenarios {
		s.printer.Started(sc.Name)
		select {
		case e := <-results[i]:
			s.reported(ctx, e)
			continue
		case <-ctx.Done():
		}
		break
	}
	workers.Wait()
}

// reported prints the output of a scenario and its result.
func (s *session) reported(ctx context.Context, e *ended) {
	s.printer.Clear()
	_, _ = io.Copy(s.env.stdout, &e.output)
	s.finished(ctx, e.run)
}

// sharesDriver reports whether scenarios use running drivers. Each scenario then sees the volumes
// of the others.
func sharesDriver(scenarios []*scenario.Scenario) bool {
	for _, s := range scenarios {
		for _, d := range s.Drivers {
			if d.Socket != nil {
				return true
			}
		}
	}
	return false
}
