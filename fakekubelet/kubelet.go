// Package fakekubelet is the node side of the control plane. Each node has one kubelet, built from
// the parts of the real one under their real names. It drives the node's CSI drivers through
// registration, staging and publishing.
package fakekubelet

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/fakekubelet/internal/pluginmanager"
	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/fakekubelet/internal/volumemanager"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/version"
)

// Options describe a node.
type Options struct {
	Name   string
	Labels map[string]string
	Taints []corev1.Taint
	// Address is the node's address. Default: loopback.
	Address string
	// Version is the kubelet's version of Kubernetes. Default: the newest.
	Version version.Version
	// Migration holds the migration stages of in-tree plugins in this kubelet. Default: all are
	// migrated.
	Migration migration.Plugins
	// MaxPods is the node's pod capacity. Default: 110.
	MaxPods int
	// SELinux means that the node enforces SELinux. Default: false.
	SELinux bool
	// StatsPeriod is the interval at which drivers report the usage of volumes; a negative value
	// disables the reports. Default: a minute.
	StatsPeriod time.Duration
	// ChownTime is the virtual time for changing the group of one file to a pod's fsGroup. Default:
	// 0.
	ChownTime time.Duration
	Machine   machine.Machine
	Runtime   *runtime.Runtime
	Wire      *wire.Wire
	// Pressure holds the shortages of the machine's resources. Default: none.
	Pressure Pressure
	// Data checks the content that containers write to their volumes. Default: none.
	Data *data.Check
	// ClusterDNS is the name server of pods. It is set if pods have separate networks. Default:
	// pods use the node's name servers.
	ClusterDNS string
	// API describes how programs in containers reach the API server. Default: they cannot reach it.
	API *API
}

// Kubelet is a running kubelet. It loses its memory when it crashes; the machine, the runtime and
// the Node object stay.
type Kubelet struct {
	*component.Component
	options      Options
	csi          *csi.Plugin
	info         *nodeinfo.Manager
	volumes      *volumemanager.Manager
	plugins      *pluginmanager.Manager
	pods         *podManager
	housekeeping *housekeeping
	status       *statusLoop
	evictions    *evictionManager // nil until the first shortage of the node
	stats        *volumeStats     // nil: volumes are not measured
	started      time.Time
	shuttingDown bool
}

// Start starts a kubelet, for the first time or again after a crash. The start takes some time.
func Start(w *component.World, o Options) *Kubelet {
	if o.MaxPods == 0 {
		o.MaxPods = 110
	}
	o.Address = cmp.Or(o.Address, loopback)
	k := &Kubelet{Component: w.Start("kubelet", o.Name), options: o}
	k.started = k.Kernel.Now()
	k.Component.Version = o.Version
	k.csi = csi.New(k.Component, csi.Options{Machine: o.Machine, Wire: o.Wire, Drivers: registered{k}, ChownTime: o.ChownTime})
	k.pods = newPodManager(k)
	k.Go("start", k.run)
	return k
}

// Up reports whether the kubelet has started: it has listed its pods and watches for plugins.
func (k *Kubelet) Up() bool { return k.pods.listed && k.plugins != nil }

// registered gives access to the driver map, even before the plugin manager is up. K-REG-1
type registered struct{ *Kubelet }

func (r registered) Endpoint(driver string) (string, bool) {
	if r.plugins == nil {
		return "", false
	}
	return r.plugins.Endpoint(driver)
}

// Registered lists the drivers that the kubelet can call.
func (k *Kubelet) Registered() []string {
	if k.plugins == nil {
		return nil
	}
	return k.plugins.Registered()
}

// MakeDirectories makes the directories of a kubelet on its machine; an installer may make them
// before the kubelet's first start. K-PATH-1
func MakeDirectories(m machine.Machine) {
	for _, dir := range []string{"", "/pods", "/plugins", "/plugins_registry"} {
		_ = m.MkdirAll(m.Layout().KubeletDir()+dir, 0o750)
	}
}
