package livenessprobe

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Container describes the container of a driver for its kubelet.
type Container struct {
	// Began returns the time at which the container started. The result is false if the container
	// does not run, or has no kubelet.
	Began func() (time.Duration, bool)
	// Restart ends the container and starts it again after the backoff of a crash loop.
	Restart func(why string)
}

// Probe is the kubelet's worker for the livenessProbe of a driver's container. The kubelet restarts
// the container, never the sidecar. C-LIVE-3
func Probe(p *kernel.Process, o Options, e *Endpoint, c Container) {
	w := worker{options: o.withDefaults(), endpoint: e, container: c}
	for next := p.Elapsed(); ; {
		w.probe(p)
		for next <= p.Elapsed() { // a ticker, which keeps one tick
			next += w.options.Period
		}
		if w.failures > 0 && w.healthy {
			p.Sleep(next - p.Elapsed())
		} else {
			p.Idle(next - p.Elapsed())
		}
	}
}

type worker struct {
	options   Options
	endpoint  *Endpoint
	container Container
	began     time.Duration // start of the container that was probed last
	failures  uint          // in a row
	// healthy means that a probe has succeeded since the last restart. The restarts of a container
	// that never becomes ready may never end, and do not keep a run busy.
	healthy bool
}

func (w *worker) probe(p *kernel.Process) {
	began, runs := w.container.Began()
	if began != w.began {
		w.began, w.failures = began, 0
	}
	if !runs || p.Elapsed()-began < w.options.InitialDelay {
		return
	}
	err := w.endpoint.Get(p, w.options.Timeout)
	if err == nil {
		w.failures, w.healthy = 0, true
		return
	}
	if w.failures++; w.failures == w.options.FailureThreshold {
		w.failures, w.healthy = 0, false
		w.container.Restart(fmt.Sprintf("Liveness probe failed: %v", err))
	}
}
