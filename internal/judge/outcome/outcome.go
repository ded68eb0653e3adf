package outcome

import (
	"fmt"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/machine"
)

// Outcome returns the visible outcome of the call so far.
func (j *Judge) Outcome(c Call, err error) contract.Outcome {
	o := contract.Outcome{Err: err, Answer: proto.Clone(c.Answer())}
	if c.Node() != "" && strings.HasPrefix(c.Method(), "Node/") {
		o.Mounts = Mounts(c)
		o.Writable, o.Within = canWrite(c)
	} else if strings.HasPrefix(c.FullMethod(), "/csi.v1.") {
		// CSI-Addons may have a separate socket.
		o.Volumes = j.volumesOfRequest(c)
	}
	return o
}

// Mounts lists the mounts at, and below, the request's paths.
func Mounts(c Call) []string {
	mounts, err := c.Machine().Mounts()
	if err != nil {
		return nil // mounts that cannot be observed are not compared
	}
	var found []string
	paths := contract.PathsOf(c.Request())
	slices.Reverse(paths) // the target path first: a mount there may also appear at its source
	for _, place := range paths {
		for _, m := range mounts {
			if m.Target == place || strings.HasPrefix(m.Target, place+"/") {
				found = append(found, fmt.Sprintf("of %s at %s", m.Root, m.Target))
			}
		}
	}
	return found
}

// canWrite tries to write to a file system that is published read-only: at its target path, and in
// the view of a container that mounts it read-only.
func canWrite(c Call) (there bool, within string) {
	r, ok := c.Request().(*csi.NodePublishVolumeRequest)
	if !ok || !r.GetReadonly() || r.GetVolumeCapability().GetMount() == nil {
		return false, ""
	}
	mounts, err := c.Machine().Mounts()
	if err != nil {
		return false, ""
	}
	target := r.GetTargetPath()
	places := []string{target}
	for _, m := range mounts {
		if strings.HasPrefix(m.Target, target+"/") {
			places = append(places, m.Target)
		}
	}
	if within = machine.WritesReadOnly(c.Machine(), target, places); within != "" {
		return true, within
	}
	if slices.ContainsFunc(mounts, func(m machine.Mount) bool { return m.Target == target && m.ReadOnly }) {
		return false, ""
	}
	return machine.CanWrite(c.Machine(), target), ""
}

// volumesOfRequest lists the volume of the request and the nodes to which it is published, if the
// driver promises to list these. For CreateVolume it lists all volumes, because the call can create
// a second one. It is empty if the driver cannot list.
func (j *Judge) volumesOfRequest(c Call) []contract.Listed {
	caps := j.CapsOf(c.Driver()).Controller
	if !caps.Has("LIST_VOLUMES") {
		return nil
	}
	_, creates := c.Answer().(*csi.CreateVolumeResponse)
	var found []contract.Listed
	var listed []*csi.ListVolumesResponse_Entry
	if err := c.AwaitNodes(func() (err error) { listed, err = volumes(c, 0); return err }); err != nil {
		return nil
	}
	for _, entry := range listed {
		if id := entry.GetVolume().GetVolumeId(); creates || id == contract.VolumeOf(c.Request()) {
			l := contract.Listed{ID: id, Bytes: entry.GetVolume().GetCapacityBytes()}
			if caps.Has("LIST_VOLUMES_PUBLISHED_NODES") {
				l.Nodes = strings.Join(slices.Sorted(slices.Values(entry.GetStatus().GetPublishedNodeIds())), " ")
			}
			found = append(found, l)
		}
	}
	slices.SortFunc(found, func(a, b contract.Listed) int { return strings.Compare(a.ID, b.ID) })
	return found
}
