package scheduler

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

// lookUpVolumes finds the volumes of the attempt's claims.
func (s *Scheduler) lookUpVolumes(a *attempt) {
	a.fixedVolume = map[string]*corev1.PersistentVolume{}
	for _, claim := range a.bound {
		if pv, ok := s.volumes.Get(store.Key{Name: claim.Spec.VolumeName}); ok {
			a.fixedVolume[pv.Name] = pv
		}
	}
	a.wanted = s.volumesOf(a.claims, a.disks)
}

// volumesOf returns the CSI volumes of claims, and the CSI equivalents of in-tree disks, by driver.
// A claim without a volume counts for the driver that will create it. C-SCHED-22
func (s *Scheduler) volumesOf(claims []store.Key, disks []*corev1.Volume) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	count := func(driver, handle string, ok bool) {
		if !ok {
			return
		}
		if found[driver] == nil {
			found[driver] = map[string]bool{}
		}
		found[driver][handle] = true
	}
	for _, key := range claims {
		count(s.csiVolumeOf(key))
	}
	for _, disk := range disks {
		count(csiVolumeOfDisk(disk))
	}
	return found
}

// csiVolumeOfDisk: C-SCHED-20
func csiVolumeOfDisk(disk *corev1.Volume) (driver, handle string, ok bool) {
	if plugin, _ := migration.InlinePlugin(disk); !translated[plugin] {
		return "", "", false
	}
	// The namespace is needed for secrets, which do not matter here.
	pv, ok, err := migration.Inline(disk, "")
	if !ok || err != nil {
		return "", "", false
	}
	return pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle, true
}

func (s *Scheduler) csiVolumeOf(key store.Key) (driver, handle string, ok bool) {
	claim, ok := s.claims.Get(key)
	if !ok {
		return "", "", false
	}
	if claim.Spec.VolumeName != "" {
		if pv, ok := s.volumes.Get(store.Key{Name: claim.Spec.VolumeName}); ok {
			if pv = asCSI(pv); pv.Spec.CSI == nil {
				return "", "", false
			}
			return pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle, true
		}
	}
	class, ok := component.Cached[*storagev1.StorageClass](s.Component, store.Key{Name: storagevolume.GetPersistentVolumeClaimClass(claim)})
	if !ok {
		return "", "", false
	}
	handle = "not made yet: " + key.String()
	if _, inTree := migration.Driver(class.Provisioner); !inTree {
		return class.Provisioner, handle, true
	}
	driver, ok = s.Migration.Driver(class.Provisioner)
	return driver, handle, ok && translated[class.Provisioner]
}

// exceedsLimit reports whether a node cannot attach the pod's volumes in addition to its present
// volumes. An attached volume without a pod counts in addition, even if the new pod uses the same
// volume. C-SCHED-23, C-SCHED-24
func (s *Scheduler) exceedsLimit(a *attempt, n *node) bool {
	// In any order: one match is enough.
	for driver, wanted := range a.wanted {
		limit, ok := s.limitOn(n, driver)
		if !ok {
			continue
		}
		used := s.volumesOn(n)[driver]
		needed := 0
		for handle := range wanted {
			if !used[handle] {
				needed++
			}
		}
		if needed > 0 && int64(len(used)+s.attachedOnly(n, driver, used)+needed) > limit {
			return true
		}
	}
	return false
}

// limitOn returns the maximum number of a driver's volumes on a node, and false without a limit.
// Before CSINodes the Node had the limit. C-SCHED-21, L-NEXT-3
func (s *Scheduler) limitOn(n *node, driver string) (int64, bool) {
	if s.Version.Has(version.CSINode) {
		limit, ok := n.limits[driver]
		return limit, ok
	}
	limit, ok := n.object.Status.Allocatable[legacy.LimitName(driver)]
	return limit.Value(), ok
}

// missingDriver returns a driver of the pod's volumes that is not installed on a node and must be
// there; "" if there is none. C-SCHED-26
func (s *Scheduler) missingDriver(a *attempt, n *node) string {
	if !s.Features.Enabled(feature.VolumeLimitScaling) {
		return ""
	}
	for _, driver := range slices.Sorted(maps.Keys(a.wanted)) {
		object, ok := component.Cached[*storagev1.CSIDriver](s.Component, store.Key{Name: driver})
		if ok && object.Spec.PreventPodSchedulingIfMissing != nil && *object.Spec.PreventPodSchedulingIfMissing && !n.installed[driver] {
			return driver
		}
	}
	return ""
}

// volumesOn returns the volumes of all pods on a node.
func (s *Scheduler) volumesOn(n *node) map[string]map[string]bool {
	if n.volumes == nil {
		var claims []store.Key
		var disks []*corev1.Volume
		for _, p := range n.pods {
			claims, disks = append(claims, p.claims...), append(disks, p.disks...)
		}
		n.volumes = s.volumesOf(claims, disks)
	}
	return n.volumes
}

// attachedOnly counts the volumes that are attached to a node and used by no pod.
func (s *Scheduler) attachedOnly(n *node, driver string, used map[string]bool) int {
	seen := map[string]bool{}
	for attachment := range store.Indexed[*storagev1.VolumeAttachment](s.Cache, kind.AttachmentsByNode, n.name) {
		if attachment.Spec.Attacher != driver || attachment.Spec.Source.PersistentVolumeName == nil {
			continue
		}
		pv, ok := s.volumes.Get(store.Key{Name: *attachment.Spec.Source.PersistentVolumeName})
		if ok && pv.Spec.CSI != nil && !used[pv.Spec.CSI.VolumeHandle] {
			seen[pv.Spec.CSI.VolumeHandle] = true
		}
	}
	return len(seen)
}
