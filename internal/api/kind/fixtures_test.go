package kind_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func create[T store.Object](t testing.TB, s *store.Store, obj T) T {
	t.Helper()
	stored, err := store.Create(s, obj)
	require.NoError(t, err)
	return stored
}

func modify[T store.Object](t testing.TB, s *store.Store, key store.Key, change func(T)) T {
	t.Helper()
	stored, err := store.Modify(s, key, change)
	require.NoError(t, err)
	return stored
}

func modifyStatus[T store.Object](t testing.TB, s *store.Store, key store.Key, change func(T)) T {
	t.Helper()
	stored, err := store.ModifyStatus(s, key, change)
	require.NoError(t, err)
	return stored
}

func remove[T store.Object](t testing.TB, s *store.Store, key store.Key, opts ...store.DeleteOption) T {
	t.Helper()
	last, err := store.Delete[T](s, key, opts...)
	require.NoError(t, err)
	return last
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func inDefault(name string) store.Key { return store.Key{Namespace: "default", Name: name} }

func cluster(name string) store.Key { return store.Key{Name: name} }

func pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "c", Image: "sleep:1",
				VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/mnt/data"}},
			}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim-" + name},
			}}},
		},
	}
	for _, change := range changes {
		change(p)
	}
	return p
}

func onNode(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName = name }
}

func storage(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

func claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: storage("1Gi")},
		},
	}
}

func volume(name string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: named(name),
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    storage("1Gi"),
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "d.example.com", VolumeHandle: "handle-" + name},
			},
		},
	}
}

func attachment(name, node, volume string) *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{
		ObjectMeta: named(name),
		Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "d.example.com", NodeName: node,
			Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume},
		},
	}
}

func class(name string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: named(name), Provisioner: "d.example.com"}
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

// template is that of a workload, with the selector for its pods.
func template() (*metav1.LabelSelector, corev1.PodTemplateSpec) {
	labels := map[string]string{"app": "x"}
	return &metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "sleep:1"}}},
	}
}
