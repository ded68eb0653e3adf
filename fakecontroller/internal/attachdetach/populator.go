package attachdetach

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// backlog holds work for the desired state of world populator only.
type backlog struct {
	leftOver   map[types.UID]bool // deleted or finished pods that are still in the desired state
	detachable map[string]bool    // drivers that no longer need attaching
	unresolved map[store.Key]bool // pods with a volume that was unknown
}

func newBacklog() backlog {
	return backlog{map[types.UID]bool{}, map[string]bool{}, map[store.Key]bool{}}
}

func (c *Controller) postpone(pod *corev1.Pod) {
	c.backlog.unresolved[store.KeyOf(pod)] = true
	c.wakePopulator()
}

func (c *Controller) leaveOver(pod *corev1.Pod) {
	c.backlog.leftOver[pod.UID] = true
	c.wakePopulator()
}

func (c *Controller) wakePopulator() {
	if c.populator != nil {
		c.populator.Wake()
	}
}

// driverChanged handles drivers that now need attaching, or no longer need it.
func (c *Controller) driverChanged(e store.Event[*storagev1.CSIDriver]) {
	name := e.Object.Name
	needed := e.Type == store.Added || e.Old.Spec.AttachRequired == nil || *e.Old.Spec.AttachRequired
	needs := volume.MustAttach(c.Component, name)
	switch {
	case needed && !needs:
		c.backlog.detachable[name] = true
		c.wakePopulator()
	case !needed && needs:
		for pod := range store.List[*corev1.Pod](c.Cache, "") {
			c.postpone(pod)
		}
	}
}

// populate is the desired state of world populator. Every minute it removes volumes that are no
// longer needed, and every three minutes it processes the pods again. C-ADC-14..16
func (c *Controller) populate(p *kernel.Process) {
	for at, due := c.nextPopulation(p.Elapsed()); due; at, due = c.nextPopulation(p.Elapsed()) {
		for p.IdleUntil("the populator's next pass", at) {
			at, _ = c.nextPopulation(p.Elapsed())
		}
		c.removeLeftOver()
		c.removeDetachable()
		if (p.Elapsed()-c.started)%podListPeriod == 0 {
			c.addUnresolved()
		}
	}
	p.Rest("pods and drivers that events did not settle", c.populate)
}

func (c *Controller) nextPopulation(now time.Duration) (time.Duration, bool) {
	switch {
	case len(c.backlog.leftOver)+len(c.backlog.detachable) > 0:
		return nextMultiple(c.started, populatorPeriod, now), true
	case len(c.backlog.unresolved) > 0:
		return nextMultiple(c.started, podListPeriod, now), true
	default:
		return 0, false
	}
}

// nextMultiple returns the first time after now that is a whole number of periods after start.
func nextMultiple(start, period, now time.Duration) time.Duration {
	return start + ((now-start)/period+1)*period
}

// removeLeftOver examines one volume of each pod, like the real populator. C-ADC-14
func (c *Controller) removeLeftOver() {
	for _, uid := range slices.Sorted(maps.Keys(c.backlog.leftOver)) {
		entry := c.desired.byPod[uid]
		if entry == nil || !c.isGone(entry.pod) {
			delete(c.backlog.leftOver, uid)
			continue
		}
		c.removeVolume(entry.volumes[0], entry.pod)
		if c.desired.byPod[uid] == nil {
			delete(c.backlog.leftOver, uid)
		}
	}
}

func (c *Controller) isGone(pod *corev1.Pod) bool {
	now, ok := component.Cached[*corev1.Pod](c.Component, store.KeyOf(pod))
	return !ok || now.UID != pod.UID || volume.Terminated(now)
}

// removeDetachable: C-ADC-15
func (c *Controller) removeDetachable() {
	drivers := c.backlog.detachable
	if len(drivers) == 0 {
		return
	}
	c.backlog.detachable = map[string]bool{}
	for _, uid := range slices.Sorted(maps.Keys(c.desired.byPod)) {
		entry := c.desired.byPod[uid]
		for _, name := range slices.Clone(entry.volumes) {
			driver, _, _ := volume.SplitUniqueName(name)
			if drivers[driver] && !volume.MustAttach(c.Component, driver) {
				c.removeVolume(name, entry.pod)
			}
		}
	}
}

// addUnresolved: C-ADC-16
func (c *Controller) addUnresolved() {
	byKey := func(a, b store.Key) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}
	for _, key := range slices.SortedFunc(maps.Keys(c.backlog.unresolved), byKey) {
		pod, ok := component.Cached[*corev1.Pod](c.Component, key)
		if !ok || pod.Spec.NodeName == "" || volume.Terminated(pod) {
			delete(c.backlog.unresolved, key)
			continue
		}
		c.addPod(pod)
	}
}
