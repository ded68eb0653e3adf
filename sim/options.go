// Package sim is csisim's public Go API. It simulates a whole cluster that calls CSI drivers, in
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
	// Migration lists the in-tree plugins with a migration that differs from the default of the
	// version. Default: none.
	Migration migration.Plugins
	// Controllers are controllers of kube-controller-manager that run only if its flag
	// --controllers names them. There is selinux-warning-controller, since v1.33. Default: none.
	Controllers []string
	// SnapshotController has the flags of the snapshot-controller, which runs if a driver takes
	// snapshots. Default: no flags.
	SnapshotController fakecontroller.SnapshotControllerOptions
	// AddonsManager has the flags of the controller manager of CSI-Addons, which runs if a driver
	// has CSI-Addons sidecars. Default: no flags.
	AddonsManager AddonsManagerOptions
	// Legacy holds settings of a cluster of an old version that differ from the defaults.
	Legacy legacy.Options
	// FeatureGates are the feature gates of Kubernetes that differ from v1.36. Default: none.
	FeatureGates feature.Gates
	// Strategy takes every decision of the run. Default: kernel.Calm{}.
	Strategy kernel.Strategy
	// FaultSpace limits the faults that Strategy may choose at calls. Default: none.
	FaultSpace fault.Space
	// Context ends the waits for the start of a driver program and for a driver's answer about its
	// name. Default: context.Background().
	Context context.Context
	// Pace determines how virtual time passes while drivers work on calls. Default: calls take
	// none.
	Pace Pace
	// Latencies are times that are added to calls if the pace is Measured. They are the latencies
	// of a service behind the driver. The keys are names of calls, such as "CreateVolume". Default:
	// none.
	Latencies map[string]Latency
	// Patience bounds the wall time for which virtual time stops for a driver without an answer.
	// Default: 2 s.
	Patience time.Duration
	// WaitForDriver bounds the wall time for which virtual time waits for unfinished work that a
	// driver outside this process has announced. Meanwhile virtual time moves no faster than the
	// real clock. Default: 30 s; below 0: no wait.
	WaitForDriver time.Duration
	// Experience is shared by runs of the same drivers. If some work is never finished, only one of
	// the runs waits for it. Default: separate for each run.
	Experience *unfinished.Experience
	// WorkDir is the parent of the run's own directory. Only clusters with drivers outside this
	// process need it. Default: os.TempDir().
	WorkDir string
	// Kept is the state that outlives the cluster. Its directory replaces the run's directory in
	// WorkDir. Default: nothing outlives the cluster.
	Kept *Kept
	// Recorder keeps or compares the scheduling events. Default: none.
	Recorder *kernel.Recorder
	// Stacks are idle coroutines that successive runs reuse for their processes. Default: separate
	// for each run.
	Stacks *kernel.Stacks
	// Sinks receive every event of the trace when it happens. Default: none.
	Sinks []trace.Sink
	// KeepStates bounds the states that the trace keeps in memory besides the events: conditions
	// for which processes wait, and late updates of caches. Sinks get all. Default: none.
	KeepStates int
	// NoChoices leaves the decisions of the strategy and the conditions of waiting processes out of
	// the trace. In an exploring run they are most of the records. Default: false.
	NoChoices bool
	// Strict turns breaches of the CSI spec that do not affect Kubernetes into failures; otherwise
	// they are notes. Default: false.
	Strict bool
	// SystemCalls records the system calls by which driver programs change files during calls that
	// change a volume or snapshot: see internal/world/machine. The calls of one program are then
	// serialized. If the system cannot trace system calls, the run ends. Default: false; then they
	// are recorded only for calls with a fault of system calls.
	SystemCalls bool
	// SeesLookups also records the system calls by which driver programs look up files. Faults of
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
	// Start is the cluster's time at the beginning. Default: kernel.Epoch.
	Start time.Time
	// Names seeds object UIDs and volume names, so clusters with different Names never share one.
	// Default: all clusters make the same UIDs and names.
	Names string
	// Token is the token that clients of the API must send. Default: no token is needed.
	Token string
	// Guard makes Close check that no component changed a stored object in place; such a change is
	// a bug in the component. Default: false, because the check takes time.
	Guard bool
	// DriverLogs is the directory for the output of driver programs. Default: a directory of the
	// run, which Close deletes.
	DriverLogs string
	// NoBoot makes New return before the cluster's nodes and drivers are up. Start never waits for
	// them. Default: false.
	NoBoot bool
	// Faults are active from the start. Default: none.
	Faults []*fault.Fault
	// OnDisk keeps the directories of kubelets on disk, so that programs outside the cluster can
	// find them: see Directories. Default: true with External sidecars; otherwise nodes with a
	// mount namespace keep them in memory.
	OnDisk bool
	// Images are the programs that containers run in a live cluster: a path of the host for each
	// image, with or without its tag. Containers of other images are records. Default: none.
	Images map[string]string
	// RootFS are the root file systems of images, by image as in Images, for containers with a root
	// file system. Images that need unpacking are unpacked to the directory of the run, and deleted
	// with it. Default: none.
	RootFS map[string]RootFS
	// Lives describes how the containers of further images end. Its keys are images, as in Images.
	// Default: they run until they are stopped.
	Lives map[string]Life
	// RefuseUnmapped makes containers of further images fail with ErrImagePull. Default: they are
	// records.
	RefuseUnmapped bool
	// Pull fetches further images before their first container on a node starts. It is called on
	// other goroutines, one call at a time. csisim unpacks its result once for each ID. Default:
	// such containers are records, or fail.
	Pull func(ctx context.Context, image string) (RootFS, error)
	// Address is the address of the served API, such as "127.0.0.1:6443". Authority is the
	// certificate in PEM that its clients trust. Both are for the programs of Images. Default: the
	// API is not served.
	Address   string
	Authority []byte
	// Network gives the nodes and their pods separate networks; nodes need mount namespaces then.
	// Default: they use the network of this machine.
	Network Network
	// NoDataCheck stops the containers of pods from writing and reading check data in their
	// volumes. Default: false.
	NoDataCheck bool
}

// KubeletDir determines the path of the kubelet's directory on nodes, and whether a symlink leads
// to it.
type KubeletDir = machine.Layout

// Isolation determines how the nodes of a run are separated from each other and from the machine.
type Isolation string

const (
	// Auto gives each node a mount namespace if a driver is a program. If the machine does not
	// permit a mount namespace, the run fails with an EnvironmentError that names the cause.
	Auto Isolation = "auto"
	// Namespace gives nodes mount namespaces even without driver programs.
	Namespace Isolation = "namespace"
	// None gives each node only a directory.
	None Isolation = "none"
)

// Node is one node of the cluster.
type Node struct {
	Name string
	// Labels are added to the usual labels of the Node object. Default: none.
	Labels map[string]string
	// Zone and Region become the well-known topology labels. Default: none.
	Zone, Region string
	// Taints of the Node object. Default: none.
	Taints []corev1.Taint
	// Kubernetes is the version of the kubelet. Default: the version of the control plane.
	Kubernetes version.Version
	// Migration lists the in-tree plugins with another migration on the kubelet than on the control
	// plane. Default: none.
	Migration migration.Plugins
	// MaxPods is the node's pod capacity. Default: 110.
	MaxPods int
	// SELinux means that the node enforces SELinux, with the file labels of Fedora. Default: false.
	SELinux bool
	// ChownTime is the virtual time in which the kubelet changes the group of one file of a volume
	// to a pod's fsGroup. Default: 0.
	ChownTime time.Duration
}

// Driver is one CSI driver. Exactly one of Mock, Program, Socket and Servers is set.
type Driver struct {
	// Name is the CSI driver name, which GetPluginInfo must return. A Socket or a Program may leave
	// it empty: then GetPluginInfo returns the name. The default of a Mock is its own name.
	Name string
	// Mock is the reference driver in memory.
	Mock *mock.Options
	// Program is a driver program, started for each node and for the controller.
	Program *Program
	// Socket is a running driver.
	Socket *Socket
	// Servers are Go servers in this process, called without a socket.
	Servers *Servers
	// NodeIDs are the CSI node ids by node name. Default: the node's name.
	NodeIDs map[string]string
	// Down are the nodes on which the driver stays down until Start. Default: none.
	Down []string
	// Further are additional plugins on nodes, as during an upgrade or after a mistake. All are
	// down until Start. Default: none.
	Further []FurtherPlugin
	// Later omits the whole driver until Install: plugins, sidecars and CSIDriver object. Default:
	// false.
	Later bool
	// Replicas is the number of controller plugins, each with its sidecars. Sidecars work only
	// while they hold their Leases, unless their flags disable leader election. Default: 1.
	Replicas int
	// NoNode and NoController omit that half of the driver.
	NoNode, NoController bool
	// CSIDriver is the spec of its CSIDriver object. Default: attachRequired follows the
	// controller's PUBLISH_UNPUBLISH_VOLUME capability.
	CSIDriver *storagev1.CSIDriverSpec
	// StandIns replace services outside Kubernetes that a Program needs. They serve one cluster.
	// Default: none.
	StandIns []standin.StandIn
	// Sidecars are the flags of its sidecars. Default: no flags.
	Sidecars Sidecars
	// Addons are its sidecars of CSI-Addons. Default: one beside each plugin of a Mock that serves
	// CSI-Addons, in pods of their own; none beside other drivers.
	Addons []AddonsSidecar
	// NoCSIDriver leaves out the CSIDriver object; the test or the scenario applies it.
	NoCSIDriver bool
	// External lists the sidecars that run outside csisim. They use the API and the driver's
	// sockets, which are then real sockets. Default: none.
	External []Sidecar
	// Without lists the sidecars that do not run, although the driver has their capabilities.
	// Default: none.
	Without []Sidecar
	// Version is the name of the release that is installed first. Default: FirstVersion.
	Version string
	// MockVersions are the options of the Mock in other releases, by the name of the release: see
	// Simulation.UpgradeDriver. Default: none.
	MockVersions map[string]mock.Options
	// Deployments are the changes to the driver's deployment in other releases, by the name of the
	// release. Default: a release has the deployment of the first release.
	Deployments map[string]Deployment
}

// Deployment holds the parts of a driver's deployment that a release changes.
type Deployment struct {
	// Objects are applied before the first plugin of the release starts: the CSIDriver object,
	// StorageClasses and others. If the API rejects a change of a CSIDriver object or a class, the
	// object is deleted and created again. Default: the objects do not change.
	Objects []store.Object
	// Sidecars are the flags of its sidecars. Default: those of the Driver.
	Sidecars *Sidecars
	// Without lists sidecars that do not run: see Driver. Default: none if Sidecars are given,
	// otherwise the Driver's.
	Without []Sidecar
}

// FurtherPlugin is a plugin on a node that serves the same driver at a separate endpoint. Steps
// that start or stop it call it "driver/name".
type FurtherPlugin struct {
	// Name distinguishes it from other further plugins of the driver on its node.
	Name string
	Node string
	// NodeID is its CSI node id. Default: the id of the driver's own plugin.
	NodeID string
	// Registry is the directory of its registration socket below plugins_registry. By default it
	// uses the registration socket of the driver's own plugin. The plugin that starts last replaces
	// the socket.
	Registry string
	// Refused is the reaction of its registrar if the kubelet refuses the driver. Default: the
	// reaction at the driver's own plugin.
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
	// Single starts one process as both the controller plugin and the plugin of the only node, for
	// drivers that keep all state in one process.
	Single bool
	// Env is added to the program's environment.
	Env map[string]string
	// NodePaths lists directories of the node that the driver's container mounts, such as
	// /var/lib/my-driver. Files there outlive the container. A restart discards files that the
	// program creates elsewhere. Files stay in the kubelet's directory, in the directories of
	// {{.StateDir}} and {{.NodeStateDir}} and in Options.HostPaths. Default: none.
	NodePaths []string
	// NodeVolumes and ControllerVolumes are the volumes of the driver's container in the pods of
	// its plugins. Default: all of the kubelet's directory, with Bidirectional propagation.
	NodeVolumes, ControllerVolumes []ContainerVolume
	// PluginSocket is the path, in the program's view, of the socket at which the program always
	// serves, whatever its flags are. Default: {{.Socket}}; csisim also finds a socket at
	// /csi/csi.sock.
	PluginSocket string
	// AddonsSocket is the path, in the program's view, of the socket at which it serves CSI-Addons.
	// It is in the directory of the other socket. Default: {{.AddonsSocket}} if the command uses it
	// or {{.AddonsEndpoint}}; otherwise the same socket.
	AddonsSocket string
	// StartTimeout bounds the wall time until it answers. Default: 10 s.
	StartTimeout time.Duration
	// Memory bounds the memory, in bytes, of each process of the driver that csisim starts. A
	// process that uses more is killed. Default: 2 GiB.
	Memory int64
	// Capabilities are Linux capabilities that programs have only if this list contains them:
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
	// NodeVolumes and ControllerVolumes are the volumes of its container. Default: those of the
	// Program.
	NodeVolumes, ControllerVolumes []ContainerVolume
}

// ContainerVolume is a volume of a driver's container, as in the driver's deployment.
type ContainerVolume = program.Volume

// Socket names the unix sockets of a running driver.
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
	// Node creates the servers of a node's plugin each time the plugin starts. The plugin mounts on
	// the node's machine: the kubelet looks for its mounts there.
	Node func(node string, on machine.Machine) []machine.Service
	// Versions are other releases of the servers, by their names: see Simulation.UpgradeDriver.
	// Default: none.
	Versions map[string]Servers
}

// waitForDriver returns WaitForDriver with its default.
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

// outside reports whether a driver or sidecar is not Go code of this process. Nodes then need real
// files and sockets.
func (o Options) outside() bool {
	return o.mounts() || slices.ContainsFunc(o.Drivers, func(d Driver) bool { return d.Socket != nil })
}

// onDisk reports whether programs outside the cluster must find the directories of kubelets.
func (o Options) onDisk() bool {
	return o.OnDisk || slices.ContainsFunc(o.Drivers, func(d Driver) bool { return len(d.External) > 0 })
}

// mounts reports whether the run mounts on nodes for real, rather than in memory.
func (o Options) mounts() bool {
	return o.hasImages() || slices.ContainsFunc(o.Drivers, func(d Driver) bool { return d.Program != nil || len(d.External) > 0 })
}
