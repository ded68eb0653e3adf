package csi

import (
	"fmt"
	"path"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Unmounter undoes SetUp using only the files on disk.
type Unmounter struct {
	pl     *Plugin
	pod    types.UID
	spec   string
	target string
	data   Data
}

// NewUnmounter reads the pod's volume data file, without which the volume cannot be unpublished.
// K-UNPUB-1
func (pl *Plugin) NewUnmounter(pod types.UID, specName string) (*Unmounter, error) {
	target := pl.TargetPath(pod, specName)
	data, err := pl.ReadData(path.Dir(target))
	if err != nil {
		return nil, fmt.Errorf("kubernetes.io/csi: unmounter failed to load volume data file [%s]: %w", path.Dir(target), err)
	}
	return &Unmounter{pl: pl, pod: pod, spec: specName, target: target, data: data}, nil
}

// CleanSubPaths unmounts the parts of the volume that containers have mounted. K-UNPUB-2
func (u *Unmounter) CleanSubPaths(p *kernel.Process) error {
	if err := u.pl.files(p).cleanSubPaths(u.pod, u.spec); err != nil {
		return fmt.Errorf("error cleaning subPath mounts: %w", err)
	}
	return nil
}

// TearDown unpublishes the volume. An error with any code is a failure. K-UNPUB-2, K-UNPUB-3
func (u *Unmounter) TearDown(p *kernel.Process) error {
	s, err := u.pl.beginUnaware(p, u.data[keyDriver])
	if err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: Unmounter.TearDownAt failed to get CSI client: %w", err)}
	}
	if err := s.unpublish(u.data[keyHandle], u.target); err != nil {
		return fmt.Errorf("kubernetes.io/csi: Unmounter.TearDownAt failed: %w", err)
	}
	if err := u.pl.files(p).removeMountDir(u.target); err != nil { // K-UNPUB-4
		return fmt.Errorf("kubernetes.io/csi: Unmounter.TearDownAt failed to clean mount dir [%s]: %w", u.target, err)
	}
	return nil
}

func (s *step) unpublish(handle, target string) error {
	if err := given(handle, target, "target path"); err != nil {
		return err
	}
	_, err := s.node.NodeUnpublishVolume(background, &csispec.NodeUnpublishVolumeRequest{VolumeId: handle, TargetPath: target})
	return err
}

func (s *step) unstage(handle, staging string) error {
	if err := given(handle, staging, "staging target path"); err != nil {
		return err
	}
	_, err := s.node.NodeUnstageVolume(background, &csispec.NodeUnstageVolumeRequest{VolumeId: handle, StagingTargetPath: staging})
	return err
}

// UnmountDevice unstages a filesystem volume. The data file beside the staging path identifies the
// volume. Without it there is no mount to undo. K-UNSTAGE-2, K-UNSTAGE-3
func (pl *Plugin) UnmountDevice(p *kernel.Process, staging string) error {
	if err := pl.checkReferences(staging); err != nil {
		return err
	}
	if _, err := pl.machine.Lstat(path.Join(path.Dir(staging), dataFile)); err != nil {
		return nil
	}
	data, err := pl.ReadData(path.Dir(staging))
	if err != nil {
		return fmt.Errorf("kubernetes.io/csi: attacher.UnmountDevice failed to load volume data file [%s]: %w", path.Dir(staging), err)
	}
	s, err := pl.beginUnaware(p, data[keyDriver])
	if err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: attacher.UnmountDevice failed to create newCsiDriverClient: %w", err)}
	}
	stages, err := s.has(capStage)
	if err != nil {
		return fmt.Errorf("kubernetes.io/csi: attacher.UnmountDevice failed to check whether STAGE_UNSTAGE_VOLUME set: %w", err)
	}
	if stages {
		if err := s.unstage(data[keyHandle], staging); err != nil {
			return fmt.Errorf("kubernetes.io/csi: attacher.UnmountDevice failed: %w", err)
		}
	}
	if err := pl.files(p).removeMountDir(staging); err != nil {
		return fmt.Errorf("kubernetes.io/csi: attacher.UnmountDevice failed to clean up mount dir [%s]: %w", staging, err)
	}
	return nil
}
