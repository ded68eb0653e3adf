// Package snapshot has the conventions about snapshots that snapshot-controller, csi-snapshotter
// and csi-provisioner share: names, finalizers, annotations, secrets.
package snapshot

import (
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
)

const prefix = "snapshot.storage.kubernetes.io/"

// Finalizers. C-SNAP-2
const (
	ContentFinalizer  = prefix + "volumesnapshotcontent-bound-protection"
	BoundFinalizer    = prefix + "volumesnapshot-bound-protection"
	AsSourceFinalizer = prefix + "volumesnapshot-as-source-protection"
	InGroupFinalizer  = prefix + "volumesnapshot-in-group-protection"
	ClaimFinalizer    = prefix + "pvc-as-source-protection"
)

// Annotations: BeingDeleted, BeingCreated, the deletion secret and
// AllowVolumeModeChange of contents, IsDefaultClass of classes. C-SNAP-3
const (
	BeingDeleted            = prefix + "volumesnapshot-being-deleted"
	BeingCreated            = prefix + "volumesnapshot-being-created"
	DeletionSecretName      = prefix + "deletion-secret-name"
	DeletionSecretNamespace = prefix + "deletion-secret-namespace"
	AllowVolumeModeChange   = prefix + "allow-volume-mode-change"
	IsDefaultClass          = prefix + "is-default-class"
)

// ContentName returns the name of the content for a snapshot of a claim. C-SNAP-5
func ContentName(s *snapshotv1.VolumeSnapshot) string { return "snapcontent-" + string(s.UID) }

// IsReady reports whether volumes can be made from the snapshot.
func IsReady(s *snapshotv1.VolumeSnapshot) bool {
	return s.Status != nil && s.Status.ReadyToUse != nil && *s.Status.ReadyToUse
}

// IsBoundTo reports whether a content points to the snapshot.
func IsBoundTo(content *snapshotv1.VolumeSnapshotContent, s *snapshotv1.VolumeSnapshot) bool {
	ref := content.Spec.VolumeSnapshotRef
	return ref.Name == s.Name && ref.Namespace == s.Namespace && ref.UID == s.UID
}

// BoundContent returns the name of the content that the snapshot is bound to, "" for none.
func BoundContent(s *snapshotv1.VolumeSnapshot) string {
	if s.Status == nil || s.Status.BoundVolumeSnapshotContentName == nil {
		return ""
	}
	return *s.Status.BoundVolumeSnapshotContentName
}
