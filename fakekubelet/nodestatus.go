package fakekubelet

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// Pace of the node status loop. K-CFG-3
const (
	statusPeriod = 10 * time.Second
	reportPeriod = 5 * time.Minute
)

// statusLoop reports the node's status: at once after a change, otherwise every five minutes. Only
// this loop notifies the volume manager that a volume has been reported in use. K-ATT-2, K-ATT-3
type statusLoop struct {
	*Kubelet
	nextReport time.Duration // due even without a change
	process    *kernel.Process
}

func (k *Kubelet) startStatusLoop() {
	s := &statusLoop{Kubelet: k}
	k.status = s
	s.process = k.Go("node status", s.run)
	k.volumes.OnInUseChanged(s.wake)
	k.info.OnChange(s.wake)
	k.Go("start-up node status", s.becomeReady)
}

func (s *statusLoop) wake() { s.process.Wake() }

// run checks the status every ten seconds. A check without anything to report or to observe costs
// nothing.
func (s *statusLoop) run(p *kernel.Process) {
	s.register(p)
	nodes := component.Watch[*corev1.Node](s.Component, p, store.ByKey(s.key()))
	s.update(p)
	p.Sleep(s.phase())
	for tick := p.Tick(statusPeriod); ; s.update(p) {
		for !s.due(p) {
			s.rest(p)
			nodes.Drop() // the next read includes the writes of other clients
		}
		tick.Next()
	}
}

func (s *statusLoop) rest(p *kernel.Process) {
	if _, ok := s.node(); ok {
		p.IdleUntil("changes of the node's status", s.nextReport)
	} else {
		p.Park("its Node object, which it does not make again")
	}
}

func (s *statusLoop) key() store.Key { return store.Key{Name: s.options.Name} }

func (s *statusLoop) node() (*corev1.Node, bool) {
	return component.Cached[*corev1.Node](s.Component, s.key())
}

// due reports whether the next check has something to report or to observe.
func (s *statusLoop) due(p *kernel.Process) bool {
	node, ok := s.node()
	return ok && (s.differs(node) || !s.volumes.ReportedInUse() || p.Elapsed() >= s.nextReport)
}

// differs reports whether the node's status is outdated.
func (s *statusLoop) differs(node *corev1.Node) bool {
	inUse, known := s.volumes.VolumesInUse()
	return known && !slices.Equal(inUse, node.Status.VolumesInUse) || readyStatus(node) != s.readiness().Status || s.pressureDiffers(node)
}

func (s *statusLoop) update(p *kernel.Process) {
	node, ok := s.node()
	if !ok {
		return
	}
	inUse, known := s.volumes.VolumesInUse()
	changed := s.differs(node)
	if changed || p.Elapsed() >= s.nextReport {
		if node, ok = s.report(p, inUse, known); !ok {
			return // retried at the next check
		}
		s.nextReport = p.Elapsed() + reportPeriod
		if changed {
			s.nextReport += s.jitter()
		}
	}
	if known {
		s.volumes.MarkReportedInUse(node.Status.VolumesInUse)
	}
}

// report writes the status, and emits events of its changes. Until all held volumes are known, the
// earlier lists of volumes are kept. K-ATT-2
func (s *statusLoop) report(p *kernel.Process, inUse []corev1.UniqueVolumeName, known bool) (*corev1.Node, bool) {
	if node, ok := s.node(); ok {
		s.announce(node.Status.Conditions)
	}
	node, err := component.SetStatus(p, s.Component, s.key(), func(n *corev1.Node) {
		if known {
			n.Status.VolumesInUse = inUse
		}
		n.Status.Conditions = s.conditions(n.Status.Conditions)
	})
	return node, err == nil
}

// phase shifts the rounds against the rounds of other nodes, because the real loop lengthens each
// round by up to 4 %.
func (s *statusLoop) phase() time.Duration {
	const steps = 16
	return statusPeriod / 25 * time.Duration(s.Kernel.Choose(kernel.Jitter, steps, "phase of the node status rounds")) / steps
}

// jitter shifts the report that follows a change by up to half a period either way, so that nodes
// do not report in step. K-ATT-2
func (s *statusLoop) jitter() time.Duration {
	const steps = 16
	i := s.Kernel.Choose(kernel.Jitter, steps, "node status report")
	if i >= steps/2 {
		i -= steps
	}
	return time.Duration(i) * reportPeriod / steps
}

func readyStatus(node *corev1.Node) corev1.ConditionStatus {
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status
		}
	}
	return ""
}
