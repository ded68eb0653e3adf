// Package sim is csisim's public Go API: it simulates a whole cluster that calls CSI drivers, in
// one process and in virtual time.
package sim

import (
	"cmp"
	"context"
	"net"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/standin"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/world/address"
	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
)

// Options describe a cluster. The zero value is a working cluster of two nodes,
// node-a and node-b, without a driver.
type Options struct {
	// Nodes of the cluster. Default: node-a and node-b.
	Nodes []Node
	// Drivers that are installed. Default: none.
	Drivers []Driver
	// Kubernetes is the version of the control plane, and the default version of kubelets. Default:
	// the newest.
	Kubernetes version.Version
	// Migration are the in-tree plugins with a migration that differs from the default of the
	// version. Default: none.
	Migration migration.Plugins
	// Controllers are the controllers of kube-controller-manager that only run if its flag
	// --controllers names them. There is selinux-warning-controller, since v1.33. Default: none.
	Controllers []string
	// SnapshotController has the flags of the snapshot-controller, which runs once a driver makes
	// snapshots. Default: as it is without flags.
	SnapshotController fakecontroller.SnapshotControllerOptions
	// AddonsManager has the flags of the controller manager of CSI-Addons, which runs once a driver
	// has its sidecars. Default: as it is without flags.
	AddonsManager AddonsManagerOptions
	// Legacy holds settings of a cluster of an old version that differ from the defaults.
	Legacy legacy.Options
	// FeatureGates are the feature gates of Kubernetes that are not as in v1.36.
	// Default: none.
	FeatureGates feature.Gates
	// Strategy takes every decision of the run. Default: kernel.Calm{}.
	Strategy kernel.Strategy
	// FaultSpace limits the faults that Strategy may choose at calls. Default: none.
	FaultSpace fault.Space
	// Context ends the wait for a driver program that starts, or for a driver's answer about its
	// name. Default: context.Background().
	Context context.Context
	// Pace determines how virtual time passes while drivers work on calls. Default: calls take
	// none.
	Pace Pace
	// Latencies are times that are added to calls, by the name of the call such as "CreateVolume",
	// if the pace is Measured: the latency of a service behind the driver. Default: none.
	Latencies map[string]Latency
	// Patience bounds the wall time for which virtual time stops for a driver that has not
	// answered. Default: 2 s.
	Patience time.Duration
	// WaitForDriver bounds the wall time that virtual time waits for announced and unfinished work
	// of a driver outside this process: meanwhile it moves no faster than the real clock. Default:
	// 30 s; below 0: no wait.
	WaitForDriver time.Duration
	// Experience is shared by runs of the same drivers: if work is never finished, only one of them
	// waits for it. Default: each run makes its own.
	Experience *unfinished.Experience
	// WorkDir is the directory in which the run's own directory is made; only clusters with drivers
	// outside this process need it. Default: os.TempDir().
	WorkDir string
	// Recorder keeps or compares the scheduling events. Default: none.
	Recorder *kernel.Recorder
	// Stacks are idle coroutines that successive runs reuse for their processes. Default: each run
	// makes its own.
	Stacks *kernel.Stacks
	// Sinks see every event of the trace as it happens. Default: none.
	Sinks []trace.Sink
	// KeepStates bounds the states that the trace keeps in memory, beside the events: conditions
	// for which processes wait, and late updates of caches. Sinks get all. Default: none.
	KeepStates int
	// NoChoices leaves the decisions of the strategy out of the trace, and the conditions that
	// processes wait for: in a run that explores they are most of the records. Default: false.
	NoChoices bool
	// Strict fails runs for breaches of the CSI spec that Kubernetes does not depend on; otherwise
	// they are notes. Default: false.
	Strict bool
	// SystemCalls records the system calls with which driver programs change files during calls
	// that change a volume or snapshot: see internal/world/machine. The calls of one program are
	// then serialized. If the system cannot trace system calls, the run ends. Default: false; then
	// they are recorded only for calls with a fault of system calls.
	SystemCalls bool
	// SeesLookups also records the system calls with which driver programs look up files; faults of
	// mounted file systems need them (fault.FailMounted). Each takes some microseconds. Default:
	// false, unless the FaultSpace has such faults.
	SeesLookups bool
	// HostPaths lists host directories that programs may write to. Writes anywhere else are
	// discarded with the run. Default: none.
	HostPaths []string
	// Isolation determines how nodes are separated. Default: Auto.
	Isolation Isolation
	// KubeletDir is the directory of the kubelet on each node. Default: /var/lib/kubelet.
	KubeletDir KubeletDir
	// Start is the time at which the cluster begins. Default: kernel.Epoch.
	Start time.Time
	// Names seeds object UIDs and volume names, so clusters with different Names never share one.
	// Default: all clusters make the same.
	Names string
	// Token is the token that clients of the API must send. Default: no token is needed.
	Token string
	// Guard makes Close check that no component changed a stored object in place, which is a
	// mistake in the component. Default: false, because the check takes time.
	Guard bool
	// DriverLogs is the directory for the output of driver programs. Default: a directory of the
	// run, which Close deletes.
	DriverLogs string
	// NoBoot keeps New from running the cluster until its nodes and drivers are up;
	// Start never does. Default: false.
	NoBoot bool
	// Faults are in force from the start. Default: none.
	Faults []*fault.Fault
	// OnDisk keeps the directories of kubelets on disk, where programs that are no part of the
	// cluster find them: see Directories. Default: true with External sidecars; otherwise nodes
	// with a mount namespace keep them in memory.
	OnDisk bool
	// Images are the programs that containers of pods run in a live cluster, paths of the
	// host by image, with or without its tag. Containers of other images are records.
	// Default: none.
	Images map[string]string
	// RootFS are the root file systems of images, by image like Images, for containers with a root
	// file system. Those to be unpacked are in the directory of the run, and are deleted with it.
	// Default: none.
	RootFS map[string]RootFS
	// Lives describes how the containers of further images end, by image like Images. Default: they
	// run until they are stopped.
	Lives map[string]Life
	// RefuseUnmapped makes containers of further images fail with ErrImagePull. Default: they are
	// records.
	RefuseUnmapped bool
	// Pull fetches further images before their first container on a node starts. It is called on
	// other goroutines, one call at a time. csisim unpacks its result once for each ID. Default:
	// such containers are records, or fail.
	Pull func(ctx context.Context, image string) (RootFS, error)
	// Address is the address of the served API, such as "127.0.0.1:6443", and Authority the
	// certificate in PEM that its clients trust, for the programs of Images. Default: the API is
	// not served.
	Address   string
	Authority []byte
	// Network gives the nodes and their pods separate networks; nodes need mount namespaces then.
	// Default: they use the network of this machine.
	Network Network
	// NoDataCheck keeps the containers of pods from writing to their volumes and from reading their
	// content. Default: false.
	NoDataCheck bool
}

// KubeletDir determines where nodes have the directory of their kubelet, and whether a symlink
// leads to it.
type KubeletDir = machine.Layout

// Isolation determines how the nodes of a run are separated from each other and from the machine.
type Isolation string

const (
	// Auto gives each node a mount namespace if a driver is a program. If the machine does not
	// permit a mount namespace, the run fails with an EnvironmentError that names the cause.
	Auto Isolation = "auto"
	// Namespace gives nodes mount namespaces without driver programs, too.
	Namespace Isolation = "namespace"
	// None gives each node just a directory.
	None Isolation = "none"
)

// Node is one node of the cluster.
type Node struct {
	Name string
	// Labels are put on the Node object, beside the usual ones. Default: none.
	Labels map[string]string
	// Zone and Region become the well-known topology labels. Default: none.
	Zone, Region string
	// Taints of the Node object. Default: none.
	Taints []corev1.Taint
	// Kubernetes is the version of the kubelet. Default: that of the control plane.
	Kubernetes version.Version
	// Migration are the in-tree plugins that the kubelet treats otherwise than the
	// control plane. Default: none.
	Migration migration.Plugins
	// MaxPods is the node's pod capacity. Default: 110.
	MaxPods int
	// SELinux says that the node enforces SELinux, with the file labels of Fedora.
	// Default: false.
	SELinux bool
	// ChownTime is the virtual time that the kubelet takes to change the group of one file of a
	// volume to a pod's fsGroup. Default: 0.
	ChownTime time.Duration
}

// Driver is one CSI driver. Exactly one of Mock, Program, Socket and Servers is set.
type Driver struct {
	// Name is the CSI driver name, which GetPluginInfo must return. A Socket or a Program may leave
	// it empty: then GetPluginInfo returns the name. Default of a Mock: its own.
	Name string
	// Mock is the reference driver in memory.
	Mock *mock.Options
	// Program is a driver program, started for each node and for the controller.
	Program *Program
	// Socket is a driver that already runs.
	Socket *Socket
	// Servers are Go servers in this process, called without a socket.
	Servers *Servers
	// NodeIDs are the CSI node ids by node name. Default: the node's name.
	NodeIDs map[string]string
	// Down are the nodes on which the driver is down until Start. Default: none.
	Down []string
	// Further are additional plugins on nodes, as during an upgrade or after a mistake. All are
	// down until Start. Default: none.
	Further []FurtherPlugin
	// Later omits the whole driver until Install: plugins, sidecars and CSIDriver object. Default:
	// false.
	Later bool
	// Replicas is the number of controller plugins, each with its sidecars; sidecars work only
	// while they hold their Leases, unless their flags say otherwise. Default: 1.
	Replicas int
	// NoNode and NoController omit that half of the driver.
	NoNode, NoController bool
	// CSIDriver is the spec of its CSIDriver object. Default: attachRequired as
	// the controller's PUBLISH_UNPUBLISH_VOLUME capability says.
	CSIDriver *storagev1.CSIDriverSpec
	// StandIns replace services outside Kubernetes that a Program needs. They serve one cluster.
	// Default: none.
	StandIns []standin.StandIn
	// Sidecars are the flags of its sidecars. Default: as they are without flags.
	Sidecars Sidecars
	// Addons are its sidecars of CSI-Addons. Default: one beside each plugin of a Mock that
	// serves CSI-Addons, in pods that are made for them; none beside other drivers.
	Addons []AddonsSidecar
	// NoCSIDriver leaves out the CSIDriver object: the test or the scenario applies it.
	NoCSIDriver bool
	// External lists the sidecars that run outside csisim, and use the API and the driver's
	// sockets, which are real ones then. Default: none.
	External []Sidecar
	// Without lists the sidecars that are left out although the driver has their capabilities.
	// Default: none.
	Without []Sidecar
	// Version is the name of the release that is installed first. Default: FirstVersion.
	Version string
	// MockVersions are the options of the Mock in other releases, by their names: see
	// Simulation.UpgradeDriver. Default: none.
	MockVersions map[string]mock.Options
	// Deployments are the parts of the driver's deployment that other releases change, by their
	// names. Default: a release has the deployment of the first one.
	Deployments map[string]Deployment
}

// Deployment holds the parts of a driver's deployment that a release changes.
type Deployment struct {
	// Objects are applied before the first plugin of the release starts: the CSIDriver object,
	// StorageClasses and others. Where the API refuses to change a CSIDriver object or a class,
	// it is deleted and created. Default: the objects stay as they are.
	Objects []store.Object
	// Sidecars are the flags of its sidecars. Default: those of the Driver.
	Sidecars *Sidecars
	// Without is as in Driver. Default: if Sidecars are given, none; otherwise as in the Driver.
	Without []Sidecar
}

// FurtherPlugin is a plugin on a node that offers the same driver at an endpoint of its own. Steps
// that start or end it call it "driver/name".
type FurtherPlugin struct {
	// Name distinguishes it from others of the driver on its node.
	Name string
	Node string
	// NodeID is its CSI node id. Default: that of the driver's own plugin.
	NodeID string
	// Registry is the directory below plugins_registry in which it is offered. By default it uses
	// the registration socket of the driver's own plugin: the plugin that starts last replaces the
	// socket.
	Registry string
	// Refused is the reaction of its registrar if the kubelet refuses the driver. Default: that of
	// the driver's own plugin.
	Refused registrar.Refused
}

// Program describes the start of a driver program. Command, ControllerCommand and the values of Env
// are templates: {{.Endpoint}} {{.Socket}} {{.NodeID}} {{.NodeName}} {{.StateDir}}
// {{.NodeStateDir}} {{.KubeletDir}} {{.Driver}} {{.Mode}} {{.Cluster}} {{.AddonsEndpoint}}
// {{.AddonsSocket}} {{.ServiceURL}}.
type Program struct {
	// Command is the program and its arguments.
	Command []string
	// ControllerCommand starts the controller plugin. Default: Command.
	ControllerCommand []string
	// Single starts one process that is both the controller plugin and the plugin of the only node,
	// for drivers that keep all state in one process.
	Single bool
	// Env is added to the program's environment.
	Env map[string]string
	// NodePaths lists directories of the node that the driver's container mounts, such as
	// /var/lib/my-driver: files there outlive the container. Files that the program makes elsewhere
	// are lost when it is started again, except in the kubelet's directory, in the directories of
	// {{.StateDir}} and {{.NodeStateDir}} and in Options.HostPaths. Default: none.
	NodePaths []string
	// NodeVolumes and ControllerVolumes are those of the driver's container in the pods of its
	// plugins. Default: all of the kubelet's directory, with Bidirectional propagation.
	NodeVolumes, ControllerVolumes []ContainerVolume
	// PluginSocket is the path of the socket at which it serves whatever its flags say, in its own
	// view. Default: {{.Socket}}; a socket at /csi/csi.sock is found there, too.
	PluginSocket string
	// AddonsSocket is the path of the socket at which it serves CSI-Addons, in its own view, in the
	// directory of the other. Default: {{.AddonsSocket}} if the command has that or
	// {{.AddonsEndpoint}}; otherwise the same socket.
	AddonsSocket string
	// StartTimeout bounds the wall time until it answers. Default: 10 s.
	StartTimeout time.Duration
	// Memory bounds the memory, in bytes, of each of its processes that csisim starts: a process
	// that uses more is killed. Default: 2 GiB.
	Memory int64
	// Capabilities are Linux capabilities that programs have only if they are named here:
	// DAC_READ_SEARCH, SYS_BOOT and SYS_TIME. Default: none of them.
	Capabilities []string
	// Versions are other releases of the program, by their names: see Simulation.UpgradeDriver.
	// Default: none.
	Versions map[string]ProgramVersion
}

// FirstVersion is the name of the release that is installed first, unless the Driver names it.
const FirstVersion = cluster.FirstVersion

// ProgramVersion is another release of a driver program.
type ProgramVersion struct {
	// Command is the program and its arguments.
	Command []string
	// ControllerCommand starts the controller plugin. Default: Command.
	ControllerCommand []string
	// Env is added to the program's environment. Default: that of the Program.
	Env map[string]string
	// NodePaths are the directories of the node that its container mounts. Default: those of the
	// Program.
	NodePaths []string
	// NodeVolumes and ControllerVolumes are those of its container. Default: those of the Program.
	NodeVolumes, ControllerVolumes []ContainerVolume
}

// ContainerVolume is a volume of a driver's container, as its deployment has it.
type ContainerVolume = program.Volume

// Socket names the unix sockets of a driver that runs already.
type Socket struct {
	Controller string
	// Nodes are the sockets by node name.
	Nodes map[string]string
	// Node is the socket of the only node.
	Node string
	// Addons is the socket at which its plugins serve CSI-Addons. Default: their own.
	Addons string
}

// Servers are the gRPC services of a driver in this process; see Services.
type Servers struct {
	// Controller has the services of the controller plugin.
	Controller []machine.Service
	// Node makes those of the plugin of a node, whenever the plugin starts. The plugin mounts on
	// the node's machine: the kubelet looks for its mounts there.
	Node func(node string, on machine.Machine) []machine.Service
	// Versions are other releases of the servers, by their names: see Simulation.UpgradeDriver.
	// Default: none.
	Versions map[string]Servers
}

// waitForDriver is WaitForDriver with its default.
func (o Options) waitForDriver() time.Duration {
	return max(0, cmp.Or(o.WaitForDriver, unfinished.Default))
}

func (o Options) withDefaults() Options {
	o.Nodes = o.nodes()
	if o.Kubernetes == 0 {
		o.Kubernetes = version.Newest
	}
	o.Nodes = slices.Clone(o.Nodes)
	for i := range o.Nodes {
		n := &o.Nodes[i]
		n.Kubernetes = cmp.Or(n.Kubernetes, o.Kubernetes)
		n.Migration = o.Migration.With(n.Migration)
	}
	if o.Strategy == nil {
		o.Strategy = kernel.Calm{}
	}
	if o.Context == nil {
		o.Context = context.Background()
	}
	if o.Isolation == "" {
		o.Isolation = Auto
	}
	return o
}

// nodes returns the nodes of the cluster.
func (o Options) nodes() []Node {
	if len(o.Nodes) == 0 {
		return []Node{{Name: "node-a"}, {Name: "node-b"}}
	}
	return o.Nodes
}

// reach describes how programs in containers reach the API; nil if it is not served.
func (o Options) reach() *fakekubelet.API {
	host, port, err := net.SplitHostPort(o.Address)
	if err != nil {
		return nil
	}
	if o.Network != nil {
		host, port = address.API.String(), "443"
	}
	return &fakekubelet.API{Host: host, Port: port, Authority: o.Authority}
}

// outside reports whether not all drivers and sidecars are Go code of this process, so
// that nodes need real files and sockets.
func (o Options) outside() bool {
	return o.mounts() || slices.ContainsFunc(o.Drivers, func(d Driver) bool { return d.Socket != nil })
}

// onDisk reports whether the directories of kubelets have to be where others find them.
func (o Options) onDisk() bool {
	return o.OnDisk || slices.ContainsFunc(o.Drivers, func(d Driver) bool { return len(d.External) > 0 })
}

// mounts reports whether mounts on the nodes are the run's own, and not in memory.
func (o Options) mounts() bool {
	return o.hasImages() || slices.ContainsFunc(o.Drivers, func(d Driver) bool { return d.Program != nil || len(d.External) > 0 })
}
