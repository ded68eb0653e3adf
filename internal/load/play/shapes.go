package play

import (
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/world/store"
)

// shape is the beginning of all lives, and their course until they end.
type shape struct{ up, between func(*player) error }

var shapes = map[load.Shape]shape{
	load.Burst:    {up: (*player).upAtOnce},
	load.Block:    {up: (*player).upAtOnce},
	load.Ramp:     {up: (*player).upInTurn},
	load.Churn:    {up: (*player).upAtOnce, between: (*player).churn},
	load.Move:     {up: (*player).upAtOnce, between: (*player).move},
	load.Restart:  {up: (*player).upAtOnce, between: (*player).restart},
	load.Snapshot: {up: (*player).upAtOnce, between: (*player).snapshot},
	load.Expand:   {up: (*player).upAtOnce, between: (*player).expand},
}

// upInTurn spreads the starts of the lives over the duration of the plan.
func (p *player) upInTurn() error {
	err := p.phase("up", func() error {
		pause := p.Plan.Duration / time.Duration(max(1, p.level.Volumes))
		for range p.level.Volumes {
			if err := p.begin(); err != nil {
				return err
			}
			if err := p.Advance(pause); err != nil {
				return err
			}
		}
		return p.allRun()
	})
	if err == nil {
		err = p.stay()
	}
	return err
}

// churn ends the oldest life and starts another one, at the plan's rate and for its duration.
func (p *player) churn() error {
	return p.phase("churn", func() error {
		pause := time.Duration(float64(time.Second) / p.Plan.Rate)
		var leaving []life
		for end := p.Now() + p.Plan.Duration; p.Now() < end && len(p.alive) > 0; {
			oldest := p.alive[0]
			p.alive = p.alive[1:]
			leaving = append(leaving, oldest)
			p.record.Begins(oldest.name, p.Now(), true)
			if err := p.removeLife(oldest); err != nil {
				return err
			}
			if err := p.begin(); err != nil {
				return err
			}
			if err := p.Advance(pause); err != nil {
				return err
			}
		}
		if err := p.await("%d of %d pods to be gone", leaving, p.podIsGone); err != nil {
			return err
		}
		return p.allRun()
	})
}

// removeLife deletes a pod and its claim, which stays as long as the pod.
func (p *player) removeLife(l life) error {
	if err := p.remove("pods", l.pod); err != nil {
		return err
	}
	for _, o := range p.Workload.Claim(l.name) {
		if err := p.removeObject(o); err != nil {
			return err
		}
	}
	return nil
}

func (p *player) removeObject(o store.Object) error {
	res, err := store.ResourceOf(o)
	if err != nil {
		return err
	}
	key := store.KeyOf(o)
	if res.Namespaced {
		key.Namespace = namespace
	}
	return p.Delete(res, key)
}

// move drains the first node: pods on other nodes replace its pods.
func (p *player) move() error {
	return p.phase("move", func() error {
		from, others := p.Nodes()[0], p.Nodes()[1:]
		if err := p.Cordon(from, true); err != nil {
			return err
		}
		var moving []life
		for i := range p.alive {
			if l := &p.alive[i]; p.nodeOf(*l) == from {
				l.node = others[i%len(others)]
				moving = append(moving, *l)
			}
		}
		for _, l := range moving {
			if err := p.remove("pods", l.pod); err != nil {
				return err
			}
		}
		if err := p.await("%d of %d pods to leave their node", moving, p.podIsGone); err != nil {
			return err
		}
		for _, l := range moving {
			if _, err := p.Apply(p.Workload.Pod(l.name, l.node)); err != nil {
				return err
			}
		}
		if err := p.allRun(); err != nil {
			return err
		}
		return p.Cordon(from, false)
	})
}

// nodeOf returns the node of a pod.
func (p *player) nodeOf(l life) string {
	pod, _ := store.Get[*corev1.Pod](p.Store(), store.Key{Namespace: namespace, Name: l.pod})
	return pod.Spec.NodeName
}

// restart restarts all kubelets, and then the driver.
func (p *player) restart() error {
	err := p.phase("kubelets restart", func() error {
		for _, node := range p.Nodes() {
			if err := p.RestartKubelet(node); err != nil {
				return err
			}
		}
		return p.Advance(statistics)
	})
	if err != nil {
		return err
	}
	return p.phase("driver restarts", func() error {
		for _, node := range append(p.Nodes(), "") {
			took, err := p.RestartDriver(node)
			if err != nil {
				return err
			}
			p.run.Starts = append(p.run.Starts, took.Microseconds())
			if err := p.Advance(took); err != nil {
				return err
			}
		}
		return p.Advance(statistics)
	})
}

// snapshot takes a snapshot of each volume, waits until all are ready, and deletes them.
func (p *player) snapshot() error {
	err := p.phase("snapshots", func() error {
		for _, l := range p.alive {
			if _, err := p.Apply(p.Workload.Snapshot(l.name)); err != nil {
				return err
			}
		}
		return p.await("%d of %d snapshots to be ready", p.alive, func(l life) bool {
			s, ok := store.Get[*snapshotv1.VolumeSnapshot](p.Store(), store.Key{Namespace: namespace, Name: l.name})
			return ok && s.Status != nil && s.Status.ReadyToUse != nil && *s.Status.ReadyToUse
		})
	})
	if err != nil {
		return err
	}
	return p.phase("snapshots go", func() error {
		for _, l := range p.alive {
			if err := p.removeObject(p.Workload.Snapshot(l.name)); err != nil {
				return err
			}
		}
		return p.WaitFor("the snapshots to be deleted", p.Plan.Limit, func() bool {
			for range store.List[*snapshotv1.VolumeSnapshotContent](p.Store(), "") {
				return false
			}
			return true
		})
	})
}

// expand doubles the size of each volume.
func (p *player) expand() error {
	return p.phase("expand", func() error {
		for _, l := range p.alive {
			if _, err := p.Apply(p.Workload.Grown(l.name)); err != nil {
				return err
			}
		}
		return p.await("%d of %d volumes to be expanded", p.alive, func(l life) bool {
			claim, ok := store.Get[*corev1.PersistentVolumeClaim](p.Store(), store.Key{Namespace: namespace, Name: l.claims[0]})
			if !ok {
				return false
			}
			asked, is := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
			return is.Cmp(asked) >= 0
		})
	})
}
