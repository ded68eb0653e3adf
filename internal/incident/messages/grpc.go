package messages

// Calls is the table of a program for which only calls are known.
var Calls = register(&Table{Program: "csi-driver", IsDriver: true, Shared: []*Table{grpcCalls}})

// grpcCalls are the messages of csi-lib-utils, which sidecars use, and of the drivers that print
// calls like it. v0.7 to v0.16 print four lines for each call; later releases print two lines with
// pairs.
var grpcCalls = register(&Table{Messages: []Message{
	{"grpc.go", "GRPC call: {method} requests {request}", CallBegins}, // of openebs
	{"connection.go", "GRPC call: {method}", CallBegins},
	{"connection.go", "GRPC request: {request}", CallRequest},
	{"connection.go", "GRPC response: {response}", CallAnswer},
	{"connection.go", "GRPC error: {error}", CallError},
	{"connection.go", "GRPC call", CallBegins},
	{"connection.go", "GRPC request", CallRequest},
	{"connection.go", "GRPC response", CallAnswer},
	{"connection.go", "GRPC error", CallError},
	{"connection.go", "Connecting to {path}", None},
	{"connection.go", "Connecting", None},
	{"connection.go", "Still connecting to {path}", ConnectionAwaits},
	{"connection.go", "Still connecting", ConnectionAwaits},
	{"connection.go", "Lost connection to {path}.", ConnectionLost},
	{"connection.go", "Lost connection", ConnectionLost},
	{"common.go", "Probing CSI driver for readiness", None},
	{"common.go", "CSI driver probe timed out", ConnectionAwaits},
	{"common.go", "CSI driver is not ready", ConnectionAwaits},
	{"leader_election.go", "became leader, starting", BecameLeader},
	{"leader_election.go", "stopped leading", LostLeader},
	{"leader_election.go", "Stopped leading", LostLeader},
	{"leader_election.go", "new leader detected, current leader: {leader}", None},
	{"leader_election.go", "New leader detected", None},
}})
