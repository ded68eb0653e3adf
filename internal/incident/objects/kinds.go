package objects

import "github.com/csisim/csisim/internal/incident/fields"

// resources are the plural names of the kinds that matter for storage.
var resources = map[string]string{
	"Pod": "pods", "Node": "nodes", "PersistentVolumeClaim": "persistentvolumeclaims", "PersistentVolume": "persistentvolumes",
	"StorageClass": "storageclasses", "VolumeAttachment": "volumeattachments", "CSINode": "csinodes", "CSIDriver": "csidrivers",
	"CSIStorageCapacity": "csistoragecapacities", "VolumeAttributesClass": "volumeattributesclasses",
	"VolumeSnapshot": "volumesnapshots", "VolumeSnapshotContent": "volumesnapshotcontents", "VolumeSnapshotClass": "volumesnapshotclasses",
	"VolumeGroupSnapshot": "volumegroupsnapshots", "VolumeGroupSnapshotContent": "volumegroupsnapshotcontents", "VolumeGroupSnapshotClass": "volumegroupsnapshotclasses",
	"StatefulSet": "statefulsets", "Deployment": "deployments", "DaemonSet": "daemonsets",
	"ReclaimSpaceJob": "reclaimspacejobs", "EncryptionKeyRotationJob": "encryptionkeyrotationjobs", "NetworkFence": "networkfences",
}

// isKnown reports whether a resource matters for storage.
func isKnown(resource string) bool {
	for _, known := range resources { // in any order: one is enough
		if known == resource {
			return true
		}
	}
	return false
}

// nameOf returns the name of an object, with its namespace if it has one.
func nameOf(object map[string]any) string {
	name, namespace := fields.Text(object, "metadata", "name"), fields.Text(object, "metadata", "namespace")
	if namespace != "" {
		return namespace + "/" + name
	}
	return name
}
