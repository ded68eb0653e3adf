package attachdetach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

// wanted returns the volumes that are desired on node-a.
func (c *Controller) wanted(volumes ...string) (names []string) {
	for _, v := range volumes {
		if c.desired.get(pair{unique(v), "node-a"}) != nil {
			names = append(names, v)
		}
	}
	return names
}

// C-ADC-11: a volume is desired from the moment when claim and volume are bound to each other.
func TestWhichClaimsOfAPodAreWanted(t *testing.T) {
	change := func(change func(*corev1.PersistentVolumeClaim)) func(*cluster) {
		return func(c *cluster) {
			_, err := store.ModifyStatus(c.Store, store.Key{Namespace: "default", Name: "v"}, change)
			require.NoError(c.T, err)
		}
	}
	volume := func(change func(*corev1.PersistentVolume)) func(*cluster) {
		return func(c *cluster) {
			_, err := store.Modify(c.Store, store.Key{Name: "v"}, change)
			require.NoError(c.T, err)
		}
	}
	for _, tt := range []struct {
		name   string
		make   func(*cluster)
		wanted bool
	}{
		{"bound", func(*cluster) {}, true},
		{"pending, with the name of a volume", change(func(pvc *corev1.PersistentVolumeClaim) { pvc.Status.Phase = corev1.ClaimPending }), false},
		{"lost", change(func(pvc *corev1.PersistentVolumeClaim) { pvc.Status.Phase = corev1.ClaimLost }), false},
		{"volume that is being deleted", func(c *cluster) {
			_, err := store.Delete[*corev1.PersistentVolume](c.Store, store.Key{Name: "v"})
			require.NoError(c.T, err)
		}, true},
		{"no volume", func(c *cluster) {
			volume(func(pv *corev1.PersistentVolume) { pv.Finalizers = nil })(c)
			_, err := store.Delete[*corev1.PersistentVolume](c.Store, store.Key{Name: "v"})
			require.NoError(c.T, err)
		}, false},
		{"volume without a claim", volume(func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef = nil }), false},
		{"volume of an earlier claim", volume(func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef.UID = "earlier" }), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newCluster(t)
			c.node("node-a")
			c.volume("v")
			tt.make(c)
			ctl := Start(c.World, Options{})
			c.pod("p", "node-a", "v")
			c.At(time.Second)
			assert.Equal(t, tt.wanted, len(ctl.wanted("v")) == 1)
			assert.Empty(t, c.warnings(), "a volume that is not desired yet is no mistake")
		})
	}
}

// C-ADC-11: the claim of an ephemeral volume has to be the pod's.
func TestAClaimThatAPodDoesNotOwnIsNotItsEphemeralVolume(t *testing.T) {
	for name, owned := range map[string]bool{"the pod's": true, "somebody else's": false} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.node("node-a")
			c.volume("p-data")
			c.podWith("p", "node-a", corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			}}})
			pod, _ := store.Get[*corev1.Pod](c.Store, store.Key{Namespace: "default", Name: "p"})
			if owned {
				_, err := store.Modify(c.Store, store.Key{Namespace: "default", Name: "p-data"}, func(pvc *corev1.PersistentVolumeClaim) {
					pvc.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod"))}
				})
				require.NoError(t, err)
			}
			ctl := Start(c.World, Options{})
			c.At(time.Second)
			assert.Equal(t, owned, len(ctl.wanted("p-data")) == 1)
		})
	}
}

// C-ADC-13
func TestAWantedVolumeIsTheOneOfTheFirstPod(t *testing.T) {
	d := newDesiredState()
	d.addNode("n")
	first, second := &spec{driver: driver, handle: "h", plugin: "first"}, &spec{driver: driver, handle: "h", plugin: "second"}
	at := pair{first.unique(), "n"}
	pod := func(uid types.UID) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}, Spec: corev1.PodSpec{NodeName: "n"}}
	}
	assert.True(t, d.add(first, pod("p")))
	assert.False(t, d.add(second, pod("q")), "not new: the second pod shares it")
	assert.False(t, d.add(second, pod("p")), "a pod that is there already changes nothing")
	assert.Same(t, first, d.get(at).spec)

	_, last := d.remove(at.volume, "p")
	assert.False(t, last)
	assert.Same(t, first, d.get(at).spec, "although its pod is deleted")
	_, last = d.remove(at.volume, "q")
	assert.True(t, last)
	assert.Nil(t, d.get(at))
}

// C-ADC-1, C-ADC-14: a pod was deleted, has finished or was replaced by another pod with its name,
// and its claims no longer exist. Then its volumes are removed at a rate of one per minute.
func TestUnusedAttachmentsAreAdoptedOneAMinute(t *testing.T) {
	for name, end := range map[string]func(*cluster){
		"gone": func(c *cluster) { c.deletePod("p") },
		"done": func(c *cluster) {
			_, err := store.ModifyStatus(c.Store, store.Key{Namespace: "default", Name: "p"}, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
			require.NoError(c.T, err)
		},
		"another of the name": func(c *cluster) { c.deletePod("p"); c.pod("p", "node-a", "other") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.node("node-a")
			c.volume("v")
			c.volume("w")
			testcluster.Create(c, &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"},
				Spec: corev1.PodSpec{
					NodeName: "node-a", Containers: []corev1.Container{{Name: "c", Image: "i"}},
					Volumes: []corev1.Volume{
						{Name: "v", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "v"}}},
						{Name: "w", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "w"}}},
					},
				},
			})
			ctl := Start(c.World, Options{})
			c.At(10 * time.Second)
			require.Len(t, ctl.wanted("v", "w"), 2)
			for _, claim := range []string{"v", "w"} {
				_, err := store.ModifyStatus(c.Store, store.Key{Namespace: "default", Name: claim}, func(pvc *corev1.PersistentVolumeClaim) { pvc.Status.Phase = corev1.ClaimLost })
				require.NoError(t, err)
			}
			end(c)
			for _, step := range []struct {
				at   time.Duration
				want int
			}{{59 * time.Second, 2}, {61 * time.Second, 1}, {119 * time.Second, 1}, {121 * time.Second, 0}} {
				c.At(step.at)
				assert.Len(t, ctl.wanted("v", "w"), step.want, "after %v", step.at)
			}
		})
	}
}

// C-ADC-15, C-OP-6: a volume that no longer needs attaching is no longer desired from the next
// minute on, and is detached nevertheless.
func TestVolumesAreDetachedWhenADriverNoLongerNeedsAttaching(t *testing.T) {
	c := newCluster(t)
	object := func(attach bool) *storagev1.CSIDriver {
		return &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{AttachRequired: new(attach)}}
	}
	testcluster.Create(c, object(true))
	c.node("node-a")
	c.volume("v")
	c.attacher()
	ctl := Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(10 * time.Second)
	c.uses("node-a")
	remove := func() {
		_, err := store.Delete[*storagev1.CSIDriver](c.Store, store.Key{Name: driver})
		require.NoError(t, err)
	}
	remove()
	testcluster.Create(c, object(false))
	c.At(59 * time.Second)
	require.NotEmpty(t, ctl.wanted("v"))
	c.At(61 * time.Second)
	assert.Empty(t, ctl.wanted("v"))
	assert.Nil(t, c.attachment("v", "node-a"))

	remove() // a driver without an object needs attaching; the listing of pods adds it. C-ADC-16
	c.At(179 * time.Second)
	require.Empty(t, ctl.wanted("v"))
	c.At(182 * time.Second)
	assert.NotNil(t, c.attachment("v", "node-a"))
}
