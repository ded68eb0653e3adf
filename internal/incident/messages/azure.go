package messages

// azuredisk-csi-driver and azurefile-csi-driver: pkg/csi-common. They do not print empty answers.
var _ = register(&Table{Program: "azuredisk-csi-driver", Names: []string{"azuredisk", "csi-azuredisk"}, Driver: "disk.csi.azure.com", IsDriver: true, IsSilent: true, Shared: []*Table{azureCalls}})

var _ = register(&Table{Program: "azurefile-csi-driver", Names: []string{"azurefile", "csi-azurefile"}, Driver: "file.csi.azure.com", IsDriver: true, IsSilent: true, Shared: []*Table{azureCalls}})

var azureCalls = register(&Table{Messages: []Message{
	{"utils.go", "GRPC call: {method}", CallBegins},
	{"utils.go", "GRPC request: {request}", CallRequest},
	{"utils.go", "GRPC response: {response}", CallAnswer},
	{"utils.go", "GRPC error: {error}", CallError},
}})
