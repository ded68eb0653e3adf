package messages

// csi-attacher: pkg/controller of external-attacher v3 and v4.
var _ = register(&Table{Program: "csi-attacher", Names: []string{"csi-attacher", "attacher", "external-attacher"}, Shared: []*Table{grpcCalls}, Messages: []Message{
	{"csi_handler.go", "Attaching", AttachStarted},
	{"csi_handler.go", `Attaching "{attachment}"`, AttachStarted},
	{"csi_handler.go", "Attached", Attached},
	{"csi_handler.go", `Attached "{attachment}"`, Attached},
	{"csi_handler.go", "Detaching", DetachStarted},
	{"csi_handler.go", `Detaching "{attachment}"`, DetachStarted},
	{"csi_handler.go", "Detached", Detached},
	{"csi_handler.go", `Detached "{attachment}"`, Detached},
	{"csi_handler.go", "Error processing", AttachFailed},
	{"csi_handler.go", `Error processing "{attachment}": {error}`, AttachFailed},
	{"csi_handler.go", "Failed to save attach error to VolumeAttachment", None},
	{"csi_handler.go", "Failed to save detach error to VolumeAttachment", None},
	{"csi_handler.go", "CSIHandler: processing VolumeAttachment", None},
	{"csi_handler.go", "CSIHandler: processing PersistentVolume: VolumeAttachment was found", None},
	{"csi_handler.go", "Removed finalizer from PersistentVolume", None},
	{"csi_handler.go", "Reconciling VolumeAttachments with driver backend state", None},
	{"controller.go", "Starting CSI attacher", ProgramStarted},
	{"controller.go", "Shutting CSI attacher", ProgramEnded},
	{"trivial_handler.go", "Marked VolumeAttachment as attached", Attached},
	{"trivial_handler.go", "Marked VolumeAttachment {attachment} as attached", Attached},
	{"main.go", "Received SIGTERM or SIGINT signal, shutting down controller.", ProgramEnded},
}})

// csi-resizer: pkg/controller of external-resizer v1 and v2.
var _ = register(&Table{Program: "csi-resizer", Names: []string{"csi-resizer", "resizer", "external-resizer"}, Shared: []*Table{grpcCalls}, Messages: []Message{
	{"controller.go", "Starting external resizer", ProgramStarted},
	{"controller.go", "Starting external resizer {}", ProgramStarted},
	{"controller.go", "Shutting down external resizer", ProgramEnded},
	{"controller.go", "Error syncing PVC", ResizeFailed},
	{"controller.go", "Resize volume succeeded start to update PV's capacity", Resized},
	{"controller.go", "Resize PVC finished", Resized},
	{"controller.go", "Mark PVC as file system resize required", None},
	{"controller.go", "Started PVC processing for resize controller", None},
	{"controller.go", "No need to resize PVC", None},
	{"expand_and_recover.go", "Resize volume succeeded, start to update PV's capacity", Resized},
}})

// node-driver-registrar: cmd/csi-node-driver-registrar.
var _ = register(&Table{Program: "node-driver-registrar", Names: []string{"node-driver-registrar", "driver-registrar", "csi-node-driver-registrar", "csi-driver-registrar", "registrar"}, Shared: []*Table{grpcCalls}, Messages: []Message{
	{"node_register.go", "Starting Registration Server", ProgramStarted},
	{"node_register.go", "Starting Registration Server at: {path}", ProgramStarted},
	{"node_register.go", "Registration Server started", None},
	{"node_register.go", "Registration Server started at: {path}", None},
	{"node_register.go", "Registration Server stopped serving", RegisterFailed},
	{"main.go", "Received GetInfo call", None},
	{"main.go", "Received GetInfo call: {}", None},
	{"main.go", "Received NotifyRegistrationStatus call", Registered},
	{"main.go", "Received NotifyRegistrationStatus call: &RegistrationStatus{}PluginRegistered:false,Error:{error}", RegisterFailed},
	{"main.go", "Received NotifyRegistrationStatus call: {status}", Registered},
	{"main.go", "Registration process failed with error, restarting registration container", RegisterFailed},
	{"main.go", "Registration process failed with error: {error}, restarting registration container.", RegisterFailed},
	{"main.go", "Error connecting to CSI driver", ConnectionAwaits},
	{"main.go", "Error retreiving CSI driver name", RegisterFailed},
	{"main.go", "CSI driver name", None},
	{"main.go", `CSI driver name: "{driver}"`, None},
}})
