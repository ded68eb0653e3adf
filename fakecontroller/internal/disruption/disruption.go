// Package disruption is the disruption controller of the kube-controller-manager. It writes into a
// PodDisruptionBudget how many of its pods may be evicted now. The API server admits evictions by
// that number. (kubernetes v1.36.3, pkg/controller/disruption/disruption.go)
package disruption

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workqueue"
)

type budget = *policyv1.PodDisruptionBudget

// Controller is a running disruption controller.
type Controller struct {
	*component.Component
	queue *workqueue.Queue[store.Key]
}

// Start runs the disruption controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("disruption-controller", "")}
	c.queue = workqueue.New("budgets", workqueue.Default, c.Go, c.sync)
	c.Inform(component.Informers{
		First: "the first disruption budget", News: "changes of disruption budgets and their pods",
		Sources: []component.Source{
			component.On(func(e store.Event[budget]) { c.queue.Add(store.KeyOf(e.Object)) }),
			component.On(c.podChanged),
		},
	})
	return c
}

func (c *Controller) podChanged(e store.Event[*corev1.Pod]) {
	c.addBudgetsOf(e.Object)
	if e.Type == store.Modified && !equality.Semantic.DeepEqual(e.Old.Labels, e.Object.Labels) {
		c.addBudgetsOf(e.Old)
	}
}

func (c *Controller) addBudgetsOf(pod *corev1.Pod) {
	for b := range store.List[budget](c.Cache, pod.Namespace) {
		if kind.Selects(b, pod) {
			c.queue.Add(store.KeyOf(b))
		}
	}
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	b, ok := component.Cached[budget](c.Component, key)
	if !ok {
		return nil
	}
	var pods []*corev1.Pod
	for pod := range store.List[*corev1.Pod](c.Cache, b.Namespace) {
		if kind.Selects(b, pod) {
			pods = append(pods, pod)
		}
	}
	if len(pods) == 0 {
		c.Event(b, corev1.EventTypeNormal, "NoPods", "No matching pods found")
	}
	wanted, err := c.expect(b, pods)
	if err != nil {
		c.Event(b, corev1.EventTypeWarning, "CalculateExpectedPodCountFailed", "Failed to calculate the number of expected pods: %v", err)
		return c.disallow(p, b, err)
	}
	if wanted.unmanaged {
		c.Event(b, corev1.EventTypeWarning, "UnmanagedPods", "Pods selected by this PodDisruptionBudget (selector: %v) were found "+
			"to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. "+
			"To account for these pods please set \".spec.minAvailable\" field of the PDB to an integer value.", b.Spec.Selector)
	}
	return c.writeStatus(p, b, pods, wanted)
}

// deletionTimeout bounds the time until the deletion of an evicted pod is observed. After that the
// pod counts again.
const deletionTimeout = 2 * time.Minute

func (c *Controller) writeStatus(p *kernel.Process, b budget, pods []*corev1.Pod, wanted expectation) error {
	disrupted := c.stillDisrupted(b, pods)
	status := policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: b.Generation, DisruptedPods: disrupted, Conditions: b.Status.Conditions,
		CurrentHealthy: healthy(pods, disrupted), DesiredHealthy: wanted.healthy, ExpectedPods: wanted.pods,
	}
	if wanted.pods > 0 {
		status.DisruptionsAllowed = max(0, status.CurrentHealthy-status.DesiredHealthy)
	}
	return c.write(p, b, status, condition(status.DisruptionsAllowed))
}

// disallow forbids evictions while the expected number of pods is unknown.
func (c *Controller) disallow(p *kernel.Process, b budget, why error) error {
	status := *b.Status.DeepCopy()
	status.DisruptionsAllowed = 0
	return c.write(p, b, status, metav1.Condition{
		Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.SyncFailedReason, Message: why.Error(),
	})
}

func (c *Controller) write(p *kernel.Process, b budget, status policyv1.PodDisruptionBudgetStatus, allowed metav1.Condition) error {
	changed := b.DeepCopy()
	changed.Status = *status.DeepCopy()
	allowed.ObservedGeneration, allowed.LastTransitionTime = status.ObservedGeneration, metav1.NewTime(c.Kernel.Now()).Rfc3339Copy()
	meta.SetStatusCondition(&changed.Status.Conditions, allowed)
	if equality.Semantic.DeepEqual(changed.Status, b.Status) {
		return nil
	}
	_, err := component.UpdateStatus(p, c.Component, changed)
	return err
}

func condition(allowed int32) metav1.Condition {
	if allowed > 0 {
		return metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionTrue, Reason: policyv1.SufficientPodsReason}
	}
	return metav1.Condition{Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason}
}

// stillDisrupted returns the pods with a permitted eviction and a deletion that is not observed
// yet.
func (c *Controller) stillDisrupted(b budget, pods []*corev1.Pod) map[string]metav1.Time {
	still := map[string]metav1.Time{}
	now := c.Kernel.Now()
	for _, pod := range pods {
		since, disrupted := b.Status.DisruptedPods[pod.Name]
		if !disrupted || pod.DeletionTimestamp != nil {
			continue
		}
		if left := since.Add(deletionTimeout).Sub(now); left >= 0 {
			still[pod.Name] = since
			c.queue.AddAfter(store.KeyOf(b), left+time.Second)
			continue
		}
		c.Event(pod, corev1.EventTypeWarning, "NotDeleted", "Pod was expected by PDB %s/%s to be deleted but it wasn't", b.Namespace, b.Name)
	}
	return still
}

func healthy(pods []*corev1.Pod, disrupted map[string]metav1.Time) (count int32) {
	for _, pod := range pods {
		_, going := disrupted[pod.Name]
		if pod.DeletionTimestamp == nil && !going && workload.Holds(pod, corev1.PodReady) {
			count++
		}
	}
	return count
}
