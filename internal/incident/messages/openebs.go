package messages

// zfs-localpv and lvm-localpv: pkg/driver.
var (
	_ = register(&Table{Program: "zfs-localpv", Names: []string{"openebs-zfs-plugin", "openebs-zfs-localpv"}, Driver: "zfs.csi.openebs.io", IsDriver: true, Shared: []*Table{localPV, grpcCalls}, Messages: []Message{
		{"controller.go", "zfs: trying volume creation {} on node {}", None},
	}})
	_ = register(&Table{Program: "lvm-localpv", Names: []string{"openebs-lvm-plugin", "openebs-lvm-localpv"}, Driver: "local.csi.openebs.io", IsDriver: true, Shared: []*Table{localPV, grpcCalls}, Messages: []Message{
		{"controller.go", "scheduling the volume {} on node {}", None},
	}})
	localPV = register(&Table{Messages: []Message{
		{"controller.go", "received request to delete volume {}", None},
		{"agent.go", "hostpath: volume {volume} path: {path} has been unmounted.", None},
		{"grpc.go", "Listening for connections on address: {}", ProgramStarted},
	}})
)

// jiva-operator: pkg/driver. Requests and answers have no quotes.
var _ = register(&Table{Program: "jiva-csi", Names: []string{"jiva-csi-plugin", "openebs-jiva-csi"}, Driver: "jiva.csi.openebs.io", IsDriver: true, Messages: []Message{
	{"grpc.go", "Req {id}: {method} {request}", CallBegins},
	{"grpc.go", "Resp {id}: {response}", CallAnswer},
	{"grpc.go", "GRPC error: {error}", CallError},
	{"grpc.go", "Listening for connections on address: {}", ProgramStarted},
}})

// mayastor-control-plane: control-plane/csi-driver. Since release 2.8, the plugins print the
// beginning and most successful ends of their calls. The error of a call is in the span that names
// the call.
var mayastorCalls = register(&Table{Messages: []Message{
	{"trace.rs", "[ CSI ] {method} Request started", CallBegins},
	{"trace.rs", "[ CSI ] {method} Request completed successfully after {took}", CallAnswer},
}})

var _ = register(&Table{Program: "mayastor-csi-node", Names: []string{"mayastor-csi", "openebs-csi-node"}, Driver: "io.openebs.csi-mayastor", IsDriver: true, IsSilent: true, Shared: []*Table{mayastorCalls}, Messages: []Message{
	{"node.rs", "Failed to stage volume {volume}: {error}", StageFailed},
	{"node.rs", "Failed to publish volume {volume}: {error}", PublishFailed},
	{"node.rs", "Failed to unpublish volume {volume}: {error}", UnpublishFailed},
	{"node.rs", "Failed to unstage volume {volume}: {error}", UnstageFailed},
	{"filesystem_vol.rs", "Volume {volume} staged to {path}", Staged},
	{"filesystem_vol.rs", "Volume {volume} published to {path}", Published},
	{"filesystem_vol.rs", "Volume {volume} unpublished from {path}", Unpublished},
	{"node.rs", "Volume {volume} unstaged", Unstaged},
	{"node.rs", `{method}: error: status: {code}, message: "{error}", details: {details}`, CallError},
}})

var _ = register(&Table{Program: "mayastor-csi-controller", Names: []string{"openebs-csi-controller"}, Driver: "io.openebs.csi-mayastor", IsDriver: true, IsSilent: true, Shared: []*Table{mayastorCalls}, Messages: []Message{
	{"controller.rs", `create_volume: error: status: {code}, message: "{error}", details: {details}`, ProvisionFailed},
	{"controller.rs", `delete_volume: error: status: {code}, message: "{error}", details: {details}`, DeleteFailed},
	{"controller.rs", `controller_publish_volume: error: status: {code}, message: "{error}", details: {details}`, AttachFailed},
	{"controller.rs", `controller_unpublish_volume: error: status: {code}, message: "{error}", details: {details}`, DetachFailed},
	{"controller.rs", `controller_expand_volume: error: status: {code}, message: "{error}", details: {details}`, ResizeFailed},
}})
