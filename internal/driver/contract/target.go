package contract

import (
	"io/fs"

	"github.com/container-storage-interface/spec/lib/go/csi"
)

// CheckTarget holds what lies at the target path after NodePublishVolume was answered with OK
// against the CSI spec: the driver places the mounted directory, or the block device,
// at target_path. is describes the path itself, not what a symbolic link leads to.
func CheckTarget(method string, request *csi.NodePublishVolumeRequest, is fs.FileMode) []Violation {
	wrong := ""
	switch {
	case request.GetVolumeCapability().GetMount() != nil && !is.IsDir():
		wrong = "publishes no directory"
	case request.GetVolumeCapability().GetBlock() != nil && (is.IsDir() || is&(fs.ModeNamedPipe|fs.ModeSocket) != 0):
		wrong = "publishes no block device"
	}
	if wrong == "" {
		return nil
	}
	return []Violation{{Method: method, Rule: wrong, Detail: fileType(is) + " lies at " + request.GetTargetPath()}}
}

// fileType is the kind of a file in words.
func fileType(is fs.FileMode) string {
	switch {
	case is.IsDir():
		return "a directory"
	case is&fs.ModeSymlink != 0:
		return "a symbolic link"
	case is&fs.ModeNamedPipe != 0:
		return "a FIFO"
	case is&fs.ModeSocket != 0:
		return "a socket"
	case is&fs.ModeDevice != 0:
		return "a device"
	}
	return "a file"
}
