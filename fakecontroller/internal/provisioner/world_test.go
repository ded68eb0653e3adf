package provisioner_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/persistentvolume"
	"github.com/csisim/csisim/fakecontroller/internal/protection"
	"github.com/csisim/csisim/fakecontroller/internal/provisioner"
	"github.com/csisim/csisim/fakecontroller/internal/scheduler"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	driverName = "stub.csi.example.com"
	socket     = "/csi/csi.sock"
)

// world is a control plane with one driver.
type world struct {
	*testcluster.API
	wire        *wire.Wire
	driver      *mock.Driver
	machine     *machine.Memory
	binder      *persistentvolume.Controller
	provisioner *sidecar.Program
	edit        func(*csi.CreateVolumeResponse) // changes the driver's answers
}

// edited is a driver with answers that the test may change.
type edited struct {
	*mock.Controller
	w *world
}

func (e *edited) CreateVolume(ctx context.Context, r *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	answer, err := e.Controller.CreateVolume(ctx, r)
	if err == nil && e.w.edit != nil {
		answer = proto.CloneOf(answer)
		e.w.edit(answer)
	}
	return answer, err
}

// newWorld starts PV binder, protection, scheduler and provisioner.
func newWorld(t *testing.T, kernelOptions kernel.Options, driver mock.Options, options provisioner.Options) *world {
	return newWorldWith(t, kernelOptions, store.Options{Guard: true}, driver, options)
}

func newWorldWith(t testing.TB, kernelOptions kernel.Options, storeOptions store.Options, driver mock.Options, options provisioner.Options) *world {
	w := &world{API: testcluster.NewAPIWith(t, kernelOptions, storeOptions)}
	driver.Name = driverName
	w.driver = mock.New(driver)
	controller := &edited{w.driver.Controller(), w}
	w.machine = machine.NewMemory("controller")
	_, err := w.machine.BindSocket(socket,
		machine.Service{Desc: &csi.Identity_ServiceDesc, Server: controller},
		machine.Service{Desc: &csi.Controller_ServiceDesc, Server: controller})
	require.NoError(t, err)
	w.wire = wire.New(w.World)
	options.Driver, options.Machine, options.Socket = driverName, w.machine, socket
	w.binder = persistentvolume.Start(w.World)
	protection.StartClaims(w.World)
	protection.StartVolumes(w.World)
	scheduler.Start(w.World)
	w.provisioner = provisioner.Start(w.World, w.wire, options)
	t.Cleanup(w.wire.Close)
	return w
}

func (w *world) class(name string, change ...func(*storagev1.StorageClass)) {
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: driverName}
	for _, f := range change {
		f(class)
	}
	testcluster.Create(w, class)
}

func waitForFirstConsumer(c *storagev1.StorageClass) {
	mode := storagev1.VolumeBindingWaitForFirstConsumer
	c.VolumeBindingMode = &mode
}

func (w *world) claim(name, class string) *corev1.PersistentVolumeClaim {
	return testcluster.Create(w, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: &class,
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("16Mi")}},
		},
	})
}

func (w *world) pod(name, claim, node string) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "sleep"}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}},
		},
	}
	if node != "" {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	}
	testcluster.Create(w, pod)
}

const zoneKey = driverName + "/zone"

func (w *world) node(name string) {
	w.driver.Node(mock.NodeOptions{NodeID: name})
	testcluster.Create(w, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name, zoneKey: name}}})
	testcluster.Create(w, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: storagev1.CSINodeSpec{
		Drivers: []storagev1.CSINodeDriver{{Name: driverName, NodeID: name, TopologyKeys: []string{zoneKey}}}}})
}

// runFor advances virtual time. told returns the trace since a point as short lines: API changes,
// calls, events.
func (w *world) events(since uint64, kinds ...trace.Kind) []string {
	var lines []string
	for _, e := range w.Trace.Events() {
		if e.Seq <= since || !slices.Contains(kinds, e.Kind) || e.Method == "Identity/Probe" {
			continue
		}
		line := ""
		switch e.Kind {
		case trace.API:
			line = e.Change + " " + e.Resource
		case trace.Call:
			line = strings.TrimSpace(e.Method + " " + e.Code)
		case trace.KubeEvent:
			line = fmt.Sprintf("%s %s", e.Method, e.Message)
		}
		lines = append(lines, line)
	}
	return lines
}

// callTimes returns the start times of a method's calls, relative to the first call.
func (w *world) callTimes(method string) []time.Duration {
	var at []time.Duration
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.Call && e.Method == method {
			at = append(at, e.At)
		}
	}
	for i := len(at) - 1; i >= 0; i-- {
		at[i] -= at[0]
	}
	return at
}

func get[T store.Object](w *world, namespace, name string) (T, bool) {
	return store.Get[T](w.Store, store.Key{Namespace: namespace, Name: name})
}

func (w *world) deleteClaim(name string) {
	_, err := store.Delete[*corev1.PersistentVolumeClaim](w.Store, store.Key{Namespace: "default", Name: name})
	require.NoError(w.T, err)
}

// volumes are the names and phases of all PersistentVolumes.
func (w *world) volumes() []*corev1.PersistentVolume {
	return slices.Collect(store.List[*corev1.PersistentVolume](w.Store, ""))
}
