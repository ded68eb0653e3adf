package clusterregistrar

import (
	"fmt"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/version"
)

// Name is the name of the program, also as the caller of drivers.
const Name = "cluster-driver-registrar"

// Newest is the last version of Kubernetes that serves all objects of the program, including the
// CSIDriver of storage.k8s.io/v1beta1.
const Newest version.Version = 21

// Options are the flags of the program, which differ between 1.0, for Kubernetes 1.13, and 1.1, for
// later versions. L-CDR-1, C-CDR-1
type Options struct {
	// RequiresAttachment is a field of the object in Kubernetes 1.13. Default: true.
	RequiresAttachment *bool `json:"driverRequiresAttachment,omitempty" doc:"--driver-requires-attachment, for Kubernetes 1.13: attachRequired of the CSIDriver; default true."`
	// PodInfoVersion is a field of the object in Kubernetes 1.13. Default: empty, which means no
	// pod information.
	PodInfoVersion string `json:"podInfoMountVersion,omitempty" example:"v1" doc:"--pod-info-mount-version, for Kubernetes 1.13: podInfoOnMountVersion of the CSIDriver; default empty, no information."`
	// PodInfo is a field of the object since Kubernetes 1.14. Default: false.
	PodInfo bool `json:"podInfoMount,omitempty" doc:"--pod-info-mount, since Kubernetes 1.14: podInfoOnMount of the CSIDriver; default false."`
	// Restart controls whether the program restarts after its exit. Default: sidecar.RestartAlways.
	Restart sidecar.Restart `json:"restart,omitempty" enum:"always|never" doc:"Whether it is restarted after its exit, as in a pod; default always."`
}

var _ sidecar.Sidecar = Options{}

// Name returns the name of the program.
func (Options) Name() string { return Name }

// RunsBeside returns true: the program runs in every deployment that includes it.
func (Options) RunsBeside(sidecar.Promises) bool { return true }

// Lock is empty: replicas create the object at the same time, and the first one wins.
func (Options) Lock(string) string { return "" }

// Start starts the program beside a plugin.
func (o Options) Start(w *component.World, wire *wire.Wire, at sidecar.Target) *sidecar.Program {
	return start(w, wire, o, at)
}

// Mistakes returns the invalid flags.
func (Options) Mistakes() []sidecar.Mistake { return nil }

// MistakesIn returns the mistakes for a cluster with a version. Release 1.0 of the program, for
// Kubernetes 1.13, has other flags than 1.1, and current versions of Kubernetes serve the objects
// of neither.
func (o Options) MistakesIn(v version.Version) (found []sidecar.Mistake) {
	if v > Newest {
		return []sidecar.Mistake{{Found: Name, Want: fmt.Sprintf("none since Kubernetes 1.%d, which does not serve the objects that it makes: a deployment brings its CSIDriver", Newest+1)}}
	}
	old := !v.Has(version.CSINode)
	for _, flag := range []struct {
		name       string
		given, old bool
	}{{"driverRequiresAttachment", o.RequiresAttachment != nil, true}, {"podInfoMountVersion", o.PodInfoVersion != "", true}, {"podInfoMount", o.PodInfo, false}} {
		if flag.given && flag.old != old {
			since := map[bool]string{true: "for Kubernetes 1.13 alone", false: "since Kubernetes 1.14"}[flag.old]
			found = append(found, sidecar.Mistake{Field: flag.name, Found: fmt.Sprintf("%s with Kubernetes %s", flag.name, v), Want: "no such flag: it is " + since})
		}
	}
	return found
}
