package contract

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"

	"github.com/container-storage-interface/spec/lib/go/csi"
)

// shownFlags are the mount flags that every file system and bind mount supports, and that the mount
// itself shows.
var shownFlags = []string{"nodev", "noexec", "nosuid"}

// ShowsFlags reports whether the mount that NodePublishVolume makes must show flags of the request.
func ShowsFlags(request *csi.NodePublishVolumeRequest) bool { return len(flagsToShow(request)) > 0 }

func flagsToShow(request *csi.NodePublishVolumeRequest) (wanted []string) {
	for _, flag := range request.GetVolumeCapability().GetMount().GetMountFlags() {
		if slices.Contains(shownFlags, flag) {
			wanted = append(wanted, flag)
		}
	}
	return wanted
}

// CheckFlags compares the options of the mount at the target path, after an OK of
// NodePublishVolume, to the mount flags of the request. The CSI spec only permits the use of these
// flags, so the verdict is a remark.
func CheckFlags(method string, request *csi.NodePublishVolumeRequest, options []string) []verdict.Verdict {
	missing := slices.DeleteFunc(flagsToShow(request), func(flag string) bool { return slices.Contains(options, flag) })
	if len(missing) == 0 {
		return nil
	}
	remark := Broken(method, ignoresFlags, verdict.Say("the mount at %s, seen from the node, is without %s", request.GetTargetPath(), verdict.Kept(strings.Join(missing, " and "))))
	remark.Remark = true
	return []verdict.Verdict{remark}
}
