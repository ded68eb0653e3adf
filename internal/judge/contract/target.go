package contract

import (
	"io/fs"

	"github.com/csisim/csisim/internal/judge/verdict"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/world/filetype"
)

// CheckTarget checks the target path against the CSI spec after an OK of NodePublishVolume. The
// driver must place the mounted directory, or the block device, at target_path. The argument "is"
// describes the path itself, not the target of a symbolic link.
func CheckTarget(method string, request *csi.NodePublishVolumeRequest, is fs.FileMode) []verdict.Verdict {
	var wrong verdict.Form
	switch {
	case request.GetVolumeCapability().GetMount() != nil && !is.IsDir():
		wrong = publishesNoDirectory
	case request.GetVolumeCapability().GetBlock() != nil && (is.IsDir() || is&(fs.ModeNamedPipe|fs.ModeSocket) != 0):
		wrong = publishesNoDevice
	}
	if wrong == "" {
		return nil
	}
	return broken(method, wrong, "%s lies at %s", verdict.Kept(filetype.Of(is)), request.GetTargetPath())
}
