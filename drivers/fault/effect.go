package fault

import "slices"

// effective are the CSI methods that change something, which a caller may repeat
// at any time: the spec wants all of them to be idempotent.
var effective = []string{
	"CreateVolume", "DeleteVolume", "ControllerPublishVolume", "ControllerUnpublishVolume",
	"ControllerExpandVolume", "ControllerModifyVolume", "CreateSnapshot", "DeleteSnapshot",
	"CreateVolumeGroupSnapshot", "DeleteVolumeGroupSnapshot",
	"NodeStageVolume", "NodeUnstageVolume", "NodePublishVolume", "NodeUnpublishVolume", "NodeExpandVolume",
	// Of CSI-Addons. Space that is reclaimed twice is another amount: those calls are left out.
	"EncryptionKeyRotate", "FenceClusterNetwork", "UnfenceClusterNetwork",
	"EnableVolumeReplication", "DisableVolumeReplication", "PromoteVolume", "DemoteVolume", "ResyncVolume",
	"CreateVolumeGroup", "ModifyVolumeGroupMembership", "DeleteVolumeGroup",
}

// HasEffect reports whether a call of the method, such as "NodeStageVolume", changes
// something; the others only ask.
func HasEffect(method string) bool { return slices.Contains(effective, method) }

// RequiresSize reports whether calls of the method say how big a volume is to be.
func RequiresSize(method string) bool {
	return method == "CreateVolume" || method == "ControllerExpandVolume" || method == "NodeExpandVolume"
}

// CanBeContradicted reports whether there is a call that cannot be granted beside one
// of the method.
func CanBeContradicted(method string) bool {
	return method == "CreateVolume" || method == "ControllerPublishVolume" || method == "NodePublishVolume"
}
