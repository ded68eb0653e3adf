package csi

import (
	"fmt"
	"path"
	"slices"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// SetUp publishes a filesystem volume for a pod. keepDirs means that directories stay after a final
// error, because the volume was reconstructed or this is a remount. K-PUB-1, K-PUB-10
func (pl *Plugin) SetUp(p *kernel.Process, spec *Spec, pod *corev1.Pod, label string, keepDirs bool) error {
	s, err := pl.begin(p, spec)
	if err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: %w", err)}
	}
	if err := s.supports(spec); err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: %w", err)}
	}
	policy := s.fsGroupPolicy()
	handle, target := spec.Handle(pod.UID), pl.TargetPath(pod.UID, spec.Name)
	request := &csispec.NodePublishVolumeRequest{VolumeId: handle, TargetPath: target, Readonly: spec.ReadOnly}
	if spec.PV != nil {
		if err := s.persistentRequest(request, spec); err != nil {
			return err
		}
	}
	f, dir := pl.files(p), path.Dir(target)
	if err := f.mkdir(dir); err != nil {
		return fmt.Errorf("kubernetes.io/csi: mounter.SetUpAt failed to create dir %q: %w", dir, err)
	}
	if request.Secrets, err = s.secrets("NodePublishSecretRef", publishSecretRef(spec, pod)); err != nil {
		return TransientError{err}
	}
	request.VolumeContext = s.volumeContext(spec, pod)
	if err := s.addTokens(request, spec, pod); err != nil {
		return TransientError{err}
	}
	delegated, err := s.delegatesGroup()
	if err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: mounter.SetUpAt failed to determine if the node service has VOLUME_MOUNT_GROUP capability: %w", err)}
	}
	label = s.usableLabel(label)
	data := pl.podData(spec, handle).labelled(label)
	data[keyLifecycle] = spec.lifecycle()
	if err = f.writeData(dir, data); err != nil {
		keepDirs = false
	} else {
		err = s.publish(spec, request, mountWith{group: mountGroup(pod, delegated), label: label})
	}
	if IsFinal(err) && !keepDirs {
		_ = f.removeMountDir(target)
	}
	if err != nil || delegated || !spec.takesGroup(fsGroup(pod), policy, pl.kubelet.Version) {
		return err
	}
	if err := pl.applyGroup(p, pod, target); err != nil { // published, but of no use. K-FSG-2
		return UncertainError{fmt.Errorf("applyFSGroup failed for vol %s: %w", handle, err)}
	}
	return nil
}

// persistentRequest fills in the fields that only persistent volumes have: the staging path and the
// publish context.
func (s *step) persistentRequest(request *csispec.NodePublishVolumeRequest, spec *Spec) error {
	stages, err := s.has(capStage)
	if err != nil { // wrapped, and therefore final with any code. K-PUB-9
		return fmt.Errorf("kubernetes.io/csi: mounter.SetUpAt failed to check for STAGE_UNSTAGE_VOLUME capability: %w", err)
	}
	if stages {
		request.StagingTargetPath = s.StagingPath(spec)
	}
	if request.PublishContext, err = s.publishContext(s.process, spec); err != nil {
		return TransientError{fmt.Errorf("kubernetes.io/csi: mounter.SetUpAt failed to fetch publishContext: %w", err)}
	}
	return nil
}

func (s *step) publish(spec *Spec, request *csispec.NodePublishVolumeRequest, with mountWith) error {
	if err := given(request.VolumeId, request.TargetPath, "target path"); err != nil {
		return err
	}
	capability, err := s.capability(spec, with)
	if err != nil {
		return err
	}
	request.VolumeCapability = capability
	_, err = s.node.NodePublishVolume(background, request)
	return s.classified(err)
}

// supports checks the volume's lifecycle mode against the CSIDriver. K-PUB-7
func (s *step) supports(spec *Spec) error {
	mode := storagev1.VolumeLifecycleMode(spec.lifecycle())
	driver, ok := s.csiDriver()
	switch {
	case !ok && mode == storagev1.VolumeLifecyclePersistent:
		return nil
	case !ok:
		return fmt.Errorf("volume mode %q not supported by driver %s (no CSIDriver object)", mode, s.driver)
	case slices.Contains(driver.Spec.VolumeLifecycleModes, mode):
		return nil
	default:
		return fmt.Errorf("volume mode %q not supported by driver %s (only supports %q)", mode, s.driver, driver.Spec.VolumeLifecycleModes)
	}
}
