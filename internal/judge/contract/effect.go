package contract

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// CheckEffect checks the visible effect after a call's OK against the request.
func CheckEffect(method string, request proto.Message, seen Outcome) []verdict.Verdict {
	found := func(form verdict.Form, format string, args ...any) []verdict.Verdict {
		return broken(method, form, format, args...)
	}
	switch r := request.(type) {
	case *csi.DeleteVolumeRequest:
		if slices.ContainsFunc(seen.Volumes, func(l Listed) bool { return l.ID == r.GetVolumeId() }) {
			return found(NoEffect, "volume %s is still listed", r.GetVolumeId())
		}
	case *csi.ControllerUnpublishVolumeRequest:
		for _, l := range seen.Volumes {
			if l.ID == r.GetVolumeId() && slices.Contains(strings.Fields(l.Nodes), r.GetNodeId()) {
				return found(NoEffect, "volume %s is still listed as published to %s", l.ID, r.GetNodeId())
			}
		}
	case *csi.ControllerExpandVolumeRequest:
		answer, _ := seen.Answer.(*csi.ControllerExpandVolumeResponse)
		for _, l := range seen.Volumes {
			if l.ID == r.GetVolumeId() && l.Bytes > 0 && l.Bytes < answer.GetCapacityBytes() {
				return found(NoEffect, "volume %s is listed with %d bytes, answered were %d", l.ID, l.Bytes, answer.GetCapacityBytes())
			}
		}
	case *csi.NodeUnpublishVolumeRequest, *csi.NodeUnstageVolumeRequest:
		if n := len(seen.Mounts); n > 0 {
			mounted := found(NoEffect, "%d mounted still: %s", n, verdict.Quoted(seen.Mounts[n-1]))
			mounted[0].Found = seen.Mounts
			return mounted
		}
		if seen.Left != "" {
			return found(LeavesTarget, "%s is there still", seen.Left)
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

// CheckDetached checks the answer of a call that attaches a volume, after it was attached read-only
// and detached. CSI "ControllerPublishVolume": ALREADY_EXISTS means that the volume is published at
// the node with another readonly flag.
func CheckDetached(r *csi.ControllerUnpublishVolumeRequest, err error) []verdict.Verdict {
	if status.Code(err) != codes.AlreadyExists {
		return nil
	}
	return broken("Controller/ControllerUnpublishVolume", NoEffect, "volume %s is attached to node %s read-only still: AlreadyExists for an attachment without readonly", r.GetVolumeId(), r.GetNodeId())
}

// CheckDetachOfDeleted checks the answer of a call that detaches a volume after its deletion. CSI
// "ControllerUnpublishVolume": if the volume is not found, the plugin should answer OK.
func CheckDetachOfDeleted(request *csi.ControllerUnpublishVolumeRequest, err error) []verdict.Verdict {
	code := status.Code(err)
	if code != codes.NotFound && code != codes.Internal && code != codes.Unknown {
		return nil
	}
	remark := Broken("Controller/ControllerUnpublishVolume", refusesDeleted, verdict.Say("%s for volume %s", verdict.Kept(code.String()), request.GetVolumeId()))
	remark.Remark = true
	return []verdict.Verdict{remark}
}

// RemovesOthers returns the verdict that a call has removed a directory that the kubelet had made.
func RemovesOthers(method, dir string) verdict.Verdict {
	return Broken(method, removesOthers, verdict.Say("%s is gone, in which the kubelet keeps what it knows of the volume", dir))
}

// MountsNothing returns the verdict on a call that answers OK without a mount at its path, although
// other calls of its method mount there.
func MountsNothing(method, path string) verdict.Verdict {
	return Broken(method, NoEffect, verdict.Say("nothing is mounted at %s", path))
}

// DetachedWithMount returns the verdict on a call that had to remove a mount. It answered OK, and
// the mount still exists after the volume was detached.
func DetachedWithMount(method, mount string) verdict.Verdict {
	return Broken(method, LeavesMount, verdict.Say("%s was still mounted when the volume was detached from the node", mount))
}

// UnmountsLazily returns the verdict on a call that answers OK although the path that it has
// unmounted is still in use.
func UnmountsLazily(method, path string) verdict.Verdict {
	return Broken(method, unmountsLazily, verdict.Say(
		"%s was in use: whoever has a file open there writes to the volume still, which may be attached elsewhere by then", path))
}

// CheckContradiction checks the answer to a call that contradicts an earlier call, which was
// answered OK. The CSI spec requires an error.
func CheckContradiction(method string, err error, contradiction string) []verdict.Verdict {
	if err != nil {
		return nil
	}
	return broken(method, acceptsContradiction, "%s", verdict.Quoted(contradiction))
}

// MayBeOnManyNodes reports whether a volume with this use may be published to several nodes.
func MayBeOnManyNodes(c *csi.VolumeCapability) bool {
	return strings.HasPrefix(c.GetAccessMode().GetMode().String(), "MULTI_NODE")
}

// CheckDeviceSize checks a block device after the OK that published it. It compares its size to the
// answered or required size in bytes.
func CheckDeviceSize(method, path string, has, least int64) []verdict.Verdict {
	if has >= least {
		return nil
	}
	return broken(method, leavesDeviceSmall, "%s has %d bytes, answered or required were %d", path, has, least)
}

// CheckNotSmaller compares the size of a block device to the largest size that a container had
// there.
func CheckNotSmaller(method, path string, has, had int64) []verdict.Verdict {
	if has >= had {
		return nil
	}
	return broken(method, MakesSmaller, "%s has %d bytes, a container had %d there", path, has, had)
}

// CheckGranted compares the capacity in the answer to an expansion to the driver's largest previous
// answer for the volume. CSI "ControllerExpandVolume": a volume that is larger than required keeps
// its size, and the answer is its capacity. After a failed expansion a claim may request less.
// csi-resizer then requires less, and accepts every sufficient answer.
func CheckGranted(method string, answer *csi.ControllerExpandVolumeResponse, granted int64) []verdict.Verdict {
	if answer.GetCapacityBytes() >= granted {
		return nil
	}
	f := findings{method: method, of: answer}
	f.add("capacity_bytes", string(AnswersLess), "is %d of a volume that has %d by an earlier answer", answer.GetCapacityBytes(), granted)
	f.list[0].Remark = true
	return f.list
}
