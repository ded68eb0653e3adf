//go:build linux

package defect

// all are the defects, in the order of the help.
var all = []*Defect{
	publishNotIdempotent, publishWrongVolumeAfterRestart, ignoreReadonly, readonlyTopOnly,
	readonlyByRemount, publishLeavesProcess, publishUnmountsOthers, unpublishNotFoundErrors,
	unpublishLeavesTargetDir, stageNotIdempotent, unstageLeavesMount, blockLeaksLoop,
	createLeavesDirectory, createNotIdempotent, deleteLeavesVolume, attachToManyNodes,
	forgetAttachmentsOnRestart, lostStateOnRestart, expandForgetsSize, snapshotRestoresEmpty,
	groupMixesVolumes, detachNotFoundErrors, detachDeletedErrors, detachLosesData, detachLeavesAttachment,
	stageTrustsRecords, recordsNotSynced, stageLeaksMount, publishMakesFile,
	publishMakesFifo, publishMakesSymlink, callsOverlap, deadlineKeepsLock,
	blockNotPublished, snapshotReplacesOthers, snapshotIgnoresSource, snapshotIgnoresErrors, copyTrustsDirectory, inlineRefusalLeavesMount,
	inlineSharesContent, inlineForgottenOnRestart, stagePanics, listPanics, publishExits,
	stageHoardsMemory, startLeavesProcess, unpublishLeavesMount, unpublishIgnoresErrors,
	unpublishTrustsStat, unpublishNeedsStat, unpublishRemovesContent, limitTooHigh,
	deviceRemembered, deviceRecorded, unpublishRemovesParent, listOmitsNodes,
	detachFromAllNodes, readonlyForAll, mountFlagsIgnored, mountFlagsPartly, socketStays,
	startUnmounts, expandLeavesDevice, expandSkipsNode, deleteTakesSnapshots,
	deleteWipesCopies, listIgnoresSource, pagesSkip, getOmitsNodes,
	statsRemembered, statsOfNode, requestsLogged, publishLeavesFile,
	publishLeavesZombie, unmountsLazily, mountGroupIgnored, unstageFailsOnce,
	deleteForgetsFirst, deleteTakesOrigin, deleteTakesOwnSnapshot, restoreConsumes,
	expandOnce, expandRecordsFirst, stageClears, readonlySticks,
	stopUnmounts, publishIgnoresErrors, sizesCompared, cloneRemembered,
	topologyFirstRequisite, publishRaces, secretInVolumeContext, secretInPublishContext,
	tokensLogged, recordsInContainer, upgradeChangesHandles, upgradeChangesNodeIds,
	upgradeChangesTopology, upgradeDropsStaging, upgradeForgetsRecords, upgradeRefusesState,
	upgradeChangesStaging, upgradeRewritesState, upgradeChangesFlags, upgradeForgetsAttachments,
	upgradeUnmounts, detachRefusesElsewhere, unstageForgivesAfterRestart, copyStaysSmall,
	reclaimLosesData, fenceIgnored, demotedStaysWritable, fenceLeavesMounts,
	groupDropsMember, rotateLosesData, copyLosesModes, copyLosesOwners, copyFollowsLinks,
	copyStopsEarly, expandShrinks, statsSwapped, listFailsForUnknown, listKeepsDeleted,
	listOmitsBlocks, unpublishComparesPaths, snapshotOfFirst, restoreIgnoresErrors, snapshotLeavesChecksums,
	statsOfRoot, copyRecordedSmall,
}
