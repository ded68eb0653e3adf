package statefulset

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

func podName(set *appsv1.StatefulSet, n int) string { return fmt.Sprintf("%s-%d", set.Name, n) }

func ordinalOf(set *appsv1.StatefulSet, pod *corev1.Pod) (int, bool) {
	digits, ok := strings.CutPrefix(pod.Name, set.Name+"-")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil
}

// wanted returns the ordinals that should have a pod.
func wanted(set *appsv1.StatefulSet) []int {
	ordinals := make([]int, *set.Spec.Replicas)
	for i := range ordinals {
		ordinals[i] = start(set) + i
	}
	return ordinals
}

// isWanted reports whether a pod of the ordinal should be there.
func isWanted(set *appsv1.StatefulSet, n int) bool {
	return n >= start(set) && n < start(set)+int(*set.Spec.Replicas)
}

func start(set *appsv1.StatefulSet) int {
	if set.Spec.Ordinals == nil {
		return 0
	}
	return int(set.Spec.Ordinals.Start)
}

func sortedDown(pods map[int]*corev1.Pod) []int {
	ordinals := slices.Sorted(maps.Keys(pods))
	slices.Reverse(ordinals)
	return ordinals
}

// firstUnhealthy returns the unhealthy pod with the lowest ordinal. It may be replaced although it
// is not ready.
func (c *Controller) firstUnhealthy(set *appsv1.StatefulSet, down []int, pods map[int]*corev1.Pod) *corev1.Pod {
	for _, n := range slices.Backward(down) {
		if !c.healthy(set, pods[n]) {
			return pods[n]
		}
	}
	return nil
}

// healthy reports whether a pod runs, has been ready for the time that the set requires, and is not
// being deleted.
func (c *Controller) healthy(set *appsv1.StatefulSet, pod *corev1.Pod) bool {
	return c.availableIn(set, pod) == 0 && pod.DeletionTimestamp == nil
}

// availableIn returns the time until a pod counts as available. It is 0 if the pod is available
// now, and negative if it is not ready.
func (c *Controller) availableIn(set *appsv1.StatefulSet, pod *corev1.Pod) time.Duration {
	return workload.AvailableIn(pod, set.Spec.MinReadySeconds, c.Kernel.Now())
}

// nextAvailable returns the time until the next pod becomes available; 0 if none does.
func (c *Controller) nextAvailable(set *appsv1.StatefulSet, pods map[int]*corev1.Pod) (next time.Duration) {
	for _, n := range sortedDown(pods) {
		if in := c.availableIn(set, pods[n]); in > 0 && (next == 0 || in < next) {
			next = in
		}
	}
	return next
}

// add creates the pod of an ordinal, after its claims.
func (c *Controller) add(p *kernel.Process, set *appsv1.StatefulSet, rev *appsv1.ControllerRevision, n int) error {
	pod, err := podFor(set, rev, n)
	if err != nil {
		return err
	}
	if err := c.addClaims(p, set, n); err != nil {
		return err
	}
	made, err := component.Create(p, c.Component, pod)
	if apierrors.IsAlreadyExists(err) {
		return err
	}
	if err == nil {
		pod = made
	}
	if _, err := c.ownClaims(p, set, n, pod); err != nil {
		c.tellPod(set, "Update", pod.Name, err)
		return err
	}
	c.tellPod(set, "Create", pod.Name, err)
	return err
}

func (c *Controller) end(p *kernel.Process, set *appsv1.StatefulSet, pod *corev1.Pod) error {
	_, err := component.Delete[*corev1.Pod](p, c.Component, store.KeyOf(pod))
	c.tellPod(set, "Delete", pod.Name, err)
	return err
}

func (c *Controller) tellPod(set *appsv1.StatefulSet, verb, pod string, err error) {
	if err != nil {
		c.Event(set, corev1.EventTypeWarning, "Failed"+verb, "%s Pod %s in StatefulSet %s failed error: %v", verb, pod, set.Name, err)
		return
	}
	c.Event(set, corev1.EventTypeNormal, "Successful"+verb, "%s Pod %s in StatefulSet %s successful", verb, pod, set.Name)
}

// addClaims creates the missing claims of an ordinal. A claim outlives its pod, and the next pod
// with this ordinal uses it.
func (c *Controller) addClaims(p *kernel.Process, set *appsv1.StatefulSet, n int) error {
	for i := range set.Spec.VolumeClaimTemplates {
		claim := claimFor(set, &set.Spec.VolumeClaimTemplates[i], n)
		old, ok := component.Cached[*corev1.PersistentVolumeClaim](c.Component, store.KeyOf(claim))
		if ok && old.DeletionTimestamp != nil {
			return fmt.Errorf("pvc %s is being deleted", claim.Name)
		}
		if ok {
			continue
		}
		_, err := component.Create(p, c.Component, claim)
		if err != nil {
			c.Event(set, corev1.EventTypeWarning, "FailedCreate", "Create Claim %s for Pod %s in StatefulSet %s failed error: %v", claim.Name, podName(set, n), set.Name, err)
			return fmt.Errorf("failed to create PVC %s: %w", claim.Name, err)
		}
		c.Event(set, corev1.EventTypeNormal, "SuccessfulCreate", "Create Claim %s Pod %s in StatefulSet %s success", claim.Name, podName(set, n), set.Name)
	}
	return nil
}

func claimFor(set *appsv1.StatefulSet, template *corev1.PersistentVolumeClaim, n int) *corev1.PersistentVolumeClaim {
	claim := template.DeepCopy()
	claim.Namespace, claim.Name = set.Namespace, claimName(set, template, n)
	claim.Labels = merged(claim.Labels, set.Spec.Selector)
	claim.Status = corev1.PersistentVolumeClaimStatus{}
	return claim
}

func claimName(set *appsv1.StatefulSet, template *corev1.PersistentVolumeClaim, n int) string {
	return template.Name + "-" + podName(set, n)
}

func merged(labels map[string]string, selector *metav1.LabelSelector) map[string]string {
	if selector == nil {
		return labels
	}
	all := maps.Clone(selector.MatchLabels)
	if all == nil {
		return labels
	}
	for name, value := range labels {
		if _, ok := all[name]; !ok {
			all[name] = value
		}
	}
	return all
}

// podFor makes the pod of an ordinal from the template of a revision.
func podFor(set *appsv1.StatefulSet, rev *appsv1.ControllerRevision, n int) (*corev1.Pod, error) {
	template, err := workload.Recorded(rev)
	if err != nil {
		return nil, err
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: podName(set, n), GenerateName: set.Name + "-",
			Labels: maps.Clone(template.Labels), Annotations: template.Annotations, Finalizers: template.Finalizers,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		},
		Spec: template.Spec,
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels[appsv1.StatefulSetPodNameLabel] = pod.Name
	pod.Labels[appsv1.PodIndexLabel] = strconv.Itoa(n)
	pod.Labels[appsv1.ControllerRevisionHashLabelKey] = rev.Name
	pod.Spec.Hostname, pod.Spec.Subdomain = pod.Name, set.Spec.ServiceName
	pod.Spec.Volumes = volumesFor(set, template.Spec.Volumes, n)
	return pod, nil
}

// volumesFor returns the volumes of a pod: the volumes of its claims, and the other volumes of the
// template.
func volumesFor(set *appsv1.StatefulSet, others []corev1.Volume, n int) []corev1.Volume {
	var volumes []corev1.Volume
	for i := range set.Spec.VolumeClaimTemplates {
		template := &set.Spec.VolumeClaimTemplates[i]
		volumes = append(volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claimName(set, template, n)},
		}})
	}
	for _, v := range others {
		if !slices.ContainsFunc(volumes, func(w corev1.Volume) bool { return w.Name == v.Name }) {
			volumes = append(volumes, v)
		}
	}
	return volumes
}
