package csi

import (
	"errors"
	"fmt"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/seeded"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/volume"
)

const (
	capStage       = csispec.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME
	capMountGroup  = csispec.NodeServiceCapability_RPC_VOLUME_MOUNT_GROUP
	capMultiWriter = csispec.NodeServiceCapability_RPC_SINGLE_NODE_MULTI_WRITER
)

var askCapabilities = &csispec.NodeGetCapabilitiesRequest{}

// has requests the driver's capabilities. They are never cached. K-RPC-5
func (s *step) has(capability csispec.NodeServiceCapability_RPC_Type) (bool, error) {
	answer, err := s.node.NodeGetCapabilities(background, askCapabilities)
	if err != nil {
		return false, s.classified(err)
	}
	for _, c := range answer.GetCapabilities() {
		if c.GetRpc().GetType() == capability {
			return true, nil
		}
	}
	return false, nil
}

// hasSince is has for a capability that only kubelets since a change support.
func (s *step) hasSince(change version.Change, capability csispec.NodeServiceCapability_RPC_Type) (bool, error) {
	if !s.kubelet.Version.Has(change) {
		return false, nil
	}
	return s.has(capability)
}

// delegatesGroup reports whether the driver applies the pod's fsGroup. K-FSG-1
func (s *step) delegatesGroup() (bool, error) { return s.hasSince(version.MountGroup, capMountGroup) }

// given rejects a call without a field that every driver needs. Such a call can result from a
// damaged data file.
func given(volumeID, path, what string) error {
	switch {
	case volumeID == "":
		return errors.New("missing volume id")
	case path == "":
		return errors.New("missing " + what)
	}
	return nil
}

// mountWith holds mount parameters of a file system that depend on the pod.
type mountWith struct {
	group string // an fsGroup for the driver to apply
	label string // an SELinux label
}

// capability returns the requested capability of the volume. Its access mode depends on one more
// request to the driver.
func (s *step) capability(spec *Spec, with mountWith) (*csispec.VolumeCapability, error) {
	multiWriter, err := s.hasSince(version.SingleNodeWriters, capMultiWriter)
	if err != nil {
		return nil, err
	}
	mode := volume.NodeAccessMode(spec.accessModes(), multiWriter)
	c := volume.Capability(spec.Block(), spec.fsType(), withLabel(spec.mountFlags(), with.label), mode)
	if c.GetMount() != nil && with.group != "" {
		c = proto.CloneOf(c)
		c.GetMount().VolumeMountGroup = with.group
	}
	return c, nil
}

// publishContext returns the attachment's metadata without checking its state. K-ATT-8
func (pl *Plugin) publishContext(p *kernel.Process, spec *Spec) (map[string]string, error) {
	if !volume.MustAttach(pl.kubelet, spec.Driver()) {
		return nil, nil
	}
	if seeded.IsMade(seeded.ContextForgotten) {
		return nil, nil
	}
	name := volume.AttachmentName(spec.Handle(""), spec.Driver(), pl.kubelet.Node)
	va, err := component.Live[*storagev1.VolumeAttachment](p, pl.kubelet, store.Key{Name: name})
	if err != nil && seeded.IsMade(seeded.StagedUnattached) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return va.Status.AttachmentMetadata, nil
}

// secrets are read live at each attempt. K-PUB-13
func (s *step) secrets(field string, ref *corev1.SecretReference) (map[string]string, error) {
	if ref == nil {
		return nil, nil
	}
	values, err := s.secret(ref)
	if err != nil {
		return nil, fmt.Errorf("fetching %s %s/%s failed: %w", field, ref.Namespace, ref.Name, err)
	}
	return values, nil
}

// secret returns the data of a secret; empty if none is named.
func (s *step) secret(ref *corev1.SecretReference) (map[string]string, error) {
	if ref == nil {
		return nil, nil
	}
	secret, err := component.Live[*corev1.Secret](s.process, s.kubelet, store.Key{Namespace: ref.Namespace, Name: ref.Name})
	if err != nil {
		return nil, err
	}
	values := map[string]string{}
	for key, value := range secret.Data {
		values[key] = string(value)
	}
	return values, nil
}

// publishSecretRef returns the reference to the secret of NodePublishVolume. The secret of an
// inline volume is in the pod's namespace. K-PUB-3
func publishSecretRef(spec *Spec, pod *corev1.Pod) *corev1.SecretReference {
	switch {
	case spec.PV != nil:
		return spec.PV.Spec.CSI.NodePublishSecretRef
	case spec.Inline.NodePublishSecretRef != nil:
		return &corev1.SecretReference{Namespace: pod.Namespace, Name: spec.Inline.NodePublishSecretRef.Name}
	default:
		return nil
	}
}
