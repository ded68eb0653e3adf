package kubeletaccess

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/volume"
)

// uses reports whether a pod names an object of its namespace.
func uses(pod *corev1.Pod, resource, name string) bool {
	return name != "" && slices.Contains(namesIn(pod, resource), name)
}

func namesIn(pod *corev1.Pod, resource string) []string {
	switch resource {
	case "serviceaccounts":
		return []string{pod.Spec.ServiceAccountName}
	case "secrets":
		return secretsOf(pod)
	case "configmaps":
		return configMapsOf(pod)
	case "persistentvolumeclaims":
		return claimsOf(pod)
	case "resourceclaims":
		return resourceClaimsOf(pod)
	}
	return nil
}

func claimsOf(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.Volumes {
		if claim, _, ok := volume.ClaimOf(pod, &pod.Spec.Volumes[i]); ok {
			names = append(names, claim.Name)
		}
	}
	return names
}

func resourceClaimsOf(pod *corev1.Pod) (names []string) {
	for _, claim := range pod.Spec.ResourceClaims {
		if claim.ResourceClaimName != nil {
			names = append(names, *claim.ResourceClaimName)
		}
	}
	for _, status := range pod.Status.ResourceClaimStatuses {
		if status.ResourceClaimName != nil {
			names = append(names, *status.ResourceClaimName)
		}
	}
	return names
}

// eachVariable calls from and value for the sources of the variables of a pod's containers.
func eachVariable(pod *corev1.Pod, from func(corev1.EnvFromSource), value func(*corev1.EnvVarSource)) {
	containers := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	for _, c := range pod.Spec.EphemeralContainers {
		containers = append(containers, corev1.Container(c.EphemeralContainerCommon))
	}
	for _, c := range containers {
		for _, source := range c.EnvFrom {
			from(source)
		}
		for _, variable := range c.Env {
			if variable.ValueFrom != nil {
				value(variable.ValueFrom)
			}
		}
	}
}

// secretsOf returns the secrets that a pod names itself. [pkg/api/v1/pod VisitPodSecretNames]
func secretsOf(pod *corev1.Pod) (names []string) {
	for _, ref := range pod.Spec.ImagePullSecrets {
		names = append(names, ref.Name)
	}
	eachVariable(pod, func(from corev1.EnvFromSource) {
		if from.SecretRef != nil {
			names = append(names, from.SecretRef.Name)
		}
	}, func(value *corev1.EnvVarSource) {
		if value.SecretKeyRef != nil {
			names = append(names, value.SecretKeyRef.Name)
		}
	})
	for i := range pod.Spec.Volumes {
		names = append(names, secretsOfVolume(&pod.Spec.Volumes[i].VolumeSource)...)
	}
	return names
}

func secretsOfVolume(v *corev1.VolumeSource) (names []string) {
	add := func(ref *corev1.LocalObjectReference) {
		if ref != nil {
			names = append(names, ref.Name)
		}
	}
	switch {
	case v.Secret != nil:
		names = append(names, v.Secret.SecretName)
	case v.AzureFile != nil:
		names = append(names, v.AzureFile.SecretName)
	case v.Projected != nil:
		for _, source := range v.Projected.Sources {
			if source.Secret != nil {
				names = append(names, source.Secret.Name)
			}
		}
	case v.CSI != nil:
		add(v.CSI.NodePublishSecretRef)
	case v.CephFS != nil:
		add(v.CephFS.SecretRef)
	case v.Cinder != nil:
		add(v.Cinder.SecretRef)
	case v.FlexVolume != nil:
		add(v.FlexVolume.SecretRef)
	case v.RBD != nil:
		add(v.RBD.SecretRef)
	case v.ScaleIO != nil:
		add(v.ScaleIO.SecretRef)
	case v.ISCSI != nil:
		add(v.ISCSI.SecretRef)
	case v.StorageOS != nil:
		add(v.StorageOS.SecretRef)
	}
	return names
}

// configMapsOf returns the config maps that a pod names. [pkg/api/v1/pod VisitPodConfigmapNames]
func configMapsOf(pod *corev1.Pod) (names []string) {
	eachVariable(pod, func(from corev1.EnvFromSource) {
		if from.ConfigMapRef != nil {
			names = append(names, from.ConfigMapRef.Name)
		}
	}, func(value *corev1.EnvVarSource) {
		if value.ConfigMapKeyRef != nil {
			names = append(names, value.ConfigMapKeyRef.Name)
		}
	})
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.ConfigMap != nil {
			names = append(names, v.ConfigMap.Name)
		}
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if source.ConfigMap != nil {
				names = append(names, source.ConfigMap.Name)
			}
		}
	}
	return names
}

// nodeSecrets returns the secrets of a volume that kubelets read. [pkg/api/v1/persistentvolume
// VisitPVSecretNames]
func nodeSecrets(pv *corev1.PersistentVolume) (refs []corev1.SecretReference) {
	add := func(ref *corev1.SecretReference) {
		if ref == nil || ref.Name == "" {
			return
		}
		found := *ref
		if found.Namespace == "" && pv.Spec.ClaimRef != nil {
			found.Namespace = pv.Spec.ClaimRef.Namespace
		}
		refs = append(refs, found)
	}
	switch v := &pv.Spec.PersistentVolumeSource; {
	case v.CSI != nil:
		add(v.CSI.NodePublishSecretRef)
		add(v.CSI.NodeStageSecretRef)
		add(v.CSI.NodeExpandSecretRef)
	case v.AzureFile != nil:
		ref := corev1.SecretReference{Name: v.AzureFile.SecretName}
		if v.AzureFile.SecretNamespace != nil {
			ref.Namespace = *v.AzureFile.SecretNamespace
		}
		add(&ref)
	case v.CephFS != nil:
		add(v.CephFS.SecretRef)
	case v.Cinder != nil:
		add(v.Cinder.SecretRef)
	case v.FlexVolume != nil:
		add(v.FlexVolume.SecretRef)
	case v.RBD != nil:
		add(v.RBD.SecretRef)
	case v.ScaleIO != nil:
		add(v.ScaleIO.SecretRef)
	case v.ISCSI != nil:
		add(v.ISCSI.SecretRef)
	case v.StorageOS != nil && v.StorageOS.SecretRef != nil:
		add(&corev1.SecretReference{Name: v.StorageOS.SecretRef.Name, Namespace: v.StorageOS.SecretRef.Namespace})
	}
	return refs
}
