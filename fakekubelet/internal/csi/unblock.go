package csi

import (
	"fmt"
	"path"

	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/kernel"
)

// BlockUnmapper undoes the mapping of a raw block volume using only the files on disk.
type BlockUnmapper struct {
	pl   *Plugin
	spec string
	data Data
}

// NewBlockUnmapper reads the volume data file, without which nothing can be undone. K-BLK-9,
// K-BLK-11
func (pl *Plugin) NewBlockUnmapper(specName string) (*BlockUnmapper, error) {
	data, err := pl.ReadData(pl.blockDataDir(specName))
	if err != nil {
		return nil, fmt.Errorf("kubernetes.io/csi: unmapper failed to load volume data file [%s]: %w", pl.blockDataDir(specName), err)
	}
	return &BlockUnmapper{pl: pl, spec: specName, data: data}, nil
}

// UnmapPodDevice removes the kubelet's own loop device, link and bind mount, then unpublishes the
// volume. K-BLK-9
func (u *BlockUnmapper) UnmapPodDevice(p *kernel.Process, pod types.UID) error {
	f := u.pl.files(p)
	mapped := path.Join(u.pl.BlockMapDir(u.spec), string(pod))
	if err := f.letGo(mapped); err != nil {
		return fmt.Errorf("blkUtil.DetachFileDevice failed. globalUnmapPath:%s, podUID: %s: %w", u.pl.BlockMapDir(u.spec), pod, err)
	}
	if err := f.remove(u.pl.PodDevicePath(pod, u.spec)); err != nil {
		return err
	}
	if err := f.unbind(mapped); err != nil {
		return err
	}
	s, err := u.pl.beginUnaware(p, u.data[keyDriver])
	if err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: blockMapper.UnmapPodDevice failed to get CSI client: %w", err)}
	}
	if err := s.unpublish(u.data[keyHandle], u.pl.BlockPublishPath(pod, u.spec)); err != nil {
		return fmt.Errorf("kubernetes.io/csi: blockMapper.UnmapPodDevice failed: %w", err)
	}
	return nil
}

// MappedElsewhere lists the pods in which the device is still mapped. K-BLK-10
func (u *BlockUnmapper) MappedElsewhere() []string {
	entries, err := u.pl.machine.ReadDir(u.pl.BlockMapDir(u.spec))
	if err != nil {
		return nil
	}
	var pods []string
	for _, e := range entries {
		if mounted, err := u.pl.machine.IsMountPoint(path.Join(u.pl.BlockMapDir(u.spec), e.Name())); err == nil && mounted {
			pods = append(pods, e.Name())
		}
	}
	return pods
}

// TearDownDevice unstages a raw block volume. Without a staging directory it makes no call.
// K-BLK-10
func (u *BlockUnmapper) TearDownDevice(p *kernel.Process) error {
	s, err := u.pl.beginUnaware(p, u.data[keyDriver])
	if err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: blockMapper.TearDownDevice failed to get CSI client: %w", err)}
	}
	staging := u.pl.BlockStagingPath(u.spec)
	if _, err := u.pl.machine.Lstat(staging); err == nil {
		if err := s.unstageBlock(u.data[keyHandle], staging); err != nil {
			return err
		}
	}
	u.pl.removeBlockFiles(p, u.spec)
	return u.pl.files(p).removeAll(u.pl.BlockMapDir(u.spec))
}

func (s *step) unstageBlock(handle, staging string) error {
	stages, err := s.has(capStage)
	if err != nil {
		return fmt.Errorf("kubernetes.io/csi: blockMapper.TearDownDevice failed to check STAGE_UNSTAGE_VOLUME capability: %w", err)
	}
	if !stages {
		return nil
	}
	if err := s.unstage(handle, staging); err != nil {
		return fmt.Errorf("kubernetes.io/csi: blockMapper.TearDownDevice failed: %w", err)
	}
	return s.files(s.process).removeAll(staging)
}

// removeBlockFiles removes the remaining files of a volume that is no longer published or staged.
// It stops at the first file that it cannot remove, and emits no event. K-BLK-4
func (pl *Plugin) removeBlockFiles(p *kernel.Process, specName string) {
	f := pl.files(p)
	if f.remove(path.Join(pl.blockDir(), "publish", specName)) != nil || f.remove(pl.BlockStagingPath(specName)) != nil {
		return
	}
	_ = f.removeAll(path.Join(pl.blockDir(), escaped(specName)))
}
