package fault

import "slices"

// effective are the CSI methods that change something. The spec requires all of them to be
// idempotent, so a caller may repeat each of them at any time.
var effective = []string{
	"CreateVolume", "DeleteVolume", "ControllerPublishVolume", "ControllerUnpublishVolume",
	"ControllerExpandVolume", "ControllerModifyVolume", "CreateSnapshot", "DeleteSnapshot",
	"CreateVolumeGroupSnapshot", "DeleteVolumeGroupSnapshot",
	"NodeStageVolume", "NodeUnstageVolume", "NodePublishVolume", "NodeUnpublishVolume", "NodeExpandVolume",
	// Of CSI-Addons. Calls that reclaim space are left out, because a second call returns another
	// amount.
	"EncryptionKeyRotate", "FenceClusterNetwork", "UnfenceClusterNetwork",
	"EnableVolumeReplication", "DisableVolumeReplication", "PromoteVolume", "DemoteVolume", "ResyncVolume",
	"CreateVolumeGroup", "ModifyVolumeGroupMembership", "DeleteVolumeGroup",
}

// HasEffect reports whether a call of the method, such as "NodeStageVolume", changes something;
// other calls only read.
func HasEffect(method string) bool { return slices.Contains(effective, method) }

// RequiresSize reports whether calls of the method contain the size of a volume.
func RequiresSize(method string) bool {
	return method == "CreateVolume" || method == "ControllerExpandVolume" || method == "NodeExpandVolume"
}

// CanBeContradicted reports whether a call of the method excludes another call that must then be
// rejected.
func CanBeContradicted(method string) bool {
	return method == "CreateVolume" || method == "CreateSnapshot" || method == "ControllerPublishVolume" || method == "NodePublishVolume"
}

// Measures reports whether calls of the method measure a volume.
func Measures(method string) bool { return method == "NodeGetVolumeStats" }
