package csiaddons

// node returns the kind of a driver's registered sidecar. A-NODE-1
func node() kind {
	spec := object("The sidecar's registration.", fields{
		"driver": object("The driver beside which the sidecar runs, and where it serves.", fields{
			"name":     immutable(text("The driver's name."), "name is immutable"),
			"endpoint": text("Where the sidecar serves: pod://<pod>.<namespace>:<port>."),
			"nodeID":   immutable(text("The node that the sidecar runs on."), "nodeID is immutable"),
		}, "endpoint", "name", "nodeID"),
	}, "driver")
	client := object("", fields{
		"id":    text("The id of the client in the storage system."),
		"cidrs": texts("The addresses from which it reaches the storage system."),
	}, "cidrs", "id")
	status := object("The result of the controller's connection.", fields{
		"state":        text("Connected, Retrying or Failed."),
		"message":      text("A message for people."),
		"reason":       text("Why it is not Connected."),
		"capabilities": texts("The driver's capabilities."),
		"networkFenceClientStatus": list("The clients on the node that can be fenced, by class.", object("", fields{
			"networkFenceClassName": text("The class with the parameters of the call."),
			"ClientDetails":         list("The clients.", client),
		}, "ClientDetails", "networkFenceClassName")),
	})
	return kind{
		group: Group, name: "CSIAddonsNode", plural: "csiaddonsnodes",
		columns: []column{
			{name: "namespace", kind: "string", path: ".metadata.namespace"}, age,
			{name: "DriverName", kind: "string", path: ".spec.driver.name"},
			{name: "Endpoint", kind: "string", path: ".spec.driver.endpoint"},
			{name: "NodeID", kind: "string", path: ".spec.driver.nodeID"},
		},
		schema: whole("A CSIAddonsNode is a sidecar of a driver that the controller connects to.", spec, status, "spec"),
	}
}
