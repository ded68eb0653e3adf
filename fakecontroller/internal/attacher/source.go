package attacher

import (
	"errors"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// source is the volume of an attachment: the object (nil for an inline volume), and the volume in
// its CSI form.
type source struct {
	pv   *corev1.PersistentVolume
	spec *corev1.PersistentVolumeSpec
}

// sourceOf reads the PersistentVolume from the cache. C-ATT-12 (1), (2)
func (r *run) sourceOf(va *storagev1.VolumeAttachment) (source, error) {
	name, inline := va.Spec.Source.PersistentVolumeName, va.Spec.Source.InlineVolumeSpec
	switch {
	case name != nil && inline != nil:
		return source{}, errors.New("both InlineCSIVolumeSource and PersistentVolumeName specified in VA source")
	case name == nil && inline == nil:
		return source{}, errors.New("neither InlineCSIVolumeSource nor PersistentVolumeName specified in VA source")
	case inline != nil:
		return source{spec: inline}, nil
	}
	pv, ok := component.Cached[*corev1.PersistentVolume](r.Component, store.Key{Name: *name})
	if !ok {
		return source{}, store.NotFound[*corev1.PersistentVolume](store.Key{Name: *name})
	}
	translated, err := migration.PV(pv)
	if err != nil {
		return source{}, err
	}
	return source{pv, &translated.Spec}, nil
}

// csi returns the CSI part of the volume.
func (s source) csi() (*corev1.CSIPersistentVolumeSource, error) {
	if s.spec.CSI == nil {
		return nil, errors.New("volume has no CSI source")
	}
	return s.spec.CSI, nil
}

// secrets reads the secret for attach and detach.
func (r *run) secrets(p *kernel.Process, ref *corev1.SecretReference) (map[string]string, error) {
	if ref == nil {
		return nil, nil
	}
	secret, err := component.Live[*corev1.Secret](p, r.Component, store.Key{Namespace: ref.Namespace, Name: ref.Name})
	if err != nil {
		return nil, fmt.Errorf("failed to load secret \"%s/%s\": %w", ref.Namespace, ref.Name, err)
	}
	values := make(map[string]string, len(secret.Data))
	for key, value := range secret.Data {
		values[key] = string(value)
	}
	return values, nil
}

// capability: C-ATT-14
func (r *run) capability(s *corev1.PersistentVolumeSpec, fsType string) (*csi.VolumeCapability, error) {
	mode, err := volume.ControllerAccessMode(s.AccessModes, r.features.singleNodeMultiWriter)
	if err != nil {
		return nil, err
	}
	if fsType == "" {
		fsType = r.opts.DefaultFSType
	}
	return volume.Capability(volume.IsBlock(s.VolumeMode), fsType, s.MountOptions, mode), nil
}
