package contract

import (
	"slices"
	"strconv"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// GroupOf returns the group for which NodePublishVolume mounts a volume. It is false without a
// group, or for a read-only volume. It is also false if the mount flags name a group, because a
// driver may prefer that group.
func GroupOf(request *csi.NodePublishVolumeRequest) (gid uint32, ok bool) {
	mount := request.GetVolumeCapability().GetMount()
	id, err := strconv.ParseUint(mount.GetVolumeMountGroup(), 10, 32)
	return uint32(id), err == nil && !request.GetReadonly() && !slices.ContainsFunc(mount.GetMountFlags(), namesGroup)
}

// namesGroup reports whether a mount flag sets a group, such as gid=1000, also in a list of
// options.
func namesGroup(flag string) bool {
	return slices.ContainsFunc(strings.Split(flag, ","), func(option string) bool { return strings.HasPrefix(option, "gid=") })
}

// CheckMountGroup checks the published directory against volume_mount_group, after an OK of
// NodePublishVolume. The directory must belong to the group, or the mount must have the option gid.
// The kubelet does not change the ownership for a driver with VOLUME_MOUNT_GROUP. If neither holds,
// containers that run as another user cannot write. K-FSG-1
func CheckMountGroup(method string, request *csi.NodePublishVolumeRequest, owner uint32, options []string) []verdict.Verdict {
	gid, wanted := GroupOf(request)
	if !wanted || owner == gid || slices.Contains(options, "gid="+strconv.FormatUint(uint64(gid), 10)) {
		return nil
	}
	return broken(method, ignoresGroup, "%s belongs to group %d, asked for was %d", request.GetTargetPath(), owner, gid)
}
