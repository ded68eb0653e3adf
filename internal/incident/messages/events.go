package messages

import "strings"

// spoken maps reasons of Events to the program that prints the same messages.
var spoken = map[string]string{
	"FailedAttachVolume": "kube-controller-manager", "FailedMount": "kubelet", "FailedMapVolume": "kubelet", "SuccessfulAttachVolume": "kube-controller-manager",
	"FailedUnMount": "kubelet", "VolumeResizeFailed": "kubelet",
}

// reasons are the meanings of Events by their reasons.
var reasons = map[string]Meaning{
	"ProvisioningFailed": ProvisionFailed, "ProvisioningSucceeded": Provisioned, "VolumeFailedDelete": DeleteFailed, "VolumeResizeFailed": ResizeFailed,
	"VolumeResizeSuccessful": Resized, "FileSystemResizeSuccessful": NodeResized,
	"SnapshotContentCreationFailed": SnapshotFailed, "CreateSnapshotContentFailed": SnapshotFailed, "SnapshotContentMissing": SnapshotFailed,
	"GetSnapshotClassFailed": SnapshotFailed, "SetDefaultSnapshotClassFailed": SnapshotFailed, "SnapshotPVCSourceMissing": SnapshotFailed,
	"SnapshotContentCheckandUpdateFailed": SnapshotFailed, "SnapshotReady": Snapshotted, "SnapshotDeleteError": SnapshotDeleteFailed,
	"FailedMount": VolumesAwaited, "FailedMapVolume": VolumesAwaited, "FailedAttachVolume": AttachFailed, "SnapshotCreationFailed": SnapshotFailed,
	"GroupSnapshotCreationFailed": GroupSnapshotFailed, "GroupSnapshotContentCheckandUpdateFailed": GroupSnapshotFailed, "CreateGroupSnapshotContentFailed": GroupSnapshotFailed,
	"GroupSnapshotReady": GroupSnapshotted, "GroupSnapshotDeleteError": GroupSnapshotDeleteFailed,
}

// OfEvent returns the meaning of an Event about an object, such as "Pod/shop/web", and its fields.
func OfEvent(reason, message, about string) (Meaning, Fields) {
	means, fields := reasons[reason], Fields{}
	if program := spoken[reason]; program != "" {
		if f, ok := Named(program).Match(strings.TrimSpace(message), noPairs); ok {
			means, fields = f.Means, f.Fields
		}
	}
	if len(fields) == 0 {
		fields.failure(message)
	}
	kind, name, _ := strings.Cut(about, "/")
	if name != "" && !strings.Contains(name, "/") {
		name = "default/" + name
	}
	switch kind {
	case "Pod":
		fields["pod"] = name
	case "PersistentVolumeClaim":
		fields["pvc"] = name
	case "VolumeSnapshot":
		fields["snapshot"] = name
	case "VolumeSnapshotContent":
		fields["snapshot"] = strings.TrimPrefix(name, "default/")
	case "VolumeGroupSnapshot":
		fields["group"] = name
	case "VolumeGroupSnapshotContent":
		fields["group"] = strings.TrimPrefix(name, "default/")
	case "PersistentVolume":
		fields["pv"] = strings.TrimPrefix(name, "default/")
	}
	return means, fields
}

func noPairs() map[string]string { return nil }
