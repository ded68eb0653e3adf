package cluster

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

// startInvariants checks the calls to drivers against invariants of every run.
func (c *Checks) startInvariants() {
	c.Invariants = calls.New()
	c.Invariants.OnBreach, c.Invariants.InUse, c.Invariants.MustAttach = c.Wire.Report, c.isInUse, c.mustAttach
	c.Invariants.MayWork = c.Wire.MayWork
	seen := map[string]bool{}
	c.Invariants.OnDisorder = func(call *trace.Event, v verdict.Verdict) {
		if seen[v.Text] {
			return
		}
		seen[v.Text] = true
		v = v.Renamed(c.Wire.Renamed)
		c.World.Trace.Add(trace.Entry{
			Kind: trace.Violation, Actor: call.Actor, Node: call.Node, Driver: call.Driver, Message: v.Text, Detail: v,
		})
	}
}

// mustAttach reports whether a volume has to be attached before its use: by its driver, and not by
// the in-tree plugin that the driver may replace. K-ATT-6, C-ATT-2
func (c *Checks) mustAttach(driver, handle string) bool {
	_, migrated := migration.PluginOf(driver)
	return volume.MustAttachIn(c.World, driver) && !migrated && !volume.IsInlineHandle(handle) && c.Wire.Attaches(driver)
}

// isInUse reports whether a node reports a volume as in use, or no longer exists. Detaching the
// volume is then a forced detach. C-ADC-25
func (c *Checks) isInUse(driver, handle, node string) bool {
	n, ok := store.Get[*corev1.Node](c.World.Store, store.Key{Name: node})
	return !ok || slices.Contains(n.Status.VolumesInUse, corev1.UniqueVolumeName(volume.UniqueName(driver, handle)))
}
