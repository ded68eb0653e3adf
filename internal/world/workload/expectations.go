package workload

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Expectations are the pods that a controller has created and ended for an owner and that its cache
// does not show yet. Without them the controller would repeat the action.
type Expectations struct {
	made, ended map[types.UID]map[types.UID]bool // by owner
}

// NewExpectations returns none.
func NewExpectations() *Expectations {
	return &Expectations{made: map[types.UID]map[types.UID]bool{}, ended: map[types.UID]map[types.UID]bool{}}
}

// Made expects a new pod to appear.
func (e *Expectations) Made(owner types.UID, pod *corev1.Pod) { expect(e.made, owner, pod.UID) }

// Ended expects the deletion of a pod to appear in the cache.
func (e *Expectations) Ended(owner types.UID, pod *corev1.Pod) { expect(e.ended, owner, pod.UID) }

func expect(all map[types.UID]map[types.UID]bool, owner, pod types.UID) {
	if all[owner] == nil {
		all[owner] = map[types.UID]bool{}
	}
	all[owner][pod] = true
}

// Saw records a pod as the cache shows it. gone means that it was deleted.
func (e *Expectations) Saw(owner types.UID, pod *corev1.Pod, gone bool) {
	delete(e.made[owner], pod.UID)
	if gone || pod.DeletionTimestamp != nil {
		delete(e.ended[owner], pod.UID)
	}
}

// Met reports whether the cache shows all actions for an owner.
func (e *Expectations) Met(owner types.UID) bool { return len(e.made[owner])+len(e.ended[owner]) == 0 }

// Forget drops a deleted owner.
func (e *Expectations) Forget(owner types.UID) {
	delete(e.made, owner)
	delete(e.ended, owner)
}
