package messages

// gcp-compute-persistent-disk-csi-driver: pkg/gce-pd-csi-driver.
var _ = register(&Table{Program: "gcp-compute-persistent-disk-csi-driver", Names: []string{"gce-pd-driver", "csi-gce-pd"}, Driver: "pd.csi.storage.gke.io", IsDriver: true, Messages: []Message{
	{"utils.go", "{method} called with request: {request}", CallBegins},
	{"utils.go", "{method} returned with response: {response}", CallAnswer},
	{"utils.go", "{method} returned with error: {error}", CallError},
	{"server.go", "Listening for connections on address: {}", ProgramStarted},
	{"server.go", "Start listening with scheme {}, addr {}", ProgramStarted},
}})
