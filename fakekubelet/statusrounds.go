package fakekubelet

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// statusRound is the interval at which the status manager checks all pods. It then repeats failed
// writes and deletions. [pkg/kubelet/status/status_manager.go syncPeriod]
const statusRound = 10 * time.Second

// nextRound returns the time until the next round of the status manager.
func (m *podManager) nextRound(p *kernel.Process) time.Duration {
	return statusRound - (p.Elapsed()-m.began)%statusRound
}

// writeLater retries unwritten statuses until all of them are written.
func (m *podManager) writeLater() {
	if m.rounds != nil && !m.rounds.Ended() {
		return
	}
	m.rounds = m.Go("status manager", func(p *kernel.Process) {
		for left := true; left; {
			p.Sleep(m.nextRound(p))
			left = false
			for _, w := range m.inOrder() {
				left = len(w.unwritten) > 0 && !w.writeStatus(p) || left
			}
		}
	})
}

// inOrder returns the workers in an order that is equal in every run.
func (m *podManager) inOrder() (all []*podWorker) {
	var uids []types.UID
	for uid := range m.workers {
		uids = append(uids, uid)
	}
	slices.Sort(uids)
	for _, uid := range uids {
		all = append(all, m.workers[uid])
	}
	return all
}

// remove requests the deletion for which the API server has waited, after the pod's final status is
// written. K-POD-6
func (w *podWorker) remove(p *kernel.Process) {
	for !w.gone {
		if len(w.unwritten) == 0 || w.writeStatus(p) {
			_, err := component.Delete[*corev1.Pod](p, w.Component, store.KeyOf(w.pod), store.GracePeriod(0), store.PreconditionUID(w.pod.UID))
			if err == nil || apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
				return
			}
		}
		p.Sleep(w.nextRound(p))
	}
}
