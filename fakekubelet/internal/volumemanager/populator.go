package volumemanager

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// populatorPeriod is the pause between two passes. K-DSW-1
const populatorPeriod = 100 * time.Millisecond

// populator keeps the desired state of world in step with the pods.
type populator struct {
	*Manager
	process *kernel.Process
	dirty   map[types.UID]bool
	// processed reports, for each observed pod, whether it needs no further work.
	processed map[types.UID]bool
	deleted   map[types.UID]time.Duration // the times at which pods were deleted
	// passed is set after a pass over all pods: then unmounting may begin. K-REC-3
	passed bool
	// locked is set while a CSIDriver is being looked up. K-VM-2
	locked bool
}

func newPopulator(m *Manager) *populator {
	return &populator{Manager: m, dirty: map[types.UID]bool{}, processed: map[types.UID]bool{}, deleted: map[types.UID]time.Duration{}}
}

func (po *populator) look(uid types.UID) {
	po.dirty[uid] = true
	if po.process != nil {
		po.process.Wake()
	}
}

// reprocess makes the next pass process a pod's volumes again. K-DSW-4
func (po *populator) reprocess(uid types.UID) {
	po.processed[uid] = false
	po.look(uid)
}

func (po *populator) start() {
	po.process = po.kubelet.Go("populator", func(p *kernel.Process) {
		drivers := component.Follow[*storagev1.CSIDriver](po.kubelet, p)
		p.Sleep(populatorPeriod)
		tick := p.Tick(populatorPeriod)
		var passes func(*kernel.Process)
		passes = func(p *kernel.Process) {
			for e, ok := drivers.Next(); ok; e, ok = drivers.Next() {
				po.driverChanged(e.Object.Name)
			}
			po.pass(p)
			tick.Rest("changes of pods", passes)
		}
		passes(p)
	})
}

// pass adds the volumes of new pods, then removes the volumes of finished pods. K-DSW-2
func (po *populator) pass(p *kernel.Process) {
	listed := po.pods.Listed()
	uids := sortedKeys(po.dirty)
	clear(po.dirty)
	for _, uid := range uids {
		po.add(p, uid)
	}
	for _, uid := range uids {
		po.remove(uid)
	}
	if listed && !po.passed { // K-DSW-1
		po.passed = true
		po.reconciler.lookAtAll()
	}
}

// add handles pods that are not terminating. Before the first full pass, it also handles pods with
// containers that may still run. K-DSW-3
func (po *populator) add(p *kernel.Process, uid types.UID) {
	pod, ok := po.pods.Pod(uid)
	switch {
	case !ok || po.processed[uid]:
		return
	case po.passed && po.pods.Terminating(uid), po.pods.RuntimeGone(uid):
		return
	}
	all := po.wantAll(p, pod)
	if all { // K-DSW-10
		delete(po.desired.errors, uid)
		po.remount(uid)
	}
	if _, seen := po.processed[uid]; all || seen {
		po.processed[uid] = true
	} else { // its worker has not requested it yet. K-RACE-17
		po.look(uid)
	}
	po.pods.VolumesChanged(uid)
}

// wantAll adds the volumes that the pod's containers use, and reports whether all of them could be
// looked up. K-DSW-5
func (po *populator) wantAll(p *kernel.Process, pod *corev1.Pod) bool {
	mounts, devices := usedVolumes(pod)
	all := true
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if !mounts[v.Name] && !devices[v.Name] {
			continue
		}
		spec, claim, err := po.spec(p, pod, v, mounts[v.Name], devices[v.Name])
		switch {
		case err == nil && spec == nil:
			po.desired.leaveToOthers(pod.UID, v.Name)
		case err == nil:
			po.awaitDrivers(p)
			err = po.want(pod, v.Name, spec, claim)
		}
		if err != nil {
			po.desired.fail(pod.UID, err)
			all = false
		}
	}
	return all
}

// awaitDrivers makes both loops wait, since the desired state is locked while a CSIDriver is looked
// up. This happens for the first volume of a kubelet with an unsynced informer. K-VM-2, K-RACE-36
func (po *populator) awaitDrivers(p *kernel.Process) {
	po.locked = true
	po.kubelet.AwaitLater(p)
	po.locked = false
}

// want adds a pod's use of a volume, unless the volume is desired with another SELinux label.
// K-SEL-3
func (po *populator) want(pod *corev1.Pod, volumeName string, spec *csi.Spec, claim *corev1.PersistentVolumeClaim) error {
	name := spec.UniqueName(pod.UID)
	l, err := po.labels(pod, volumeName, spec)
	if err != nil {
		return err
	}
	w := po.desired.volumes[name]
	if w == nil {
		attachable := spec.Inline == nil && volume.MustAttach(po.kubelet, spec.Driver())
		w = po.desired.addVolume(name, attachable, l)
		po.watchSize(w, spec)
		po.admit(spec, l)
	}
	if w.pods.Get(pod.UID) == nil {
		if err := po.conflict(w, spec, l); err != nil {
			return err
		}
	}
	if po.desired.add(w, pod, volumeName, spec, po.mountRequested(w, pod, spec)) {
		po.changed(name)
	}
	if claim != nil && !spec.ReadOnly {
		po.noteSizes(w, spec, claim)
	}
	return nil
}

// mountRequested returns the time when the pod requested the volume. If the driver requires
// republishing, each pass renews it. K-MET-2
func (po *populator) mountRequested(w *wanted, pod *corev1.Pod, spec *csi.Spec) time.Duration {
	if was := w.pods.Get(pod.UID); was != nil && !po.republishes(spec.Driver()) {
		return was.since
	}
	return po.kubelet.Kernel.Elapsed()
}

// noteSizes records the volume's size and, if the claim's size is still unknown, the claim's size.
// K-DSW-11
func (po *populator) noteSizes(w *wanted, spec *csi.Spec, claim *corev1.PersistentVolumeClaim) {
	size := storageOf(spec.PV.Spec.Capacity)
	if size.Cmp(w.size) != 0 {
		w.size = size
		po.reconciler.look(w.name)
	}
	if v := po.actual.volumes[w.name]; v != nil && v.size.IsZero() {
		v.size = storageOf(claim.Status.Capacity)
	}
}

// watchSize wakes the volume's pods when it has grown, because a regular sync will notice that.
// K-EXP-2
func (po *populator) watchSize(w *wanted, spec *csi.Spec) {
	if spec.PV == nil {
		return
	}
	w.size = storageOf(spec.PV.Spec.Capacity)
	w.grown = store.Watch[*corev1.PersistentVolume](po.kubelet.Cache, store.ByKey(store.KeyOf(spec.PV)))
	w.grown.OnEvent(func() {
		for _, uid := range w.pods.Keys() {
			po.pods.VolumesChanged(uid)
		}
	})
}

// remount marks the pod's volumes for republishing if their driver requires it. K-DSW-10, K-PUB-16
func (po *populator) remount(uid types.UID) {
	for _, name := range po.actual.ofPod[uid] {
		if by := po.actual.pod(name, uid); po.republishes(by.spec.Driver()) {
			by.remount = true
			po.reconciler.look(name)
		}
	}
}

func (m *Manager) republishes(driver string) bool {
	d, ok := volume.CSIDriver(m.kubelet, driver)
	return ok && d.Spec.RequiresRepublish != nil && *d.Spec.RequiresRepublish
}

// driverChanged applies a changed CSIDriver to desired volumes. Attachable volumes may become
// non-attachable, never the reverse. Pods may need regular syncs. K-DSW-12, K-RACE-37
func (po *populator) driverChanged(driver string) {
	for _, name := range sortedKeys(po.desired.volumes) {
		w := po.desired.volumes[name]
		for _, uid := range w.pods.Keys() {
			if w.pods.Get(uid).spec.Driver() != driver {
				break
			}
			if w.attachable && !volume.MustAttach(po.kubelet, driver) {
				w.attachable = false
				po.changed(name)
			}
			po.pods.VolumesChanged(uid)
		}
	}
}

// remove removes a pod's volumes from the desired state when its containers have stopped. A volume
// that was never mounted stays until the pod object is deleted. The watch delivers the deletion a
// moment later, so a pass at the same time does not notice it. K-DSW-13, l02
func (po *populator) remove(uid types.UID) {
	if !po.pods.RuntimeGone(uid) {
		return
	}
	_, known := po.pods.Pod(uid)
	if at, deleted := po.deleted[uid]; deleted && at == po.kubelet.Kernel.Elapsed() {
		known = true
		po.look(uid)
	}
	for _, name := range slices.Clone(po.desired.ofPod[uid]) {
		if known && po.actual.pod(name, uid) == nil {
			continue
		}
		po.desired.remove(name, uid)
		po.changed(name)
	}
	if !known {
		delete(po.processed, uid)
		delete(po.deleted, uid)
		delete(po.desired.errors, uid)
		delete(po.desired.others, uid)
	}
}
