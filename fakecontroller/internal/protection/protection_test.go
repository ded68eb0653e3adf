package protection

import (
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
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

func newWorld(t *testing.T) *testcluster.API { return newWorldWith(t, kernel.Calm{}) }

func newWorldWith(t *testing.T, strategy kernel.Strategy) *testcluster.API {
	w := testcluster.NewAPI(t, strategy)
	StartClaims(w.World)
	StartVolumes(w.World)
	StartClasses(w.World)
	return w
}

func exists[T store.Object](w *testcluster.API, key store.Key) bool {
	_, ok := store.Get[T](w.Store, key)
	return ok
}

var size = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}

func aClaim(owners ...metav1.OwnerReference) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p-data", OwnerReferences: owners},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: size},
		},
	}
}

func aPod(node string, source corev1.VolumeSource) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: corev1.PodSpec{
		NodeName: node, Containers: []corev1.Container{{Name: "c", Image: "sleep"}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: source}},
	}}
}

var (
	named     = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "p-data"}}
	ephemeral = corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: aClaim().Spec}}}
)

// C-PVCP-1, C-PVCP-2
func TestClaimIsHeldByThePodsThatUseIt(t *testing.T) {
	for _, c := range []struct {
		says string
		pod  *corev1.Pod
		own  bool // the pod owns the claim
		end  func(*corev1.PodStatus)
		held bool
	}{
		{says: "none"},
		{says: "on a node", pod: aPod("n", named), held: true},
		{says: "not scheduled", pod: aPod("", named)},
		{says: "terminated but there", pod: aPod("n", named), end: func(s *corev1.PodStatus) { s.Phase = corev1.PodSucceeded }, held: true},
		{says: "its own ephemeral claim", pod: aPod("n", ephemeral), own: true, held: true},
		{says: "an ephemeral claim of that name", pod: aPod("n", ephemeral)},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := newWorld(t)
			claim := aClaim()
			if c.pod != nil {
				pod := testcluster.Create(w, c.pod)
				if c.own {
					claim = aClaim(*metav1.NewControllerRef(pod, corev1.SchemeGroupVersion.WithKind("Pod")))
				}
				if c.end != nil {
					_, err := store.ModifyStatus(w.Store, store.KeyOf(pod), func(p *corev1.Pod) { c.end(&p.Status) })
					require.NoError(t, err)
				}
			}
			claim = testcluster.Create(w, claim)
			w.Run(time.Second)
			_, err := store.Delete[*corev1.PersistentVolumeClaim](w.Store, store.KeyOf(claim))
			require.NoError(t, err)
			w.Run(time.Second)
			assert.Equal(t, c.held, exists[*corev1.PersistentVolumeClaim](w, store.KeyOf(claim)))
			if !c.held {
				return
			}
			// C-PVCP-4.
			_, err = store.Delete[*corev1.Pod](w.Store, store.KeyOf(c.pod), store.GracePeriod(0))
			require.NoError(t, err)
			w.Run(time.Second)
			assert.False(t, exists[*corev1.PersistentVolumeClaim](w, store.KeyOf(claim)))
		})
	}
}

// C-GEN-13, C-PVCP-1, C-PVP-1, C-VACP-1: finalizers that were removed are added again.
func TestRemovedFinalizersAreAddedAgain(t *testing.T) {
	w := newWorld(t)
	claim := testcluster.Create(w, aClaim())
	pv := testcluster.Create(w, aVolume())
	class := testcluster.Create(w, &storagev1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, DriverName: "d", Parameters: map[string]string{"iops": "900"}})
	_, err := store.Modify(w.Store, store.KeyOf(claim), func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil })
	require.NoError(t, err)
	_, err = store.Modify(w.Store, store.KeyOf(pv), func(v *corev1.PersistentVolume) { v.Finalizers = nil })
	require.NoError(t, err)
	w.Run(time.Second)
	claim, _ = store.Get[*corev1.PersistentVolumeClaim](w.Store, store.KeyOf(claim))
	assert.Equal(t, []string{"kubernetes.io/pvc-protection"}, claim.Finalizers)
	pv, _ = store.Get[*corev1.PersistentVolume](w.Store, store.KeyOf(pv))
	assert.Equal(t, []string{"kubernetes.io/pv-protection"}, pv.Finalizers)
	class, _ = store.Get[*storagev1.VolumeAttributesClass](w.Store, store.KeyOf(class))
	assert.Equal(t, []string{"kubernetes.io/vac-protection"}, class.Finalizers)
}

// C-PVCP-3: a pod that is not in the controller's cache yet still protects the claim.
func TestPodsAreListedLiveBeforeAClaimIsRemoved(t *testing.T) {
	w := newWorldWith(t, testcluster.Meddler{Before: "list pods"})
	claim := testcluster.Create(w, aClaim())
	w.Run(time.Second)
	testcluster.Meddle(w.Kernel, 1, func() { testcluster.Create(w, aPod("n", named)) })
	_, err := store.Delete[*corev1.PersistentVolumeClaim](w.Store, store.KeyOf(claim))
	require.NoError(t, err)
	w.Run(time.Second)
	claim, _ = store.Get[*corev1.PersistentVolumeClaim](w.Store, store.KeyOf(claim))
	require.NotNil(t, claim)
	assert.Equal(t, []string{ClaimFinalizer}, claim.Finalizers)
	var order []string
	for _, e := range w.Trace.Events() {
		order = append(order, e.Change+" "+e.Resource)
	}
	assert.Equal(t, []string{"ADDED persistentvolumeclaims", "MODIFIED persistentvolumeclaims", "ADDED pods"}, order, "the pod came after the deletion")
}

// C-PVP-2: the controller writes finalizers together with its cached version of the object. A
// changed object is not overwritten; the controller tries again.
func TestAFinalizerOverwritesNoChange(t *testing.T) {
	w := newWorldWith(t, testcluster.Meddler{Before: "update"})
	pv := testcluster.Create(w, aVolume())
	bare := func(v *corev1.PersistentVolume) { v.Finalizers = nil }
	_, err := store.Modify(w.Store, store.KeyOf(pv), bare)
	require.NoError(t, err)
	testcluster.Meddle(w.Kernel, 1, func() {
		_, err := store.Modify(w.Store, store.KeyOf(pv), func(v *corev1.PersistentVolume) { v.Labels = map[string]string{"mine": "yes"} })
		require.NoError(t, err)
	})
	w.Run(time.Second)
	pv, _ = store.Get[*corev1.PersistentVolume](w.Store, store.KeyOf(pv))
	assert.Equal(t, []string{VolumeFinalizer}, pv.Finalizers)
	assert.Equal(t, map[string]string{"mine": "yes"}, pv.Labels)
	last := w.Trace.Events()[len(w.Trace.Events())-1]
	assert.Equal(t, "pv-protection-controller/volumes", last.Actor)
	before := w.Trace.Events()[len(w.Trace.Events())-2]
	assert.Equal(t, testcluster.MeddlerName, before.Actor)
}

func aVolume() *corev1.PersistentVolume {
	return &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Spec: corev1.PersistentVolumeSpec{
		Capacity: size, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: "v"}},
	}}
}

// C-PVP-1
func TestBoundVolumeIsHeldUntilItIsReleased(t *testing.T) {
	w := newWorld(t)
	key := store.Key{Name: "v"}
	testcluster.Create(w, aVolume())
	phase := func(phase corev1.PersistentVolumePhase) {
		_, err := store.ModifyStatus(w.Store, key, func(v *corev1.PersistentVolume) { v.Status.Phase = phase })
		require.NoError(t, err)
		w.Run(time.Second)
	}
	phase(corev1.VolumeBound)
	_, err := store.Delete[*corev1.PersistentVolume](w.Store, key)
	require.NoError(t, err)
	w.Run(time.Second)
	assert.True(t, exists[*corev1.PersistentVolume](w, key))
	phase(corev1.VolumeReleased)
	assert.False(t, exists[*corev1.PersistentVolume](w, key))
}

// C-VACP-1
func TestAnAttributesClassIsKeptWhileItIsNamed(t *testing.T) {
	for rule, name := range map[string]func(t *testing.T, w *testcluster.API, change func(pvc *corev1.PersistentVolumeClaim)){
		"the claim asks for it": func(t *testing.T, w *testcluster.API, _ func(*corev1.PersistentVolumeClaim)) {
			pvc := aClaim()
			pvc.Spec.VolumeAttributesClassName = ptr.To("gold")
			testcluster.Create(w, pvc)
		},
		"the claim's volume has it": func(_ *testing.T, _ *testcluster.API, change func(*corev1.PersistentVolumeClaim)) {
			change(&corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{CurrentVolumeAttributesClassName: ptr.To("gold")}})
		},
		"the claim's volume is being given it": func(_ *testing.T, _ *testcluster.API, change func(*corev1.PersistentVolumeClaim)) {
			change(&corev1.PersistentVolumeClaim{Status: corev1.PersistentVolumeClaimStatus{
				ModifyVolumeStatus: &corev1.ModifyVolumeStatus{TargetVolumeAttributesClassName: "gold", Status: "InProgress"}}})
		},
	} {
		t.Run(rule, func(t *testing.T) {
			w := newWorld(t)
			gold := testcluster.Create(w, &storagev1.VolumeAttributesClass{
				ObjectMeta: metav1.ObjectMeta{Name: "gold"}, DriverName: "d", Parameters: map[string]string{"iops": "900"},
			})
			name(t, w, func(from *corev1.PersistentVolumeClaim) {
				pvc := testcluster.Create(w, aClaim())
				_, err := store.ModifyStatus(w.Store, store.KeyOf(pvc), func(pvc *corev1.PersistentVolumeClaim) {
					pvc.Status.CurrentVolumeAttributesClassName = from.Status.CurrentVolumeAttributesClassName
					pvc.Status.ModifyVolumeStatus = from.Status.ModifyVolumeStatus
				})
				require.NoError(t, err)
			})
			w.Run(time.Second)
			_, err := store.Delete[*storagev1.VolumeAttributesClass](w.Store, store.KeyOf(gold))
			require.NoError(t, err)
			w.Run(time.Second)
			assert.True(t, exists[*storagev1.VolumeAttributesClass](w, store.KeyOf(gold)))
			_, err = store.Delete[*corev1.PersistentVolumeClaim](w.Store, store.KeyOf(aClaim()))
			require.NoError(t, err)
			w.Run(time.Second)
			assert.False(t, exists[*storagev1.VolumeAttributesClass](w, store.KeyOf(gold)))
		})
	}
}

// C-VACP-1: a volume with a class protects the class until the volume has another one.
func TestAnAttributesClassIsKeptWhileAVolumeHasIt(t *testing.T) {
	w := newWorld(t)
	gold := testcluster.Create(w, &storagev1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: "gold"}, DriverName: "d", Parameters: map[string]string{"iops": "900"}})
	pv := aVolume()
	pv.Spec.VolumeAttributesClassName = ptr.To("gold")
	testcluster.Create(w, pv)
	w.Run(time.Second)
	_, err := store.Delete[*storagev1.VolumeAttributesClass](w.Store, store.KeyOf(gold))
	require.NoError(t, err)
	w.Run(time.Second)
	assert.True(t, exists[*storagev1.VolumeAttributesClass](w, store.KeyOf(gold)))
	_, err = store.Modify(w.Store, store.KeyOf(pv), func(pv *corev1.PersistentVolume) { pv.Spec.VolumeAttributesClassName = ptr.To("silver") })
	require.NoError(t, err)
	w.Run(time.Second)
	assert.False(t, exists[*storagev1.VolumeAttributesClass](w, store.KeyOf(gold)))
}
