package daemonset

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

// record keeps the template of a set as its newest ControllerRevision, and returns the older
// revisions. kubectl rollout undo restores templates from revisions. C-DS-3
func (c *Controller) record(p *kernel.Process, set *appsv1.DaemonSet) (old []*appsv1.ControllerRevision, err error) {
	data, err := workload.Record(set.Spec.Template)
	if err != nil {
		return nil, fmt.Errorf("template of set %s: %w", set.Name, err)
	}
	var current *appsv1.ControllerRevision
	newest := int64(0)
	for rev := range store.Indexed[*appsv1.ControllerRevision](c.Cache, store.OwnerUID, string(set.UID)) {
		if bytes.Equal(rev.Data.Raw, data) {
			current = rev
			continue
		}
		old, newest = append(old, rev), max(newest, rev.Revision)
	}
	switch {
	case current == nil:
		_, err = component.Create(p, c.Component, revisionFor(set, data, newest+1))
		if apierrors.IsAlreadyExists(err) { // the cache does not have the revision yet
			err = nil
		}
	case current.Revision <= newest: // the set was rolled back
		again := current.DeepCopy()
		again.Revision = newest + 1
		_, err = component.Update(p, c.Component, again)
	}
	return old, err
}

func revisionFor(set *appsv1.DaemonSet, data []byte, number int64) *appsv1.ControllerRevision {
	hash := workload.Hash(&set.Spec.Template)
	labels := map[string]string{}
	maps.Copy(labels, set.Spec.Template.Labels)
	labels[appsv1.ControllerRevisionHashLabelKey] = hash
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: set.Namespace, Name: set.Name + "-" + hash, Labels: labels, Annotations: maps.Clone(set.Annotations),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(set, kind)},
		},
		Data: runtime.RawExtension{Raw: data}, Revision: number,
	}
}

// forget deletes the oldest revisions above the limit of the set, except the revisions of pods.
// C-DS-3
func (c *Controller) forget(p *kernel.Process, set *appsv1.DaemonSet, old []*appsv1.ControllerRevision, pods map[string][]*corev1.Pod) error {
	if set.Spec.RevisionHistoryLimit == nil {
		return nil
	}
	live := map[string]bool{}
	for _, here := range pods {
		for _, pod := range here {
			live[pod.Labels[appsv1.ControllerRevisionHashLabelKey]] = true
		}
	}
	slices.SortFunc(old, func(a, b *appsv1.ControllerRevision) int { return cmp.Compare(a.Revision, b.Revision) })
	tooMany := len(old) - int(*set.Spec.RevisionHistoryLimit)
	for _, rev := range old {
		if tooMany <= 0 {
			return nil
		}
		if live[rev.Labels[appsv1.ControllerRevisionHashLabelKey]] {
			continue
		}
		if _, err := component.Delete[*appsv1.ControllerRevision](p, c.Component, store.KeyOf(rev)); err != nil {
			return err
		}
		tooMany--
	}
	return nil
}
