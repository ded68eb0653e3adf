package persistentvolume

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

var claimKey = store.Key{Namespace: "default", Name: "pvc"}

// meddle changes the claim the first few times that the controller is about to write.
func (w *world) meddle() {
	testcluster.Meddle(w.Kernel, 3, func() {
		_, err := store.Modify(w.Store, claimKey, func(pvc claim) {
			metav1.SetMetaDataAnnotation(&pvc.ObjectMeta, "changes", pvc.ResourceVersion)
		})
		require.NoError(w.T, err)
	})
}

// writes counts the controller's changes of a resource.
func (w *world) writes(resource string) int {
	n := 0
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.API && e.Resource == resource && e.Actor != "" {
			n++
		}
	}
	return n
}

// C-PV-3: the controller retries after conflicts and does not report them.
func TestAConflictIsRetriedWithoutAnEvent(t *testing.T) {
	w := newWorldWith(t, testcluster.Meddler{Before: "update"})
	w.add(aVolume("v", "1Gi", modes{rwo}))
	w.Run(time.Second)
	w.add(aClaim("1Gi", modes{rwo}))
	w.meddle()
	w.Run(time.Second)
	assert.Equal(t, corev1.ClaimBound, w.claim().Status.Phase)
	assert.Contains(t, w.claim().Annotations, "changes")
	var order []string
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.API && e.At > 0 {
			who, _, _ := strings.Cut(e.Actor, "/")
			order = append(order, strings.TrimSpace(who+" "+e.Resource))
		}
	}
	const controller, meddler = "persistentvolume-controller", testcluster.MeddlerName
	assert.Equal(t, []string{
		"persistentvolumeclaims", meddler + " persistentvolumeclaims",
		controller + " persistentvolumes", controller + " persistentvolumes",
		meddler + " persistentvolumeclaims", // the subsequent update of the claim is refused
		meddler + " persistentvolumeclaims", controller + " persistentvolumeclaims", controller + " persistentvolumeclaims",
	}, order)
	assert.Empty(t, w.events())
}

// C-PV-3, C-PV-4: the other side notices a deletion at once.
func TestDeletionsAreSeenFromTheOtherSide(t *testing.T) {
	bound := func(t *testing.T) *world {
		w := newWorld(t)
		w.add(aVolume("v", "1Gi", modes{rwo}))
		w.Run(time.Second)
		w.add(aClaim("1Gi", modes{rwo}))
		w.Run(time.Second)
		require.Equal(t, corev1.ClaimBound, w.claim().Status.Phase)
		return w
	}
	t.Run("the volume", func(t *testing.T) {
		w := bound(t)
		w.deleteVolume("v")
		w.Run(time.Second)
		assert.Equal(t, corev1.ClaimLost, w.claim().Status.Phase)
	})
	t.Run("the claim", func(t *testing.T) {
		w := bound(t)
		w.deleteClaim()
		w.Run(time.Second)
		assert.Equal(t, corev1.VolumeReleased, w.volume("v").Status.Phase)
	})
}

// C-PV-5, C-GEN-8: a failed operation is not repeated for 500 ms. A sync in between reports no
// error and emits no event. Then the next resync requests the operation again.
func TestAFailedOperationWaitsBeforeItsRetry(t *testing.T) {
	w := newWorldWith(t, testcluster.Meddler{Before: "update"})
	w.add(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Provisioner: "d.example.com"}, aClaim("1Gi", modes{rwo}))
	w.meddle()
	w.Run(14 * time.Second)
	assert.Equal(t, map[string]int32{"ProvisioningFailed": 1}, w.events())
	assert.NotContains(t, w.claim().Annotations, "volume.kubernetes.io/storage-provisioner")
	w.Run(2 * time.Second)
	assert.Equal(t, "d.example.com", w.claim().Annotations["volume.kubernetes.io/storage-provisioner"])
	var operations []string
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.API && e.Actor != "" && e.Actor != testcluster.MeddlerName {
			operations = append(operations, e.Actor)
		}
	}
	assert.Equal(t, []string{"persistentvolume-controller/operation provision-default/pvc[" + string(w.claim().UID) + "]"}, operations)
}

// C-PV-6: annotations show the progress to other components.
func TestTheAnnotationsOfBindingAndProvisioning(t *testing.T) {
	later := storagev1.VolumeBindingWaitForFirstConsumer
	class := func(provisioner string, mode *storagev1.VolumeBindingMode) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Provisioner: provisioner, VolumeBindingMode: mode}
	}
	onNode := func(pvc claim) { pvc.Annotations = map[string]string{"volume.kubernetes.io/selected-node": "n"} }
	asked := map[string]string{"volume.kubernetes.io/storage-provisioner": "d", "volume.beta.kubernetes.io/storage-provisioner": "d"}
	askedOnNode := map[string]string{"volume.kubernetes.io/selected-node": "n"}
	for k, v := range asked {
		askedOnNode[k] = v
	}
	for _, c := range []struct {
		says    string
		objects []store.Object
		change  func(claim)
		claim   map[string]string
		volume  map[string]string
	}{
		{says: "bound to a volume that was found", objects: []store.Object{aVolume("v", "1Gi", modes{rwo})}, change: func(claim) {},
			claim:  map[string]string{"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"},
			volume: map[string]string{"pv.kubernetes.io/bound-by-controller": "yes"}},
		{says: "bound to a volume that the claim names", objects: []store.Object{aVolume("v", "1Gi", modes{rwo})}, change: names("v"),
			claim: map[string]string{"pv.kubernetes.io/bind-completed": "yes"}, volume: map[string]string{"pv.kubernetes.io/bound-by-controller": "yes"}},
		{says: "bound to a volume that names the claim", objects: []store.Object{aVolume("v", "1Gi", modes{rwo}, reservedFor("pvc"))}, change: func(claim) {},
			claim: map[string]string{"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}},
		{says: "asked for", objects: []store.Object{class("d", nil)}, change: func(claim) {}, claim: asked},
		{says: "waiting for a node", objects: []store.Object{class("d", &later)}, change: func(claim) {}},
		{says: "requested on a node", objects: []store.Object{class("d", &later)}, change: onNode, claim: askedOnNode},
		{says: "without a provisioner", objects: []store.Object{class("kubernetes.io/no-provisioner", nil)}, change: func(claim) {}},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := newWorld(t)
			w.add(c.objects...)
			w.Run(time.Second)
			w.add(aClaim("1Gi", modes{rwo}, c.change))
			w.Run(time.Second)
			assert.Equal(t, c.claim, w.claim().Annotations)
			if _, ok := c.objects[0].(*corev1.PersistentVolume); ok {
				assert.Equal(t, c.volume, w.volume("v").Annotations)
			}
		})
	}
}

// C-PV-7: the class of the old annotation takes precedence over the spec's.
func TestTheClassOfTheOldAnnotationCounts(t *testing.T) {
	const beta = "volume.beta.kubernetes.io/storage-class"
	class := func(annotation, spec string) func(metav1.Object) string {
		return func(obj metav1.Object) string {
			if annotation != "" {
				obj.SetAnnotations(map[string]string{beta: annotation})
			}
			return spec
		}
	}
	for _, c := range []struct {
		says          string
		claim, volume func(metav1.Object) string
		bound         bool
	}{
		{"both in the spec", class("", "gold"), class("", "gold"), true},
		{"both in the annotation", class("gold", ""), class("gold", ""), true},
		{"one each", class("gold", ""), class("", "gold"), true},
		{"one each, the other way round", class("", "gold"), class("gold", ""), true},
		{"the spec of the volume says otherwise", class("", "gold"), class("gold", "silver"), true},
		{"the annotation of the volume says otherwise", class("", "gold"), class("silver", "gold"), false},
		{"the annotation of the claim says otherwise", class("silver", "gold"), class("", "gold"), false},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := newWorld(t)
			w.add(aVolume("v", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) { pv.Spec.StorageClassName = c.volume(pv) }))
			w.Run(time.Second)
			w.add(aClaim("1Gi", modes{rwo}, func(pvc claim) { pvc.Spec.StorageClassName = ptr.To(c.claim(pvc)) }))
			w.Run(time.Second)
			assert.Equal(t, c.bound, w.claim().Status.Phase == corev1.ClaimBound)
		})
	}
}

// C-PV-14
func TestTheStatusOfAClaim(t *testing.T) {
	w := newWorld(t)
	w.add(aVolume("v", "3Gi", modes{rwo, rwx}, func(pv *corev1.PersistentVolume) {
		pv.Spec.VolumeAttributesClassName = ptr.To("gold")
		pv.Annotations = map[string]string{"volume.alpha.kubernetes.io/pre-resize-capacity": "2Gi"}
	}))
	w.Run(time.Second)
	w.add(aClaim("1Gi", modes{rwo}, func(pvc claim) { pvc.Spec.VolumeAttributesClassName = ptr.To("gold") }))
	w.Run(time.Second)
	status := w.claim().Status
	assert.Equal(t, corev1.ClaimBound, status.Phase)
	assert.Equal(t, modes{rwo, rwx}, status.AccessModes, "those of the volume")
	assert.Equal(t, "2Gi", status.Capacity.Storage().String(), "the size of the file system, not of the volume")
	assert.Equal(t, ptr.To("gold"), status.CurrentVolumeAttributesClassName)

	_, err := store.Modify(w.Store, store.Key{Name: "v"}, func(pv *corev1.PersistentVolume) {
		pv.Annotations = nil
		pv.Spec.AccessModes = modes{rwo}
		pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("9Gi")}
		pv.Spec.VolumeAttributesClassName = ptr.To("silver")
	})
	require.NoError(t, err)
	_, err = store.Modify(w.Store, claimKey, func(pvc claim) { pvc.Labels = map[string]string{"seen": "again"} })
	require.NoError(t, err)
	w.Run(time.Second)
	status = w.claim().Status
	assert.Equal(t, modes{rwo}, status.AccessModes)
	assert.Equal(t, "2Gi", status.Capacity.Storage().String(), "copied only when the phase changes")
	assert.Equal(t, ptr.To("gold"), status.CurrentVolumeAttributesClassName, "copied only when the claim is bound")

	written := w.writes("persistentvolumeclaims")
	_, err = store.Modify(w.Store, claimKey, func(pvc claim) { pvc.Labels = map[string]string{"seen": "once-more"} })
	require.NoError(t, err)
	w.Run(time.Minute)
	assert.Equal(t, written, w.writes("persistentvolumeclaims"), "an object in the wanted state is not written")

	w.deleteVolume("v")
	w.Run(time.Second)
	assert.Equal(t, corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimLost}, w.claim().Status)
}

// C-PV-33: a volume that was created for a claim does not wait for the resync, unless their volume
// modes differ.
func TestAVolumeThatNamesAnUnboundClaimIsBoundAtOnce(t *testing.T) {
	for says, mode := range map[string]corev1.PersistentVolumeMode{"of its mode": corev1.PersistentVolumeFilesystem, "of the other mode": corev1.PersistentVolumeBlock} {
		t.Run(says, func(t *testing.T) {
			w := newWorld(t)
			w.add(aClaim("1Gi", modes{rwo}, classless))
			w.Run(2 * time.Second)
			pv := aVolume("v", "1Gi", modes{rwo}, reservedFor("pvc"))
			pv.Spec.ClaimRef.UID, pv.Spec.StorageClassName, pv.Spec.VolumeMode = w.claim().UID, "", &mode
			w.add(pv)
			w.Run(time.Second)
			if mode == corev1.PersistentVolumeFilesystem {
				assert.Equal(t, corev1.ClaimBound, w.claim().Status.Phase)
				return
			}
			assert.Equal(t, corev1.ClaimPending, w.claim().Status.Phase)
			got := map[string]string{}
			for _, e := range w.Trace.Events() {
				if e.Kind == trace.KubeEvent && e.Method == "VolumeMismatch" {
					got[e.Name] = e.Message
				}
			}
			assert.Equal(t, map[string]string{
				"PersistentVolume/v":        `Cannot bind PersistentVolume to requested PersistentVolumeClaim "pvc" due to incompatible volumeMode.`,
				"PersistentVolumeClaim/pvc": `Cannot bind PersistentVolume "v" to requested PersistentVolumeClaim due to incompatible volumeMode.`,
			}, got)
		})
	}
}

// C-PV-34
func TestAVolumeOfItsClaimIsBound(t *testing.T) {
	w := newWorld(t)
	w.add(aVolume("v", "1Gi", modes{rwo}))
	w.Run(time.Second)
	w.add(aClaim("1Gi", modes{rwo}))
	w.Run(time.Second)
	_, err := store.ModifyStatus(w.Store, store.Key{Name: "v"}, func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeFailed })
	require.NoError(t, err)
	w.Run(time.Second)
	assert.Equal(t, corev1.VolumeBound, w.volume("v").Status.Phase)
}
