package messages

// longhorn-manager: csi.
var _ = register(&Table{Program: "longhorn-csi-plugin", Names: []string{"longhorn-csi-plugin"}, Driver: "driver.longhorn.io", IsDriver: true, Messages: []Message{
	{"server.go", "{method}: req: {request} err: {error}", CallError},
	{"server.go", "{method}: req: {request}", CallBegins},
	{"server.go", "{method}: rsp: {response}", CallAnswer},
	{"server.go", "{method}: err: {error}", CallError},
	{"server.go", "GRPC call: {method} request: {request}", CallBegins}, // before v1.4
	{"server.go", "GRPC response: {response}", CallAnswer},
	{"server.go", "GRPC error: {error}", CallError},
	{"server.go", "Listening for connections on address: {}", ProgramStarted},
}})
