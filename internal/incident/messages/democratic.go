package messages

// democratic-csi: bin/democratic-csi.
var _ = register(&Table{Program: "democratic-csi", Names: []string{"democratic-csi"}, IsDriver: true, Messages: []Message{
	{"democratic-csi", "new request - driver: {} method: {method} call: {request}", CallBegins},
	{"democratic-csi", "new response - driver: {} method: {method} response: {response}", CallAnswer},
	{"democratic-csi", "handler error - driver: {} method: {method} error: {error}", CallError},
	{"democratic-csi", "starting csi server - node version: {}, package version: {}, config file: {}, csi-name: {driver}, csi-driver: {}, csi-mode: {}, csi-version: {}, address: {}, socket: {}", ProgramStarted},
}})
