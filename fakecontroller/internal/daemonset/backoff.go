package daemonset

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The first and the longest delay before a set replaces a failed pod.
const (
	firstBackoff = time.Second
	maxBackoff   = 15 * time.Minute
)

// place names the pods of a set on a node.
type place struct {
	set  types.UID
	node string
}

// backoffs hold the failures of pods. They prevent an endless fast loop in which a kubelet rejects
// a pod and the set creates it again.
type backoffs map[place]backoff

type backoff struct {
	delay time.Duration
	last  time.Time
}

// rest returns how long the next failed pod has to stay.
func (b backoffs) rest(set *appsv1.DaemonSet, node string, now time.Time) time.Duration {
	at := b[place{set.UID, node}]
	return max(0, at.last.Add(at.delay).Sub(now))
}

// next records a failed pod that is deleted now. After a long time without a failure, a pod's
// failures are forgotten.
func (b backoffs) next(set *appsv1.DaemonSet, node string, now time.Time) {
	at := b[place{set.UID, node}]
	if at.delay == 0 || now.Sub(at.last) > 2*maxBackoff {
		at.delay = firstBackoff
	} else {
		at.delay = min(2*at.delay, maxBackoff)
	}
	at.last = now
	b[place{set.UID, node}] = at
}
