package contract

import (
	"path"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/world/volume"
)

func (f *findings) nodeRequest(req proto.Message, caps Caps) {
	switch r := req.(type) {
	case *csi.NodeStageVolumeRequest:
		f.required("volume_id", r.GetVolumeId() != "")
		f.absolute("staging_target_path", r.GetStagingTargetPath(), true)
		f.nodeCapability("volume_capability", r.GetVolumeCapability(), caps)
		f.promised("publish_context", len(r.GetPublishContext()) > 0, caps.Controller, "PUBLISH_UNPUBLISH_VOLUME")
	case *csi.NodeUnstageVolumeRequest:
		f.required("volume_id", r.GetVolumeId() != "")
		f.absolute("staging_target_path", r.GetStagingTargetPath(), true)
	case *csi.NodePublishVolumeRequest:
		f.publishRequest(r, caps)
	case *csi.NodeUnpublishVolumeRequest:
		f.required("volume_id", r.GetVolumeId() != "")
		f.absolute("target_path", r.GetTargetPath(), true)
	case *csi.NodeGetVolumeStatsRequest:
		f.required("volume_id", r.GetVolumeId() != "")
		f.absolute("volume_path", r.GetVolumePath(), true)
		f.staging(r.GetStagingTargetPath(), caps)
	case *csi.NodeGetVolumeHealthRequest:
		f.required("volume_id", r.GetVolumeId() != "")
		f.absolute("volume_publish_path", r.GetVolumePublishPath(), false)
		f.staging(r.GetStagingTargetPath(), caps)
	case *csi.NodeExpandVolumeRequest:
		f.required("volume_id", r.GetVolumeId() != "")
		f.absolute("volume_path", r.GetVolumePath(), true)
		// K-EXP-8: the kubelet sends it although the driver does not stage.
		f.absolute("staging_target_path", r.GetStagingTargetPath(), false)
		f.capacityRange(r.GetCapacityRange())
		if r.GetVolumeCapability() != nil {
			f.nodeCapability("volume_capability", r.GetVolumeCapability(), caps)
		}
	}
}

// inline is the key by which Kubernetes marks a volume with the lifetime of its pod, if the driver
// requires podInfoOnMount. Such a volume is published without being staged. K-PUB-4
const inline = "csi.storage.k8s.io/ephemeral"

func isInline(r *csi.NodePublishVolumeRequest) bool {
	return r.GetVolumeContext()[inline] == "true" || volume.IsInlineHandle(r.GetVolumeId())
}

// CSI "NodePublishVolume".
func (f *findings) publishRequest(r *csi.NodePublishVolumeRequest, caps Caps) {
	f.required("volume_id", r.GetVolumeId() != "")
	f.absolute("target_path", r.GetTargetPath(), true)
	f.nodeCapability("volume_capability", r.GetVolumeCapability(), caps)
	f.promised("publish_context", len(r.GetPublishContext()) > 0, caps.Controller, "PUBLISH_UNPUBLISH_VOLUME")
	f.absolute("staging_target_path", r.GetStagingTargetPath(), false)
	if caps.Node.Has("STAGE_UNSTAGE_VOLUME") && r.GetStagingTargetPath() == "" && !isInline(r) {
		f.required("staging_target_path", false)
	}
}

// staging: the path is empty unless the driver stages.
func (f *findings) staging(value string, caps Caps) {
	f.absolute("staging_target_path", value, false)
	f.promised("staging_target_path", value != "", caps.Node, "STAGE_UNSTAGE_VOLUME")
}

func (f *findings) nodeCapability(field string, c *csi.VolumeCapability, caps Caps) {
	f.capability(field, c, caps.Node)
	f.promised(field+".mount.volume_mount_group", c.GetMount().GetVolumeMountGroup() != "", caps.Node, "VOLUME_MOUNT_GROUP")
}

const wantsAbsolute = "the CSI spec wants an absolute path"

func (f *findings) absolute(field, value string, required bool) {
	switch {
	case value == "" && required:
		f.required(field, false)
	case value != "" && !path.IsAbs(value):
		f.add(field, wantsAbsolute, "is %q", value)
	case value != "":
		f.keep(field, wantsAbsolute)
		if required {
			f.keep(field, RequiresIt)
		}
	}
}
