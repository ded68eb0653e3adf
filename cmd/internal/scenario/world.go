package scenario

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// World is the cluster that a scenario runs on: a simulation or a real cluster. Its methods are
// called from one goroutine, except Interrupt.
type World interface {
	objects
	programs
	passing
	volumes
	storage
	// Evidence returns the data for the checks of expectations. Its Store contains the current
	// state of the API, and its Trace contains all events.
	Evidence() *expect.Evidence
	// Trace returns the recorder of the run. Its events are in order. The events of a call are
	// complete when the call has ended.
	Trace() *trace.Recorder
	// Boot waits until all nodes are Ready and all drivers registered on them.
	Boot() error
	// Nodes, Drivers and DriverNodes return the names of the nodes, of the drivers, and of the
	// nodes with a driver's plugin.
	Nodes() []string
	Drivers() []string
	DriverNodes(driver string) []string
	// IsInstalled reports whether a driver is registered on a node.
	IsInstalled(driver, node string) bool
	// Listed returns the volumes and snapshots that drivers had at the beginning and at the end.
	Listed() []string
	// Written lists the files that programs wrote outside the run; the writes were discarded.
	Written() []string
	// Usage returns the resources that the programs of drivers used and left.
	Usage() []sim.Usage
	// Apart describes how the nodes are isolated and the resulting restrictions; "" if they are
	// not.
	Apart() string
	// EachInstant registers look to be called at the end of each instant of virtual time. A real
	// cluster never calls it.
	EachInstant(look func())
	// Interrupt ends the current activities of the cluster with err.
	Interrupt(err error)
	// Forced lists the volumes that Close deleted itself, because their drivers had not deleted
	// them.
	Forced() []string
	// Close removes everything that the run has made.
	Close() error
}

// objects is the API of a cluster.
type objects interface {
	// DefineCSIAddons defines the kinds of CSI-Addons.
	DefineCSIAddons() error
	// Apply creates or updates an object, like kubectl apply. verb is created, configured or
	// unchanged.
	Apply(store.Object) (verb string, err error)
	// Applied waits until the Store of Evidence shows the applied objects.
	Applied() error
	// Delete requests an object's deletion, with a grace period in seconds; nil for the object's
	// own.
	Delete(res *store.Resource, key store.Key, grace *int64) error
	// Modify changes an object or, if subresource is status, its status. If change fails, nothing
	// is changed.
	Modify(res *store.Resource, key store.Key, subresource string, change func(store.Object) error) error
}

// programs starts and ends parts of a cluster.
type programs interface {
	Kill(sim.Component) error
	Stop(sim.Component) error
	Start(sim.Component) error
	// Install and Uninstall deploy a driver and delete its deployment.
	Install(driver string) error
	Uninstall(driver string) error
	PowerOff(node string) error
	PowerOn(node string) error
	ShutDown(node string, grace fakekubelet.ShutdownGrace) error
	// Inject activates a fault for the calls of drivers. ClearFaults ends the fault with a name, or
	// all faults if the name is empty.
	Inject(*fault.Fault) error
	ClearFaults(name string) error
}

// passing controls time: virtual time in a simulation, wall time on a real cluster.
type passing interface {
	// Elapsed returns the time since the run began.
	Elapsed() time.Duration
	// WaitFor waits until cond holds, at most for limit; otherwise it returns a *sim.StuckError.
	WaitFor(what string, limit time.Duration, cond func() bool) error
	// Settle waits until only housekeeping is left to do.
	Settle(limit time.Duration) error
	// Advance lets d pass.
	Advance(d time.Duration) error
}

// storage are actions of storage systems that bypass Kubernetes.
type storage interface {
	// ChangeNode changes the information that a plugin of the reference driver returns for a node.
	ChangeNode(plugin, node string, info mock.NodeInfo) error
	// SetVolumeCondition makes a volume abnormal, or healthy again if message is empty.
	SetVolumeCondition(pv *corev1.PersistentVolume, message string) error
	// Detach detaches a volume from a node.
	Detach(pv *corev1.PersistentVolume, node string) error
}

// volumes gives access to the disks of nodes and the data of pods in their volumes.
type volumes interface {
	// Files lists the files in a node's kubelet directory. RecordFiles writes such a listing into
	// the trace.
	Files(node string) []string
	RecordFiles(node, when string) error
	// Metrics returns the metrics of a node's kubelet.
	Metrics(node string) []string
	// RunsAs returns the user and the group of a pod's containers.
	RunsAs(pod store.Key) (uid, gid int)
	WriteVolumeFile(pod store.Key, volume, name string, file sim.VolumeFile) error
	ReadVolumeFile(pod store.Key, volume, name string) (sim.VolumeFile, error)
	// ReadData makes pods check that their data exists.
	ReadData()
	// Ledger returns the leftover resources.
	Ledger() sim.Ledger
}
