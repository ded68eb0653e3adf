package volume

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// ContainerMounts are what a container of any kind mounts, and how it is secured.
type ContainerMounts struct {
	Security *corev1.SecurityContext
	Mounts   []corev1.VolumeMount
}

// MountsOf are those of a pod's containers: init, ordinary and ephemeral ones.
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

// SELinuxLabels are the different labels of the containers that mount a volume, sorted;
// labelOf makes one of a container's options. K-SEL-1
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

// selinuxOptions are a container's own, else the pod's.
func selinuxOptions(pod *corev1.Pod, security *corev1.SecurityContext) *corev1.SELinuxOptions {
	switch {
	case security != nil && security.SELinuxOptions != nil:
		return security.SELinuxOptions
	case pod.Spec.SecurityContext != nil:
		return pod.Spec.SecurityContext.SELinuxOptions
	}
	return nil
}

// SELinuxPolicy is how a pod wants its label applied; by mount option unless it says. K-SEL-1
func SELinuxPolicy(pod *corev1.Pod) corev1.PodSELinuxChangePolicy {
	if security := pod.Spec.SecurityContext; security != nil && security.SELinuxChangePolicy != nil {
		return *security.SELinuxChangePolicy
	}
	return corev1.SELinuxChangePolicyMountOption
}
