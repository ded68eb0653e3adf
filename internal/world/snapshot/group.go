package snapshot

import (
	"crypto/sha256"
	"encoding/hex"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	groupPrefix = "groupsnapshot.storage.kubernetes.io/"
	groupKind   = "VolumeGroupSnapshot"
	// GroupVersion is the API version in references to group snapshots.
	GroupVersion = "groupsnapshot.storage.k8s.io/v1"
)

// Finalizers of group snapshots and their contents. C-GSNAP-2
const (
	GroupContentFinalizer = groupPrefix + "volumegroupsnapshotcontent-bound-protection"
	GroupBoundFinalizer   = groupPrefix + "volumegroupsnapshot-bound-protection"
)

// Annotations of group contents and of classes, and GroupHandle, which the contents of a group's
// members have. C-GSNAP-2
const (
	GroupBeingDeleted            = groupPrefix + "volumegroupsnapshot-being-deleted"
	GroupBeingCreated            = groupPrefix + "volumegroupsnapshot-being-created"
	GroupDeletionSecretName      = groupPrefix + "deletion-secret-name"
	GroupDeletionSecretNamespace = groupPrefix + "deletion-secret-namespace"
	IsDefaultGroupClass          = groupPrefix + "is-default-class"
	GroupHandle                  = "groupsnapshot.storage.k8s.io/volumeGroupSnapshotHandle"
)

// GroupContentName returns the name of the content for a group of claims. C-GSNAP-3
func GroupContentName(g *groupv1.VolumeGroupSnapshot) string {
	return "groupsnapcontent-" + string(g.UID)
}

// MemberNames returns the names of the snapshot and the content for a volume of a group. C-GSNAP-6
func MemberNames(g *groupv1.VolumeGroupSnapshot, volumeHandle string) (snapshot, content string) {
	sum := sha256.Sum256([]byte(string(g.UID) + volumeHandle))
	of := hex.EncodeToString(sum[:])
	return "snapshot-" + of, "snapcontent-" + of
}

// OwnedBy makes a snapshot a member of a group.
func OwnedBy(g *groupv1.VolumeGroupSnapshot) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: GroupVersion, Kind: groupKind, Name: g.Name, UID: g.UID}
}

// GroupOf returns the name of the group that owns a snapshot, "" for none.
func GroupOf(s *snapshotv1.VolumeSnapshot) string {
	for _, owner := range s.OwnerReferences {
		if owner.Kind == groupKind && owner.APIVersion == GroupVersion {
			return owner.Name
		}
	}
	return ""
}

// IsGroupReady reports whether volumes can be made from the snapshots of a group.
func IsGroupReady(g *groupv1.VolumeGroupSnapshot) bool {
	return g.Status != nil && g.Status.ReadyToUse != nil && *g.Status.ReadyToUse
}

// IsGroupBoundTo reports whether a content points to the group snapshot.
func IsGroupBoundTo(content *groupv1.VolumeGroupSnapshotContent, g *groupv1.VolumeGroupSnapshot) bool {
	ref := content.Spec.VolumeGroupSnapshotRef
	return ref.Name == g.Name && ref.Namespace == g.Namespace && ref.UID == g.UID
}

// BoundGroupContent returns the name of the content that the group snapshot is bound to, "" for
// none.
func BoundGroupContent(g *groupv1.VolumeGroupSnapshot) string {
	if g.Status == nil || g.Status.BoundVolumeGroupSnapshotContentName == nil {
		return ""
	}
	return *g.Status.BoundVolumeGroupSnapshotContentName
}
