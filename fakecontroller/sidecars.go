// Package fakecontroller lists the programs of the control plane. Each controller and each sidecar
// has its own folder.
package fakecontroller

import (
	"slices"

	"github.com/csisim/csisim/fakecontroller/internal/attacher"
	"github.com/csisim/csisim/fakecontroller/internal/clusterregistrar"
	"github.com/csisim/csisim/fakecontroller/internal/healthmonitor"
	"github.com/csisim/csisim/fakecontroller/internal/provisioner"
	"github.com/csisim/csisim/fakecontroller/internal/resizer"
	"github.com/csisim/csisim/fakecontroller/internal/snapshotter"
	"github.com/csisim/csisim/internal/driver/livenessprobe"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/version"
)

// The names of the sidecars as callers of a driver and writers of the API.
const (
	Provisioner   = provisioner.Name
	Attacher      = attacher.Caller
	Resizer       = resizer.Caller
	Snapshotter   = snapshotter.Caller
	HealthMonitor = healthmonitor.Caller
	// ClusterRegistrar creates the CSIDriver object of its driver, in old clusters.
	ClusterRegistrar = clusterregistrar.Name
)

// The flags of each sidecar.
type (
	ProvisionerOptions   = provisioner.Options
	AttacherOptions      = attacher.Options
	ResizerOptions       = resizer.Options
	SnapshotterOptions   = snapshotter.Options
	HealthMonitorOptions = healthmonitor.Options
	RegistrarFlags       = registrar.Flags
	// ClusterRegistrarOptions are the options of cluster-driver-registrar.
	ClusterRegistrarOptions = clusterregistrar.Options
	LivenessProbeOptions    = livenessprobe.Options
	// SidecarFlags are the flags that all sidecars have.
	SidecarFlags = sidecar.Flags
)

// Sidecars holds the sidecars of a driver with their flags, under the names of the programs. Code
// for all sidecars uses this list.
type Sidecars struct {
	Provisioner   provisioner.Options   `json:"csi-provisioner,omitzero" doc:"Flags of csi-provisioner."`
	Attacher      attacher.Options      `json:"csi-attacher,omitzero" doc:"Flags of csi-attacher."`
	Resizer       resizer.Options       `json:"csi-resizer,omitzero" doc:"Flags of csi-resizer."`
	Snapshotter   snapshotter.Options   `json:"csi-snapshotter,omitzero" doc:"Flags of csi-snapshotter."`
	HealthMonitor healthmonitor.Options `json:"csi-external-health-monitor-controller,omitzero" doc:"Flags of csi-external-health-monitor-controller, which runs beside drivers with VOLUME_CONDITION and LIST_VOLUMES or GET_VOLUME."`
	// ClusterRegistrar makes the CSIDriver object instead of the deployment. Default: it does not
	// run.
	ClusterRegistrar *clusterregistrar.Options `json:"cluster-driver-registrar,omitempty" doc:"Runs cluster-driver-registrar, which creates the driver's CSIDriver object in Kubernetes 1.13 to 1.21; {} for the usual flags. Default: it does not run, and the deployment creates the object."`
	// Registrar runs beside the plugins on nodes.
	Registrar registrar.Flags `json:"node-driver-registrar,omitzero" doc:"Settings of node-driver-registrar."`
	// LivenessProbe runs beside all plugins. Default: none runs, and there are no probes.
	LivenessProbe *livenessprobe.Options `json:"livenessprobe,omitempty" doc:"Runs livenessprobe beside all plugins of the driver. The kubelet restarts the container of an unhealthy plugin. {} for the usual flags. Default: it does not run."`
}

// OfController returns the sidecars beside a controller plugin, in the order of their start.
func (s Sidecars) OfController() []sidecar.Sidecar {
	all := []sidecar.Sidecar{s.Provisioner, s.Attacher, s.Resizer, s.Snapshotter, s.HealthMonitor}
	if s.ClusterRegistrar != nil {
		all = append(all, *s.ClusterRegistrar)
	}
	return all
}

// Mistaken is a sidecar with invalid flags.
type Mistaken struct {
	Sidecar  string
	Mistakes []sidecar.Mistake
}

// Mistakes returns the flags that are invalid in a cluster with this version.
func (s Sidecars) Mistakes(v version.Version) (found []Mistaken) {
	for _, program := range s.OfController() {
		found = append(found, Mistaken{program.Name(), program.Mistakes()})
	}
	if s.ClusterRegistrar != nil {
		found = append(found, Mistaken{clusterregistrar.Name, s.ClusterRegistrar.MistakesIn(v)})
	}
	if s.LivenessProbe != nil {
		found = append(found, Mistaken{livenessprobe.Name, s.LivenessProbe.Mistakes()})
	}
	return found
}

// Names returns the names of all sidecars.
func Names() (names []string) {
	for _, s := range (Sidecars{ClusterRegistrar: &clusterregistrar.Options{}}).OfController() {
		names = append(names, s.Name())
	}
	return append(names, registrar.Program, livenessprobe.Name)
}

// Callers returns the names under which sidecars call drivers.
func Callers() []string {
	callers := Names()
	callers[slices.Index(callers, registrar.Program)] = registrar.Name
	return append(callers, AddonsSidecar)
}
