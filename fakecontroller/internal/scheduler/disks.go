package scheduler

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/migration"
)

// disksOf returns the inline in-tree volumes of a pod that are relevant for scheduling. Either two
// pods must not share the disk, or a driver replaces the plugin and has to attach it.
func disksOf(pod *corev1.Pod) []*corev1.Volume {
	var disks []*corev1.Volume
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if _, migrated := migration.InlinePlugin(v); migrated || v.ISCSI != nil || v.RBD != nil {
			disks = append(disks, v)
		}
	}
	return disks
}

// diskInUse reports whether a pod on the node uses one of the disks exclusively. C-SCHED-51
func diskInUse(a *attempt, n *node) bool {
	if len(a.disks) == 0 {
		return false
	}
	// In any order: one match is enough.
	for _, p := range n.pods {
		for _, used := range p.disks {
			if slices.ContainsFunc(a.disks, func(disk *corev1.Volume) bool { return conflict(disk, used) }) {
				return true
			}
		}
	}
	return false
}

// conflict reports whether two volumes are the same disk and one of them is writable. An EBS volume
// is not shared at all. C-SCHED-51
func conflict(v, w *corev1.Volume) bool {
	switch {
	case v.AWSElasticBlockStore != nil && w.AWSElasticBlockStore != nil:
		return v.AWSElasticBlockStore.VolumeID == w.AWSElasticBlockStore.VolumeID
	case v.GCEPersistentDisk != nil && w.GCEPersistentDisk != nil:
		d, e := v.GCEPersistentDisk, w.GCEPersistentDisk
		return d.PDName == e.PDName && !(d.ReadOnly && e.ReadOnly)
	case v.ISCSI != nil && w.ISCSI != nil:
		d, e := v.ISCSI, w.ISCSI
		return d.IQN == e.IQN && !(d.ReadOnly && e.ReadOnly)
	case v.RBD != nil && w.RBD != nil:
		d, e := v.RBD, w.RBD
		sameCluster := slices.ContainsFunc(d.CephMonitors, func(m string) bool { return slices.Contains(e.CephMonitors, m) })
		return sameCluster && d.RBDPool == e.RBDPool && d.RBDImage == e.RBDImage && !(d.ReadOnly && e.ReadOnly)
	}
	return false
}
