package attachdetach

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// reportMultiAttach emits an event for each pod that waits for the volume, with the pods that use
// it. It emits the event only once, until the volume is requested again. C-ADC-34
func (c *Controller) reportMultiAttach(at pair, want *desiredVolume, nodes []string) {
	if want.multiAttachReported {
		return
	}
	want.multiAttachReported = true
	var users []*corev1.Pod
	for _, node := range nodes {
		if other := c.desired.get(pair{at.volume, node}); other != nil {
			users = append(users, other.scheduled()...)
		}
	}
	for _, pod := range want.scheduled() {
		c.Event(pod, corev1.EventTypeWarning, "FailedAttachVolume", "Multi-Attach error for volume %q %s", want.spec.pv.Name, usedBy(users, pod.Namespace))
	}
}

// usedBy describes the users of a volume, without naming pods of other namespaces. C-ADC-35
func usedBy(users []*corev1.Pod, namespace string) string {
	if len(users) == 0 {
		return "Volume is already exclusively attached to one node and can't be attached to another"
	}
	var names []string
	foreign := 0
	for _, user := range users {
		if user.Namespace == namespace {
			names = append(names, user.Name)
		} else {
			foreign++
		}
	}
	switch {
	case len(names) == 0:
		return fmt.Sprintf("Volume is already used by %d pod(s) in different namespaces", foreign)
	case foreign == 0:
		return "Volume is already used by pod(s) " + strings.Join(names, ", ")
	default:
		return fmt.Sprintf("Volume is already used by pod(s) %s and %d pod(s) in different namespaces", strings.Join(names, ", "), foreign)
	}
}
