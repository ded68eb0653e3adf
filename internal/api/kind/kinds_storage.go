package store

import "github.com/csisim/csisim/internal/world/legacy"

func init() {
	group("storage.k8s.io", "v1",
		kind{name: "CSIDriver", traits: clusterScoped | conditional, rules: driverRules},
		kind{name: "CSINode", traits: clusterScoped | conditional, rules: csiNodeRules},
		kind{name: "CSIStorageCapacity", traits: conditional, rules: capacityRules},
		kind{name: "StorageClass", traits: clusterScoped, rules: classRules},
		kind{name: "VolumeAttachment", traits: clusterScoped | withStatus | conditional, rules: attachmentRules},
		kind{name: "VolumeAttributesClass", traits: clusterScoped, rules: attributesClassRules},
	)
	// After the kinds above: "csidrivers" without a group are those. L-OBJ-1, L-OBJ-2
	group(legacy.GroupVersion.Group, legacy.GroupVersion.Version,
		kind{name: "CSIDriver", traits: ofDefinition | clusterScoped, fresh: func() Object { return &legacy.CSIDriver{} }},
		kind{name: "CSINodeInfo", traits: ofDefinition | clusterScoped, rules: csiNodeInfoRules, fresh: func() Object { return &legacy.CSINodeInfo{} }},
	)
}
