package registrar

import "github.com/csisim/csisim/internal/driver/sidecar"

// Program is the sidecar's name in flags and manifests.
const Program = "node-driver-registrar"

// Refused is a registrar's reaction if the kubelet refuses the driver.
type Refused string

// A refused registrar exits, as node-driver-registrar does (C-REG-3), or continues to run, as
// others do.
const (
	RefusedExits Refused = "exit"
	RefusedStays Refused = "stay"
)

// Flags are the flags of a registrar.
type Flags struct {
	// Restart restarts it after its exit. Default: sidecar.RestartAlways.
	Restart sidecar.Restart `json:"restart,omitempty" enum:"always|never" doc:"Whether it is restarted after its exit, as in a pod; default always."`
	// Refused sets its reaction when the kubelet refuses the driver. Default: RefusedExits.
	Refused Refused `json:"refused,omitempty" enum:"exit|stay" doc:"The reaction if the kubelet refuses the driver: node-driver-registrar exits, other registrars stay; default exit."`
}
