package namespace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// finalizerEstimate is the real controller's estimate of the time until finalizers are removed from
// an object.
const finalizerEstimate = 15 * time.Second

// remains counts the objects and finalizers that a pass leaves in a namespace, and holds the
// failures of the pass.
type remains struct {
	kinds      map[string]int // by RESOURCE.GROUP
	finalizers map[string]int
	failures   []string
	estimate   time.Duration // estimated time until its deletion may be complete
}

func newRemains() *remains { return &remains{kinds: map[string]int{}, finalizers: map[string]int{}} }

// add counts the objects of a kind that stay. [deletion deleteAllContentForGroupVersionResource]
func (r *remains) add(namespace string, res *store.Resource, stay []store.Object, estimate time.Duration) {
	if len(stay) == 0 {
		return
	}
	held := false
	for _, obj := range stay {
		for _, finalizer := range obj.GetFinalizers() {
			r.finalizers[finalizer]++
			held = true
		}
	}
	switch {
	case estimate > 0:
	case held:
		estimate = finalizerEstimate
	default:
		r.failures = append(r.failures, fmt.Sprintf("unexpected items still remain in namespace: %s for gvr: %v", namespace, res.GVR))
	}
	r.kinds[res.GVR.Resource+"."+res.GVR.Group] = len(stay)
	r.estimate = max(r.estimate, estimate)
}

// forget keeps failures only.
func (r *remains) forget() { clear(r.kinds); clear(r.finalizers) }

// conditionsOf returns the conditions of a namespace in the order in which the real controller
// writes them. [deletion/status_condition_utils.go]
func conditionsOf(left *remains) []corev1.NamespaceCondition {
	all := []corev1.NamespaceCondition{
		{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
		{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
		{Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted",
			Message: "All content successfully deleted, may be waiting on finalization"},
		{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"},
		{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"},
	}
	for i := range all {
		all[i].Status = corev1.ConditionFalse
	}
	raise := func(c *corev1.NamespaceCondition, reason, message string) {
		c.Status, c.Reason, c.Message = corev1.ConditionTrue, reason, message
	}
	if n := len(left.failures); n > 0 {
		raise(&all[2], "ContentDeletionFailed", fmt.Sprintf("Failed to delete all resource types, %d remaining: %s",
			n, strings.Join(slices.Sorted(slices.Values(left.failures)), ", ")))
	}
	if len(left.kinds) > 0 {
		raise(&all[3], "SomeResourcesRemain", "Some resources are remaining: "+counted(left.kinds, "%s has %d resource instances"))
	}
	if len(left.finalizers) > 0 {
		raise(&all[4], "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: "+
			counted(left.finalizers, "%s in %d resource instances"))
	}
	return all
}

func counted(counts map[string]int, format string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		texts = append(texts, fmt.Sprintf(format, name, counts[name]))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// setConditions sets the conditions, and reports whether anything changes.
func setConditions(status *corev1.NamespaceStatus, left *remains, now metav1.Time) (changed bool) {
	for _, is := range conditionsOf(left) {
		i := slices.IndexFunc(status.Conditions, func(c corev1.NamespaceCondition) bool { return c.Type == is.Type })
		if i < 0 {
			is.LastTransitionTime = now
			status.Conditions, changed = append(status.Conditions, is), true
			continue
		}
		was := &status.Conditions[i]
		is.LastTransitionTime = was.LastTransitionTime
		if *was == is {
			continue
		}
		if was.Status != is.Status {
			is.LastTransitionTime = now
		}
		*was, changed = is, true
	}
	return changed
}
