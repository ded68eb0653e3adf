package messages

// ceph-csi: internal/csi-common and internal/util. Its messages begin with "ID: 12 Req-ID: name ",
// in which the first number identifies a call.
var _ = register(&Table{Program: "ceph-csi", Names: []string{"csi-rbdplugin", "csi-cephfsplugin", "csi-nfsplugin"}, IsDriver: true, Shared: []*Table{grpcCalls}, Messages: []Message{
	{"utils.go", "GRPC call: {method}", CallBegins},
	{"utils.go", "Slow GRPC call {method} ({backoff})", CallRunning},
	{"utils.go", "Slow GRPC request: {request}", None},
	{"idlocker.go", "an operation with the given Volume ID {volume} already exists", CallRunning},
	{"idlocker.go", "an operation with the given Snapshot ID {snapshot} already exists", CallRunning},
	{"server.go", "Listening for connections on address: {}", ProgramStarted},
	{"cephcsi.go", "Driver version: {} and Git version: {}", ProgramStarted},
}})
