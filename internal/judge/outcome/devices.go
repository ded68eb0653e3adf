package outcome

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
)

// volumeOfDriver is a volume of a driver.
type volumeOfDriver struct{ driver, id string }

// device holds the sizes of a volume and, if it is a raw block volume, its devices.
type device struct {
	made  int64            // its size in bytes at its creation
	from  int64            // the size of the volume that it was copied from; 0 if unknown
	asked int64            // the largest requested size, whatever the answer was
	bytes int64            // its minimum size at every place of its publication
	grown map[string]int64 // the minimum size on each node since the volume grew
	at    []deviceAt

	granted int64            // the largest answer to an expansion, whether its caller got it or not
	lowered bool             // an expansion required less than a previous one
	had     map[string]int64 // the largest device that was published on each node
}

// deviceAt is the place of a published device.
type deviceAt struct {
	node, path string
	machine    sized
}

// sized is a machine that can measure its block devices.
type sized interface {
	// DeviceBytes returns the size of a block device, and an error for other files.
	DeviceBytes(path string) (int64, error)
}

// checkDevice compares the sizes of block devices to the answers. The size of a file system is
// little evidence about its volume, because it may be any directory of a larger file system.
func (j *Judge) checkDevice(c Call) []verdict.Verdict {
	v := volumeOfDriver{c.Driver(), contract.VolumeOf(c.Request())}
	d := j.devices[v]
	switch r := c.Request().(type) {
	case *csi.CreateVolumeRequest:
		made, _ := c.Answer().(*csi.CreateVolumeResponse)
		bytes := cmp.Or(made.GetVolume().GetCapacityBytes(), contract.RequiredBytes(r))
		j.devices[volumeOfDriver{v.driver, made.GetVolume().GetVolumeId()}] = device{made: bytes, bytes: bytes, from: j.sizeOfSource(c, r)}
	case *csi.DeleteVolumeRequest:
		delete(j.devices, v)
	case *csi.NodePublishVolumeRequest:
		machine, sees := c.Machine().(sized)
		if r.GetVolumeCapability().GetBlock() == nil || !sees {
			return nil
		}
		at := deviceAt{c.Node(), r.GetTargetPath(), machine}
		if !slices.Contains(d.at, at) {
			d.at = append(slices.Clone(d.at), at)
			j.devices[v] = d
		}
		return append(j.checkSize(c, at, d.bytes), j.checkNotSmaller(c, at)...)
	case *csi.NodeUnpublishVolumeRequest:
		d.at = slices.DeleteFunc(slices.Clone(d.at), func(at deviceAt) bool { return at.node == c.Node() && at.path == r.GetTargetPath() })
		if _, known := j.devices[v]; known {
			j.devices[v] = d
		}
	case *csi.ControllerExpandVolumeRequest:
		answer, _ := c.Answer().(*csi.ControllerExpandVolumeResponse)
		if answer.GetNodeExpansionRequired() {
			return nil
		}
		d.bytes = max(d.bytes, answer.GetCapacityBytes())
		j.devices[v] = d
		for _, at := range d.at {
			if found := j.checkSize(c, at, d.bytes); found != nil {
				return found
			}
		}
	case *csi.NodeExpandVolumeRequest:
		answer, _ := c.Answer().(*csi.NodeExpandVolumeResponse)
		if _, known := j.devices[v]; known {
			d.grown = maps.Clone(d.grown)
			if d.grown == nil {
				d.grown = map[string]int64{}
			}
			d.grown[c.Node()] = max(d.grown[c.Node()], answer.GetCapacityBytes(), contract.RequiredBytes(r))
			j.devices[v] = d
		}
		if i := slices.IndexFunc(d.at, func(at deviceAt) bool { return at.node == c.Node() && at.path == r.GetVolumePath() }); i >= 0 {
			found := j.checkSize(c, d.at[i], max(answer.GetCapacityBytes(), contract.RequiredBytes(r)))
			return append(found, j.checkNotSmaller(c, d.at[i])...)
		}
	case *csi.NodeGetVolumeStatsRequest:
		return j.checkStats(c, d, r.GetVolumePath())
	}
	return nil
}

// sizeOfSource returns the size of the volume of which a new volume is a copy; 0 if there is none,
// or if it grew.
func (j *Judge) sizeOfSource(c Call, r *csi.CreateVolumeRequest) int64 {
	source := j.devices[volumeOfDriver{c.Driver(), r.GetVolumeContentSource().GetVolume().GetVolumeId()}]
	if source.asked > 0 {
		return 0
	}
	return source.made
}

// noteAsked records the requested size of an expansion.
func (j *Judge) noteAsked(c Call) {
	if _, grows := c.Request().(*csi.ControllerExpandVolumeRequest); grows {
		v := volumeOfDriver{c.Driver(), contract.VolumeOf(c.Request())}
		d := j.devices[v]
		required := contract.RequiredBytes(c.Request())
		d.lowered = d.lowered || required < d.asked
		d.asked = max(d.asked, required)
		j.devices[v] = d
	}
}

// NoteGranted records the capacity in a driver's answer to an expansion, even if its caller never
// receives the answer.
func (j *Judge) NoteGranted(c Call, answer proto.Message) {
	expanded, is := answer.(*csi.ControllerExpandVolumeResponse)
	if !is {
		return
	}
	v := volumeOfDriver{c.Driver(), contract.VolumeOf(c.Request())}
	d := j.devices[v]
	j.Note(c, contract.CheckGranted(c.Method(), expanded, d.granted))
	d.granted = max(d.granted, expanded.GetCapacityBytes())
	j.devices[v] = d
}

// checkStats checks the volume size that a node reports.
func (j *Judge) checkStats(c Call, d device, at string) []verdict.Verdict {
	answer, ok := c.Answer().(*csi.NodeGetVolumeStatsResponse)
	if !ok {
		return nil
	}
	known := contract.Sizes{Least: max(d.bytes, d.grown[c.Node()]), Asked: d.asked, Source: d.from}
	if known.Least > d.made {
		known.Before = d.made
	}
	if machine, sees := c.Machine().(sized); sees {
		if has, err := machine.DeviceBytes(at); err == nil {
			known.Device = has
		}
	}
	if machine, sees := c.Machine().(withFileSystems); sees && known.Device == 0 {
		known.FileSystem, known.Others = fileSystems(machine, at)
	}
	return j.Seen(c, contract.CheckStats(c.Method(), answer, known), "the total that is answered is the size of the volume")
}

// withFileSystems is a machine that can measure its file systems.
type withFileSystems interface {
	// FileSystemBytes returns the size of the file system in which a path lies.
	FileSystemBytes(path string) (int64, error)
}

// fileSystems returns the sizes of the file system at a path, and of those around it: the one in
// which the path itself lies, and the root's.
func fileSystems(m withFileSystems, at string) (here int64, others []int64) {
	here, err := m.FileSystemBytes(at)
	if err != nil {
		return 0, nil
	}
	for _, other := range []string{"/", path.Dir(at)} {
		if size, err := m.FileSystemBytes(other); err == nil {
			others = append(others, size)
		}
	}
	return here, others
}

// checkSize checks the size of a device. An unreadable device counts as correct.
func (j *Judge) checkSize(c Call, at deviceAt, least int64) []verdict.Verdict {
	has, err := at.machine.DeviceBytes(at.path)
	if err != nil {
		return nil
	}
	return j.Seen(c, contract.CheckDeviceSize(c.Method(), at.path, has, least), "the device that is published is as large as was answered")
}

// checkNotSmaller checks that a device is not smaller than it was in a container on the node. An
// expansion that required less is to blame.
func (j *Judge) checkNotSmaller(c Call, at deviceAt) []verdict.Verdict {
	has, err := at.machine.DeviceBytes(at.path)
	if err != nil {
		return nil
	}
	v := volumeOfDriver{c.Driver(), contract.VolumeOf(c.Request())}
	d, method := j.devices[v], c.Method()
	if d.lowered {
		method = "Controller/ControllerExpandVolume"
	}
	found := contract.CheckNotSmaller(method, at.path, has, d.had[at.node])
	d.had = maps.Clone(d.had)
	if d.had == nil {
		d.had = map[string]int64{}
	}
	d.had[at.node] = max(d.had[at.node], has)
	j.devices[v] = d
	return found
}
