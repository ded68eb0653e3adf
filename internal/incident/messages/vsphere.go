package messages

// vsphere-csi-driver: pkg/csi/service. Its lines have a TraceId that identifies the lines of one
// call. It prints no answer.
var _ = register(&Table{Program: "vsphere-csi-driver", Names: []string{"vsphere-csi-controller", "vsphere-csi-node"}, Driver: "csi.vsphere.vmware.com", IsDriver: true, IsSilent: true, Messages: []Message{
	{"controller.go", "{method}: called with args {request}", CallBegins},
	{"controller.go", "{method}: called with args: {request}", CallBegins},
	{"server.go", "Listening for connections on address: {}", ProgramStarted},
}})
