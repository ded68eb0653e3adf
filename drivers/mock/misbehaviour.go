package mock

import "slices"

// Misbehaviour is a promise of the CSI spec that the driver can break (Options.Faulty).
type Misbehaviour struct {
	Name    string // the word in Options.Faulty
	Summary string // the defect of the driver
	Breaks  string // the section of the CSI spec that it breaks
}

const (
	answersWrongName            = "answers-wrong-name"
	neverReady                  = "never-ready"
	promisesTooMuch             = "promises-too-much"
	createReturnsNoID           = "create-returns-no-id"
	createNotIdempotent         = "create-not-idempotent"
	cloneNotIdempotent          = "clone-not-idempotent"
	createDropsSource           = "create-drops-source"
	wrongCapacity               = "wrong-capacity"
	forgetNamesOnRestart        = "forget-names-on-restart"
	expandTooLittle             = "expand-too-little"
	expandNotIdempotent         = "expand-not-idempotent"
	deleteLeaks                 = "delete-leaks"
	deleteWhilePublished        = "delete-while-published"
	deleteNotIdempotent         = "delete-not-idempotent"
	attachNotIdempotent         = "attach-not-idempotent"
	attachesTwice               = "attaches-twice"
	detachLeaks                 = "detach-leaks"
	detachTakesAll              = "detach-takes-all"
	detachNotIdempotent         = "detach-not-idempotent"
	forgetAttachmentOnRestart   = "forget-attachment-on-restart"
	listRepeatsVolume           = "list-repeats-volume"
	listIgnoresMaxEntries       = "list-ignores-max-entries"
	listNeverEnds               = "list-never-ends"
	snapshotWithoutTime         = "snapshot-without-time"
	snapshotNotIdempotent       = "snapshot-not-idempotent"
	snapshotDeleteNotIdempotent = "snapshot-delete-not-idempotent"
	snapshotsShareID            = "snapshots-share-id"
	groupLacksVolume            = "group-lacks-volume"
	groupNotIdempotent          = "group-not-idempotent"
	groupDeleteLeaks            = "group-delete-leaks"
	nodeGetInfoEmptyID          = "node-get-info-empty-id"
	nodeIDChanges               = "node-id-changes"
	stageNeedsNoAttach          = "stage-needs-no-attach"
	stageNotIdempotent          = "stage-not-idempotent"
	stageKeepsLock              = "stage-keeps-lock"
	deadlineKeepsLock           = "deadline-keeps-lock"
	stageMountsNothing          = "stage-mounts-nothing"
	unstageLeaks                = "unstage-leaks"
	unstageNotIdempotent        = "unstage-not-idempotent"
	unstageTakesOthers          = "unstage-takes-others"
	unstageWhilePublished       = "unstage-while-published"
	publishNeedsNoStage         = "publish-needs-no-stage"
	publishNotIdempotent        = "publish-not-idempotent"
	publishStacksMounts         = "publish-stacks-mounts"
	publishMountsNothing        = "publish-mounts-nothing"
	publishesDevice             = "publishes-device"
	publishIgnoresReadonly      = "publish-ignores-readonly"
	publishIgnoresAccessMode    = "publish-ignores-access-mode"
	unpublishLeaks              = "unpublish-leaks"
	unpublishNotIdempotent      = "unpublish-not-idempotent"
	forgetPublicationsOnRestart = "forget-publications-on-restart"
	statsNegative               = "stats-negative"
	demotedStaysWritable        = "demoted-stays-writable"
	promotesSecondPrimary       = "promotes-second-primary"
	replicationCopiesNothing    = "replication-copies-nothing"
	fenceIgnored                = "fence-ignored"
	unfenceLeavesFence          = "unfence-leaves-fence"
	groupDropsMember            = "group-drops-member"
	servesDeletedVolumes        = "serves-deleted-volumes"
	rotatesOnce                 = "rotates-once"
	messageShowsSecret          = "message-shows-secret"
	servesUnknownVolumes        = "serves-unknown-volumes"
	fenceNotIdempotent          = "fence-not-idempotent"
	forgetFencesOnRestart       = "forget-fences-on-restart"
	promisesFencing             = "promises-fencing"
)

var misbehaviours = []Misbehaviour{
	{answersWrongName, "the plugin name is not a domain name", "GetPluginInfo"},
	{neverReady, "Probe says for ever that the plugin is not ready", "Probe"},
	{promisesTooMuch, "GET_CAPACITY is promised, yet the call is not implemented", "ControllerGetCapabilities"},
	{createReturnsNoID, "the new volume has no id", "CreateVolume"},
	{createNotIdempotent, "a repeated call makes a second volume", "CreateVolume"},
	{cloneNotIdempotent, "a repeated call for a volume with a source makes a second volume", "CreateVolume"},
	{createDropsSource, "the answer does not name the snapshot or volume that it was made from", "CreateVolume"},
	{wrongCapacity, "the new volume is half as big as required", "CreateVolume"},
	{forgetNamesOnRestart, "a restart of the controller loses the names of all volumes", "CreateVolume"},
	{expandTooLittle, "the volume is reported one byte smaller than required", "ControllerExpandVolume"},
	{expandNotIdempotent, "expanding a volume to the size that it has is an error", "ControllerExpandVolume"},
	{deleteLeaks, "deletion succeeds, the volume stays", "DeleteVolume"},
	{deleteWhilePublished, "a volume in use is deleted", "DeleteVolume"},
	{deleteNotIdempotent, "deleting a deleted volume is an error", "DeleteVolume"},
	{attachNotIdempotent, "a repeated attach is an error", "ControllerPublishVolume"},
	{attachesTwice, "a single-node volume is attached to several nodes", "ControllerPublishVolume"},
	{detachLeaks, "detach succeeds, the volume stays attached", "ControllerUnpublishVolume"},
	{detachTakesAll, "detaching from a node on which the volume is not attached detaches it from all others", "ControllerUnpublishVolume"},
	{detachNotIdempotent, "detaching a volume that is not attached is an error", "ControllerUnpublishVolume"},
	{forgetAttachmentOnRestart, "a restart of the controller loses all attachments", "ControllerPublishVolume"},
	{listRepeatsVolume, "the first volume of a page is listed twice", "ListVolumes"},
	{listIgnoresMaxEntries, "all entries come on one page", "ListVolumes"},
	{listNeverEnds, "the last page names a page that was there already", "ListVolumes"},
	{snapshotWithoutTime, "the snapshot has no creation time", "CreateSnapshot"},
	{snapshotNotIdempotent, "a repeated call makes a second snapshot", "CreateSnapshot"},
	{snapshotDeleteNotIdempotent, "deleting a deleted snapshot is an error", "DeleteSnapshot"},
	{snapshotsShareID, "all snapshots of a volume are one", "CreateSnapshot"},
	{groupLacksVolume, "the first volume of a group has no snapshot", "CreateVolumeGroupSnapshot"},
	{groupNotIdempotent, "a repeated call makes a second group of snapshots", "CreateVolumeGroupSnapshot"},
	{groupDeleteLeaks, "deletion of a group succeeds, its snapshots stay", "DeleteVolumeGroupSnapshot"},
	{nodeGetInfoEmptyID, "the node has no id", "NodeGetInfo"},
	{nodeIDChanges, "from the second time on the node gives an id by which the controller does not know it", "NodeGetInfo"},
	{stageNeedsNoAttach, "a volume is staged on a node that it is not attached to", "NodeStageVolume"},
	{stageNotIdempotent, "a repeated stage is an error", "NodeStageVolume"},
	{stageKeepsLock, "after a repeated stage the volume stays locked: other calls are answered with ABORTED", "NodeStageVolume"},
	{deadlineKeepsLock, "when the deadline of a stage passes in the driver the volume stays locked", "NodeStageVolume"},
	{stageMountsNothing, "stage succeeds without a mount", "NodeStageVolume"},
	{unstageLeaks, "unstage succeeds, the mount stays", "NodeUnstageVolume"},
	{unstageNotIdempotent, "unstaging a volume that is not staged is an error", "NodeUnstageVolume"},
	{unstageTakesOthers, "unstaging a volume that is not staged removes its mounts on the other nodes", "NodeUnstageVolume"},
	{unstageWhilePublished, "a volume is unstaged under a pod that uses it", "NodeUnstageVolume"},
	{publishNeedsNoStage, "a volume is published that was not staged", "NodePublishVolume"},
	{publishNotIdempotent, "a repeated publish is an error", "NodePublishVolume"},
	{publishStacksMounts, "a repeated publish mounts once more", "NodePublishVolume"},
	{publishMountsNothing, "publish succeeds without a mount", "NodePublishVolume"},
	{publishesDevice, "a file system volume is published as a device file", "NodePublishVolume"},
	{publishIgnoresReadonly, "a read-only publish is writable", "NodePublishVolume"},
	{publishIgnoresAccessMode, "a single-writer volume is published to several targets", "NodePublishVolume"},
	{unpublishLeaks, "unpublish succeeds, the mount stays", "NodeUnpublishVolume"},
	{unpublishNotIdempotent, "unpublishing a volume that is not published is an error", "NodeUnpublishVolume"},
	{forgetPublicationsOnRestart, "a restart of the node plugin forgets staged and published volumes", "NodeUnpublishVolume"},
	{statsNegative, "the available bytes are negative", "NodeGetVolumeStats"},
	{demotedStaysWritable, "a volume that is demoted is staged and published writable", "CSI-Addons DemoteVolume"},
	{promotesSecondPrimary, "a volume is promoted while the other site is primary", "CSI-Addons PromoteVolume"},
	{replicationCopiesNothing, "the copy stays as it was when replication began", "CSI-Addons DemoteVolume, ResyncVolume"},
	{fenceIgnored, "a node that is fenced stages and publishes volumes", "CSI-Addons FenceClusterNetwork"},
	{unfenceLeavesFence, "unfencing succeeds, the addresses stay fenced", "CSI-Addons UnfenceClusterNetwork"},
	{groupDropsMember, "the first volume of a group is not in the answers", "CSI-Addons CreateVolumeGroup"},
	{servesDeletedVolumes, "space is reclaimed, and keys are changed, of volumes that were deleted", "CSI-Addons ControllerReclaimSpace"},
	{rotatesOnce, "changing a key a second time is an error", "CSI-Addons EncryptionKeyRotate"},
	{servesUnknownVolumes, "space is reclaimed, and replication enabled, of volumes that never were there", "CSI-Addons ControllerReclaimSpace, EnableVolumeReplication"},
	{fenceNotIdempotent, "fencing fenced addresses is an error", "CSI-Addons FenceClusterNetwork"},
	{forgetFencesOnRestart, "a restart of the controller lifts all fences", "CSI-Addons FenceClusterNetwork"},
	{promisesFencing, "NETWORK_FENCE is promised, and fencing is not implemented", "CSI-Addons GetCapabilities"},
	{messageShowsSecret, "the message of an error shows the request's secrets", "CSI-Addons FenceClusterNetwork"},
}

// Misbehaviours lists the values of Options.Faulty.
func Misbehaviours() []Misbehaviour { return slices.Clone(misbehaviours) }

func misbehaviour(name string) (Misbehaviour, bool) {
	i := slices.IndexFunc(misbehaviours, func(m Misbehaviour) bool { return m.Name == name })
	if i < 0 {
		return Misbehaviour{}, false
	}
	return misbehaviours[i], true
}
