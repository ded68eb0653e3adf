package volumemanager

import (
	"errors"
	"fmt"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
)

// startUnmount unpublishes a volume from a pod. Reading the volume data file is part of the pass.
// If that fails, no operation starts and no event is emitted. K-UNPUB-1
func (r *reconciler) startUnmount(v *held, by *heldBy) {
	key := unmountKey(v.name, by.uid)
	if by.spec.Block() {
		u, err := r.csi.NewBlockUnmapper(by.spec.Name)
		if err != nil {
			return
		}
		r.run(key, "unmap_volume", by.spec, func(p *kernel.Process) error {
			by.state = uncertain // K-BLK-9
			r.changed(v.name, by.uid)
			return r.unmounted(v, by, u.UnmapPodDevice(p, by.uid))
		})
		return
	}
	u, err := r.csi.NewUnmounter(by.uid, by.spec.Name)
	if err != nil {
		return
	}
	r.run(key, "volume_unmount", by.spec, func(p *kernel.Process) error {
		if err := u.CleanSubPaths(p); err != nil {
			return err
		}
		return r.unmounted(v, by, u.TearDown(p))
	})
}

// unmounted records the outcome. Any failure leaves the mount uncertain. K-ERR-6
func (m *Manager) unmounted(v *held, by *heldBy, err error) error {
	if err != nil && !seeded.IsMade(seeded.UnpublishedAtError) {
		by.state = uncertain
	} else {
		m.actual.removePod(v, by.uid)
	}
	m.changed(v.name, by.uid)
	return err
}

// startUnmountDevice unstages a volume that no pod uses. K-UNSTAGE-1
func (r *reconciler) startUnmountDevice(v *held) {
	key := deviceKey(v.name)
	if seeded.IsMade(seeded.MountedWhileUnstaged) {
		key.Pod = "none" // so that mounts can continue meanwhile
	}
	if v.spec.Block() {
		u, err := r.csi.NewBlockUnmapper(v.spec.Name)
		if err != nil { // K-BLK-11
			return
		}
		r.run(key, "unmap_device", v.spec, func(p *kernel.Process) error { return r.unmapDevice(p, v, u) })
		return
	}
	staging := r.csi.StagingPath(v.spec)
	r.run(key, "unmount_device", v.spec, func(p *kernel.Process) error {
		return r.deviceUnmounted(v, r.csi.UnmountDevice(p, staging))
	})
}

func (m *Manager) unmapDevice(p *kernel.Process, v *held, u *csi.BlockUnmapper) error {
	if pods := u.MappedElsewhere(); len(pods) > 0 {
		return fmt.Errorf("the device %q is still referenced from other Pods %v", m.csi.BlockMapDir(v.spec.Name), pods)
	}
	v.device = deviceUncertain
	err := u.TearDownDevice(p)
	if err == nil {
		err = m.checkNotOpen(v)
	}
	return m.deviceUnmounted(v, err)
}

// checkNotOpen returns an error if a process has the volume's device open exclusively. For a file
// system, the kubelet knows only the name of the attachment, not the device. K-UNSTAGE-4, K-BLK-10
func (m *Manager) checkNotOpen(v *held) error {
	opened, err := m.csi.DeviceOpened(v.devicePath)
	switch {
	case err != nil:
		return fmt.Errorf("DeviceOpened failed for volume %q : %w", v.spec.Name, err)
	case opened:
		return fmt.Errorf("UnmapDevice failed for volume %q : the device is in use when it was no longer expected to be in use", v.spec.Name)
	}
	return nil
}

func (m *Manager) deviceUnmounted(v *held, err error) error {
	var referenced csi.ReferencedError
	switch {
	case err == nil, seeded.IsMade(seeded.UnstagedAtError):
		v.device = notMounted
	case errors.As(err, &referenced): // changes nothing. K-ERR-6
	default:
		v.device = deviceUncertain
	}
	m.changed(v.name)
	return err
}
