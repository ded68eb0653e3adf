package sidecar

import (
	"path"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// stagingPath returns the flag --stagingpath. A-SIDE-1
func (o Options) stagingPath() string {
	return o.Machine.Layout().KubeletDir() + "/plugins/kubernetes.io/csi/"
}

// ControllerReclaimSpace: A-TR-1, A-TR-2
func (s service) ControllerReclaimSpace(c relay.Call, name string) (relay.Usage, error) {
	s.review(c)
	pv, err := s.volume(c, name)
	if err != nil {
		return relay.Usage{}, err
	}
	request := &reclaimspace.ControllerReclaimSpaceRequest{VolumeId: pv.Spec.CSI.VolumeHandle, Parameters: pv.Spec.CSI.VolumeAttributes}
	if request.Secrets, err = s.readSecret(c, pv.Spec.CSI.NodeStageSecretRef); err != nil {
		return relay.Usage{}, status.Error(codes.InvalidArgument, err.Error())
	}
	answer, err := reclaimspace.NewReclaimSpaceControllerClient(s.conn(c)).ControllerReclaimSpace(ctx, request)
	return relay.Usage{Before: answer.GetPreUsage(), After: answer.GetPostUsage()}, err
}

// NodeReclaimSpace: A-TR-1, A-TR-3
func (s service) NodeReclaimSpace(c relay.Call, name string) (relay.Usage, error) {
	s.review(c)
	pv, err := s.volume(c, name)
	if err != nil {
		return relay.Usage{}, err
	}
	request := &reclaimspace.NodeReclaimSpaceRequest{VolumeId: pv.Spec.CSI.VolumeHandle, StagingTargetPath: s.opts.stagedAt(pv)}
	if request.VolumeCapability, err = capabilityOf(pv); err != nil {
		return relay.Usage{}, err
	}
	if request.Secrets, err = s.readSecret(c, pv.Spec.CSI.NodeStageSecretRef); err != nil {
		return relay.Usage{}, status.Error(codes.InvalidArgument, err.Error())
	}
	answer, err := reclaimspace.NewReclaimSpaceNodeClient(s.conn(c)).NodeReclaimSpace(ctx, request)
	return relay.Usage{Before: answer.GetPreUsage(), After: answer.GetPostUsage()}, err
}

// volume returns the volume of a call. A-TR-1
func (s service) volume(c relay.Call, name string) (*corev1.PersistentVolume, error) {
	pv, err := component.Live[*corev1.PersistentVolume](c.Process, s.Component, store.Key{Name: name})
	switch {
	case err != nil:
		return nil, status.Errorf(codes.InvalidArgument, "failed to get pv %q", name)
	case pv.Spec.CSI == nil:
		return nil, status.Errorf(codes.InvalidArgument, "pv %q is not a CSI volume", name)
	}
	return pv, nil
}

// stagingOf returns the path at which the kubelet stages a volume with a file system.
func (o Options) stagingOf(driver, handle string) string {
	return path.Join(o.stagingPath(), driver, volume.HandleHash(handle), "globalmount")
}

// stagedAt returns the path at which the kubelet has staged a volume. A-TR-3
func (o Options) stagedAt(pv *corev1.PersistentVolume) string {
	if volume.IsBlock(pv.Spec.VolumeMode) {
		return path.Join(o.stagingPath(), "volumeDevices", "staging", pv.Name)
	}
	return o.stagingOf(pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle)
}

// capabilityOf returns the capability for a volume that allows all of its access modes. A-TR-3
func capabilityOf(pv *corev1.PersistentVolume) (*csi.VolumeCapability, error) {
	mode, err := volume.ControllerAccessMode(pv.Spec.AccessModes, true)
	if err != nil {
		return nil, status.Error(codes.InvalidArgument, err.Error())
	}
	return volume.Capability(volume.IsBlock(pv.Spec.VolumeMode), "", nil, mode), nil
}
