package attachdetach

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const driver = "disk.csi.example.com"

// cluster is the cluster of one test. The test acts as all components except the attach/detach
// controller.
type cluster struct{ *testcluster.API }

func newCluster(t *testing.T) *cluster { return newClusterUnder(t, kernel.Calm{}) }

func newClusterUnder(t *testing.T, strategy kernel.Strategy) *cluster {
	return &cluster{testcluster.NewAPI(t, strategy, kind.NoServiceAccounts)}
}

// until runs the cluster until cond holds, and returns the time.
func (c *cluster) until(what string, cond func() bool) time.Duration {
	c.T.Helper()
	reason := c.Kernel.Run(kernel.Until{Cond: cond, At: c.Kernel.Elapsed() + time.Hour})
	require.Equal(c.T, kernel.Done, reason, "waiting for %s: %v", what, c.Kernel.Err())
	return c.Kernel.Elapsed()
}

func (c *cluster) node(name string) {
	testcluster.Create(c, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{managedAnnotation: "true"}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	})
}

func (c *cluster) changeNode(name string, change func(*corev1.Node)) {
	c.T.Helper()
	_, err := store.Modify(c.Store, store.Key{Name: name}, change)
	require.NoError(c.T, err)
}

func (c *cluster) changeNodeStatus(name string, change func(*corev1.NodeStatus)) {
	c.T.Helper()
	_, err := store.ModifyStatus(c.Store, store.Key{Name: name}, func(n *corev1.Node) { change(&n.Status) })
	require.NoError(c.T, err)
}

// uses is the kubelet's report of its mounted volumes.
func (c *cluster) uses(node string, volumes ...string) {
	c.changeNodeStatus(node, func(s *corev1.NodeStatus) {
		s.VolumesInUse = nil
		for _, v := range volumes {
			s.VolumesInUse = append(s.VolumesInUse, corev1.UniqueVolumeName(unique(v)))
		}
	})
}

func (c *cluster) silent(node string) {
	c.changeNodeStatus(node, func(s *corev1.NodeStatus) { s.Conditions[0].Status = corev1.ConditionUnknown })
}

func unique(volume string) string { return "kubernetes.io/csi/" + driver + "^h-" + volume }

// volume creates a bound claim and its persistent volume.
func (c *cluster) volume(name string, modes ...corev1.PersistentVolumeAccessMode) {
	c.T.Helper()
	c.volumeOf(name, corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "h-" + name}}, modes...)
}

func (c *cluster) volumeOf(name string, source corev1.PersistentVolumeSource, modes ...corev1.PersistentVolumeAccessMode) {
	c.T.Helper()
	if len(modes) == 0 {
		modes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	}
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	class := ""
	claim := testcluster.Create(c, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, VolumeName: name, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: size},
		},
	})
	testcluster.Create(c, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: modes, Capacity: size,
			ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "default", Name: name, UID: claim.UID},
			PersistentVolumeSource: source,
		},
	})
	_, err := store.ModifyStatus(c.Store, store.KeyOf(claim), func(claim *corev1.PersistentVolumeClaim) {
		claim.Status.Phase = corev1.ClaimBound
	})
	require.NoError(c.T, err)
}

func (c *cluster) pod(name, node, claim string) {
	c.T.Helper()
	c.podWith(name, node, corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
	})
}

func (c *cluster) podWith(name, node string, source corev1.VolumeSource) {
	c.T.Helper()
	testcluster.Create(c, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PodSpec{
			NodeName:   node,
			Containers: []corev1.Container{{Name: "c", Image: "i"}},
			Volumes:    []corev1.Volume{{Name: "data", VolumeSource: source}},
		},
	})
}

func (c *cluster) deletePod(name string) {
	c.T.Helper()
	_, err := store.Delete[*corev1.Pod](c.Store, store.Key{Namespace: "default", Name: name}, store.GracePeriod(0))
	require.NoError(c.T, err)
}

func (c *cluster) attachment(volume, node string) *storagev1.VolumeAttachment {
	va, _ := store.Get[*storagev1.VolumeAttachment](c.Store, store.Key{Name: objectName(pair{unique(volume), node})})
	return va
}

func (c *cluster) setAttachment(volume, node string, change func(*storagev1.VolumeAttachmentStatus)) {
	c.T.Helper()
	_, err := store.ModifyStatus(c.Store, store.Key{Name: objectName(pair{unique(volume), node})}, func(va *storagev1.VolumeAttachment) {
		change(&va.Status)
	})
	require.NoError(c.T, err)
}

func (c *cluster) volumesAttached(node string) []string {
	n, ok := store.Get[*corev1.Node](c.Store, store.Key{Name: node})
	require.True(c.T, ok)
	var names []string
	for _, v := range n.Status.VolumesAttached {
		names = append(names, string(v.Name))
	}
	return names
}

// attacher acts as an external attacher that attaches and detaches at once.
func (c *cluster) attacher() {
	const finalizer = "external-attacher/disk"
	sidecar := c.World.Start("attacher", "")
	sidecar.Go("", func(p *kernel.Process) {
		w := component.Watch[*storagev1.VolumeAttachment](sidecar, p)
		for {
			for e, ok := w.Next(); ok; e, ok = w.Next() {
				va, exists := store.Get[*storagev1.VolumeAttachment](c.Store, store.KeyOf(e.Object))
				switch {
				case !exists:
				case va.DeletionTimestamp != nil:
					_, _ = component.Patch(p, sidecar, store.KeyOf(va), func(va *storagev1.VolumeAttachment) { va.Finalizers = nil })
				case !va.Status.Attached:
					_, _ = component.Patch(p, sidecar, store.KeyOf(va), func(va *storagev1.VolumeAttachment) { va.Finalizers = []string{finalizer} })
					_, _ = component.PatchStatus(p, sidecar, store.KeyOf(va), func(va *storagev1.VolumeAttachment) { va.Status.Attached = true })
				}
			}
			p.Park("attachments")
		}
	})
}

// story returns the events about pods and the changes of attachments and of volumesAttached, with
// their times.
func (c *cluster) story() []string {
	var lines []string
	for _, e := range c.World.Trace.Events() {
		switch {
		case e.Kind == trace.KubeEvent:
			lines = append(lines, fmt.Sprintf("%v %s %s %s", e.At, e.Name, e.Method, e.Message))
		case e.Kind == trace.API && e.Resource == "volumeattachments" && e.Change != "MODIFIED":
			lines = append(lines, fmt.Sprintf("%v attachment %s", e.At, e.Change))
		case e.Kind == trace.API && e.Resource == "nodes" && e.Old != nil && e.New != nil:
			was, is := e.Old.(*corev1.Node).Status.VolumesAttached, e.New.(*corev1.Node).Status.VolumesAttached
			if len(was) != len(is) {
				lines = append(lines, fmt.Sprintf("%v %s has %d attached", e.At, e.Name, len(is)))
			}
		}
	}
	return lines
}

// warnings returns the times of all events FailedAttachVolume.
func (c *cluster) warnings() []time.Duration {
	var at []time.Duration
	for _, e := range c.World.Trace.Events() {
		if e.Kind == trace.KubeEvent && e.Method == "FailedAttachVolume" {
			at = append(at, e.At)
		}
	}
	return at
}
