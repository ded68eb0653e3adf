package messages

// cloud-provider-openstack: pkg/csi/cinder and pkg/csi/manila. Its messages begin with "[ID:12] ",
// the number of a call. Calls that Manila forwards to another driver are left out.
var _ = register(&Table{Program: "cinder-csi-plugin", Names: []string{"cinder-csi-plugin", "openstack-cinder-csi"}, Driver: "cinder.csi.openstack.org", IsDriver: true, Shared: []*Table{grpcCalls}, Messages: []Message{
	{"server.go", "Listening for connections on address: {}", ProgramStarted},
}})

var _ = register(&Table{Program: "manila-csi-plugin", Names: []string{"manila-csi-plugin", "manila-nodeplugin", "manila-provisioner"}, IsDriver: true, Shared: []*Table{grpcCalls}, Messages: []Message{
	{"builder.go", "FWD GRPC call: {}", None},
	{"builder.go", "FWD GRPC request: {}", None},
	{"builder.go", "FWD GRPC response: {}", None},
	{"builder.go", "FWD GRPC error: {error}", None},
}})
