package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
)

// CheckEffect holds what can be seen after a call's OK against what the call asked
// for.
func CheckEffect(method string, request proto.Message, seen Outcome) []Violation {
	found := func(rule, detail string, args ...any) []Violation {
		return []Violation{{Method: method, Rule: rule, Detail: fmt.Sprintf(detail, args...)}}
	}
	switch r := request.(type) {
	case *csi.DeleteVolumeRequest:
		if slices.ContainsFunc(seen.Volumes, func(l Listed) bool { return l.ID == r.GetVolumeId() }) {
			return found(noEffect, "volume %s is still listed", r.GetVolumeId())
		}
	case *csi.ControllerUnpublishVolumeRequest:
		for _, l := range seen.Volumes {
			if l.ID == r.GetVolumeId() && slices.Contains(strings.Fields(l.Nodes), r.GetNodeId()) {
				return found(noEffect, "volume %s is still listed as published to %s", l.ID, r.GetNodeId())
			}
		}
	case *csi.ControllerExpandVolumeRequest:
		answer, _ := seen.Answer.(*csi.ControllerExpandVolumeResponse)
		for _, l := range seen.Volumes {
			if l.ID == r.GetVolumeId() && l.Bytes > 0 && l.Bytes < answer.GetCapacityBytes() {
				return found(noEffect, "volume %s is listed with %d bytes, answered were %d", l.ID, l.Bytes, answer.GetCapacityBytes())
			}
		}
	case *csi.NodeUnpublishVolumeRequest, *csi.NodeUnstageVolumeRequest:
		if n := len(seen.Mounts); n > 0 {
			return found(noEffect, "%d mounted still: %s", n, seen.Mounts[n-1])
		}
		if seen.Left != "" {
			return found(leavesTarget, "%s is there still", seen.Left)
		}
	case *csi.NodePublishVolumeRequest:
		if seen.Within != "" {
			return found(ignoresReadonly, "a container that has the volume read-only can write in %s", seen.Within)
		}
		if seen.Writable {
			remark := found(ignoresReadonly, "files can be made in %s, seen from the node; no container can, since its own mount is made read-only", r.GetTargetPath())
			remark[0].Remark = true
			return remark
		}
	}
	return nil
}

// RemovesOthers is that a call has removed a directory that the kubelet had made.
func RemovesOthers(method, dir string) Violation {
	return Violation{Method: method, Rule: removesOthers, Detail: dir + " is gone, in which the kubelet keeps what it knows of the volume"}
}

// UnmountsLazily is that a call answers OK although something uses what it has unmounted.
func UnmountsLazily(method, path string) Violation {
	return Violation{Method: method, Rule: unmountsLazily, Detail: path + " was in use: whoever has a file open there writes to the volume still, which may be attached elsewhere by then"}
}

const (
	unmountsLazily    = "unmounts lazily"
	removesOthers     = "removes what the driver has not made"
	noEffect          = "has no effect"
	leavesTarget      = "leaves what it has to delete"
	ignoresReadonly   = "ignores readonly"
	leavesDeviceSmall = "leaves a device too small"
)

// CheckContradiction holds the answer to a call that contradicts one which has just
// been answered OK against the CSI spec, which wants it to be refused.
func CheckContradiction(method string, err error, contradiction string) []Violation {
	if err != nil {
		return nil
	}
	return []Violation{{Method: method, Rule: "accepts a contradiction", Detail: contradiction}}
}

// MayBeOnManyNodes says whether a volume that is used so may be published to several
// nodes.
func MayBeOnManyNodes(c *csi.VolumeCapability) bool {
	return strings.HasPrefix(c.GetAccessMode().GetMode().String(), "MULTI_NODE")
}

// CheckDeviceSize holds a block device, as it is published after a call's OK, against the bytes that were answered or required.
func CheckDeviceSize(method, path string, has, least int64) []Violation {
	if has >= least {
		return nil
	}
	return []Violation{{Method: method, Rule: leavesDeviceSmall, Detail: fmt.Sprintf("%s has %d bytes, answered or required were %d", path, has, least)}}
}
