package manager

import (
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// syncReclaimSpaceJob makes one pass of a ReclaimSpaceJob.
func (m *Manager) syncReclaimSpaceJob(p *kernel.Process, key store.Key) error {
	object, err := kinds.Get[kinds.ReclaimSpaceJob](m.Component, key)
	if err != nil {
		return ignoreNotFound(err)
	}
	j := &job{manager: m, object: object, Job: &object.Job, kind: "ReclaimSpaceJob", done: "Reclaim Space operation successfully completed.", timeout: m.opts.Timeout}
	j.try = j.reclaim
	return j.run(p)
}

// reclaim has the node do it, if the volume is attached, and then the controller. A-RS-6
func (j *job) reclaim(p *kernel.Process, on target) error {
	var freed []int64
	if on.node != "" {
		usage, err := j.onNode(p, on)
		if err != nil {
			j.failed(p, "Failed to make node request: "+messageOf(err))
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

// appendFreed: less in use afterwards counts as nothing, more as space that was freed. A-RS-8
func appendFreed(freed []int64, u relay.Usage) []int64 {
	if u.Before == nil || u.After == nil {
		return freed
	}
	return append(freed, max(u.After.GetUsageBytes()-u.Before.GetUsageBytes(), 0))
}

func (j *job) onNode(p *kernel.Process, on target) (usage relay.Usage, err error) {
	c := j.manager.onNode(on.driver, on.node, "reclaim_space.ONLINE")
	if c == nil {
		return usage, fmt.Errorf("%w for %q nodeID", errNodeClientNotFound, on.node)
	}
	err = c.call(p, "NodeReclaimSpace", on.timeout, func(s relay.Service, call relay.Call) (err error) {
		usage, err = s.NodeReclaimSpace(call, on.volume)
		return err
	})
	return usage, unlessUnimplemented(err)
}

func (j *job) onController(p *kernel.Process, on target) (usage relay.Usage, err error) {
	c, err := j.manager.leader(on.driver)
	switch {
	case err != nil:
		return usage, err
	case !c.can("reclaim_space.OFFLINE"):
		return usage, fmt.Errorf("leading controller for driver %q does not support ReclaimSpace_OFFLINE", on.driver)
	}
	err = c.call(p, "ControllerReclaimSpace", on.timeout, func(s relay.Service, call relay.Call) (err error) {
		usage, err = s.ControllerReclaimSpace(call, on.volume)
		return err
	})
	return usage, unlessUnimplemented(err)
}

// unlessUnimplemented: what a driver has not implemented counts as done. A-RS-6
func unlessUnimplemented(err error) error {
	if status.Code(err) == codes.Unimplemented {
		return nil
	}
	return err
}
