package workload

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// RunsAs returns the user and group of a pod's containers: the first container's, otherwise the
// pod's, otherwise root. Without a pod, it also returns root.
func RunsAs(pod *corev1.Pod) (uid, gid int) {
	if pod == nil {
		return 0, 0
	}
	own, all := &corev1.SecurityContext{}, cmp.Or(pod.Spec.SecurityContext, &corev1.PodSecurityContext{})
	if containers := pod.Spec.Containers; len(containers) > 0 {
		own = cmp.Or(containers[0].SecurityContext, own)
	}
	return int(ptr.Deref(cmp.Or(own.RunAsUser, all.RunAsUser), 0)), int(ptr.Deref(cmp.Or(own.RunAsGroup, all.RunAsGroup), 0))
}
