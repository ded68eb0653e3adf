package messages

// The attach/detach controller and the PV controller run in kube-controller-manager:
// pkg/controller/volume of Kubernetes 1.20 to 1.36.
var _ = register(&Table{Program: "kube-controller-manager", Names: []string{"kube-controller-manager"}, Shared: []*Table{volumeOperations, pvController}, Messages: []Message{
	{"reconciler.go", "attacherDetacher.AttachVolume started", AttachStarted},
	{"reconciler.go", `attacherDetacher.AttachVolume started for volume "{pv}" (UniqueName: "{unique}") from node "{node}"{}`, AttachStarted},
	{"reconciler.go", "attacherDetacher.AttachVolume failed to start", AttachFailed},
	{"reconciler.go", "attacherDetacher.DetachVolume started", DetachStarted},
	{"reconciler.go", `attacherDetacher.DetachVolume started for volume "{pv}" (UniqueName: "{unique}") on node "{node}"{}`, DetachStarted},
	{"reconciler.go", "attacherDetacher.DetachVolume started: this volume is not safe to detach, but maxWaitForUnmountDuration expired, force detaching", DetachForced},
	{"reconciler.go", `attacherDetacher.DetachVolume started for volume "{pv}" (UniqueName: "{unique}") on node "{node}" This volume is not safe to detach, but maxWaitForUnmountDuration {} expired, force detaching`, DetachForced},
	{"reconciler.go", "attacherDetacher.DetachVolume started: node has out-of-service taint, force detaching", DetachForced},
	{"reconciler.go", "attacherDetacher.DetachVolume failed to start", DetachFailed},
	{"reconciler.go", "Cannot detach volume because it is still mounted", DetachWaits},
	{"reconciler.go", `Cannot detach volume because it is still mounted for volume "{pv}" (UniqueName: "{unique}") on node "{node}"{}`, DetachWaits},
	{"reconciler.go", "Multi-Attach error: volume is already exclusively attached and can't be attached to another node", MultiAttach},
	{"reconciler.go", "Multi-Attach error: volume is already used by pods", MultiAttach},
	{"reconciler.go", `Multi-Attach error for volume "{pv}" (UniqueName: "{unique}") from node "{node}" Volume is already exclusively attached to node {attachedTo} and can't be attached to another`, MultiAttach},
	{"reconciler.go", `Multi-Attach error for volume "{pv}" (UniqueName: "{unique}") from node "{node}" Volume is already used by pods {pods} on node {attachedTo}`, MultiAttach},
	{"reconciler.go", `Multi-Attach error for volume "{pv}" Volume is already {error}`, MultiAttach},
	{"attach_detach_controller.go", "Starting attach detach controller", ProgramStarted},
	{"attach_detach_controller.go", "Shutting down attach detach controller", ProgramEnded},
	{"node_status_updater.go", "Updating status for node succeeded", None},
	{"node_status_updater.go", "Could not update node status; re-marking for update", None},
	{"leaderelection.go", "successfully acquired lease {}", BecameLeader},
	{"leaderelection.go", "Successfully acquired lease", BecameLeader},
	{"controllermanager.go", "leaderelection lost", LostLeader},
	{"controllermanager.go", "leaderelection lost/stopped", LostLeader},
}})
