package messages

// aws-ebs-csi-driver: pkg/driver. It prints the request and the error of a call, but no answer.
var _ = register(&Table{Program: "aws-ebs-csi-driver", Names: []string{"ebs-plugin", "ebs-csi-node", "ebs-csi-controller"}, Driver: "ebs.csi.aws.com", IsDriver: true, IsSilent: true, Messages: []Message{
	{"node.go", "{method}: called", CallBegins},
	{"controller.go", "{method}: called with args {request}", CallBegins}, // before v1.19
	{"driver.go", "GRPC error", CallError},
	{"driver.go", "GRPC error: {error}", CallError},
	{"node.go", "NodeStageVolume: volume operation finished", CallAnswer},
	{"node.go", "NodeUnStageVolume: volume operation finished", CallAnswer},
	{"node.go", "NodePublishVolume: volume operation finished", CallAnswer},
	{"node.go", "NodeUnpublishVolume: volume operation finished", CallAnswer},
	{"node.go", "NodeExpandVolume: volume operation finished", CallAnswer},
	{"driver.go", "Driver Information", ProgramStarted},
	{"driver.go", "Listening for connections", ProgramStarted},
}})
