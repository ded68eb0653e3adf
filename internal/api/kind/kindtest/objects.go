package kindtest

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// Named returns the metadata of an object with that name.
func Named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

// InDefault returns the key of an object in namespace default.
func InDefault(name string) store.Key { return store.Key{Namespace: "default", Name: name} }

// OfCluster returns the key of an object without a namespace.
func OfCluster(name string) store.Key { return store.Key{Name: name} }

// Pod returns a pod in namespace default with one container, which mounts the claim "claim-<name>".
func Pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
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

// OnNode assigns a pod to a node.
func OnNode(name string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName = name }
}

// Storage returns a resource list with that much storage.
func Storage(size string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
}

// Claim returns a claim of 1Gi in namespace default.
func Claim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: Storage("1Gi")},
		},
	}
}

// Volume returns a volume of 1Gi of the driver d.example.com, with the handle "handle-<name>".
func Volume(name string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: Named(name),
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    Storage("1Gi"),
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				CSI: &corev1.CSIPersistentVolumeSource{Driver: "d.example.com", VolumeHandle: "handle-" + name},
			},
		},
	}
}

// Attachment returns the attachment of a volume of the driver d.example.com to a node.
func Attachment(name, node, volume string) *storagev1.VolumeAttachment {
	return &storagev1.VolumeAttachment{
		ObjectMeta: Named(name),
		Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "d.example.com", NodeName: node,
			Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &volume},
		},
	}
}

// Class returns a storage class of the driver d.example.com.
func Class(name string) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: Named(name), Provisioner: "d.example.com"}
}

// Secret returns an empty secret in namespace default.
func Secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
}

// Template returns the pod template of a workload, and the selector of its pods.
func Template() (*metav1.LabelSelector, corev1.PodTemplateSpec) {
	labels := map[string]string{"app": "x"}
	return &metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "sleep:1"}}},
	}
}

// Label labels an object.
func Label(obj store.Object) { obj.SetLabels(map[string]string{"a": "b"}) }
