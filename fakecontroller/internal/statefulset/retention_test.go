package statefulset

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/version"
)

func retain(whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType) func(*appsv1.StatefulSet) {
	return func(set *appsv1.StatefulSet) {
		set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{WhenDeleted: whenDeleted, WhenScaled: whenScaled}
	}
}

// owners returns the kinds of the owners of a claim.
func (c *cluster) owners(claim string) (kinds []string) {
	c.pods()
	for _, o := range testcluster.Get[*corev1.PersistentVolumeClaim](c.Cluster, namespace, claim).OwnerReferences {
		kinds = append(kinds, fmt.Sprintf("%s controller %v", o.Kind, o.Controller != nil && *o.Controller))
	}
	return kinds
}

// removeClaim deletes a claim that nothing protects.
func (c *cluster) removeClaim(name string) {
	claim := testcluster.Get[*corev1.PersistentVolumeClaim](c.Cluster, namespace, name)
	testcluster.Change(c.Cluster, claim, func(claim *corev1.PersistentVolumeClaim) { claim.Finalizers = nil })
	testcluster.Delete(c.Cluster, testcluster.Get[*corev1.PersistentVolumeClaim](c.Cluster, namespace, name))
}

// The retention policy determines the owners of the claims, and the garbage collector deletes the
// claims by their owners. C-STS-1, C-STS-2 [pkg/controller/statefulset/stateful_set_utils.go
// updateClaimOwnerRefForSetAndPod]
func TestClaimsAreOwnedByTheRetentionPolicy(t *testing.T) {
	const keep, remove = appsv1.RetainPersistentVolumeClaimRetentionPolicyType, appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	set, pod := []string{"StatefulSet controller true"}, []string{"Pod controller true"}
	for _, tt := range []struct {
		whenDeleted, whenScaled appsv1.PersistentVolumeClaimRetentionPolicyType
		running, scaledDown     []string
	}{
		{keep, keep, nil, nil},
		{remove, keep, set, set},
		{keep, remove, nil, pod},
		{remove, remove, set, pod},
	} {
		t.Run(fmt.Sprintf("deleted %s, scaled %s", tt.whenDeleted, tt.whenScaled), func(t *testing.T) {
			c := newCluster(t)
			c.makeSet(retain(tt.whenDeleted, tt.whenScaled))
			c.pods()
			c.ready("web-0")
			c.pods()
			c.ready("web-1")
			assert.Equal(t, tt.running, c.owners("data-web-1"))

			last := testcluster.Get[*corev1.Pod](c.Cluster, namespace, "web-1")
			testcluster.Change(c.Cluster, last, func(pod *corev1.Pod) { pod.Finalizers = []string{"test/kubelet"} })
			c.change(func(set *appsv1.StatefulSet) { *set.Spec.Replicas = 1 })
			assert.Equal(t, tt.scaledDown, c.owners("data-web-1"))
			assert.Equal(t, tt.running, c.owners("data-web-0"))
		})
	}
}

// A changed policy changes the owners of existing claims, and emits an event. C-STS-2
func TestAChangedRetentionPolicyCountsAtOnce(t *testing.T) {
	c := newCluster(t)
	c.makeSet(nil)
	c.pods()
	c.ready("web-0")
	c.pods()
	assert.Empty(t, c.owners("data-web-0"))
	c.change(retain("Delete", "Retain"))
	assert.Equal(t, []string{"StatefulSet controller true"}, c.owners("data-web-0"))
	got := c.Events(0, "event")
	assert.Contains(t, got, "SuccessfulUpdate Update Pod web-0 in StatefulSet web successful")
	c.change(retain("Retain", "Retain"))
	assert.Empty(t, c.owners("data-web-0"))
}

// A claim with another controller keeps it. C-STS-2
func TestAClaimOfAnotherControllerIsLeftAlone(t *testing.T) {
	c := newCluster(t)
	claim := testcluster.Create(c.Cluster, claimFor(setNamed("web"), &template, 0))
	testcluster.Change(c.Cluster, claim, func(claim *corev1.PersistentVolumeClaim) {
		claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "x", UID: "x", Controller: new(true)}}
	})
	c.makeSet(retain("Delete", "Delete"))
	c.pods()
	c.ready("web-0")
	assert.Equal(t, []string{"ConfigMap controller true"}, c.owners("data-web-0"))
}

var template = corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
	AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": oneGi}},
}}

func setNamed(name string) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: appsv1.StatefulSetSpec{Selector: &metav1.LabelSelector{}}}
}

// A claim that is being deleted after a scale-down delays the next pod with this ordinal. C-STS-3
func TestANewPodWaitsForTheOldClaim(t *testing.T) {
	c := newCluster(t)
	c.makeSet(retain("Retain", "Delete"))
	c.pods()
	c.ready("web-0")
	c.pods()
	c.ready("web-1")
	c.pods()
	c.change(func(set *appsv1.StatefulSet) { *set.Spec.Replicas = 1 })
	require.Equal(t, "web-0", c.pods())
	c.change(func(set *appsv1.StatefulSet) { *set.Spec.Replicas = 2 })
	assert.Equal(t, "web-0", c.pods(), "the garbage collector has not deleted data-web-1, which belonged to the old web-1")
	c.removeClaim("data-web-1")
	c.change(func(set *appsv1.StatefulSet) { set.Annotations = map[string]string{"any": "change"} })
	assert.Equal(t, "web-0 web-1", c.pods())
}

// Versions with the gate off ignore the policy. C-STS-1
func TestClaimsStayInOldVersions(t *testing.T) {
	for v, want := range map[version.Version]int{version.ClaimRetention.Before(): 0, version.ClaimRetention.Before() + 1: 1} {
		c := &cluster{testcluster.New(t, nil, mock.Options{})}
		c.World.Version = v
		Start(c.World)
		c.makeSet(retain("Delete", "Retain"))
		c.pods()
		assert.Len(t, c.owners("data-web-0"), want, v.String())
	}
}

// Since v1.27 a claim that is deleted while its pod is Pending is created again at once. C-STS-4
// [kubernetes/kubernetes#113270]
func TestAClaimOfAPendingPodIsRecreated(t *testing.T) {
	for v, want := range map[version.Version]bool{version.ClaimsOfPendingPods.Before(): false, version.ClaimsOfPendingPods.Before() + 1: true} {
		c := &cluster{testcluster.New(t, nil, mock.Options{})}
		c.World.Version = v
		Start(c.World)
		c.makeSet(nil)
		c.pods()
		c.removeClaim("data-web-0")
		c.change(func(set *appsv1.StatefulSet) { set.Annotations = map[string]string{"any": "change"} })
		c.pods()
		assert.Equal(t, want, testcluster.Exists[*corev1.PersistentVolumeClaim](c.Cluster, namespace, "data-web-0"), v.String())
	}
}
