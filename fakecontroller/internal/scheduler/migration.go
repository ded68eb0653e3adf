package scheduler

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/migration"
)

// translated returns the migrated plugins with volumes that the scheduler treats as CSI volumes. It
// does not translate volumes of vSphere and Azure file. C-SCHED-3, C-SCHED-25
var translated = map[string]bool{
	"kubernetes.io/aws-ebs": true, "kubernetes.io/gce-pd": true, "kubernetes.io/azure-disk": true,
	"kubernetes.io/cinder": true, "kubernetes.io/portworx-volume": true,
}

// asCSIOn returns a volume as the scheduler treats it on a node: a CSI volume if the node reports
// the plugin as migrated. C-SCHED-3
func asCSIOn(n *node, pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	if plugin, ok := migration.Plugin(pv); !ok || !n.migrated[plugin] {
		return pv
	}
	return asCSI(pv)
}

// asCSI returns a volume of an in-tree plugin as a volume of its CSI driver, on any node. Other
// volumes do not change. C-SCHED-25
func asCSI(pv *corev1.PersistentVolume) *corev1.PersistentVolume {
	if pv.Spec.CSI != nil {
		return pv
	}
	if plugin, ok := migration.Plugin(pv); !ok || !translated[plugin] {
		return pv
	}
	csi, err := migration.PV(pv)
	if err != nil {
		return pv
	}
	return csi
}
