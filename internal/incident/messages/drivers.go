package messages

// csi-driver-host-path: pkg/hostpath.
var _ = register(&Table{Program: "csi-driver-host-path", Names: []string{"hostpath", "hostpathplugin", "csi-hostpathplugin"}, Driver: "hostpath.csi.k8s.io", IsDriver: true, Shared: []*Table{grpcCalls}, Messages: []Message{
	{"server.go", "gRPCCall: {call}", CallWhole},
	{"server.go", "Listening for connections on address: {}", ProgramStarted},
}})
