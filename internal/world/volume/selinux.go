package volume

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// ContainerMounts has the mounts and the security context of a container of any kind.
type ContainerMounts struct {
	Security *corev1.SecurityContext
	Mounts   []corev1.VolumeMount
}

// MountsOf returns the mounts of a pod's init, ordinary and ephemeral containers.
func MountsOf(pod *corev1.Pod) (all []ContainerMounts) {
	for _, c := range pod.Spec.InitContainers {
		all = append(all, ContainerMounts{c.SecurityContext, c.VolumeMounts})
	}
	for _, c := range pod.Spec.Containers {
		all = append(all, ContainerMounts{c.SecurityContext, c.VolumeMounts})
	}
	for _, c := range pod.Spec.EphemeralContainers {
		all = append(all, ContainerMounts{c.SecurityContext, c.VolumeMounts})
	}
	return all
}

// SELinuxLabels returns the distinct labels of the containers that mount a volume, sorted. labelOf
// derives a label from a container's options. K-SEL-1
func SELinuxLabels(pod *corev1.Pod, volumeName string, labelOf func(*corev1.SELinuxOptions) string) (found []string) {
	for _, c := range MountsOf(pod) {
		options := selinuxOptions(pod, c.Security)
		if options != nil && slices.ContainsFunc(c.Mounts, func(m corev1.VolumeMount) bool { return m.Name == volumeName }) {
			found = append(found, labelOf(options))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// selinuxOptions returns the options of a container, or of its pod if the container has none.
func selinuxOptions(pod *corev1.Pod, security *corev1.SecurityContext) *corev1.SELinuxOptions {
	switch {
	case security != nil && security.SELinuxOptions != nil:
		return security.SELinuxOptions
	case pod.Spec.SecurityContext != nil:
		return pod.Spec.SecurityContext.SELinuxOptions
	}
	return nil
}

// SELinuxPolicy returns a pod's policy for its label; by default the mount option. K-SEL-1
func SELinuxPolicy(pod *corev1.Pod) corev1.PodSELinuxChangePolicy {
	if security := pod.Spec.SecurityContext; security != nil && security.SELinuxChangePolicy != nil {
		return *security.SELinuxChangePolicy
	}
	return corev1.SELinuxChangePolicyMountOption
}
