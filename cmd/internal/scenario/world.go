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

// World is the cluster that a scenario runs on: what its steps ask of it, and what is seen of it. The simulation
// is one; a real cluster is another. Its methods are called from one goroutine, but for Interrupt.
type World interface {
	objects
	programs
	passing
	volumes
	storage
	// Evidence is what expectations are held against. Its Store holds what the API shows now, its Trace
	// whatever happened.
	Evidence() *expect.Evidence
	// Trace records the run. Its events are in order; those of a call are complete when it has ended.
	Trace() *trace.Recorder
	// Boot waits until all nodes are Ready and all drivers registered on them.
	Boot() error
	// Nodes, Drivers and DriverNodes are the names of the nodes, of the drivers, and of the nodes with a
	// driver's plugin.
	Nodes() []string
	Drivers() []string
	DriverNodes(driver string) []string
	// IsInstalled reports whether a node says that it has a driver.
	IsInstalled(driver, node string) bool
	// Listed are the volumes and snapshots that drivers had at the beginning and at the end.
	Listed() []string
	// Written is what programs wrote outside the run; it was thrown away.
	Written() []string
	// Usage is what the programs of drivers took and left.
	Usage() []sim.Usage
	// Apart says what keeps the nodes apart and what that rules out; empty if nothing.
	Apart() string
	// EachInstant calls look at the end of each instant of virtual time; on a real cluster never.
	EachInstant(look func())
	// Interrupt ends what the cluster is doing with err.
	Interrupt(err error)
	// Forced are the volumes that Close had to take away without their drivers, which did not delete them.
	Forced() []string
	// Close takes away whatever the run has made.
	Close() error
}

// objects is the API of a cluster.
type objects interface {
	// DefineCSIAddons defines the kinds of CSI-Addons.
	DefineCSIAddons() error
	// Apply creates an object or changes it, as kubectl apply does: created, configured or unchanged.
	Apply(store.Object) (verb string, err error)
	// Applied waits until the Store of Evidence shows what was applied.
	Applied() error
	// Delete asks for an object's deletion, with a grace period in seconds; nil for the object's own.
	Delete(res *store.Resource, key store.Key, grace *int64) error
	// Modify changes an object or, if subresource is status, its status. Nothing is changed if change fails.
	Modify(res *store.Resource, key store.Key, subresource string, change func(store.Object) error) error
}

// programs are the parts of a cluster that end and start.
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
	// Inject puts a fault in force at the calls of drivers; ClearFaults ends the fault of a name, all if it is empty.
	Inject(*fault.Fault) error
	ClearFaults(name string) error
}

// passing is how time passes: virtual time in a simulation, wall time on a real cluster.
type passing interface {
	// Elapsed is the time since the run began.
	Elapsed() time.Duration
	// WaitFor waits until cond holds, at most for limit. A *sim.StuckError says that it never did.
	WaitFor(what string, limit time.Duration, cond func() bool) error
	// Settle waits until only housekeeping is left to do.
	Settle(limit time.Duration) error
	// Advance lets d pass.
	Advance(d time.Duration) error
}

// storage is what storage systems do behind the back of Kubernetes.
type storage interface {
	// ChangeNode changes what a plugin of the reference driver says of a node.
	ChangeNode(plugin, node string, info mock.NodeInfo) error
	// SetVolumeCondition makes a volume abnormal, or well again if message is empty.
	SetVolumeCondition(pv *corev1.PersistentVolume, message string) error
	// Detach detaches a volume from a node.
	Detach(pv *corev1.PersistentVolume, node string) error
}

// volumes are the disks of nodes and what pods keep in their volumes.
type volumes interface {
	// Files lists what a node's kubelet directory holds, RecordFiles writes such a listing into the trace.
	Files(node string) []string
	RecordFiles(node, when string) error
	// Metrics are those of a node's kubelet.
	Metrics(node string) []string
	// RunsAs is the user and the group of a pod's containers.
	RunsAs(pod store.Key) (uid, gid int)
	WriteVolumeFile(pod store.Key, volume, name string, file sim.VolumeFile) error
	ReadVolumeFile(pod store.Key, volume, name string) (sim.VolumeFile, error)
	// ReadData lets pods look whether their data is there.
	ReadData()
	// Ledger is what exists although nothing accounts for it.
	Ledger() sim.Ledger
}
