package kubeletaccess

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
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
		names = append(names, claimOf(pod, &pod.Spec.Volumes[i]))
	}
	return names
}

// claimOf is the claim behind a volume of a pod, empty if it has none.
func claimOf(pod *corev1.Pod, v *corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
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

// environment is where the variables of a container come from.
type environment struct {
	from []corev1.EnvFromSource
	env  []corev1.EnvVar
}

func environmentsOf(pod *corev1.Pod) (all []environment) {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			all = append(all, environment{containers[i].EnvFrom, containers[i].Env})
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		c := &pod.Spec.EphemeralContainers[i]
		all = append(all, environment{c.EnvFrom, c.Env})
	}
	return all
}

// secretsOf are the secrets that a pod names itself. [pkg/api/v1/pod VisitPodSecretNames]
func secretsOf(pod *corev1.Pod) (names []string) {
	for _, ref := range pod.Spec.ImagePullSecrets {
		names = append(names, ref.Name)
	}
	for _, e := range environmentsOf(pod) {
		for _, from := range e.from {
			if from.SecretRef != nil {
				names = append(names, from.SecretRef.Name)
			}
		}
		for _, variable := range e.env {
			if variable.ValueFrom != nil && variable.ValueFrom.SecretKeyRef != nil {
				names = append(names, variable.ValueFrom.SecretKeyRef.Name)
			}
		}
	}
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

// configMapsOf are the config maps that a pod names. [pkg/api/v1/pod VisitPodConfigmapNames]
func configMapsOf(pod *corev1.Pod) (names []string) {
	for _, e := range environmentsOf(pod) {
		for _, from := range e.from {
			if from.ConfigMapRef != nil {
				names = append(names, from.ConfigMapRef.Name)
			}
		}
		for _, variable := range e.env {
			if variable.ValueFrom != nil && variable.ValueFrom.ConfigMapKeyRef != nil {
				names = append(names, variable.ValueFrom.ConfigMapKeyRef.Name)
			}
		}
	}
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

// nodeSecrets are the secrets of a volume that kubelets read.
// [pkg/api/v1/persistentvolume VisitPVSecretNames]
func nodeSecrets(volume *corev1.PersistentVolume) (refs []corev1.SecretReference) {
	add := func(ref *corev1.SecretReference) {
		if ref == nil || ref.Name == "" {
			return
		}
		found := *ref
		if found.Namespace == "" && volume.Spec.ClaimRef != nil {
			found.Namespace = volume.Spec.ClaimRef.Namespace
		}
		refs = append(refs, found)
	}
	switch v := &volume.Spec.PersistentVolumeSource; {
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
