package play

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/world/store"
)

const namespace = "default"

// statistics is the cluster time for which volumes stay up, because the kubelet requests the
// statistics of each once a minute. K-STAT-1
const statistics = 2 * time.Minute

// begin begins the life of a volume, on the next node.
func (p *player) begin() error {
	nodes := p.Nodes()
	l := life{name: load.NameOfLife(p.lives), node: nodes[p.lives%len(nodes)]}
	objects, pod := p.Workload.Claim(l.name), p.Workload.Pod(l.name, l.node)
	l.pod = pod.GetName()
	for _, o := range objects {
		if claim, is := o.(*corev1.PersistentVolumeClaim); is {
			l.claims = append(l.claims, claim.Name)
		}
	}
	p.lives++
	p.alive = append(p.alive, l)
	p.record.Begins(l.name, p.Now(), false)
	for _, o := range append(objects, pod) {
		if _, err := p.Apply(o); err != nil {
			return err
		}
	}
	return nil
}

// upAtOnce begins all lives of the level, and waits until all pods run.
func (p *player) upAtOnce() error {
	err := p.phase("up", func() error {
		for range p.level.Volumes {
			if err := p.begin(); err != nil {
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

// stay waits while the volumes are in use.
func (p *player) stay() error {
	p.sample("up")
	return p.phase("stay", func() error { return p.Advance(statistics) })
}

// allRun waits until the pods of all lives run.
func (p *player) allRun() error {
	return p.await("%d of %d pods to run", p.alive, p.runs)
}

func (p *player) runs(l life) bool {
	pod, ok := store.Get[*corev1.Pod](p.Store(), store.Key{Namespace: namespace, Name: l.pod})
	return ok && pod.Status.Phase == corev1.PodRunning
}

// await waits until a condition holds for all lives. The text contains the number of remaining
// lives.
func (p *player) await(text string, all []life, is func(life) bool) error {
	left := all
	err := p.WaitFor(fmt.Sprintf(text, len(all), len(all)), p.Plan.Limit, func() bool {
		for len(left) > 0 && is(left[0]) { // the first life that is not ready ends the loop
			left = left[1:]
		}
		return len(left) == 0
	})
	if _, stuck := err.(*Stuck); stuck {
		waiting := 0
		for _, l := range all {
			if !is(l) {
				waiting++
			}
		}
		return &Stuck{fmt.Sprintf(text, waiting, len(all))}
	}
	return err
}

// down ends all lives: the pods first, then the claims.
func (p *player) down() error {
	all := p.alive
	p.alive = nil
	return p.phase("down", func() error { return p.end(all) })
}

func (p *player) end(all []life) error {
	for _, l := range all {
		p.record.Begins(l.name, p.Now(), true)
		if err := p.remove("pods", l.pod); err != nil {
			return err
		}
	}
	if err := p.await("%d of %d pods to be gone", all, p.podIsGone); err != nil {
		return err
	}
	volumes := p.volumes(all)
	for _, l := range all {
		for _, o := range p.Workload.Claim(l.name) {
			if err := p.removeObject(o); err != nil {
				return err
			}
		}
	}
	return p.await("%d of %d volumes to be deleted", volumes, func(l life) bool {
		_, there := store.Get[*corev1.PersistentVolume](p.Store(), store.Key{Name: l.name})
		return !there
	})
}

// volumes returns the objects of the volumes of lives.
func (p *player) volumes(of []life) (all []life) {
	for _, l := range of {
		for _, name := range l.claims {
			claim, ok := store.Get[*corev1.PersistentVolumeClaim](p.Store(), store.Key{Namespace: namespace, Name: name})
			if ok && claim.Spec.VolumeName != "" {
				all = append(all, life{name: claim.Spec.VolumeName})
			}
		}
	}
	return all
}

func (p *player) podIsGone(l life) bool {
	_, there := store.Get[*corev1.Pod](p.Store(), store.Key{Namespace: namespace, Name: l.pod})
	return !there
}

func (p *player) remove(resource, name string) error {
	res, _ := store.ResourceNamed(resource)
	return p.Delete(res, store.Key{Namespace: namespace, Name: name})
}
