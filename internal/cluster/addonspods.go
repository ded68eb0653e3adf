package cluster

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// addonsPods are the pods that a cluster makes for sidecars of CSI-Addons.
type addonsPods struct{ made int }

// make creates the pod of a sidecar, "namespace/name", by a StatefulSet with one replica. It gives
// the pod the address, or by default an unused one. The pod is only a record: no kubelet runs it.
func (a *addonsPods) make(w *component.World, pod, address string) {
	namespace, name, _ := strings.Cut(pod, "/")
	if a.made++; address == "" {
		address = fmt.Sprintf("10.64.0.%d", a.made)
	}
	deployment := w.Start("deployment of "+name, "")
	deployment.Go("pod", func(p *kernel.Process) {
		if _, err := component.Create(p, deployment, addonsSet(namespace, strings.TrimSuffix(name, "-0"))); err != nil {
			return
		}
		key := store.Key{Namespace: namespace, Name: name}
		pods := component.Watch[*corev1.Pod](deployment, p, store.ByKey(key))
		for {
			p.Wait("pod "+name, func() bool { return pods.Len() > 0 })
			e, _ := pods.Next()
			if e.Type == store.Deleted || e.Object.Status.PodIP != "" || e.Object.DeletionTimestamp != nil {
				continue
			}
			_, _ = component.PatchStatus(p, deployment, key, func(pod *corev1.Pod) {
				pod.Status.Phase, pod.Status.PodIP, pod.Status.PodIPs = corev1.PodRunning, address, []corev1.PodIP{{IP: address}}
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			})
		}
	})
}

// addonsSet returns a StatefulSet with one pod, which is never rescheduled.
func addonsSet(namespace, name string) *appsv1.StatefulSet {
	labels := map[string]string{"app": name}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{SchedulerName: "none", Containers: []corev1.Container{{Name: "csi-addons", Image: "csi-addons"}}},
			},
		},
	}
}
