package healthmonitor

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

const (
	abnormal = "VolumeConditionAbnormal"
	normal   = "VolumeConditionNormal"
)

// checkLists periodically requests the conditions of all volumes. C-HEALTH-3
func (r *run) checkLists(p *kernel.Process) {
	for {
		conditions, err := r.list(p)
		r.life.ExitIfLost(err)
		if err == nil {
			r.tellAll(p, conditions)
		}
		p.Idle(r.opts.ListVolumesInterval)
	}
}

// list returns the conditions of all volumes that the driver lists, by handle.
func (r *run) list(p *kernel.Process) (map[string]contract.VolumeCondition, error) {
	conditions := map[string]contract.VolumeCondition{}
	request := &csi.ListVolumesRequest{}
	deadline := p.Elapsed() + r.opts.Timeout
	for {
		answer, err := csi.NewControllerClient(r.connUntil(p, deadline)).ListVolumes(context.Background(), request)
		if err != nil {
			return nil, err
		}
		for _, entry := range answer.GetEntries() {
			conditions[entry.GetVolume().GetVolumeId()], _ = contract.ConditionOf(entry.GetStatus())
		}
		if answer.GetNextToken() == "" {
			return conditions, nil
		}
		request = &csi.ListVolumesRequest{StartingToken: answer.GetNextToken()}
	}
}

func (r *run) tellAll(p *kernel.Process, conditions map[string]contract.VolumeCondition) {
	ill := r.reportedIll()
	for pv := range store.List[*corev1.PersistentVolume](r.Cache, "") {
		pvc := r.claimOf(pv)
		if pvc == nil {
			continue
		}
		if condition, listed := conditions[pv.Spec.CSI.VolumeHandle]; listed {
			r.emit(pvc, condition, ill)
		}
	}
}

// emit emits events about conditions. It reports a volume as normal only while an event about its
// abnormal condition exists. C-HEALTH-5
func (r *run) emit(pvc *corev1.PersistentVolumeClaim, condition contract.VolumeCondition, ill map[types.UID]bool) {
	switch {
	case condition.Abnormal:
		r.event(pvc, corev1.EventTypeWarning, abnormal, "%s", condition.Message)
	case ill[pvc.UID]:
		r.event(pvc, corev1.EventTypeNormal, normal, "The Volume returns to the healthy state")
	}
}

// reportedIll returns the claims with an event about the abnormal condition of their volume.
func (r *run) reportedIll() map[types.UID]bool {
	ill := map[types.UID]bool{}
	for e := range store.List[*corev1.Event](r.Cache, "") {
		if e.Type == corev1.EventTypeWarning && e.Reason == abnormal {
			ill[e.InvolvedObject.UID] = true
		}
	}
	return ill
}

// addVolumes queues volumes for the workers: new volumes that are bound by then, and periodically
// all volumes of the driver. C-HEALTH-4
func (r *run) addVolumes(p *kernel.Process) {
	volumes := component.Watch[*corev1.PersistentVolume](r.Component, p)
	started := p.Elapsed()
	for {
		for e, ok := volumes.Next(); ok; e, ok = volumes.Next() {
			if e.Type == store.Added && r.claimOf(e.Object) != nil {
				r.enqueue(e.Object.Name)
			}
		}
		passed := (p.Elapsed()-started)/r.opts.VolumeListAddInterval + 1
		if p.IdleUntil("volumes to ask about", started+passed*r.opts.VolumeListAddInterval) {
			continue
		}
		for pv := range store.List[*corev1.PersistentVolume](r.Cache, "") {
			if r.owns(pv) {
				r.enqueue(pv.Name)
			}
		}
	}
}

func (r *run) enqueue(name string) {
	if !r.enqueued[name] {
		r.enqueued[name] = true
		r.due = append(r.due, name)
	}
}

// checkOneByOne is a worker that checks one volume in each interval. C-HEALTH-4
func (r *run) checkOneByOne(p *kernel.Process) {
	for {
		r.checkNext(p)
		p.Idle(r.opts.MonitorInterval)
	}
}

// checkNext checks the volume that has been due for the longest time. A volume that is not bound
// leaves the queue but still counts as queued: it is never checked again. C-HEALTH-6
func (r *run) checkNext(p *kernel.Process) {
	if len(r.due) == 0 {
		return
	}
	name := r.due[0]
	r.due = r.due[1:]
	pv, ok := component.Cached[*corev1.PersistentVolume](r.Component, store.Key{Name: name})
	if !ok {
		delete(r.enqueued, name)
		return
	}
	pvc := r.claimOf(pv)
	if pvc == nil {
		return
	}
	conn := r.connUntil(p, p.Elapsed()+r.opts.Timeout)
	answer, err := csi.NewControllerClient(conn).ControllerGetVolume(context.Background(), &csi.ControllerGetVolumeRequest{VolumeId: pv.Spec.CSI.VolumeHandle})
	r.due = append(r.due, name)
	r.life.ExitIfLost(err)
	if err == nil {
		condition, _ := contract.ConditionOf(answer.GetStatus())
		r.emit(pvc, condition, r.reportedIll())
	}
}
