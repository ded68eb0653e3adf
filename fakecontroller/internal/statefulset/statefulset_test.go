package statefulset

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

const namespace = "default"

var oneGi = resource.MustParse("1Gi")

// cluster acts as the kubelet: it makes pods ready, and ends them.
type cluster struct {
	*testcluster.Cluster
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{testcluster.New(t, nil, mock.Options{})}
	Start(c.World)
	return c
}

func (c *cluster) makeSet(change func(*appsv1.StatefulSet)) *appsv1.StatefulSet {
	replicas := int32(2)
	labels := map[string]string{"app": "web"}
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: "svc", Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{Name: "c", Image: "sleep"}},
					Volumes:    []corev1.Volume{{Name: "data"}, {Name: "scratch"}},
				},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: "data"},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			}},
		},
	}
	if change != nil {
		change(set)
	}
	return testcluster.Create(c.Cluster, set)
}

// pods lists the names of the pods that are not being deleted.
func (c *cluster) pods() string {
	c.Run(100 * time.Millisecond)
	var names []string
	for pod := range store.List[*corev1.Pod](c.Store, namespace) {
		if pod.DeletionTimestamp == nil {
			names = append(names, pod.Name)
		}
	}
	return strings.Join(names, " ")
}

func (c *cluster) ready(names ...string) {
	for _, name := range names {
		pod := testcluster.Get[*corev1.Pod](c.Cluster, namespace, name)
		testcluster.ChangeStatus(c.Cluster, pod, func(pod *corev1.Pod) {
			pod.Status.Phase = corev1.PodRunning
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		})
	}
}

func (c *cluster) change(change func(*appsv1.StatefulSet)) {
	testcluster.Change(c.Cluster, testcluster.Get[*appsv1.StatefulSet](c.Cluster, namespace, "web"), change)
}

// Recorded in statefulset.
func TestPodsComeOneByOneWithTheirClaims(t *testing.T) {
	c := newCluster(t)
	set := c.makeSet(nil)
	assert.Equal(t, "web-0", c.pods(), "web-1 waits for web-0")

	pod := testcluster.Get[*corev1.Pod](c.Cluster, namespace, "web-0")
	yes := true
	assert.Equal(t, []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "web", UID: set.UID, Controller: &yes, BlockOwnerDeletion: &yes}}, pod.OwnerReferences)
	revision := pod.Labels["controller-revision-hash"]
	assert.True(t, strings.HasPrefix(revision, "web-"))
	assert.Equal(t, map[string]string{
		"app": "web", "apps.kubernetes.io/pod-index": "0",
		"statefulset.kubernetes.io/pod-name": "web-0", "controller-revision-hash": revision,
	}, pod.Labels)
	assert.Equal(t, []string{"web-0", "svc", "web-"}, []string{pod.Spec.Hostname, pod.Spec.Subdomain, pod.GenerateName})
	require.Len(t, pod.Spec.Volumes, 2)
	assert.Equal(t, "data-web-0", pod.Spec.Volumes[0].PersistentVolumeClaim.ClaimName)
	assert.Equal(t, "scratch", pod.Spec.Volumes[1].Name)

	claim := testcluster.Get[*corev1.PersistentVolumeClaim](c.Cluster, namespace, "data-web-0")
	assert.Equal(t, map[string]string{"app": "web"}, claim.Labels)
	assert.Empty(t, claim.OwnerReferences, "a claim outlives its set")

	c.ready("web-0")
	assert.Equal(t, "web-0 web-1", c.pods())
	c.ready("web-1")
	c.pods()
	status := testcluster.Get[*appsv1.StatefulSet](c.Cluster, namespace, "web").Status
	assert.Equal(t, []int32{2, 2, 2, 2}, []int32{status.Replicas, status.ReadyReplicas, status.CurrentReplicas, status.UpdatedReplicas})
	assert.Equal(t, []string{revision, revision}, []string{status.CurrentRevision, status.UpdateRevision})
	assert.Equal(t, []string{
		"SuccessfulCreate Create Claim data-web-0 Pod web-0 in StatefulSet web success",
		"SuccessfulCreate Create Pod web-0 in StatefulSet web successful",
		"SuccessfulCreate Create Claim data-web-1 Pod web-1 in StatefulSet web success",
		"SuccessfulCreate Create Pod web-1 in StatefulSet web successful",
	}, c.Events(0, "event"))
}

// Recorded in statefulset.
func TestAPodIsCreatedAfterTheDeletionOfTheOldOne(t *testing.T) {
	c := newCluster(t)
	c.makeSet(nil)
	c.pods()
	pod := testcluster.Get[*corev1.Pod](c.Cluster, namespace, "web-0")
	testcluster.Change(c.Cluster, pod, func(pod *corev1.Pod) { pod.Finalizers = []string{"test/kubelet"} })
	testcluster.Delete(c.Cluster, pod)
	assert.Empty(t, c.pods(), "the old web-0 is still ending")
	testcluster.Change(c.Cluster, pod, func(pod *corev1.Pod) { pod.Finalizers = nil })
	assert.Equal(t, "web-0", c.pods())
	assert.NotEqual(t, pod.UID, testcluster.Get[*corev1.Pod](c.Cluster, namespace, "web-0").UID)
}

func TestFailedPodIsReplaced(t *testing.T) {
	c := newCluster(t)
	c.makeSet(nil)
	c.pods()
	pod := testcluster.Get[*corev1.Pod](c.Cluster, namespace, "web-0")
	testcluster.ChangeStatus(c.Cluster, pod, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
	assert.Equal(t, "web-0", c.pods())
	assert.NotEqual(t, pod.UID, testcluster.Get[*corev1.Pod](c.Cluster, namespace, "web-0").UID)
}

// Recorded in statefulset.
func TestScalingDownEndsTheHighestOrdinalFirst(t *testing.T) {
	c := newCluster(t)
	c.makeSet(func(set *appsv1.StatefulSet) { set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement })
	require.Equal(t, "web-0 web-1", c.pods(), "all at once")
	c.ready("web-0", "web-1")
	c.pods()
	c.change(func(set *appsv1.StatefulSet) { *set.Spec.Replicas = 0 })
	assert.Empty(t, c.pods())
	got := c.Events(0, "event")
	assert.Equal(t, []string{
		"SuccessfulDelete Delete Pod web-1 in StatefulSet web successful",
		"SuccessfulDelete Delete Pod web-0 in StatefulSet web successful",
	}, got[len(got)-2:])
	assert.True(t, testcluster.Exists[*corev1.PersistentVolumeClaim](c.Cluster, namespace, "data-web-1"), "claims stay")
}

func TestScalingDownWaitsForThePodBefore(t *testing.T) {
	c := newCluster(t)
	c.makeSet(nil)
	c.pods()
	c.ready("web-0")
	require.Equal(t, "web-0 web-1", c.pods())
	c.ready("web-1")
	last := testcluster.Get[*corev1.Pod](c.Cluster, namespace, "web-1")
	testcluster.Change(c.Cluster, last, func(pod *corev1.Pod) { pod.Finalizers = []string{"test/kubelet"} })
	c.change(func(set *appsv1.StatefulSet) { *set.Spec.Replicas = 0 })
	assert.Equal(t, "web-0", c.pods(), "web-1 is ending")
	testcluster.Change(c.Cluster, last, func(pod *corev1.Pod) { pod.Finalizers = nil })
	assert.Empty(t, c.pods())
}

func TestNewTemplateReplacesPodsFromTheLast(t *testing.T) {
	image := func(c *cluster, name string) string {
		return testcluster.Get[*corev1.Pod](c.Cluster, namespace, name).Spec.Containers[0].Image
	}
	for _, tt := range []struct {
		name      string
		partition int32
		strategy  appsv1.StatefulSetUpdateStrategyType
		want      []string
	}{
		{"rolling", 0, appsv1.RollingUpdateStatefulSetStrategyType, []string{"new", "new"}},
		{"above a partition", 1, appsv1.RollingUpdateStatefulSetStrategyType, []string{"sleep", "new"}},
		{"by hand", 0, appsv1.OnDeleteStatefulSetStrategyType, []string{"sleep", "sleep"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCluster(t)
			c.makeSet(func(set *appsv1.StatefulSet) {
				set.Spec.UpdateStrategy.Type = tt.strategy
				if tt.strategy == appsv1.RollingUpdateStatefulSetStrategyType {
					set.Spec.UpdateStrategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: &tt.partition}
				}
			})
			c.pods()
			c.ready("web-0")
			c.pods()
			c.ready("web-1")
			c.pods()
			c.change(func(set *appsv1.StatefulSet) { set.Spec.Template.Spec.Containers[0].Image = "new" })
			for range 2 {
				require.Equal(t, "web-0 web-1", c.pods())
				assert.Equal(t, tt.want[1], image(c, "web-1"))
				c.ready("web-0", "web-1")
			}
			c.pods()
			assert.Equal(t, tt.want, []string{image(c, "web-0"), image(c, "web-1")})

			testcluster.Delete(c.Cluster, testcluster.Get[*corev1.Pod](c.Cluster, namespace, "web-0"))
			require.Equal(t, "web-0 web-1", c.pods())
			want := "new"
			if tt.partition > 0 {
				want = "sleep"
			}
			assert.Equal(t, want, image(c, "web-0"), "a pod that comes back below the partition has the old template")
		})
	}
}

// A pod has to be ready for some time before the next pod is created. C-STS-5
func TestAPodCountsWhenItHasBeenReadyForLongEnough(t *testing.T) {
	c := newCluster(t)
	c.makeSet(func(set *appsv1.StatefulSet) { set.Spec.MinReadySeconds = 10 })
	c.pods()
	readySince := metav1.NewTime(c.Kernel.Now())
	testcluster.ChangeStatus(c.Cluster, testcluster.Get[*corev1.Pod](c.Cluster, namespace, "web-0"), func(pod *corev1.Pod) {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: readySince}}
	})
	c.Run(9 * time.Second)
	assert.Equal(t, "web-0", c.pods())
	status := testcluster.Get[*appsv1.StatefulSet](c.Cluster, namespace, "web").Status
	assert.Equal(t, []int32{1, 0}, []int32{status.ReadyReplicas, status.AvailableReplicas})
	c.Run(time.Second)
	assert.Equal(t, "web-0 web-1", c.pods())
	status = testcluster.Get[*appsv1.StatefulSet](c.Cluster, namespace, "web").Status
	assert.Equal(t, []int32{1, 1}, []int32{status.ReadyReplicas, status.AvailableReplicas})
}
