package effect

import (
	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/contract"
)

// repeatFields are the fields of faults that repeat a call.
type repeatFields struct {
	Repeat bool `json:"repeat,omitempty" doc:"Right after its OK the driver gets the same call again. It must give the same answer, and mounts and volumes must not change. Only calls that change something are repeated, and their callers do not notice. A deleted volume is also detached once more, if the driver attaches volumes. A new volume of a single node is attached read-only, detached, attached without readonly and detached, if the driver has PUBLISH_READONLY."`
}

// repeat: right after its OK the driver receives the same call again, which must change nothing and
// return the same answer. The caller receives the first answer.
var repeat = &Effect{
	Name:       fault.Repeat,
	Field:      "repeat",
	Given:      func(f *Fields) bool { return f.Repeat },
	Check:      checkChanges("repeat", func(f *Fields) bool { return f.Repeat }),
	Affects:    fault.HasEffect,
	InSearches: searchedAs(fault.Repeated, fault.Fault{Name: "repeated", Effect: fault.Repeat}),
	InWords:    words("the same call again, right after its OK"),
	Doubles:    true,
	Do:         doRepeat,
}

func doRepeat(c Call, f *fault.Fault) error {
	if err := c.Pass(c.Answer()); err != nil {
		return err // nothing is known to have happened
	}
	made := c.Creations()
	first := c.Outcome(nil)
	c.Note(contract.CheckEffect(c.Method(), c.Request(), first))
	again := c.Again(f, c.Request())
	err := again.Make()
	if again.Unanswered(err) {
		return nil // there is nothing to compare
	}
	second := again.Outcome(err)
	if made.Several() || c.Creations() != made {
		first.Volumes, second.Volumes = nil, nil // other volumes were also created meanwhile
	}
	c.Note(c.Seen(contract.CheckRepeat(c.Method(), first, second), "made again, it has the same answer and changes nothing"))
	c.Note(c.CheckLists())
	detachDeleted(c, f)
	attachTwice(c, f)
	return nil
}

// detachDeleted detaches a deleted volume from a node. Kubernetes makes this call if the storage
// system lost a volume that has a VolumeAttachment, and repeats it until it succeeds.
func detachDeleted(c Call, f *fault.Fault) {
	deleted, ok := c.Request().(*csi.DeleteVolumeRequest)
	node := c.OtherNode("")
	if !ok || node == "" || !c.Attaches() {
		return
	}
	request := &csi.ControllerUnpublishVolumeRequest{VolumeId: deleted.GetVolumeId(), NodeId: node, Secrets: deleted.GetSecrets()}
	detach := c.Other(f, csi.Controller_ControllerUnpublishVolume_FullMethodName, request, &csi.ControllerUnpublishVolumeResponse{})
	if err := detach.Make(); !detach.Unanswered(err) {
		c.Note(contract.CheckDetachOfDeleted(request, err))
	}
}

// attachTwice attaches a new volume read-only, detaches it, and attaches it for writing. A driver
// that keeps attachments without listing them shows it by its refusal. The first attachment shows
// that the driver grants readonly: some drivers refuse it with ALREADY_EXISTS for every volume.
func attachTwice(c Call, f *fault.Fault) {
	r, creates := c.Request().(*csi.CreateVolumeRequest)
	node := c.OtherNode("")
	if !creates || node == "" || !c.AttachesReadOnly() || len(r.GetVolumeCapabilities()) == 0 || contract.MayBeOnManyNodes(r.GetVolumeCapabilities()[0]) {
		return
	}
	made := c.Answer().(*csi.CreateVolumeResponse).GetVolume()
	attach := func(readonly bool) error {
		request := &csi.ControllerPublishVolumeRequest{
			VolumeId: made.GetVolumeId(), NodeId: node, VolumeCapability: r.GetVolumeCapabilities()[0], Readonly: readonly,
			VolumeContext: made.GetVolumeContext(),
		}
		return c.Other(f, csi.Controller_ControllerPublishVolume_FullMethodName, request, &csi.ControllerPublishVolumeResponse{}).Make()
	}
	request := &csi.ControllerUnpublishVolumeRequest{VolumeId: made.GetVolumeId(), NodeId: node}
	settled := func(err error) bool { return status.Code(err) != codes.Aborted }
	detach := func() error {
		return c.AwaitSettled(made.GetVolumeId(), func() error {
			return c.Other(f, csi.Controller_ControllerUnpublishVolume_FullMethodName, request, &csi.ControllerUnpublishVolumeResponse{}).Make()
		}, settled)
	}
	granted := c.AwaitSettled(made.GetVolumeId(), func() error { return attach(true) }, settled)
	if detached := detach(); granted != nil || detached != nil {
		return
	}
	err := c.AwaitSettled(made.GetVolumeId(), func() error { return attach(false) }, func(err error) bool {
		return settled(err) && status.Code(err) != codes.AlreadyExists
	})
	c.Note(c.Seen(contract.CheckDetached(request, err), "a volume that was attached read-only and detached can be attached"))
	_ = detach()
}
