package store_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func names[T store.Object](objects func(func(T) bool)) (all []string) {
	for obj := range objects {
		all = append(all, store.KeyOf(obj).String())
	}
	return all
}

func TestListIsOrderedByKey(t *testing.T) {
	s := kind.NewStore(store.Options{})
	system := kindtest.Secret("a")
	system.Namespace = "kube-system"
	kindtest.Create(t, s, system)
	kindtest.Create(t, s, kindtest.Secret("b"))
	kindtest.Create(t, s, kindtest.Secret("a"))
	assert.Equal(t, []string{"default/a", "default/b", "kube-system/a"}, names(store.List[*corev1.Secret](s, "")))
	assert.Equal(t, []string{"default/a", "default/b"}, names(store.List[*corev1.Secret](s, "default")))
	assert.Empty(t, names(store.List[*corev1.Secret](s, "def")), "a namespace is no prefix")
}

func TestReadsShareTheStoredObject(t *testing.T) {
	s := kind.NewStore(store.Options{})
	stored := kindtest.Create(t, s, kindtest.Secret("a"))
	got, _ := store.Get[*corev1.Secret](s, kindtest.InDefault("a"))
	assert.Same(t, stored, got)
}

func TestIndexes(t *testing.T) {
	s := kind.NewStore(store.Options{})
	ephemeral := kindtest.Pod("e", kindtest.OnNode("n"), func(p *corev1.Pod) {
		p.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: kindtest.Claim("x").Spec},
		}}
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: "owner", UID: "owner-uid"}}
	})
	kindtest.Create(t, s, kindtest.Pod("p", kindtest.OnNode("n")))
	kindtest.Create(t, s, ephemeral)
	bound := kindtest.Volume("bound")
	bound.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: "c"}
	kindtest.Create(t, s, bound)
	kindtest.Create(t, s, kindtest.Volume("free"))
	c := kindtest.Claim("c")
	c.Spec.VolumeName = "bound"
	kindtest.Create(t, s, c)
	kindtest.Create(t, s, kindtest.Attachment("va", "n", "bound"))
	kindtest.Create(t, s, &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: "ev", Namespace: "default"},
		InvolvedObject: corev1.ObjectReference{Namespace: "default", UID: types.UID("pod-uid")},
	})

	assert.Equal(t, []string{"default/e", "default/p"}, names(store.Indexed[*corev1.Pod](s, kind.PodsByNode, "n")))
	assert.Equal(t, []string{"default/p"}, names(store.Indexed[*corev1.Pod](s, kind.PodsByClaim, "default/claim-p")))
	assert.Equal(t, []string{"default/e"}, names(store.Indexed[*corev1.Pod](s, kind.PodsByClaim, "default/e-data")))
	assert.Equal(t, []string{"default/e"}, names(store.Indexed[*corev1.Pod](s, store.OwnerUID, "owner-uid")))
	assert.Equal(t, []string{"bound"}, names(store.Indexed[*corev1.PersistentVolume](s, kind.VolumesByClaim, "default/c")))
	assert.Equal(t, []string{"free"}, names(store.Indexed[*corev1.PersistentVolume](s, kind.VolumesByHandle, "d.example.com^handle-free")))
	assert.Equal(t, []string{"free"}, names(store.Indexed[*corev1.PersistentVolume](s, kind.UnboundVolumesByClass, "")))
	assert.Equal(t, []string{"default/c"}, names(store.Indexed[*corev1.PersistentVolumeClaim](s, kind.ClaimsByVolume, "bound")))
	assert.Equal(t, []string{"default/c"}, names(store.Indexed[*corev1.PersistentVolumeClaim](s, kind.ClaimsByClass, "")))
	for index, value := range map[store.Index]string{
		kind.AttachmentsByNode: "n", kind.AttachmentsByVolume: "bound", kind.AttachmentsByAttacher: "d.example.com",
	} {
		assert.Equal(t, []string{"va"}, names(store.Indexed[*storagev1.VolumeAttachment](s, index, value)), index)
	}

	kindtest.Remove[*corev1.Pod](t, s, kindtest.InDefault("p"), store.GracePeriod(0))
	assert.Equal(t, []string{"default/e"}, names(store.Indexed[*corev1.Pod](s, kind.PodsByNode, "n")))
}

func TestAFutureRevisionIsAnError(t *testing.T) {
	s := kind.NewStore(store.Options{})
	_, err := s.At(s.Revision() + 1)
	assert.ErrorContains(t, err, "is in the future")
}

func TestGuardNamesAnObjectThatWasChangedInPlace(t *testing.T) {
	s := kind.NewStore(store.Options{Guard: true})
	kindtest.Create(t, s, kindtest.Secret("a"))
	stored := kindtest.Create(t, s, kindtest.Secret("b"))
	require.NoError(t, s.VerifyImmutable())

	kindtest.Label(stored)

	assert.EqualError(t, s.VerifyImmutable(), "*v1.Secret default/b was changed in place after revision 4: copy objects before changing them")
	assert.ErrorContains(t, kind.NewStore(store.Options{}).VerifyImmutable(), "Options.Guard is off")
}
