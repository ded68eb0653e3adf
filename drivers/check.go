package drivers

import (
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/contract"
	"github.com/csisim/csisim/sim/trace"
)

// check holds a call and its outcome against the CSI spec, and learns what the
// driver promises. An outcome that a fault made is not the driver's.
func (w *Wire) check(c *call, err error) {
	caps := w.capsOf(c.site.Driver)
	found := contract.CheckRequest(c.method, c.request, caps)
	switch {
	case c.event.Injected != "":
	case err != nil:
		found = append(found, contract.CheckError(c.method, c.request, status.Code(err), caps)...)
	default:
		if c.event.Response == c.answer { // not one that is known already
			caps.Learn(c.answer)
		}
		w.learnNode(c)
		found = append(found, contract.CheckResponse(c.method, c.request, c.answer, caps)...)
		found = append(found, c.checkTarget()...)
	}
	w.note(c, found)
}

// checkTarget looks at what a driver has published. What is not there shows elsewhere.
func (c *call) checkTarget() []contract.Violation {
	request, ok := c.request.(*csi.NodePublishVolumeRequest)
	if !ok || c.site.Machine == nil {
		return nil
	}
	info, err := c.site.Machine.Lstat(request.GetTargetPath())
	if err != nil {
		return nil
	}
	return contract.CheckTarget(c.method, request, info.Mode())
}

// note records breaches of the CSI spec.
func (w *Wire) note(c *call, found []contract.Violation) {
	for _, v := range found {
		if slices.ContainsFunc(w.violations, v.Repeats) {
			continue
		}
		w.violations = append(w.violations, v)
		w.World.Trace.Add(&trace.Event{
			Kind: trace.Violation, Actor: c.site.Caller, Node: c.site.Node, Driver: c.site.Driver, Method: c.method, Message: v.String(),
		})
	}
}

func (w *Wire) capsOf(driver string) *contract.Caps {
	caps, ok := w.caps[driver]
	if !ok {
		caps = &contract.Caps{}
		w.caps[driver] = caps
	}
	return caps
}

// StagesNot reports whether the driver's nodes were asked for their capabilities
// and do not stage.
func (w *Wire) StagesNot(driver string) bool {
	node := w.capsOf(driver).Node
	return node != nil && !node.Has("STAGE_UNSTAGE_VOLUME")
}
