package fakekubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// The interval and the time limit of a newly started kubelet's checks whether its node has become
// ready. [pkg/kubelet/kubelet.go fastStatusUpdateOnce, nodeReadyGracePeriod]
const (
	readyPoll  = 100 * time.Millisecond
	readyGrace = 2 * time.Minute
)

// becomeReady reports once that the node is ready, immediately and without waiting for the next
// round of the status loop. K-ATT-3: volumes in use that are reported here do not count as
// reported.
func (s *statusLoop) becomeReady(p *kernel.Process) {
	for end := p.Elapsed() + readyGrace; p.Elapsed() < end; p.Sleep(readyPoll) {
		node, ok := s.node()
		if ok && readyStatus(node) == corev1.ConditionTrue {
			return
		}
		if ok && s.readiness().Status == corev1.ConditionTrue {
			s.reportReady(p)
			return
		}
	}
}

func (s *statusLoop) reportReady(p *kernel.Process) {
	inUse, known := s.volumes.VolumesInUse()
	if _, ok := s.report(p, inUse, known); !ok {
		s.update(p)
		return
	}
	s.nextReport = p.Elapsed() + reportPeriod
}
