package nodelifecycle

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// evictionSource is the source of the events about pods that must leave.
const evictionSource = "taint-eviction-controller"

// evictions is the state of the taint eviction controller.
type evictions struct {
	tainted map[string][]corev1.Taint // nodes with NoExecute taints
	pods    map[store.Key]*eviction
}

// eviction is a pod's deletion. A completed eviction is kept, so that it is not repeated.
type eviction struct {
	created, at time.Duration
	done        bool
}

func newEvictions() evictions {
	return evictions{map[string][]corev1.Taint{}, map[store.Key]*eviction{}}
}

// evict is the taint eviction controller.
func (c *Controller) evict(p *kernel.Process) {
	nodes := component.Watch[*corev1.Node](c.Component, p)
	pods := component.Watch[*corev1.Pod](c.Component, p)
	var evict func(*kernel.Process)
	evict = func(p *kernel.Process) {
		for {
			for e, ok := nodes.Next(); ok; e, ok = nodes.Next() {
				c.taintsChanged(p, e)
			}
			for e, ok := pods.Next(); ok; e, ok = pods.Next() {
				c.podChanged(p, e)
			}
			at, ok := c.evictions.next()
			if !ok {
				p.Rest("nodes with NoExecute taints", evict)
				return
			}
			p.ParkUntil("pods that must leave their node", at)
			c.evictDue(p)
		}
	}
	evict(p)
}

func (c *Controller) taintsChanged(p *kernel.Process, e store.Event[*corev1.Node]) {
	taints := noExecute(e.Object)
	if e.Type == store.Deleted {
		delete(c.evictions.tainted, e.Object.Name)
		return
	}
	if equality.Semantic.DeepEqual(taints, c.evictions.tainted[e.Object.Name]) {
		return
	}
	if len(taints) == 0 {
		delete(c.evictions.tainted, e.Object.Name)
	} else {
		c.evictions.tainted[e.Object.Name] = taints
	}
	for pod := range c.podsOf(e.Object.Name) {
		c.judge(p, pod, taints)
	}
}

// podChanged processes a pod only if a field that matters to taints has changed.
func (c *Controller) podChanged(p *kernel.Process, e store.Event[*corev1.Pod]) {
	pod := e.Object
	switch {
	case e.Type == store.Deleted:
		c.cancelEviction(pod)
	case e.Old != nil && e.Old.Spec.NodeName == pod.Spec.NodeName && equality.Semantic.DeepEqual(e.Old.Spec.Tolerations, pod.Spec.Tolerations):
	case c.evictions.tainted[pod.Spec.NodeName] != nil:
		c.judge(p, pod, c.evictions.tainted[pod.Spec.NodeName])
	}
}

// judge decides whether and when a pod must leave its node.
func (c *Controller) judge(p *kernel.Process, pod *corev1.Pod, taints []corev1.Taint) {
	key, now := store.KeyOf(pod), p.Elapsed()
	stay, limited := tolerated(taints, pod.Spec.Tolerations)
	planned := c.evictions.pods[key]
	switch {
	case limited && stay <= 0:
		c.cancelEviction(pod)
		c.evictions.pods[key] = &eviction{created: now, at: now}
		c.evictOne(p, key)
	case !limited:
		c.cancelEviction(pod)
	case planned == nil:
		c.evictions.pods[key] = &eviction{created: now, at: now + stay}
	case !planned.done && planned.created+stay >= now+stay:
		c.cancelEviction(pod)
		c.evictions.pods[key] = &eviction{created: planned.created, at: planned.created + stay}
	}
}

// tolerated returns how long a pod may stay on a node with these taints. The time is unlimited if
// the pod tolerates all of them without a limit.
func tolerated(taints []corev1.Taint, tolerations []corev1.Toleration) (stay time.Duration, limited bool) {
	for i := range taints {
		match := slices.IndexFunc(tolerations, func(t corev1.Toleration) bool { return tolerates(t, taints[i]) })
		if match < 0 {
			return 0, true
		}
		if seconds := tolerations[match].TolerationSeconds; seconds != nil {
			allowed := max(time.Duration(*seconds)*time.Second, 0)
			if !limited || allowed < stay {
				stay, limited = allowed, true
			}
		}
	}
	return stay, limited
}

func tolerates(t corev1.Toleration, taint corev1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect {
		return false
	}
	if t.Key != "" && t.Key != taint.Key {
		return false
	}
	if t.Operator == corev1.TolerationOpExists {
		return true
	}
	return (t.Operator == "" || t.Operator == corev1.TolerationOpEqual) && t.Value == taint.Value
}

func noExecute(node *corev1.Node) []corev1.Taint {
	var taints []corev1.Taint
	for _, t := range node.Spec.Taints {
		if t.Effect == corev1.TaintEffectNoExecute {
			taints = append(taints, t)
		}
	}
	return taints
}

func (e *evictions) next() (at time.Duration, ok bool) {
	for _, planned := range e.pods {
		if !planned.done && (!ok || planned.at < at) {
			at, ok = planned.at, true
		}
	}
	return at, ok
}

func (c *Controller) evictDue(p *kernel.Process) {
	if len(c.evictions.pods) == 0 {
		return
	}
	byTime := func(a, b store.Key) int {
		return cmp.Or(cmp.Compare(c.evictions.pods[a].at, c.evictions.pods[b].at), cmp.Compare(a.String(), b.String()))
	}
	for _, key := range slices.SortedFunc(maps.Keys(c.evictions.pods), byTime) {
		if planned := c.evictions.pods[key]; !planned.done && planned.at <= p.Elapsed() {
			c.evictOne(p, key)
		}
	}
}

// evictOne emits an event with the reason and deletes a pod.
func (c *Controller) evictOne(p *kernel.Process, key store.Key) {
	c.evictions.pods[key].done = true
	pod, ok := component.Cached[*corev1.Pod](c.Component, key)
	if !ok {
		return
	}
	c.EventFrom(evictionSource, pod, corev1.EventTypeNormal, "TaintManagerEviction", "Marking for deletion Pod %s", key)
	_, err := component.PatchStatus(p, c.Component, key, func(pod *corev1.Pod) {
		setDisruptionTarget(&pod.Status, p.Now())
	})
	if err == nil {
		_, _ = component.Delete[*corev1.Pod](p, c.Component, key)
	}
}

func (c *Controller) cancelEviction(pod *corev1.Pod) {
	key := store.KeyOf(pod)
	if planned := c.evictions.pods[key]; planned != nil && !planned.done {
		c.EventFrom(evictionSource, pod, corev1.EventTypeNormal, "TaintManagerEviction", "Cancelling deletion of Pod %s", key)
	}
	delete(c.evictions.pods, key)
}

func setDisruptionTarget(status *corev1.PodStatus, now time.Time) {
	target := corev1.PodCondition{
		Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now),
		Reason: "DeletionByTaintManager", Message: "Taint manager: deleting due to NoExecute taint",
	}
	for i := range status.Conditions {
		if known := &status.Conditions[i]; known.Type == target.Type {
			if known.Status == target.Status {
				target.LastTransitionTime = known.LastTransitionTime
			}
			*known = target
			return
		}
	}
	status.Conditions = append(status.Conditions, target)
}
