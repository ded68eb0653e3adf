package csi

import (
	"fmt"
	"path"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// MountDevice stages a filesystem volume. pod is the first pod that uses it: the kubelet applies
// its fsGroup, and its SELinux label if it has one. K-STAGE-1, K-STAGE-4
func (pl *Plugin) MountDevice(p *kernel.Process, spec *Spec, pod *corev1.Pod, label string) error {
	const what = "attacher.MountDevice failed"
	s, err := pl.begin(p, spec)
	if err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: %s to create newCsiDriverClient: %w", what, err)}
	}
	stages, err := s.has(capStage)
	if err != nil {
		return err
	}
	handle := spec.Handle("")
	publishContext, err := pl.publishContext(p, spec)
	if err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: %s: %w", what, err)}
	}
	var secrets map[string]string
	if stages {
		if secrets, err = s.secrets("NodeStageSecretRef", spec.PV.Spec.CSI.NodeStageSecretRef); err != nil {
			return TransientError{err}
		}
	}
	label = s.usableLabel(label)
	staging := pl.StagingPath(spec)
	f := pl.files(p)
	if err := f.mkdir(staging); err != nil {
		return fmt.Errorf("kubernetes.io/csi: %s to create dir %s: %w", what, staging, err)
	}
	if !stages { // the directory is never removed. K-STAGE-2
		return nil
	}
	delegated, err := s.delegatesGroup()
	if err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: %s to determine if the node service has VOLUME_MOUNT_GROUP capability: %w", what, err)}
	}
	err = f.writeData(path.Dir(staging), stagingData(s.driver, handle).labelled(label))
	if err == nil {
		err = s.stage(spec, &csispec.NodeStageVolumeRequest{
			VolumeId: handle, PublishContext: publishContext, StagingTargetPath: staging,
			Secrets: secrets, VolumeContext: spec.attributes(),
		}, mountWith{group: mountGroup(pod, delegated), label: label})
	}
	if IsFinal(err) { // nothing is staged, so nothing will be unstaged. K-STAGE-7
		_ = f.removeMountDir(staging)
	}
	return err
}

// stage sends NodeStageVolume, with the capability that follows from the driver's answers.
func (s *step) stage(spec *Spec, request *csispec.NodeStageVolumeRequest, with mountWith) error {
	if err := given(request.VolumeId, request.StagingTargetPath, "staging target path"); err != nil {
		return err
	}
	capability, err := s.capability(spec, with)
	if err != nil {
		return err
	}
	request.VolumeCapability = capability
	_, err = s.node.NodeStageVolume(background, request)
	return s.classified(err)
}
