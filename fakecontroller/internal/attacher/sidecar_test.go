package attacher

import (
	"fmt"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	driverName = "disk.csi.example.com"
	socket     = "/csi/csi.sock"
	finalizer  = "external-attacher/disk-csi-example-com"
)

// site is the environment of one test: a driver's controller plugin, and an API in which the test
// plays all components except the attacher.
type site struct {
	*testcluster.API
	wire    *wire.Wire
	machine *machine.Memory
	driver  *mock.Driver
	server  machine.Listener
}

func newSite(t *testing.T, strategy kernel.Strategy, o mock.Options) *site {
	api := testcluster.NewAPI(t, strategy, kind.NoServiceAccounts)
	o.Name = driverName
	o.Existing = []mock.ExistingVolume{{ID: "h-v"}}
	c := &site{api, wire.New(api.World), machine.NewMemory("controller"), mock.New(o), nil}
	t.Cleanup(c.wire.Close)
	c.serve()
	c.driver.Node(mock.NodeOptions{NodeID: "node-a"}) // the driver knows its nodes
	c.objects()
	return c
}

func (c *site) serve() {
	c.T.Helper()
	plugin := c.driver.Controller()
	server, err := c.machine.BindSocket(socket,
		machine.Service{Desc: &csi.Identity_ServiceDesc, Server: plugin},
		machine.Service{Desc: &csi.Controller_ServiceDesc, Server: plugin})
	require.NoError(c.T, err)
	c.server = server
}

func (c *site) options() Options {
	return Options{Driver: driverName, Machine: c.machine, Socket: socket}
}

func (c *site) start() *sidecar.Program { return Start(c.World, c.wire, c.options()) }

// objects creates node-a, which runs the driver, and volume v.
func (c *site) objects() {
	testcluster.Create(c, &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{Name: "node-a"},
		Spec:       storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driverName, NodeID: "node-a"}}},
	})
	testcluster.Create(c, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "v"},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
				Driver: driverName, VolumeHandle: "h-v", FSType: "ext4",
			}},
		},
	})
}

var attachmentKey = store.Key{Name: "va"}

func (c *site) attach() {
	name := "v"
	testcluster.Create(c, &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: "va"},
		Spec: storagev1.VolumeAttachmentSpec{
			Attacher: driverName, NodeName: "node-a", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name},
		},
	})
}

func (c *site) detach() {
	c.T.Helper()
	_, err := store.Delete[*storagev1.VolumeAttachment](c.Store, attachmentKey)
	require.NoError(c.T, err)
}

func (c *site) attachment() *storagev1.VolumeAttachment {
	va, _ := store.Get[*storagev1.VolumeAttachment](c.Store, attachmentKey)
	return va
}

func (c *site) volume() *corev1.PersistentVolume {
	pv, _ := store.Get[*corev1.PersistentVolume](c.Store, store.Key{Name: "v"})
	return pv
}

// at runs until a virtual time. calls returns the start times of a method's calls.
func (c *site) calls(method string) []time.Duration {
	var at []time.Duration
	for _, e := range c.World.Trace.Events() {
		if e.Kind == trace.Call && e.Method == "Controller/"+method {
			at = append(at, e.At)
		}
	}
	return at
}

// story returns the calls and changes, in their order.
func (c *site) story() []string {
	var lines []string
	for _, e := range c.World.Trace.Events() {
		switch e.Kind {
		case trace.Call:
			lines = append(lines, e.Method+" "+e.Code)
		case trace.API:
			lines = append(lines, fmt.Sprintf("%s %s", e.Resource, e.Change))
		}
	}
	return lines
}
