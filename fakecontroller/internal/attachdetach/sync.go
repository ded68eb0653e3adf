package attachdetach

import (
	"maps"
	"slices"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// verify compares confirmed attachments to their VolumeAttachments once per period. Objects that
// have not changed since their last attachment would pass, so only the others are compared.
// C-ADC-50
func (c *Controller) verify(p *kernel.Process) {
	for len(c.unverified) > 0 {
		at := nextMultiple(c.started, c.opts.ReconcileSyncPeriod, p.Elapsed())
		for p.IdleUntil("the next check of attachments", at) {
		}
		for _, at := range slices.SortedFunc(maps.Keys(c.unverified), pair.compare) {
			c.verifyOne(p, at)
		}
	}
	p.Rest("attachments in doubt", c.verify)
}

// distrust makes the next check verify an attachment.
func (c *Controller) distrust(at pair) {
	c.unverified[at] = true
	if c.syncer != nil {
		c.syncer.Wake()
	}
}

// trustOnlyIfAttached schedules the verification of an attachment unless its object confirms it
// now.
func (c *Controller) trustOnlyIfAttached(at pair) {
	va, ok := component.Cached[*storagev1.VolumeAttachment](c.Component, store.Key{Name: objectName(at)})
	if !ok || !va.Status.Attached {
		c.distrust(at)
	}
}

// verifyOne removes an attachment that does not exist. If a pod needs the volume, the next pass
// attaches it again. C-ADC-52
func (c *Controller) verifyOne(p *kernel.Process, at pair) {
	if !c.actual.confirmed(at) {
		delete(c.unverified, at)
		return
	}
	if c.hasUnknown(at.node) {
		return
	}
	delete(c.unverified, at)
	if !c.isAttached(p, at) {
		c.actual.remove(at)
		c.mark(at)
		c.markRivals(at.volume)
	}
}

// hasUnknown reports whether a node has a volume with only a known name. Such a volume makes the
// check fail for the whole node. C-ADC-51
func (c *Controller) hasUnknown(node string) bool {
	// In any order: one volume is enough.
	for name := range c.actual.byNode[node] {
		if c.actual.volumes[name].spec == nil && c.actual.confirmed(pair{name, node}) {
			return true
		}
	}
	return false
}

// isAttached: C-ADC-51
func (c *Controller) isAttached(p *kernel.Process, at pair) bool {
	if c.actual.get(at).inTree {
		return true
	}
	if !volume.MustAttach(c.Component, c.actual.volumes[at.volume].spec.driver) {
		return true
	}
	key := store.Key{Name: objectName(at)}
	if va, ok := component.Cached[*storagev1.VolumeAttachment](c.Component, key); ok {
		return va.Status.Attached
	}
	va, err := component.Live[*storagev1.VolumeAttachment](p, c.Component, key)
	return err == nil && va.Status.Attached
}
