package messages

// volumeOperations are the messages of pkg/volume, which the kubelet and kube-controller-manager
// share.
var volumeOperations = register(&Table{Messages: []Message{
	{"nestedpendingoperations.go", `Operation for "{operation}" failed. No retries permitted until {until} (durationBeforeRetry {backoff}). Error: {inner}`, None},
	{"operation_generator.go", `AttachVolume.Attach succeeded for volume "{pv}" (UniqueName: "{unique}") from node "{node}"{}`, Attached},
	{"operation_generator.go", `AttachVolume.Attach succeeded for volume "{pv}"`, Attached},
	{"operation_generator.go", `AttachVolume.Attach failed for volume "{pv}" (UniqueName: "{unique}") from node "{node}" : {error}`, AttachFailed},
	{"operation_generator.go", `AttachVolume.Attach failed for volume "{pv}" : {error}`, AttachFailed},
	{"operation_generator.go", `AttachVolume.NewAttacher failed for volume "{pv}" (UniqueName: "{unique}") from node "{node}" : {error}`, AttachFailed},
	{"operation_generator.go", `AttachVolume.FindAttachablePluginBySpec failed for volume "{pv}" (UniqueName: "{unique}") from node "{node}" : {error}`, AttachFailed},
	{"operation_generator.go", `DetachVolume.Detach succeeded for volume "{pv}" (UniqueName: "{unique}") on node "{node}"{}`, Detached},
	{"operation_generator.go", `DetachVolume.Detach failed for volume "{pv}" (UniqueName: "{unique}") on node "{node}" : {error}`, DetachFailed},
	{"operation_generator.go", `Verified volume is safe to detach for volume "{pv}" (UniqueName: "{unique}") on node "{node}"{}`, None},
	{"operation_generator.go", `DetachVolume failed fetching node from API server for volume "{pv}" (UniqueName: "{unique}") on node "{node}" : {error}`, DetachFailed},
	{"csi_attacher.go", `attachment [{attachment}] for volume [{volume}] created successfully`, AttachStarted},
	{"csi_attacher.go", `attachment [{attachment}] for volume [{volume}] already exists (will not be recreated)`, None},
	{"csi_attacher.go", `attacher.Attach finished OK with VolumeAttachment object [{attachment}]`, None},
	{"csi_attacher.go", `attacher.WaitForAttach failed for volume [{volume}] (will continue to try): {error}`, AttachFailed},
	{"csi_attacher.go", `attachment for {volume} failed: {error}`, AttachFailed},
	{"csi_attacher.go", `detachment for VolumeAttachment for volume [{volume}] failed: {error}`, DetachFailed},
	{"csi_attacher.go", `detacher deleted ok VolumeAttachment.ID={attachment}`, DetachStarted},
	{"csi_attacher.go", `VolumeAttachment object [{attachment}] for volume [{volume}] not found, object deleted`, None},
	{"csi_attacher.go", `{operation} timeout after {timeout} [volume={volume}; attachment.ID={attachment}]`, AttachFailed},
	{"csi_attacher.go", `VolumeAttachment [{attachment}] has deletion timestamp, will not continue to wait for attachment`, None},
}})
