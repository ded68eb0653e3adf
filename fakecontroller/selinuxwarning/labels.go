package selinuxwarning

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// policyOf is how a pod wants its label applied; by mount option unless it says.
func policyOf(pod *corev1.Pod) corev1.PodSELinuxChangePolicy {
	if security := pod.Spec.SecurityContext; security != nil && security.SELinuxChangePolicy != nil {
		return *security.SELinuxChangePolicy
	}
	return corev1.SELinuxChangePolicyMountOption
}

// container is what of a container matters here.
type container struct {
	security *corev1.SecurityContext
	mounts   []corev1.VolumeMount
}

func containersOf(pod *corev1.Pod) (all []container) {
	for _, c := range pod.Spec.InitContainers {
		all = append(all, container{c.SecurityContext, c.VolumeMounts})
	}
	for _, c := range pod.Spec.Containers {
		all = append(all, container{c.SecurityContext, c.VolumeMounts})
	}
	for _, c := range pod.Spec.EphemeralContainers {
		all = append(all, container{c.SecurityContext, c.VolumeMounts})
	}
	return all
}

// mountedVolumes are the names of the volumes that containers mount; devices have no
// labels.
func mountedVolumes(pod *corev1.Pod) (names []string) {
	for _, c := range containersOf(pod) {
		for _, m := range c.mounts {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// labelsOf are the different labels of the containers that mount a volume.
func labelsOf(pod *corev1.Pod, name string) (found []string) {
	for _, c := range containersOf(pod) {
		options := effective(pod, c.security)
		if options != nil && slices.ContainsFunc(c.mounts, func(m corev1.VolumeMount) bool { return m.Name == name }) {
			found = append(found, labelOf(options))
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// effective are a container's own options, else the pod's.
func effective(pod *corev1.Pod, security *corev1.SecurityContext) *corev1.SELinuxOptions {
	switch {
	case security != nil && security.SELinuxOptions != nil:
		return security.SELinuxOptions
	case pod.Spec.SecurityContext != nil:
		return pod.Spec.SecurityContext.SELinuxOptions
	}
	return nil
}

// labelOf is a label with the parts that are given: what nodes make of those that are
// not, the controller cannot know.
func labelOf(o *corev1.SELinuxOptions) string {
	if *o == (corev1.SELinuxOptions{}) {
		return ""
	}
	return strings.Join([]string{o.User, o.Role, o.Type, o.Level}, ":")
}

// differ reports whether labels cannot be the same on a node. User, role and type have
// defaults there, so that none goes with any; the level has none.
func differ(a, b string) bool {
	x, y := parts(a), parts(b)
	for i := range 3 {
		if x[i] != y[i] && x[i] != "" && y[i] != "" {
			return true
		}
	}
	return x[3] != y[3]
}

func parts(label string) (four [4]string) {
	copy(four[:], strings.SplitN(label, ":", 4))
	return four
}
