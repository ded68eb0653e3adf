package testcluster

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	// Driver is the name of the driver.
	Driver = "disk.csi.example.com"
	// Socket is the socket of its controller plugin.
	Socket = "/csi/csi.sock"
)

// Cluster is an API, and the controller plugin of a mock driver.
type Cluster struct {
	*API
	Wire    *wire.Wire
	Machine *machine.Memory
	Driver  *mock.Driver
}

// New makes a cluster with the driver.
func New(t testing.TB, strategy kernel.Strategy, o mock.Options) *Cluster {
	api := NewAPI(t, strategy, kind.NoServiceAccounts)
	o.Name = Driver
	c := &Cluster{api, wire.New(api.World), machine.NewMemory("controller"), mock.New(o)}
	t.Cleanup(c.Wire.Close)
	plugin := c.Driver.Controller()
	_, err := c.Machine.BindSocket(Socket,
		machine.Service{Desc: &csi.Identity_ServiceDesc, Server: plugin},
		machine.Service{Desc: &csi.Controller_ServiceDesc, Server: plugin},
		machine.Service{Desc: &csi.GroupController_ServiceDesc, Server: plugin},
		machine.Service{Desc: &csi.Node_ServiceDesc, Server: plugin})
	require.NoError(t, err)
	return c
}

// Fail makes calls of a method, such as "CreateSnapshot", fail with a code before they reach the
// driver. times limits the number; 0 means always.
func (c *Cluster) Fail(call string, code codes.Code, times int) {
	c.Wire.Faults.Inject(&fault.Fault{Name: call, Call: call, Effect: fault.Answer, Code: code, Message: "refused", Times: times})
}

// Mend ends the fault of Fail.
func (c *Cluster) Mend(call string) { c.Wire.Faults.Clear(call) }

// Events returns the events since an event of the trace, as short lines: API changes, calls other
// than for capabilities, and Kubernetes events.
func (c *Cluster) Events(since uint64, kinds ...trace.Kind) []string {
	var lines []string
	for _, e := range c.Trace.Events() {
		if e.Seq <= since || !slices.Contains(kinds, e.Kind) || isQuestion(e.Method) {
			continue
		}
		switch e.Kind {
		case trace.API:
			lines = append(lines, e.Change+" "+e.Resource)
		case trace.Call:
			_, call, _ := strings.Cut(e.Method, "/")
			lines = append(lines, strings.TrimSpace(call+" "+e.Code))
		case trace.KubeEvent:
			lines = append(lines, e.Method+" "+e.Message)
		}
	}
	return lines
}

func isQuestion(method string) bool {
	return strings.HasPrefix(method, "Identity/") || strings.HasSuffix(method, "GetCapabilities")
}

// Calls returns the calls of a method, such as "Controller/ControllerExpandVolume".
func (c *Cluster) Calls(method string) []*trace.Event {
	var calls []*trace.Event
	for _, e := range c.Trace.Events() {
		if e.Kind == trace.Call && e.Method == method {
			calls = append(calls, e)
		}
	}
	return calls
}

// Times returns the start times of a method's calls, relative to the first call.
func (c *Cluster) Times(method string) []time.Duration {
	var at []time.Duration
	for _, e := range c.Calls(method) {
		at = append(at, e.At)
	}
	for i := len(at) - 1; i >= 0; i-- {
		at[i] -= at[0]
	}
	return at
}

// Bound makes a claim of 1Gi and a bound volume of the driver, both with the given name, in
// namespace default. The volume's handle is "h-<name>"; the driver has the volume if
// mock.Options.Existing lists the handle.
func (c *Cluster) Bound(name, class string) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	c.T.Helper()
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	pvc := Create(c, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: &class, VolumeName: name,
			Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	})
	pv := Create(c, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: modes, StorageClassName: class, Capacity: size,
			ClaimRef: &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "default", Name: name, UID: pvc.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: Driver, VolumeHandle: "h-" + name},
			},
		},
	})
	pv = ChangeStatus(c, pv, func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeBound })
	pvc = ChangeStatus(c, pvc, func(pvc *corev1.PersistentVolumeClaim) {
		pvc.Status.Phase, pvc.Status.Capacity, pvc.Status.AccessModes = corev1.ClaimBound, size, modes
	})
	return pvc, pv
}
