package contract

import (
	"slices"
	"strings"
)

// callNeeds names the required capabilities of the controller or the node for each call that not
// every driver has. One of them is enough.
var callNeeds = map[string][]string{
	"Controller/CreateVolume":               {"CREATE_DELETE_VOLUME"},
	"Controller/DeleteVolume":               {"CREATE_DELETE_VOLUME"},
	"Controller/ControllerPublishVolume":    {"PUBLISH_UNPUBLISH_VOLUME"},
	"Controller/ControllerUnpublishVolume":  {"PUBLISH_UNPUBLISH_VOLUME"},
	"Controller/ListVolumes":                {"LIST_VOLUMES"},
	"Controller/ControllerGetVolume":        {"GET_VOLUME"},
	"Controller/ControllerGetVolumeHealth":  {"GET_VOLUME_HEALTH", "LIST_VOLUME_HEALTH"},
	"Controller/ControllerListVolumeHealth": {"LIST_VOLUME_HEALTH"},
	"Controller/ControllerModifyVolume":     {"MODIFY_VOLUME"},
	"Controller/GetCapacity":                {"GET_CAPACITY"},
	"Controller/CreateSnapshot":             {"CREATE_DELETE_SNAPSHOT"},
	"Controller/DeleteSnapshot":             {"CREATE_DELETE_SNAPSHOT"},
	"Controller/ListSnapshots":              {"LIST_SNAPSHOTS"},
	"Controller/GetSnapshot":                {"GET_SNAPSHOT"},
	"Controller/ControllerExpandVolume":     {"EXPAND_VOLUME"},
	groupCreate:                             {groupSnapshots},
	groupDelete:                             {groupSnapshots},
	groupGet:                                {groupSnapshots},
	"Node/NodeStageVolume":                  {"STAGE_UNSTAGE_VOLUME"},
	"Node/NodeUnstageVolume":                {"STAGE_UNSTAGE_VOLUME"},
	"Node/NodeGetVolumeStats":               {"GET_VOLUME_STATS"},
	"Node/NodeGetVolumeHealth":              {"GET_VOLUME_HEALTH"},
	"Node/NodeGetStorageHealth":             {"GET_STORAGE_HEALTH"},
	"Node/NodeExpandVolume":                 {"EXPAND_VOLUME"},
}

// unconditional are the calls that every driver with the service implements.
var unconditional = map[string]bool{
	"Identity/GetPluginInfo":                         true,
	"Identity/GetPluginCapabilities":                 true,
	"Identity/Probe":                                 true,
	"Controller/ControllerGetCapabilities":           true,
	"Controller/ValidateVolumeCapabilities":          true,
	"GroupController/GroupControllerGetCapabilities": true,
	"Node/NodeGetCapabilities":                       true,
	"Node/NodePublishVolume":                         true,
	"Node/NodeUnpublishVolume":                       true,
}

const onlyWith = "the CSI spec has the call only with the capability "

// callPromised: a call is made only if the driver has declared it.
func (f *findings) callPromised(caps Caps) {
	needs, declared := callNeeds[f.method], caps.of(f.method)
	switch {
	case declared == nil || len(needs) == 0:
	case !declared.any(needs):
		f.add("", onlyWith+strings.Join(needs, " or "), "is sent")
	case f.noting:
		f.keep("", onlyWith+strings.Join(needs, " or "))
	}
}

func mustImplement(method string, caps Caps) bool {
	if method == "Node/NodeGetInfo" {
		return caps.Controller.Has("PUBLISH_UNPUBLISH_VOLUME")
	}
	if strings.HasPrefix(method, "Controller/") && caps.Plugin.lacks("CONTROLLER_SERVICE") {
		return false
	}
	if strings.HasPrefix(method, groupService) && !caps.Plugin.Has("GROUP_CONTROLLER_SERVICE") {
		return false
	}
	return unconditional[method] || caps.of(method).any(callNeeds[method])
}

// of returns the set in which a call's required capabilities are declared.
func (c Caps) of(method string) Set {
	switch {
	case strings.HasPrefix(method, "Node/"):
		return c.Node
	case strings.HasPrefix(method, groupService):
		return c.Group
	}
	return c.Controller
}

func (s Set) any(capabilities []string) bool {
	return slices.ContainsFunc(capabilities, s.Has)
}
