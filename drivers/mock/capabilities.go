package mock

import "github.com/container-storage-interface/spec/lib/go/csi"

// The values of VOLUME_CONDITION. CSI 1.13 removed the capability.
const (
	controllerVolumeCondition = csi.ControllerServiceCapability_RPC_Type(11)
	nodeVolumeCondition       = csi.NodeServiceCapability_RPC_Type(4)
)

func (d *Driver) pluginCapabilities() []*csi.PluginCapability {
	list := []*csi.PluginCapability{service(csi.PluginCapability_Service_CONTROLLER_SERVICE)}
	if d.options.Topology {
		list = append(list, service(csi.PluginCapability_Service_VOLUME_ACCESSIBILITY_CONSTRAINTS))
	}
	if d.options.GroupSnapshot {
		list = append(list, service(csi.PluginCapability_Service_GROUP_CONTROLLER_SERVICE))
	}
	switch {
	case d.options.OfflineExpand:
		list = append(list, expansion(csi.PluginCapability_VolumeExpansion_OFFLINE))
	case d.options.ControllerExpand || d.options.NodeExpand:
		list = append(list, expansion(csi.PluginCapability_VolumeExpansion_ONLINE))
	}
	return list
}

func service(t csi.PluginCapability_Service_Type) *csi.PluginCapability {
	return &csi.PluginCapability{Type: &csi.PluginCapability_Service_{
		Service: &csi.PluginCapability_Service{Type: t}}}
}

func expansion(t csi.PluginCapability_VolumeExpansion_Type) *csi.PluginCapability {
	return &csi.PluginCapability{Type: &csi.PluginCapability_VolumeExpansion_{
		VolumeExpansion: &csi.PluginCapability_VolumeExpansion{Type: t}}}
}

func controllerCapabilities(o Options, promisesTooMuch bool) []*csi.ControllerServiceCapability {
	var list []*csi.ControllerServiceCapability
	for _, c := range []struct {
		on   bool
		kind csi.ControllerServiceCapability_RPC_Type
	}{
		{o.createDeleteVolume(), csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME},
		{o.ControllerExpand, csi.ControllerServiceCapability_RPC_EXPAND_VOLUME},
		{o.attach(), csi.ControllerServiceCapability_RPC_PUBLISH_UNPUBLISH_VOLUME},
		{o.publishReadonly(), csi.ControllerServiceCapability_RPC_PUBLISH_READONLY},
		{o.singleNodeMultiWriter(), csi.ControllerServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER},
		{o.Snapshot, csi.ControllerServiceCapability_RPC_CREATE_DELETE_SNAPSHOT},
		{o.ListSnapshots, csi.ControllerServiceCapability_RPC_LIST_SNAPSHOTS},
		{o.GetSnapshot, csi.ControllerServiceCapability_RPC_GET_SNAPSHOT},
		{o.Clone, csi.ControllerServiceCapability_RPC_CLONE_VOLUME},
		{o.ListVolumes, csi.ControllerServiceCapability_RPC_LIST_VOLUMES},
		{o.ListVolumesPublishedNodes, csi.ControllerServiceCapability_RPC_LIST_VOLUMES_PUBLISHED_NODES},
		{o.GetVolume, csi.ControllerServiceCapability_RPC_GET_VOLUME},
		{o.GetCapacity || promisesTooMuch, csi.ControllerServiceCapability_RPC_GET_CAPACITY},
		{o.ModifyVolume, csi.ControllerServiceCapability_RPC_MODIFY_VOLUME},
		{o.VolumeCondition, controllerVolumeCondition},
		{o.VolumeHealth, csi.ControllerServiceCapability_RPC_GET_VOLUME_HEALTH},
		{o.VolumeHealth, csi.ControllerServiceCapability_RPC_LIST_VOLUME_HEALTH},
	} {
		if c.on {
			list = append(list, &csi.ControllerServiceCapability{Type: &csi.ControllerServiceCapability_Rpc{
				Rpc: &csi.ControllerServiceCapability_RPC{Type: c.kind}}})
		}
	}
	return list
}

// nodeCapabilities returns the node capabilities, which are queried before every call to a node.
func nodeCapabilities(o Options) []*csi.NodeServiceCapability {
	var list []*csi.NodeServiceCapability
	for _, c := range []struct {
		on   bool
		kind csi.NodeServiceCapability_RPC_Type
	}{
		{o.NodeExpand, csi.NodeServiceCapability_RPC_EXPAND_VOLUME},
		{o.Stats, csi.NodeServiceCapability_RPC_GET_VOLUME_STATS},
		{o.stage(), csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME},
		{o.singleNodeMultiWriter(), csi.NodeServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER},
		{o.VolumeMountGroup, csi.NodeServiceCapability_RPC_VOLUME_MOUNT_GROUP},
		{o.VolumeCondition, nodeVolumeCondition},
		{o.VolumeHealth, csi.NodeServiceCapability_RPC_GET_VOLUME_HEALTH},
	} {
		if c.on {
			list = append(list, &csi.NodeServiceCapability{Type: &csi.NodeServiceCapability_Rpc{
				Rpc: &csi.NodeServiceCapability_RPC{Type: c.kind}}})
		}
	}
	return list
}
