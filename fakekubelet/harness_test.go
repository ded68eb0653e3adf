package fakekubelet_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/volume"
)

const (
	driverName = "disk.csi.example.com"
	nodeName   = "node-a"
	className  = "standard"
	endpoint   = machine.KubeletDir + "/plugins/" + driverName + "/csi.sock"
)

// The times at which a starting kubelet first writes its node's status, and at which it has listed
// its pods.
const (
	firstStatus = 400 * time.Millisecond
	podsListed  = 1280 * time.Millisecond
)

var oneGi = resource.MustParse("1Gi")

// setting lists a test's differences from the usual setting. Usually the driver can stage, and its
// volumes need no attaching and may be inline.
type setting struct {
	driver    mock.Options
	csiDriver func(*storagev1.CSIDriverSpec)
	// noCSIDriver leaves the CSIDriver object out.
	noCSIDriver bool
	strategy    kernel.Strategy
	chownTime   time.Duration
	seLinux     bool
	features    feature.Gates
	version     version.Version
	// statsPeriod is the period of volume statistics; 0 disables them.
	statsPeriod time.Duration
	// lives describes how the containers of images end.
	lives map[string]runtime.Life
	// recovers: a reboot loses the records of the runtime, which recovers them from the pods.
	recovers bool
	// deviceLinks: the driver publishes devices by links to them.
	deviceLinks bool
}

// node is an API server and one node with a kubelet and a driver. The test plays
// users and controllers.
type node struct {
	*component.World
	t         *testing.T
	machine   *machine.Memory
	runtime   *runtime.Runtime
	wire      *wire.Wire
	driver    *mock.Driver
	serving   machine.Listener
	registrar *registrar.Registrar
	kubelet   *fakekubelet.Kubelet
	pressure  fakekubelet.Pressure
	setting   setting
	since     *trace.Event // earlier events do not count
}

// start returns a node with a registered driver.
func start(t *testing.T, s setting) *node {
	k := kernel.New(kernel.Options{Strategy: s.strategy, Patience: time.Minute})
	n := &node{t: t, setting: s, machine: machine.NewMemory(nodeName), pressure: fakekubelet.Pressure{}}
	n.World = component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
	n.Features = s.features
	n.wire = wire.New(n.World)
	n.newRuntime()
	t.Cleanup(func() {
		k.Close()
		n.wire.Close()
		require.NoError(t, n.machine.Close())
	})
	s.driver.Name = driverName
	s.driver.Faulty = append(s.driver.Faulty, "stage-needs-no-attach")
	s.driver.Existing = []mock.ExistingVolume{{ID: "h-data"}, {ID: "h-more"}}
	n.driver = mock.New(s.driver)
	spec := storagev1.CSIDriverSpec{
		AttachRequired:       new(bool),
		VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral},
	}
	if s.csiDriver != nil {
		s.csiDriver(&spec)
	}
	create(n, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: className}, Provisioner: driverName, AllowVolumeExpansion: new(true)})
	if !s.noCSIDriver {
		create(n, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driverName}, Spec: spec})
	}
	n.startKubelet()
	n.startDriver()
	n.registrar = registrar.New(n.World, n.wire, registrar.Options{Node: nodeName, Machine: n.machine, Endpoint: endpoint})
	n.registrar.Start()
	n.until(func() bool { return len(n.kubelet.Registered()) > 0 && n.kubelet.Up() })
	n.pass(20 * time.Millisecond) // until the next pass of the volume manager
	n.forget()
	return n
}

func (n *node) newRuntime() {
	n.runtime = runtime.New(n.World, nodeName, runtime.Options{Lives: n.setting.lives})
}

func create[T store.Object](n *node, obj T) T {
	n.t.Helper()
	made, err := store.Create(n.Store, obj)
	require.NoError(n.t, err)
	return made
}

// Actions of the owner of the machine.

func (n *node) startKubelet() {
	n.kubelet = fakekubelet.Start(n.World, fakekubelet.Options{
		Name: nodeName, Machine: n.machine, Runtime: n.runtime, Wire: n.wire, ChownTime: n.setting.chownTime, SELinux: n.setting.seLinux,
		Version:     n.setting.version,
		Pressure:    n.pressure,
		StatsPeriod: cmp.Or(n.setting.statsPeriod, -1),
	})
}

func (n *node) killKubelet() { n.kubelet.Crash() }

func (n *node) startDriver() {
	plugin := n.driver.Node(nodeOptions(n))
	_ = n.machine.Remove(endpoint)
	var err error
	n.serving, err = n.machine.BindSocket(endpoint,
		machine.Service{Desc: &csi.Identity_ServiceDesc, Server: plugin}, machine.Service{Desc: &csi.Node_ServiceDesc, Server: plugin})
	require.NoError(n.t, err)
}

func nodeOptions(n *node) mock.NodeOptions {
	return mock.NodeOptions{NodeID: nodeName, Mounter: mounter{n.machine, n.setting.deviceLinks}}
}

// killDriver leaves the driver registered.
func (n *node) killDriver() { require.NoError(n.t, n.serving.Close()) }

// unregister stops the registrar, and lets the kubelet notice it.
func (n *node) unregister() {
	require.NoError(n.t, n.registrar.Stop())
	n.until(func() bool { return len(n.kubelet.Registered()) == 0 })
}

// fail makes the next calls of a method fail with a code, without reaching the driver. If times is
// 0, all further calls fail.
func (n *node) fail(method string, code codes.Code, times int) {
	n.wire.Faults.Inject(&fault.Fault{Name: method, Call: method, Effect: fault.Answer, Code: code, Message: "injected", Times: times})
}

// hold makes the next call of a method reach the driver late.
func (n *node) hold(method string, delay time.Duration) {
	n.wire.Faults.Inject(&fault.Fault{Name: method, Call: method, Effect: fault.HoldRequest, Delay: delay, Times: 1})
}

// loseAnswer makes the driver execute the next call of a method without answering.
func (n *node) loseAnswer(method string, code codes.Code) {
	n.wire.Faults.Inject(&fault.Fault{Name: method, Call: method, Effect: fault.LoseAnswer, Code: code, Message: "lost", Times: 1})
}

func (n *node) heal() { n.wire.Faults.Clear("") }

// Actions of users and controllers.

// volume creates a persistent volume and the claim bound to it.
func (n *node) volume(name string, change ...func(*corev1.PersistentVolume)) {
	n.t.Helper()
	class := className
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-" + name},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: oneGi},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: driverName, VolumeHandle: "h-" + name},
			},
		},
	}
	for _, f := range change {
		f(pv)
	}
	claim := create(n, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: pv.Spec.AccessModes, VolumeName: pv.Name, StorageClassName: &class, VolumeMode: pv.Spec.VolumeMode,
			Resources: corev1.VolumeResourceRequirements{Requests: pv.Spec.Capacity},
		},
	})
	pv.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "default", Name: name, UID: claim.UID}
	create(n, pv)
	_, err := store.ModifyStatus(n.Store, store.KeyOf(claim), func(c *corev1.PersistentVolumeClaim) {
		c.Status.Phase, c.Status.Capacity = corev1.ClaimBound, pv.Spec.Capacity
	})
	require.NoError(n.t, err)
}

func block(pv *corev1.PersistentVolume) {
	mode := corev1.PersistentVolumeBlock
	pv.Spec.VolumeMode = &mode
}

func accessMode(mode corev1.PersistentVolumeAccessMode) func(*corev1.PersistentVolume) {
	return func(pv *corev1.PersistentVolume) { pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{mode} }
}

// attached writes the state that the attach/detach controller and csi-attacher leave after
// attaching a volume.
func (n *node) attached(name string) {
	n.t.Helper()
	n.attachment(name, storagev1.VolumeAttachmentStatus{Attached: true, AttachmentMetadata: map[string]string{"lun": "7"}})
	_, err := store.ModifyStatus(n.Store, store.Key{Name: nodeName}, func(node *corev1.Node) {
		node.Status.VolumesAttached = append(node.Status.VolumesAttached, corev1.AttachedVolume{Name: unique(name)})
	})
	require.NoError(n.t, err)
}

func (n *node) attachment(name string, status storagev1.VolumeAttachmentStatus) {
	pv := "pv-" + name
	va := create(n, &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: volume.AttachmentName("h-"+name, driverName, nodeName)},
		Spec: storagev1.VolumeAttachmentSpec{
			Attacher: driverName, NodeName: nodeName, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv},
		},
	})
	_, err := store.ModifyStatus(n.Store, store.KeyOf(va), func(va *storagev1.VolumeAttachment) { va.Status = status })
	require.NoError(n.t, err)
}

func unique(name string) corev1.UniqueVolumeName {
	return corev1.UniqueVolumeName(volume.UniqueName(driverName, "h-"+name))
}

// pod makes a pod on the node with a container that uses volumes.
func (n *node) pod(name string, uses ...func(*corev1.PodSpec)) types.UID {
	n.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       corev1.PodSpec{NodeName: nodeName, Containers: []corev1.Container{{Name: "c", Image: "registry.local/sleep:1"}}},
	}
	for _, use := range uses {
		use(&pod.Spec)
	}
	return create(n, pod).UID
}

func using(claim string) func(*corev1.PodSpec) {
	return mounting(claim, corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}})
}

func mounting(name string, source corev1.VolumeSource) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		c := &spec.Containers[0]
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/mnt/" + name})
	}
}

func usingDevice(claim string) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		using(claim)(spec)
		spec.Containers[0].VolumeMounts = nil
		spec.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: claim, DevicePath: "/dev/xvda"}}
	}
}

func inline(name string) func(*corev1.PodSpec) {
	return mounting(name, corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
		Driver: driverName, VolumeAttributes: map[string]string{"size": "1"},
	}})
}

func fsGroup(gid int64) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) { spec.SecurityContext = &corev1.PodSecurityContext{FSGroup: &gid} }
}

func podKey(name string) store.Key { return store.Key{Namespace: "default", Name: name} }

func (n *node) deletePod(name string, opts ...store.DeleteOption) {
	n.t.Helper()
	_, err := store.Delete[*corev1.Pod](n.Store, podKey(name), opts...)
	require.NoError(n.t, err)
}

func (n *node) forceDelete(name string) { n.t.Helper(); n.deletePod(name, store.GracePeriod(0)) }

// How time passes.

func (n *node) pass(d time.Duration) {
	n.t.Helper()
	reason := n.Kernel.Run(kernel.Until{At: n.Kernel.Elapsed() + d})
	require.Equal(n.t, kernel.Deadline, reason, n.Kernel.Err())
}

// thirdRetry waits until an operation has failed three more times: half a second, one and two
// seconds after the first failure. The next retry is more than three seconds away, so a deleted pod
// has ended by then.
func (n *node) thirdRetry() { n.t.Helper(); n.pass(4500 * time.Millisecond) }

func (n *node) until(cond func() bool) {
	n.t.Helper()
	reason := n.Kernel.Run(kernel.Until{Cond: cond, At: n.Kernel.Elapsed() + time.Hour})
	require.Equal(n.t, kernel.Done, reason, "%v %v", n.Kernel.Err(), n.Kernel.Waiting())
}

// settle waits until everything in progress has happened.
func (n *node) settle() {
	n.t.Helper()
	reason := n.Kernel.Run(kernel.Until{StopWhenQuiet: true, At: n.Kernel.Elapsed() + time.Hour})
	require.Equal(n.t, kernel.Quiet, reason, "%v %v", n.Kernel.Err(), n.Kernel.Waiting())
}

// run starts a pod, and discards the events of its start.
func (n *node) run(name string) {
	n.t.Helper()
	n.waitRunning(name)
	n.forget()
}

func (n *node) waitRunning(name string) {
	n.t.Helper()
	n.until(func() bool { return n.phase(name) == corev1.PodRunning })
}

// setPhase sets the phase of a pod after its containers have exited.
func (n *node) setPhase(name string, phase corev1.PodPhase) {
	n.t.Helper()
	_, err := store.ModifyStatus(n.Store, podKey(name), func(pod *corev1.Pod) { pod.Status.Phase = phase })
	require.NoError(n.t, err)
}
