package store

import (
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
)

// ofDefinition are the traits of all kinds that a CustomResourceDefinition brings.
const ofDefinition = withGeneration | conditional | anyFinalizer

// C-SNAP-1, C-GSNAP-1
func init() {
	group("snapshot.storage.k8s.io", "v1",
		kind{name: "VolumeSnapshot", traits: ofDefinition | withStatus, rules: snapshotRules,
			fresh: func() Object { return &snapshotv1.VolumeSnapshot{} }},
		kind{name: "VolumeSnapshotClass", traits: ofDefinition | clusterScoped, rules: snapshotClassRules,
			fresh: func() Object { return &snapshotv1.VolumeSnapshotClass{} }},
		kind{name: "VolumeSnapshotContent", traits: ofDefinition | clusterScoped | withStatus, rules: snapshotContentRules,
			fresh: func() Object { return &snapshotv1.VolumeSnapshotContent{} }},
	)
	group("groupsnapshot.storage.k8s.io", "v1",
		kind{name: "VolumeGroupSnapshot", traits: ofDefinition | withStatus, rules: groupSnapshotRules,
			fresh: func() Object { return &groupv1.VolumeGroupSnapshot{} }},
		kind{name: "VolumeGroupSnapshotClass", traits: ofDefinition | clusterScoped, rules: groupSnapshotClassRules,
			fresh: func() Object { return &groupv1.VolumeGroupSnapshotClass{} }},
		kind{name: "VolumeGroupSnapshotContent", traits: ofDefinition | clusterScoped | withStatus, rules: groupSnapshotContentRules,
			fresh: func() Object { return &groupv1.VolumeGroupSnapshotContent{} }},
	)
}
