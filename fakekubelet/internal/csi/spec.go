package csi

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/volume"
)

// Spec is a volume that a pod uses: a persistent volume, or an inline volume of the pod itself.
type Spec struct {
	// Name is the PV's name, or the pod volume's name of an inline volume. K-PATH-4
	Name string
	// PV is nil for an inline volume.
	PV *corev1.PersistentVolume
	// Inline is nil for a persistent volume.
	Inline *corev1.CSIVolumeSource
	// ReadOnly is set in the pod; pv.spec.csi.readOnly is ignored on the node. K-DSW-9
	ReadOnly bool
	// Migrated means that the volume of an in-tree plugin has been translated.
	Migrated bool

	// merged are the attributes with the additions for a pod. K-PUB-8
	merged map[string]string
	// staging is its staging path in a current kubelet; set by the first call for it.
	staging string
}

// HasClaim is false for an inline volume, even if a migrated in-tree plugin describes it: such a PV
// is synthetic.
func (s *Spec) HasClaim() bool { return s.PV != nil && s.PV.Spec.ClaimRef != nil }

// Driver returns the CSI driver's name.
func (s *Spec) Driver() string {
	if s.Inline != nil {
		return s.Inline.Driver
	}
	return s.PV.Spec.CSI.Driver
}

// Handle returns the CSI volume id. K-PATH-7
func (s *Spec) Handle(pod types.UID) string {
	if s.Inline != nil {
		return volume.InlineHandle(pod, s.Name)
	}
	return s.PV.Spec.CSI.VolumeHandle
}

// UniqueName returns the volume's name in the node's status. K-PATH-8
func (s *Spec) UniqueName(pod types.UID) string {
	if s.Inline != nil {
		return volume.UniqueInlineName(pod, s.Name)
	}
	return volume.UniqueName(s.Driver(), s.Handle(pod))
}

// Block reports whether the volume is used as a raw device.
func (s *Spec) Block() bool { return s.PV != nil && volume.IsBlock(s.PV.Spec.VolumeMode) }

func (s *Spec) accessModes() []corev1.PersistentVolumeAccessMode {
	if s.PV == nil {
		return nil
	}
	return s.PV.Spec.AccessModes
}

func (s *Spec) fsType() string {
	switch {
	case s.Inline != nil && s.Inline.FSType != nil:
		return *s.Inline.FSType
	case s.PV != nil:
		return s.PV.Spec.CSI.FSType
	}
	return ""
}

func (s *Spec) mountFlags() []string {
	if s.PV == nil {
		return nil
	}
	return s.PV.Spec.MountOptions
}

// ForWriting reports whether the requests to the driver are for writing. For that, nothing may be
// read-only: neither the pod's volume, nor the access modes, the mount options or the attachment.
// Drivers may make inline volumes read-only themselves.
func (s *Spec) ForWriting() bool {
	return !s.ReadOnly && s.PV != nil && !s.PV.Spec.CSI.ReadOnly && !slices.Contains(s.PV.Spec.MountOptions, "ro") &&
		!slices.Contains(s.PV.Spec.AccessModes, corev1.ReadOnlyMany)
}

func (s *Spec) attributes() map[string]string {
	if s.merged != nil {
		return s.merged
	}
	if s.Inline != nil {
		return s.Inline.VolumeAttributes
	}
	return s.PV.Spec.CSI.VolumeAttributes
}

// merge adds the pod's entries to a volume context. In the real kubelet this changes the volume's
// attributes, if it has any. Until the volume is looked up again, requests have the additions, even
// if the CSIDriver changes. K-PUB-8
func (s *Spec) merge(context, extra map[string]string) map[string]string {
	all := merged(context, extra)
	if s.attributes() != nil {
		s.merged = all
	}
	return all
}
