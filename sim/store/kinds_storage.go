package store

func init() {
	group("storage.k8s.io", "v1",
		kind{name: "CSIDriver", traits: clusterScoped | conditional, rules: driverRules},
		kind{name: "CSINode", traits: clusterScoped | conditional, rules: csiNodeRules},
		kind{name: "CSIStorageCapacity", traits: conditional, rules: capacityRules},
		kind{name: "StorageClass", traits: clusterScoped, rules: classRules},
		kind{name: "VolumeAttachment", traits: clusterScoped | withStatus | conditional, rules: attachmentRules},
		kind{name: "VolumeAttributesClass", traits: clusterScoped, rules: attributesClassRules},
	)
}
