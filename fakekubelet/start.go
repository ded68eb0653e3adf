package fakekubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/fakekubelet/internal/pluginmanager"
	"github.com/csisim/csisim/fakekubelet/internal/volumemanager"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// The start times of the parts of a kubelet.
const (
	// configureTime is the time until the program has its sources of pods: flags, certificates,
	// clients, and the connection to the runtime. Then it reports its start. In the recordings this
	// is 274 to 354 ms after the start of its process (m1, bb1, bb2, bb5, bb9, ll1, o2).
	configureTime = 280 * time.Millisecond
	birthTime     = 20 * time.Millisecond
	// runtimeTime is the first round of updateRuntimeUp, which starts cAdvisor and the
	// container manager before the plugin manager: 30 to 90 ms in the recordings, 150 ms
	// without a Node object. K-REG-1
	runtimeTime = 30 * time.Millisecond
	runtimeStep = 10 * time.Millisecond
	// nodeSyncPeriod is the interval at which the source of pods checks whether the node informer
	// has synced. The first check never finds it synced, so no kubelet has listed its pods within
	// the first second. [pkg/kubelet/config/apiserver.go WaitForAPIServerSyncPeriod]
	nodeSyncPeriod = time.Second
)

// run starts the parts of the kubelet, in the order of the real one. K-VM-1
func (k *Kubelet) run(p *kernel.Process) {
	p.Sleep(configureTime)
	k.pods.start()
	p.Sleep(birthTime)
	k.Event(k.reference(), corev1.EventTypeNormal, "Starting", "Starting kubelet.")
	MakeDirectories(k.options.Machine)
	component.SyncLater[*storagev1.CSIDriver](k.Component)
	k.info = nodeinfo.Start(k.Component, k.options.Migration)
	k.volumes = volumemanager.Start(k.Component, k.csi, k.pods, volumemanager.Options{SELinux: k.options.SELinux, Migration: k.options.Migration})
	k.pods.startRelists()
	k.startStatusLoop()
	k.startHousekeeping()
	k.startVolumeStats()
	if len(k.options.Pressure) > 0 {
		k.PressureChanged()
	}
	p.Sleep(k.runtimeTime())
	k.plugins = pluginmanager.Start(k.Component, k.options.Machine, k.options.Wire, k.info)
}

// runtimeTime varies with the strategy: on a new node, drivers are called before or after the node
// has a Node object. K-NODE-6
func (k *Kubelet) runtimeTime() time.Duration {
	const steps = 16
	return runtimeTime + time.Duration(k.Kernel.Choose(kernel.Jitter, steps, "first check of the runtime"))*runtimeStep
}

// reference returns the object of the kubelet's events. The reference contains only the node's
// name, because the kubelet has no other data about the node.
func (k *Kubelet) reference() store.Object {
	name := k.options.Name
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
	}
}

// Rebooted emits the event of a kubelet that detects a reboot of its node.
func (k *Kubelet) Rebooted(why string) {
	k.Event(k.reference(), corev1.EventTypeWarning, "Rebooted", "Node %s has been rebooted: %s", k.options.Machine.Name(), why)
}
