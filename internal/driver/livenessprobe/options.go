// Package livenessprobe is the in-process equivalent of the livenessprobe sidecar and of the
// kubelet's probe. The sidecar reports whether a driver is healthy, and the kubelet calls the
// sidecar and restarts the driver's container.
package livenessprobe

import (
	"cmp"
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/driver/sidecar"
)

// Name is the name of the program and of the caller of Probe.
const Name = "livenessprobe"

// Options are the sidecar's flags, and the livenessProbe of the driver's container. The defaults of
// the latter come from most deployments. C-LIVE-1
type Options struct {
	// ProbeTimeout bounds each Probe. Default: 3 s.
	ProbeTimeout time.Duration `json:"probeTimeout,omitzero" example:"1s" doc:"--probe-timeout: the deadline of each Probe; default 3s."`
	// InitialDelay is the time for which a container must have run before its first probe. Default:
	// 10 s.
	InitialDelay time.Duration `json:"initialDelay,omitzero" example:"30s" doc:"initialDelaySeconds of the container's livenessProbe; default 10s."`
	// Period is the time between two requests of the kubelet. Default: 10 s.
	Period time.Duration `json:"period,omitzero" example:"2s" doc:"periodSeconds of the livenessProbe; default 10s."`
	// Timeout bounds the time that the kubelet waits for the answer. Default: 3 s.
	Timeout time.Duration `json:"timeout,omitzero" example:"5s" doc:"timeoutSeconds of the livenessProbe; default 3s."`
	// FailureThreshold is the number of failures in a row after which the container is restarted.
	// Default: 5.
	FailureThreshold uint `json:"failureThreshold,omitempty" doc:"failureThreshold of the livenessProbe; default 5."`
	// Restart restarts the sidecar after its exit. Default: sidecar.RestartAlways.
	Restart sidecar.Restart `json:"restart,omitempty" enum:"always|never" doc:"Whether it is restarted after its exit, as in a pod; default always."`
}

func (o Options) withDefaults() Options {
	o.ProbeTimeout = cmp.Or(o.ProbeTimeout, 3*time.Second)
	o.InitialDelay = cmp.Or(o.InitialDelay, 10*time.Second)
	o.Period = cmp.Or(o.Period, 10*time.Second)
	o.Timeout = cmp.Or(o.Timeout, 3*time.Second)
	o.FailureThreshold = cmp.Or(o.FailureThreshold, 5)
	return o
}

// Mistakes lists the impossible values: the API counts whole seconds.
func (o Options) Mistakes() (found []sidecar.Mistake) {
	for _, field := range []struct {
		name  string
		value time.Duration
	}{{"initialDelay", o.InitialDelay}, {"period", o.Period}, {"timeout", o.Timeout}} {
		if field.value%time.Second != 0 || field.value < 0 {
			found = append(found, sidecar.Mistake{Field: field.name, Found: field.value.String(), Want: fmt.Sprintf("whole seconds, such as %v", 10*time.Second)})
		}
	}
	return found
}
