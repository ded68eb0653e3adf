package csiaddons

// class returns the common schema of CSI-Addons' classes: a driver and its parameters, both
// immutable. A-NF-6, A-VR-1, A-VGR-1
func class(group, name, plural, short, description string, required ...string) kind {
	spec := object("The class.", fields{
		"provisioner": immutable(text("The driver that the class belongs to."), "provisioner is immutable"),
		"parameters":  immutable(parameters("Parameters for the driver; keys with the prefix of the API group are for the controller."), "parameters are immutable"),
	}, "provisioner")
	spec = rule(spec, "has(self.parameters) == has(oldSelf.parameters)", "parameters are immutable")
	k := kind{
		group: group, name: name, plural: plural, short: short, cluster: true,
		schema: whole(description, spec, schema{Type: "object", Description: "Not used."}, required...),
	}
	if group == ReplicationGroup {
		k.columns = []column{{name: "provisioner", kind: "string", path: ".spec.provisioner"}, age}
	}
	return k
}

func networkFenceClass() kind {
	return class(Group, "NetworkFenceClass", "networkfenceclasses", "", "A NetworkFenceClass says how clients of a driver's storage are fenced.")
}

func volumeReplicationClass() kind {
	return class(ReplicationGroup, "VolumeReplicationClass", "volumereplicationclasses", "vrc",
		"A VolumeReplicationClass says how volumes of a driver are replicated.", "spec")
}

func groupReplicationClass() kind {
	return class(ReplicationGroup, "VolumeGroupReplicationClass", "volumegroupreplicationclasses", "vgrc",
		"A VolumeGroupReplicationClass says how volumes of a driver are grouped.")
}
