package sidecar

import "github.com/csisim/csisim/internal/world/component"

// Restart says what becomes of a sidecar that has exited.
type Restart string

// A sidecar that has exited is started again, as in a pod, or is not.
const (
	RestartAlways Restart = "always"
	RestartNever  Restart = "never"
)

// Flags are those that all sidecars have.
type Flags struct {
	// KubeAPIQPS and KubeAPIBurst bound the requests of each client of the API: how many
	// in a second on average, and how many at once. Default: 5 and 10. C-LIB-7
	KubeAPIQPS   Rate `json:"kubeAPIQPS,omitempty" example:"50" doc:"--kube-api-qps: how many requests to the API server in a second; default 5, -1 is no limit."`
	KubeAPIBurst uint `json:"kubeAPIBurst,omitempty" example:"100" doc:"--kube-api-burst: how many of them at once; default 10."`
	// Restart is for when it has exited. Default: RestartAlways.
	Restart Restart `json:"restart,omitempty" enum:"always|never" doc:"Whether it is started again when it has exited, as in a pod; default always."`
}

// limit bounds the requests of a sidecar.
func (f Flags) limit(c *component.Component) {
	c.LimitRequests(component.Core, float64(f.KubeAPIQPS), int(f.KubeAPIBurst))
	c.LimitRequests(component.Snapshots, float64(f.KubeAPIQPS), int(f.KubeAPIBurst))
}
