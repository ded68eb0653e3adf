package healthmonitor

import (
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	tc "github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	listVolumes = "Controller/ListVolumes"
	getVolume   = "Controller/ControllerGetVolume"
)

// world is a cluster with claims v and w, and a driver with their volumes.
type world struct {
	*tc.Cluster
	sidecar *sidecar.Program
}

func newWorld(t *testing.T, o mock.Options, flags Options) *world {
	o.VolumeCondition = true
	o.Existing = []mock.ExistingVolume{{ID: "h-v"}, {ID: "h-w"}}
	w := &world{Cluster: tc.New(t, kernel.Calm{}, o)}
	w.Bound("v", "any")
	w.Bound("w", "any")
	flags.Driver, flags.Machine, flags.Socket = tc.Driver, w.Machine, tc.Socket
	w.sidecar = Start(w.World, w.Wire, flags)
	w.Run(time.Second)
	return w
}

func (w *world) condition(volume, message string) {
	var c *mock.Condition
	if message != "" {
		c = &mock.Condition{Message: message}
	}
	require.NoError(w.T, w.Driver.SetCondition(volume, c))
}

// asked returns the volumes in calls to the driver.
func (w *world) asked() (ids []string) {
	for _, call := range w.Calls(getVolume) {
		ids = append(ids, call.Request.(*csi.ControllerGetVolumeRequest).GetVolumeId())
	}
	return ids
}

// events returns the events since the last look, with their objects.
func (w *world) events(since *uint64) (lines []string) {
	for _, e := range w.Trace.Events() {
		if e.Seq > *since && e.Kind == trace.KubeEvent {
			lines = append(lines, e.Resource+" "+e.Name+" "+e.Method+" "+e.Message)
		}
	}
	*since = w.Trace.Last()
	return lines
}

// C-HEALTH-3, C-HEALTH-5
func TestListedVolumesAreReportedWhenAbnormalAndWhenHealthyAgain(t *testing.T) {
	w := newWorld(t, mock.Options{ListVolumes: true, GetVolume: true}, Options{})
	last := uint64(0)
	assert.Equal(t, []time.Duration{0}, w.Times(listVolumes))
	assert.Empty(t, w.events(&last))

	w.condition("h-v", "the disk is on fire")
	w.Run(5 * time.Minute)
	assert.Equal(t, []string{"Warning PersistentVolumeClaim/v VolumeConditionAbnormal the disk is on fire"}, w.events(&last))
	w.condition("h-v", "")
	w.Run(10 * time.Minute)
	const well = "Normal PersistentVolumeClaim/v VolumeConditionNormal The Volume returns to the healthy state"
	assert.Equal(t, []string{well, well}, w.events(&last), "as long as there is an event that says otherwise")
	w.Run(2 * time.Hour)
	w.events(&last)
	w.Run(10 * time.Minute)
	assert.Empty(t, w.events(&last), "the event has expired")
	assert.Empty(t, w.Calls(getVolume))
}

// C-HEALTH-3: an error is reported nowhere.
func TestAListThatFailsIsDropped(t *testing.T) {
	w := newWorld(t, mock.Options{ListVolumes: true}, Options{ListVolumesInterval: time.Minute})
	last := uint64(0)
	w.condition("h-v", "the disk is on fire")
	w.Fail("ListVolumes", codes.Internal, 2)
	w.Run(2 * time.Minute)
	assert.Empty(t, w.events(&last))
	w.Run(time.Minute)
	assert.Len(t, w.events(&last), 1)
	assert.Equal(t, []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute}, w.Times(listVolumes))
}

// C-HEALTH-4: without a list, each worker checks one volume per interval.
func TestVolumesAreCheckedOneByOne(t *testing.T) {
	w := newWorld(t, mock.Options{GetVolume: true}, Options{Workers: 1})
	last := uint64(0)
	w.condition("h-w", "read-only")
	w.Run(4 * time.Minute)
	assert.Equal(t, []string{"h-v", "h-w", "h-v", "h-w", "h-v"}, w.asked())
	assert.Equal(t, []time.Duration{0, time.Minute, 2 * time.Minute, 3 * time.Minute, 4 * time.Minute}, w.Times(getVolume))
	events := w.events(&last)
	assert.Equal(t, []string{"Warning PersistentVolumeClaim/w VolumeConditionAbnormal read-only", "Warning PersistentVolumeClaim/w VolumeConditionAbnormal read-only"}, events)
}

// C-HEALTH-4: after an error a volume is still checked again.
func TestAVolumeThatCannotBeReadStaysInTheQueue(t *testing.T) {
	w := newWorld(t, mock.Options{GetVolume: true}, Options{Workers: 2})
	w.Fail("ControllerGetVolume", codes.Internal, 2)
	w.Run(3 * time.Minute)
	assert.GreaterOrEqual(t, len(w.Calls(getVolume)), 4)
}

// C-HEALTH-6: a volume that was queued before it was bound is never checked.
func TestAVolumeThatIsBoundLateIsForgotten(t *testing.T) {
	w := newWorld(t, mock.Options{GetVolume: true}, Options{})
	pv := tc.Get[*corev1.PersistentVolume](w.Cluster, "", "v")
	tc.ChangeStatus(w.Cluster, pv, func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeAvailable })
	w.Run(6 * time.Minute)
	tc.ChangeStatus(w.Cluster, pv, func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeBound })
	count := func() (n int) {
		for _, id := range w.asked() {
			if id == "h-v" {
				n++
			}
		}
		return n
	}
	before := count()
	w.Run(30 * time.Minute)
	assert.Equal(t, before, count())
}

// C-HEALTH-2
func TestTheMonitorEndsBesideADriverThatDoesNotReport(t *testing.T) {
	w := newWorld(t, mock.Options{}, Options{})
	assert.False(t, w.sidecar.Running())
}

func (w *world) ready(name string, ready corev1.ConditionStatus) {
	node := tc.Get[*corev1.Node](w.Cluster, "", name)
	tc.ChangeStatus(w.Cluster, node, func(n *corev1.Node) {
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
	})
}

// C-HEALTH-7..9: the end of a node, which crashes the real monitor, is reported as a failure.
func TestClaimsAreReportedOnNodeFailures(t *testing.T) {
	w := newWorld(t, mock.Options{ListVolumes: true}, Options{NodeWatcher: true})
	last := uint64(0)
	tc.Create(w.Cluster, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}})
	w.ready("node-a", corev1.ConditionTrue)
	pod := func(name, node, claim string) {
		tc.Create(w.Cluster, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.PodSpec{
			NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "i"}},
			Volumes: []corev1.Volume{{Name: "d", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim}}}},
		}})
	}
	pod("web", "node-a", "v")
	pod("db", "node-a", "v")
	pod("elsewhere", "node-b", "w")
	w.Run(time.Minute)
	w.ready("node-a", corev1.ConditionUnknown)
	w.Run(4 * time.Minute)
	assert.Empty(t, w.events(&last), "not yet")
	w.Run(8 * time.Minute)
	const failed = "Warning PersistentVolumeClaim/v NodeFailed Pods: [ db web ] consuming PVC: v in namespace: default are now on a failed node: node-a"
	assert.Equal(t, []string{failed}, w.events(&last))
	w.Run(20 * time.Minute)
	assert.Contains(t, w.events(&last), failed, "again")
	w.ready("node-a", corev1.ConditionTrue)
	w.Run(time.Second)
	assert.Equal(t, []string{"Warning PersistentVolumeClaim/v NodeRecovered Node: node-a recovered"}, w.events(&last))
	tc.Delete(w.Cluster, tc.Get[*corev1.Node](w.Cluster, "", "node-a"))
	w.Run(time.Second)
	assert.Equal(t, []string{failed}, w.events(&last))
}

// C-HEALTH-1
func TestFlagsOfTheMonitor(t *testing.T) {
	assert.Equal(t, Options{
		MonitorInterval: time.Minute, ListVolumesInterval: 5 * time.Minute, VolumeListAddInterval: 5 * time.Minute,
		NodeListAddInterval: 5 * time.Minute, Timeout: 15 * time.Second, Workers: 10,
	}, Options{}.withDefaults())

	w := newWorld(t, mock.Options{ListVolumes: true}, Options{})
	w.condition("h-v", "the disk is on fire")
	w.Run(5 * time.Minute)
	var sources []string
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent {
			sources = append(sources, e.Actor)
		}
	}
	assert.Equal(t, []string{"csi-pv-monitor-controller-" + tc.Driver}, sources)
}

// C-HEALTH-3: all pages are requested under one timeout; a list without a last page uses it up.
func TestAListWithoutALastPageTakesTheWholeTimeout(t *testing.T) {
	w := newWorld(t, mock.Options{ListVolumes: true, Faulty: []string{"list-never-ends"}}, Options{})
	w.condition("h-v", "the disk is on fire")
	w.Run(11 * time.Minute)
	assert.Equal(t, []time.Duration{0, 0, 315 * time.Second, 315 * time.Second, 630 * time.Second, 630 * time.Second}, w.Times(listVolumes))
	last := uint64(0)
	assert.Empty(t, w.events(&last), "earlier lists do not count")
	var breaches []string
	for _, v := range w.Wire.Violations() {
		breaches = append(breaches, v.String())
	}
	assert.Equal(t, []string{`ListVolumesResponse.next_token "1" comes a second time, so the list never ends: the CSI spec wants it empty on the last page (ListVolumes)`}, breaches)
}
