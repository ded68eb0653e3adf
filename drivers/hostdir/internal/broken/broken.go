// Package broken names the possible defects of hostdir, so that tests can prove which of them
// csisim detects.
package broken

import (
	"fmt"
	"strings"
)

// Behaviour is one deliberate defect.
type Behaviour string

// The defects.
const (
	PublishNotIdempotent  Behaviour = "publish-not-idempotent"
	PublishWrongVolume    Behaviour = "publish-wrong-volume-after-restart"
	IgnoreReadOnly        Behaviour = "ignore-readonly"
	ReadOnlyTopOnly       Behaviour = "readonly-top-only"
	RemountReadOnly       Behaviour = "readonly-by-remount"
	PublishLeavesProcess  Behaviour = "publish-leaves-process"
	PublishUnmountsOthers Behaviour = "publish-unmounts-others"
	UnpublishNotFound     Behaviour = "unpublish-not-found-errors"
	UnpublishLeavesTarget Behaviour = "unpublish-leaves-target-dir"
	StageNotIdempotent    Behaviour = "stage-not-idempotent"
	UnstageLeavesMount    Behaviour = "unstage-leaves-mount"
	BlockLeaksLoop        Behaviour = "block-leaks-loop"
	CreateNotIdempotent   Behaviour = "create-not-idempotent"
	CreateLeavesDirectory Behaviour = "create-leaves-directory"
	DeleteLeavesVolume    Behaviour = "delete-leaves-volume"
	AttachToManyNodes     Behaviour = "attach-to-many-nodes"
	ForgetAttachments     Behaviour = "forget-attachments-on-restart"
	LostState             Behaviour = "lost-state-on-restart"
	ExpandForgetsSize     Behaviour = "expand-forgets-size"
	SnapshotRestoresEmpty Behaviour = "snapshot-restores-empty"
	GroupMixesVolumes     Behaviour = "group-mixes-volumes"
	DetachNotFound        Behaviour = "detach-not-found-errors"
	DetachLosesData       Behaviour = "detach-loses-data"
	DetachLeaves          Behaviour = "detach-leaves-attachment"
	TrustRecords          Behaviour = "stage-trusts-records"
	StageLeaksMount       Behaviour = "stage-leaks-mount"
	RecordsNotSynced      Behaviour = "records-not-synced"

	PublishMakesFile         Behaviour = "publish-makes-file"
	PublishMakesFIFO         Behaviour = "publish-makes-fifo"
	PublishMakesSymlink      Behaviour = "publish-makes-symlink"
	CallsOverlap             Behaviour = "calls-overlap"
	DeadlineKeepsLock        Behaviour = "deadline-keeps-lock"
	BlockNotPublished        Behaviour = "block-not-published"
	SnapshotReplaced         Behaviour = "snapshot-replaces-others"
	CopyTrustsDirectory      Behaviour = "copy-trusts-directory"
	InlineRefusalLeavesMount Behaviour = "inline-refusal-leaves-mount"
	InlineSharesContent      Behaviour = "inline-shares-content"
	InlineForgottenOnRestart Behaviour = "inline-forgotten-on-restart"
	StagePanics              Behaviour = "stage-panics"
	PublishExits             Behaviour = "publish-exits"
	StageHoardsMemory        Behaviour = "stage-hoards-memory"
	StartLeavesProcess       Behaviour = "start-leaves-process"
	UnpublishLeavesMount     Behaviour = "unpublish-leaves-mount"
	UnpublishIgnoresErrors   Behaviour = "unpublish-ignores-errors"
	UnpublishTrustsStat      Behaviour = "unpublish-trusts-stat"
	UnpublishNeedsStat       Behaviour = "unpublish-needs-stat"
	UnpublishRemovesContent  Behaviour = "unpublish-removes-content"
	UnpublishRemovesParent   Behaviour = "unpublish-removes-parent"
	LimitTooHigh             Behaviour = "limit-too-high"
	DeviceRemembered         Behaviour = "device-remembered"
	DeviceRecorded           Behaviour = "device-recorded"
	ListOmitsNodes           Behaviour = "list-omits-nodes"
	DetachFromAll            Behaviour = "detach-from-all-nodes"
	ReadOnlyForAll           Behaviour = "readonly-for-all"
	MountFlagsIgnored        Behaviour = "mount-flags-ignored"
	SocketStays              Behaviour = "socket-stays"
	StartUnmounts            Behaviour = "start-unmounts"
	ExpandLeavesDevice       Behaviour = "expand-leaves-device"
	ExpandSkipsNode          Behaviour = "expand-skips-node"
	CopyStaysSmall           Behaviour = "copy-stays-small"
	DeleteTakesSnapshots     Behaviour = "delete-takes-snapshots"
	DeleteWipesCopies        Behaviour = "delete-wipes-copies"
	ListIgnoresSource        Behaviour = "list-ignores-source"
	PagesSkip                Behaviour = "pages-skip"
	GetOmitsNodes            Behaviour = "get-omits-nodes"
	StatsRemembered          Behaviour = "stats-remembered"
	StatsOfNode              Behaviour = "stats-of-node"
	RequestsLogged           Behaviour = "requests-logged"
	PublishLeavesFile        Behaviour = "publish-leaves-file"
	PublishLeavesZombie      Behaviour = "publish-leaves-zombie"
	UnmountsLazily           Behaviour = "unmounts-lazily"
	UnstageFailsOnce         Behaviour = "unstage-fails-once"
	MountGroupIgnored        Behaviour = "mount-group-ignored"
	DeleteForgetsFirst       Behaviour = "delete-forgets-first"
	DeleteTakesOrigin        Behaviour = "delete-takes-origin"
	DeleteTakesOwnSnapshot   Behaviour = "delete-takes-own-snapshot"
	RestoreConsumes          Behaviour = "restore-consumes"
	ExpandOnce               Behaviour = "expand-once"
	ExpandRecordsFirst       Behaviour = "expand-records-first"
	StageClears              Behaviour = "stage-clears"
	ReadOnlySticks           Behaviour = "readonly-sticks"
	StopUnmounts             Behaviour = "stop-unmounts"
	PublishIgnoresErrors     Behaviour = "publish-ignores-errors"
	SizesCompared            Behaviour = "sizes-compared"
	CloneRemembered          Behaviour = "clone-remembered"
	TopologyFirstRequisite   Behaviour = "topology-first-requisite"
	PublishRaces             Behaviour = "publish-races"
	SecretInVolumeContext    Behaviour = "secret-in-volume-context"
	SecretInPublishContext   Behaviour = "secret-in-publish-context"
	TokensLogged             Behaviour = "tokens-logged"
	RecordsInContainer       Behaviour = "records-in-container"
	DetachRefusesElsewhere   Behaviour = "detach-refuses-elsewhere"
	UnstageForgives          Behaviour = "unstage-forgives-after-restart"
	UpgradeHandles           Behaviour = "upgrade-changes-handles"
	UpgradeNodeIDs           Behaviour = "upgrade-changes-node-ids"
	UpgradeTopology          Behaviour = "upgrade-changes-topology"
	UpgradeDropsStaging      Behaviour = "upgrade-drops-staging"
	UpgradeForgetsRecords    Behaviour = "upgrade-forgets-records"
	UpgradeRefusesState      Behaviour = "upgrade-refuses-state"
	UpgradeStagingLayout     Behaviour = "upgrade-changes-staging"
	UpgradeRewritesState     Behaviour = "upgrade-rewrites-state"
	UpgradeDefaultFlags      Behaviour = "upgrade-changes-flags"
	UpgradeForgetsAttached   Behaviour = "upgrade-forgets-attachments"
	UpgradeUnmounts          Behaviour = "upgrade-unmounts"

	ReclaimLosesData     Behaviour = "reclaim-loses-data"
	FenceIgnored         Behaviour = "fence-ignored"
	DemotedStaysWritable Behaviour = "demoted-stays-writable"
	FenceLeavesMounts    Behaviour = "fence-leaves-mounts"
	GroupDropsMember     Behaviour = "group-drops-member"
	RotateLosesData      Behaviour = "rotate-loses-data"
)

var catalogue = []struct {
	name Behaviour
	what string
}{
	{PublishNotIdempotent, "NodePublishVolume mounts again on top of an existing mount"},
	{PublishWrongVolume, "after a restart NodePublishVolume shows another volume's content"},
	{IgnoreReadOnly, "NodePublishVolume mounts writable when asked for read-only"},
	{ReadOnlyTopOnly, "NodePublishVolume mounts a part of the volume, shared, below the target as well, writable when asked for read-only"},
	{RemountReadOnly, "NodePublishVolume binds, then remounts read-only, which no other mount namespace sees"},
	{PublishLeavesProcess, "NodePublishVolume starts a process that never ends"},
	{PublishUnmountsOthers, "NodePublishVolume unmounts mounts of others below the kubelet's directory"},
	{UnpublishNotFound, "NodeUnpublishVolume fails when the target is not mounted"},
	{UnpublishLeavesTarget, "NodeUnpublishVolume leaves the target with a file in it"},
	{StageNotIdempotent, "NodeStageVolume fails when the volume is staged already"},
	{UnstageLeavesMount, "NodeUnstageVolume succeeds and leaves the mount"},
	{BlockLeaksLoop, "the loop device of a block volume is never detached"},
	{CreateLeavesDirectory, "CreateVolume prepares volumes in a directory of a random name, and leaves it when it fails"},
	{CreateNotIdempotent, "CreateVolume makes a second volume for the same name"},
	{DeleteLeavesVolume, "DeleteVolume succeeds and leaves the volume"},
	{AttachToManyNodes, "ControllerPublishVolume attaches a single-node volume to several nodes"},
	{ForgetAttachments, "the controller starts with an empty attachment table"},
	{LostState, "the controller starts without any volume or snapshot"},
	{ExpandForgetsSize, "ControllerExpandVolume reports the new size and keeps the old one"},
	{SnapshotRestoresEmpty, "a volume made from a snapshot is empty"},
	{GroupMixesVolumes, "all snapshots of a group hold the content of its first volume"},
	{DetachNotFound, "ControllerUnpublishVolume fails when the volume is not attached"},
	{DetachLosesData, "ControllerUnpublishVolume takes the volume's content away"},
	{DetachLeaves, "ControllerUnpublishVolume succeeds and leaves the volume attached"},
	{TrustRecords, "after a reboot the node stages and publishes an empty directory: its records say that it is mounted"},
	{RecordsNotSynced, "the node does not sync its records of volumes, so that they are empty after a loss of power"},
	{StageLeaksMount, "NodeStageVolume mounts at a path of its own, too, and leaves that mount"},
	{PublishMakesFile, "NodePublishVolume puts a file at the target, and mounts nothing"},
	{PublishMakesFIFO, "NodePublishVolume puts a FIFO at the target, and mounts nothing"},
	{PublishMakesSymlink, "NodePublishVolume puts a symbolic link to the volume at the target, and mounts nothing"},
	{CallsOverlap, "calls for one volume are not kept apart, and NodePublishVolume mounts a while after it has looked"},
	{DeadlineKeepsLock, "a volume stays locked when the deadline of a call for it passes in the driver"},
	{BlockNotPublished, "block volumes are made, and NodePublishVolume refuses them"},
	{SnapshotReplaced, "a snapshot of a volume replaces the content of its earlier ones"},
	{CopyTrustsDirectory, "a volume that a killed driver had begun to copy is taken as it is"},
	{InlineRefusalLeavesMount, "an inline volume is refused for its attributes after it was mounted, and the mount stays"},
	{InlineSharesContent, "all inline volumes of a node show one directory"},
	{InlineForgottenOnRestart, "after a restart NodeUnpublishVolume does not know inline volumes any more"},
	{StagePanics, "NodeStageVolume panics"},
	{PublishExits, "NodePublishVolume ends the program with exit status 3 when it has mounted"},
	{StageHoardsMemory, "NodeStageVolume takes 64 MiB of memory each time, and keeps them"},
	{StartLeavesProcess, "the program starts a process when it starts, and leaves it running when it ends"},
	{UnpublishLeavesMount, "NodeUnpublishVolume succeeds and leaves the mount"},
	{UnpublishIgnoresErrors, "NodeUnpublishVolume succeeds when it could not unmount"},
	{UnpublishTrustsStat, "NodeUnpublishVolume takes a target for deleted if stat(2) fails, whatever the error is"},
	{UnpublishNeedsStat, "NodeUnpublishVolume fails if stat(2) of the target fails"},
	{UnpublishRemovesContent, "NodeUnpublishVolume removes the target with all that is in it, unmounted or not"},
	{LimitTooHigh, "NodeGetInfo allows one volume more than can be attached"},
	{DeviceRemembered, "NodePublishVolume takes the loop device that a block volume had when it was published first"},
	{DeviceRecorded, "after a restart NodePublishVolume takes the loop device that a block volume had before"},
	{UnpublishRemovesParent, "NodeUnpublishVolume removes the directory of the target, which is the kubelet's"},
	{ListOmitsNodes, "ListVolumes lists volumes without the nodes that they are attached to"},
	{DetachFromAll, "ControllerUnpublishVolume detaches a volume from all nodes"},
	{ReadOnlyForAll, "NodePublishVolume makes the staged volume read-only for a read-only request, and with it all later publications"},
	{MountFlagsIgnored, "NodePublishVolume mounts without the requested mount flags"},
	{SocketStays, "a driver that was killed does not start again, since its socket is there already"},
	{StartUnmounts, "the node service unmounts all its recorded mounts when it starts"},
	{ExpandLeavesDevice, "NodeExpandVolume reports the new size of a block volume and leaves its loop device as it is"},
	{ExpandSkipsNode, "ControllerExpandVolume says that the node has nothing to do"},
	{DeleteTakesSnapshots, "DeleteVolume deletes the snapshots of the volume, too"},
	{DeleteWipesCopies, "DeleteVolume takes the content of the volumes away that were made from it"},
	{ListIgnoresSource, "ListSnapshots lists the snapshots of all volumes when asked for those of one"},
	{PagesSkip, "each page of a list but the first leaves its first entry out"},
	{GetOmitsNodes, "ControllerGetVolume says nothing of the nodes that a volume is attached to"},
	{StatsRemembered, "NodeGetVolumeStats reports the size that a volume had when it was measured first"},
	{StatsOfNode, "NodeGetVolumeStats reports the file system in which the device node of a block volume lies"},
	{RequestsLogged, "the log has all requests, with their secrets"},
	{PublishLeavesFile, "NodePublishVolume opens a file and leaves it open"},
	{PublishLeavesZombie, "NodePublishVolume starts a program and does not wait for it"},
	{UnmountsLazily, "all unmounts are lazy, whether the mount is in use or not"},
	{MountGroupIgnored, "VOLUME_MOUNT_GROUP is offered, and NodePublishVolume ignores volume_mount_group"},
	{UnstageFailsOnce, "NodeUnstageVolume unmounts and answers Internal, so that it has to be called again"},
	{DeleteForgetsFirst, "DeleteVolume removes the record of a volume before its content, and a repeated call finds nothing to delete"},
	{DeleteTakesOrigin, "DeleteVolume deletes the content of the volume that this one was made from"},
	{DeleteTakesOwnSnapshot, "DeleteVolume deletes the snapshot that the volume was made from"},
	{RestoreConsumes, "a snapshot that has become a volume is empty"},
	{ExpandOnce, "ControllerExpandVolume refuses to make a volume larger a second time"},
	{ExpandRecordsFirst, "ControllerExpandVolume records the size of a block volume before its image has it, and trusts the record"},
	{StageClears, "NodeStageVolume takes a volume that it cannot mount for one without content, and clears it"},
	{ReadOnlySticks, "a volume that is published read-only first is published so ever after"},
	{StopUnmounts, "the node service unmounts all its recorded mounts when it stops"},
	{PublishIgnoresErrors, "NodePublishVolume succeeds when it could not mount"},
	{SizesCompared, "CreateVolume rounds sizes up to MiB, and a repeated call compares the requested size with the rounded one"},
	{CloneRemembered, "a second copy of a volume has the content of the first one"},
	{TopologyFirstRequisite, "CreateVolume places a volume by the first requisite term, whatever is preferred"},
	{PublishRaces, "NodePublishVolume counts its calls in a variable that two goroutines write without a lock"},
	{SecretInVolumeContext, "CreateVolume returns the secrets of its request in volume_context"},
	{SecretInPublishContext, "ControllerPublishVolume returns the secrets of its request in publish_context"},
	{TokensLogged, "the log has the volume_context of NodePublishVolume, with its service account tokens"},
	{RecordsInContainer, "the node records its volumes in /var/lib/hostdir of its container, and NodeUnpublishVolume and NodeUnstageVolume succeed when there is no record"},
	{UpgradeHandles, "this release gives volumes other ids, and does not find those of the old release"},
	{UpgradeNodeIDs, "this release gives nodes other ids"},
	{UpgradeTopology, "this release names the topology of nodes by other keys"},
	{UpgradeDropsStaging, "this release does not stage volumes, and does not unstage those of the old release"},
	{UpgradeForgetsRecords, "this release has its records elsewhere, and does not unmount a volume without a record"},
	{UpgradeRefusesState, "this release does not start if there are volumes of the old release"},
	{UpgradeStagingLayout, "this release stages volumes below the staging path, where the old release has staged nothing"},
	{UpgradeRewritesState, "this release writes the records of all volumes in a form that the old release cannot read"},
	{UpgradeDefaultFlags, "this release mounts with noatime, and refuses volumes that the old release has mounted without"},
	{UpgradeForgetsAttached, "the controller of this release starts with an empty attachment table"},
	{UpgradeUnmounts, "the node service of this release unmounts all mounts of the old release when it starts"},
	{DetachRefusesElsewhere, "ControllerUnpublishVolume fails when the volume is attached to other nodes only"},
	{UnstageForgives, "NodeUnstageVolume succeeds when it could not unmount a volume that was staged before the program started"},
	{CopyStaysSmall, "a block volume made from another one, or from a snapshot, is as small as that"},
	{ReclaimLosesData, "reclaiming space takes the volume's content away"},
	{FenceIgnored, "a node that is fenced stages and publishes volumes"},
	{DemotedStaysWritable, "a volume that is demoted is staged and published writable"},
	{FenceLeavesMounts, "mounts of a node stay writable when it is fenced"},
	{GroupDropsMember, "a new volume group lacks its first volume"},
	{RotateLosesData, "changing a volume's key deletes its content"},
}

// Set is the set of chosen defects. The empty set is a correct driver.
type Set map[Behaviour]bool

// Has reports whether the driver has the defect.
func (s Set) Has(b Behaviour) bool { return s[b] }

// Parse reads names separated by commas.
func Parse(names string) (Set, error) {
	set := Set{}
	for name := range strings.SplitSeq(names, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !known(Behaviour(name)) {
			return nil, fmt.Errorf("no broken behaviour %q; there are:\n%s", name, Help())
		}
		set[Behaviour(name)] = true
	}
	return set, nil
}

func known(b Behaviour) bool {
	for _, entry := range catalogue {
		if entry.name == b {
			return true
		}
	}
	return false
}

// Help lists every defect with its description, a line each.
func Help() string {
	var text strings.Builder
	for _, entry := range catalogue {
		fmt.Fprintf(&text, "  %-36s%s\n", entry.name, entry.what)
	}
	return text.String()
}
