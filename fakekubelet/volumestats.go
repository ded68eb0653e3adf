package fakekubelet

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// statsPeriod is volumeStatsAggPeriod. K-CFG-3
const statsPeriod = time.Minute

// volumeStats requests the usage of volumes from drivers: for each pod in the first round that
// includes the pod, then every one to two minutes. No other process waits for the answers. K-STAT-1
type volumeStats struct {
	*Kubelet
	period time.Duration
	pods   map[types.UID]*podStats
}

// podStats holds the measurements of one pod's volumes.
type podStats struct {
	next  time.Duration // the time of the next measurement
	busy  bool
	usage map[string]measured // by the volume's name in the pod
}

// measured is the measured usage of a volume.
type measured struct {
	csi.Usage
	at time.Time
}

func (k *Kubelet) startVolumeStats() {
	s := &volumeStats{Kubelet: k, period: k.options.StatsPeriod, pods: map[types.UID]*podStats{}}
	if s.period == 0 {
		s.period = statsPeriod
	}
	if s.period < 0 { // K-STAT-1
		return
	}
	k.stats = s
	k.Metrics.Collect(s.collect)
	k.Go("volume stats", s.run)
}

// run starts a round in every period, and measures the pods that are due in between.
func (s *volumeStats) run(p *kernel.Process) {
	for round := p.Elapsed(); ; {
		if p.Elapsed() >= round {
			s.meetPods(p)
			round += s.period
		}
		for _, uid := range slices.Sorted(maps.Keys(s.pods)) {
			if pod := s.pods[uid]; !pod.busy && pod.next <= p.Elapsed() {
				s.start(uid, pod)
			}
		}
		p.IdleUntil("the next look at how full volumes are", s.nextLook(round))
	}
}

// meetPods adds new pods and forgets deleted ones.
func (s *volumeStats) meetPods(p *kernel.Process) {
	// In any order: pods are independent.
	for uid := range s.Kubelet.pods.known {
		if s.pods[uid] == nil {
			s.pods[uid] = &podStats{next: p.Elapsed()}
		}
	}
	// In any order: pods are independent.
	for uid := range s.pods {
		if s.Kubelet.pods.known[uid] == nil {
			delete(s.pods, uid)
		}
	}
}

func (s *volumeStats) nextLook(round time.Duration) time.Duration {
	for _, pod := range s.pods {
		if !pod.busy && pod.next < round {
			round = pod.next
		}
	}
	return round
}

// start measures a pod's volumes sequentially, but in parallel to other pods. K-STAT-1
func (s *volumeStats) start(uid types.UID, pod *podStats) {
	volumes := s.volumes.Mounted(uid)
	if len(volumes) == 0 {
		pod.usage = nil
		s.again(pod)
		return
	}
	pod.busy = true
	s.Go("volume stats of a pod", func(p *kernel.Process) {
		usage := map[string]measured{}
		for _, name := range slices.Sorted(maps.Keys(volumes)) {
			s.measure(p, uid, name, volumes[name], usage)
		}
		pod.usage, pod.busy = usage, false
		s.again(pod)
	})
}

// again: the pause is between one and two periods, by chance.
func (s *volumeStats) again(pod *podStats) {
	const steps = 16
	pod.next = s.Kernel.Elapsed() + s.period + s.period*time.Duration(s.Kernel.Choose(kernel.Jitter, steps, "volume stats"))/steps
}

// statsBounds are the default bounds of Prometheus.
var statsBounds = []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// measure keeps the driver's answer; failures are only logged. K-STAT-3, K-STAT-6, K-STAT-7
func (s *volumeStats) measure(p *kernel.Process, uid types.UID, name string, spec *csi.Spec, usage map[string]measured) {
	begin := p.Elapsed()
	u, err := s.csi.Stats(p, spec, uid)
	s.Metrics.Observe("kubelet_volume_metric_collection_duration_seconds", statsBounds, p.Elapsed()-begin, "metric_source", spec.Driver())
	pod, known := s.Kubelet.pods.Pod(uid)
	if err != nil || !known {
		return
	}
	if u.Condition != nil && u.Condition.Abnormal {
		s.Event(pod, corev1.EventTypeWarning, "VolumeConditionAbnormal", "Volume %s: %s", name, u.Condition.Message)
	}
	usage[name] = measured{u, s.Kernel.Now()}
}

// collect reports the usage of claims. Each claim is measured for one of its pods. K-STAT-5
func (s *volumeStats) collect(set func(name string, value float64, labels ...string)) {
	seen := map[store.Key]bool{}
	for _, uid := range slices.Sorted(maps.Keys(s.pods)) {
		pod, ok := s.Kubelet.pods.Pod(uid)
		if !ok {
			continue
		}
		for i := range pod.Spec.Volumes {
			v := &pod.Spec.Volumes[i]
			claim, _, ok := volume.ClaimOf(pod, v)
			u, measured := s.pods[uid].usage[v.Name]
			if ok && measured && !seen[claim] {
				seen[claim] = true
				exportUsage(u.Usage, claim, set)
			}
		}
	}
}

func exportUsage(u csi.Usage, claim store.Key, set func(name string, value float64, labels ...string)) {
	labels := []string{"namespace", claim.Namespace, "persistentvolumeclaim", claim.Name}
	for _, m := range []struct {
		name  string
		value int64
	}{
		{"capacity_bytes", u.Capacity}, {"available_bytes", u.Available}, {"used_bytes", u.Used},
		{"inodes", u.Inodes}, {"inodes_free", u.InodesFree}, {"inodes_used", u.InodesUsed},
	} {
		set("kubelet_volume_stats_"+m.name, float64(m.value), labels...)
	}
	if u.Condition == nil {
		return
	}
	abnormal := 0.0
	if u.Condition.Abnormal {
		abnormal = 1
	}
	set("kubelet_volume_stats_health_status_abnormal", abnormal, labels...)
}
