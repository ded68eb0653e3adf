package persistentvolume

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type modes = []corev1.PersistentVolumeAccessMode

const (
	rwo = corev1.ReadWriteOnce
	rwx = corev1.ReadWriteMany
	rox = corev1.ReadOnlyMany
)

func aVolume(name, size string, access modes, change ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}, AccessModes: access, StorageClassName: "c",
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "d", VolumeHandle: name}},
		},
		Status: corev1.PersistentVolumeStatus{Phase: corev1.VolumeAvailable},
	}
	for _, f := range change {
		f(pv)
	}
	return pv
}

func aClaim(size string, access modes, change ...func(claim)) claim {
	class := "c"
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pvc", UID: "u"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: access, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		},
	}
	for _, f := range change {
		f(pvc)
	}
	return pvc
}

func reservedFor(name string) func(*corev1.PersistentVolume) {
	return func(pv *corev1.PersistentVolume) {
		pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: name}
	}
}

// C-PV-20, C-PV-22
func TestMatchFindsTheBestVolume(t *testing.T) {
	block := corev1.PersistentVolumeBlock
	for _, c := range []struct {
		says    string
		claim   claim
		volumes []*corev1.PersistentVolume
		delayed bool
		want    string
	}{
		{says: "the smallest that fits", claim: aClaim("2Gi", modes{rwo}),
			volumes: []*corev1.PersistentVolume{aVolume("small", "1Gi", modes{rwo}), aVolume("big", "9Gi", modes{rwo}), aVolume("fit", "3Gi", modes{rwo})}, want: "fit"},
		{says: "of equal ones the first", claim: aClaim("1Gi", modes{rwo}),
			volumes: []*corev1.PersistentVolume{aVolume("a", "2Gi", modes{rwo}), aVolume("b", "2Gi", modes{rwo})}, want: "a"},
		{says: "few access modes before small size", claim: aClaim("1Gi", modes{rwo}),
			volumes: []*corev1.PersistentVolume{aVolume("many", "1Gi", modes{rwo, rwx}), aVolume("one", "5Gi", modes{rwo})}, want: "one"},
		{says: "more access modes will do", claim: aClaim("1Gi", modes{rwo}),
			volumes: []*corev1.PersistentVolume{aVolume("many", "1Gi", modes{rwo, rwx}), aVolume("other", "1Gi", modes{rox})}, want: "many"},
		{says: "one reserved for the claim before all", claim: aClaim("1Gi", modes{rwo}),
			volumes: []*corev1.PersistentVolume{aVolume("a", "1Gi", modes{rwo}), aVolume("mine", "5Gi", modes{rwo}, reservedFor("pvc"))}, want: "mine"},
		{says: "not one reserved for another", claim: aClaim("1Gi", modes{rwo}),
			volumes: []*corev1.PersistentVolume{aVolume("theirs", "1Gi", modes{rwo}, reservedFor("x"))}},
		{says: "delayed: only a reserved one", claim: aClaim("1Gi", modes{rwo}), delayed: true,
			volumes: []*corev1.PersistentVolume{aVolume("a", "1Gi", modes{rwo})}},
		{says: "delayed: a reserved one", claim: aClaim("1Gi", modes{rwo}), delayed: true,
			volumes: []*corev1.PersistentVolume{aVolume("mine", "1Gi", modes{rwo}, reservedFor("pvc"))}, want: "mine"},
		{says: "not one of another mode", claim: aClaim("1Gi", modes{rwo}),
			volumes: []*corev1.PersistentVolume{aVolume("block", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) { pv.Spec.VolumeMode = &block })}},
		{says: "not one that is not available", claim: aClaim("1Gi", modes{rwo}),
			volumes: []*corev1.PersistentVolume{aVolume("pending", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumePending })}},
		{says: "not one that is being deleted", claim: aClaim("1Gi", modes{rwo}),
			volumes: []*corev1.PersistentVolume{aVolume("gone", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp = &metav1.Time{} })}},
		{says: "a volume that the selector selects", claim: aClaim("1Gi", modes{rwo}, func(c claim) {
			c.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
		}), volumes: []*corev1.PersistentVolume{aVolume("plain", "1Gi", modes{rwo}), aVolume("gold", "2Gi", modes{rwo}, func(pv *corev1.PersistentVolume) {
			pv.Labels = map[string]string{"tier": "gold"}
		})}, want: "gold"},
	} {
		t.Run(c.says, func(t *testing.T) {
			pv, err := match(c.claim, c.volumes, c.delayed)
			require.NoError(t, err)
			got := ""
			if pv != nil {
				got = pv.Name
			}
			assert.Equal(t, c.want, got)
		})
	}
}

// C-PV-21
func TestUnsuitableVolumesForAClaimThatNamesThem(t *testing.T) {
	block, gold := corev1.PersistentVolumeBlock, "gold"
	for _, c := range []struct {
		want   string
		volume *corev1.PersistentVolume
	}{
		{"", aVolume("ok", "1Gi", modes{rwo, rwx}, func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumePending })},
		{"requested PV is too small", aVolume("v", "1Mi", modes{rwo})},
		{"incompatible accessMode", aVolume("v", "1Gi", modes{rox})},
		{"incompatible volumeMode", aVolume("v", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) { pv.Spec.VolumeMode = &block })},
		{"storageClassName does not match", aVolume("v", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) { pv.Spec.StorageClassName = "" })},
		{"volumeAttributesClassName does not match", aVolume("v", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) { pv.Spec.VolumeAttributesClassName = &gold })},
		{`the volume is marked for deletion "v"`, aVolume("v", "1Gi", modes{rwo}, func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp = &metav1.Time{} })},
	} {
		assert.Equal(t, c.want, unsuitable(c.volume, aClaim("1Gi", modes{rwo})))
	}
}

// C-PV-51
func TestTheDeleterOfAVolume(t *testing.T) {
	by := func(provisioner string) func(*corev1.PersistentVolume) {
		return func(pv *corev1.PersistentVolume) {
			pv.Spec.CSI = nil
			if provisioner != "" {
				pv.Annotations = map[string]string{"pv.kubernetes.io/provisioned-by": provisioner}
			}
		}
	}
	assert.True(t, deletedExternally(aVolume("csi", "1Gi", nil)))
	assert.True(t, deletedExternally(aVolume("nfs", "1Gi", nil, by("nfs.example.com"))))
	assert.False(t, deletedExternally(aVolume("in tree", "1Gi", nil, by("kubernetes.io/x"))))
	assert.False(t, deletedExternally(aVolume("static", "1Gi", nil, by(""))))
}
