package persistentvolume

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
)

// world is an API with only a PV controller.
type world struct {
	*testcluster.API
	controller *Controller
}

func newWorld(t *testing.T) *world { return newWorldWith(t, kernel.Calm{}) }

func newWorldWith(t *testing.T, strategy kernel.Strategy) *world {
	w := &world{API: testcluster.NewAPI(t, strategy)}
	w.controller = Start(w.World)
	return w
}

func (w *world) add(objects ...store.Object) {
	w.T.Helper()
	for _, obj := range objects {
		res, err := store.ResourceOf(obj)
		require.NoError(w.T, err)
		obj = obj.DeepCopyObject().(store.Object)
		obj.SetUID("")
		_, err = w.Store.CreateObject(res, obj)
		require.NoError(w.T, err)
	}
}

func (w *world) claim() claim {
	pvc, ok := store.Get[claim](w.Store, store.Key{Namespace: "default", Name: "pvc"})
	require.True(w.T, ok)
	return pvc
}

func (w *world) volume(name string) *corev1.PersistentVolume {
	pv, ok := store.Get[*corev1.PersistentVolume](w.Store, store.Key{Name: name})
	require.True(w.T, ok)
	return pv
}

// events lists the reasons of the events so far, with their counts.
func (w *world) events() map[string]int32 {
	counts := map[string]int32{}
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent {
			counts[e.Method] = e.Count()
		}
	}
	return counts
}

func (w *world) deleteVolume(name string) {
	_, err := store.Modify(w.Store, store.Key{Name: name}, func(pv *corev1.PersistentVolume) { pv.Finalizers = nil })
	require.NoError(w.T, err)
	_, err = store.Delete[*corev1.PersistentVolume](w.Store, store.Key{Name: name})
	require.NoError(w.T, err)
}

func (w *world) deleteClaim() {
	key := store.Key{Namespace: "default", Name: "pvc"}
	_, err := store.Modify(w.Store, key, func(pvc claim) { pvc.Finalizers = nil })
	require.NoError(w.T, err)
	_, err = store.Delete[claim](w.Store, key)
	require.NoError(w.T, err)
}

func classless(pvc claim) { none := ""; pvc.Spec.StorageClassName = &none }

func names(volume string) func(claim) { return func(pvc claim) { pvc.Spec.VolumeName = volume } }

// C-PV-11, C-PV-23: the volumes exist when the claim is created.
func TestClaimIsBoundToTheSmallestVolumeThatFits(t *testing.T) {
	w := newWorld(t)
	w.add(aVolume("big", "9Gi", modes{rwo}), aVolume("fit", "2Gi", modes{rwo}), aVolume("small", "1Gi", modes{rwo}))
	w.Run(time.Second)
	w.add(aClaim("2Gi", modes{rwo}))
	w.Run(time.Second)
	assert.Equal(t, corev1.ClaimBound, w.claim().Status.Phase)
	assert.Equal(t, "fit", w.claim().Spec.VolumeName)
	assert.Equal(t, "2Gi", w.claim().Status.Capacity.Storage().String())
	assert.Equal(t, corev1.VolumeBound, w.volume("fit").Status.Phase)
	assert.Equal(t, "yes", w.volume("fit").Annotations["pv.kubernetes.io/bound-by-controller"])
	assert.Equal(t, w.claim().UID, w.volume("fit").Spec.ClaimRef.UID)
	assert.Equal(t, corev1.VolumeAvailable, w.volume("big").Status.Phase)
}

// C-PV-1, C-PV-11: only the next resync finds a volume that is created later.
func TestWaitingClaimFindsALaterVolumeAtTheNextResync(t *testing.T) {
	w := newWorld(t)
	w.add(aClaim("1Gi", modes{rwo}, classless))
	w.Run(16 * time.Second)
	assert.Equal(t, map[string]int32{"FailedBinding": 2}, w.events(), "at once and after 15 s")
	w.add(aVolume("v", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) { pv.Spec.StorageClassName = "" }))
	w.Run(13 * time.Second)
	assert.Equal(t, corev1.ClaimPending, w.claim().Status.Phase)
	w.Run(2 * time.Second)
	assert.Equal(t, corev1.ClaimBound, w.claim().Status.Phase)
}

// C-PV-22, C-PV-23: the user's claimRef without a uid is completed, not marked.
func TestVolumeReservedByTheUserIsBound(t *testing.T) {
	w := newWorld(t)
	w.add(aVolume("other", "1Gi", modes{rwo}), aVolume("mine", "5Gi", modes{rwo}, reservedFor("pvc")))
	w.Run(time.Second)
	assert.Equal(t, corev1.VolumeAvailable, w.volume("mine").Status.Phase) // C-PV-30
	w.add(aClaim("1Gi", modes{rwo}))
	w.Run(time.Second)
	assert.Equal(t, "mine", w.claim().Spec.VolumeName)
	assert.Equal(t, w.claim().UID, w.volume("mine").Spec.ClaimRef.UID)
	assert.NotContains(t, w.volume("mine").Annotations, "pv.kubernetes.io/bound-by-controller")
}

// C-PV-12
func TestClaimThatNamesItsVolume(t *testing.T) {
	for _, c := range []struct {
		says   string
		volume *corev1.PersistentVolume
		phase  corev1.PersistentVolumeClaimPhase
		event  string
	}{
		{says: "is bound", volume: aVolume("v", "1Gi", modes{rwo}), phase: corev1.ClaimBound},
		{says: "does not fit it", volume: aVolume("v", "1Mi", modes{rwo}), phase: corev1.ClaimPending, event: "VolumeMismatch"},
		{says: "comes too late", volume: aVolume("v", "1Gi", modes{rwo}, reservedFor("x")), phase: corev1.ClaimPending, event: "FailedBinding"},
		{says: "waits for it", volume: aVolume("another", "1Gi", modes{rwo}), phase: corev1.ClaimPending},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := newWorld(t)
			w.add(c.volume, aClaim("1Gi", modes{rwo}, names("v")))
			w.Run(time.Second)
			assert.Equal(t, c.phase, w.claim().Status.Phase)
			assert.NotContains(t, w.claim().Annotations, "pv.kubernetes.io/bound-by-controller")
			if c.event != "" {
				assert.Contains(t, w.events(), c.event)
			} else {
				assert.Empty(t, w.events())
			}
		})
	}
}

// C-PV-13: a claim is lost when its volume is deleted, and bound again when the volume is
// recreated.
func TestClaimIsLostWithItsVolumeAndRecoversWithIt(t *testing.T) {
	w := newWorld(t)
	w.add(aVolume("v", "1Gi", modes{rwo}))
	w.Run(time.Second)
	w.add(aClaim("1Gi", modes{rwo}))
	w.Run(time.Second)
	bound := w.volume("v")
	w.deleteVolume("v")
	w.Run(time.Second)
	assert.Equal(t, corev1.ClaimLost, w.claim().Status.Phase)
	assert.Empty(t, w.claim().Status.Capacity)
	assert.Equal(t, int32(1), w.events()["ClaimLost"])

	again := aVolume("v", "1Gi", modes{rwo})
	again.Spec.ClaimRef = bound.Spec.ClaimRef
	w.add(again)
	w.Run(ResyncPeriod)
	assert.Equal(t, corev1.ClaimBound, w.claim().Status.Phase)
	assert.Equal(t, int32(1), w.events()["ClaimLost"], "the event comes with the change only")
}

// C-PV-13
func TestClaimOfAVolumeBoundToAnotherIsMisbound(t *testing.T) {
	w := newWorld(t)
	w.add(aVolume("v", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) {
		pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "pvc", UID: "an-older-one"}
	}), aClaim("1Gi", modes{rwo}, names("v"), func(pvc claim) {
		pvc.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	}))
	w.Run(time.Second)
	assert.Equal(t, corev1.ClaimLost, w.claim().Status.Phase)
	assert.Contains(t, w.events(), "ClaimMisbound")
	assert.Equal(t, corev1.VolumeReleased, w.volume("v").Status.Phase) // C-PV-31
}

// C-PV-32, C-PV-50, C-PV-52
func TestVolumeIsReleasedWithItsClaim(t *testing.T) {
	for _, c := range []struct {
		policy corev1.PersistentVolumeReclaimPolicy
		phase  corev1.PersistentVolumePhase
		event  string
	}{
		{corev1.PersistentVolumeReclaimRetain, corev1.VolumeReleased, ""},
		// C-PV-51: the provisioner's business.
		{corev1.PersistentVolumeReclaimDelete, corev1.VolumeReleased, ""},
		{corev1.PersistentVolumeReclaimRecycle, corev1.VolumeFailed, "VolumeFailedRecycle"},
	} {
		t.Run(string(c.policy), func(t *testing.T) {
			w := newWorld(t)
			w.add(aVolume("v", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) { pv.Spec.PersistentVolumeReclaimPolicy = c.policy }))
			w.Run(time.Second)
			w.add(aClaim("1Gi", modes{rwo}))
			w.Run(time.Second)
			w.deleteClaim()
			w.Run(time.Minute)
			assert.Equal(t, c.phase, w.volume("v").Status.Phase)
			if c.event != "" {
				assert.Contains(t, w.events(), c.event)
			} else {
				assert.Empty(t, w.events())
			}
		})
	}
}

// C-PV-35
func TestVolumeOfAClaimBoundToAnotherIsUnbound(t *testing.T) {
	w := newWorld(t)
	w.add(aVolume("v", "1Gi", modes{rwo}))
	w.Run(time.Second)
	w.add(aClaim("1Gi", modes{rwo}))
	w.Run(time.Second)
	second := aVolume("w", "1Gi", modes{rwo})
	second.Spec.ClaimRef = w.volume("v").Spec.ClaimRef
	second.Annotations = map[string]string{"pv.kubernetes.io/bound-by-controller": "yes"}
	w.add(second)
	w.Run(time.Second)
	assert.Nil(t, w.volume("w").Spec.ClaimRef)
	assert.Equal(t, corev1.VolumeAvailable, w.volume("w").Status.Phase)
}

// C-PV-11: the default class is the newest, then the first by name.
func TestClasslessClaimGetsTheDefaultClass(t *testing.T) {
	marked := func(name string) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{
			"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: "d"}
	}
	w := newWorld(t)
	w.add(aClaim("1Gi", modes{rwo}, func(pvc claim) { pvc.Spec.StorageClassName = nil }))
	w.Run(time.Second)
	assert.Contains(t, w.events(), "FailedBinding")
	w.add(marked("old"))
	w.Run(2 * time.Second)
	w.add(marked("new-b"), marked("new-a"))
	w.Run(15 * time.Second)
	require.NotNil(t, w.claim().Spec.StorageClassName)
	assert.Equal(t, "new-a", *w.claim().Spec.StorageClassName)
}

// C-PV-39 [gate RetroactiveDefaultStorageClass]
func TestOldVersionsLeaveClasslessClaimsAlone(t *testing.T) {
	for _, v := range []version.Version{version.LateDefaultClass.Before(), version.LateDefaultClass.Before() + 1} {
		w := newWorld(t)
		w.controller.Version = v
		w.add(aClaim("1Gi", modes{rwo}, func(pvc claim) { pvc.Spec.StorageClassName = nil }))
		w.Run(time.Second)
		w.add(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "late", Annotations: map[string]string{
			"storageclass.kubernetes.io/is-default-class": "true"}}, Provisioner: "d"})
		w.Run(time.Minute)
		assert.Equal(t, v.Has(version.LateDefaultClass), w.claim().Spec.StorageClassName != nil, v.String())
	}
}

// C-PV-40, C-PV-41
func TestHandOffToTheProvisioner(t *testing.T) {
	for _, c := range []struct{ says, provisioner, event string }{
		{"external", "d.example.com", "ExternalProvisioning"},
		{"none", "kubernetes.io/no-provisioner", "ProvisioningFailed"},
		{"no such class", "", "ProvisioningFailed"},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := newWorld(t)
			if c.provisioner != "" {
				w.add(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Provisioner: c.provisioner})
			}
			w.add(aClaim("1Gi", modes{rwo}))
			w.Run(time.Second)
			assert.Contains(t, w.events(), c.event)
			if c.event == "ExternalProvisioning" {
				assert.Equal(t, c.provisioner, w.claim().Annotations["volume.kubernetes.io/storage-provisioner"])
			} else {
				assert.Empty(t, w.claim().Annotations)
			}
		})
	}
}

// C-PV-23: if a binder is killed between two of the four steps, its successor continues with the
// next step.
func TestBindingIsResumedAfterACrash(t *testing.T) {
	key := store.Key{Namespace: "default", Name: "pvc"}
	pointToClaim := func(w *world) error {
		_, err := store.Modify(w.Store, store.Key{Name: "v"}, func(pv *corev1.PersistentVolume) {
			pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "pvc", UID: w.claim().UID}
		})
		return err
	}
	setBound := func(w *world) error {
		_, err := store.ModifyStatus(w.Store, store.Key{Name: "v"}, func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeBound })
		return err
	}
	pointToVolume := func(w *world) error {
		_, err := store.Modify(w.Store, key, func(pvc claim) {
			pvc.Spec.VolumeName = "v"
			pvc.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		})
		return err
	}
	for done, steps := range [][]func(*world) error{{}, {pointToClaim}, {pointToClaim, setBound}, {pointToClaim, setBound, pointToVolume}} {
		w := newWorld(t)
		w.add(aVolume("v", "1Gi", modes{rwo}))
		w.Run(time.Second)
		w.controller.Crash()
		w.add(aClaim("1Gi", modes{rwo}))
		for _, step := range steps {
			require.NoError(t, step(w))
		}
		w.Run(time.Second)
		assert.Equal(t, corev1.ClaimPending, w.claim().Status.Phase)
		w.controller = Start(w.World)
		w.Run(time.Second)
		assert.Equal(t, corev1.ClaimBound, w.claim().Status.Phase, "after %d steps", done)
		assert.Equal(t, "v", w.claim().Spec.VolumeName)
		assert.Equal(t, corev1.VolumeBound, w.volume("v").Status.Phase)
	}
}
