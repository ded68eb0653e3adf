package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oldAnnotations are annotations of volumes and claims that fields have replaced.
var oldAnnotations = map[string]string{
	corev1.BetaStorageClassAnnotation: `deprecated since v1.8; use "storageClassName" attribute instead`,
	corev1.MountOptionAnnotation:      `deprecated since v1.31; use "mountOptions" attribute instead`,
}

func annotationWarnings(annotations map[string]string, names ...string) (texts []string) {
	for _, name := range names {
		if _, ok := annotations[name]; ok {
			texts = append(texts, fmt.Sprintf("metadata.annotations[%s]: %s", name, oldAnnotations[name]))
		}
	}
	return texts
}

// oldSources are deprecated kinds of volumes.
var oldSources = []struct{ name, since, gone string }{
	{"cephfs", "v1.28", "v1.31+"}, {"photonPersistentDisk", "v1.11", "v1.16+"}, {"scaleIO", "v1.16", "v1.22+"},
	{"flocker", "v1.22", "v1.25+"}, {"quobyte", "v1.22", "v1.25+"},
	{"storageOS", "v1.22", "v1.25+"}, {"glusterfs", "v1.25", "v1.26+"}, {"rbd", "v1.28", "v1.31+"},
}

func sourceWarnings(path *field.Path, given map[string]bool) (texts []string) {
	for _, old := range oldSources {
		if given[old.name] {
			texts = append(texts, fmt.Sprintf("%s: deprecated in %s, non-functional in %s", path.Child(old.name), old.since, old.gone))
		}
	}
	return texts
}

func volumeWarnings(pv *corev1.PersistentVolume) []string {
	texts, spec := annotationWarnings(pv.Annotations, corev1.BetaStorageClassAnnotation, corev1.MountOptionAnnotation), field.NewPath("spec")
	if pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		texts = append(texts, "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	if affinity := pv.Spec.NodeAffinity; affinity != nil {
		texts = append(texts, nodeSelectorWarnings(spec.Child("nodeAffinity", "required"), affinity.Required)...)
	}
	source := &pv.Spec.PersistentVolumeSource
	return append(texts, sourceWarnings(spec, map[string]bool{
		"cephfs": source.CephFS != nil, "photonPersistentDisk": source.PhotonPersistentDisk != nil, "scaleIO": source.ScaleIO != nil,
		"storageOS": source.StorageOS != nil, "glusterfs": source.Glusterfs != nil, "rbd": source.RBD != nil,
	})...)
}
