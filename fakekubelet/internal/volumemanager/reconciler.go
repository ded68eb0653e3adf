package volumemanager

import (
	"errors"
	"fmt"
	"time"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/operation"
	"github.com/csisim/csisim/internal/world/seeded"
)

// reconcilerPeriod is the pause between two passes. K-REC-1
const reconcilerPeriod = 100 * time.Millisecond

// reconciler starts operations. A pass processes the volumes with changes, and those with an
// expired backoff.
type reconciler struct {
	*Manager
	process *kernel.Process
	dirty   map[string]bool
	retries map[string]time.Duration // when a volume in backoff is due
	// lost are volumes on disk that could not be reconstructed.
	lost []csi.Lost
	// unchecked: reconstructed volumes still wait for the node's status. K-RECON-6
	unchecked bool
	// synced means that a pass has checked all volumes. K-ATT-2
	synced bool
}

func newReconciler(m *Manager) *reconciler {
	return &reconciler{Manager: m, dirty: map[string]bool{}, retries: map[string]time.Duration{}}
}

func (r *reconciler) look(name string) {
	r.dirty[name] = true
	if r.process != nil {
		r.process.Wake()
	}
}

func (r *reconciler) lookAtAll() {
	// In any order: a pass sorts its volumes.
	for name := range r.desired.volumes {
		r.look(name)
	}
	// In any order: a pass sorts its volumes.
	for name := range r.actual.volumes {
		r.look(name)
	}
	if r.process != nil { // lost volumes are not among the held ones
		r.process.Wake()
	}
}

func (r *reconciler) start() {
	r.process = r.kubelet.Go("reconciler", func(p *kernel.Process) {
		tick := p.Tick(reconcilerPeriod)
		var passes func(*kernel.Process)
		passes = func(p *kernel.Process) {
			r.pass(p)
			for due, ok := r.nextRetry(); ok; due, ok = r.nextRetry() {
				tick.WaitUntil("changes of volumes, or the end of a backoff", due)
				r.pass(p)
			}
			tick.Rest("changes of volumes", passes)
		}
		passes(p)
	})
}

func (r *reconciler) nextRetry() (next time.Duration, ok bool) {
	for _, due := range r.retries {
		if !ok || due < next {
			next, ok = due, true
		}
	}
	return next, ok
}

// pass unmounts, then mounts, then unmounts devices, then handles reconstructed volumes. K-REC-2
func (r *reconciler) pass(p *kernel.Process) {
	if r.populator.locked { // K-RACE-36
		r.kubelet.AwaitLater(p)
	}
	// In any order: a pass sorts its volumes.
	for name, due := range r.retries {
		if due <= p.Elapsed() {
			r.dirty[name] = true
			delete(r.retries, name)
		}
	}
	names := sortedKeys(r.dirty)
	clear(r.dirty)
	ready := r.readyToUnmount()
	if ready {
		for _, name := range names {
			r.unmountVolume(name)
		}
	}
	for _, name := range names {
		r.mountVolume(p, name)
	}
	if ready {
		for _, name := range names {
			r.unmountDevice(name)
		}
		r.cleanLost()
	}
	if r.unchecked {
		r.updateReconstructed(p)
	}
	if !r.unchecked && !r.synced {
		r.synced = true
		r.onInUse()
	}
}

// readyToUnmount reports whether the pods and the node's status are known. K-REC-3
func (r *reconciler) readyToUnmount() bool { return r.populator.passed && !r.unchecked }

// run starts an operation, or records the time of the next attempt. A refusal emits no event.
// K-REC-7, K-OP-8
func (r *reconciler) run(key operation.Key, name string, spec *csi.Spec, body func(*kernel.Process) error) {
	begin := r.kubelet.Kernel.Elapsed()
	measured := func(p *kernel.Process) error {
		err := body(p)
		r.observeOperation(name, spec, p.Elapsed()-begin, err)
		return err
	}
	if err := r.ops.Run(key, name, measured); errors.Is(err, operation.ErrBackoff) {
		if due, ok := r.ops.RetryAt(key, name); ok {
			if was, ok := r.retries[key.Volume]; !ok || due < was {
				r.retries[key.Volume] = due
			}
		}
	}
}

// unmountVolume unmounts a volume for pods that no longer use it, or that need another mount of it.
// K-REC-4
func (r *reconciler) unmountVolume(name string) {
	v := r.actual.volumes[name]
	if v == nil {
		return
	}
	for _, uid := range v.pods.Keys() {
		if (r.desired.wants(name, uid) == nil || !r.desired.wantsAs(name, v)) && !r.ops.IsPending(unmountKey(name, uid)) {
			r.startUnmount(v, v.pods.Get(uid))
		}
	}
}

// mountVolume mounts a volume for the pods that need it. While any operation on the volume runs,
// nothing is started. K-REC-5
func (r *reconciler) mountVolume(p *kernel.Process, name string) {
	w := r.desired.volumes[name]
	if w == nil {
		return
	}
	for _, uid := range r.turns(w) {
		if r.ops.IsPending(deviceKey(name)) && !seeded.IsMade(seeded.MountedWhileUnstaged) {
			return
		}
		by, v := w.pods.Get(uid), r.actual.volumes[name]
		switch {
		case v == nil:
			r.startVerify(w, by)
		case v.label != nil && *v.label != by.label: // K-SEL-3
			r.desired.fail(uid, fmt.Errorf("waiting for unmount of volume %q, because it is already mounted to a different pod with a different SELinux label", name))
			r.pods.VolumesChanged(uid)
			r.look(name)
		case !v.has(uid):
			r.startMount(p, v, by)
		case v.needsExpansion(w.size):
			r.startExpansion(v, w, by)
		}
		if v != nil && r.ops.IsPending(deviceKey(name)) {
			w.lastTurn = uid
		}
	}
}

// unmountDevice unstages a volume that no pod uses or needs, and then drops it. K-REC-6
func (r *reconciler) unmountDevice(name string) {
	v := r.actual.volumes[name]
	if v == nil || len(v.pods) > 0 || r.desired.wantsAs(name, v) || r.ops.IsPending(deviceKey(name)) {
		return
	}
	if v.device == notMounted {
		r.actual.drop(name)
		r.changed(name)
		return
	}
	r.startUnmountDevice(v)
}
