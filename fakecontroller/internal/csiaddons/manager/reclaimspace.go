package manager

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/kernel"
)

// reclaimSpaceJob returns the kind ReclaimSpaceJob, with the deadline of its calls.
func reclaimSpaceJob(timeout time.Duration) jobKind {
	return jobKind{
		name: "ReclaimSpaceJob", done: "Reclaim Space operation successfully completed.",
		get:           got[jobObject](kinds.Get[kinds.ReclaimSpaceJob]),
		try:           (*job).reclaim,
		timeout:       timeout,
		noClient:      "%w for %q nodeID",
		noClientPause: 30 * time.Second,
	}
}

// reclaim calls the node to which the volume is attached, if any, and then the controller. A-RS-6
func (j *job) reclaim(p *kernel.Process, on target) error {
	var freed []int64
	if on.node != "" {
		var usage relay.Usage
		err := j.askNode(p, on, "reclaim_space.ONLINE", "NodeReclaimSpace", func(s relay.Asked, call relay.Call) (err error) {
			usage, err = s.NodeReclaimSpace(call, on.volume)
			return err
		})
		if err != nil {
			return err
		}
		freed = appendFreed(freed, usage)
	}
	usage, err := j.onController(p, on)
	if err != nil {
		j.failed(p, "Failed to make controller request: "+messageOf(err))
		return err
	}
	if freed = appendFreed(freed, usage); len(freed) > 0 {
		sum := int64(0)
		for _, bytes := range freed {
			sum += bytes
		}
		j.Status.ReclaimedSpace = resource.NewQuantity(sum, resource.DecimalSI)
	}
	return nil
}

// appendFreed adds the growth of the used bytes as freed space; it adds 0 if fewer bytes are used
// afterwards. A-RS-8
func appendFreed(freed []int64, u relay.Usage) []int64 {
	if u.Before == nil || u.After == nil {
		return freed
	}
	return append(freed, max(u.After.GetUsageBytes()-u.Before.GetUsageBytes(), 0))
}

func (j *job) onController(p *kernel.Process, on target) (usage relay.Usage, err error) {
	c, err := j.manager.leader(on.driver)
	switch {
	case err != nil:
		return usage, err
	case !c.can("reclaim_space.OFFLINE"):
		return usage, fmt.Errorf("leading controller for driver %q does not support ReclaimSpace_OFFLINE", on.driver)
	}
	err = c.call(p, "ControllerReclaimSpace", on.timeout, func(s relay.Asked, call relay.Call) (err error) {
		usage, err = s.ControllerReclaimSpace(call, on.volume)
		return err
	})
	return usage, unlessUnimplemented(err)
}
