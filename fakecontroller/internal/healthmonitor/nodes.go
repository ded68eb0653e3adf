package healthmonitor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// brokenAfter is the time for which a node may be unready. C-HEALTH-7
const brokenAfter = 5 * time.Minute

// scheduledPod is a pod in its first observed state, with or without a node. C-HEALTH-9
type scheduledPod struct {
	name, node string
	claims     []store.Key
}

// watchNodes emits events about claims on nodes that fail or recover. A node is checked when it
// changes, and periodically. C-HEALTH-7
func (r *run) watchNodes(p *kernel.Process) {
	nodes := component.Watch[*corev1.Node](r.Component, p)
	pods := component.Watch[*corev1.Pod](r.Component, p)
	started := p.Elapsed()
	for {
		for e, ok := pods.Next(); ok; e, ok = pods.Next() {
			r.podSeen(e)
		}
		for e, ok := nodes.Next(); ok; e, ok = nodes.Next() {
			if e.Type == store.Deleted { // the real monitor crashes in this case. C-HEALTH-8
				r.failed(e.Object.Name)
				delete(r.failing, e.Object.Name)
			} else {
				r.look(p, e.Object)
			}
		}
		passed := (p.Elapsed()-started)/r.opts.NodeListAddInterval + 1
		if p.IdleUntil("nodes to look at", started+passed*r.opts.NodeListAddInterval) {
			continue
		}
		for node := range store.List[*corev1.Node](r.Cache, "") {
			r.look(p, node)
		}
	}
}

func (r *run) podSeen(e store.Event[*corev1.Pod]) {
	switch e.Type {
	case store.Deleted:
		delete(r.scheduled, e.Object.UID)
	case store.Added:
		seen := scheduledPod{name: e.Object.Name, node: e.Object.Spec.NodeName}
		for i := range e.Object.Spec.Volumes {
			if key, _, ok := volume.ClaimOf(e.Object, &e.Object.Spec.Volumes[i]); ok {
				seen.claims = append(seen.claims, key)
			}
		}
		r.scheduled[e.Object.UID] = seen
	}
}

func (r *run) look(p *kernel.Process, node *corev1.Node) {
	since, failing := r.failing[node.Name]
	switch {
	case isReady(node):
		if r.broken[node.Name] {
			r.warnClaims(node.Name, "NodeRecovered", func(*corev1.PersistentVolumeClaim, []string) string { return "Node: " + node.Name + " recovered" })
		}
		delete(r.failing, node.Name)
		delete(r.broken, node.Name)
	case !failing:
		r.failing[node.Name] = p.Elapsed()
	case p.Elapsed()-since > brokenAfter:
		r.failed(node.Name)
		delete(r.failing, node.Name) // the time runs anew
		r.broken[node.Name] = true
	}
}

func isReady(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

func (r *run) failed(node string) {
	r.warnClaims(node, "NodeFailed", func(pvc *corev1.PersistentVolumeClaim, pods []string) string {
		return fmt.Sprintf("Pods: [ %s ] consuming PVC: %s in namespace: %s are now on a failed node: %s", strings.Join(pods, " "), pvc.Name, pvc.Namespace, node)
	})
}

// warnClaims emits an event about the claims of the driver that pods of a node use.
func (r *run) warnClaims(node, reason string, message func(pvc *corev1.PersistentVolumeClaim, pods []string) string) {
	users := map[store.Key][]string{}
	// In any order: the names are sorted below.
	for _, pod := range r.scheduled {
		if pod.node != node {
			continue
		}
		for _, key := range pod.claims {
			users[key] = append(users[key], pod.name)
		}
	}
	for pv := range store.List[*corev1.PersistentVolume](r.Cache, "") {
		pvc := r.claimOf(pv)
		if pvc == nil {
			continue
		}
		if pods := users[store.KeyOf(pvc)]; len(pods) > 0 {
			slices.Sort(pods)
			r.event(pvc, corev1.EventTypeWarning, reason, "%s", message(pvc, pods))
		}
	}
}
