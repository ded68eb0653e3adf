package contract

import "github.com/csisim/csisim/internal/judge/verdict"

// Advice returns advice about a breach if its cause is not obvious; empty for others.
func Advice(v verdict.Verdict) string {
	switch {
	case v.Form == ignoresReadonly && !v.Remark:
		return "the container runtime makes the top of a read-only volume read-only, not the mounts below it: publish these read-only, too"
	case v.Form == ignoresReadonly:
		return "if the driver binds and then remounts with ro: a remount reaches no other mount namespace, so that only the driver's " +
			"own mount is read-only (mount_namespaces(7)); bind a mount that is read-only already, or use mount_setattr(2) before move_mount(2)"
	case v.Form == leavesOrphan:
		return "derive the id of a volume from its name: the repeated call then finds the remains of the one that failed; or remove them when a step fails, and when the driver starts"
	case v.Form == refusesDeleted:
		return "a volume that is not found is attached to no node: answer OK, or csi-attacher repeats the call for ever, and the VolumeAttachment stays, if the volume was deleted in the storage system"
	case v.Form == ignoresFlags:
		return "mount_flags are the mountOptions of the StorageClass: mount with them in NodeStageVolume or, if the driver does not stage, in NodePublishVolume, " +
			"or refuse them with InvalidArgument; of a bind mount a remount reaches no other mount namespace (mount_namespaces(7))"
	}
	return ""
}
