package csiaddons

// networkFence: A-NF-1
func networkFence() kind {
	secret := object("Deprecated: the secret for calls of the driver.", fields{
		"name":      immutable(text("The secret's name."), "name is immutable"),
		"namespace": immutable(text("The secret's namespace."), "namespace is immutable"),
	})
	spec := object("The fenced clients.", fields{
		"networkFenceClassName": immutable(text("The class, which names driver, secret and parameters."), "networkFenceClassName is immutable"),
		"driver":                immutable(text("Deprecated: the driver."), "driver is immutable"),
		"fenceState":            byDefault(choice("Whether the clients are kept off the storage.", "Fenced", "Unfenced"), "Fenced"),
		"cidrs":                 texts("The addresses of the clients."),
		"secret":                immutable(secret, "secret is immutable"),
		"parameters":            immutable(parameters("Deprecated: parameters for the driver."), "parameters are immutable"),
	}, "cidrs", "fenceState")
	spec = rule(spec, "has(self.driver) || has(self.networkFenceClassName)", "one of driver or networkFenceClassName must be present")
	spec = rule(spec, "has(self.networkFenceClassName) || has(self.secret)", "secret must be present when networkFenceClassName is not specified")
	status := object("The result.", fields{
		"result": text("Succeeded or Failed."), "message": text("A message for people."), "conditions": conditions(),
	})
	return kind{
		group: Group, name: "NetworkFence", plural: "networkfences", cluster: true,
		columns: []column{
			{name: "Driver", kind: "string", path: ".spec.driver"},
			{name: "Cidrs", kind: "string", path: ".spec.cidrs"},
			{name: "FenceState", kind: "string", path: ".spec.fenceState"}, age,
			{name: "Result", kind: "string", path: ".status.result"},
		},
		schema: whole("A NetworkFence keeps clients off a driver's storage.", spec, status, "spec"),
	}
}
