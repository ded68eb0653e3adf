package objects

// resources are the plural names of the kinds that matter for storage.
var resources = map[string]string{
	"Pod": "pods", "Node": "nodes", "PersistentVolumeClaim": "persistentvolumeclaims", "PersistentVolume": "persistentvolumes",
	"StorageClass": "storageclasses", "VolumeAttachment": "volumeattachments", "CSINode": "csinodes", "CSIDriver": "csidrivers",
	"CSIStorageCapacity": "csistoragecapacities", "VolumeAttributesClass": "volumeattributesclasses",
	"VolumeSnapshot": "volumesnapshots", "VolumeSnapshotContent": "volumesnapshotcontents", "VolumeSnapshotClass": "volumesnapshotclasses",
	"StatefulSet": "statefulsets", "Deployment": "deployments", "DaemonSet": "daemonsets",
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
	name, namespace := text(object, "metadata", "name"), text(object, "metadata", "namespace")
	if namespace != "" {
		return namespace + "/" + name
	}
	return name
}

// at returns the value at a path; nil if there is none.
func at(object map[string]any, path ...string) any {
	for i, name := range path {
		value := object[name]
		if i == len(path)-1 {
			return value
		}
		object, _ = value.(map[string]any)
	}
	return nil
}

func text(object map[string]any, path ...string) string {
	s, _ := at(object, path...).(string)
	return s
}

func listed(list any) (all []map[string]any) {
	items, _ := list.([]any)
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}
