package wire

import (
	"path"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/kernel"
)

// matter returns the part of its driver that a call reads or changes. Calls with the same matter
// are never in progress at once, unless the fault Overlap requires it. Otherwise the real clock
// would decide which call a driver refuses with ABORTED, or carries out first.
func (c *call) matter() kernel.Matter {
	of := c.site.Machine.Name() + " " + c.site.Socket
	if c.watch != nil || c.Service() != nil && fault.HasEffect(path.Base(c.method)) {
		return kernel.Matter{Of: of}
	}
	switch c.request.(type) {
	case *csi.ListVolumesRequest, *csi.ListSnapshotsRequest, *csi.GetCapacityRequest:
		return kernel.Matter{Of: of}
	}
	if things := thingsOf(c.request); len(things) > 0 {
		return kernel.Matter{Of: of, Parts: things}
	}
	return kernel.Matter{}
}

// thingsOf returns the names and ids of the volumes and snapshots in a request.
func thingsOf(request proto.Message) (things []string) {
	add := func(some ...string) {
		for _, thing := range some {
			if thing != "" {
				things = append(things, thing)
			}
		}
	}
	add(contract.VolumeOf(request))
	if r, ok := request.(interface{ GetSourceVolumeId() string }); ok {
		add(r.GetSourceVolumeId())
	}
	if r, ok := request.(interface{ GetSourceVolumeIds() []string }); ok {
		add(r.GetSourceVolumeIds()...)
	}
	if r, ok := request.(interface{ GetSnapshotId() string }); ok {
		add(r.GetSnapshotId())
	}
	if r, ok := request.(interface{ GetGroupSnapshotId() string }); ok {
		add(r.GetGroupSnapshotId())
	}
	if r, ok := request.(interface{ GetSnapshotIds() []string }); ok {
		add(r.GetSnapshotIds()...)
	}
	if r, ok := request.(*csi.CreateVolumeRequest); ok {
		add(r.GetVolumeContentSource().GetVolume().GetVolumeId(), r.GetVolumeContentSource().GetSnapshot().GetSnapshotId())
	}
	return things
}

// touch declares the part of its driver's state that the call uses, because the driver's plugins
// may share state of a volume.
func (c *call) touch() {
	k := c.process.Kernel()
	if !k.Follows() {
		return
	}
	driver := "driver " + c.site.Driver
	switch matter := c.matter(); {
	case len(c.wire.Faults.InForce()) > 0: // faults may count calls
		k.Changes(driver)
	case matter.Of == "":
		k.Reads(driver)
	case len(matter.Parts) == 0:
		k.Changes(driver)
	default:
		k.Reads(driver)
		for _, thing := range matter.Parts {
			k.Changes(driver + " " + thing)
		}
	}
}
