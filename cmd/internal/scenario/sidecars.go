package scenario

import (
	"fmt"

	"github.com/csisim/csisim/drivers/sidecar"
	"github.com/csisim/csisim/fakecontroller/attacher"
	"github.com/csisim/csisim/fakecontroller/healthmonitor"
	"github.com/csisim/csisim/fakecontroller/provisioner"
	"github.com/csisim/csisim/fakecontroller/resizer"
	"github.com/csisim/csisim/fakecontroller/snapshot"
	"github.com/csisim/csisim/fakecontroller/snapshotter"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/sim"
)

// Sidecars are the flags of a driver's sidecars, under the names of the programs.
type Sidecars struct {
	Provisioner   provisionerFlags   `json:"csi-provisioner,omitzero" doc:"Flags of csi-provisioner."`
	Attacher      attacherFlags      `json:"csi-attacher,omitzero" doc:"Flags of csi-attacher."`
	Resizer       resizerFlags       `json:"csi-resizer,omitzero" doc:"Flags of csi-resizer."`
	Snapshotter   snapshotterFlags   `json:"csi-snapshotter,omitzero" doc:"Flags of csi-snapshotter."`
	HealthMonitor healthMonitorFlags `json:"csi-external-health-monitor-controller,omitzero" doc:"Flags of csi-external-health-monitor-controller, which runs beside drivers with VOLUME_CONDITION and LIST_VOLUMES or GET_VOLUME."`
	Registrar     registrarFlags     `json:"node-driver-registrar,omitzero" doc:"How node-driver-registrar runs."`
}

// clientFlags bound what a program asks of the API server.
type clientFlags struct {
	KubeAPIQPS   rate `json:"kubeAPIQPS,omitempty" example:"50" doc:"--kube-api-qps: how many requests to the API server in a second; default 5, -1 is no limit."`
	KubeAPIBurst uint `json:"kubeAPIBurst,omitempty" example:"100" doc:"--kube-api-burst: how many of them at once; default 10."`
}

func (c clientFlags) flags(r restartPolicy) sidecar.Flags {
	return sidecar.Flags{KubeAPIQPS: float64(c.KubeAPIQPS), KubeAPIBurst: int(c.KubeAPIBurst), ExitOnConnectionLoss: r.once()}
}

func (c clientFlags) snapshotController() snapshot.Options {
	return snapshot.Options{KubeAPIQPS: float64(c.KubeAPIQPS), KubeAPIBurst: int(c.KubeAPIBurst)}
}

// callFlags are those that all sidecars with retries have.
type callFlags struct {
	clientFlags
	Timeout            strict.Duration `json:"timeout,omitzero" example:"1m" doc:"--timeout: the deadline of each CSI call; default 10s of csi-provisioner and csi-resizer, 15s of csi-attacher, 1m of csi-snapshotter."`
	RetryIntervalStart strict.Duration `json:"retryIntervalStart,omitzero" example:"500ms" doc:"--retry-interval-start: the pause before the first retry, which doubles; default 1s."`
	RetryIntervalMax   strict.Duration `json:"retryIntervalMax,omitzero" example:"1m" doc:"--retry-interval-max: the longest pause before a retry; default 5m."`
}

// restartPolicy says what becomes of a sidecar that has exited.
type restartPolicy struct {
	Restart string `json:"restart,omitempty" enum:"always|never" doc:"Whether it is started again when it has exited, as in a pod; default always."`
}

type provisionerFlags struct {
	callFlags
	restartPolicy
	ExtraCreateMetadata       *bool           `json:"extraCreateMetadata,omitempty" doc:"--extra-create-metadata: the names of claim and volume are parameters of CreateVolume; default false, or as the profile says."`
	StrictTopology            bool            `json:"strictTopology,omitempty" doc:"--strict-topology: only the selected node's topology is asked for; default false."`
	ImmediateTopology         *bool           `json:"immediateTopology,omitempty" doc:"--immediate-topology: the cluster's topology is asked for where no node is selected; default true."`
	DefaultFSType             string          `json:"defaultFSType,omitempty" example:"ext4" doc:"--default-fstype: the file system where the class names none; default none."`
	KubeAPICapacityQPS        rate            `json:"kubeAPICapacityQPS,omitempty" example:"10" doc:"--kube-api-capacity-qps: kubeAPIQPS of the client that writes CSIStorageCapacities; default 1."`
	KubeAPICapacityBurst      uint            `json:"kubeAPICapacityBurst,omitempty" example:"20" doc:"--kube-api-capacity-burst: kubeAPIBurst of that client; default 5."`
	CapacityPollInterval      strict.Duration `json:"capacityPollInterval,omitzero" example:"10s" doc:"--capacity-poll-interval: how often GetCapacity is called again for each topology segment and class; default 1m."`
	ControllerPublishReadonly bool            `json:"controllerPublishReadonly,omitempty" doc:"--controller-publish-readonly: volumes of claims that are ReadOnlyMany alone are read-only; default false."`
}

type attacherFlags struct {
	callFlags
	restartPolicy
	Workers       uint            `json:"workers,omitempty" doc:"--worker-threads; default 10."`
	ReconcileSync strict.Duration `json:"reconcileSync,omitzero" example:"15s" doc:"--reconcile-sync: how often attachments are compared with ListVolumes, if the driver can tell; default 1m."`
	MaxEntries    uint            `json:"maxEntries,omitempty" doc:"--max-entries: the page size of ListVolumes; default 0, the driver's own."`
	DefaultFSType string          `json:"defaultFSType,omitempty" example:"ext4" doc:"--default-fstype: the file system of volumes that name none; default none."`
}

type resizerFlags struct {
	callFlags
	restartPolicy
	Workers uint `json:"workers,omitempty" doc:"--workers; default 10."`
}

type snapshotterFlags struct {
	callFlags
	restartPolicy
	Workers             uint `json:"workers,omitempty" doc:"--worker-threads; default 10."`
	ExtraCreateMetadata bool `json:"extraCreateMetadata,omitempty" doc:"--extra-create-metadata: the names of snapshot and content are parameters of CreateSnapshot; default false."`
}

type healthMonitorFlags struct {
	clientFlags
	restartPolicy
	Timeout             strict.Duration `json:"timeout,omitzero" example:"1m" doc:"--timeout: the deadline of each CSI call; default 15s."`
	MonitorInterval     strict.Duration `json:"monitorInterval,omitzero" example:"10s" doc:"--monitor-interval: how often each worker asks about one volume, if the driver does not list volumes; default 1m."`
	ListVolumesInterval strict.Duration `json:"listVolumesInterval,omitzero" example:"1m" doc:"--list-volumes-interval: how often volumes are listed; default 5m."`
	EnableNodeWatcher   bool            `json:"enableNodeWatcher,omitempty" doc:"--enable-node-watcher: claims are told of nodes that fail; default false."`
}

type registrarFlags struct {
	restartPolicy
	Refused string `json:"refused,omitempty" enum:"exit|stay" doc:"What it does when the kubelet refuses the driver: node-driver-registrar exits, registrars of other makes stay; default exit."`
}

const never = "never"

func (r restartPolicy) once() bool { return r.Restart == never }

func off(flag *bool) bool { return flag != nil && !*flag }

// options are the flags for the simulator.
func (s Sidecars) options() sim.Sidecars {
	p, a, r, n, h := s.Provisioner, s.Attacher, s.Resizer, s.Snapshotter, s.HealthMonitor
	return sim.Sidecars{
		Provisioner: provisioner.Options{
			Timeout: p.Timeout.Duration, RetryIntervalStart: p.RetryIntervalStart.Duration, RetryIntervalMax: p.RetryIntervalMax.Duration,
			CreateMetadata: p.ExtraCreateMetadata != nil && *p.ExtraCreateMetadata, StrictTopology: p.StrictTopology, NoImmediateTopology: off(p.ImmediateTopology),
			DefaultFSType: p.DefaultFSType, ControllerPublishReadOnly: p.ControllerPublishReadonly, CapacityPollInterval: p.CapacityPollInterval.Duration,
			KubeAPICapacityQPS: float64(p.KubeAPICapacityQPS), KubeAPICapacityBurst: int(p.KubeAPICapacityBurst), Flags: p.flags(p.restartPolicy),
		},
		Attacher: attacher.Options{
			Timeout: a.Timeout.Duration, RetryIntervalStart: a.RetryIntervalStart.Duration, RetryIntervalMax: a.RetryIntervalMax.Duration,
			Workers: int(a.Workers), ReconcileSync: a.ReconcileSync.Duration, MaxEntries: int32(a.MaxEntries),
			DefaultFSType: a.DefaultFSType, Flags: a.flags(a.restartPolicy),
		},
		Resizer: resizer.Options{
			Timeout: r.Timeout.Duration, RetryIntervalStart: r.RetryIntervalStart.Duration, RetryIntervalMax: r.RetryIntervalMax.Duration,
			Workers: int(r.Workers), Flags: r.flags(r.restartPolicy),
		},
		Snapshotter: snapshotter.Options{
			Timeout: n.Timeout.Duration, RetryIntervalStart: n.RetryIntervalStart.Duration, RetryIntervalMax: n.RetryIntervalMax.Duration,
			Workers: int(n.Workers), CreateMetadata: n.ExtraCreateMetadata, Flags: n.flags(n.restartPolicy),
		},
		HealthMonitor: healthmonitor.Options{
			Timeout: h.Timeout.Duration, MonitorInterval: h.MonitorInterval.Duration, ListVolumesInterval: h.ListVolumesInterval.Duration,
			NodeWatcher: h.EnableNodeWatcher, Flags: h.flags(h.restartPolicy),
		},
		RegistrarStaysDown: s.Registrar.once(), RegistrarStaysWhenRefused: s.Registrar.Refused == "stay",
	}
}

// checkSidecars reports intervals that cannot be.
func (c *checker) checkSidecars(s Sidecars) {
	for _, flags := range []struct {
		program string
		callFlags
	}{
		{"csi-provisioner", s.Provisioner.callFlags}, {"csi-attacher", s.Attacher.callFlags},
		{"csi-resizer", s.Resizer.callFlags}, {"csi-snapshotter", s.Snapshotter.callFlags},
	} {
		if longest := flags.RetryIntervalMax.Duration; longest > 0 && longest < flags.RetryIntervalStart.Duration {
			path := strict.Key(strict.Key(c.in("sidecars"), flags.program), "retryIntervalMax")
			c.document.Report(path, fmt.Sprintf("%v", longest), fmt.Sprintf("at least retryIntervalStart, %v", flags.RetryIntervalStart.Duration))
		}
	}
	if entries := s.Attacher.MaxEntries; entries > maxEntries {
		path := strict.Key(strict.Key(c.in("sidecars"), "csi-attacher"), "maxEntries")
		c.document.Report(path, fmt.Sprintf("number %d", entries), fmt.Sprintf("a number up to %d", maxEntries))
	}
}

// maxEntries is the biggest page of ListVolumes that can be asked for.
const maxEntries = 1<<31 - 1
