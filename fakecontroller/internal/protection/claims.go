// Package protection keeps claims that pods use, and volumes that are bound,
// from being deleted: the PVC and PV protection controllers.
package protection

import (
	"fmt"
	"iter"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// ClaimFinalizer protects a claim that is in use. C-GEN-13
const ClaimFinalizer = "kubernetes.io/pvc-protection"

// Claims is a running PVC protection controller.
type Claims struct {
	*component.Component
	queue *workqueue.Queue[store.Key]
}

// StartClaims runs the PVC protection controller.
func StartClaims(w *component.World) *Claims {
	c := &Claims{Component: w.Start("pvc-protection-controller", "")}
	c.queue = workqueue.New("claims", workqueue.Default, c.Go, c.sync)
	c.Inform(component.Informers{
		News: "changes of claims and pods",
		Sources: []component.Source{
			component.On(func(e store.Event[*corev1.PersistentVolumeClaim]) {
				if e.Type != store.Deleted && needsWork(e.Object, ClaimFinalizer) {
					c.queue.Add(store.KeyOf(e.Object))
				}
			}),
			component.On(c.podChanged),
		},
	})
	return c
}

// needsWork reports whether the finalizer must be added, or may have to be removed.
func needsWork(obj metav1.Object, finalizer string) bool {
	deleted := obj.GetDeletionTimestamp() != nil
	return deleted == slices.Contains(obj.GetFinalizers(), finalizer)
}

// podChanged processes again the claims that a pod may have stopped using. C-PVCP-4
func (c *Claims) podChanged(e store.Event[*corev1.Pod]) {
	if e.Type == store.Deleted || volume.Terminated(e.Object) || e.Object.Spec.NodeName == "" {
		c.addClaimsOf(e.Object)
	}
	if e.Old != nil && e.Old.UID != e.Object.UID {
		c.addClaimsOf(e.Old)
	}
}

func (c *Claims) addClaimsOf(pod *corev1.Pod) {
	for i := range pod.Spec.Volumes {
		key, _, ok := volume.ClaimOf(pod, &pod.Spec.Volumes[i])
		if !ok {
			continue
		}
		pvc, known := component.Cached[*corev1.PersistentVolumeClaim](c.Component, key)
		if known && needsWork(pvc, ClaimFinalizer) {
			c.queue.Add(key)
		}
	}
}

// sync adds the finalizer to a claim, or removes it from a terminating claim that no pod uses.
// C-PVCP-1
func (c *Claims) sync(p *kernel.Process, key store.Key) error {
	pvc, ok := component.Cached[*corev1.PersistentVolumeClaim](c.Component, key)
	if !ok || !needsWork(pvc, ClaimFinalizer) {
		return nil
	}
	if pvc.DeletionTimestamp == nil {
		return writeFinalizers(p, c.Component, pvc, append(slices.Clone(pvc.Finalizers), ClaimFinalizer))
	}
	if c.inUse(p, pvc) {
		return nil
	}
	return writeFinalizers(p, c.Component, pvc, volume.WithoutFinalizers(pvc.Finalizers, ClaimFinalizer))
}

// inUse looks at the cache first. The cache may be old, so it then reads the API. C-PVCP-3
func (c *Claims) inUse(p *kernel.Process, pvc *corev1.PersistentVolumeClaim) bool {
	users := store.KeyOf(pvc).String()
	if anyUses(store.Indexed[*corev1.Pod](c.Cache, kind.PodsByClaim, users), pvc) {
		return true
	}
	p.Yield("list pods")
	return anyUses(store.Indexed[*corev1.Pod](c.Store, kind.PodsByClaim, users), pvc)
}

func anyUses(pods iter.Seq[*corev1.Pod], pvc *corev1.PersistentVolumeClaim) bool {
	for pod := range pods {
		if uses(pod, pvc) {
			return true
		}
	}
	return false
}

// uses reports whether a pod prevents the deletion of a claim. A pod does this from its scheduling
// until it no longer exists. C-PVCP-2
func uses(pod *corev1.Pod, pvc *corev1.PersistentVolumeClaim) bool {
	if pod.Spec.NodeName == "" {
		return false
	}
	for i := range pod.Spec.Volumes {
		key, ephemeral, ok := volume.ClaimOf(pod, &pod.Spec.Volumes[i])
		if !ok || key != store.KeyOf(pvc) {
			continue
		}
		if !ephemeral || (!shutDown(pod) && metav1.IsControlledBy(pvc, pod)) {
			return true
		}
	}
	return false
}

func shutDown(pod *corev1.Pod) bool {
	return pod.DeletionTimestamp != nil && pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0
}

// writeFinalizers replaces the whole object, and retries after a conflict. C-PVP-2
func writeFinalizers[T store.Object](p *kernel.Process, c *component.Component, obj T, finalizers []string) error {
	changed := store.Fork(obj)
	changed.SetFinalizers(finalizers)
	if _, err := component.Update(p, c, changed); err != nil {
		return fmt.Errorf("change the finalizers of %s: %w", store.KeyOf(obj), err)
	}
	return nil
}
